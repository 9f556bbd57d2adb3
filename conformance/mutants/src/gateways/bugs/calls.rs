//! Calls and their ids on their way to the provider.

use crate::gateways::prelude::*;

pub(super) fn bugs() -> Vec<Planted> {
    [arguments(), ids()].into_iter().flatten().flatten().collect()
}

fn arguments() -> Vec<Vec<Planted>> {
    vec![
        CALLS.when(WITH_CALLS).args("arguments-emptied", |args| *args = json!({})),
        CALLS.when(SOMETIMES).inside_args("texts-in-arguments-trimmed", |value| {
            if let Some(text) = value.as_str() {
                *value = text.trim().into();
            }
        }),
        CALLS.when(SOMETIMES).inside_args("numbers-in-arguments-as-texts", |value| {
            if value.is_number() {
                *value = value.to_string().into();
            }
        }),
        CALLS.inside_args("texts-that-are-numbers-as-numbers", |value| {
            if let Some(number) = value.as_str().and_then(|text| text.parse::<i64>().ok()) {
                *value = number.into();
            }
        }),
        CALLS.members_of_args("null-in-arguments-dropped", |_, value| !value.is_null()),
        CALLS.members_of_args("empty-lists-and-objects-in-arguments-dropped", |_, value| {
            *value != json!([]) && *value != json!({})
        }),
        CALLS.args("texts-in-arguments-read-as-json", |args| {
            if let Some(members) = args.as_object_mut() {
                for value in members.values_mut() {
                    let read = value.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
                    if let Some(read) = read.filter(|read| read.is_object() || read.is_array()) {
                        *value = read;
                    }
                }
            }
        }),
        CALLS.members_of_args("members-of-prototypes-in-arguments-dropped", |name, _| {
            !matches!(&**name, "__proto__" | "constructor" | "prototype")
        }),
        CALLS.args("member-names-in-arguments-made-snake-case", |args| {
            if let Some(members) = args.as_object_mut() {
                let renamed = std::mem::take(members).into_iter();
                *members =
                    renamed.map(|(name, value)| (name.replace([' ', '-', '.'], "_"), value)).collect::<Map<_, _>>();
            }
        }),
        CALLS.inside_args("arguments-cut-to-32-kilobytes", |value| {
            if let Some(text) = value.as_str().filter(|text| text.len() > 1 << 15) {
                *value = text.chars().take(1 << 15).collect::<String>().into();
            }
        }),
        EXACT.inside_args("integers-in-arguments-as-doubles", |value| {
            let beyond = value.as_i64().filter(|number| number.unsigned_abs() > 1 << 53);
            #[allow(clippy::cast_precision_loss, reason = "that is the bug")]
            if let Some(number) = beyond {
                *value = json!(number as f64);
            } else if let Some(number) = value.as_u64().filter(|number| *number > 1 << 53) {
                *value = json!(number as f64);
            }
        }),
        CALLS.bodies("names-in-calls-made-lower-case", |body| {
            for call in calls(body) {
                *call.name = text(call.name).to_lowercase().into();
            }
        }),
        CALLS.when(&[ShowsWhen::Always, ShowsWhen::SecondRequest]).bodies(
            "third-call-with-the-arguments-of-the-second",
            |body| {
                let mut calls = calls(body);
                if let [_, second, third, ..] = &mut calls[..] {
                    *third.args = second.args.clone();
                }
            },
        ),
        CALLS.at(TRANSLATING).request("third-parallel-call-and-its-result-lost", |_, request| {
            let mut lost = Vec::new();
            for message in request.messages.iter_mut().filter(|message| message.calls.len() >= 3) {
                lost.push(message.calls.remove(2).id);
            }
            request.messages.retain(|message| message.call_id.as_ref().is_none_or(|id| !lost.contains(id)));
        }),
        CALLS.at(TRANSLATING).request("arguments-of-calls-beside-a-text-emptied", |_, request| {
            for message in request.messages.iter_mut().filter(|message| !message.content.is_empty()) {
                for call in &mut message.calls {
                    (call.args, call.raw) = (json!({}), None);
                }
            }
        }),
    ]
}

fn ids() -> Vec<Vec<Planted>> {
    vec![
        IDS.at(TRANSLATING.from(OPENAI)).asked("odd-characters-of-ids-made-underscores", |_, request| {
            let Ok(mut asked) = serde_json::from_slice::<Value>(&request.body) else { return };
            on_ids(&mut asked, |id| {
                id.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect()
            });
            request.body = asked.to_string().into_bytes();
        }),
        IDS.ids("ids-made-lower-case", str::to_lowercase),
        IDS.at(PROXY.from(ANTHROPIC))
            .ids("ids-cut-to-their-first-sixteen-characters", |id| id.chars().take(16).collect()),
        IDS.at(PROXY.from(ANTHROPIC)).ids("ids-cut-to-their-last-sixteen-characters", |id| {
            let length = id.chars().count();
            id.chars().skip(length.saturating_sub(16)).collect()
        }),
        IDS.body("ids-made-anew-in-each-request", |course, body| {
            let ask = course.ask;
            on_ids(body, |id| format!("call_{}", &digest(&format!("{id} {ask}"))[..20]));
        }),
        IDS.ids("ids-of-digits-numbered-anew-on-the-way", |id| {
            if id.chars().all(|c| c.is_ascii_digit()) { format!("n{}", id.len()) } else { id.to_owned() }
        }),
        IDS.when(&[ShowsWhen::Always, ShowsWhen::ThreeCalls]).bodies(
            "results-in-their-place-with-the-ids-of-the-group",
            |body| {
                // Results are taken to come in the order of their calls.
                let ids: Vec<Value> = calls(body).into_iter().map(|call| call.id.clone()).collect();
                let mut results = results(body);
                if results.len() == ids.len() {
                    results.iter_mut().zip(ids).for_each(|(result, id)| *result.id = id);
                }
            },
        ),
        RESULT.at(ALL.to(CHAT)).bodies("ids-that-come-again-lose-their-results", |body| {
            let mut known = std::collections::HashMap::<String, Value>::new();
            for result in results(body) {
                let first = known.entry(text(result.id).to_owned()).or_insert_with(|| result.content.clone());
                *result.content = first.clone();
            }
        }),
    ]
}
