//! All faults of a reply, where [`compare`](super::compare) names the first: events and messages are laid beside the reference's one by one.

use super::document::{
    Spelled, attribute_clause, body_clause, elements, is_reordered, misshapen, name_clause, row, split_prefix,
};
use super::fault::{AMPERSAND, ATTRIBUTES, BRACKETS, EVENTS, FaultKind, OutputFault, PREFIX, QUOTES, is_foreign};
use super::texts::Texts;
use super::{Compared, compare, messages, settled};
use crate::protocol::{ChatMessage, Op, Output, Part, RejectKind, Reply, Request, Speaker};
use crate::text::{cut, visible};
use std::collections::HashSet;
use threadspec::{Event, EventKind, Profile, escape_text, json_stringify};
use threadspec_golden::clause;

/// Names of attributes are shown up to this length.
const LONGEST_NAME: usize = 40;

/// Lists the faults of a reply, as far as the reference shows them, each cause once. Empty where nothing is, or where only words say it.
pub fn faults(request: &Request, actual: &Reply) -> Vec<OutputFault> {
    let (expected, difference) = compare(request, actual);
    let Some(difference) = difference else { return Vec::new() };
    let found = match (&expected, actual) {
        (Reply::Ok(expected), Reply::Ok(actual)) => {
            let expected = Output::read(request.op, expected.clone());
            let actual = settled(request, actual, false);
            super::compared(request, &expected, &actual, &|compared| of_outputs(&compared)).unwrap_or_default()
        }
        (Reply::Ok(_), Reply::Reject { kind, message }) => {
            let what = if *kind == RejectKind::InvalidEvent { "event" } else { "input" };
            vec![OutputFault::refused(difference.clause, what, message)]
        }
        (Reply::Reject { kind, .. }, actual) => {
            let what = if *kind == RejectKind::InvalidEvent { "a wrong event" } else { "a wrong input" };
            vec![match actual {
                Reply::Reject { kind: other, .. } if other != kind => {
                    let kinds = [kind.to_string(), other.to_string()];
                    let place = format!("the refusal of {what}");
                    OutputFault::between(
                        difference.clause,
                        place,
                        FaultKind::Other,
                        kinds.each_ref().map(|kind| &**kind),
                    )
                }
                _ => OutputFault::new(difference.clause, what, FaultKind::Accepted),
            }]
        }
        _ => Vec::new(),
    };
    let mut found = if found.is_empty() { OutputFault::of(&difference).into_iter().collect() } else { found };
    let mut seen = HashSet::new();
    found.retain(|fault| {
        let (clause, place, kind) = fault.key();
        seen.insert((clause.to_owned(), place.to_owned(), kind.clone()))
    });
    found
}

fn of_outputs(Compared { request, input, events, expected, actual, texts }: &Compared<'_>) -> Vec<OutputFault> {
    match (expected, actual) {
        (Output::Text(expected), Output::Text(actual)) if request.op == Op::Escape => {
            let original = input.text.text().unwrap_or_default();
            let place = |clause| place_of_text(clause, original, "the text");
            let again = |escaped: &str| {
                let same = texts.same_escaped(original, expected, escaped);
                (!same).then(|| super::document::escaped(original, expected, escaped, texts).map(|found| found.clause))
            };
            let Some(clause) = again(actual).flatten() else { return Vec::new() };
            of_escaped([expected, actual], [clause::ESC_1, clause], texts, &place, &|text| again(text).flatten(), &[])
        }
        (Output::Text(expected), Output::Text(actual)) => {
            of_document(events, input.response_prefix.text(), expected, actual, texts)
        }
        (Output::Messages(expected), Output::Messages(actual)) => {
            let context = messages::Context { events, xml: input.is_in_xml_mode() };
            of_messages(&context, expected, actual, texts)
        }
        _ => Vec::new(),
    }
}

/// The faults of messages of which none is missing and none too many.
fn of_messages(
    context: &messages::Context<'_>,
    expected: &[Part<ChatMessage>],
    actual: &[Part<ChatMessage>],
    texts: &Texts,
) -> Vec<OutputFault> {
    let is_document = |message: &Part<ChatMessage>| {
        message.proper().and_then(|message| message.content.text()).is_some_and(|text| text.contains("<thread>"))
    };
    if context.xml && !actual.iter().any(is_document) {
        return vec![OutputFault::new(clause::CTX_XML, "the document of XML mode", FaultKind::Missing)];
    }
    if expected.len() != actual.len() || messages::is_reordered(expected, actual) {
        return Vec::new();
    }
    let document = |message: &Part<ChatMessage>| {
        let message = message.proper().filter(|message| context.xml && message.speaker.is(&Speaker::Human))?;
        message.content.text().map(str::to_owned)
    };
    let mut found = Vec::new();
    for index in 0..expected.len() {
        if let (Some(expected), Some(actual)) = (document(&expected[index]), document(&actual[index])) {
            found.extend(of_document(context.events, None, &expected, &actual, texts));
        } else if let Some(difference) = messages::message(context, expected, actual, index, texts) {
            found.extend(OutputFault::of(&difference));
        }
    }
    found
}

/// The faults of a document and the response prefix behind it.
fn of_document(
    events: &[Event],
    prefix: Option<&str>,
    expected: &str,
    actual: &str,
    texts: &Texts,
) -> Vec<OutputFault> {
    let (document, behind) = split_prefix(prefix, actual, texts);
    let end = expected.find("</thread>").map_or(expected.len(), |at| at + "</thread>".len());
    let mut found = Vec::new();
    // The prefix may be there, and only the line end before it is not.
    let joined = prefix.filter(|_| behind.is_none()).and_then(|prefix| document.strip_suffix(prefix));
    let document = joined.unwrap_or(document);
    if behind.is_none() {
        let place = if joined.is_some() { "the line end before the response prefix" } else { PREFIX };
        found.push(OutputFault::new(clause::DOC_6, place, FaultKind::Missing));
    }
    let expected = &expected[..end];
    if expected == document {
        return found;
    }
    match (elements(expected), elements(document)) {
        (Some(expected), Some(actual)) if expected.len() == actual.len() && is_reordered(&expected, &actual) => {
            found.push(OutputFault::new(clause::DOC_2, EVENTS, FaultKind::Reordered));
        }
        (Some(expected), Some(actual)) if actual.len() < expected.len() => {
            found.push(OutputFault::new(clause::DOC_2, "an event", FaultKind::Missing));
        }
        (Some(expected), Some(actual)) if actual.len() > expected.len() => {
            found.push(OutputFault::new(clause::DOC_5, "an event", FaultKind::Unexpected));
        }
        (Some(expected), Some(actual)) => {
            for (id, (expected, actual)) in expected.iter().zip(&actual).enumerate() {
                found.extend(of_element(events, id, expected, actual, texts));
            }
        }
        _ => found.push(of_form(events, expected, document)),
    }
    found
}

/// The fault of a document that has another form.
fn of_form(events: &[Event], expected: &str, actual: &str) -> OutputFault {
    let clause = misshapen(events, expected, actual);
    match clause {
        clause::ATT_ESCAPED => OutputFault::new(clause, QUOTES, FaultKind::Unescaped),
        clause::ESC_1 => OutputFault::new(clause, BRACKETS, FaultKind::Unescaped),
        _ => OutputFault::between(clause, "the form of the document", FaultKind::Other, [expected, actual]),
    }
}

fn of_element<'a>(
    events: &[Event],
    id: usize,
    expected: &Spelled<'a>,
    actual: &Spelled<'a>,
    texts: &Texts,
) -> Vec<OutputFault> {
    let Some(event) = events.get(id) else { return Vec::new() };
    let mut found = Vec::new();
    let has = |element: &Spelled<'a>, name: &str| element.attributes.iter().any(|(own, _)| *own == name);
    let attribute = |name: &str| format!("attribute `{}`", visible(cut(name, LONGEST_NAME).0));
    let missing = expected.attributes.iter().filter(|(name, _)| !has(actual, name));
    found.extend(missing.map(|(name, value)| {
        let sides = [&*unescaped(value), ""];
        OutputFault::between(attribute_clause(name, event), attribute(name), FaultKind::Missing, sides)
    }));
    let added = actual.attributes.iter().filter(|(name, _)| !has(expected, name));
    found.extend(added.map(|(name, _)| OutputFault::new(row(event), attribute(name), FaultKind::Unexpected)));
    let names = |element: &Spelled<'a>| element.attributes.iter().map(|(name, _)| *name).collect::<Vec<_>>();
    if found.is_empty() && names(expected) != names(actual) {
        found.push(OutputFault::new(clause::ATT_ORDER, ATTRIBUTES, FaultKind::Reordered));
    }
    for (name, value) in &expected.attributes {
        let Some((_, other)) = actual.attributes.iter().find(|(own, other)| own == name && other != value) else {
            continue;
        };
        if *name != "name" {
            let (value, other) = (unescaped(value), unescaped(other));
            let kind = if is_foreign(&[&value], &other) { FaultKind::Foreign } else { FaultKind::Other };
            found.push(OutputFault::between(attribute_clause(name, event), attribute(name), kind, [&value, &other]));
        } else if let Some(clause) = name_clause(events, id, value, other, texts) {
            let place = |_| attribute(name);
            let again = |text: &str| name_clause(events, id, value, text, texts);
            found.extend(of_escaped([value, other], [clause::ATT_ESCAPED, clause], texts, &place, &again, &[]));
        }
    }
    if let Some(clause) = body_clause(event, expected.body, actual.body, texts) {
        let original = unescaped(expected.body);
        let place = |clause| place_of_text(clause, &original, place_of_body(event));
        let again = |text: &str| body_clause(event, expected.body, text, texts);
        let value = match &event.kind {
            EventKind::ToolResult { result: Some(value), .. } if !value.is_string() => vec![json_stringify(value)],
            _ => Vec::new(),
        };
        found.extend(of_escaped([expected.body, actual.body], [clause::ESC_1, clause], texts, &place, &again, &value));
    }
    found
}

/// The faults of an escaped text: what is not escaped, by a clause of its own, and what else differs. `again` names the clause of another text at this place.
fn of_escaped(
    [expected, actual]: [&str; 2],
    [escaping, clause]: [&'static str; 2],
    texts: &Texts,
    place: &dyn Fn(&'static str) -> String,
    again: &dyn Fn(&str) -> Option<&'static str>,
    values: &[String],
) -> Vec<OutputFault> {
    let raw = unescaped_in(actual);
    let is_raw = !raw.is_empty();
    let mut found: Vec<OutputFault> =
        raw.into_iter().map(|what| OutputFault::new(escaping, what, FaultKind::Unescaped)).collect();
    let (original, read) = (unescaped(expected), unescaped(actual));
    if read == original {
        if !is_raw && matches!(clause, clause::ESC_1 | clause::ATT_ESCAPED) {
            found.push(OutputFault::between(clause, QUOTES, FaultKind::Respelled, [expected, actual]));
        } else if !is_raw {
            found.push(OutputFault::between(clause, place(clause), FaultKind::Other, [expected, actual]));
        }
        return found;
    }
    if unescaped(&read) == original {
        found.push(OutputFault::new(clause, "the text", FaultKind::EscapedTwice));
        return found;
    }
    // Escaped as it should be, the text may still be another one.
    let clause = if is_raw {
        match again(&escape_text(&read, texts.profile)) {
            Some(clause) => clause,
            None => return found,
        }
    } else {
        clause
    };
    let candidates: Vec<&str> = [&*original].into_iter().chain(values.iter().map(String::as_str)).collect();
    if clause == clause::ESC_FORBIDDEN && texts.profile == Profile::Literal {
        // Which character represents it is left open.
        found.push(OutputFault::new(clause, "a character that XML forbids", FaultKind::Unexpected));
    } else if clause == clause::ESC_2 {
        found.push(OutputFault::new(clause, "text that looks escaped", FaultKind::Unescaped));
    } else if is_foreign(&candidates, &read) {
        found.push(OutputFault::between(clause, place(clause), FaultKind::Foreign, [&original, &read]));
    } else {
        found.push(OutputFault::between(clause, place(clause), FaultKind::Other, [&original, &read]));
    }
    found
}

/// Lists those of the five characters that are unescaped in a text, where none should be.
fn unescaped_in(escaped: &str) -> Vec<&'static str> {
    let is_reference = |behind: &str| {
        behind.split_once(';').is_some_and(|(name, _)| {
            !name.is_empty() && name.len() <= 8 && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'#')
        })
    };
    let has_ampersand = escaped.match_indices('&').any(|(at, _)| !is_reference(&escaped[at + 1..]));
    let classes =
        [(QUOTES, escaped.contains(['"', '\''])), (AMPERSAND, has_ampersand), (BRACKETS, escaped.contains(['<', '>']))];
    classes.into_iter().filter(|(_, is_there)| *is_there).map(|(class, _)| class).collect()
}

/// A text without its references, also where a parser would refuse it.
fn unescaped(escaped: &str) -> String {
    let mut text = String::new();
    let mut rest = escaped;
    while let Some(at) = rest.find('&') {
        text += &rest[..at];
        rest = &rest[at + 1..];
        let Some((name, behind)) = rest.split_once(';') else {
            text.push('&');
            continue;
        };
        let number = |digits: &str, radix| u32::from_str_radix(digits, radix).ok().and_then(char::from_u32);
        let character = match name {
            "amp" => Some('&'),
            "lt" => Some('<'),
            "gt" => Some('>'),
            "quot" => Some('"'),
            "apos" => Some('\''),
            _ => match name.strip_prefix('#').map(|digits| digits.strip_prefix('x').ok_or(digits)) {
                Some(Ok(digits)) => number(digits, 16),
                Some(Err(digits)) => number(digits, 10),
                None => None,
            },
        };
        if let Some(character) = character {
            text.push(character);
            rest = behind;
        } else {
            text.push('&');
        }
    }
    text + rest
}

/// Names the body of an event.
fn place_of_body(event: &Event) -> &'static str {
    match &event.kind {
        EventKind::ToolCall { .. } => "the JSON text of the arguments",
        EventKind::ToolResult { result: None, .. } => "an absent result",
        EventKind::ToolResult { result: Some(value), .. } if !value.is_string() => "a result that is no string",
        _ => "the text",
    }
}

/// Where a text is wrong, by the clause that it breaks.
fn place_of_text(clause: &'static str, original: &str, otherwise: &str) -> String {
    match clause {
        clause::ESC_CR => "a carriage return",
        clause::ESC_FORBIDDEN => "text with a character that XML forbids",
        clause::INP_SURROGATE => "text with a lone surrogate",
        clause::JSON_3 | clause::JSON_LARGE => "a number",
        _ if original.is_empty() => "an empty text",
        _ => otherwise,
    }
    .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::JudgeProfile;
    use serde_json::{Value, json};

    /// The titles of the faults of a reply, with their clauses.
    fn titles(op: Op, input: &Value, output: impl Into<Value>) -> Vec<String> {
        let request = Request::new(0, op, JudgeProfile::Literal, input.to_string());
        let found = faults(&request, &Reply::Ok(output.into()));
        found.iter().map(|fault| format!("{}: {}", fault.clause, fault.title())).collect()
    }

    fn document(lines: &[&str]) -> String {
        let lines: String = lines.iter().flat_map(|line| ["  ", line, "\n"]).collect();
        format!("<thread>\n{lines}</thread>")
    }

    #[test]
    fn each_mistake_of_a_first_adapter_is_a_fault_whatever_the_values() {
        let events = json!([
            {"type": "tool_call", "toolName": "f", "toolCallId": "c", "args": {"a": [null, "b"]}, "iteration": 1},
            {"type": "tool_result", "toolCallId": "c", "result": null, "iteration": 1},
            {"type": "error", "error": "it's \"off\"", "recoverable": true, "iteration": 1},
            {"type": "message", "role": "user", "content": "", "id": 9, "iteration": 1},
        ]);
        let said = document(&[
            r#"<event type="tool_input" id="0" iteration="1">{'a': [None, 'b']}</event>"#,
            r#"<event type="tool_output" id="1" status="success" iteration="1">None</event>"#,
            r#"<event type="error" id="2" iteration="1">it's "off"</event>"#,
            r#"<event type="human" id="9" iteration="1">None</event>"#,
        ]);
        let found = titles(Op::Serialize, &json!({"events": events, "responsePrefix": "<go>"}), said);
        assert_eq!(
            found,
            [
                "DOC-6: the response prefix is missing",
                "ATT-NAME: attribute `name` is missing, expected `f`",
                "ESC-1: quotes are not escaped",
                "EVT-CALL: values are written in another language than JavaScript: `{'a': [None, 'b']}`, expected `{\"a\":[null,\"b\"]}`",
                "ATT-RECOVERABLE: attribute `recoverable` is missing, expected `true`",
                "ATT-ID: attribute `id` is `9`, expected `3`",
                "EVT-USER: an empty text is `None`, expected an empty text",
            ]
        );
    }

    #[test]
    fn what_an_escape_leaves_raw_or_does_twice_is_told() {
        let of = |output: &str| titles(Op::Escape, &json!({"text": "a & b < 'c'"}), output);
        assert_eq!(of("a & b &lt; &apos;c&apos;"), ["ESC-1: `&` is not escaped"]);
        assert_eq!(of("a &amp; b < 'c'"), ["ESC-1: quotes are not escaped", "ESC-1: `<` and `>` are not escaped"]);
        assert_eq!(of("a &amp; b &lt; &#39;c&#39;"), ["ESC-1: quotes are escaped in another spelling"]);
        assert_eq!(of("a &amp;amp; b &amp;lt; &amp;apos;c&amp;apos;"), ["ESC-1: the text is escaped twice"]);
        assert_eq!(of("a &amp; b &lt; &apos;c&apos;"), [""; 0]);
        let looks = titles(Op::Escape, &json!({"text": "&lt;"}), "&lt;");
        assert_eq!(looks, ["ESC-2: text that looks escaped is not escaped"]);
    }

    #[test]
    fn an_event_that_is_gone_is_no_other_fault() {
        let message = |content: &str| json!({"type": "message", "role": "user", "content": content, "iteration": 1});
        let input = json!({"events": [message("a"), message("b"), message("c")]});
        let line = |id: usize, text: &str| format!(r#"<event type="human" id="{id}" iteration="1">{text}</event>"#);
        let gone = document(&[&line(0, "b"), &line(1, "c")]);
        assert_eq!(titles(Op::Serialize, &input, gone), ["DOC-2: an event is missing"]);
        let turned = document(&[&line(0, "b"), &line(1, "a"), &line(2, "c")]);
        assert_eq!(titles(Op::Serialize, &input, turned), ["DOC-2: the events are in another order"]);
    }

    #[test]
    fn messages_are_compared_one_by_one() {
        let input = json!({"events": [
            {"type": "tool_call", "toolName": "f", "toolCallId": "c", "args": {"n": 1}, "iteration": 1},
            {"type": "tool_result", "toolCallId": "c", "result": {"n": null}, "iteration": 1},
            {"type": "error", "error": "x", "recoverable": true, "iteration": 1},
        ]});
        let output = json!([
            {"type": "ai", "content": "", "tool_calls": [{"id": "c", "name": "f", "args": 5}]},
            {"type": "tool", "content": "{'n': None}", "tool_call_id": "c"},
            {"type": "human", "content": "[Error]: x"},
        ]);
        let found = titles(Op::Messages, &input, output);
        assert_eq!(found.len(), 3, "{found:?}");
        assert_eq!(found[0], "MSG-CALL: `args` is a number, expected an object");
        assert!(found[1].contains("another language") && found[2].starts_with("MSG-ERROR: `content` is "), "{found:?}");
    }

    #[test]
    fn a_prefix_without_its_line_end_is_there() {
        let input = json!({"events": [], "responsePrefix": "I will now"});
        let found = titles(Op::Serialize, &input, "<thread>\n</thread>I will now");
        assert_eq!(found, ["DOC-6: the line end before the response prefix is missing"]);
    }

    #[test]
    fn messages_without_the_document_of_xml_mode_lack_it_whatever_they_say() {
        let event = json!({"type": "message", "role": "user", "content": "a", "iteration": 1});
        let input = json!({"events": [event, event], "contextMode": "xml"});
        for output in [json!([{"type": "human", "content": "a"}]), json!([])] {
            assert_eq!(titles(Op::Messages, &input, output), ["CTX-XML: the document of XML mode is missing"]);
        }
    }

    /// A run without a completion gets one before it is compared, since other cases judge that. No fault may speak of it.
    #[test]
    fn an_event_that_is_missing_at_the_end_is_not_another_one() {
        let input = json!({"prompt": "Go", "model": [{"content": "ok"}]});
        let prompt = json!({"type": "message", "role": "user", "content": "Go", "iteration": 0});
        let output = json!({"requests": [[{"type": "human", "content": "Go"}]], "events": [prompt], "response": "ok", "iterations": 1, "stopReason": "completed"});
        assert_eq!(titles(Op::Loop, &input, output), ["LOOP-EVENTS: the event of type `message` is missing"]);
    }

    #[test]
    fn a_refusal_and_its_absence_are_faults() {
        let request = |input: &str| Request::new(0, Op::Escape, JudgeProfile::Literal, input.to_owned());
        let refusal = Reply::Reject { kind: RejectKind::InvalidInput, message: "no".into() };
        let title =
            |input, reply: &Reply| faults(&request(input), reply).iter().map(OutputFault::title).collect::<Vec<_>>();
        assert_eq!(title(r#"{"text":"a"}"#, &refusal), ["a valid input is refused: `no`"]);
        assert_eq!(title(r#"{"text":5}"#, &Reply::Ok("5".into())), ["a wrong input is not refused as it should be"]);
        let other = Reply::Reject { kind: RejectKind::InvalidEvent, message: "no".into() };
        let told = "the refusal of a wrong input is `invalid-event`, expected `invalid-input`";
        assert_eq!(title(r#"{"text":5}"#, &other), [told]);
        assert_eq!(title(r#"{"text":5}"#, &refusal), [""; 0]);
    }
}
