//! The outer loop.

use crate::plants::TwinSite::{Reason, Response};
use crate::plants::prelude::*;
use crate::twin::rounds::{completion, feedback, is_over};
use threadspec::Role;

fn is_result(event: &Event) -> bool {
    word(event) == "tool_result"
}

fn is_error(event: &Event) -> bool {
    word(event) == "error"
}

/// Hides such events of earlier iterations.
fn forgotten(name: FaultName, is_such: fn(&Event) -> bool) -> Planted {
    hidden(name, LOOP_RETAIN, move |events, at| is_such(&events[at]))
}

/// Records the events of a round in another way.
fn recorded(name: FaultName, terms: impl IntoTerms, change: fn(&mut Vec<Event>)) -> Planted {
    on::recorded(name, terms, move |mut events| {
        change(&mut events);
        events
    })
}

/// Counts the iterations of a run in another way, given what is right and the output.
fn counted(name: FaultName, count: fn(usize, &Value) -> usize) -> Planted {
    on::after_loop(name, LOOP_PROMPT, move |_, _, output| {
        let right = output["iterations"].as_u64().and_then(|right| usize::try_from(right).ok());
        if let (Some(right), true) = (right, output["events"].is_array()) {
            output["iterations"] = count(right, output).into();
        }
    })
}

/// Records another message of the verifier.
fn feeds_back(name: FaultName, written: fn(u64, Option<String>) -> Option<Event>) -> Planted {
    on::feedback(name, LOOP_VERIFY, written)
}

/// Ends a run with another event.
fn completes(name: FaultName, written: fn(u64, &str, bool) -> Option<Event>) -> Planted {
    on::completion(name, LOOP_VERIFY, written)
}

pub(super) fn bugs() -> Vec<Planted> {
    let mut bugs = vec![
        on::request_limit("zero-model-calls-mean-the-default", hardened(LOOP_LIMIT), |limit| {
            limit.filter(|&limit| limit > 0).unwrap_or(20)
        }),
        on::request_limit("zero-model-calls-mean-one", LOOP_LIMIT, |limit| limit.map_or(20, |limit| limit.max(1))),
        on::begin(
            "list-kept-across-iterations",
            CTX_FRESH,
            |fresh, old| {
                if old.is_empty() { fresh } else { old.to_vec() }
            },
        ),
        on::begin("history-repeated-behind-itself", [CTX_FRESH, LOOP_RETAIN], |fresh, old| {
            let start = usize::from(!old.is_empty() && matches!(fresh.first(), Some(Message::System { .. })));
            [old, &fresh[start..]].concat()
        }),
        on::begin("first-rendering-reused", [CTX_FRESH, LOOP_RETAIN], |fresh, old| {
            let kept = old.iter().position(|message| matches!(message, Message::Human { .. }));
            kept.map_or(fresh, |kept| old[..=kept].to_vec())
        }),
        on::after_round("live-messages-only-in-standard-mode", CTX_FRESH, |_, messages, answered| {
            if messages.iter().any(|message| message.content().starts_with("<thread>")) {
                messages.truncate(answered - 1);
            }
        }),
        hidden("iteration-starts-empty", LOOP_RETAIN, |_, at| at > 0),
        hidden("only-the-last-iteration-shown", LOOP_RETAIN, |events, at| {
            events[at].iteration != 0 && events[at].iteration != events[events.len() - 1].iteration
        }),
        forgotten("calls-of-earlier-iterations-forgotten", |event| is_call(event) || is_result(event)),
        forgotten("results-of-earlier-iterations-forgotten", is_result),
        forgotten("errors-of-earlier-iterations-forgotten", is_error),
        forgotten(
            "empty-results-of-earlier-iterations-not-shown",
            |event| matches!(&event.kind, EventKind::ToolResult { result: Some(result), .. } if *result == ""),
        ),
        hidden("failed-iterations-not-shown", LOOP_RETAIN, |events, at| {
            let of_it = |event: &&Event| event.iteration == events[at].iteration;
            !is_error(&events[at]) && events.iter().filter(of_it).any(is_error)
        }),
        hidden("second-error-in-a-row-not-shown", LOOP_RETAIN, |events, at| {
            at > 0 && is_error(&events[at]) && is_error(&events[at - 1])
        }),
        on::several("errors-not-shown-in-xml-mode", LOOP_RETAIN, |twin| {
            twin.before = &|twin, _, input| twin.memory = input["contextMode"].clone();
            twin.history = &|twin, events| {
                events.iter().filter(|event| twin.memory != "xml" || !is_error(event)).cloned().collect()
            };
        }),
        hidden(
            "empty-prompt-not-shown",
            LOOP_PROMPT,
            |events, at| matches!(&events[at].kind, EventKind::Message { content, .. } if content.is_empty()),
        ),
        on::history("history-of-ten-events", LOOP_RETAIN, |_, events| {
            [&events[..1], &events[events.len().saturating_sub(10).max(1)..]].concat()
        }),
        recorded("calls-recorded-before-all-results", LOOP_EVENTS, |events| events.sort_by_key(is_result)),
        recorded("results-not-recorded", [LOOP_EVENTS, LOOP_RETAIN], |events| {
            events.retain(|event| !is_result(event));
        }),
        recorded("calls-not-recorded", LOOP_EVENTS, |events| events.retain(|event| !is_call(event))),
        recorded("rounds-recorded-backwards", LOOP_EVENTS, |events| {
            *events = events.chunks(2).rev().flatten().cloned().collect();
        }),
        recorded("results-recorded-as-structures", LOOP_EVENTS, |events| {
            for event in events {
                if let EventKind::ToolResult { result: Some(result), .. } = &mut event.kind
                    && let Some(Ok(structure)) = result.as_str().map(serde_json::from_str::<Value>)
                {
                    *result = structure;
                }
            }
        }),
        recorded("events-count-iterations-from-zero", [LOOP_PROMPT, LOOP_EVENTS], |events| {
            events.iter_mut().for_each(|event| event.iteration = event.iteration.saturating_sub(1));
        }),
        on::is_said("empty-text-recorded", LOOP_EVENTS, |_| true),
        on::is_said("blank-text-not-recorded", LOOP_EVENTS, |text| !text.trim().is_empty()),
        on::is_said("text-of-zero-not-recorded", LOOP_EVENTS, |text| !text.is_empty() && text != "0"),
        on::logged("answer-like-the-last-not-recorded", LOOP_EVENTS, |_, events| {
            let mut last = Value::Null;
            events.retain(|event| {
                let is_answer = event["role"] == "assistant" && event["type"] == "message";
                let is_echo = is_answer && event["content"] == last;
                if is_answer {
                    last = event["content"].clone();
                }
                !is_echo
            });
        }),
        on::failed("failed-iterations-rolled-back", [LOOP_EVENTS, LOOP_RETAIN], |events, error| {
            events.retain(|event| event.iteration != error.iteration || event.iteration == 0);
            events.push(error);
        }),
        on::first_iteration("iterations-count-from-two", LOOP_PROMPT, 2),
        counted("failed-iterations-not-counted", |right, output| {
            right - listed(output, "events").iter().filter(|event| event["type"] == "error").count()
        }),
        counted("iterations-counted-by-requests", |_, output| listed(output, "requests").len()),
        counted("iterations-counted-by-the-last-event", |right, output| {
            let last = listed(output, "events").last().and_then(|event| event["iteration"].as_u64());
            last.and_then(|last| usize::try_from(last).ok()).unwrap_or(right)
        }),
        on::prompt("prompt-in-iteration-one", LOOP_PROMPT, |prompt| Event::user(1, prompt)),
        on::prompt("prompt-trimmed", LOOP_PROMPT, |prompt| Event::user(0, prompt.trim())),
        on::prompt("prompt-as-system-message", LOOP_PROMPT, |prompt| system(Event::user(0, prompt))),
        on::text_beside_calls("text-beside-calls-not-recorded", hardened(LOOP_TEXT), |_, _| false),
        on::after_loop("text-beside-calls-recorded-after-them", hardened(LOOP_TEXT), |twin, _, output| {
            let Some(events) = list(output, "events").filter(|_| twin.profile == Profile::Hardened) else { return };
            for at in 0..events.len().saturating_sub(2) {
                if events[at]["role"] == "assistant" && events[at + 1]["type"] == "tool_call" {
                    events[at..at + 3].rotate_left(1);
                }
            }
        }),
        on::final_text("text-recorded-twice-at-the-limit", hardened(LOOP_TEXT), |_, _| true),
        // In hardened the text stands before the calls already (LOOP-TEXT).
        on::final_text("no-text-at-the-limit", literal(LOOP_LIMIT), |_, last| last.tool_calls.is_empty()),
        feeds_back("feedback-without-try-again", |iteration, reason| {
            Some(Event::user(iteration, format!("Verification failed: {}", reason?)))
        }),
        feeds_back("feedback-without-a-reason", |iteration, reason| {
            feedback(iteration, reason.or_else(|| Some("unknown".to_owned())))
        }),
        feeds_back("feedback-for-an-empty-reason", |iteration, reason| {
            Some(Event::user(iteration, format!("Verification failed: {}. Please try again.", reason?)))
        }),
        feeds_back("feedback-in-the-next-iteration", |iteration, reason| feedback(iteration + 1, reason)),
        feeds_back("feedback-not-recorded", |_, _| None),
        feeds_back("feedback-from-the-system", |iteration, reason| feedback(iteration, reason).map(system)),
        completes("completion-without-verifier-is-verified", |iteration, response, _| {
            completion(iteration, response, true)
        }),
        completes("completion-never-verified", |iteration, response, _| completion(iteration, response, false)),
        completes("completion-not-recorded", |_, _, _| None),
        completes("completion-only-when-verified", |iteration, response, verified| {
            completion(iteration, response, true).filter(|_| verified)
        }),
        completes("completion-with-empty-result", |iteration, _, verified| completion(iteration, "", verified)),
        on::is_recoverable("third-error-recoverable", LOOP_ERROR, |failures| failures <= 3),
        on::is_recoverable("no-error-recoverable", LOOP_ERROR, |_| false),
        on::gives_up("gives-up-after-two", LOOP_ERROR, |failures| failures >= 2),
        on::gives_up("gives-up-after-four", LOOP_ERROR, |failures| failures >= 4),
        on::failures_after_success("failures-never-forgotten", LOOP_ERROR, |failures| failures),
        on::failures_after_success("failures-forgiven-one-by-one", LOOP_ERROR, |failures| failures.saturating_sub(1)),
        on::failed("errors-not-recorded", [LOOP_ERROR, LOOP_RETAIN], |_, _| {}),
        on::failed("errors-recorded-as-messages", [LOOP_ERROR, LOOP_RETAIN], |events, error| {
            if let EventKind::Error { error: text, .. } = error.kind {
                events.push(Event::user(error.iteration, text));
            }
        }),
        on::request_limit("request-limit-one-too-many", LOOP_LIMIT, |limit| limit.unwrap_or(20) + 1),
        on::request_limit("request-limit-one-too-few", LOOP_LIMIT, |limit| limit.unwrap_or(20).saturating_sub(1)),
        on::request_limit("request-limit-of-ten", LOOP_LIMIT, |limit| limit.unwrap_or(10)),
        on::request_limit("request-limit-of-thirty", LOOP_LIMIT, |limit| limit.unwrap_or(30)),
        on::request_limit("no-request-limit", LOOP_LIMIT, |_| usize::MAX),
        on::before_loop("last-calls-not-executed-at-the-limit", LOOP_LIMIT, |_, input| {
            // Like a limit on rounds: without its calls, the last response ends the first iteration.
            let limit = input["maxToolCallsPerIteration"].as_u64().and_then(|limit| usize::try_from(limit).ok());
            let turns = limit.and_then(|limit| list(input, "model")?.get_mut(..limit));
            if let Some(turns) = turns.filter(|turns| turns.iter().all(|turn| !listed(turn, "tool_calls").is_empty())) {
                turns.last_mut().and_then(Value::as_object_mut).map(|turn| turn.remove("tool_calls"));
            }
        }),
        on::is_over("maximum-one-too-many", LOOP_MAX, |iteration, maximum| {
            maximum.is_some_and(|maximum| iteration > maximum)
        }),
        on::is_over("maximum-ignored", LOOP_MAX, |_, _| false),
        on::is_over("maximum-of-ten-by-default", LOOP_MAX, |iteration, maximum| {
            is_over(iteration, maximum.or(Some(10)))
        }),
        on::is_over("maximum-zero-means-no-maximum", LOOP_MAX, |iteration, maximum| {
            is_over(iteration, maximum.filter(|&maximum| maximum > 0))
        }),
        on::is_over_after_failure("maximum-checked-after-failures-too", LOOP_MAX, is_over),
        on::verifies_first("maximum-checked-after-verification", LOOP_MAX, true),
        on::after_loop("response-empty-after-a-failure", LOOP_RESPONSE, |_, _, output| {
            if output["stopReason"] == "max_errors" {
                output["response"] = "".into();
            }
        }),
        on::response("response-is-the-last-text", LOOP_RESPONSE, |old, last| {
            if last.is_empty() { old.to_owned() } else { last.to_owned() }
        }),
        on::response("response-is-every-text", LOOP_RESPONSE, |old, last| format!("{old}{last}")),
        edit("response-trimmed", LOOP_RESPONSE, Response, |last| last.trim().to_owned()),
        on::logged("xml-mode-logs-no-calls", LOOP_MODES, |input, events| {
            events.retain(|event| input["contextMode"] != "xml" || event["type"] != "tool_call");
        }),
        on::after_loop("xml-mode-logs-its-document", LOOP_MODES, |_, input, output| {
            if input["contextMode"] == "xml" {
                let shown = output["requests"][0].as_array().and_then(|request| request.last()).cloned();
                output["events"][0]["content"] = shown.unwrap_or_default()["content"].take();
            }
        }),
        on::after_loop("xml-mode-without-tool-ids", LOOP_MODES, |_, input, output| {
            let results = events_of(output, "tool_result").filter(|_| input["contextMode"] == "xml");
            results.for_each(|event| event["toolCallId"] = "".into());
        }),
    ];
    bugs.extend(at(LOOP_VERIFY, Reason).edits(&[
        ("percent-signs-of-feedback-read", |reason| reason.replace("%%", "%").replace("%s", "")),
        ("feedback-to-the-first-line", |reason| reason.lines().next().unwrap_or_default().to_owned()),
        ("full-stop-of-a-reason-not-doubled", |reason| reason.strip_suffix('.').unwrap_or(reason).to_owned()),
    ]));
    bugs
}

/// A message as one of the system.
fn system(mut event: Event) -> Event {
    if let EventKind::Message { role, .. } = &mut event.kind {
        *role = Role::System;
    }
    event
}
