//! Generates JSON values, lists of limited length, and rare choices.

use super::{LIMITS, Piece};
use arbitrary::{Arbitrary, Unstructured};
use std::fmt;
use std::fmt::Write;
use std::ops::Deref;

#[cfg(feature = "fuzzer")]
use proptest::arbitrary::{Arbitrary as Generated, any};
#[cfg(feature = "fuzzer")]
use proptest::collection::{VecStrategy, vec};
#[cfg(feature = "fuzzer")]
use proptest::strategy::{Map, Strategy};

/// Numbers that ECMAScript spells differently, rounds, or keeps as they are.
const NUMBERS: [&str; 30] = [
    "0",
    "-0",
    "1",
    "-1",
    "1.0",
    "1E+2",
    "0.1",
    "4.350",
    "-0.0",
    "1e-6",
    "1e-7",
    "0.00000123",
    "1e20",
    "1e21",
    "123456789012345680000",
    "1e22",
    "-1.5e300",
    "5e-324",
    "1e-400",
    "1.7976931348623157e308",
    "2147483648",
    "4294967295",
    "9007199254740991",
    "9007199254740992",
    "9007199254740993",
    "18446744073709551615",
    "18446744073709551616",
    "-9223372036854775809",
    "123456789012345678901234567890",
    "333333333.33333329",
];

/// Keys, spelled as inside the quotes: array indices and what only looks like them, names that objects have already, and
/// few enough that they repeat.
const KEYS: [&str; 24] = [
    "a",
    "b",
    "10",
    "9",
    "0",
    "01",
    "-1",
    "1.5",
    "1e3",
    "4294967294",
    "4294967295",
    "4294967296",
    "__proto__",
    "toString",
    "toJSON",
    "length",
    "error",
    "",
    " a",
    "é",
    r"\u0062",
    r"\u0000",
    r"\ud83d",
    "<&>",
];

/// A JSON value, as a program that writes it from left to right.
///
/// Without recursion, so that leaving out steps makes a smaller value of the same kind.
#[derive(Clone, arbitrary::Arbitrary)]
#[cfg_attr(feature = "fuzzer", derive(proptest_derive::Arbitrary))]
pub struct Json(AtMost<{ LIMITS.json }, JsonStep>);

/// One step: what to write next, with its key if that is inside an object.
#[derive(Clone, Copy, Debug, arbitrary::Arbitrary)]
#[cfg_attr(feature = "fuzzer", derive(proptest_derive::Arbitrary))]
pub struct JsonStep {
    key: u8,
    op: JsonOp,
}

/// The output of a step.
#[derive(Clone, Copy, Debug, arbitrary::Arbitrary)]
#[cfg_attr(feature = "fuzzer", derive(proptest_derive::Arbitrary))]
pub enum JsonOp {
    /// `null`, `true` or `false`.
    Literal(u8),
    /// A string.
    Text(Piece),
    /// A number that implementations tend to get wrong.
    Number(u8),
    /// Any double.
    Double(f64),
    /// The beginning of an array.
    Array,
    /// The beginning of an object.
    Object,
    /// The end of the innermost array or object.
    Close,
}

impl Json {
    /// Appends an object.
    pub(super) fn write_object(&self, json: &mut String) {
        let start = json.len();
        json.push('{');
        self.write_from(start, json, true);
    }

    /// Continues a value that begins at a place of the text, perhaps with the bracket of an object, until its brackets are closed or the
    /// program ends.
    fn write_from(&self, start: usize, json: &mut String, is_object: bool) {
        // The brackets that close those that are open, the innermost one last.
        let mut open = [b'}'; LIMITS.json + 1];
        let mut depth = usize::from(is_object);
        for JsonStep { key, op } in self.0.iter() {
            if !matches!(op, JsonOp::Close) {
                if json.len() > start && !json.ends_with(['[', '{']) {
                    json.push(',');
                }
                if depth > 0 && open[depth - 1] == b'}' {
                    json.push('"');
                    json.push_str(pick(&KEYS, *key));
                    json.push_str("\":");
                }
            }
            match op {
                JsonOp::Literal(which) => json.push_str(pick(&["null", "true", "false"], *which)),
                JsonOp::Text(piece) => piece.write(json),
                JsonOp::Number(which) => json.push_str(pick(&NUMBERS, *which)),
                JsonOp::Double(double) if double.is_finite() => {
                    let _ = write!(json, "{double:e}");
                }
                JsonOp::Double(_) => json.push('0'),
                JsonOp::Array => {
                    json.push('[');
                    open[depth] = b']';
                    depth += 1;
                }
                JsonOp::Object => {
                    json.push('{');
                    open[depth] = b'}';
                    depth += 1;
                }
                JsonOp::Close if depth > 0 => {
                    depth -= 1;
                    json.push(open[depth].into());
                }
                JsonOp::Close => {}
            }
            if depth == 0 && json.len() > start {
                break;
            }
        }
        json.extend(open[..depth].iter().rev().map(|&bracket| char::from(bracket)));
    }
}

impl AsJsonText for Json {
    /// Appends any value; `null` when the program writes none.
    fn write(&self, json: &mut String) {
        let start = json.len();
        self.write_from(start, json, false);
        if json.len() == start {
            json.push_str("null");
        }
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.json())
    }
}

// Generates lists of limited length and rare choices.

/// A list of at most `N` elements, in both engines.
#[derive(Clone, Debug)]
pub struct AtMost<const N: usize, T>(Vec<T>);

#[cfg(feature = "fuzzer")]
impl<const N: usize, T> AtMost<N, T> {
    /// A list of any length, for what grows beyond what is drawn.
    pub(super) fn grown(list: Vec<T>) -> Self {
        Self(list)
    }
}

impl<const N: usize, T> Deref for AtMost<N, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<'a, const N: usize, T: Arbitrary<'a>> Arbitrary<'a> for AtMost<N, T> {
    fn arbitrary(bytes: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
        // The length first, so that one byte lengthens or cuts a list; the end of the input ends every list.
        let length = bytes.int_in_range(0..=N)?;
        let mut list = Vec::new();
        while list.len() < length && !bytes.is_empty() {
            list.push(T::arbitrary(bytes)?);
        }
        Ok(Self(list))
    }
}

#[cfg(feature = "fuzzer")]
impl<const N: usize, T: Generated> Generated for AtMost<N, T> {
    type Parameters = ();
    type Strategy = Map<VecStrategy<T::Strategy>, fn(Vec<T>) -> Self>;

    fn arbitrary_with((): ()) -> Self::Strategy {
        vec(any::<T>(), 0..=N).prop_map(Self)
    }
}

/// A choice that is made about once in ten times.
#[derive(Clone, Copy, Debug, Default, arbitrary::Arbitrary)]
#[cfg_attr(feature = "fuzzer", derive(proptest_derive::Arbitrary))]
pub struct Rarely(u8);

impl Rarely {
    /// Returns whether the rare choice is made.
    pub fn is_now(self) -> bool {
        self.0 % 10 == 9
    }

    /// A number by which to choose among several rare ways.
    pub(super) fn which(self) -> usize {
        usize::from(self.0 / 10)
    }
}

/// The entry of a table that a number chooses; every number chooses one.
pub(super) fn pick<T: Copy>(table: &[T], which: u8) -> T {
    table[usize::from(which) % table.len()]
}

/// Writes JSON at once into the text that holds it: a third of a fuzzer's time was copying texts into larger ones.
pub(super) trait AsJsonText {
    /// Appends it to a text.
    fn write(&self, json: &mut String);

    /// The text of it alone.
    fn json(&self) -> String {
        let mut json = String::new();
        self.write(&mut json);
        json
    }
}

/// Appends the elements of a JSON array or object, with commas between them.
pub(super) fn write_list<T>(
    json: &mut String,
    elements: impl IntoIterator<Item = T>,
    mut write: impl FnMut(T, &mut String),
) {
    for (place, element) in elements.into_iter().enumerate() {
        if place > 0 {
            json.push(',');
        }
        write(element, json);
    }
}

/// The elements of a JSON array or object, joined.
#[cfg(feature = "fuzzer")]
pub(super) fn join(elements: impl IntoIterator<Item = String>) -> String {
    elements.into_iter().collect::<Vec<_>>().join(",")
}
