//! Judges GATE-STREAM: what the client gets as a stream is one of its API, as the official SDKs need it.

#[cfg(test)]
mod tests;

use super::end::finish_of;
use super::{Answer, HeardStream, is_done};
use serde_json::Value;
use std::collections::HashMap;
use threadspec::oracle::Api;
use threadspec_apis::{AnswerEnd, Finish};
use threadspec_golden::clause;
use threadspec_judge::json::list;
use threadspec_judge::universal::value;
use threadspec_provider::{Said, WireLevel};

/// A fault in the form of a stream.
#[derive(Debug, PartialEq)]
struct FormFault {
    level: WireLevel,
    what: String,
}

/// An event, with its data read.
struct FormEvent<'a> {
    name: Option<&'a str>,
    data: Value,
}

/// The faults of a stream so far.
#[derive(Debug, Default)]
struct FormFaults(Vec<FormFault>);

impl FormFaults {
    fn must(&mut self, what: impl Into<String>) {
        self.0.push(FormFault { level: WireLevel::Must, what: what.into() });
    }

    fn should(&mut self, what: impl Into<String>) {
        self.0.push(FormFault { level: WireLevel::Should, what: what.into() });
    }
}

/// Judges the stream of an answer that was sent to its end: its first fault of each level.
pub(super) fn judge(answer: &mut Answer<'_, '_>, said: &Said, stream: &HeardStream) {
    let faults = faults(answer.api, stream, Excuses::of(said));
    for level in [WireLevel::Must, WireLevel::Should] {
        if let Some(fault) = faults.iter().find(|fault| fault.level == level) {
            answer.add(clause::GATE_STREAM, level, format!("the client's stream: {}", fault.what), Some(said), "");
        }
    }
}

/// Oddities of a stream that the model's own answer excuses.
#[derive(Clone, Copy, Debug, Default)]
struct Excuses {
    /// The limit ended the answer: the lack of a reason has another name.
    is_cut: bool,
    /// A call has no id.
    lacks_ids: bool,
    /// A call has no name.
    lacks_names: bool,
    /// How many calls there are.
    calls: u64,
}

impl Excuses {
    fn of(said: &Said) -> Self {
        Self {
            is_cut: finish_of(said) == Finish::Length,
            lacks_ids: said.calls.iter().any(|call| call.id.is_empty()),
            lacks_names: said.calls.iter().any(|call| call.name.is_empty()),
            calls: said.calls.len() as u64,
        }
    }
}

fn faults(api: Api, stream: &HeardStream, excuses: Excuses) -> Vec<FormFault> {
    let mut faults = FormFaults::default();
    let mut events = Vec::new();
    for (index, event) in stream.events.iter().enumerate() {
        if is_done(event) {
            if api == Api::OpenAiChat {
                events.push(FormEvent { name: None, data: Value::from("[DONE]") });
                continue;
            }
            // OpenAI's SDKs stop reading there, whatever the API; Anthropic's read no event without a name.
            if index + 1 == stream.events.len() {
                continue;
            }
        }
        match value::read(&event.data) {
            Ok(data) => events.push(FormEvent { name: event.name.as_deref(), data }),
            Err(why) => faults.must(format!("an event is no JSON ({why}): {}", crate::finding::quoted(&event.data))),
        }
    }
    if stream.has_rest {
        faults.must("the last event has no end, so that readers drop it");
    }
    match api {
        Api::OpenAiChat => judge_chat(&events, excuses, &mut faults),
        Api::OpenAiResponses => judge_responses(&events, &mut faults),
        Api::Anthropic => judge_anthropic(&events, excuses, &mut faults),
        Api::Gemini => {}
    }
    if let AnswerEnd::Failed(error) = &stream.read.end {
        let what = format!("it holds the error {}, and the model answered", crate::finding::quoted(&error.message));
        faults.0.insert(0, FormFault { level: WireLevel::Must, what });
    }
    if let Some(why) = &stream.error {
        faults.must(why);
    }
    faults.0
}

// SSE-CHAT-ORDER, -INDEX, -REPEAT, -END.

/// The highest index that openai-node takes. A model that makes more calls needs higher ones.
const HIGHEST: u64 = 127;

/// A call of which fragments have come.
#[derive(Default)]
struct FragmentedCall {
    id: String,
    name: String,
}

fn judge_chat(events: &[FormEvent<'_>], excuses: Excuses, faults: &mut FormFaults) {
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
            faults.must(format!("a chunk has no list `choices`: {}", crate::finding::json(data)));
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

// SSE-RESP-ORDER, -FIELDS.

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

fn judge_responses(events: &[FormEvent<'_>], faults: &mut FormFaults) {
    let mut response = ResponseCourse::default();
    for event in events {
        let Some(kind) = event.data["type"].as_str() else {
            faults.must(format!("an event has no `type`: {}", crate::finding::json(&event.data)));
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

// SSE-ANT-ORDER, -TOOL, -END.

/// The events that the SDKs know.
const KNOWN: &[&str] = &[
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
    "ping",
    "error",
];

#[derive(Default)]
struct MessageCourse {
    excuses: Excuses,
    has_begun: bool,
    has_reason: bool,
    has_ended: bool,
    /// How many blocks have started.
    blocks: u64,
    /// The block that is open, and its type.
    open: Option<(u64, String)>,
}

fn judge_anthropic(events: &[FormEvent<'_>], excuses: Excuses, faults: &mut FormFaults) {
    let mut message = MessageCourse { excuses, ..MessageCourse::default() };
    for event in events {
        let kind = event.data["type"].as_str().unwrap_or_default();
        match event.name {
            None => faults.must(format!("an event `{kind}` has no line `event:`, so that SDKs drop it")),
            Some(name) if name != kind => faults.must(format!("an event is called `{name}`, and its data `{kind}`")),
            Some(name) if !KNOWN.contains(&name) => {
                faults.should(format!("there is an event `{name}`, which the API does not have"));
            }
            Some(_) => {}
        }
        message.take(kind, &event.data, faults);
    }
    if let Some((index, _)) = message.open {
        faults.must(format!("block {index} does not stop"));
    }
    if !message.has_reason {
        faults.must("it has no `message_delta` with a `stop_reason`");
    }
    if !message.has_ended {
        faults.must("it ends without `message_stop`");
    }
}

impl MessageCourse {
    fn take(&mut self, kind: &str, data: &Value, faults: &mut FormFaults) {
        if matches!(kind, "ping" | "error") || !KNOWN.contains(&kind) {
            return;
        }
        if self.has_ended {
            return faults.must(format!("`{kind}` is behind `message_stop`"));
        }
        if kind == "message_start" {
            if self.has_begun {
                faults.must("`message_start` comes twice");
            }
            self.has_begun = true;
            if !data["message"]["usage"].is_object() {
                faults.must("`message_start` has no `usage`, which SDKs read");
            }
            return;
        }
        if !self.has_begun {
            faults.must(format!("`{kind}` is before `message_start`"));
            self.has_begun = true;
        }
        let index = data["index"].as_u64();
        match (kind, index) {
            ("message_delta", _) => {
                self.has_reason |= data["delta"]["stop_reason"].is_string();
                if let Some((open, _)) = &self.open {
                    faults.must(format!("`message_delta` is before block {open} stops"));
                }
            }
            ("message_stop", _) => self.has_ended = true,
            (_, None) => faults.must(format!("`{kind}` has no `index`")),
            ("content_block_start", Some(index)) => self.start(index, &data["content_block"], faults),
            ("content_block_delta", Some(index)) => self.delta(index, &data["delta"], faults),
            (_, Some(index)) => match self.open.take() {
                Some((open, _)) if open == index => {}
                other => {
                    faults.must(format!("block {index} stops, and is not open"));
                    self.open = other;
                }
            },
        }
    }

    fn start(&mut self, index: u64, block: &Value, faults: &mut FormFaults) {
        let kind = block["type"].as_str().unwrap_or_default();
        if let Some((open, _)) = &self.open {
            faults.must(if *open == index {
                format!("block {index} starts twice")
            } else {
                format!("block {index} starts before block {open} stops")
            });
        } else if index < self.blocks {
            faults.must(format!("block {index} starts twice"));
        } else if index > self.blocks {
            faults.must(format!("block {index} starts, and is number {}", self.blocks));
        }
        if kind == "tool_use" {
            for (name, is_excused) in [("id", self.excuses.lacks_ids), ("name", self.excuses.lacks_names)] {
                if !is_excused && block[name].as_str().unwrap_or_default().is_empty() {
                    faults.must(format!("block {index}, a call, has no `{name}`"));
                }
            }
        }
        self.blocks = self.blocks.max(index + 1);
        self.open = Some((index, kind.to_owned()));
    }

    fn delta(&mut self, index: u64, delta: &Value, faults: &mut FormFaults) {
        let kind = delta["type"].as_str().unwrap_or_default();
        match &self.open {
            Some((open, _)) if *open != index => {
                faults.must(format!("a fragment of block {index} comes while block {open} is open"));
            }
            None => faults.must(format!("a fragment of block {index} comes, and none is open")),
            Some((_, block)) => {
                let fits = match kind {
                    "text_delta" | "citations_delta" => block == "text",
                    "input_json_delta" => block.ends_with("tool_use"),
                    "thinking_delta" | "signature_delta" => block == "thinking",
                    _ => true,
                };
                if !fits {
                    faults.must(format!("block {index} is a `{block}`, and has a fragment `{kind}`"));
                }
            }
        }
    }
}
