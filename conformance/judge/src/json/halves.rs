//! Lone surrogates in the values of replies and inputs.

use super::read;
use serde_json::{Map, Value};
use std::borrow::Cow;
use threadspec::Profile;
use threadspec::surrogates::{unmark_surrogates, without_marks};

/// Stands for a lone surrogate in replies that are compared with what was expected as it is written, where a mark of
/// `threadspec::surrogates` could be a character: noncharacters, in a sequence that no text has.
pub const HALF: &str = "\u{fdd0}\u{fdef}\u{fdd0}\u{fdef}";
/// Takes the place of a lone surrogate where it is judged like any character that XML forbids: in documents, and in what literal expects.
pub const FORBIDDEN: char = '\u{fffe}';

/// The output of a reply in which each [`HALF`] is replaced by U+FFFD where the profile accepts either (INP-SURROGATE).
/// Elsewhere it stays, and no expectation matches it.
///
/// In arguments both are accepted. Elsewhere the hardened profile wants U+FFFD; the literal one does not care, but a
/// document must be well-formed in both.
pub fn settled(mut output: Cow<'_, Value>, profile: Profile) -> Cow<'_, Value> {
    if any_string(&output, &|text| text.contains(HALF)) {
        settle(output.to_mut(), profile, false);
    }
    output
}

/// Changes the value where it stands: a copy of a long one would take too much memory.
fn settle(value: &mut Value, profile: Profile, in_args: bool) {
    let change = |text: &str| {
        let accepted = in_args || profile == Profile::Literal && !text.starts_with("<thread>");
        (accepted && text.contains(HALF)).then(|| text.replace(HALF, "\u{fffd}"))
    };
    match value {
        Value::String(text) => {
            if let Some(changed) = change(text) {
                *text = changed;
            }
        }
        Value::Array(elements) => elements.iter_mut().for_each(|element| settle(element, profile, in_args)),
        Value::Object(members) => {
            members.iter_mut().for_each(|(name, member)| settle(member, profile, in_args || name == "args"));
            if members.keys().any(|name| change(name).is_some()) {
                let renamed = |(name, member): (String, Value)| (change(&name).unwrap_or(name), member);
                *members = std::mem::take(members).into_iter().map(renamed).collect::<Map<_, _>>();
            }
        }
        _ => {}
    }
}

/// Data in which the library has marked lone surrogates, as a program gets it that reads each of them as U+FFFD.
pub fn plain(value: Value) -> Value {
    if any_string(&value, &|text| matches!(without_marks(text), Cow::Owned(_))) {
        read(&unmark_surrogates(&value.to_string())).unwrap_or(value)
    } else {
        value
    }
}

/// Whether any string or name has a property.
fn any_string(value: &Value, has: &impl Fn(&str) -> bool) -> bool {
    match value {
        Value::String(text) => has(text),
        Value::Array(elements) => elements.iter().any(|element| any_string(element, has)),
        Value::Object(members) => members.iter().any(|(name, member)| has(name) || any_string(member, has)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use threadspec::surrogates::mark_surrogates;

    #[test]
    fn half_a_pair_is_no_replacement_character_where_the_profile_tells_them_apart() {
        let half = |text: &str| text.replace('?', HALF);
        let output = json!([half("?"), {"id": half("?"), "args": {half("?"): [half("a?")]}}, half("<thread>?")]);
        let args = json!({"\u{fffd}": ["a\u{fffd}"]});
        let hardened = json!([half("?"), {"id": half("?"), "args": args}, half("<thread>?")]);
        assert_eq!(*settled(Cow::Borrowed(&output), Profile::Hardened), hardened);
        let literal = json!(["\u{fffd}", {"id": "\u{fffd}", "args": args}, half("<thread>?")]);
        assert_eq!(*settled(Cow::Borrowed(&output), Profile::Literal), literal);
        assert!(matches!(
            settled(Cow::Borrowed(&json!(["\u{fffd}", {"args": "\u{fdd0}"}])), Profile::Hardened),
            Cow::Borrowed(_)
        ));
    }

    #[test]
    fn marks_become_what_others_read() {
        let json = r#"{"\ud83d": 1, "\ud83e": "\ude00", "\udbf6\udc3d": "\udbff\udffe\udbf6\udc3d"}"#;
        let marked = serde_json::from_str(&mark_surrogates(json)).expect("marked");
        assert_eq!(plain(marked), json!({"\u{fffd}": "\u{fffd}", "\u{10d83d}": "\u{10fffe}\u{10d83d}"}));
    }
}
