//! Generates JSON values.

use super::list::pick;
use super::{AtMost, LIMITS, Piece};
use std::fmt;

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

/// What a step writes.
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
    /// Any value; `null` when the program writes none.
    pub fn value(&self) -> String {
        let value = self.write(String::new(), Vec::new());
        if value.is_empty() { "null".to_owned() } else { value }
    }

    /// An object.
    pub fn object(&self) -> String {
        self.write("{".to_owned(), vec!['}'])
    }

    /// Continues a text in which the brackets `open` are not closed yet, until they are or the program ends.
    fn write(&self, mut json: String, mut open: Vec<char>) -> String {
        for JsonStep { key, op } in self.0.iter() {
            if !matches!(op, JsonOp::Close) {
                if !json.is_empty() && !json.ends_with(['[', '{']) {
                    json.push(',');
                }
                if open.last() == Some(&'}') {
                    json.push_str(&format!("\"{}\":", pick(&KEYS, *key)));
                }
            }
            match op {
                JsonOp::Literal(which) => json.push_str(pick(&["null", "true", "false"], *which)),
                JsonOp::Text(piece) => json.push_str(&piece.json()),
                JsonOp::Number(which) => json.push_str(pick(&NUMBERS, *which)),
                JsonOp::Double(double) if double.is_finite() => json.push_str(&format!("{double:e}")),
                JsonOp::Double(_) => json.push('0'),
                JsonOp::Array => {
                    json.push('[');
                    open.push(']');
                }
                JsonOp::Object => {
                    json.push('{');
                    open.push('}');
                }
                JsonOp::Close => json.extend(open.pop()),
            }
            if open.is_empty() && !json.is_empty() {
                break;
            }
        }
        json.extend(open.into_iter().rev());
        json
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.value())
    }
}
