//! Comparing names, looking them up, and sorting by them.

use super::super::{Planted, bug};
use crate::twin::context::{message, system};
use crate::twin::document::{body, name, prefix};
use crate::universal::operators::{bucket, canonical, numeric, weighty};
use serde_json::{Map, Value};
use threadspec::{Event, EventKind};
use threadspec_golden::clause;

/// What two names have in common that a comparison takes for equal.
type NameKey = fn(&str) -> String;

/// Folded as `equalsIgnoreCase` and similar functions do.
fn in_any_case(name: &str) -> String {
    name.to_lowercase()
}

/// The last call before a result whose id has the same key.
fn call_of(events: &[Event], position: usize, id: &str, key: NameKey) -> Option<usize> {
    let same =
        |event: &Event| matches!(&event.kind, EventKind::ToolCall { tool_call_id, .. } if key(tool_call_id) == key(id));
    events[..position].iter().rposition(same)
}

fn name_by(events: &[Event], position: usize, id: &str, key: NameKey) -> Option<String> {
    match &events[call_of(events, position, id, key)?].kind {
        EventKind::ToolCall { tool_name, .. } => Some(tool_name.clone()),
        _ => None,
    }
}

fn answers_by(events: &[Event], position: usize, key: NameKey) -> Option<usize> {
    let EventKind::ToolResult { tool_call_id, .. } = &events[position].kind else { return None };
    call_of(events, position, tool_call_id, key)
}

/// Gives each called name the first tool that is found by its key.
fn tools_by(input: &mut Value, key: NameKey) {
    let Some(tools) = input["tools"].as_object().cloned() else { return };
    let found =
        |name: &String| tools.iter().find(|(tool, _)| key(tool) == key(name)).map(|(_, results)| results.clone());
    let called =
        input["model"].as_array().into_iter().flatten().filter_map(|turn| turn["tool_calls"].as_array().cloned());
    let called = called.flatten().filter_map(|call| call["name"].as_str().map(str::to_owned));
    let mut seen = Map::new();
    for name in called {
        if let Some(results) = found(&name) {
            seen.insert(name, results);
        }
    }
    input["tools"] = seen.into();
}

/// A bug that compares names by a key.
macro_rules! compared_by {
    ($name:literal, $key:path) => {
        bug($name, &[clause::ATT_NAME, clause::LOOP_TOOL_ERROR], |twin| {
            twin.name = |events, position, id| name_by(events, position, id, $key);
            twin.answers = |events, position| answers_by(events, position, $key);
            twin.before = |_, _, input| tools_by(input, $key);
        })
    };
}

/// The value of a key that `^(0|[1-9]\d*)$` matches, where `\d` is a digit of any script and `$` stands before a last line feed, too.
fn index_by_pattern(key: &str) -> Option<u64> {
    let digit = |c: char| match c {
        '0'..='9' => c.to_digit(10),
        '\u{660}'..='\u{669}' => Some(u32::from(c) - 0x660),
        '\u{ff10}'..='\u{ff19}' => Some(u32::from(c) - 0xff10),
        _ => None,
    };
    let key = key.strip_suffix('\n').unwrap_or(key);
    if key != "0" && !key.starts_with(|c| ('1'..='9').contains(&c)) {
        return None;
    }
    key.chars().try_fold(0_u64, |value, c| value.checked_mul(10)?.checked_add(digit(c)?.into()))
}

/// Sorts by iteration, but not stably.
fn heap_sort(events: &mut [Event]) {
    fn sift(events: &mut [Event], mut parent: usize) {
        while let Some(mut child) = Some(2 * parent + 1).filter(|&child| child < events.len()) {
            if child + 1 < events.len() && events[child + 1].iteration > events[child].iteration {
                child += 1;
            }
            if events[parent].iteration >= events[child].iteration {
                break;
            }
            events.swap(parent, child);
            parent = child;
        }
    }
    (0..events.len() / 2).rev().for_each(|parent| sift(events, parent));
    for end in (1..events.len()).rev() {
        events.swap(0, end);
        sift(&mut events[..end], 0);
    }
}

fn is_zero(text: &str) -> bool {
    text == "0"
}

pub(in super::super) const BUGS: &[Planted] = &[
    compared_by!("names-compared-up-to-normalization", canonical),
    compared_by!("names-compared-without-weightless-characters", weighty),
    compared_by!("names-compared-as-numbers", numeric),
    compared_by!("names-compared-in-any-case", in_any_case),
    bug("numeric-ids-never-found", &[clause::ATT_NAME], |twin| {
        // A key like "7" was stored as the integer 7, which is not identical to the text.
        twin.name = |events, position, id| {
            let is_integer = id.parse::<i64>().is_ok_and(|number| number.to_string() == id);
            name(events, position, id).filter(|_| !is_integer)
        };
    }),
    bug("ids-searched-as-patterns", &[clause::ATT_NAME], |twin| {
        // As a pattern, an id with such characters does not match itself.
        twin.name =
            |events, position, id| name(events, position, id).filter(|_| !id.contains(['(', '+', '*', '[', '?']));
    }),
    bug("placeholders-in-texts-filled-in", &[clause::ESC_1], |twin| {
        twin.body = |twin, event| body(twin, event).replace("{body}", "").replace("{iteration}", "0");
    }),
    bug("iterations-compared-as-they-are-spelt", &[clause::MSG_GROUP], |twin| {
        twin.before = |_, _, input| {
            let events = input.get_mut("events").and_then(Value::as_array_mut).into_iter().flatten();
            let spelt = events.filter_map(|event| event.get_mut("iteration")).filter(|iteration| iteration.is_f64());
            spelt.for_each(|iteration| *iteration = 1_000.into());
        };
    }),
    bug(
        "texts-of-a-zero-are-empty",
        &[clause::ATT_NAME, clause::DOC_6, clause::CTX_SYSTEM, clause::LOOP_EVENTS],
        |twin| {
            twin.name = |events, position, id| name(events, position, id).filter(|name| !is_zero(name) && !is_zero(id));
            twin.prefix = |raw| prefix(raw.filter(|raw| !is_zero(raw)));
            twin.system = |summaries, instructions, mode| {
                system(summaries, if is_zero(instructions) { "" } else { instructions }, mode)
            };
            twin.is_said = |text| !text.is_empty() && !is_zero(text);
            twin.body = |twin, event| Some(body(twin, event)).filter(|text| !is_zero(text)).unwrap_or_default();
            twin.message = |twin, event| match &event.kind {
                EventKind::Message { content, .. } if is_zero(content) => None,
                _ => message(twin, event),
            };
        },
    ),
    bug("members-in-the-order-of-hashes", &[clause::JSON_4], |twin| {
        twin.members = |object| {
            let mut members: Vec<_> = object.iter().collect();
            members.sort_by_key(|(key, _)| bucket(key, object.len()));
            members
        };
    }),
    bug("indices-by-a-pattern-of-any-script", &[clause::JSON_4], |twin| {
        twin.members = |object| {
            let mut members: Vec<_> = object.iter().collect();
            members.sort_by_key(|(key, _)| index_by_pattern(key).map_or((true, 0), |index| (false, index)));
            members
        };
    }),
    bug("sorted-by-iteration-without-keeping-order", &[clause::DOC_2, clause::EQ_2], |twin| {
        twin.events = |events| {
            let mut events: Vec<Event> = events.into_iter().collect::<Result<_, _>>()?;
            // Short lists are sorted by insertion, which is stable.
            if events.len() > 16 {
                heap_sort(&mut events);
            }
            Ok(events)
        };
    }),
    bug("summarized-iterations-sorted-as-text", &[clause::ATT_SUMMARIZED], |twin| {
        twin.summarized = |iterations| {
            let mut texts: Vec<String> = iterations.iter().map(u64::to_string).collect();
            texts.sort();
            texts.join(",")
        };
    }),
];
