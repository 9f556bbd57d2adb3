//! Compares texts, with what an input leaves open in each: lone surrogates, and the digits of large integers.

use crate::corpus::mismatch::{Mismatch, Side, Sides};
use crate::json::{FORBIDDEN, tokens};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashMap;
use threadspec::surrogates::{lone_surrogates, repair_surrogates, replace_surrogates, without_marks};
use threadspec::{Profile, escape_text, is_xml_char, json_stringify, oracle};

/// From here on a double does not hold every integer: the next one is read as this one.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Compares texts, and values that hold texts, as the profile does.
pub(in crate::compare) struct Texts {
    pub(in crate::compare) profile: Profile,
    pub(in crate::compare) halves: bool,
    /// The spellings of each large integer of the input, by their digits, and how ECMAScript writes it (JSON-LARGE).
    large: HashMap<String, String>,
}

impl Texts {
    pub(in crate::compare) fn of(input: &str, profile: Profile) -> Self {
        let halves = lone_surrogates(input).next().is_some();
        let mut large = HashMap::new();
        for token in tokens(input) {
            let number = token.strip_prefix('-').unwrap_or(token);
            if number.starts_with(|c: char| c.is_ascii_digit())
                && let Ok(double) = number.parse::<f64>()
                && double >= EXACT
                && let Some(exact) = integer(number, double)
            {
                let written = json_stringify(&Value::from(double));
                // All digits of the double, and those that tell it apart with zeros behind them: from 10^21 on ECMAScript writes neither.
                let others = [exact, format!("{double:.0}"), format!("{double}")];
                large.extend(others.map(|digits| (digits, written.clone())));
            }
        }
        large.retain(|digits, written| digits != written);
        Self { profile, halves, large }
    }

    /// The input to which the reference gives the expected answer: in literal a lone surrogate may become anything (INP-SURROGATE).
    pub(in crate::compare) fn input<'a>(&self, input: &'a str) -> Cow<'a, str> {
        if !self.halves || self.profile == Profile::Hardened {
            return Cow::Borrowed(input);
        }
        replace_surrogates(input, FORBIDDEN.encode_utf8(&mut [0; 4]))
    }

    /// A text in canonical spelling, where several are accepted.
    pub(super) fn canonical<'a>(&self, text: &'a str) -> Cow<'a, str> {
        // Only JSON text can hold an escape of a lone surrogate.
        if text.starts_with(['{', '[']) { self.canonical_everywhere(text) } else { self.canonical_digits(text.into()) }
    }

    /// Makes a text canonical that holds JSON texts somewhere.
    pub(super) fn canonical_everywhere<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let escapes = self.halves && text.contains("\\u");
        self.canonical_digits(if escapes {
            repair_surrogates(text).replace("\\ufffd", "\u{fffd}").into()
        } else {
            text.into()
        })
    }

    /// Returns whether a number is how ECMAScript writes a large integer of the input.
    pub(super) fn is_large(&self, number: &str) -> bool {
        let digits = number.strip_prefix('-').unwrap_or(number);
        self.large.values().any(|written| written == digits)
    }

    /// Whole numbers only: the digits of one may begin with those of another.
    fn canonical_digits<'a>(&self, text: Cow<'a, str>) -> Cow<'a, str> {
        let runs = text.as_bytes().chunk_by(|one, other| one.is_ascii_digit() == other.is_ascii_digit());
        if self.large.is_empty() || !runs.clone().any(|run| self.written(run).is_some()) {
            return text;
        }
        runs.map(|run| self.written(run).map_or_else(|| String::from_utf8_lossy(run), Cow::from))
            .collect::<String>()
            .into()
    }

    /// How ECMAScript writes a large integer of the input.
    fn written(&self, digits: &[u8]) -> Option<&str> {
        self.large.get(str::from_utf8(digits).ok()?).map(String::as_str)
    }

    pub(in crate::compare) fn same(&self, expected: &str, actual: &str) -> bool {
        let (expected, actual) = (self.canonical(expected), self.canonical(actual));
        expected == actual
            || self.halves
                && self.profile == Profile::Literal
                && oracle::in_order(expected.split(FORBIDDEN), &without_marks(&actual))
    }

    /// Returns whether a text first differs where a lone surrogate was.
    pub(super) fn is_half_lost(&self, expected: &str, actual: &str) -> bool {
        let differing = expected.chars().zip(actual.chars().map(Some).chain(std::iter::repeat(None)));
        let first = differing.into_iter().find(|&(expected, actual)| Some(expected) != actual);
        self.halves && first.is_some_and(|(expected, _)| expected == '\u{fffd}')
    }

    /// Returns whether an escaped text is one of those that the profile accepts for the original. `expected` is the reference's.
    pub(in crate::compare) fn same_escaped(&self, original: &str, expected: &str, actual: &str) -> bool {
        if self.canonical(expected) == self.canonical(actual) {
            return true;
        }
        if self.profile == Profile::Hardened || !is_well_formed(actual) {
            return false;
        }
        let stretches: Vec<_> =
            original.split(|c| !is_xml_char(c)).map(|stretch| escape_text(stretch, Profile::Literal)).collect();
        oracle::in_order(stretches.iter().map(|stretch| &**stretch), &without_marks(&self.canonical(actual)))
    }

    /// The first departure of a value from the expected one.
    pub(in crate::compare) fn mismatch(&self, expected: &Value, actual: &Value, path: &str) -> Option<Mismatch> {
        let values = |path: String, expected: Option<&Value>, actual: Option<&Value>| {
            let side = |value: Option<&Value>| value.map_or_else(Side::nothing, Side::of);
            let sides = Sides::Values { expected: side(expected), actual: side(actual) };
            Some(Mismatch { path, sides })
        };
        match (expected, actual) {
            (Value::String(expected), Value::String(actual)) if self.same(expected, actual) => None,
            (Value::String(expected), Value::String(actual)) => Some(self.texts(path, expected, actual)),
            (Value::Number(one), Value::Number(other)) if one.as_f64() == other.as_f64() => None,
            (Value::Array(expected), Value::Array(actual)) => (0..expected.len().max(actual.len())).find_map(|index| {
                let path = format!("{path}/{index}");
                match (expected.get(index), actual.get(index)) {
                    (Some(expected), Some(actual)) => self.mismatch(expected, actual, &path),
                    (expected, actual) => values(path, expected, actual),
                }
            }),
            (Value::Object(expected), Value::Object(actual)) => {
                let of_its_own = |key: &str| !expected.contains_key(key);
                let lost = expected.iter().find_map(|(key, expected)| {
                    let path = format!("{path}/{key}");
                    let similar = || actual.iter().find(|(actual, _)| of_its_own(actual) && self.same(key, actual));
                    match actual.get(key).or_else(|| similar().map(|(_, value)| value)) {
                        Some(actual) => self.mismatch(expected, actual, &path),
                        None => values(path, Some(expected), None),
                    }
                });
                let known = |actual: &String| expected.keys().any(|key| self.same(key, actual));
                let added = || actual.iter().find(|(key, _)| of_its_own(key) && !known(key));
                lost.or_else(|| added().and_then(|(key, value)| values(format!("{path}/{key}"), None, Some(value))))
            }
            (expected, actual) if expected == actual => None,
            (expected, actual) => values(path.to_owned(), Some(expected), Some(actual)),
        }
    }

    /// A departure of one text from another.
    pub(in crate::compare) fn texts(&self, path: &str, expected: &str, actual: &str) -> Mismatch {
        let marked = self.halves && self.profile == Profile::Literal;
        let expected = if marked { expected.replace(FORBIDDEN, "\u{fffd}") } else { expected.to_owned() };
        // Another spelling of a lone surrogate is no part of the difference.
        let [canonical, other] = [&*expected, actual].map(|text| self.canonical_everywhere(text));
        let [expected, actual] = if canonical == other {
            [&*expected, actual].map(str::to_owned)
        } else {
            [canonical, other].map(Cow::into_owned)
        };
        Mismatch { path: path.to_owned(), sides: Sides::Texts { expected, actual } }
    }
}

/// Returns whether an escaped text can be in a document.
pub(super) fn is_well_formed(escaped: &str) -> bool {
    oracle::well_formed(&format!("<text>{escaped}</text>")).is_ok()
}

/// Returns whether strings of an input differ only in lone surrogates. What they name may then be one thing or several, in both profiles;
/// in literal a lone surrogate may also vanish.
pub(super) fn halves_collide(input: &str, profile: Profile) -> bool {
    let stand_in = if profile == Profile::Literal { "" } else { "\\ufffd" };
    // A text of lone surrogates only may become the empty one.
    let mut seen: HashMap<Cow<'_, str>, &str> = HashMap::from([("\"\"".into(), "\"\"")]);
    tokens(input).filter(|token| token.starts_with('"')).any(|token| {
        let read = replace_surrogates(token, stand_in);
        let other = seen.insert(read.clone(), token);
        other.is_some_and(|other| other != token && [other, token].iter().any(|token| **token != *read))
    })
}

/// All digits of a large integer of the input, whose double is given; `None` for one that JSON-3 wants in exponential form. A program that
/// reads decimals keeps the digits of one that is written with a point or an exponent, too.
fn integer(number: &str, double: f64) -> Option<String> {
    /// From here on ECMAScript writes an exponent.
    const EXPONENTIAL: f64 = 1e21;
    if number.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(number.to_owned());
    }
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let fraction = fraction.trim_end_matches('0');
    let zeros = exponent.parse::<usize>().ok().filter(|_| double < EXPONENTIAL)?.checked_sub(fraction.len())?;
    let digits = format!("{whole}{fraction}{}", "0".repeat(zeros));
    Some(digits.trim_start_matches('0').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::compare;
    use crate::corpus::embedded;
    use crate::protocol::{JudgeProfile, Op, Reply, Request};
    use crate::verdict::{Outcome, Verdict, judge};

    #[test]
    fn large_integers_may_have_the_digits_of_the_input() {
        for (digits, written) in [("9007199254740993", "9007199254740992"), ("1000000000000000000001", "1e+21")] {
            let texts = Texts::of(&format!(r#"{{"a":{digits}}}"#), Profile::Literal);
            assert!(texts.same(&format!(r#"{{"a":{written}}}"#), &format!(r#"{{"a":{digits}}}"#)), "{digits}");
        }
        assert!(!Texts::of("[9007199254740991]", Profile::Literal).same("[9007199254740991]", "[9007199254740990]"));
    }

    #[test]
    fn half_a_pair_beside_a_character_of_the_last_plane_may_stay_as_it_is() {
        let prefix = "\\ud83d\u{10d800}";
        let input = format!(r#"{{"events":[],"responsePrefix":"{prefix}"}}"#);
        let request = Request::new(1, Op::Serialize, JudgeProfile::Literal, input);
        let said = |prefix: &str| {
            let line = format!(r#"{{"id":1,"ok":"<thread>\n</thread>\n{prefix}"}}"#);
            Reply::read_for(JudgeProfile::Literal, line.as_bytes()).expect("a reply").1
        };
        assert!(compare(&request, &said(prefix)).1.is_none());
        assert!(compare(&request, &said("\\ud83d")).1.is_some(), "the other character is gone");
    }

    #[test]
    fn the_digits_of_one_large_integer_may_begin_with_those_of_another() {
        let texts = Texts::of("[9007199254740993,90071992547409931]", Profile::Literal);
        let (expected, exact) = ("[9007199254740992,90071992547409940]", "[9007199254740993,90071992547409931]");
        assert!(texts.same(expected, exact));
        assert!(texts.same(expected, "[9007199254740992,90071992547409936]"), "all digits of the double");
        assert!(!texts.same(expected, "[9007199254740993,9007199254740993]"));
    }

    #[test]
    fn a_large_integer_may_be_written_with_a_point_or_an_exponent() {
        for number in ["12345678901234567890.0", "1.234567890123456789e19", "12345678901234567890"] {
            let texts = Texts::of(number, Profile::Hardened);
            for digits in ["12345678901234567890", "12345678901234567168"] {
                assert!(texts.same("12345678901234567000", digits), "{number} as {digits}");
            }
            assert!(!texts.same("12345678901234567000", "12345678901234567891"), "{number}");
        }
        // JSON-3 says how these are written.
        for (number, digits) in [("1e21", "1000000000000000000000"), ("1e22", "10000000000000000000000")] {
            assert!(!Texts::of(number, Profile::Literal).same(&number.replace('e', "e+"), digits), "{number}");
        }
        assert!(!Texts::of("4.350", Profile::Literal).same("4.35", "4.350"));
    }

    /// A case lists what `verify` takes, and [`Texts`] has what `fuzz` takes: the same digits, whichever judges.
    #[test]
    fn verify_and_fuzz_take_the_same_digits_of_a_large_integer() {
        let case = embedded().0.cases.iter().find(|case| case.id == "serialize/numbers/integer-of-thirty-digits");
        let case = case.expect("the case exists");
        for (digits, is_right) in [
            ("1.2345678901234568e+29", true),
            ("123456789012345678901234567890", true),
            ("123456789012345677877719597056", true),
            ("123456789012345680000000000000", true),
            ("123456789012345678901234567891", false),
            ("123456789012345680000000000001", false),
            ("12345678901234568000000000000", false),
            ("1.2345678901234568e29", false),
        ] {
            let document = format!(
                "<thread>\n  <event type=\"tool_input\" id=\"0\" name=\"f\" iteration=\"1\">{{&quot;n&quot;:{digits}}}</event>\n  \
                 <event type=\"tool_output\" id=\"1\" name=\"f\" status=\"success\" iteration=\"1\">{digits}</event>\n</thread>"
            );
            for &profile in &case.profiles {
                let reply = Reply::Ok(Value::from(&*document));
                let verdict = judge(case, profile, Outcome::Reply(reply.clone())).verdict;
                assert_eq!(verdict == Verdict::Pass, is_right, "verify ({profile}): {digits}");
                let (_, difference) = compare(&case.request(1, profile), &reply);
                assert_eq!(difference.is_none(), is_right, "fuzz ({profile}): {digits}: {difference:?}");
            }
        }
    }
}
