//! Families about how much an input holds: events, calls, summaries, data and messages.

use super::data::{
    change_arrays, change_data, change_objects, cut_below, events, events_of, keep_last, list, lose, swap,
};
use super::{family, hardened, in_places};
use crate::planted::Planted;
use serde_json::{Map, Value};
use std::collections::HashMap;
use threadspec_judge::corpus::growth::Quantity;

/// Makes the results of forgotten calls answer a call that does not exist.
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

pub(super) const FAMILIES: &[Planted] = &[
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
            // Where each call has a message of its own, the messages are dropped.
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
];
