//! Families about how long something goes on: rounds, calls, iterations, failures and requests.

use super::data::{calls, events, keep_last, list, swap};
use super::{family, hardened, in_places};
use crate::planted::Planted;
use crate::twin::Twin;
use crate::twin::rounds::distinct;
use serde_json::{Map, Value, json};
use threadspec::{Event, EventKind, Message};
use threadspec_judge::corpus::growth::Quantity;
use threadspec_judge::protocol::Op;

/// Results longer than this, in bytes, are shortened when they get old.
const LONG: usize = 1_000;

/// The history without events of a kind that are `n` or more iterations old.
fn without_old(twin: &Twin, history: &[Event], is_lost: fn(&EventKind) -> bool) -> Vec<Event> {
    let is_old = |event: &Event| event.iteration > 0 && age(history, event) >= twin.n;
    history.iter().filter(|event| !is_old(event) || !is_lost(&event.kind)).cloned().collect()
}

/// How many iterations ago an event of the history was.
fn age(history: &[Event], event: &Event) -> usize {
    // The history is shown to the next iteration.
    let now = history.last().map_or(0, |last| last.iteration) + 1;
    usize::try_from(now - event.iteration).unwrap_or(usize::MAX)
}

fn is_result(kind: &EventKind) -> bool {
    matches!(kind, EventKind::ToolResult { .. })
}

/// Where the rounds begin in a list of messages.
fn rounds(messages: &[Message]) -> Vec<usize> {
    let has_calls = |(index, message): (usize, &Message)| (!message.tool_calls().is_empty()).then_some(index);
    messages.iter().enumerate().filter_map(has_calls).collect()
}

pub(super) const FAMILIES: &[Planted] = &[
    family("rounds-end-after-n", Quantity::Rounds, |twin| {
        twin.before = |twin, op, input| {
            let limit = if op == Op::Tools { "maxRecursionDepth" } else { "maxToolCallsPerIteration" };
            input[limit] = input[limit].as_u64().map_or(twin.n as u64, |limit| limit.min(twin.n as u64)).into();
        };
    }),
    family("limit-capped-at-n", Quantity::RoundLimit, |twin| {
        twin.is_too_deep = |twin, rounds, depth| depth.is_some_and(|depth| rounds >= depth.min(twin.n));
    }),
    family("only-the-last-n-rounds", Quantity::Rounds, |twin| {
        twin.after_round = |twin, messages, _| {
            let rounds = rounds(messages);
            if rounds.len() > twin.n {
                messages.drain(rounds[0]..rounds[rounds.len() - twin.n]);
            }
        };
    }),
    family("results-n-rounds-ago-shortened", Quantity::Rounds, |twin| {
        twin.after_round = |twin, messages, _| {
            let rounds = rounds(messages);
            let old = rounds.len().checked_sub(twin.n).map_or(0, |first| rounds[first]);
            for message in &mut messages[..old] {
                if let Message::Tool { content, .. } = message {
                    *content = "[elided]".to_owned();
                }
            }
        };
    }),
    in_places(
        &["tools", "loop"],
        family("long-results-n-rounds-ago-shortened", Quantity::LongRounds, |twin| {
            twin.after_round = |twin, messages, _| {
                let rounds = rounds(messages);
                let old = rounds.len().checked_sub(twin.n).map_or(0, |first| rounds[first]);
                for message in &mut messages[..old] {
                    if let Message::Tool { content, .. } = message
                        && content.len() > LONG
                    {
                        *content = "[elided]".to_owned();
                    }
                }
            };
        }),
    ),
    family("request-n-sent-again", Quantity::Rounds, |twin| {
        twin.after = |twin, _, _, output| {
            if let Some(requests) = list(output, "requests").filter(|requests| twin.n < requests.len()) {
                requests[twin.n] = requests[twin.n - 1].clone();
            }
        };
    }),
    family("calls-beyond-n-not-made", Quantity::Calls, |twin| {
        twin.calls = |twin, calls| calls.iter().take(twin.n).cloned().collect();
    }),
    family("call-n-swapped", Quantity::Calls, |twin| {
        twin.calls = |twin, calls| {
            let mut calls = calls.to_vec();
            swap(&mut calls, twin.n);
            calls
        };
    }),
    family("answers-beyond-n-lost", Quantity::Calls, |twin| {
        twin.after_round = |twin, messages, answered| messages.truncate(answered + twin.n);
    }),
    in_places(
        &["loop"],
        family("calls-recorded-up-to-n", Quantity::Calls, |twin| {
            twin.history = |twin, events| events[..events.len().min(2 * twin.n + 1)].to_vec();
        }),
    ),
    hardened(family("distinct-ids-up-to-n", Quantity::SameIds, |twin| {
        twin.distinct = |twin, calls, thread| {
            let kept: Vec<String> = calls.iter().skip(twin.n).map(|call| call.id.clone()).collect();
            distinct(twin, calls, thread);
            calls.iter_mut().skip(twin.n).zip(kept).for_each(|(call, id)| call.id = id);
        };
    })),
    hardened(family("id-free-again-n-ids-later", Quantity::SameIds, |twin| {
        twin.distinct = |twin, calls, thread| {
            keep_last(thread, twin.n.saturating_sub(1));
            distinct(twin, calls, thread);
        };
    })),
    family("same-ids-beyond-n-dropped", Quantity::SameIds, |twin| {
        twin.distinct = |twin, calls, thread| {
            calls.truncate(twin.n);
            distinct(twin, calls, thread);
        };
    }),
    family("tools-beyond-n-unknown", Quantity::Tools, |twin| {
        twin.before = |twin, _, input| {
            let Some(tools) = input.get_mut("tools").and_then(Value::as_object_mut) else { return };
            *tools = std::mem::take(tools).into_iter().take(twin.n).collect();
        };
    }),
    family("results-beyond-n-repeat", Quantity::Results, |twin| {
        twin.before = |twin, _, input| {
            let tools = input.get_mut("tools").and_then(Value::as_object_mut).into_iter().flat_map(Map::values_mut);
            tools.filter_map(Value::as_array_mut).for_each(|results| results.truncate(twin.n));
        };
    }),
    family("loop-ends-after-n", Quantity::Iterations, |twin| {
        twin.before = |twin, _, input| input["maxIterations"] = twin.n.into();
    }),
    family("results-n-iterations-old-dropped", Quantity::Age, |twin| {
        twin.history = |twin, events| without_old(twin, events, is_result);
    }),
    family("calls-n-iterations-old-dropped", Quantity::Age, |twin| {
        twin.history = |twin, events| {
            without_old(twin, events, |kind| is_result(kind) || matches!(kind, EventKind::ToolCall { .. }))
        };
    }),
    family("texts-n-iterations-old-dropped", Quantity::Age, |twin| {
        twin.history = |twin, events| without_old(twin, events, |kind| matches!(kind, EventKind::Message { .. }));
    }),
    family("all-that-is-n-iterations-old-dropped", Quantity::Age, |twin| {
        twin.history = |twin, events| without_old(twin, events, |_| true);
    }),
    family("results-n-iterations-old-shortened", Quantity::Age, |twin| {
        twin.history = |twin, events| {
            let mut shown = events.to_vec();
            for event in shown.iter_mut().filter(|event| age(events, event) >= twin.n) {
                if let EventKind::ToolResult { result, .. } = &mut event.kind {
                    *result = Some("[elided]".into());
                }
            }
            shown
        };
    }),
    family("long-results-n-iterations-old-shortened", Quantity::LongAge, |twin| {
        twin.history = |twin, events| {
            let mut shown = events.to_vec();
            for event in shown.iter_mut().filter(|event| age(events, event) >= twin.n) {
                if let EventKind::ToolResult { result: Some(Value::String(text)), .. } = &mut event.kind
                    && text.len() > LONG
                {
                    *text = "[elided]".to_owned();
                }
            }
            shown
        };
    }),
    family("prompt-lost-after-n-iterations", Quantity::Age, |twin| {
        twin.history = |twin, events| {
            let is_lost = |event: &Event| event.iteration == 0 && age(events, event) > twin.n;
            events.iter().filter(|event| !is_lost(event)).cloned().collect()
        };
    }),
    family("history-frozen-after-n-iterations", Quantity::Age, |twin| {
        twin.history = |twin, events| events.iter().filter(|event| event.iteration < twin.n as u64).cloned().collect();
    }),
    family("iteration-n-not-shown", Quantity::ToolIterations, |twin| {
        twin.history = |twin, events| events.iter().filter(|event| event.iteration != twin.n as u64).cloned().collect();
    }),
    family("instructions-for-n-requests-only", Quantity::Age, |twin| {
        twin.after = |twin, _, input, output| {
            let has_instructions = input["instructions"].is_string();
            let later = list(output, "requests").into_iter().flatten().skip(twin.n);
            for request in later.filter_map(Value::as_array_mut) {
                if has_instructions {
                    request.remove(0);
                }
            }
        };
    }),
    in_places(
        &["loop-xml"],
        family("standard-mode-after-n-iterations", Quantity::Age, |twin| {
            twin.xml = |twin, events| {
                if events.last().is_some_and(|event| event.iteration >= twin.n as u64) {
                    return events.iter().filter_map(|event| (twin.message)(twin, event)).collect();
                }
                vec![Message::human(twin.document(events))]
            };
        }),
    ),
    family("events-recorded-for-n-iterations-only", Quantity::RecordedIterations, |twin| {
        twin.after = |twin, _, _, output| {
            let is_late = |event: &Value| event["iteration"].as_u64().is_some_and(|at| at > twin.n as u64);
            if let Some(events) = list(output, "events") {
                events.retain(|event| !is_late(event));
            }
        };
    }),
    family("only-the-last-n-errors-shown", Quantity::Failures, |twin| {
        twin.history = |twin, events| {
            let is_error = |event: &&Event| matches!(event.kind, EventKind::Error { .. });
            let mut lost = events.iter().filter(is_error).count().saturating_sub(twin.n);
            let mut is_shown = |event: &&Event| {
                let drops = lost > 0 && is_error(event);
                lost -= usize::from(drops);
                !drops
            };
            events.iter().filter(|event| is_shown(event)).cloned().collect()
        };
    }),
    family("gives-up-after-n-failures", Quantity::Failures, |twin| {
        twin.before = |twin, _, input| {
            let Some(turns) = list(input, "model") else { return };
            let mut failures = 0;
            let last = turns.iter().position(|turn| {
                failures += usize::from(turn["error"].is_string());
                failures == twin.n
            });
            if let Some(last) = last {
                turns.truncate(last + 1);
                turns.extend([json!({"error": "too many"}), json!({"error": "too many"})]);
            }
        };
    }),
    family("request-n-changed", Quantity::Requests, |twin| {
        twin.before = |twin, op, input| {
            let served = twin.memory.as_u64().unwrap_or(0) + 1;
            twin.memory = served.into();
            if served > twin.n as u64 {
                match op {
                    Op::Escape => input["text"] = "".into(),
                    Op::Serialize | Op::Messages => events(input).into_iter().for_each(Vec::clear),
                    Op::Tools | Op::Loop => calls(input).for_each(|call| call["args"] = json!({"late": true})),
                    Op::Session => {}
                }
            }
        };
    }),
    family("answer-of-n-requests-ago", Quantity::Requests, |twin| {
        twin.after = |twin, _, _, output| {
            let Value::Array(answers) = &mut twin.memory else {
                twin.memory = Value::Array(vec![output.clone()]);
                return;
            };
            answers.push(output.clone());
            if answers.len() > twin.n {
                *output = answers.remove(0);
            }
        };
    }),
];
