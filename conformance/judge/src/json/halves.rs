//! Lone surrogates in the values of replies and inputs.

use super::read;
use serde_json::{Map, Value};
use std::borrow::Cow;
use threadspec::Profile;
use threadspec::surrogates::{has_marks, unmark_surrogates, without_marks};

/// Takes the place of a lone surrogate where it is judged like any character that XML forbids: in documents, and in what literal expects.
pub(crate) const FORBIDDEN: char = '\u{fffe}';

/// The output of a reply, which was read as marked data (`threadspec::surrogates`), as it is compared with what was expected: U+FFFD is
/// for each lone surrogate where the profile accepts either (INP-SURROGATE). Elsewhere the mark stays, and no expectation matches it.
///
/// In arguments both are accepted. Elsewhere the hardened profile wants U+FFFD; the literal one does not care, but a
/// document must be well-formed in both.
pub(crate) fn settled(mut output: Cow<'_, Value>, profile: Profile) -> Cow<'_, Value> {
    if is_marked(&output) {
        settle(output.to_mut(), profile, false);
    }
    output
}

/// Changes the value where it is: a copy of a long one would take too much memory.
fn settle(value: &mut Value, profile: Profile, in_args: bool) {
    let change = |text: &str| {
        let accepted = in_args || profile == Profile::Literal && !text.starts_with("<thread>");
        if accepted || !has_marks(text) { super::changed(without_marks(text)) } else { None }
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
    if is_marked(&value) { read(&unmark_surrogates(&value.to_string())).unwrap_or(value) } else { value }
}

/// Returns whether any string or name differs from the text that it represents.
fn is_marked(value: &Value) -> bool {
    let differs = |text: &str| matches!(without_marks(text), Cow::Owned(_));
    match value {
        Value::String(text) => differs(text),
        Value::Array(elements) => elements.iter().any(is_marked),
        Value::Object(members) => members.iter().any(|(name, member)| differs(name) || is_marked(member)),
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
        let half = |text: &str| text.replace('?', "\u{10d83d}");
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
