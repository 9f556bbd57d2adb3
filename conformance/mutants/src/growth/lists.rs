//! Families about how much an input holds, and how long something goes on: events, calls, data and messages; rounds, iterations, failures and
//! requests.

use crate::plants::prelude::*;
use crate::twin::parts::{calls, change_arrays};
use crate::twin::rounds::distinct;
use std::collections::HashMap;
use threadspec_judge::corpus::growth::Quantity;

/// Results longer than this, in bytes, are shortened when they get old.
const LONG: usize = 1_000;
const ELIDED: &str = "[elided]";

/// Changes a list of the input.
fn in_list(name: FaultName, terms: impl IntoTerms, of: &'static str, change: fn(&mut Vec<Value>, usize)) -> Planted {
    on::before(name, terms, move |twin, _, input| list(input, of).into_iter().for_each(|list| change(list, twin.n)))
}

/// Changes the arguments of calls and the results of tools.
fn in_data(name: FaultName, terms: impl IntoTerms, change: fn(&mut Value, usize)) -> Planted {
    on::before(name, terms, move |twin, _, input| {
        for event in each_event(input) {
            for name in ["args", "result"] {
                event.get_mut(name).into_iter().for_each(|value| change(value, twin.n));
            }
        }
        calls(input).filter_map(|call| call.get_mut("args")).for_each(|args| change(args, twin.n));
        let results = tools(input).into_iter().flat_map(Map::values_mut);
        results.filter_map(Value::as_array_mut).flatten().for_each(|result| change(result, twin.n));
    })
}

/// Makes the results of forgotten calls answer a call that does not exist, given how many events and how many calls ago that was, and the size.
fn forgotten(name: FaultName, quantity: Quantity, is_forgotten: fn(usize, usize, usize) -> bool) -> Planted {
    on::before(name, quantity, move |twin, _, input| {
        let mut known: HashMap<String, (usize, usize)> = HashMap::new();
        let mut count = 0;
        for (position, event) in each_event(input).enumerate() {
            let Some(id) = event["toolCallId"].as_str().map(str::to_owned) else { continue };
            if event["type"] == "tool_call" {
                known.insert(id, (position, count));
                count += 1;
            } else if known.get(&id).is_some_and(|&(call, at)| is_forgotten(position - call, count - at, twin.n)) {
                event["toolCallId"] = format!("{id} forgotten").into();
            }
        }
    })
}

/// Drops the messages of a type beyond the n-th.
fn beyond(messages: &mut Vec<Value>, kind: &str, n: usize) {
    let mut count = 0;
    messages.retain(|message| {
        count += usize::from(message["type"] == kind);
        message["type"] != kind || count <= n
    });
}

/// Hides events from later iterations, given all of them, one, and the size.
fn hidden(name: FaultName, terms: impl IntoTerms, is_hidden: fn(&[Event], &Event, usize) -> bool) -> Planted {
    on::history(name, terms, move |twin, events| {
        events.iter().filter(|event| !is_hidden(events, event, twin.n)).cloned().collect()
    })
}

/// Hides such events that are `n` or more iterations old.
fn dropped(name: FaultName, is_such: fn(&Event) -> bool) -> Planted {
    on::history(name, Quantity::Age, move |twin, events| {
        let is_lost = |event: &&Event| event.iteration > 0 && age(events, event) >= twin.n && is_such(event);
        events.iter().filter(|event| !is_lost(event)).cloned().collect()
    })
}

/// Shortens results that are `n` or more iterations old, if they are such.
fn shortened(name: FaultName, quantity: Quantity, is_such: fn(&Value) -> bool) -> Planted {
    on::history(name, quantity, move |twin, events| {
        let mut shown = events.to_vec();
        for event in shown.iter_mut().filter(|event| age(events, event) >= twin.n) {
            if let EventKind::ToolResult { result, .. } = &mut event.kind
                && is_such(result.as_ref().unwrap_or(&Value::Null))
            {
                *result = Some(ELIDED.into());
            }
        }
        shown
    })
}

/// How many iterations ago an event of the history was.
fn age(history: &[Event], event: &Event) -> usize {
    // The history is shown to the next iteration.
    let now = history.last().map_or(0, |last| last.iteration) + 1;
    usize::try_from(now - event.iteration).unwrap_or(usize::MAX)
}

/// Where the rounds begin in a list of messages.
fn rounds(messages: &[Message]) -> Vec<usize> {
    let has_calls = |(index, message): (usize, &Message)| (!message.tool_calls().is_empty()).then_some(index);
    messages.iter().enumerate().filter_map(has_calls).collect()
}

/// Shortens results longer than this that are `n` or more rounds old.
fn elided(name: FaultName, terms: impl IntoTerms, longest: usize) -> Planted {
    on::after_round(name, terms, move |twin, messages, _| {
        let rounds = rounds(messages);
        let old = rounds.len().checked_sub(twin.n).map_or(0, |first| rounds[first]);
        for message in &mut messages[..old] {
            match message {
                Message::Tool { content, .. } if longest == 0 || content.len() > longest => {
                    *content = ELIDED.to_owned()
                }
                _ => {}
            }
        }
    })
}

/// Replaces arrays and objects that are nested more deeply by null.
fn cut_below(value: &mut Value, levels: usize) {
    if levels == 0 && (value.is_array() || value.is_object()) {
        *value = Value::Null;
    }
    match value {
        Value::Array(elements) => elements.iter_mut().for_each(|element| cut_below(element, levels.saturating_sub(1))),
        Value::Object(members) => members.values_mut().for_each(|member| cut_below(member, levels.saturating_sub(1))),
        _ => {}
    }
}

/// Swaps the element at a position with the one before, if there are both.
fn swap<T>(items: &mut [T], position: usize) {
    if position > 0 && position < items.len() {
        items.swap(position - 1, position);
    }
}

/// Where ids of events are shown.
const DOCUMENTS: &[&str] = &["serialize", "messages-xml"];

pub(super) fn families() -> Vec<Planted> {
    vec![
        in_list("events-beyond-n-dropped", Quantity::Events, "events", Vec::truncate),
        in_list("only-the-last-n-events", Quantity::Events, "events", keep_last),
        in_list("middle-of-n-events-elided", Quantity::Events, "events", |events, n| {
            if events.len() > n {
                events.drain(n / 2..events.len() - n / 2);
            }
        }),
        in_list("event-n-lost", Quantity::Events, "events", |events, n| {
            if n < events.len() {
                events.remove(n);
            }
        }),
        in_list("event-n-swapped", Quantity::Events, "events", |events, n| swap(events, n)),
        in_list("events-from-n-on-repeat", Quantity::Events, "events", |events, n| {
            for position in n..events.len() {
                events[position] = events[position % n].clone();
            }
        }),
        on::id("ids-wrap-at-n", in_places(Quantity::Events, DOCUMENTS), |twin, _, position| {
            (position % twin.n).to_string()
        }),
        on::id("ids-stop-at-n", in_places(Quantity::Events, DOCUMENTS), |twin, _, position| {
            position.min(twin.n - 1).to_string()
        }),
        forgotten("call-forgotten-after-n-events", Quantity::Distance, |distance, _, n| distance > n),
        forgotten("only-the-last-n-calls-known", Quantity::OpenCalls, |_, calls, n| calls > n),
        on::before("groups-of-n-calls", hardened(Quantity::Group), |twin, _, input| {
            let calls = events_of(input, "tool_call").enumerate();
            calls.for_each(|(number, call)| call["iteration"] = (number / twin.n).into());
        }),
        on::after("calls-of-a-group-beyond-n-dropped", Quantity::Group, |twin, _, _, output| {
            let Some(messages) = output.as_array_mut() else { return };
            messages
                .iter_mut()
                .filter_map(|message| list(message, "tool_calls"))
                .for_each(|calls| calls.truncate(twin.n));
            // Where each call has a message of its own, the messages are dropped.
            beyond(messages, "ai", twin.n);
        }),
        on::after("answers-of-a-group-beyond-n-dropped", Quantity::Group, |twin, _, _, output| {
            output.as_array_mut().into_iter().for_each(|messages| beyond(messages, "tool", twin.n));
        }),
        in_list("summaries-beyond-n-dropped", Quantity::Summaries, "events", Vec::truncate),
        in_list("only-the-last-n-summaries", Quantity::Summaries, "events", keep_last),
        on::before("summarized-iterations-beyond-n-dropped", Quantity::SummarizedIterations, |twin, _, input| {
            let lists = events_of(input, "summary").filter_map(|event| list(event, "summarizedIterations"));
            lists.for_each(|list| list.truncate(twin.n));
        }),
        in_data("members-beyond-n-dropped", Quantity::Members, |value, n| {
            each(value, &|value| {
                if let Value::Object(members) = value {
                    *members = std::mem::take(members).into_iter().take(n).collect();
                }
            });
        }),
        in_data("elements-beyond-n-dropped", Quantity::Elements, |value, n| {
            change_arrays(value, &|list| list.truncate(n));
        }),
        in_data("only-the-last-n-elements", Quantity::Elements, |value, n| {
            change_arrays(value, &|list| keep_last(list, n));
        }),
        in_data("element-n-like-the-others", Quantity::Positions, |value, n| {
            change_arrays(value, &|list| {
                let other = list.get(usize::from(n == 0)).cloned();
                list.get_mut(n).zip(other).into_iter().for_each(|(element, other)| *element = other);
            });
        }),
        in_data("null-below-n-levels", Quantity::Depth, cut_below),
        in_list("messages-beyond-n-dropped", Quantity::Messages, "messages", Vec::truncate),
        in_list("only-the-last-n-messages", Quantity::Messages, "messages", keep_last),
        on::before("rounds-end-after-n", Quantity::Rounds, |twin, op, input| {
            let limit = if op == Op::Tools { "maxRecursionDepth" } else { "maxToolCallsPerIteration" };
            input[limit] = input[limit].as_u64().map_or(twin.n as u64, |limit| limit.min(twin.n as u64)).into();
        }),
        on::is_too_deep("limit-capped-at-n", Quantity::RoundLimit, |twin, rounds, depth| {
            depth.is_some_and(|depth| rounds >= depth.min(twin.n))
        }),
        on::after_round("only-the-last-n-rounds", Quantity::Rounds, |twin, messages, _| {
            let rounds = rounds(messages);
            if rounds.len() > twin.n {
                messages.drain(rounds[0]..rounds[rounds.len() - twin.n]);
            }
        }),
        elided("results-n-rounds-ago-shortened", Quantity::Rounds, 0),
        elided("long-results-n-rounds-ago-shortened", in_places(Quantity::LongRounds, &["tools", "loop"]), LONG),
        on::after("request-n-sent-again", Quantity::Rounds, |twin, _, _, output| {
            if let Some(requests) = list(output, "requests").filter(|requests| twin.n < requests.len()) {
                requests[twin.n] = requests[twin.n - 1].clone();
            }
        }),
        on::calls("calls-beyond-n-not-made", Quantity::Calls, |twin, calls| {
            calls.iter().take(twin.n).cloned().collect()
        }),
        on::calls("call-n-swapped", Quantity::Calls, |twin, calls| {
            let mut calls = calls.to_vec();
            swap(&mut calls, twin.n);
            calls
        }),
        on::after_round("answers-beyond-n-lost", Quantity::Calls, |twin, messages, answered| {
            messages.truncate(answered + twin.n);
        }),
        on::history("calls-recorded-up-to-n", in_places(Quantity::Calls, &["loop"]), |twin, events| {
            events[..events.len().min(2 * twin.n + 1)].to_vec()
        }),
        on::distinct("distinct-ids-up-to-n", hardened(Quantity::SameIds), |twin, calls, thread| {
            let kept: Vec<String> = calls.iter().skip(twin.n).map(|call| call.id.clone()).collect();
            distinct(twin, calls, thread);
            calls.iter_mut().skip(twin.n).zip(kept).for_each(|(call, id)| call.id = id);
        }),
        on::distinct("id-free-again-n-ids-later", hardened(Quantity::SameIds), |twin, calls, thread| {
            keep_last(thread, twin.n.saturating_sub(1));
            distinct(twin, calls, thread);
        }),
        on::distinct("same-ids-beyond-n-dropped", Quantity::SameIds, |twin, calls, thread| {
            calls.truncate(twin.n);
            distinct(twin, calls, thread);
        }),
        on::before("tools-beyond-n-unknown", Quantity::Tools, |twin, _, input| {
            let Some(tools) = tools(input) else { return };
            *tools = std::mem::take(tools).into_iter().take(twin.n).collect();
        }),
        on::before("results-beyond-n-repeat", Quantity::Results, |twin, _, input| {
            let results = tools(input).into_iter().flat_map(Map::values_mut);
            results.filter_map(Value::as_array_mut).for_each(|results| results.truncate(twin.n));
        }),
        on::before("loop-ends-after-n", Quantity::Iterations, |twin, _, input| input["maxIterations"] = twin.n.into()),
        dropped("results-n-iterations-old-dropped", |event| word(event) == "tool_result"),
        dropped("calls-n-iterations-old-dropped", |event| matches!(word(event), "tool_call" | "tool_result")),
        dropped("texts-n-iterations-old-dropped", |event| matches!(event.kind, EventKind::Message { .. })),
        dropped("all-that-is-n-iterations-old-dropped", |_| true),
        shortened("results-n-iterations-old-shortened", Quantity::Age, |_| true),
        shortened("long-results-n-iterations-old-shortened", Quantity::LongAge, |result| {
            result.as_str().is_some_and(|text| text.len() > LONG)
        }),
        hidden("prompt-lost-after-n-iterations", Quantity::Age, |events, event, n| {
            event.iteration == 0 && age(events, event) > n
        }),
        hidden("history-frozen-after-n-iterations", Quantity::Age, |_, event, n| event.iteration >= n as u64),
        hidden("iteration-n-not-shown", Quantity::ToolIterations, |_, event, n| event.iteration == n as u64),
        on::after("instructions-for-n-requests-only", Quantity::Age, |twin, _, input, output| {
            let later = list(output, "requests").into_iter().flatten().skip(twin.n);
            for request in later.filter_map(Value::as_array_mut).filter(|_| input["instructions"].is_string()) {
                request.remove(0);
            }
        }),
        on::xml("standard-mode-after-n-iterations", in_places(Quantity::Age, &["loop-xml"]), |twin, events| {
            if events.last().is_some_and(|event| event.iteration >= twin.n as u64) {
                return events.iter().filter_map(|event| (twin.message)(twin, event)).collect();
            }
            vec![Message::human(twin.document(events))]
        }),
        on::after("events-recorded-for-n-iterations-only", Quantity::RecordedIterations, |twin, _, _, output| {
            let is_late = |event: &Value| event["iteration"].as_u64().is_some_and(|at| at > twin.n as u64);
            list(output, "events").into_iter().for_each(|events| events.retain(|event| !is_late(event)));
        }),
        hidden("only-the-last-n-errors-shown", Quantity::Failures, |events, event, n| {
            let errors = events.iter().filter(|event| word(event) == "error");
            let behind = errors.rev().take_while(|error| !std::ptr::eq(*error, event)).count();
            word(event) == "error" && behind >= n
        }),
        on::before("gives-up-after-n-failures", Quantity::Failures, |twin, _, input| {
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
        }),
        on::before("request-n-changed", Quantity::Requests, |twin, op, input| {
            let served = twin.memory.as_u64().unwrap_or(0) + 1;
            twin.memory = served.into();
            if served > twin.n as u64 {
                match op {
                    Op::Escape => input["text"] = "".into(),
                    Op::Serialize | Op::Messages => list(input, "events").into_iter().for_each(Vec::clear),
                    Op::Tools | Op::Loop => calls(input).for_each(|call| call["args"] = json!({"late": true})),
                    Op::Session => {}
                }
            }
        }),
        on::after("answer-of-n-requests-ago", Quantity::Requests, |twin, _, _, output| {
            let Value::Array(answers) = &mut twin.memory else {
                twin.memory = Value::Array(vec![output.clone()]);
                return;
            };
            answers.push(output.clone());
            if answers.len() > twin.n {
                *output = answers.remove(0);
            }
        }),
    ]
}
