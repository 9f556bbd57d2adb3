//! The outer loop.

use super::{Planted, bug, hardened, literal};
use crate::twin::rounds::{completion, feedback, is_over, outcome};
use serde_json::Value;
use threadspec::{Event, EventKind, Message, Profile};
use threadspec_golden::clause;
use threadspec_judge::protocol::Op;

fn is_call(event: &Event) -> bool {
    matches!(event.kind, EventKind::ToolCall { .. })
}

fn is_result(event: &Event) -> bool {
    matches!(event.kind, EventKind::ToolResult { .. })
}

fn is_error(event: &Event) -> bool {
    matches!(event.kind, EventKind::Error { .. })
}

/// The events in the output of a loop.
fn events(op: Op, output: &mut Value) -> Option<&mut Vec<Value>> {
    if op == Op::Loop { output["events"].as_array_mut() } else { None }
}

/// Counts the iterations in the output of a loop in another way.
fn count_iterations(op: Op, output: &mut Value, counted: impl Fn(usize, &[Value]) -> usize) {
    let count = output["iterations"].as_u64().filter(|_| op == Op::Loop).and_then(|count| usize::try_from(count).ok());
    if let (Some(count), Some(events)) = (count, output["events"].as_array()) {
        output["iterations"] = counted(count, events).into();
    }
}

fn without(events: &[Event], gone: fn(&Event) -> bool) -> Vec<Event> {
    events.iter().filter(|event| !gone(event)).cloned().collect()
}

fn last_iteration(events: &[Event]) -> u64 {
    events.last().map_or(0, |event| event.iteration)
}

pub(super) const BUGS: &[Planted] = &[
    hardened("zero-model-calls-mean-the-default", &[clause::LOOP_LIMIT], |twin| {
        twin.request_limit = |limit| limit.filter(|&limit| limit > 0).unwrap_or(20);
    }),
    bug("zero-model-calls-mean-one", &[clause::LOOP_LIMIT], |twin| {
        twin.request_limit = |limit| limit.map_or(20, |limit| limit.max(1));
    }),
    bug("list-kept-across-iterations", &[clause::CTX_FRESH], |twin| {
        twin.begin = |fresh, old| if old.is_empty() { fresh } else { old.to_vec() };
    }),
    bug("history-repeated-behind-itself", &[clause::CTX_FRESH, clause::LOOP_RETAIN], |twin| {
        twin.begin = |fresh, old| {
            let start = usize::from(!old.is_empty() && matches!(fresh.first(), Some(Message::System { .. })));
            [old, &fresh[start..]].concat()
        };
    }),
    bug("first-rendering-reused", &[clause::CTX_FRESH, clause::LOOP_RETAIN], |twin| {
        twin.begin = |fresh, old| {
            let kept = old.iter().position(|message| matches!(message, Message::Human { .. }));
            kept.map_or(fresh, |kept| old[..=kept].to_vec())
        };
    }),
    bug("live-messages-only-in-standard-mode", &[clause::CTX_FRESH], |twin| {
        twin.after_round = |_, messages, answered| {
            if messages.iter().any(|message| message.content().starts_with("<thread>")) {
                messages.truncate(answered - 1);
            }
        };
    }),
    bug("iteration-starts-empty", &[clause::LOOP_RETAIN], |twin| {
        twin.history = |_, events| events[..1].to_vec();
    }),
    bug("only-the-last-iteration-shown", &[clause::LOOP_RETAIN], |twin| {
        twin.history = |_, events| {
            let last = last_iteration(events);
            events.iter().filter(|event| event.iteration == 0 || event.iteration == last).cloned().collect()
        };
    }),
    bug("calls-of-earlier-iterations-forgotten", &[clause::LOOP_RETAIN], |twin| {
        twin.history = |_, events| without(events, |event| is_call(event) || is_result(event));
    }),
    bug("results-of-earlier-iterations-forgotten", &[clause::LOOP_RETAIN], |twin| {
        twin.history = |_, events| without(events, is_result);
    }),
    bug("errors-of-earlier-iterations-forgotten", &[clause::LOOP_RETAIN], |twin| {
        twin.history = |_, events| without(events, is_error);
    }),
    bug("failed-iterations-not-shown", &[clause::LOOP_RETAIN], |twin| {
        twin.history = |_, events| {
            let failed = |iteration| events.iter().any(|event| event.iteration == iteration && is_error(event));
            events.iter().filter(|event| is_error(event) || !failed(event.iteration)).cloned().collect()
        };
    }),
    bug("history-of-ten-events", &[clause::LOOP_RETAIN], |twin| {
        twin.history = |_, events| [&events[..1], &events[events.len().saturating_sub(10).max(1)..]].concat();
    }),
    bug("calls-recorded-before-all-results", &[clause::LOOP_EVENTS], |twin| {
        twin.recorded = |mut events| {
            events.sort_by_key(is_result);
            events
        };
    }),
    bug("results-not-recorded", &[clause::LOOP_EVENTS, clause::LOOP_RETAIN], |twin| {
        twin.recorded = |events| without(&events, is_result);
    }),
    bug("calls-not-recorded", &[clause::LOOP_EVENTS], |twin| twin.recorded = |events| without(&events, is_call)),
    bug("rounds-recorded-backwards", &[clause::LOOP_EVENTS], |twin| {
        twin.recorded = |events| events.chunks(2).rev().flatten().cloned().collect();
    }),
    bug("empty-text-recorded", &[clause::LOOP_EVENTS], |twin| twin.is_said = |_| true),
    bug("blank-text-not-recorded", &[clause::LOOP_EVENTS], |twin| twin.is_said = |text| !text.trim().is_empty()),
    bug("failed-iterations-rolled-back", &[clause::LOOP_EVENTS, clause::LOOP_RETAIN], |twin| {
        twin.failed = |events, error| {
            events.retain(|event| event.iteration != error.iteration || event.iteration == 0);
            events.push(error);
        };
    }),
    bug("results-recorded-as-structures", &[clause::LOOP_EVENTS], |twin| {
        twin.recorded = |mut events| {
            for event in &mut events {
                if let EventKind::ToolResult { result: Some(result), .. } = &mut event.kind
                    && let Some(Ok(structure)) = result.as_str().map(serde_json::from_str::<Value>)
                {
                    *result = structure;
                }
            }
            events
        };
    }),
    bug("events-count-iterations-from-zero", &[clause::LOOP_PROMPT, clause::LOOP_EVENTS], |twin| {
        twin.recorded = |mut events| {
            for event in &mut events {
                event.iteration = event.iteration.saturating_sub(1);
            }
            events
        };
    }),
    bug("iterations-count-from-two", &[clause::LOOP_PROMPT], |twin| twin.first_iteration = 2),
    bug("failed-iterations-not-counted", &[clause::LOOP_PROMPT], |twin| {
        twin.after = |_, op, _, output| {
            count_iterations(op, output, |count, events| {
                count - events.iter().filter(|event| event["type"] == "error").count()
            });
        };
    }),
    bug("iterations-counted-by-requests", &[clause::LOOP_PROMPT], |twin| {
        twin.after = |_, op, _, output| {
            let requests = output["requests"].as_array().map_or(0, Vec::len);
            count_iterations(op, output, |_, _| requests);
        };
    }),
    bug("iterations-counted-by-the-last-event", &[clause::LOOP_PROMPT], |twin| {
        twin.after = |_, op, _, output| {
            count_iterations(op, output, |count, events| {
                let last = events.last().and_then(|event| event["iteration"].as_u64());
                last.and_then(|last| usize::try_from(last).ok()).unwrap_or(count)
            });
        };
    }),
    bug("prompt-in-iteration-one", &[clause::LOOP_PROMPT], |twin| twin.prompt = |prompt| Event::user(1, prompt)),
    bug("prompt-trimmed", &[clause::LOOP_PROMPT], |twin| twin.prompt = |prompt| Event::user(0, prompt.trim())),
    bug("prompt-as-system-message", &[clause::LOOP_PROMPT], |twin| {
        twin.prompt = |prompt| Event {
            kind: EventKind::Message { role: threadspec::Role::System, content: prompt.to_owned() },
            iteration: 0,
        };
    }),
    hardened("text-beside-calls-not-recorded", &[clause::LOOP_TEXT], |twin| twin.text_beside_calls = |_, _| false),
    hardened("text-beside-calls-recorded-after-them", &[clause::LOOP_TEXT], |twin| {
        twin.after = |twin, op, _, output| {
            let Some(events) = events(op, output).filter(|_| twin.profile == Profile::Hardened) else { return };
            for at in 0..events.len().saturating_sub(2) {
                if events[at]["role"] == "assistant" && events[at + 1]["type"] == "tool_call" {
                    events[at..at + 3].rotate_left(1);
                }
            }
        };
    }),
    hardened("text-recorded-twice-at-the-limit", &[clause::LOOP_TEXT], |twin| twin.final_text = |_, _| true),
    // In hardened the text stands before the calls already (LOOP-TEXT).
    literal("no-text-at-the-limit", &[clause::LOOP_LIMIT], |twin| {
        twin.final_text = |_, last| last.tool_calls.is_empty()
    }),
    bug("feedback-without-try-again", &[clause::LOOP_VERIFY], |twin| {
        twin.feedback = |iteration, reason| Some(Event::user(iteration, format!("Verification failed: {}", reason?)));
    }),
    bug("feedback-without-a-reason", &[clause::LOOP_VERIFY], |twin| {
        twin.feedback = |iteration, reason| feedback(iteration, reason.or_else(|| Some("unknown".to_owned())));
    }),
    bug("feedback-for-an-empty-reason", &[clause::LOOP_VERIFY], |twin| {
        twin.feedback = |iteration, reason| {
            Some(Event::user(iteration, format!("Verification failed: {}. Please try again.", reason?)))
        };
    }),
    bug("feedback-in-the-next-iteration", &[clause::LOOP_VERIFY], |twin| {
        twin.feedback = |iteration, reason| feedback(iteration + 1, reason);
    }),
    bug("feedback-not-recorded", &[clause::LOOP_VERIFY], |twin| twin.feedback = |_, _| None),
    bug("completion-without-verifier-is-verified", &[clause::LOOP_VERIFY], |twin| {
        twin.completion = |iteration, response, _| completion(iteration, response, true);
    }),
    bug("completion-never-verified", &[clause::LOOP_VERIFY], |twin| {
        twin.completion = |iteration, response, _| completion(iteration, response, false);
    }),
    bug("completion-not-recorded", &[clause::LOOP_VERIFY], |twin| twin.completion = |_, _, _| None),
    bug("completion-only-when-verified", &[clause::LOOP_VERIFY], |twin| {
        twin.completion = |iteration, response, verified| completion(iteration, response, true).filter(|_| verified);
    }),
    bug("completion-with-empty-result", &[clause::LOOP_VERIFY], |twin| {
        twin.completion = |iteration, _, verified| completion(iteration, "", verified);
    }),
    bug("third-error-recoverable", &[clause::LOOP_ERROR], |twin| twin.is_recoverable = |failures| failures <= 3),
    bug("no-error-recoverable", &[clause::LOOP_ERROR], |twin| twin.is_recoverable = |_| false),
    bug("gives-up-after-two", &[clause::LOOP_ERROR], |twin| twin.gives_up = |failures| failures >= 2),
    bug("gives-up-after-four", &[clause::LOOP_ERROR], |twin| twin.gives_up = |failures| failures >= 4),
    bug("failures-never-forgotten", &[clause::LOOP_ERROR], |twin| twin.failures_after_success = |failures| failures),
    bug("failures-forgiven-one-by-one", &[clause::LOOP_ERROR], |twin| {
        twin.failures_after_success = |failures| failures.saturating_sub(1);
    }),
    bug("errors-not-recorded", &[clause::LOOP_ERROR, clause::LOOP_RETAIN], |twin| twin.failed = |_, _| {}),
    bug("errors-recorded-as-messages", &[clause::LOOP_ERROR, clause::LOOP_RETAIN], |twin| {
        twin.failed = |events, error| {
            if let EventKind::Error { error: text, .. } = error.kind {
                events.push(Event::user(error.iteration, text));
            }
        };
    }),
    bug("tool-errors-in-one-word", &[clause::LOOP_TOOL_ERROR], |twin| {
        twin.outcome = |twin, call, result| match result {
            Err(_) => "error".to_owned(),
            result => outcome(twin, call, result),
        };
    }),
    bug("request-limit-one-too-many", &[clause::LOOP_LIMIT], |twin| {
        twin.request_limit = |limit| limit.unwrap_or(20) + 1
    }),
    bug("request-limit-one-too-few", &[clause::LOOP_LIMIT], |twin| {
        twin.request_limit = |limit| limit.unwrap_or(20).saturating_sub(1);
    }),
    bug("request-limit-of-ten", &[clause::LOOP_LIMIT], |twin| twin.request_limit = |limit| limit.unwrap_or(10)),
    bug("request-limit-of-thirty", &[clause::LOOP_LIMIT], |twin| twin.request_limit = |limit| limit.unwrap_or(30)),
    bug("no-request-limit", &[clause::LOOP_LIMIT], |twin| twin.request_limit = |_| usize::MAX),
    bug("last-calls-not-executed-at-the-limit", &[clause::LOOP_LIMIT], |twin| {
        twin.before = |_, op, input| {
            // Like a limit on rounds: without its calls, the last response ends the first iteration.
            let limit = input["maxToolCallsPerIteration"].as_u64().and_then(|limit| usize::try_from(limit).ok());
            let Some(turns) = limit.and_then(|limit| input["model"].as_array_mut()?.get_mut(..limit)) else { return };
            let has_calls = |turn: &Value| turn["tool_calls"].as_array().is_some_and(|calls| !calls.is_empty());
            if op == Op::Loop && turns.iter().all(has_calls) {
                turns.last_mut().and_then(Value::as_object_mut).map(|turn| turn.remove("tool_calls"));
            }
        };
    }),
    bug("maximum-one-too-many", &[clause::LOOP_MAX], |twin| {
        twin.is_over = |iteration, maximum| maximum.is_some_and(|maximum| iteration > maximum);
    }),
    bug("maximum-ignored", &[clause::LOOP_MAX], |twin| twin.is_over = |_, _| false),
    bug("maximum-of-ten-by-default", &[clause::LOOP_MAX], |twin| {
        twin.is_over = |iteration, maximum| is_over(iteration, maximum.or(Some(10)));
    }),
    bug("maximum-checked-after-failures-too", &[clause::LOOP_MAX], |twin| twin.is_over_after_failure = is_over),
    bug("maximum-checked-after-verification", &[clause::LOOP_MAX], |twin| twin.verifies_first = true),
    bug("response-empty-after-a-failure", &[clause::LOOP_RESPONSE], |twin| {
        twin.after = |_, op, _, output| {
            if op == Op::Loop && output["stopReason"] == "max_errors" {
                output["response"] = "".into();
            }
        };
    }),
    bug("response-is-the-last-text", &[clause::LOOP_RESPONSE], |twin| {
        twin.response = |old, last| if last.is_empty() { old.to_owned() } else { last.to_owned() };
    }),
    bug("response-is-every-text", &[clause::LOOP_RESPONSE], |twin| twin.response = |old, last| format!("{old}{last}")),
    bug("response-trimmed", &[clause::LOOP_RESPONSE], |twin| twin.response = |_, last| last.trim().to_owned()),
    bug("xml-mode-logs-no-calls", &[clause::LOOP_MODES], |twin| {
        twin.after = |_, op, input, output| {
            if let Some(events) = events(op, output).filter(|_| input["contextMode"] == "xml") {
                events.retain(|event| event["type"] != "tool_call");
            }
        };
    }),
    bug("xml-mode-logs-its-document", &[clause::LOOP_MODES], |twin| {
        twin.after = |_, op, input, output| {
            if op == Op::Loop && input["contextMode"] == "xml" {
                let shown = output["requests"][0].as_array().and_then(|request| request.last()).cloned();
                output["events"][0]["content"] = shown.unwrap_or_default()["content"].take();
            }
        };
    }),
    bug("xml-mode-without-tool-ids", &[clause::LOOP_MODES], |twin| {
        twin.after = |_, op, input, output| {
            let events = events(op, output).filter(|_| input["contextMode"] == "xml");
            for event in events.into_iter().flatten().filter(|event| event["type"] == "tool_result") {
                event["toolCallId"] = "".into();
            }
        };
    }),
];
