//! Decides which differences between replies do not count, for `verify` and for `fuzz`.
//!
//! A reply is not compared as it is, but as the reference would have spelled it: `settled` undoes what
//! [`TOLERATED`] lists. What single cases accept besides is in their expectations (`oneOf`, `holds`).

mod document;
mod failures;
mod feedback;
mod history;
pub mod input;
mod observed;

use crate::corpus::expectation::Pattern;
use crate::corpus::mismatch::Mismatches;
use crate::json;
use crate::protocol::{ChatMessage, Input, Op, Output, Part, Requests, Speaker};
use serde_json::Value;
use std::borrow::Cow;
use threadspec::{Profile, is_xml_char};

pub(crate) use input::{has_odd_iterations, may_refuse, neglectful_inputs, other_input};

/// Lists everything that is tolerated, and where; `REFERENCE.md` lists it in the same words.
pub const TOLERATED: &[(&str, &str)] = &[
    ("everywhere", "object members in any order, and a number in any spelling of its value"),
    (
        "everywhere",
        "members that this page does not name, in messages, tool calls, events and outputs; they are ignored",
    ),
    (
        "everywhere",
        "`null` for an optional member: `tool_calls`, `tool_call_id`, `verified`, and for those of `ok`, `reject`, `unsupported` that the reply is not",
    ),
    ("everywhere", "any words of a refusal that hold the texts of the case, in any order"),
    ("everywhere", "a refusal of an input that is nested deeper than 50 levels, or has numbers beyond the doubles"),
    ("everywhere", "a class name before the error of a model, and its end after 500 characters"),
    ("literal, documents", "a refusal of a result at which `String` throws, for a member `toString`"),
    ("literal, `escape`", "a raw character that XML forbids"),
    (
        "literal, documents",
        "a permitted reference for CR in text, and for TAB, LF and CR in attributes, in any spelling, character by character: `&#9;`, `&#09;`, `&#x9;`",
    ),
    ("literal, messages", "adjacent calls of one iteration in one message, or each in its own"),
    ("literal, messages", "any text for an absent result"),
    ("literal, messages", "the answer of a person with or without `[Human Response]: ` before it"),
    ("literal, `loop`", "an error event in place of the result of a tool that failed"),
    ("cases of other clauses", "the iteration of the prompt, and from which number iterations count (LOOP-PROMPT)"),
    (
        "cases of other clauses",
        "a missing completion event and what it says, feedback in other words, without a reason or missing (LOOP-VERIFY)",
    ),
    ("cases of other clauses", "another response as the one whose text is `response` (LOOP-RESPONSE)"),
    ("cases of other clauses", "the wording of failing and unknown tools (LOOP-TOOL-ERROR)"),
    ("cases of other clauses", "the wording of an error event (LOOP-ERROR)"),
    ("cases of other clauses", "the text around summaries in the system message, and their order (CTX-SUMMARIES)"),
];

/// The request, and the clauses that judge the reply.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    /// The operation.
    pub op: Op,
    /// The profile in which it is judged.
    pub profile: Profile,
    /// The input, as JSON text.
    pub input: &'a str,
    /// True if a clause must hold exactly. What other `should` clauses shape is tolerated.
    pub holds: &'a dyn Fn(&str) -> bool,
}

/// An output as the reference would have spelled it.
pub fn settled(asked: &Asked<'_>, output: Cow<'_, Value>) -> Output {
    let mut output = Output::read(asked.op, json::settled(output, asked.profile).into_owned());
    let literal = asked.profile == Profile::Literal;
    match (&mut output, asked.op) {
        (Output::Text(text), Op::Escape) if literal => {
            let raw = |c: char| if is_xml_char(c) { c } else { '\u{fffd}' };
            *text = document::raw_text(text).chars().map(raw).collect();
        }
        (Output::Text(document), _) if literal => {
            if let Cow::Owned(raw) = document::raw_document(document) {
                *document = raw;
            }
        }
        (Output::Text(_) | Output::Odd(_), _) => {}
        // Without an input that can be read there is nothing else to tolerate.
        (output, _) => Input::read(asked.input).into_iter().for_each(|input| settle(asked, &input, output)),
    }
    output
}

fn settle(asked: &Asked<'_>, input: &Input, output: &mut Output) {
    let literal = asked.profile == Profile::Literal;
    if literal && input.is_in_xml_mode() {
        let raw = |document: &str| document::raw_document(document).into_owned();
        match output {
            Output::Messages(messages) => each_document_in(messages, &raw),
            Output::Run(run) => each_document(&mut run.requests, &raw),
            Output::Text(_) | Output::Rounds(_) | Output::Odd(_) => {}
        }
    }
    if let Output::Run(run) = output {
        document::order_arguments(input, run);
        if literal {
            failures::settle(input, run);
        }
    }
    observed::settle(asked, input, output);
    if literal && !input.is_in_xml_mode() {
        match output {
            Output::Messages(messages) => history::settle_messages(input, messages),
            Output::Run(run) => history::settle_requests(input, run),
            Output::Text(_) | Output::Rounds(_) | Output::Odd(_) => {}
        }
    }
}

/// Changes each document of requests in xml mode.
fn each_document(requests: &mut Requests, change: &dyn Fn(&str) -> String) {
    requests.list_mut().iter_mut().for_each(|request| each_document_in(request.list_mut(), change));
}

fn each_document_in(messages: &mut [Part<ChatMessage>], change: &dyn Fn(&str) -> String) {
    for message in messages.iter_mut().filter_map(Part::proper_mut) {
        if message.speaker.is(&Speaker::Human)
            && let Some(document) = message.content.text()
        {
            message.content = change(document).into();
        }
    }
}

/// Where the message of a refusal departs from the expected texts, which may be in any order.
pub fn refusal(expected: &Pattern, message: &str) -> Mismatches {
    match expected {
        Pattern::Includes(parts)
            if parts.iter().all(|part| matches!(part, Pattern::Text(text) if message.contains(&**text))) =>
        {
            Mismatches::default()
        }
        _ => expected.mismatches(&Value::from(message)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    pub(super) fn settle(op: Op, profile: Profile, held: &[&str], input: &Value, output: &Value) -> Value {
        let asked = Asked { op, profile, input: &input.to_string(), holds: &|clause| held.contains(&clause) };
        settled(&asked, Cow::Borrowed(output)).into_json()
    }

    #[test]
    fn a_refusal_may_name_things_in_any_order() {
        let expected = Pattern::read(&json!({"includes": ["2", "args"]})).expect("a pattern");
        assert!(refusal(&expected, "event 2: args").is_empty());
        assert!(refusal(&expected, "`args` of event 2").is_empty());
        assert_eq!(refusal(&expected, "event 2").len(), 1);
    }

    #[test]
    fn escape_may_leave_what_xml_forbids() {
        let escaped = |profile, text: &str| settle(Op::Escape, profile, &[], &json!({"text": ""}), &json!(text));
        assert_eq!(escaped(Profile::Literal, "a\u{1b}&#013;b"), json!("a\u{fffd}\rb"));
        assert_eq!(escaped(Profile::Hardened, "a\u{1b}&#013;b"), json!("a\u{1b}&#013;b"));
    }
}
