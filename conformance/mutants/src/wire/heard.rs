//! What the model said: parts, put together from the events of a stream or taken from a plain body.

use super::SseLine;
use serde_json::{Map, Value, json};
use threadspec::oracle::Api;
use threadspec::surrogates::unmark_surrogates;
use threadspec_judge::json::{list, text};
use threadspec_judge::universal::value;

/// An answer, or the part of it that came.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct HeardAnswer {
    /// Its id.
    pub(crate) id: String,
    /// `{"type":"text","text"}`, `{"type":"refusal","text"}`, `{"type":"call","id","name","arguments","closed"}` with the arguments as JSON text,
    /// `{"type":"opaque","raw"}` with what only the provider reads, and what else came, as it came.
    pub(crate) parts: Vec<Value>,
    /// Why the model stopped.
    pub(crate) stop: String,
    /// Whether the answer ended as its API ends it.
    pub(crate) is_ended: bool,
    /// An error that stood in it.
    pub(crate) error: Option<String>,
}

impl HeardAnswer {
    /// Of this type.
    pub(crate) fn parts_of<'a>(&'a mut self, kind: &'a str) -> impl Iterator<Item = &'a mut Value> {
        self.parts.iter_mut().filter(move |part| part["type"] == kind)
    }

    fn text_of(&self, kind: &str) -> String {
        self.parts.iter().filter(|part| part["type"] == kind).map(|part| text(&part["text"])).collect()
    }

    /// Returns whether the model ran out of tokens.
    pub(crate) fn is_cut_off(&self) -> bool {
        matches!(&*self.stop, "length" | "max_tokens" | "max_output_tokens" | "model_context_window_exceeded")
    }

    /// The answer as a turn of a script, but for calls that did not come whole.
    pub(crate) fn turn(&self) -> Value {
        let content = self.text_of("text");
        let content = if content.is_empty() { self.text_of("refusal") } else { content };
        let calls: Vec<Value> = self.calls().filter_map(whole_call).collect();
        let opaque: Vec<&Value> =
            self.parts.iter().filter(|part| part["type"] == "opaque").map(|part| &part["raw"]).collect();
        let items: Vec<Value> = self
            .calls()
            .filter(|call| call["item"].is_string())
            .map(|call| json!([call["id"], call["item"]]))
            .collect();
        json!({"content": content, "tool_calls": calls, "wire": {"opaque": opaque, "id": self.id, "stop": self.stop, "items": items}})
    }

    pub(crate) fn calls(&self) -> impl Iterator<Item = &Value> {
        self.parts.iter().filter(|part| part["type"] == "call")
    }

    /// What is wrong with an answer that ended: a call that cannot be run.
    pub(crate) fn fault(&self) -> Option<String> {
        let calls = self.calls().count();
        if self.is_cut_off() && calls > 0 {
            return Some(format!("the model was cut off in the middle of a call ({})", self.stop));
        }
        (self.calls().filter_map(whole_call).count() < calls)
            .then(|| "the arguments of a call are not the JSON text of an object".to_owned())
    }
}

/// A call as a turn of a script has it, if it came whole.
pub(crate) fn whole_call(part: &Value) -> Option<Value> {
    let args = arguments(text(&part["arguments"])).filter(|_| part["closed"] == true)?;
    Some(json!({"id": part["id"], "name": part["name"], "args": args}))
}

/// The object whose JSON text this is; nothing at all is an empty one.
pub(crate) fn arguments(json: &str) -> Option<Value> {
    let json = if json.trim().is_empty() { "{}" } else { json };
    value::read(&unmark_surrogates(json)).ok().filter(Value::is_object)
}

/// A call whose arguments came as a value.
fn call(id: &Value, name: &Value, arguments: impl Into<Value>) -> Value {
    json!({"type": "call", "id": id, "name": name, "arguments": arguments.into(), "closed": true})
}

/// A plain body.
pub(crate) fn plain(api: Api, body: &[u8]) -> HeardAnswer {
    let unreadable = |error: String| HeardAnswer { error: Some(error), ..HeardAnswer::default() };
    let body = match str::from_utf8(body).map(value::read) {
        Ok(Ok(body)) => body,
        Ok(Err(error)) => return unreadable(error.to_string()),
        Err(error) => return unreadable(error.to_string()),
    };
    let mut heard = HeardAnswer { id: text(&body["id"]).to_owned(), is_ended: true, ..HeardAnswer::default() };
    match api {
        Api::OpenAiChat => {
            let choice = &body["choices"][0];
            let message = &choice["message"];
            heard.parts.push(json!({"type": "text", "text": text(&message["content"])}));
            heard.parts.push(json!({"type": "refusal", "text": text(&message["refusal"])}));
            let calls = list(&message["tool_calls"]).iter();
            heard.parts.extend(
                calls.map(|one| call(&one["id"], &one["function"]["name"], one["function"]["arguments"].clone())),
            );
            text(&choice["finish_reason"]).clone_into(&mut heard.stop);
        }
        Api::OpenAiResponses => response(&mut heard, &body),
        Api::Anthropic | Api::Gemini => {
            heard.parts.extend(list(&body["content"]).iter().map(|block| match text(&block["type"]) {
                "tool_use" => call(&block["id"], &block["name"], block["input"].to_string()),
                _ => anthropic_block(block),
            }));
            text(&body["stop_reason"]).clone_into(&mut heard.stop);
        }
    }
    heard
}

/// A block of Anthropic's that is no call.
fn anthropic_block(block: &Value) -> Value {
    match text(&block["type"]) {
        "thinking" | "redacted_thinking" => json!({"type": "opaque", "raw": block}),
        _ => block.clone(),
    }
}

/// A response of OpenAI's as a whole.
fn response(heard: &mut HeardAnswer, body: &Value) {
    heard.parts = list(&body["output"]).iter().flat_map(item).collect();
    if body["status"] == "incomplete" {
        text(&body["incomplete_details"]["reason"]).clone_into(&mut heard.stop);
    }
    if body["status"] == "failed" {
        heard.error = Some(text(&body["error"]["message"]).to_owned());
    }
}

/// The parts of an output item that is closed.
fn item(item: &Value) -> Vec<Value> {
    match text(&item["type"]) {
        "message" => {
            let part = |part: &Value| match text(&part["type"]) {
                "refusal" => json!({"type": "refusal", "text": part["refusal"]}),
                _ => json!({"type": "text", "text": part["text"], "item": item["id"]}),
            };
            list(&item["content"]).iter().map(part).collect()
        }
        "function_call" => {
            let mut call = call(&item["call_id"], &item["name"], item["arguments"].clone());
            call["item"] = item["id"].clone();
            vec![call]
        }
        "reasoning" if item["encrypted_content"].is_string() => {
            let mut raw = item.as_object().cloned().unwrap_or_default();
            raw.retain(|name, value| name != "status" && !value.is_null());
            vec![json!({"type": "opaque", "raw": raw})]
        }
        _ => Vec::new(),
    }
}

/// The data of events as values: `{"type":"done"}` for the end of a chat, `{"type":"garbage"}` for what is not JSON.
pub(crate) fn values(lines: Vec<SseLine>) -> Vec<Value> {
    let value = |line: SseLine| {
        if line.data == "[DONE]" {
            return json!({"type": "done"});
        }
        match value::read(&line.data) {
            Ok(mut event @ Value::Object(_)) => {
                if event["type"].is_null() && !line.name.is_empty() {
                    event["type"] = line.name.into();
                }
                event
            }
            _ => json!({"type": "garbage"}),
        }
    };
    lines.into_iter().map(value).collect()
}

/// What events say.
pub(crate) fn streamed(api: Api, events: &[Value]) -> HeardAnswer {
    let mut heard = HeardAnswer::default();
    for event in events {
        if event["type"] == "garbage" {
            heard.error = Some("an event is not JSON".to_owned());
            break;
        }
        let error = match text(&event["type"]) {
            "response.failed" => &event["response"]["error"],
            "error" if event["error"].is_null() => event,
            _ => &event["error"],
        };
        if !error.is_null() {
            heard.error = Some(text(&error["message"]).to_owned());
            break;
        }
        match api {
            Api::OpenAiChat => chat_event(&mut heard, event),
            Api::OpenAiResponses => response_event(&mut heard, event),
            Api::Anthropic | Api::Gemini => anthropic_event(&mut heard, event),
        }
    }
    if api == Api::OpenAiChat {
        // Text is said before calls, wherever its fragments stand.
        heard.parts.sort_by_key(|part| (part["type"] == "call", part["index"].as_u64()));
    }
    heard
}

/// The part of this type and index, which is made if it is not there.
fn part_at<'a>(heard: &'a mut HeardAnswer, kind: &str, index: &Value) -> &'a mut Value {
    let found = heard.parts.iter().position(|part| part["type"] == kind && part["index"] == *index);
    let at = found.unwrap_or_else(|| {
        heard.parts.push(json!({"type": kind, "index": index}));
        heard.parts.len() - 1
    });
    &mut heard.parts[at]
}

/// Puts a text behind a member.
pub(crate) fn append(part: &mut Value, member: &str, fragment: &Value) {
    part[member] = format!("{}{}", text(&part[member]), text(fragment)).into();
}

fn chat_event(heard: &mut HeardAnswer, event: &Value) {
    if event["type"] == "done" {
        heard.is_ended = !heard.stop.is_empty();
        return;
    }
    if heard.id.is_empty() {
        text(&event["id"]).clone_into(&mut heard.id);
    }
    let Some(choice) = list(&event["choices"]).first() else { return };
    let delta = &choice["delta"];
    for (member, kind) in [("content", "text"), ("refusal", "refusal")] {
        if delta[member].is_string() {
            append(part_at(heard, kind, &Value::Null), "text", &delta[member]);
        }
    }
    for fragment in list(&delta["tool_calls"]) {
        let part = part_at(heard, "call", &fragment["index"]);
        for (member, value) in [("id", &fragment["id"]), ("name", &fragment["function"]["name"])] {
            if value.is_string() && part[member].is_null() {
                part[member] = value.clone();
            }
        }
        append(part, "arguments", &fragment["function"]["arguments"]);
        part["closed"] = false.into();
    }
    if let Some(stop) = choice["finish_reason"].as_str() {
        stop.clone_into(&mut heard.stop);
        heard.parts_of("call").for_each(|part| part["closed"] = true.into());
    }
}

fn response_event(heard: &mut HeardAnswer, event: &Value) {
    let index = &event["output_index"];
    match text(&event["type"]) {
        "response.created" => text(&event["response"]["id"]).clone_into(&mut heard.id),
        "response.output_text.delta" => append(part_at(heard, "text", index), "text", &event["delta"]),
        "response.refusal.delta" => append(part_at(heard, "refusal", index), "text", &event["delta"]),
        "response.output_item.added" if event["item"]["type"] == "function_call" => {
            let part = part_at(heard, "call", index);
            (part["id"], part["name"]) = (event["item"]["call_id"].clone(), event["item"]["name"].clone());
            part["item"] = event["item"]["id"].clone();
            part["closed"] = false.into();
        }
        "response.function_call_arguments.delta" => append(part_at(heard, "call", index), "arguments", &event["delta"]),
        "response.output_item.done" => match text(&event["item"]["type"]) {
            "function_call" => part_at(heard, "call", index)["closed"] = true.into(),
            "message" => heard
                .parts
                .iter_mut()
                .filter(|part| part["index"] == *index)
                .for_each(|part| part["item"] = event["item"]["id"].clone()),
            _ => heard.parts.extend(item(&event["item"])),
        },
        "response.completed" => heard.is_ended = true,
        "response.incomplete" => {
            heard.is_ended = true;
            text(&event["response"]["incomplete_details"]["reason"]).clone_into(&mut heard.stop);
        }
        _ => {}
    }
}

fn anthropic_event(heard: &mut HeardAnswer, event: &Value) {
    let delta = &event["delta"];
    let at = |heard: &HeardAnswer| heard.parts.iter().rposition(|part| part["index"] == event["index"]);
    match text(&event["type"]) {
        "message_start" => text(&event["message"]["id"]).clone_into(&mut heard.id),
        "content_block_start" => {
            let mut part = match text(&event["content_block"]["type"]) {
                "tool_use" => {
                    let block = &event["content_block"];
                    json!({"type": "call", "id": block["id"], "name": block["name"], "arguments": "", "closed": false})
                }
                _ => anthropic_block(&event["content_block"]),
            };
            part["index"] = event["index"].clone();
            heard.parts.push(part);
        }
        "content_block_delta" => {
            let Some(part) = at(heard).map(|at| &mut heard.parts[at]) else { return };
            match text(&delta["type"]) {
                "text_delta" => append(part, "text", &delta["text"]),
                "input_json_delta" => append(part, "arguments", &delta["partial_json"]),
                "thinking_delta" => append(&mut part["raw"], "thinking", &delta["thinking"]),
                "signature_delta" => part["raw"]["signature"] = delta["signature"].clone(),
                _ => {}
            }
        }
        "content_block_stop" => {
            if let Some(at) = at(heard) {
                heard.parts[at]["closed"] = true.into();
            }
        }
        "message_delta" => text(&delta["stop_reason"]).clone_into(&mut heard.stop),
        "message_stop" => heard.is_ended = true,
        _ => {}
    }
}

/// The message of an error body.
pub(crate) fn error_of(body: &[u8]) -> String {
    let body: Map<String, Value> = serde_json::from_slice(body).unwrap_or_default();
    body.get("error").map(|error| text(&error["message"]).to_owned()).unwrap_or_default()
}
