//! Two conditions at once, in messages, rounds and the loop: a mode and a state of the thread, a call and its place, a failure and
//! its repetition.

use super::{Planted, bug, hardened, in_lists, kind};
use crate::twin::context::{answers, joins, orphan, system};
use crate::twin::rounds::{distinct, feedback, outcome};
use serde_json::{Value, json};
use threadspec::{ContextMode, Event, EventKind, Message};
use threadspec_golden::clause;
use threadspec_judge::protocol::Op;

/// The messages of an output in which something is wrong.
fn messages(output: &mut Value) -> Option<&mut Vec<Value>> {
    output.as_array_mut()
}

pub(in super::super) const BUGS: &[Planted] = &[
    // A mode and a state of the thread.
    bug("instructions-lost-for-an-empty-thread-in-xml-mode", &[clause::CTX_SYSTEM], |twin| {
        twin.before = |_, op, input| {
            if op == Op::Messages && input["contextMode"] == "xml" && input["events"] == json!([]) {
                input["instructions"] = "".into();
            }
        };
    }),
    bug("summaries-without-instructions-trimmed-in-xml-mode", &[clause::CTX_SYSTEM], |twin| {
        twin.system = |summaries, instructions, mode| match mode {
            ContextMode::Xml if instructions.is_empty() => summaries.trim_end().to_owned(),
            _ => system(summaries, instructions, mode),
        };
    }),
    bug("blank-instructions-dropped-in-xml-mode", &[clause::CTX_SYSTEM], |twin| {
        twin.system = |summaries, instructions, mode| match mode {
            ContextMode::Xml if instructions.trim().is_empty() => summaries.to_owned(),
            _ => system(summaries, instructions, mode),
        };
    }),
    bug("thread-of-a-single-event-not-in-xml", &[clause::CTX_XML], |twin| {
        twin.before = |_, op, input| {
            if op == Op::Messages
                && input["contextMode"] == "xml"
                && input["events"].as_array().is_some_and(|events| events.len() == 1)
                && kind(&input["events"][0]) == "user"
            {
                input["contextMode"] = "standard".into();
            }
        };
    }),
    bug("summary-of-no-iteration-left-out", &[clause::MSG_SUMMARY], |twin| {
        twin.before = |_, op, input| {
            if let Some(events) = input.get_mut("events").and_then(Value::as_array_mut).filter(|_| op == Op::Messages) {
                events.retain(|event| kind(event) != "summary" || event["summarizedIterations"] != json!([]));
            }
        };
    }),
    // The hardened profile and something else.
    hardened("empty-ids-are-never-grouped", &[clause::MSG_GROUP], |twin| {
        twin.joins = |group, next| {
            let empty = matches!(&next.kind, EventKind::ToolCall { tool_call_id, .. } if tool_call_id.is_empty());
            !empty && joins(group, next)
        };
    }),
    hardened("results-of-empty-ids-are-orphans", &[clause::MSG_PAIRED], |twin| {
        twin.answers = |events, position| {
            let empty =
                matches!(&events[position].kind, EventKind::ToolResult { tool_call_id, .. } if tool_call_id.is_empty());
            if empty { None } else { answers(events, position) }
        };
    }),
    hardened("result-answers-a-later-call-of-its-iteration", &[clause::MSG_ORPHAN], |twin| {
        twin.answers = |events, position| {
            let EventKind::ToolResult { tool_call_id, .. } = &events[position].kind else { return None };
            let is_it = |event: &Event| {
                event.iteration == events[position].iteration
                    && matches!(&event.kind, EventKind::ToolCall { tool_call_id: id, .. } if id == tool_call_id)
            };
            answers(events, position).or_else(|| Some(position + events[position..].iter().position(is_it)?))
        };
    }),
    hardened("groups-end-where-a-call-has-no-arguments", &[clause::MSG_GROUP], |twin| {
        twin.joins = |group, next| {
            let bare = matches!(&next.kind, EventKind::ToolCall { args, .. } if args.is_empty());
            !(bare && group.len() > 1) && joins(group, next)
        };
    }),
    hardened("missing-result-at-the-end-left-out", &[clause::MSG_MISSING], |twin| {
        twin.after = |_, op, _, output| {
            if let Some(list) = messages(output).filter(|_| op == Op::Messages)
                && list.last().is_some_and(|last| last["content"] == "[No result recorded]")
            {
                list.pop();
            }
        };
    }),
    hardened("orphans-without-text-dropped", &[clause::MSG_ORPHAN], |twin| {
        twin.orphan = |twin, id, result| orphan(twin, id, result).filter(|_| result.is_none_or(|result| *result != ""));
    }),
    hardened("structured-orphans-by-string", &[clause::MSG_ORPHAN], |twin| {
        twin.orphan = |twin, id, result| match result {
            Some(value) if value.is_object() => Some(Message::human("[Tool result]: [object Object]")),
            _ => orphan(twin, id, result),
        };
    }),
    hardened("absent-orphans-empty", &[clause::MSG_ORPHAN], |twin| {
        twin.orphan = |twin, id, result| match result {
            None => Some(Message::human("[Tool result]: ")),
            _ => orphan(twin, id, result),
        };
    }),
    hardened("equal-second-results-dropped", &[clause::MSG_ORPHAN], |twin| {
        twin.after = |_, op, _, output| {
            if let Some(list) = messages(output).filter(|_| op == Op::Messages) {
                let answers: Vec<Value> = list
                    .iter()
                    .filter(|message| message["type"] == "tool")
                    .map(|message| message["content"].clone())
                    .collect();
                list.retain(|message| {
                    let orphan = message["content"].as_str().and_then(|text| text.strip_prefix("[Tool result]: "));
                    orphan.is_none_or(|orphan| !answers.iter().any(|answer| *answer == *orphan))
                });
            }
        };
    }),
    hardened("ids-renamed-in-the-first-round-alone", &[clause::TOOLS_DISTINCT], |twin| {
        twin.distinct = |twin, calls, thread| {
            if thread.is_empty() {
                distinct(twin, calls, thread);
            }
        };
    }),
    hardened("third-call-of-an-id-renamed-from-the-second", &[clause::TOOLS_DISTINCT], |twin| {
        twin.distinct = |twin, calls, thread| {
            let own: Vec<String> = calls.iter().map(|call| call.id.clone()).collect();
            distinct(twin, calls, thread);
            for index in 2..calls.len() {
                if own[..index].iter().filter(|id| **id == own[index]).count() == 2 {
                    calls[index].id = format!("{}_2_2", own[index]);
                }
            }
        };
    }),
    hardened("empty-ids-renamed-without-a-line", &[clause::TOOLS_DISTINCT], |twin| {
        twin.distinct = |twin, calls, thread| {
            let own: Vec<String> = calls.iter().map(|call| call.id.clone()).collect();
            distinct(twin, calls, thread);
            for (call, _) in calls.iter_mut().zip(own).filter(|(call, own)| own.is_empty() && call.id != *own) {
                call.id = call.id.trim_start_matches('_').to_owned();
            }
        };
    }),
    // Rounds.
    bug("text-beside-several-calls-dropped", &[clause::TOOLS_CONTENT], |twin| {
        twin.assistant = |response| {
            let content = if response.tool_calls.len() > 1 { String::new() } else { response.content.clone() };
            Message::Ai { content, tool_calls: response.tool_calls.clone() }
        };
    }),
    bug("blank-text-beside-calls-dropped", &[clause::TOOLS_CONTENT], |twin| {
        twin.assistant = |response| {
            let content = if !response.tool_calls.is_empty() && response.content.trim().is_empty() {
                String::new()
            } else {
                response.content.clone()
            };
            Message::Ai { content, tool_calls: response.tool_calls.clone() }
        };
    }),
    bug("calls-behind-a-failing-one-cancelled", &[clause::TOOLS_RESULT], |twin| {
        twin.after = |_, op, _, output| {
            if op == Op::Tools {
                in_lists(output, |list| {
                    let mut failed = false;
                    for message in list {
                        if message["type"] != "tool" {
                            failed = false;
                        } else if failed {
                            message["content"] = "Tool error: cancelled".into();
                        } else {
                            failed = message["content"].as_str().is_some_and(|text| text.starts_with("Tool error: "));
                        }
                    }
                });
            }
        };
    }),
    bug("null-for-a-call-without-arguments-is-empty", &[clause::TOOLS_RESULT], |twin| {
        twin.outcome = |twin, call, result| match result {
            Ok(Value::Null) if call.args.is_empty() => String::new(),
            result => outcome(twin, call, result),
        };
    }),
    bug("false-and-zero-of-a-tool-are-empty", &[clause::TOOLS_RESULT], |twin| {
        twin.outcome = |twin, call, result| match result {
            Ok(value) if value == false || value == 0 => String::new(),
            result => outcome(twin, call, result),
        };
    }),
    bug("empty-response-after-rounds-left-out", &[clause::TOOLS_STOP], |twin| {
        twin.after = |_, op, _, output| {
            if let Some(list) = output.get_mut("messages").and_then(Value::as_array_mut).filter(|_| op == Op::Tools)
                && list
                    .last()
                    .is_some_and(|last| last["type"] == "ai" && last["content"] == "" && !last["tool_calls"].is_array())
            {
                list.pop();
            }
        };
    }),
    bug("equal-calls-of-one-response-made-once", &[clause::TOOLS_ACCUMULATE], |twin| {
        twin.calls = |_, calls| {
            let mut kept: Vec<threadspec::ToolCall> = Vec::new();
            for call in calls {
                if call.args.is_empty() || !kept.iter().any(|other| other.name == call.name && other.args == call.args)
                {
                    kept.push(call.clone());
                }
            }
            kept
        };
    }),
    // The loop.
    bug("errors-not-shown-in-xml-mode", &[clause::LOOP_RETAIN], |twin| {
        twin.before = |twin, _, input| twin.memory = input["contextMode"].clone();
        twin.history = |twin, events| {
            events
                .iter()
                .filter(|event| twin.memory != "xml" || !matches!(event.kind, EventKind::Error { .. }))
                .cloned()
                .collect()
        };
    }),
    bug("second-error-in-a-row-not-shown", &[clause::LOOP_RETAIN], |twin| {
        twin.history = |_, events| {
            let is_error = |event: &Event| matches!(event.kind, EventKind::Error { .. });
            let shown = |index: usize| index == 0 || !(is_error(&events[index]) && is_error(&events[index - 1]));
            (0..events.len()).filter(|&index| shown(index)).map(|index| events[index].clone()).collect()
        };
    }),
    bug("empty-results-of-earlier-iterations-not-shown", &[clause::LOOP_RETAIN], |twin| {
        twin.history = |_, events| {
            events
                .iter()
                .filter(
                    |event| !matches!(&event.kind, EventKind::ToolResult { result: Some(result), .. } if *result == ""),
                )
                .cloned()
                .collect()
        };
    }),
    bug("feedback-to-the-first-line", &[clause::LOOP_VERIFY], |twin| {
        twin.feedback = |iteration, reason| {
            feedback(iteration, reason.map(|reason| reason.lines().next().unwrap_or_default().to_owned()))
        };
    }),
    bug("full-stop-of-a-reason-not-doubled", &[clause::LOOP_VERIFY], |twin| {
        twin.feedback = |iteration, reason| {
            feedback(iteration, reason.map(|reason| reason.strip_suffix('.').unwrap_or(&reason).to_owned()))
        };
    }),
    bug("empty-prompt-not-shown", &[clause::LOOP_PROMPT], |twin| {
        twin.history = |_, events| {
            events
                .iter()
                .filter(|event| !matches!(&event.kind, EventKind::Message { content, .. } if content.is_empty()))
                .cloned()
                .collect()
        };
    }),
    bug("answer-like-the-last-not-recorded", &[clause::LOOP_EVENTS], |twin| {
        twin.after = |_, op, _, output| {
            if let Some(events) = output.get_mut("events").and_then(Value::as_array_mut).filter(|_| op == Op::Loop) {
                let mut last = Value::Null;
                events.retain(|event| {
                    let is_echo = kind(event) == "assistant" && event["content"] == last;
                    if kind(event) == "assistant" {
                        last = event["content"].clone();
                    }
                    !is_echo
                });
            }
        };
    }),
];
