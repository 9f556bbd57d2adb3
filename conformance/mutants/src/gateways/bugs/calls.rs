//! Calls and their ids on their way to the provider.

use super::super::bodies::{calls, deep, on_args, result_ids, results};
use super::super::plant::{body, bugs as each, request};
use super::{ALWAYS, ANTHROPIC, CHAT, OPENAI, SOMETIMES, WITH_CALLS};
use crate::gateway::names::digest;
use crate::gateway::places::{ALL, PROXY, ShowsWhen, TRANSLATING};
use crate::planted::Planted;
use serde_json::{Map, Value, json};
use threadspec_golden::clause;
use threadspec_judge::json::text;

const CALLS: &[&str] = &[clause::GATE_CALLS];
const EXACT: &[&str] = &[clause::GATE_CALLS_EXACT];
const IDS: &[&str] = &[clause::GATE_IDS];

pub(super) fn bugs() -> Vec<Planted> {
    [arguments(), ids()].into_iter().flatten().flatten().collect()
}

fn arguments() -> Vec<Vec<Planted>> {
    let on = |change: fn(&mut Value)| body(move |_, body| on_args(body, change));
    vec![
        each("arguments-emptied", CALLS, ALL, WITH_CALLS, on(|args| *args = json!({}))),
        each(
            "texts-in-arguments-trimmed",
            CALLS,
            ALL,
            SOMETIMES,
            on(|args| {
                deep(args, &|value| {
                    if let Some(text) = value.as_str() {
                        *value = text.trim().into();
                    }
                });
            }),
        ),
        each(
            "numbers-in-arguments-as-texts",
            CALLS,
            ALL,
            SOMETIMES,
            on(|args| {
                deep(args, &|value| {
                    if value.is_number() {
                        *value = value.to_string().into();
                    }
                });
            }),
        ),
        each(
            "texts-that-are-numbers-as-numbers",
            CALLS,
            ALL,
            ALWAYS,
            on(|args| {
                deep(args, &|value| {
                    if let Some(number) = value.as_str().and_then(|text| text.parse::<i64>().ok()) {
                        *value = number.into();
                    }
                });
            }),
        ),
        each(
            "null-in-arguments-dropped",
            CALLS,
            ALL,
            ALWAYS,
            on(|args| {
                if let Some(members) = args.as_object_mut() {
                    members.retain(|_, value| !value.is_null());
                }
            }),
        ),
        each(
            "empty-lists-and-objects-in-arguments-dropped",
            CALLS,
            ALL,
            ALWAYS,
            on(|args| {
                if let Some(members) = args.as_object_mut() {
                    members.retain(|_, value| *value != json!([]) && *value != json!({}));
                }
            }),
        ),
        each(
            "texts-in-arguments-read-as-json",
            CALLS,
            ALL,
            ALWAYS,
            on(|args| {
                if let Some(members) = args.as_object_mut() {
                    for value in members.values_mut() {
                        let read = value.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
                        if let Some(read) = read.filter(|read| read.is_object() || read.is_array()) {
                            *value = read;
                        }
                    }
                }
            }),
        ),
        each(
            "members-of-prototypes-in-arguments-dropped",
            CALLS,
            ALL,
            ALWAYS,
            on(|args| {
                if let Some(members) = args.as_object_mut() {
                    members.retain(|name, _| !matches!(&**name, "__proto__" | "constructor" | "prototype"));
                }
            }),
        ),
        each(
            "member-names-in-arguments-made-snake-case",
            CALLS,
            ALL,
            ALWAYS,
            on(|args| {
                if let Some(members) = args.as_object_mut() {
                    let renamed = std::mem::take(members).into_iter();
                    *members =
                        renamed.map(|(name, value)| (name.replace([' ', '-', '.'], "_"), value)).collect::<Map<_, _>>();
                }
            }),
        ),
        each(
            "arguments-cut-to-32-kilobytes",
            CALLS,
            ALL,
            ALWAYS,
            on(|args| {
                deep(args, &|value| {
                    if let Some(text) = value.as_str().filter(|text| text.len() > 1 << 15) {
                        *value = text.chars().take(1 << 15).collect::<String>().into();
                    }
                });
            }),
        ),
        each(
            "integers-in-arguments-as-doubles",
            EXACT,
            ALL,
            ALWAYS,
            on(|args| {
                deep(args, &|value| {
                    let beyond = value.as_i64().filter(|number| number.unsigned_abs() > 1 << 53);
                    #[allow(clippy::cast_precision_loss, reason = "that is the bug")]
                    if let Some(number) = beyond {
                        *value = json!(number as f64);
                    } else if let Some(number) = value.as_u64().filter(|number| *number > 1 << 53) {
                        *value = json!(number as f64);
                    }
                });
            }),
        ),
        each(
            "names-in-calls-made-lower-case",
            CALLS,
            ALL,
            ALWAYS,
            body(|_, body| {
                for call in calls(body) {
                    *call.name = text(call.name).to_lowercase().into();
                }
            }),
        ),
        each(
            "third-call-with-the-arguments-of-the-second",
            CALLS,
            ALL,
            &[ShowsWhen::Always, ShowsWhen::SecondRequest],
            body(|_, body| {
                let mut calls = calls(body);
                if let [_, second, third, ..] = &mut calls[..] {
                    *third.args = second.args.clone();
                }
            }),
        ),
        each(
            "third-parallel-call-and-its-result-lost",
            CALLS,
            TRANSLATING,
            ALWAYS,
            request(|_, request| {
                let mut lost = Vec::new();
                for message in request.messages.iter_mut().filter(|message| message.calls.len() >= 3) {
                    lost.push(message.calls.remove(2).id);
                }
                request.messages.retain(|message| message.call_id.as_ref().is_none_or(|id| !lost.contains(id)));
            }),
        ),
        each(
            "arguments-of-calls-beside-a-text-emptied",
            CALLS,
            TRANSLATING,
            ALWAYS,
            request(|_, request| {
                for message in request.messages.iter_mut().filter(|message| !message.content.is_empty()) {
                    for call in &mut message.calls {
                        (call.args, call.raw) = (json!({}), None);
                    }
                }
            }),
        ),
    ]
}

/// Changes every id, of calls and of their results, the same way.
fn on_ids(body: &mut Value, change: impl Fn(&str) -> String) {
    calls(body).into_iter().for_each(|call| *call.id = change(text(call.id)).into());
    result_ids(body).into_iter().for_each(|id| *id = change(text(id)).into());
}

fn ids() -> Vec<Vec<Planted>> {
    let on = |change: fn(&str) -> String| body(move |_, body| on_ids(body, change));
    vec![
        each(
            "odd-characters-of-ids-made-underscores",
            IDS,
            TRANSLATING.from(OPENAI),
            ALWAYS,
            Box::new(|gateway, _| {
                gateway.seams.asked = Some(std::sync::Arc::new(|_, request| {
                    let Ok(mut asked) = serde_json::from_slice::<Value>(&request.body) else { return };
                    on_ids(&mut asked, |id| {
                        id.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect()
                    });
                    request.body = asked.to_string().into_bytes();
                }));
            }),
        ),
        each("ids-made-lower-case", IDS, ALL, ALWAYS, on(str::to_lowercase)),
        each(
            "ids-cut-to-their-first-sixteen-characters",
            IDS,
            PROXY.from(ANTHROPIC),
            ALWAYS,
            on(|id| id.chars().take(16).collect()),
        ),
        each(
            "ids-cut-to-their-last-sixteen-characters",
            IDS,
            PROXY.from(ANTHROPIC),
            ALWAYS,
            on(|id| {
                let length = id.chars().count();
                id.chars().skip(length.saturating_sub(16)).collect()
            }),
        ),
        each(
            "ids-made-anew-in-each-request",
            IDS,
            ALL,
            ALWAYS,
            body(|course, body| {
                let ask = course.ask;
                on_ids(body, |id| format!("call_{}", &digest(&format!("{id} {ask}"))[..20]));
            }),
        ),
        each(
            "ids-of-digits-numbered-anew-on-the-way",
            IDS,
            ALL,
            ALWAYS,
            on(|id| if id.chars().all(|c| c.is_ascii_digit()) { format!("n{}", id.len()) } else { id.to_owned() }),
        ),
        each(
            "results-in-their-place-with-the-ids-of-the-group",
            IDS,
            ALL,
            &[ShowsWhen::Always, ShowsWhen::ThreeCalls],
            body(|_, body| {
                // Results are taken to come in the order of their calls.
                let ids: Vec<Value> = calls(body).into_iter().map(|call| call.id.clone()).collect();
                let mut results = results(body);
                if results.len() == ids.len() {
                    results.iter_mut().zip(ids).for_each(|(result, id)| *result.id = id);
                }
            }),
        ),
        each(
            "ids-that-come-again-lose-their-results",
            &[clause::GATE_RESULT],
            ALL.to(CHAT),
            ALWAYS,
            body(|_, body| {
                let mut known = std::collections::HashMap::<String, Value>::new();
                for result in results(body) {
                    let first = known.entry(text(result.id).to_owned()).or_insert_with(|| result.content.clone());
                    *result.content = first.clone();
                }
            }),
        ),
    ]
}
