//! The table of families of bugs that show only with size.

use super::Family;
use super::data::{
    calls, change_arrays, change_data, change_objects, cut_below, events, events_of, keep_last, list, lose, swap,
};
use crate::agent::distinct;
use crate::text;
use crate::twin::Twin;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use threadspec::{Event, EventKind, Message};
use threadspec_judge::corpus::growth::Quantity;
use threadspec_judge::protocol::{Op, Profile};

/// What some shorten when it gets old, in bytes.
const LONG: usize = 1_000;

const BOTH: &[Profile] = &[Profile::Literal, Profile::Hardened];

/// Wrong in both profiles, wherever the quantity exists.
const fn family(name: &'static str, quantity: Quantity, plant: fn(&mut Twin)) -> Family {
    Family { name, quantity, places: &[], profiles: BOTH, change: None, plant }
}

/// Wrong in these places only.
const fn in_places(places: &'static [&'static str], family: Family) -> Family {
    Family { places, ..family }
}

/// Wrong in hardened only.
const fn hardened(family: Family) -> Family {
    Family { profiles: &[Profile::Hardened], ..family }
}

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

/// Makes results of calls that are forgotten name another call.
fn forget(input: &mut Value, is_forgotten: impl Fn(usize, usize) -> bool) {
    let mut known: HashMap<String, (usize, usize)> = HashMap::new();
    let mut count = 0;
    for (position, event) in events(input).into_iter().flatten().enumerate() {
        let Some(id) = event["toolCallId"].as_str().map(str::to_owned) else { continue };
        if event["type"] == "tool_call" {
            known.insert(id, (position, count));
            count += 1;
        } else if known.get(&id).is_some_and(|&(call, number)| is_forgotten(position - call, count - number)) {
            event["toolCallId"] = format!("{id} forgotten").into();
        }
    }
}

fn is_result(kind: &EventKind) -> bool {
    matches!(kind, EventKind::ToolResult { .. })
}

/// Where the rounds begin in a list of messages.
fn rounds(messages: &[Message]) -> Vec<usize> {
    let has_calls = |(index, message): (usize, &Message)| (!message.tool_calls().is_empty()).then_some(index);
    messages.iter().enumerate().filter_map(has_calls).collect()
}

pub(super) const FAMILIES: &[Family] = &[
    family("events-beyond-n-dropped", Quantity::Events, |twin| {
        twin.before = |twin, _, input| events(input).into_iter().for_each(|events| events.truncate(twin.n));
    }),
    family("only-the-last-n-events", Quantity::Events, |twin| {
        twin.before = |twin, _, input| events(input).into_iter().for_each(|events| keep_last(events, twin.n));
    }),
    family("middle-of-n-events-elided", Quantity::Events, |twin| {
        twin.before = |twin, _, input| {
            let Some(events) = events(input).filter(|events| events.len() > twin.n) else { return };
            events.drain(twin.n / 2..events.len() - twin.n / 2);
        };
    }),
    family("event-n-lost", Quantity::Events, |twin| {
        twin.before = |twin, _, input| events(input).into_iter().for_each(|events| lose(events, twin.n));
    }),
    family("event-n-swapped", Quantity::Events, |twin| {
        twin.before = |twin, _, input| events(input).into_iter().for_each(|events| swap(events, twin.n));
    }),
    family("events-from-n-on-repeat", Quantity::Events, |twin| {
        twin.before = |twin, _, input| {
            let Some(events) = events(input) else { return };
            for position in twin.n..events.len() {
                events[position] = events[position % twin.n].clone();
            }
        };
    }),
    in_places(
        &["serialize", "messages-xml"],
        family("ids-wrap-at-n", Quantity::Events, |twin| {
            twin.id = |twin, _, position| (position % twin.n).to_string();
        }),
    ),
    in_places(
        &["serialize", "messages-xml"],
        family("ids-stop-at-n", Quantity::Events, |twin| {
            twin.id = |twin, _, position| position.min(twin.n - 1).to_string();
        }),
    ),
    family("call-forgotten-after-n-events", Quantity::Distance, |twin| {
        twin.before = |twin, _, input| forget(input, |distance, _| distance > twin.n);
    }),
    family("only-the-last-n-calls-known", Quantity::OpenCalls, |twin| {
        twin.before = |twin, _, input| forget(input, |_, calls| calls > twin.n);
    }),
    hardened(family("groups-of-n-calls", Quantity::Group, |twin| {
        twin.before = |twin, _, input| {
            for (number, call) in events_of(input, "tool_call").enumerate() {
                call["iteration"] = (number / twin.n).into();
            }
        };
    })),
    family("calls-of-a-group-beyond-n-dropped", Quantity::Group, |twin| {
        twin.after = |twin, _, _, output| {
            let calls = output.as_array_mut().into_iter().flatten().filter_map(|message| list(message, "tool_calls"));
            calls.for_each(|calls| calls.truncate(twin.n));
            // Where each call has its own message, those are dropped.
            let mut count = 0;
            output.as_array_mut().into_iter().for_each(|messages| {
                messages.retain(|message| {
                    count += usize::from(message["type"] == "ai");
                    message["type"] != "ai" || count <= twin.n
                });
            });
        };
    }),
    family("answers-of-a-group-beyond-n-dropped", Quantity::Group, |twin| {
        twin.after = |twin, _, _, output| {
            let mut count = 0;
            output.as_array_mut().into_iter().for_each(|messages| {
                messages.retain(|message| {
                    count += usize::from(message["type"] == "tool");
                    message["type"] != "tool" || count <= twin.n
                });
            });
        };
    }),
    family("summaries-beyond-n-dropped", Quantity::Summaries, |twin| {
        twin.before = |twin, _, input| events(input).into_iter().for_each(|events| events.truncate(twin.n));
    }),
    family("only-the-last-n-summaries", Quantity::Summaries, |twin| {
        twin.before = |twin, _, input| events(input).into_iter().for_each(|events| keep_last(events, twin.n));
    }),
    family("summarized-iterations-beyond-n-dropped", Quantity::SummarizedIterations, |twin| {
        twin.before = |twin, _, input| {
            let lists = events_of(input, "summary").filter_map(|event| list(event, "summarizedIterations"));
            lists.for_each(|list| list.truncate(twin.n));
        };
    }),
    family("members-beyond-n-dropped", Quantity::Members, |twin| {
        twin.before = |twin, _, input| {
            let cut = |members: &mut Map<String, Value>| {
                *members = std::mem::take(members).into_iter().take(twin.n).collect();
            };
            change_data(input, &|value| change_objects(value, &cut));
        };
    }),
    family("elements-beyond-n-dropped", Quantity::Elements, |twin| {
        twin.before = |twin, _, input| change_data(input, &|value| change_arrays(value, &|list| list.truncate(twin.n)));
    }),
    family("only-the-last-n-elements", Quantity::Elements, |twin| {
        twin.before =
            |twin, _, input| change_data(input, &|value| change_arrays(value, &|list| keep_last(list, twin.n)));
    }),
    family("element-n-like-the-others", Quantity::Positions, |twin| {
        twin.before = |twin, _, input| {
            let change = |list: &mut Vec<Value>| {
                let other = list.get(usize::from(twin.n == 0)).cloned();
                list.get_mut(twin.n).zip(other).into_iter().for_each(|(element, other)| *element = other);
            };
            change_data(input, &|value| change_arrays(value, &change));
        };
    }),
    family("null-below-n-levels", Quantity::Depth, |twin| {
        twin.before = |twin, _, input| change_data(input, &|value| cut_below(value, twin.n));
    }),
    family("messages-beyond-n-dropped", Quantity::Messages, |twin| {
        twin.before = |twin, _, input| list(input, "messages").into_iter().for_each(|given| given.truncate(twin.n));
    }),
    family("only-the-last-n-messages", Quantity::Messages, |twin| {
        twin.before = |twin, _, input| list(input, "messages").into_iter().for_each(|given| keep_last(given, twin.n));
    }),
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
    Family { change: Some(|text, n| text.chars().take(n).collect()), ..family("id-cut", Quantity::Id, |_| {}) },
    texts("text-cut", |text, n| text.chars().take(n).collect()),
    texts("text-cut-in-bytes", |text, n| {
        text.char_indices().take_while(|(at, c)| at + c.len_utf8() <= n).map(|(_, c)| c).collect()
    }),
    texts("only-the-end-of-a-text", |text, n| text.chars().skip(text.chars().count().saturating_sub(n)).collect()),
    texts("text-elided", |text, n| {
        let length = text.chars().count();
        if length <= n {
            return text.to_owned();
        }
        let (start, end) = (text.chars().take(n / 2), text.chars().skip(length - n / 2));
        start.chain("…".chars()).chain(end).collect()
    }),
    Family {
        change: Some(|text, n| {
            text.chars().take(if text.chars().count() == n { n.saturating_sub(1) } else { usize::MAX }).collect()
        }),
        ..family("last-character-of-n-lost", Quantity::Lengths, |_| {})
    },
    texts("character-lost", |text, n| text.chars().enumerate().filter(|&(at, _)| at != n).map(|(_, c)| c).collect()),
    texts("text-wrapped", |text, n| {
        let wrapped = |(at, c)| if at > 0 && at % n == 0 { vec!['\n', c] } else { vec![c] };
        text.chars().enumerate().flat_map(wrapped).collect()
    }),
    blocks("last-of-a-whole-block-lost", |text, n| without(text, n - 1, |count| count == n)),
    blocks("one-behind-a-block-lost", |text, n| without(text, n, |count| count == n + 1)),
    blocks("one-short-of-a-block-padded", |text, n| {
        if text.chars().count() == n - 1 { format!("{text} ") } else { text.to_owned() }
    }),
    blocks("last-of-a-block-twice", |text, n| {
        let is_last = |at| at + 1 == n && text.chars().count() == n;
        text.chars().enumerate().flat_map(|(at, c)| std::iter::repeat_n(c, if is_last(at) { 2 } else { 1 })).collect()
    }),
    blocks("pair-across-a-border-lost", |text, n| {
        let mut units = 0;
        let mut is_whole = |c: &char| {
            units += c.len_utf16();
            units != n + 1 || c.len_utf16() == 1
        };
        text.chars().filter(|c| is_whole(c)).collect()
    }),
    blocks("bytes-across-a-border-replaced", |text, n| {
        let change = |(at, c): (usize, char)| if at < n && at + c.len_utf8() > n { '\u{fffd}' } else { c };
        text.char_indices().map(change).collect()
    }),
    in_places(
        &["serialize", "messages-xml"],
        family("only-the-first-block-looked-at", Quantity::Blocks, |twin| {
            twin.text = |twin, text| if has_special(text, twin.n) { text::text(twin, text) } else { text.to_owned() };
        }),
    ),
    white_space("trimmed", |text, _| text.trim_matches(is_white).to_owned()),
    white_space("start-trimmed", |text, _| text.trim_start_matches(is_white).to_owned()),
    white_space("end-trimmed", |text, _| text.trim_end_matches(is_white).to_owned()),
    white_space("spaces-trimmed", |text, _| text.trim_matches(' ').to_owned()),
    white_space("line-feeds-trimmed", |text, _| text.trim_matches('\n').to_owned()),
    white_space("byte-order-mark-removed", |text, _| text.replace('\u{feff}', "")),
    white_space("ideographic-spaces-trimmed", |text, _| text.trim_matches('\u{3000}').to_owned()),
    white_space("runs-of-white-space-joined", |text, _| {
        let mut joined = String::new();
        for c in text.chars() {
            if !is_white(c) || !joined.ends_with(' ') {
                joined.push(if is_white(c) { ' ' } else { c });
            }
        }
        joined
    }),
    white_space("double-spaces-joined", |text, _| text.replace("  ", " ")),
    white_space("blank-lines-dropped", |text, _| text.replace("\n\n", "\n")),
    white_space("tabs-expanded", |text, _| text.replace('\t', "    ")),
    white_space("no-break-spaces-as-spaces", |text, _| text.replace('\u{a0}', " ")),
    white_space("cut-at-nul", |text, _| text.split('\0').next().unwrap_or_default().to_owned()),
    in_places(&["messages-standard", "tools", "loop"], white_space("nul-removed", |text, _| text.replace('\0', ""))),
    hardened(in_places(
        &["serialize", "messages-xml"],
        white_space("nul-removed-in-documents", |text, _| text.replace('\0', "")),
    )),
    hardened(white_space("carriage-returns-as-line-feeds", |text, _| text.replace('\r', "\n"))),
];

/// Texts that go wrong from n characters on.
const fn texts(name: &'static str, change: fn(&str, usize) -> String) -> Family {
    Family { change: Some(change), ..family(name, Quantity::Text, |_| {}) }
}

/// Texts that go wrong at a border between blocks of n.
const fn blocks(name: &'static str, change: fn(&str, usize) -> String) -> Family {
    Family { change: Some(change), ..family(name, Quantity::Blocks, |_| {}) }
}

/// The text without a character, if its length is such.
fn without(text: &str, position: usize, is_such: impl Fn(usize) -> bool) -> String {
    let loses = is_such(text.chars().count());
    text.chars().enumerate().filter(|&(at, _)| !loses || at != position).map(|(_, c)| c).collect()
}

/// Whether one of the first `n` characters needs escaping.
fn has_special(text: &str, n: usize) -> bool {
    text.chars().take(n).any(|c| "<>&\"'".contains(c))
}

/// Texts whose white space is changed.
const fn white_space(name: &'static str, change: fn(&str, usize) -> String) -> Family {
    Family { change: Some(change), ..family(name, Quantity::WhiteSpace, |_| {}) }
}

fn is_white(c: char) -> bool {
    c.is_whitespace() || c == '\u{feff}'
}
