//! Spellings, documents, messages, runs and inputs.

use super::{both, literal};
use crate::plants::TwinSite::Escaped;
use crate::plants::prelude::*;
use crate::plants::terms::FaultTerms;
use crate::twin::document::{calls, result_text};
use crate::twin::input::raw_input;
use crate::twin::rounds::outcome;
use crate::twin::text::{attribute, string, text};
use threadspec::surrogates::{mark_surrogates, replace_surrogates, without_marks};
use threadspec::{escape_text, json_stringify};
use threadspec_judge::json::tokens;
use threadspec_judge::protocol::RejectKind;

/// Changes each object of a reply, from the outside in, except arguments and results, which are data.
fn each_object(value: &mut Value, change: &impl Fn(&mut Map<String, Value>)) {
    match value {
        Value::Array(elements) => elements.iter_mut().for_each(|element| each_object(element, change)),
        Value::Object(members) => {
            change(members);
            let others = members.iter_mut().filter(|(name, _)| !["args", "result"].contains(&name.as_str()));
            others.for_each(|(_, member)| each_object(member, change));
        }
        _ => {}
    }
}

/// Replaces the marks of lone surrogates by U+FFFD.
fn no_longer_told_apart(value: &mut Value) {
    each(value, &|value| {
        if let Value::String(text) = value {
            *text = without_marks(text).into_owned();
        }
        rename(value, |name| without_marks(name).into_owned());
    });
}

/// Returns whether an object of a reply is a message, a tool call of one, or an event, and not data.
fn kind(members: &Map<String, Value>) -> Option<&'static str> {
    let kinds: [(&str, &[&str]); 4] = [
        ("event", &["type", "iteration"]),
        ("message", &["type", "content"]),
        ("call", &["id", "name", "args"]),
        ("output", &["requests"]),
    ];
    let is_it = |(_, names): &&(&str, &[&str])| names.iter().all(|name| members.contains_key(*name));
    kinds.iter().find(is_it).map(|&(kind, _)| kind)
}

/// How a reply is spelled (E19).
pub(super) fn spellings() -> Vec<Planted> {
    vec![
        spelling("absent-members-as-null", both("E19"), |output| {
            each_object(output, &|members| {
                if kind(members) == Some("message") {
                    for name in ["tool_calls", "tool_call_id"] {
                        members.entry(name).or_insert(Value::Null);
                    }
                }
            });
        }),
        spelling("members-of-the-framework", both("E19"), |output| {
            each_object(output, &|members| {
                let more = match kind(members) {
                    Some("event") => json!({"timestamp": 1_700_000_000, "source": "agent"}),
                    Some("message") => json!({"additional_kwargs": {}, "name": null, "status": "success"}),
                    Some("call") => json!({"type": "tool_call"}),
                    Some(_) => json!({"usage": {"total": 5}}),
                    None => return,
                };
                members.extend(more.as_object().cloned().unwrap_or_default());
            });
        }),
        spelling("members-in-reverse", both("E19"), |output| {
            each(output, &|value| {
                if let Value::Object(members) = value {
                    *members = std::mem::take(members).into_iter().rev().collect();
                }
            });
        }),
        spelling("integers-as-floats", both("E19"), |output| {
            each(output, &|value| {
                if let Some(number) = value.as_f64().and_then(Number::from_f64) {
                    *value = number.into();
                }
            });
        }),
        odd_number("large-integers-exact", both("E13"), |raw, _| (!raw.is_f64()).then(|| raw.to_string())),
        odd_number("large-integers-with-all-digits-of-the-double", both("E13"), |raw, double| {
            (!raw.is_f64() && double.abs() > 9e15).then(|| format!("{double:.0}"))
        }),
    ]
}

/// A text with each `from` in the next of several spellings.
fn mixed(escaped: &str, from: char, spellings: &[&str]) -> String {
    let mut parts = escaped.split(from);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.zip(spellings.iter().cycle()).fold(first, |text, (part, spelling)| text + spelling + part)
}

/// Writes carriage returns as a reference.
fn returns(name: FaultName, by: impl Into<FaultTerms>, reference: &'static str) -> Planted {
    edit(name, literal(by), Escaped, move |text| text.replace('\r', reference))
}

/// Replaces forbidden characters before texts and attributes are escaped.
pub(super) fn forbidden(name: FaultName, other: fn(char) -> String) -> Planted {
    let change = move |raw: &str| -> String {
        raw.chars().map(|c| if is_xml_char(c) { c.to_string() } else { other(c) }).collect()
    };
    let of_texts = &*Box::leak(Box::new(move |twin: &_, raw: &str| text(twin, &change(raw))));
    let of_attributes = &*Box::leak(Box::new(move |twin: &_, raw: &str| attribute(twin, &change(raw))));
    on::several(name, literal("E2"), move |twin| (twin.text, twin.attribute) = (of_texts, of_attributes))
}

pub(super) fn documents() -> Vec<Planted> {
    vec![
        returns("carriage-return-as-decimal-reference", "E3", "&#13;"),
        returns("carriage-return-as-hexadecimal-reference", "E3", "&#xD;"),
        returns("carriage-return-with-zeros", ["E3", "E19"], "&#x0D;"),
        returns("carriage-return-of-three-digits", ["E3", "E19"], "&#013;"),
        on::attribute("white-space-of-attributes-by-reference", literal("E3"), |twin, raw| {
            text(twin, raw).replace('\t', "&#9;").replace('\n', "&#10;").replace('\r', "&#13;")
        }),
        on::attribute("only-tabs-of-attributes-by-reference", literal(["E3", "E19"]), |twin, raw| {
            text(twin, raw).replace('\t', "&#09;")
        }),
        forbidden("forbidden-characters-dropped", |_| String::new()),
        forbidden("forbidden-characters-as-code-points", |c| format!("[{:04X}]", u32::from(c))),
        on::several("forbidden-characters-as-references-to-pictures", literal("E2"), |twin| {
            twin.text = &|_, raw| pictures(raw);
            twin.attribute = &|_, raw| pictures(raw);
        }),
        on::before("forbidden-characters-raw-in-escape", literal("E2"), |twin, op, _| {
            twin.text = if op == Op::Escape { &|_, raw| escaped_but(raw, String::from) } else { &text };
        }),
        on::several("everything-mixed", literal(["E2", "E3", "E19"]), |twin| {
            twin.text = &|twin, raw| {
                let escaped = text(twin, &raw.replace(|c| !is_xml_char(c), ""));
                mixed(&escaped, '\r', &["\r", "&#13;", "&#x000d;", "&#0013;"])
            };
            twin.attribute = &|twin, raw| {
                let escaped = text(twin, &raw.replace(|c| !is_xml_char(c), "?"));
                let tabs = mixed(&escaped, '\t', &["&#x9;", "\t", "&#09;"]);
                let lines = mixed(&tabs, '\n', &["\n", "&#xA;", "&#010;"]);
                mixed(&lines, '\r', &["&#xD;", "\r"])
            };
        }),
        on::name("name-of-the-last-call-with-the-id", literal("E4"), |events, _, id| {
            calls(events).rev().find(|&(call, _)| call == id).map(|(_, name)| name.to_owned())
        }),
        on::prefix("line-feed-for-an-empty-prefix", both("E5"), |prefix| {
            prefix.map(|prefix| format!("\n{prefix}")).unwrap_or_default()
        }),
        on::result_text("absent-results-are-empty-texts", literal("E7"), |twin, result| {
            result.map_or_else(String::new, |result| result_text(twin, Some(result)))
        }),
        on::string("objects-with-a-to-string-as-json", literal("E20"), |twin, value| {
            if value.get("toString").is_some() { json_stringify(value) } else { string(twin, value) }
        }),
        on::before("objects-with-a-to-string-refused", literal("E20"), |_, op, input| {
            let is_document = op == Op::Serialize || op == Op::Messages && input["contextMode"] == "xml";
            if is_document && each_event(input).any(|event| throws(&event["result"])) {
                *input = "Cannot convert object to primitive value".into();
            }
        }),
    ]
}

fn throws(value: &Value) -> bool {
    match value {
        Value::Array(elements) => elements.iter().any(throws),
        value => value.get("toString").is_some(),
    }
}

/// An escaped text with a reference to U+2400, the picture of NUL, or to the picture of another control, for each forbidden character.
fn pictures(raw: &str) -> String {
    escaped_but(raw, |forbidden| format!("&#x{:X};", 0x2400 + u32::from(forbidden).min(0x26)))
}

/// An escaped text with other texts for the forbidden characters.
fn escaped_but(raw: &str, other: fn(char) -> String) -> String {
    let piece =
        |c: char| if is_xml_char(c) { escape_text(&c.to_string(), Profile::Literal).into_owned() } else { other(c) };
    raw.chars().map(piece).collect()
}

/// Shows absent results in other words in messages.
pub(super) fn absent(name: FaultName, words: &'static str) -> Planted {
    odd_content(name, literal("E7"), move |_, result| result.is_none().then(|| words.to_owned()))
}

/// Reads lone surrogates as another text.
fn halves(name: FaultName, terms: FaultTerms, other: &'static str) -> Planted {
    on::raw_input(name, terms, move |input| replace_surrogates(input, other).into_owned())
}

pub(super) fn messages() -> Vec<Planted> {
    vec![
        on::is_grouped("adjacent-calls-in-one-message", literal("E8"), true),
        on::several("calls-of-one-id-in-one-message", literal("E8"), |twin| {
            twin.is_grouped = true;
            twin.joins = &|group, next| group[0].iteration == next.iteration;
        }),
        absent("absent-results-empty-in-messages", ""),
        absent("absent-results-as-null-in-messages", "null"),
        odd_message("answers-without-prefix", literal("E24"), |kind, text| {
            (kind == "human_input_received").then(|| Some(Message::human(text)))
        }),
        halves("half-characters-become-question-marks", literal("E12"), "?"),
        halves("half-characters-vanish", literal(["E12", "E18"]), ""),
        halves("half-characters-replaced-everywhere", both(["E12", "E18"]), "\\ufffd"),
        on::several("half-characters-told-apart", both("E18"), |twin| {
            twin.raw_input = &|input| mark_surrogates(input).into_owned();
            twin.spellings.push(no_longer_told_apart);
        }),
    ]
}

pub(super) fn runs() -> Vec<Planted> {
    vec![
        on::several("text-beside-calls-recorded", literal("E10"), |twin| {
            twin.text_beside_calls = &|_, _| true;
            twin.final_text = &|_, last| last.tool_calls.is_empty();
        }),
        on::several("text-beside-calls-recorded-behind-them", literal("E10"), |twin| {
            twin.text_beside_calls = &|_, _| true;
            twin.text_follows_calls = true;
            twin.final_text = &|_, last| last.tool_calls.is_empty();
        }),
        on::text_beside_calls("text-beside-calls-recorded-again-at-a-limit", literal(["E10", LOOP_LIMIT]), |_, _| true),
        cut_with("cut-calls-answered", "Too many rounds."),
        on::request_limit("limit-of-zero-means-the-default", literal("E16"), |limit| {
            limit.filter(|&limit| limit > 0).unwrap_or(20)
        }),
        as_errors("failed-tools-as-error-events", literal("E21"), |text| {
            Some((text.strip_prefix("Tool error: ")?.to_owned(), true))
        }),
        as_errors("unknown-tools-as-error-events", literal("E21"), |text| {
            text.starts_with("Tool not found: ").then(|| (text.to_owned(), false))
        }),
    ]
}

/// Answers cut calls with other words.
pub(super) fn cut_with(name: FaultName, words: &'static str) -> Planted {
    on::cut(name, literal("E16"), move |_, calls| calls.iter().map(|call| Message::tool(&call.id, words)).collect())
}

/// Records each result that is an error as an error event: its text, and whether it is recoverable.
pub(super) fn as_errors(name: FaultName, terms: FaultTerms, error: fn(&str) -> Option<(String, bool)>) -> Planted {
    on::recorded(name, terms, move |events| {
        let failure = |mut event: Event| {
            if let EventKind::ToolResult { result: Some(Value::String(text)), .. } = &event.kind
                && let Some((error, recoverable)) = error(text)
            {
                event.kind = EventKind::Error { error, recoverable };
            }
            event
        };
        events.into_iter().map(failure).collect()
    })
}

/// Refuses what is nested more deeply.
fn shallow(name: FaultName, most: usize) -> Planted {
    on::before(name, both(INP_3), move |_, _, input| {
        if depth(input) > most {
            *input = "nested too deep".into();
        }
    })
}

pub(super) fn inputs() -> Vec<Planted> {
    vec![
        on::complaint("complaints-name-the-field-first", both(INP_1), |index, error| {
            let (field, reason) = (error.field().unwrap_or_default(), error.reason());
            Reply::Reject { kind: RejectKind::InvalidEvent, message: format!("{reason}: `{field}` of event {index}") }
        }),
        on::raw_input("numbers-beyond-the-doubles-refused", both(INP_3), |raw| {
            let is_beyond =
                |token: &str| token.parse().is_ok_and(f64::is_infinite) && token.ends_with(char::is_numeric);
            if tokens(raw).any(is_beyond) { "a number beyond the doubles".to_owned() } else { raw_input(raw) }
        }),
        shallow("nesting-beyond-50-refused", 50),
        shallow("nesting-beyond-60-refused", 60),
    ]
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(elements) => 1 + elements.iter().map(depth).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

/// Words failures of tools otherwise.
pub(super) fn failing(name: FaultName, written: fn(&str, ToolError) -> String) -> Planted {
    on::outcome(name, neglect(LOOP_TOOL_ERROR), move |twin, call, result| match result {
        Ok(result) => outcome(twin, call, Ok(result)),
        Err(error) => written(&call.name, error),
    })
}

/// Readings that follow the `must` clauses only.
pub(super) fn neglects() -> Vec<Planted> {
    const RESPONSE: [&str; 2] = [LOOP_RESPONSE, LOOP_VERIFY];
    const DEPTH: [&str; 2] = [TOOLS_DEPTH, TOOLS_CUT];
    let or = |one: &str, other: &str| if one.is_empty() { other.to_owned() } else { one.to_owned() };
    vec![
        on::first_iteration("iterations-from-zero", neglect(LOOP_PROMPT), 0),
        on::prompt("prompt-at-iteration-one", neglect(LOOP_PROMPT), |prompt| Event::user(1, prompt)),
        on::completion("no-completion-event", neglect(LOOP_VERIFY), |_, _, _| None),
        // Before the next one, which replaces it when all are planted at once, and which changes more.
        on::feedback("no-feedback", neglect(LOOP_VERIFY), |_, _| None),
        on::feedback("feedback-in-other-words", neglect(LOOP_VERIFY), |iteration, reason| {
            let reason = reason.filter(|reason| !reason.is_empty())?;
            Some(Event::user(iteration, format!("Not yet, because: {reason}")))
        }),
        failing("tool-failures-in-other-words", |name, error| match error {
            ToolError::NotFound => format!("Error: unknown tool {name}"),
            ToolError::Failed(message) => format!("Error: {message}"),
        }),
        failing("tool-failures-without-words", |_, _| String::new()),
        on::several("ends-at-the-first-failure", neglect(LOOP_ERROR), |twin| {
            twin.is_recoverable = &|_| false;
            twin.gives_up = &|_| true;
        }),
        on::is_recoverable("every-error-recoverable", neglect(LOOP_ERROR), |_| true),
        on::gives_up("five-failures-end-a-run", neglect(LOOP_ERROR), |failures| failures >= 5),
        on::verifies_first("verified-before-the-maximum", neglect(LOOP_MAX), true),
        on::response("response-of-the-last-text", neglect(RESPONSE), move |before, last| or(last, before)),
        on::response("response-of-the-first-text", neglect(RESPONSE), move |before, last| or(before, last)),
        on::summaries("summaries-without-headings", neglect(CTX_SUMMARIES), |summaries| {
            summaries.iter().rev().map(|&(_, text)| text).collect::<Vec<_>>().join("\n")
        }),
        on::summaries("summaries-under-other-headings", neglect(CTX_SUMMARIES), |summaries| {
            let section = |(iterations, summary): &(&[u64], &str)| format!("Iterations {iterations:?}: {summary}\n");
            summaries.iter().map(section).collect()
        }),
        on::events("broken-events-skipped", neglect(INP_1), |events| Ok(events.into_iter().flatten().collect())),
        member("unknown-modes-are-standard", neglect(CTX_UNKNOWN), &["contextMode"], |mode| {
            mode.as_str().filter(|mode| *mode != "xml").map(|_| "standard".into())
        }),
        on::is_too_deep("one-round-more", neglect(DEPTH), |_, rounds, depth| depth.is_some_and(|depth| rounds > depth)),
        on::is_too_deep("rounds-without-a-limit", neglect(DEPTH), |_, _, _| false),
        on::request_limit("requests-without-a-limit", neglect(LOOP_LIMIT), |_| usize::MAX),
        on::request_limit("limit-of-requests-of-fifteen", neglect(LOOP_LIMIT), |limit| limit.unwrap_or(15)),
    ]
}
