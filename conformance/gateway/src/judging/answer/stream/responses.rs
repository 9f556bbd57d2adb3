//! SSE-RESP-ORDER, -FIELDS.

use super::{FormEvent, FormFaults};
use serde_json::Value;
use std::collections::HashMap;
use threadspec_judge::json::list;

#[derive(Default)]
struct ResponseCourse {
    has_begun: bool,
    has_ended: bool,
    /// The items by their index.
    items: HashMap<u64, ItemState>,
    number: Option<u64>,
}

#[derive(Default)]
struct ItemState {
    kind: String,
    parts: u64,
    is_done: bool,
}

pub(super) fn judge(events: &[FormEvent<'_>], faults: &mut FormFaults) {
    let mut response = ResponseCourse::default();
    for event in events {
        let Some(kind) = event.data["type"].as_str() else {
            faults.must(format!("an event has no `type`: {}", crate::shown::json(&event.data)));
            continue;
        };
        if event.name.is_some_and(|name| name != kind) {
            faults.must(format!("an event is called `{}`, and its data `{kind}`", event.name.unwrap_or_default()));
        }
        response.take(kind, &event.data, faults);
    }
    if !response.has_ended {
        faults.must("it ends without `response.completed`, `response.incomplete` or `response.failed`");
    }
}

impl ResponseCourse {
    fn take(&mut self, kind: &str, data: &Value, faults: &mut FormFaults) {
        if kind == "error" {
            return;
        }
        match data["sequence_number"].as_u64() {
            None => faults.should(format!("`{kind}` has no `sequence_number`")),
            Some(number) if self.number.is_some_and(|before| number <= before) => {
                faults.should(format!(
                    "`{kind}` has the `sequence_number` {number} behind {}",
                    self.number.unwrap_or_default()
                ));
            }
            Some(number) => self.number = Some(number),
        }
        if self.has_ended {
            return faults.must(format!("`{kind}` is behind the end"));
        }
        if kind == "response.created" {
            if self.has_begun {
                faults.must("`response.created` comes twice");
            }
            self.has_begun = true;
            return;
        }
        if !self.has_begun {
            faults.must(format!("`{kind}` is before `response.created`"));
            self.has_begun = true;
        }
        match kind {
            "response.in_progress" | "response.queued" => {}
            "response.completed" | "response.incomplete" | "response.failed" => {
                self.end(kind, &data["response"], faults);
            }
            "response.output_item.added" => self.added(data, faults),
            _ if kind.starts_with("response.") => self.inside(kind, data, faults),
            _ => {}
        }
    }

    fn added(&mut self, data: &Value, faults: &mut FormFaults) {
        let Some(index) = data["output_index"].as_u64() else {
            return faults.must("`response.output_item.added` has no `output_index`");
        };
        let kind = data["item"]["type"].as_str().unwrap_or_default().to_owned();
        if self.items.contains_key(&index) {
            faults.must(format!("the item with the index {index} starts twice"));
        } else if index != self.items.len() as u64 {
            faults.must(format!("the item with the index {index} is number {}", self.items.len()));
        }
        self.items.insert(index, ItemState { kind, ..ItemState::default() });
    }

    /// An event of an item.
    fn inside(&mut self, kind: &str, data: &Value, faults: &mut FormFaults) {
        let Some(index) = data["output_index"].as_u64() else { return };
        let Some(item) = self.items.get_mut(&index) else {
            return faults.must(format!("`{kind}` is about item {index}, which has not been added"));
        };
        if item.is_done {
            return faults.must(format!("`{kind}` is about item {index}, which is done"));
        }
        match kind {
            "response.output_item.done" => item.is_done = true,
            "response.content_part.added" => item.parts += 1,
            "response.output_text.delta" | "response.refusal.delta" => {
                if item.kind != "message" {
                    faults.must(format!("`{kind}` is about item {index}, which is a `{}`", item.kind));
                } else if item.parts == 0 {
                    faults.must(format!("`{kind}` is before the part that it belongs to"));
                }
            }
            "response.function_call_arguments.delta" if item.kind != "function_call" => {
                faults.must(format!("`{kind}` is about item {index}, which is a `{}`", item.kind));
            }
            _ => {}
        }
    }

    fn end(&mut self, kind: &str, response: &Value, faults: &mut FormFaults) {
        self.has_ended = true;
        if kind == "response.failed" {
            return;
        }
        let mut open: Vec<u64> = self.items.iter().filter(|(_, item)| !item.is_done).map(|(index, _)| *index).collect();
        open.sort_unstable();
        if let Some(index) = open.first() {
            faults.must(format!("`{kind}` is before item {index} is done"));
        }
        let whole = list(&response["output"]).len();
        if whole != self.items.len() {
            faults.must(format!("`{kind}` has {whole} items, and {} were streamed", self.items.len()));
        }
    }
}
