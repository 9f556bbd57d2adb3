//! A fault as a value: which clause is broken, at what place, and how, whatever the values are there.

use super::Difference;
use super::document::clause_of_attribute;
use crate::corpus::NOTHING;
use crate::corpus::mismatch::{Mismatch, Side, SideKind, Sides};
use crate::json;
use crate::text::{beginning, common_beginning, cut, visible};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use threadspec_golden::clause;

/// Characters that are escaped, as places.
pub(super) const QUOTES: &str = "quotes";
pub(super) const AMPERSAND: &str = "`&`";
pub(super) const BRACKETS: &str = "`<` and `>`";
/// Names the text behind a document.
pub(super) const PREFIX: &str = "the response prefix";
/// Names the values that have an order.
pub(super) const ATTRIBUTES: &str = "attributes";
pub(super) const EVENTS: &str = "the events";
/// Names a reply as a whole.
const OUTPUT: &str = "the output";
/// How much of a text a title shows.
const SHOWN: usize = 24;
/// How much a title shows of the words of a refusal.
const SHOWN_WORDS: usize = 60;
/// How much of the equal text before a difference it shows.
const BEFORE: usize = 6;

/// A fault at one place of a reply. Two faults with the same [`key`](Self::key) have one cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputFault {
    /// The clause that it breaks.
    pub clause: Cow<'static, str>,
    /// Where, in words that fit before a verb, without positions in lists.
    pub place: String,
    /// The fault.
    pub kind: FaultKind,
    /// The expected and the actual side, cut around the difference; of no importance to the cause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<[String; 2]>,
}

/// The kind of a fault at a place.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum FaultKind {
    /// Nothing is there.
    Missing,
    /// It should not be there.
    Unexpected,
    /// It is not escaped.
    Unescaped,
    /// It is escaped twice.
    EscapedTwice,
    /// It is escaped in another spelling.
    Respelled,
    /// The order is another one.
    Reordered,
    /// A value is written as another language writes it.
    Foreign,
    /// It has another value.
    Other,
    /// It is of another kind.
    Kind {
        /// The expected value.
        expected: String,
        /// The actual value.
        actual: String,
    },
    /// A valid input is refused.
    Refused,
    /// An invalid input is not refused.
    Accepted,
}

/// The parts that separate causes: the clause, if it does, the place, and the fault there.
pub type FaultKey<'a> = (&'a str, &'a str, &'a FaultKind);

impl OutputFault {
    pub(super) fn new(clause: impl Into<Cow<'static, str>>, place: impl Into<String>, kind: FaultKind) -> Self {
        Self { clause: clause.into(), place: place.into(), kind, shown: None }
    }

    /// A fault that shows what differs.
    pub(super) fn between(
        clause: impl Into<Cow<'static, str>>,
        place: impl Into<String>,
        kind: FaultKind,
        [expected, actual]: [&str; 2],
    ) -> Self {
        Self { shown: Some(around(expected, actual)), ..Self::new(clause, place, kind) }
    }

    /// Returns the fault of a reply that refuses a valid input with these words.
    pub(crate) fn refused(clause: &'static str, place: &str, words: &str) -> Self {
        let shown = Some([String::new(), beginning(words, SHOWN_WORDS)]);
        Self { shown, ..Self::new(clause, place, FaultKind::Refused) }
    }

    /// Returns the fault of a departure from the reference's reply; nothing if only words describe it.
    pub(super) fn of(Difference { clause, mismatch, .. }: &Difference) -> Option<Self> {
        Some(Self::of_mismatch(*clause, mismatch.as_ref()?))
    }

    /// Returns the fault of a difference from an expected value.
    pub fn of_mismatch(clause: impl Into<Cow<'static, str>>, Mismatch { path, sides }: &Mismatch) -> Self {
        match sides {
            Sides::Texts { expected, actual } if is_foreign(&[expected], actual) => {
                Self::between(clause, place(path), FaultKind::Foreign, [expected, actual])
            }
            Sides::Texts { expected, actual } => Self::of_texts(clause, path, [expected, actual]),
            Sides::Values { actual, .. } if actual.kind == SideKind::Nothing && actual.shown != NOTHING => {
                Self::new(clause, format!("a part of {}", place(path)), FaultKind::Missing)
            }
            Sides::Values { expected, actual } if actual.kind == SideKind::Nothing => {
                Self::new(clause, element(path, expected), FaultKind::Missing)
            }
            Sides::Values { expected, actual } if expected.kind == SideKind::Nothing => {
                Self::new(clause, element(path, actual), FaultKind::Unexpected)
            }
            Sides::Values { expected, actual } => match [expected, actual].map(noun) {
                [one, other] if one == other => {
                    Self::between(clause, place(path), FaultKind::Other, [&expected.shown, &actual.shown])
                }
                [expected, actual] => Self::new(clause, place(path), FaultKind::Kind { expected, actual }),
            },
        }
    }

    /// Returns the fault of a piece of a document, where the whole is too long to be kept: an attribute that is gone, a raw character.
    fn of_texts(clause: impl Into<Cow<'static, str>>, path: &str, [expected, actual]: [&str; 2]) -> Self {
        let same = common_beginning(expected, actual);
        let (due, there) = (&expected[same..], &actual[same..]);
        let attributes = [expected, actual].map(|text| {
            let mut attributes: Vec<&str> =
                tag_around(text, same).split("\" ").map(|one| one.trim_end_matches('"')).collect();
            attributes.sort_unstable();
            attributes
        });
        if attributes[0].len() > 1 && attributes[0] == attributes[1] {
            return Self::new(clause::ATT_ORDER, ATTRIBUTES, FaultKind::Reordered);
        }
        let attribute = due.trim_start().split_once("=\"").and_then(|(name, rest)| {
            let (_, behind) = rest.split_once('"')?;
            let is_gone = [behind, behind.trim_start()].iter().any(|behind| begins_alike(behind, there));
            Some((name, clause_of_attribute(name)?)).filter(|_| is_gone)
        });
        if let Some((name, clause)) = attribute {
            return Self::new(clause, format!("attribute `{name}`"), FaultKind::Missing);
        }
        if expected[..same].ends_with("</thread>") && due.starts_with('\n') && there.is_empty() {
            return Self::new(clause::DOC_6, PREFIX, FaultKind::Missing);
        }
        let raw = [("&quot;", '"', QUOTES), ("&apos;", '\'', QUOTES), ("&lt;", '<', BRACKETS), ("&gt;", '>', BRACKETS)];
        if let Some((.., what)) =
            raw.iter().find(|(reference, raw, _)| due.starts_with(reference) && there.starts_with(*raw))
        {
            return Self::new(clause::ESC_1, *what, FaultKind::Unescaped);
        }
        let is_value = expected[..same].ends_with(['{', '[']) && due.starts_with("&quot;");
        let kind = if is_value && there.starts_with("&apos;") { FaultKind::Foreign } else { FaultKind::Other };
        Self::between(clause, place(path), kind, [expected, actual])
    }

    /// Returns the parts that separate causes. What is not escaped is one cause in texts and in attributes, how a language writes values is
    /// one wherever it does, and so is a difference in the middle of a long output.
    pub fn key(&self) -> FaultKey<'_> {
        match self.kind {
            FaultKind::Unescaped | FaultKind::EscapedTwice | FaultKind::Respelled => ("", &self.place, &self.kind),
            FaultKind::Foreign => ("", "", &self.kind),
            FaultKind::Other if self.place == OUTPUT => ("", OUTPUT, &self.kind),
            _ => (&self.clause, &self.place, &self.kind),
        }
    }

    /// Describes the fault in a few words.
    pub fn title(&self) -> String {
        let Self { place, kind, shown, .. } = self;
        let is = if [QUOTES, BRACKETS, ATTRIBUTES, EVENTS].contains(&&**place) { "are" } else { "is" };
        let quoted =
            |text: &str| if text.is_empty() { "an empty text".to_owned() } else { format!("`{}`", visible(text)) };
        let sides = shown.as_ref().map(|sides| sides.each_ref().map(|side| quoted(side)));
        match (kind, sides) {
            (FaultKind::Missing, Some([expected, _])) => format!("{place} {is} missing, expected {expected}"),
            (FaultKind::Missing, None) => format!("{place} {is} missing"),
            (FaultKind::Unexpected, _) => format!("{place} should not be there"),
            (FaultKind::Unescaped, _) => format!("{place} {is} not escaped"),
            (FaultKind::EscapedTwice, _) => format!("{place} {is} escaped twice"),
            (FaultKind::Respelled, _) => format!("{place} {is} escaped in another spelling"),
            (FaultKind::Reordered, _) => format!("{place} {is} in another order"),
            (FaultKind::Foreign, Some([expected, actual])) => {
                format!("values are written in another language than JavaScript: {actual}, expected {expected}")
            }
            (FaultKind::Foreign, None) => "values are written in another language than JavaScript".to_owned(),
            (FaultKind::Other, Some([expected, actual])) => format!("{place} {is} {actual}, expected {expected}"),
            (FaultKind::Other, None) => format!("{place} differs"),
            (FaultKind::Kind { expected, actual }, _) => format!("{place} {is} {actual}, expected {expected}"),
            (FaultKind::Refused, Some([_, words])) => format!("a valid {place} is refused: {words}"),
            (FaultKind::Refused, None) => format!("a valid {place} is refused"),
            (FaultKind::Accepted, _) => format!("{place} is not refused as it should be"),
        }
    }
}

/// Returns the attributes of the tag in which a position is; nothing outside of tags.
fn tag_around(text: &str, at: usize) -> &str {
    let begin = text[..at].rfind("<event ").map(|begin| begin + "<event ".len());
    let tag = begin.and_then(|begin| text[begin..].split('>').next().filter(|tag| begin + tag.len() >= at));
    tag.unwrap_or_default()
}

/// Returns whether two rests of a document go on in the same way, as far as a few characters tell.
fn begins_alike(one: &str, other: &str) -> bool {
    const FEW: usize = 8;
    cut(one, FEW).0 == cut(other, FEW).0
}

/// A place by the last name of its path, whatever its positions in lists.
fn place(path: &str) -> String {
    let is_index = |part: &&str| part.parse::<usize>().is_ok();
    let is_element = path.rsplit('/').next().as_ref().is_some_and(is_index);
    let name = path.split('/').skip(1).filter(|part| !is_index(part)).last();
    match name.map(|name| name.replace("~1", "/").replace("~0", "~")) {
        None if is_element => "a message".to_owned(),
        None => OUTPUT.to_owned(),
        Some(list) if is_element => format!("an element of `{}`", visible(&list)),
        Some(name) => format!("`{}`", visible(&name)),
    }
}

/// Describes a missing or superfluous element, which is named by its type.
fn element(path: &str, side: &Side) -> String {
    let what = if path.starts_with("/events/") { "event" } else { "message" };
    match &side.kind {
        SideKind::Typed(name) => format!("the {what} of type `{}`", visible(cut(name, SHOWN).0)),
        _ => place(path),
    }
}

/// Names a side.
fn noun(Side { kind, shown }: &Side) -> String {
    match kind {
        SideKind::String => "a string".into(),
        SideKind::Number => "a number".into(),
        SideKind::List => "a list".into(),
        SideKind::Including => "a value that includes others".into(),
        SideKind::Object => "an object".into(),
        SideKind::Typed(name) => format!("an object of type `{}`", visible(cut(name, SHOWN).0)),
        SideKind::Nothing | SideKind::Other => visible(cut(shown, SHOWN).0),
    }
}

/// Two texts, cut around their first difference.
fn around(expected: &str, actual: &str) -> [String; 2] {
    let same = expected.chars().zip(actual.chars()).take_while(|(one, other)| one == other).count();
    [expected, actual].map(|text| {
        if text.chars().count() <= SHOWN {
            return text.to_owned();
        }
        let from = same.saturating_sub(BEFORE);
        let (_, rest) = cut(text, from);
        let (shown, behind) = cut(rest, SHOWN);
        format!("{}{shown}{}", if from > 0 { "…" } else { "" }, if behind.is_empty() { "" } else { "…" })
    })
}

/// Returns whether a text is one of these values in the notation of another language, as `{'a': None}` is for `{"a":null}`.
pub(super) fn is_foreign(expected: &[&str], actual: &str) -> bool {
    let is_json = json::read(actual).is_ok();
    // Another notation shows in characters of ASCII.
    let ascii = |text: &str| text.chars().filter(|c| (' '..='~').contains(c)).collect::<String>();
    let is_one = |text: &str| !text.is_empty() && ascii(text) != ascii(actual) && reduced(text) == reduced(actual);
    !is_json && !actual.is_empty() && expected.iter().any(|text| is_one(text))
}

/// A value without what only its notation has: quotes, blanks, escapes, and the names of nothing and of the booleans. Other characters than
/// those of ASCII may be escaped or not, so they are left out.
fn reduced(text: &str) -> String {
    let (mut reduced, mut word) = (String::new(), String::new());
    let text = text.replace("=>", ":");
    let mut rest = text.chars().chain([' ']).peekable();
    while let Some(c) = rest.next() {
        if c == '\\' {
            let digits = match rest.next() {
                Some('u') => 4,
                Some('x') => 2,
                _ => 0,
            };
            for _ in 0..digits {
                rest.next_if(char::is_ascii_hexdigit);
            }
            continue;
        }
        if c.is_ascii_alphanumeric() || c == '.' && rest.peek().is_some_and(char::is_ascii_digit) {
            word.push(c);
            continue;
        }
        reduced += match &*word {
            "None" | "nil" | "NULL" | "undefined" => "null",
            "True" | "TRUE" => "true",
            "False" | "FALSE" => "false",
            other => other.strip_suffix(".0").unwrap_or(other),
        };
        word.clear();
        if c.is_ascii_punctuation() && !matches!(c, '\'' | '"') {
            reduced.push(c);
        }
    }
    reduced
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn another_notation_of_a_value_is_known() {
        for (expected, actual) in [
            ("null", "None"),
            ("true", "True"),
            (r#"{"a":[1,null,"b c"]}"#, "{'a': [1, None, 'b c']}"),
            (r#"{"a":1}"#, r#"{"a"=>1}"#),
            (r#"{"a\n\"\u001b":1,"b":2}"#, r#"{'a\n"\x1b': 1.0, 'b': 2}"#),
            ("{\"a\":\"\u{fffd}é\"}", r"{'a': '\ud83dé'}"),
            ("undefined", "None"),
        ] {
            assert!(is_foreign(&[expected], actual), "{actual}");
        }
        for (expected, actual) in [("null", "null"), ("1", "1.0"), (r#"{"a":1}"#, r#"{"a": 1}"#), ("", "None")] {
            assert!(!is_foreign(&[expected], actual), "{actual}");
        }
    }

    #[test]
    fn titles_say_where_and_what() {
        let fault =
            |path: &str, sides| OutputFault::of_mismatch(clause::MSG_CALL, &Mismatch { path: path.into(), sides });
        let values = |expected: serde_json::Value, actual: serde_json::Value| Sides::Values {
            expected: Side::of(&expected),
            actual: Side::of(&actual),
        };
        let args = fault("/1/tool_calls/0/args", values(json!({"n": 1}), json!(5)));
        assert_eq!(args.title(), "`args` is a number, expected an object");
        let other = fault("/7/tool_calls/3/args", values(json!({}), json!(8)));
        assert_eq!(args.key(), other.key());
        let ai = values(json!({"type": "ai"}), json!(null));
        assert_eq!(fault("/2", ai).title(), "a message is null, expected an object of type `ai`");
        let text = |expected: &str, actual: &str| Sides::Texts { expected: expected.into(), actual: actual.into() };
        assert_eq!(fault("/0/content", text("", "None")).title(), "`content` is `None`, expected an empty text");
        let [gone, moved] = [
            r#"<event type="tool_output" id="1" iteration="1">"#,
            r#"<event type="tool_output" id="1" iteration="1" name="f">"#,
        ];
        let whole = r#"<event type="tool_output" id="1" name="f" iteration="1">"#;
        assert_eq!(fault("", text(whole, gone)).title(), "attribute `name` is missing");
        assert_eq!(fault("", text(whole, moved)).title(), "attributes are in another order");
        let long = "x".repeat(100);
        let title = fault("/0/content", text(&format!("{long}a"), &format!("{long}b"))).title();
        assert_eq!(title, "`content` is `…xxxxxxb`, expected `…xxxxxxa`");
        let missing = Sides::Values { expected: Side::of(&json!({"type": "tool"})), actual: Side::nothing() };
        assert_eq!(fault("/2", missing).title(), "the message of type `tool` is missing");
    }
}
