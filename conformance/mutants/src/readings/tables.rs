//! Spellings, documents, messages, runs and inputs.

use super::{Planted, both, literal, neglect};
use crate::twin::text::{attribute, text};
use crate::twin::{document, input};
use serde_json::{Map, Number, Value, json};
use threadspec::surrogates::{mark_surrogates, replace_surrogates, without_marks};
use threadspec::{Event, EventKind, Message, Profile, escape_text, is_xml_char, json_stringify};
use threadspec_golden::clause;
use threadspec_judge::json::tokens;
use threadspec_judge::protocol::{Op, RejectKind, Reply};

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

fn reverse(value: &mut Value) {
    match value {
        Value::Array(elements) => elements.iter_mut().for_each(reverse),
        Value::Object(members) => {
            *members = std::mem::take(members).into_iter().rev().collect();
            members.values_mut().for_each(reverse);
        }
        _ => {}
    }
}

/// Replaces the marks of lone surrogates by U+FFFD.
fn no_longer_told_apart(value: &mut Value) {
    let read = |text: &str| without_marks(text).into_owned();
    match value {
        Value::String(text) => *text = read(text),
        Value::Array(elements) => elements.iter_mut().for_each(no_longer_told_apart),
        Value::Object(members) => {
            *members = std::mem::take(members).into_iter().map(|(name, member)| (read(&name), member)).collect();
            members.values_mut().for_each(no_longer_told_apart);
        }
        _ => {}
    }
}

fn each_number(value: &mut Value, change: &impl Fn(&Number) -> Option<Number>) {
    match value {
        Value::Array(elements) => elements.iter_mut().for_each(|element| each_number(element, change)),
        Value::Object(members) => members.values_mut().for_each(|member| each_number(member, change)),
        Value::Number(number) => *number = change(number).unwrap_or_else(|| number.clone()),
        _ => {}
    }
}

/// Whether an object of a reply is a message, a tool call of one, or an event, and not data.
fn kind(members: &Map<String, Value>) -> Option<&'static str> {
    let has = |names: &[&str]| names.iter().all(|name| members.contains_key(*name));
    if has(&["type", "iteration"]) {
        Some("event")
    } else if has(&["type", "content"]) {
        Some("message")
    } else if has(&["id", "name", "args"]) {
        Some("call")
    } else if has(&["requests"]) {
        Some("output")
    } else {
        None
    }
}

/// How a reply is spelled (E19).
pub(super) const SPELLINGS: &[Planted] = &[
    both("absent-members-as-null", &["E19"], |twin| {
        twin.spellings.push(|output| {
            each_object(output, &|members| {
                if kind(members) == Some("message") {
                    for name in ["tool_calls", "tool_call_id"] {
                        members.entry(name).or_insert(Value::Null);
                    }
                }
            });
        });
    }),
    both("members-of-the-framework", &["E19"], |twin| {
        twin.spellings.push(|output| {
            each_object(output, &|members| {
                let more = match kind(members) {
                    Some("event") => json!({"timestamp": 1_700_000_000, "source": "agent"}),
                    Some("message") => json!({"additional_kwargs": {}, "name": null, "status": "success"}),
                    Some("call") => json!({"type": "tool_call"}),
                    Some(_) => json!({"usage": {"total": 5}}),
                    None => return,
                };
                members
                    .extend(more.as_object().into_iter().flatten().map(|(name, value)| (name.clone(), value.clone())));
            });
        });
    }),
    both("members-in-reverse", &["E19"], |twin| {
        twin.spellings.push(|output| {
            reverse(output);
        });
    }),
    both("integers-as-floats", &["E19"], |twin| {
        twin.spellings.push(|output| each_number(output, &|number| Number::from_f64(number.as_f64()?)));
    }),
    both("large-integers-exact", &["E13"], |twin| {
        twin.number = |number| if number.is_f64() { crate::twin::text::number(number) } else { number.to_string() };
    }),
    both("large-integers-with-all-digits-of-the-double", &["E13"], |twin| {
        twin.number = |number| match number.as_f64() {
            Some(double) if !number.is_f64() && double.abs() > 9e15 => format!("{double:.0}"),
            _ => crate::twin::text::number(number),
        };
    }),
];

/// A text with each `from` in the next of several spellings.
fn mixed(escaped: &str, from: char, spellings: &[&str]) -> String {
    let mut parts = escaped.split(from);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.zip(spellings.iter().cycle()).fold(first, |text, (part, spelling)| text + spelling + part)
}

pub(super) const DOCUMENTS: &[Planted] = &[
    literal("carriage-return-as-decimal-reference", &["E3"], |twin| {
        twin.text = |twin, raw| text(twin, raw).replace('\r', "&#13;");
    }),
    literal("carriage-return-as-hexadecimal-reference", &["E3"], |twin| {
        twin.text = |twin, raw| text(twin, raw).replace('\r', "&#xD;");
    }),
    literal("carriage-return-with-zeros", &["E3", "E19"], |twin| {
        twin.text = |twin, raw| text(twin, raw).replace('\r', "&#x0D;");
    }),
    literal("carriage-return-of-three-digits", &["E3", "E19"], |twin| {
        twin.text = |twin, raw| text(twin, raw).replace('\r', "&#013;");
    }),
    literal("white-space-of-attributes-by-reference", &["E3"], |twin| {
        twin.attribute =
            |twin, raw| text(twin, raw).replace('\t', "&#9;").replace('\n', "&#10;").replace('\r', "&#13;");
    }),
    literal("only-tabs-of-attributes-by-reference", &["E3", "E19"], |twin| {
        twin.attribute = |twin, raw| text(twin, raw).replace('\t', "&#09;");
    }),
    literal("forbidden-characters-dropped", &["E2"], |twin| {
        twin.text = |twin, raw| text(twin, &raw.replace(|c| !is_xml_char(c), ""));
        twin.attribute = |twin, raw| attribute(twin, &raw.replace(|c| !is_xml_char(c), ""));
    }),
    literal("forbidden-characters-as-code-points", &["E2"], |twin| {
        twin.text = |twin, raw| text(twin, &code_points(raw));
        twin.attribute = |twin, raw| attribute(twin, &code_points(raw));
    }),
    literal("forbidden-characters-as-references-to-pictures", &["E2"], |twin| {
        twin.text = |_, raw| pictures(raw);
        twin.attribute = |_, raw| pictures(raw);
    }),
    literal("forbidden-characters-raw-in-escape", &["E2"], |twin| {
        twin.before = |twin, op, _| {
            twin.text = if op == Op::Escape { |_, raw| raw_escaped(raw) } else { text };
        };
    }),
    literal("everything-mixed", &["E2", "E3", "E19"], |twin| {
        twin.text = |twin, raw| {
            let escaped = text(twin, &raw.replace(|c| !is_xml_char(c), ""));
            mixed(&escaped, '\r', &["\r", "&#13;", "&#x000d;", "&#0013;"])
        };
        twin.attribute = |twin, raw| {
            let escaped = text(twin, &raw.replace(|c| !is_xml_char(c), "?"));
            let tabs = mixed(&escaped, '\t', &["&#x9;", "\t", "&#09;"]);
            let lines = mixed(&tabs, '\n', &["\n", "&#xA;", "&#010;"]);
            mixed(&lines, '\r', &["&#xD;", "\r"])
        };
    }),
    literal("name-of-the-last-call-with-the-id", &["E4"], |twin| {
        twin.name = |events, _, id| {
            document::calls(events).rev().find(|&(call, _)| call == id).map(|(_, name)| name.to_owned())
        };
    }),
    both("line-feed-for-an-empty-prefix", &["E5"], |twin| {
        twin.prefix = |prefix| prefix.map(|prefix| format!("\n{prefix}")).unwrap_or_default();
    }),
    literal("absent-results-are-empty-texts", &["E7"], |twin| {
        twin.result_text =
            |twin, result| result.map_or_else(String::new, |result| document::result_text(twin, Some(result)));
    }),
    literal("objects-with-a-to-string-as-json", &["E20"], |twin| {
        twin.string = |twin, value| match value {
            Value::Object(members) if members.contains_key("toString") => json_stringify(value),
            value => crate::twin::text::string(twin, value),
        };
    }),
    literal("objects-with-a-to-string-refused", &["E20"], |twin| {
        twin.before = |_, op, input| {
            let documents = op == Op::Serialize || op == Op::Messages && input["contextMode"] == "xml";
            let events = input["events"].as_array().into_iter().flatten();
            if documents && events.into_iter().any(|event| throws(&event["result"])) {
                *input = "Cannot convert object to primitive value".into();
            }
        };
    }),
];

fn throws(value: &Value) -> bool {
    match value {
        Value::Array(elements) => elements.iter().any(throws),
        Value::Object(members) => members.contains_key("toString"),
        _ => false,
    }
}

fn code_points(raw: &str) -> String {
    let named = |c: char| if is_xml_char(c) { c.to_string() } else { format!("[{:04X}]", u32::from(c)) };
    raw.chars().map(named).collect()
}

fn raw_escaped(raw: &str) -> String {
    escaped_but(raw, String::from)
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

pub(super) const MESSAGES: &[Planted] = &[
    literal("adjacent-calls-in-one-message", &["E8"], |twin| twin.is_grouped = true),
    literal("calls-of-one-id-in-one-message", &["E8"], |twin| {
        twin.is_grouped = true;
        twin.joins = |group, next| group[0].iteration == next.iteration;
    }),
    literal("absent-results-empty-in-messages", &["E7"], |twin| {
        twin.result_content = |twin, result| {
            result.map_or_else(String::new, |result| crate::twin::context::result_content(twin, Some(result)))
        };
    }),
    literal("absent-results-as-null-in-messages", &["E7"], |twin| {
        twin.result_content = |twin, result| {
            result.map_or_else(|| "null".to_owned(), |result| crate::twin::context::result_content(twin, Some(result)))
        };
    }),
    literal("answers-without-prefix", &["E24"], |twin| {
        twin.message = |twin, event| match &event.kind {
            EventKind::HumanInputReceived { response } => Some(Message::human(response)),
            _ => crate::twin::context::message(twin, event),
        };
    }),
    literal("half-characters-become-question-marks", &["E12"], |twin| {
        twin.raw_input = |input| replace_surrogates(input, "?").into_owned();
    }),
    literal("half-characters-vanish", &["E12", "E18"], |twin| {
        twin.raw_input = |input| replace_surrogates(input, "").into_owned();
    }),
    both("half-characters-replaced-everywhere", &["E12", "E18"], |twin| {
        twin.raw_input = |input| replace_surrogates(input, "\\ufffd").into_owned();
    }),
    both("half-characters-told-apart", &["E18"], |twin| {
        twin.raw_input = |input| mark_surrogates(input).into_owned();
        twin.spellings.push(no_longer_told_apart);
    }),
];

pub(super) const RUNS: &[Planted] = &[
    literal("text-beside-calls-recorded", &["E10"], |twin| {
        twin.text_beside_calls = |_, _| true;
        twin.final_text = |_, last| last.tool_calls.is_empty();
    }),
    literal("text-beside-calls-recorded-behind-them", &["E10"], |twin| {
        twin.text_beside_calls = |_, _| true;
        twin.text_follows_calls = true;
        twin.final_text = |_, last| last.tool_calls.is_empty();
    }),
    literal("text-beside-calls-recorded-again-at-a-limit", &["E10", clause::LOOP_LIMIT], |twin| {
        twin.text_beside_calls = |_, _| true;
    }),
    literal("cut-calls-answered", &["E16"], |twin| {
        twin.cut = |_, calls| calls.iter().map(|call| Message::tool(&call.id, "Too many rounds.")).collect();
    }),
    literal("limit-of-zero-means-the-default", &["E16"], |twin| {
        twin.request_limit = |limit| limit.filter(|&limit| limit > 0).unwrap_or(20);
    }),
    literal("failed-tools-as-error-events", &["E21"], |twin| {
        twin.recorded = |events| as_errors(events, |text| Some((text.strip_prefix("Tool error: ")?.to_owned(), true)));
    }),
    literal("unknown-tools-as-error-events", &["E21"], |twin| {
        twin.recorded =
            |events| as_errors(events, |text| text.starts_with("Tool not found: ").then(|| (text.to_owned(), false)));
    }),
];

/// The events, with each result that is an error as an error event: its text, and whether it is recoverable.
pub(super) fn as_errors(events: Vec<Event>, error: fn(&str) -> Option<(String, bool)>) -> Vec<Event> {
    let failure = |mut event: Event| {
        if let EventKind::ToolResult { result: Some(Value::String(text)), .. } = &event.kind
            && let Some((error, recoverable)) = error(text)
        {
            event.kind = EventKind::Error { error, recoverable };
        }
        event
    };
    events.into_iter().map(failure).collect()
}

pub(super) const INPUTS: &[Planted] = &[
    both("complaints-name-the-field-first", &[clause::INP_1], |twin| {
        twin.complaint = |index, error| {
            let (field, reason) = (error.field().unwrap_or_default(), error.reason());
            Reply::Reject { kind: RejectKind::InvalidEvent, message: format!("{reason}: `{field}` of event {index}") }
        };
    }),
    both("numbers-beyond-the-doubles-refused", &[clause::INP_3], |twin| {
        twin.raw_input = |raw| {
            let is_beyond =
                |token: &str| token.parse().is_ok_and(f64::is_infinite) && token.ends_with(char::is_numeric);
            if tokens(raw).any(is_beyond) { "a number beyond the doubles".to_owned() } else { input::raw_input(raw) }
        };
    }),
    both("nesting-beyond-50-refused", &[clause::INP_3], |twin| {
        twin.before = |_, _, input| {
            if depth(input) > 50 {
                *input = "nested too deep".into();
            }
        };
    }),
    both("nesting-beyond-60-refused", &[clause::INP_3], |twin| {
        twin.before = |_, _, input| {
            if depth(input) > 60 {
                *input = "nested too deep".into();
            }
        };
    }),
];

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(elements) => 1 + elements.iter().map(depth).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

/// Readings that follow the `must` clauses only.
pub(super) const NEGLECT: &[Planted] = &[
    neglect("iterations-from-zero", &[clause::LOOP_PROMPT], |twin| twin.first_iteration = 0),
    neglect("prompt-at-iteration-one", &[clause::LOOP_PROMPT], |twin| twin.prompt = |prompt| Event::user(1, prompt)),
    neglect("no-completion-event", &[clause::LOOP_VERIFY], |twin| twin.completion = |_, _, _| None),
    // Before the next one, which replaces it when all are planted at once, and which changes more.
    neglect("no-feedback", &[clause::LOOP_VERIFY], |twin| twin.feedback = |_, _| None),
    neglect("feedback-in-other-words", &[clause::LOOP_VERIFY], |twin| {
        twin.feedback = |iteration, reason| {
            let reason = reason.filter(|reason| !reason.is_empty())?;
            Some(Event::user(iteration, format!("Not yet, because: {reason}")))
        };
    }),
    neglect("tool-failures-in-other-words", &[clause::LOOP_TOOL_ERROR], |twin| {
        twin.outcome = |twin, call, result| match result {
            Ok(result) => crate::twin::rounds::outcome(twin, call, Ok(result)),
            Err(threadspec::agent::ToolError::NotFound) => format!("Error: unknown tool {}", call.name),
            Err(threadspec::agent::ToolError::Failed(message)) => format!("Error: {message}"),
        };
    }),
    neglect("tool-failures-without-words", &[clause::LOOP_TOOL_ERROR], |twin| {
        twin.outcome = |twin, call, result| match result {
            Ok(result) => crate::twin::rounds::outcome(twin, call, Ok(result)),
            Err(_) => String::new(),
        };
    }),
    neglect("ends-at-the-first-failure", &[clause::LOOP_ERROR], |twin| {
        twin.is_recoverable = |_| false;
        twin.gives_up = |_| true;
    }),
    neglect("every-error-recoverable", &[clause::LOOP_ERROR], |twin| twin.is_recoverable = |_| true),
    neglect("five-failures-end-a-run", &[clause::LOOP_ERROR], |twin| twin.gives_up = |failures| failures >= 5),
    neglect("verified-before-the-maximum", &[clause::LOOP_MAX], |twin| twin.verifies_first = true),
    neglect("response-of-the-last-text", &[clause::LOOP_RESPONSE, clause::LOOP_VERIFY], |twin| {
        twin.response = |before, last| if last.is_empty() { before.to_owned() } else { last.to_owned() };
    }),
    neglect("response-of-the-first-text", &[clause::LOOP_RESPONSE, clause::LOOP_VERIFY], |twin| {
        twin.response = |before, last| if before.is_empty() { last.to_owned() } else { before.to_owned() };
    }),
    neglect("summaries-without-headings", &[clause::CTX_SUMMARIES], |twin| {
        twin.summaries = |summaries| {
            let texts: Vec<&str> = summaries.iter().rev().map(|&(_, text)| text).collect();
            texts.join("\n")
        };
    }),
    neglect("summaries-under-other-headings", &[clause::CTX_SUMMARIES], |twin| {
        twin.summaries = |summaries| {
            let section = |(iterations, summary): &(&[u64], &str)| format!("Iterations {iterations:?}: {summary}\n");
            summaries.iter().map(section).collect()
        };
    }),
    neglect("broken-events-skipped", &[clause::INP_1], |twin| {
        twin.events = |events| Ok(events.into_iter().flatten().collect())
    }),
    neglect("unknown-modes-are-standard", &[clause::CTX_UNKNOWN], |twin| {
        twin.before = |_, _, input| {
            if input["contextMode"].as_str().is_some_and(|mode| mode != "xml") {
                input["contextMode"] = "standard".into();
            }
        };
    }),
    neglect("one-round-more", &[clause::TOOLS_DEPTH, clause::TOOLS_CUT], |twin| {
        twin.is_too_deep = |_, rounds, depth| depth.is_some_and(|depth| rounds > depth);
    }),
    neglect("rounds-without-a-limit", &[clause::TOOLS_DEPTH, clause::TOOLS_CUT], |twin| {
        twin.is_too_deep = |_, _, _| false
    }),
    neglect("requests-without-a-limit", &[clause::LOOP_LIMIT], |twin| twin.request_limit = |_| usize::MAX),
    neglect("limit-of-requests-of-fifteen", &[clause::LOOP_LIMIT], |twin| {
        twin.request_limit = |limit| limit.unwrap_or(15)
    }),
];
