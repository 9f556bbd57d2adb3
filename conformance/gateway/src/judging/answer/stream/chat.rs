//! SSE-CHAT-ORDER, -INDEX, -REPEAT, -END.

use super::{Excuses, FormEvent, FormFaults};
use serde_json::Value;
use std::collections::HashMap;
use threadspec_judge::json::list;

/// The highest index that openai-node takes. A model that makes more calls needs higher ones.
const HIGHEST: u64 = 127;

/// A call of which fragments have come.
#[derive(Default)]
struct FragmentedCall {
    id: String,
    name: String,
}

pub(super) fn judge(events: &[FormEvent<'_>], excuses: Excuses, faults: &mut FormFaults) {
    let mut calls: HashMap<u64, FragmentedCall> = HashMap::new();
    let (mut has_role, mut has_finish, mut is_done, mut has_said) = (false, false, false, false);
    for event in events {
        let data = &event.data;
        if is_done {
            faults.must("an event is behind `[DONE]`");
            break;
        }
        if data == "[DONE]" {
            is_done = true;
            continue;
        }
        if !data["error"].is_null() {
            continue;
        }
        if !data["choices"].is_array() {
            faults.must(format!("a chunk has no list `choices`: {}", crate::shown::json(data)));
            continue;
        }
        for choice in list(&data["choices"]).iter().filter(|choice| choice["index"].as_u64().unwrap_or_default() == 0) {
            let delta = &choice["delta"];
            has_role |= delta["role"].is_string();
            let says = says_something(delta);
            if says && has_finish {
                faults.must("a fragment is behind the `finish_reason`");
            }
            if says && !has_said && !has_role {
                faults.must("the first fragment has no `role`");
            }
            has_said |= says;
            for call in list(&delta["tool_calls"]) {
                fragment(call, &mut calls, excuses, faults);
            }
            if choice["finish_reason"].is_string() {
                if has_finish {
                    faults.must("it has two `finish_reason`s");
                }
                has_finish = true;
            }
        }
    }
    if !is_done {
        faults.must("it ends without `[DONE]`");
    }
    let has_other_name = excuses.is_cut && is_done;
    if !has_finish && !has_other_name {
        faults.must("it has no `finish_reason`");
    }
}

fn says_something(delta: &Value) -> bool {
    delta["content"].as_str().is_some_and(|text| !text.is_empty()) || !list(&delta["tool_calls"]).is_empty()
}

fn fragment(call: &Value, calls: &mut HashMap<u64, FragmentedCall>, excuses: Excuses, faults: &mut FormFaults) {
    let is_usual = |index: &u64| *index <= HIGHEST.max(excuses.calls.saturating_sub(1));
    let Some(index) = call["index"].as_u64().filter(is_usual) else {
        return faults.must(format!("a fragment of a call has the index {}", call["index"]));
    };
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (id, name) = (text(&call["id"]), text(&call["function"]["name"]));
    let Some(known) = calls.get(&index) else {
        if id.is_empty() && !excuses.lacks_ids {
            faults.must(format!("the first fragment of call {index} has no `id`"));
        }
        if name.is_empty() && !excuses.lacks_names {
            faults.must(format!("the first fragment of call {index} has no `name`"));
        }
        if !call["type"].is_string() {
            faults.must(format!("the first fragment of call {index} has no `type`"));
        }
        calls.insert(index, FragmentedCall { id, name });
        return;
    };
    if !id.is_empty() && id != known.id {
        faults.must(format!("the index {index} starts twice: with the id `{}`, and with `{id}`", known.id));
    } else if !id.is_empty() {
        faults.must(format!("the id `{id}` of call {index} comes again in a later fragment, where SDKs append it"));
    } else if !name.is_empty() && !known.name.is_empty() {
        faults.must(format!("the name `{name}` of call {index} comes again in a later fragment, where SDKs append it"));
    }
}
