//! Takes a document apart into its elements, and settles what may be spelled in several ways in it.

use crate::corpus::expectation::Pattern;
use crate::protocol::{EventBody, Input, LoopOutput, Part, ThreadEvent};
use serde_json::{Value, json};
use std::borrow::Cow;

// A document taken apart into its elements, to be put as the clauses say.

/// Separates elements. A text cannot hold it: it has no raw `<`.
const BETWEEN: &str = "\n  <event ";
const START: &str = "<thread>";
const END: &str = "\n</thread>";

/// Elements, each without what is before and after it: `type="human" id="0" …>text</event>`.
pub(super) struct Elements(pub(super) Vec<String>);

impl Elements {
    /// None of a text that is no document, or one without elements.
    pub(super) fn read(document: &str) -> Option<Self> {
        let elements = document.strip_prefix(START)?.strip_suffix(END)?.strip_prefix(BETWEEN)?;
        Some(Self(elements.split(BETWEEN).map(str::to_owned).collect()))
    }

    pub(super) fn text(&self) -> String {
        let elements: Vec<String> = self.0.iter().map(|element| format!("{BETWEEN}{element}")).collect();
        format!("{START}{}{END}", elements.concat())
    }
}

/// Changes a number in an attribute of each element.
pub(super) fn renumber(elements: &mut [String], attribute: &str, number: impl Fn(i64) -> i64) {
    for element in elements {
        let Some((start, rest)) = element.split_once(&format!(" {attribute}=\"")) else { continue };
        let Some((value, rest)) = rest.split_once('"') else { continue };
        let Ok(value) = value.parse() else { continue };
        *element = format!("{start} {attribute}=\"{}\"{rest}", number(value));
    }
}

// White space that is written as a character reference (ESC-CR, ATT-WHITESPACE).

/// How a reference begins.
const REFERENCE: &str = "&#";
/// White space that may be written as a reference.
const IN_TEXT: &[char] = &['\r'];
const IN_ATTRIBUTES: &[char] = &['\t', '\n', '\r'];

/// An escaped text with its references as the characters themselves.
pub(super) fn raw_text(text: &str) -> Cow<'_, str> {
    raw(text, IN_TEXT)
}

/// A document with its references as the characters themselves; what follows the document is left alone.
pub(super) fn raw_document(document: &str) -> Cow<'_, str> {
    if !document.contains(REFERENCE) {
        return Cow::Borrowed(document);
    }
    let end = document.find("</thread>").unwrap_or(document.len());
    let (mut rest, behind) = document.split_at(end);
    let mut out = String::with_capacity(document.len());
    // Neither a text nor a value holds a raw `<`, and a tag ends at the first `>`.
    while let Some(at) = rest.find('<') {
        let (text, tag) = rest.split_at(at);
        let length = tag.find('>').map_or(tag.len(), |end| end + 1);
        out += &raw_text(text);
        out += &raw(&tag[..length], IN_ATTRIBUTES);
        rest = &tag[length..];
    }
    Cow::Owned(out + &raw_text(rest) + behind)
}

fn raw<'a>(escaped: &'a str, white_space: &[char]) -> Cow<'a, str> {
    if !escaped.contains(REFERENCE) {
        return Cow::Borrowed(escaped);
    }
    let mut parts = escaped.split(REFERENCE);
    let mut raw = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once(';').and_then(|(number, rest)| Some((character(number)?, rest))) {
            Some((character, rest)) if white_space.contains(&character) => {
                raw.push(character);
                raw += rest;
            }
            _ => {
                raw += REFERENCE;
                raw += part;
            }
        }
    }
    Cow::Owned(raw)
}

/// The character that a reference represents; `None` if XML has no such reference.
fn character(number: &str) -> Option<char> {
    let (digits, radix) = number.strip_prefix('x').map_or((number, 10), |digits| (digits, 16));
    let is_number = !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix));
    u32::from_str_radix(digits, radix).ok().filter(|_| is_number).and_then(char::from_u32)
}

// The order of arguments in events.

/// Orders the arguments in events as the model wrote them: documents are built from events, and there the order counts.
pub(super) fn order_arguments(input: &Input, run: &mut LoopOutput) {
    let calls = input.turns().flat_map(|turn| turn.calls.list());
    let arguments = run.events.list_mut().iter_mut().filter_map(arguments);
    for (actual, call) in arguments.zip(calls) {
        let Some(written) = call.proper().and_then(|call| call.args.proper()).filter(|args| args.is_object()) else {
            continue;
        };
        let given = Pattern::read(&json!({ "literally": written }));
        if given.is_ok_and(|given| actual.proper().is_some_and(|actual| given.matches(actual))) {
            *actual = written.clone().into();
        }
    }
}

/// The arguments in the event of a call.
fn arguments(event: &mut Part<ThreadEvent>) -> Option<&mut Part<Value>> {
    match &mut event.proper_mut()?.body {
        EventBody::ToolCall { args, .. } => Some(args),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::settle;
    use super::*;
    use crate::protocol::Op;
    use serde_json::json;
    use threadspec::Profile;

    #[test]
    fn a_document_is_taken_apart_and_put_together() {
        let text = "<thread>\n  <event type=\"ai\" id=\"0\" iteration=\"1\"> id=&quot;1&quot;\n</event>\n  <event type=\"ai\" id=\"1\" iteration=\"2\">\n</thread>\n</event>\n</thread>";
        let mut document = Elements::read(text).expect("a document");
        assert_eq!(document.text(), text);
        renumber(&mut document.0[1..], "id", |id| id + 1);
        assert_eq!(document.text(), text.replace(" id=\"1\"", " id=\"2\""));
        renumber(&mut document.0, "iteration", |number| number - 1);
        assert_eq!(document.0.len(), 2);
        assert!(document.0[0].starts_with("type=\"ai\" id=\"0\" iteration=\"0\">"), "{}", document.0[0]);
        for other in ["<thread>\n</thread>", "", "a"] {
            assert!(Elements::read(other).is_none(), "{other}");
        }
    }

    #[test]
    fn every_spelling_counts_where_it_is_permitted() {
        assert_eq!(raw_text("a&#13;b&#013;c&#xD;d&#x0d;e\rf"), "a\rb\rc\rd\re\rf");
        for other in ["&#9;", "&#XD;", "&#+13;", "&#x;", "&#;", "&amp;#13;", "&#13", "&#xfffffffffff;"] {
            assert_eq!(raw_text(other), other);
        }
    }

    #[test]
    fn a_document_is_told_from_its_attributes_and_from_what_follows() {
        let document = "<thread>\n  <event name=\"a&#9;&#x0A;&#013;\">&#13;&#10;</event>\n</thread>\n&#13;";
        let raw = "<thread>\n  <event name=\"a\t\n\r\">\r&#10;</event>\n</thread>\n&#13;";
        assert_eq!(raw_document(document), raw);
        assert_eq!(raw_document("&#13;"), "\r");
    }

    #[test]
    fn what_the_protocol_does_not_name_is_ignored() {
        let message = json!({"type": "ai", "content": "", "name": "x", "tool_call_id": null,
            "tool_calls": [{"id": "c", "name": "t", "args": {"type": null}, "type": "tool_call"}]});
        let event = json!({"type": "tool_result", "toolCallId": "c", "result": null, "iteration": 1, "timestamp": 5});
        let output = json!({"requests": [[message]], "events": [event], "stopReason": "completed", "usage": {}});
        let plain = json!({
            "requests": [[{"type": "ai", "content": "", "tool_calls": [{"id": "c", "name": "t", "args": {"type": null}}]}]],
            "events": [{"type": "tool_result", "toolCallId": "c", "result": null, "iteration": 1}],
            "stopReason": "completed",
        });
        assert_eq!(settle(Op::Loop, Profile::Hardened, &["LOOP-VERIFY"], &json!({"prompt": ""}), &output), plain);
    }

    #[test]
    fn arguments_in_events_stand_as_the_model_wrote_them() {
        let input =
            json!({"prompt": "", "model": [{"tool_calls": [{"id": "c", "name": "t", "args": {"b": 1, "a": [2]}}]}]});
        let run = |args| json!({"events": [{"type": "tool_call", "toolName": "t", "toolCallId": "c", "args": args, "iteration": 1}]});
        let settled = |args| settle(Op::Loop, Profile::Hardened, &[], &input, &run(args)).to_string();
        assert_eq!(settled(json!({"a": [2], "b": 1.0})), run(json!({"b": 1, "a": [2]})).to_string());
        assert_eq!(settled(json!({"a": [], "b": 1})), run(json!({"a": [], "b": 1})).to_string());
    }

    #[test]
    fn an_empty_list_of_calls_is_not_an_absent_one() {
        let output = json!([{"type": "ai", "content": "a", "tool_calls": []}]);
        assert_eq!(settle(Op::Messages, Profile::Literal, &[], &json!({"events": []}), &output), output);
    }
}
