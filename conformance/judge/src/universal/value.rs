//! JSON values: how they are read for this profile, and how two of them differ.

use super::halves::{arrived, arrived_inside};
use crate::Error;
use crate::json;
use crate::text::{common_beginning, cut};
use serde_json::{Map, Number, Value};
use threadspec::surrogates::{has_marks, mark_surrogates, unmark_surrogates, without_marks};

/// Reads JSON text as marked data (`threadspec::surrogates`), numbers beyond the doubles null.
///
/// # Errors
///
/// Says what is wrong when the text is not JSON.
pub fn read(text: &str) -> Result<Value, Error> {
    json::read(&mark_surrogates(text))
}

/// Reads JSON text that is inside a text that was read.
///
/// # Errors
///
/// Says what is wrong when the text is not JSON.
pub(crate) fn read_inside(text: &str) -> Result<Value, Error> {
    json::read(&mark_surrogates(&unmark_surrogates(text)))
}

/// The subject of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DifferenceKind {
    /// A text that AGENT-TEXT lists.
    Text,
    /// A number (AGENT-NUMBERS).
    Number,
    /// Something that depends on a name that AGENT-ORDINARY lists.
    Name,
    /// Anything else.
    Other,
}

/// A difference between what was expected and what came.
#[derive(Clone, Debug)]
pub(crate) struct ValueDifference {
    pub(crate) kind: DifferenceKind,
    pub(crate) what: String,
}

/// The differences of two values; `exact` compares integers up to 2^64 digit by digit, else they are doubles.
pub(crate) fn differences(expected: &Value, actual: &Value, exact: bool) -> Vec<ValueDifference> {
    let mut found = Vec::new();
    compare(expected, actual, exact, "", &mut found);
    found
}

/// Returns whether two values are equal. Numbers are doubles, or if `exact` integers up to 2^64 to the last digit; a lone surrogate in the
/// first value may be up to eight characters in the other.
///
/// ```
/// use threadspec_judge::universal::value;
/// let [one, other] = ["9007199254740993", "9007199254740992"].map(|text| value::read(text).expect("JSON"));
/// assert!(value::equal(&one, &other, false) && !value::equal(&one, &other, true));
/// ```
pub fn equal(expected: &Value, actual: &Value, exact: bool) -> bool {
    match (expected, actual) {
        (Value::Number(one), Value::Number(other)) => equal_numbers(one, other, exact),
        (Value::String(one), Value::String(other)) => arrived(one, other),
        (Value::Array(ones), Value::Array(others)) => {
            ones.len() == others.len() && ones.iter().zip(others).all(|(one, other)| equal(one, other, exact))
        }
        (Value::Object(ones), Value::Object(others)) => equal_members(ones, others, exact),
        (one, other) => one == other,
    }
}

fn equal_members(ones: &Map<String, Value>, others: &Map<String, Value>, exact: bool) -> bool {
    let (mut halved, mut whole) = (Vec::new(), 0);
    for (name, value) in ones {
        if has_marks(name) {
            halved.push((name, value));
        } else if others.get(name).is_some_and(|other| equal(value, other, exact)) {
            whole += 1;
        } else {
            return false;
        }
    }
    if halved.is_empty() {
        return others.len() == whole;
    }
    let mut extra = others.iter().filter(|(name, _)| has_marks(name) || !ones.contains_key(*name)).peekable();
    let fits = |(name, value): (&String, &Value)| {
        halved.iter().any(|(known, one)| arrived(known, name) && equal(one, value, exact))
    };
    extra.peek().is_some() && extra.all(fits)
}

fn compare(expected: &Value, actual: &Value, exact: bool, path: &str, found: &mut Vec<ValueDifference>) {
    let mut differ = |kind| {
        let place = if path.is_empty() { String::new() } else { format!("at {path}: ") };
        let kind = if kind == DifferenceKind::Other && holds_odd_name(expected) { DifferenceKind::Name } else { kind };
        found.push(ValueDifference { kind, what: format!("{place}{}", became(expected, actual)) });
    };
    match (expected, actual) {
        (Value::Number(one), Value::Number(other)) => {
            if !equal_numbers(one, other, exact) {
                differ(DifferenceKind::Number);
            }
        }
        (Value::Number(_), Value::String(_) | Value::Null) => differ(DifferenceKind::Number),
        (Value::String(one), Value::String(other)) => {
            if let Some(kind) = text_difference(one, Some(other)) {
                differ(kind);
            }
        }
        (Value::Array(ones), Value::Array(others)) if ones.len() == others.len() => {
            for (index, (one, other)) in ones.iter().zip(others).enumerate() {
                compare(one, other, exact, &format!("{path}/{index}"), found);
            }
        }
        (Value::Object(_), Value::Object(_)) => compare_members(expected, actual, exact, path, found),
        (one, other) if one == other => {}
        _ => differ(DifferenceKind::Other),
    }
}

fn compare_members(expected: &Value, actual: &Value, exact: bool, path: &str, found: &mut Vec<ValueDifference>) {
    let (Some(ones), Some(others)) = (expected.as_object(), actual.as_object()) else { return };
    // An implementation that mishandles `__proto__` often loses the members beside it, too.
    let tripped =
        ones.iter().any(|(name, value)| (is_odd_name(name) || holds_odd_name(value)) && !others.contains_key(name));
    let missing = if tripped { DifferenceKind::Name } else { DifferenceKind::Other };
    let mut differ = |kind, what: String| {
        found.push(ValueDifference {
            kind,
            what: format!("{}{what}", if path.is_empty() { String::new() } else { format!("at {path}: ") }),
        });
    };
    // Keys that differ only in lone surrogates may become one (E18).
    let (halved, whole): (Vec<_>, Vec<_>) = ones.iter().partition(|(name, _)| has_marks(name));
    let extra: Vec<_> = others.iter().filter(|(name, _)| has_marks(name) || !ones.contains_key(*name)).collect();
    for (name, _) in &whole {
        if !others.contains_key(*name) {
            differ(missing, format!("the member {} is missing", quote_text(name)));
        }
    }
    if !halved.is_empty() && extra.is_empty() {
        differ(DifferenceKind::Text, format!("the member {} is missing", quote_text(halved[0].0)));
    }
    for (name, value) in extra {
        let fits = |(known, one): &(&String, &Value)| arrived(known, name) && equal(one, value, exact);
        if !halved.iter().any(fits) {
            differ(missing, format!("there is a member {} that nobody wrote", quote_text(name)));
        }
    }
    for (name, value) in whole {
        if let Some(other) = others.get(name) {
            let before = found.len();
            compare(value, other, exact, &format!("{path}/{name}"), found);
            if is_odd_name(name) {
                found[before..].iter_mut().for_each(|difference| difference.kind = DifferenceKind::Name);
            }
        }
    }
}

/// How a text that was expected differs from what came; `None` when it arrived.
pub(crate) fn text_difference(expected: &str, actual: Option<&str>) -> Option<DifferenceKind> {
    match actual {
        Some(actual) if arrived(expected, actual) => None,
        // A text that is gone altogether was not misread.
        Some("") if !expected.trim().is_empty() => Some(DifferenceKind::Other),
        // Nor was one that is unchanged inside a longer one.
        Some(actual) if !expected.trim().is_empty() && arrived_inside(expected, actual) => Some(DifferenceKind::Other),
        Some(_) if is_listed_text(expected) => Some(DifferenceKind::Text),
        _ => Some(DifferenceKind::Other),
    }
}

/// Returns whether AGENT-TEXT lists the text: one that templates, markup, tokenizers, trimming or buffers easily change.
pub(crate) fn is_listed_text(text: &str) -> bool {
    const LONG: usize = 10_000;
    text.len() >= LONG
        || text.trim() != text
        || text.contains(|c: char| !matches!(c, ' '..='~') || "{}<>%$&\\`".contains(c))
}

/// Returns whether a name is one of the odd ones that AGENT-ORDINARY lists.
pub(crate) fn is_odd_name(name: &str) -> bool {
    matches!(name, "" | "__proto__" | "constructor" | "toString" | "hasOwnProperty" | "valueOf" | "prototype")
}

/// Returns whether a value has a member of such a name, however deep.
fn holds_odd_name(value: &Value) -> bool {
    match value {
        Value::Array(elements) => elements.iter().any(holds_odd_name),
        Value::Object(members) => members.iter().any(|(name, member)| is_odd_name(name) || holds_odd_name(member)),
        _ => false,
    }
}

fn equal_numbers(one: &Number, other: &Number, exact: bool) -> bool {
    match (integer(one), integer(other)) {
        (Some(one), Some(other)) if exact => one == other,
        // Nothing is calculated, so the very same double is expected. -0 equals 0.
        #[allow(clippy::float_cmp, reason = "the same double is asked for")]
        _ => one.as_f64() == other.as_f64(),
    }
}

/// The integer that a number is, if it is one of those that must stay exact, or was written as a double.
#[allow(clippy::cast_possible_truncation, reason = "the range is checked")]
fn integer(number: &Number) -> Option<i128> {
    const LIMIT: f64 = 18_446_744_073_709_551_616.0;
    number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from)).or_else(|| {
        number.as_f64().filter(|double| double.fract() == 0.0 && double.abs() <= LIMIT).map(|double| double as i128)
    })
}

/// A value for people, cut where it is long.
pub(crate) fn quote(value: &Value) -> String {
    for_people(&value.to_string())
}

/// A text for people, cut where it is long.
pub(crate) fn quote_text(text: &str) -> String {
    quote(&Value::from(text))
}

/// Shows two values that differ: both where they begin to differ, if that is far behind the beginning of a long one.
pub(crate) fn sides(expected: &Value, actual: &Value) -> [String; 2] {
    let [one, other] = [expected, actual].map(|value| without_marks(&value.to_string()).into_owned());
    let same = common_beginning(&one, &other);
    let equal = one[..same].chars().count();
    if equal + CONTEXT <= LONG {
        [one, other].map(|text| for_people(&text))
    } else {
        let left_out = equal - CONTEXT;
        let around = |text: String| format!("…⟨{left_out} equal⟩…{}", for_people(cut(&text, left_out).1));
        [one, other].map(around)
    }
}

/// Describes a changed value for people.
pub(crate) fn became(expected: &Value, actual: &Value) -> String {
    let [one, other] = sides(expected, actual);
    format!("{one} became {other}")
}

/// Describes a changed text, which may be gone.
pub(crate) fn text_became(expected: &str, actual: Option<&str>) -> String {
    became(&Value::from(expected), &Value::from(actual))
}

/// How many characters are shown of a value.
const LONG: usize = 120;
/// How many of them are before a difference.
const CONTEXT: usize = 30;

fn for_people(text: &str) -> String {
    let text = without_marks(text);
    match cut(&text, LONG) {
        (head, "") => head.to_owned(),
        (head, _) => format!("{head}… ({} bytes)", text.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(expected: &str, actual: &str, exact: bool) -> Vec<DifferenceKind> {
        let read = |text| read(text).expect("JSON");
        differences(&read(expected), &read(actual), exact).iter().map(|difference| difference.kind).collect()
    }

    #[test]
    fn values_are_compared_by_value() {
        for (one, other) in [
            (r#"{"a":1,"b":[true,null]}"#, r#"{"b":[true,null],"a":1.0}"#),
            ("-0", "0"),
            ("1e3", "1000"),
            ("1e400", "null"),
            ("9007199254740993", "9007199254740992"),
            (r#""a\ud83d""#, r#""a\ufffd""#),
            (r#"{"k\ud83d":1,"k\ud83e":2}"#, r#"{"k\ufffd":2}"#),
            (r#"{"k\ud83d":1,"k\ud83e":2}"#, r#"{"k\ud83d":1,"k\ud83e":2}"#),
        ] {
            assert_eq!(kinds(one, other, false), [], "{one} {other}");
        }
    }

    #[test]
    fn values_are_equal_where_nothing_differs() {
        let texts = [
            "null",
            "true",
            "0",
            "-0",
            "1",
            "1.0",
            "1e400",
            "9007199254740993",
            "9007199254740992",
            "[]",
            "[1]",
            "[1,2]",
            "{}",
            r#""1""#,
            r#""""#,
            r#""a\ud83d""#,
            r#""a\ufffd""#,
            r#""a""#,
            r#"{"a":1}"#,
            r#"{"a":1.0,"b":[]}"#,
            r#"{"b":[],"a":1}"#,
            r#"{"b":[]}"#,
            r#"{"__proto__":1}"#,
            r#"{"k\ud83d":1}"#,
            r#"{"k\ufffd":1}"#,
            r#"{"k\ud83d":1,"k\ud83e":2}"#,
            r#"{"k\ufffd":2}"#,
            r#"{"k\ufffd":2,"a":1}"#,
            r#"{"k\ud83d":1,"a":1}"#,
            r#"{"k":1,"k\ud83d":1}"#,
            r#"[{"a":[1,{"b":"x"}]}]"#,
            r#"[{"a":[1,{"b":"y"}]}]"#,
        ];
        let values: Vec<Value> = texts.iter().map(|text| read(text).expect("JSON")).collect();
        for (one, other, exact) in
            values.iter().flat_map(|one| values.iter().flat_map(move |other| [(one, other, false), (one, other, true)]))
        {
            assert_eq!(equal(one, other, exact), differences(one, other, exact).is_empty(), "{one} {other} {exact}");
        }
    }

    #[test]
    fn a_difference_belongs_to_what_it_is_about() {
        for (one, other, kind) in [
            ("1", "2", DifferenceKind::Number),
            ("12345678901234567", "\"12345678901234567\"", DifferenceKind::Number),
            ("[0.1]", "[0.10000000000000002]", DifferenceKind::Number),
            (r#""{name}""#, r#""Bob""#, DifferenceKind::Text),
            (r#"" a""#, r#""a""#, DifferenceKind::Text),
            (r#"" a""#, r#""""#, DifferenceKind::Other),
            (r#""a""#, r#""b""#, DifferenceKind::Other),
            (r#"{"__proto__":1}"#, "{}", DifferenceKind::Name),
            (r#"{"__proto__":{"a":1}}"#, r#"{"__proto__":{}}"#, DifferenceKind::Name),
            (r#"{"body":{"__proto__":1}}"#, "{}", DifferenceKind::Name),
            (r#"{"body":[{"__proto__":1}]}"#, r#"{"body":"[{}]"}"#, DifferenceKind::Name),
            (r#""{name}""#, r#""Task: {name}, please""#, DifferenceKind::Other),
            (r#"{"a":1}"#, "{}", DifferenceKind::Other),
            ("{}", r#"{"a":1}"#, DifferenceKind::Other),
            ("[1]", "[1,2]", DifferenceKind::Other),
            ("true", "\"True\"", DifferenceKind::Other),
            ("null", "0", DifferenceKind::Other),
        ] {
            assert_eq!(kinds(one, other, false), [kind], "{one} {other}");
        }
        assert_eq!(kinds(r#"{"__proto__":1,"b":2}"#, "{}", false), [DifferenceKind::Name, DifferenceKind::Name]);
        assert_eq!(kinds(r#"{"k\ud83d":1}"#, "{}", false), [DifferenceKind::Text]);
    }

    #[test]
    fn what_differs_is_shown_wherever_it_is() {
        assert_eq!(text_became("a", None), "\"a\" became null");
        let long = "é".repeat(200);
        let shown = text_became(&format!("{long}x"), Some(&format!("{long}y")));
        let around = |end: char| format!("…⟨171 equal⟩…{}{end}\"", "é".repeat(30));
        assert_eq!(shown, format!("{} became {}", around('x'), around('y')));
        // What is missing at the end shows, too.
        let shown = text_became(&format!("{long} and more"), Some(&long));
        assert!(shown.contains("é and more\" became …⟨171 equal⟩…") && shown.ends_with("é\""), "{shown}");
        // The difference is in sight.
        let shown = text_became(&format!("a{long}"), Some(&format!("b{long}")));
        assert!(shown.starts_with("\"aé") && shown.contains("… (403 bytes) became \"bé"), "{shown}");
    }

    #[test]
    fn exact_integers_are_compared_to_the_last_digit() {
        assert_eq!(kinds("9007199254740993", "9007199254740992", true), [DifferenceKind::Number]);
        assert_eq!(kinds("18446744073709551615", "18446744073709551616", true), [DifferenceKind::Number]);
        assert_eq!(kinds("9007199254740993", "9007199254740993", true), []);
        assert_eq!(kinds("1e3", "1000", true), []);
        assert_eq!(kinds("0.5", "0.5", true), []);
    }
}
