//! How messages are written: roles, parts, ids, and a history that the provider keeps.

use crate::over_wire::prelude::*;
use crate::wire::stored::{from_the_answer_before, in_a_conversation};

/// An id that Anthropic's pattern takes, a different one for each.
fn plain_id(id: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !id.is_empty() && id.chars().all(is_plain) {
        return id.to_owned();
    }
    let letters: String = id.bytes().map(|byte| format!("{byte:02x}")).collect();
    format!("toolu_{letters}")
}

/// An id of at most 40 characters, a different one for each.
fn short_id(id: &str) -> String {
    if id.chars().count() <= 40 {
        return id.to_owned();
    }
    let sum = id.bytes().fold(7_u64, |sum, byte| sum.wrapping_mul(1_099_511_628_211).wrapping_add(u64::from(byte)));
    format!("{}{sum:016x}", cut(id, 20))
}

/// A text as the only part of a list.
fn part(kind: &str, content: &Value) -> Value {
    json!([{"type": kind, "text": content}])
}

/// Joins the neighbouring messages of people.
fn join_humans(messages: &mut Vec<Value>, between: &str) {
    let is_human = |message: &Value| message["type"] == "human";
    let groups = messages.chunk_by(|one, other| is_human(one) && is_human(other));
    let joined = groups.map(|group| {
        let texts: Vec<&str> = group.iter().map(|message| text(&message["content"])).collect();
        if group.len() > 1 { json!({"type": "human", "content": texts.join(between)}) } else { group[0].clone() }
    });
    *messages = joined.collect();
}

/// The system messages of a body as one text, taken out of its items.
fn take_systems(body: &mut Value) -> Option<String> {
    let taken: Vec<Value> = history(body).extract_if(.., |item| item["role"] == "system").collect();
    let texts: Vec<&str> = taken.iter().map(|item| text(&item["content"])).collect();
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}

/// Adds the ids with which the items of answers came.
fn with_item_ids(run: &RunState, body: &mut Value) {
    body["store"] = true.into();
    let mut known: Vec<(Value, Value)> = run
        .list
        .iter()
        .flat_map(|message| list(&message["wire"]["items"]).iter().map(|item| (item[0].clone(), item[1].clone())))
        .collect();
    for item in history(body).iter_mut().filter(|item| item["type"] == "function_call") {
        if let Some(at) = known.iter().position(|(call, _)| *call == item["call_id"]) {
            // A call that the model said twice has an item each time.
            item["id"] = known.remove(at).1;
        }
    }
}

impl WireGroup {
    /// Changes each id, whether of a call or of an answer.
    fn ids(self, name: &'static str, change: fn(&str) -> String) -> Planted {
        self.shown(name, move |_, messages| {
            for message in messages {
                if let Some(id) = message["tool_call_id"].as_str().map(change) {
                    message["tool_call_id"] = id.into();
                }
                for call in message.get_mut("tool_calls").and_then(Value::as_array_mut).into_iter().flatten() {
                    call["id"] = change(text(&call["id"])).into();
                }
            }
        })
    }
}

pub(super) fn readings() -> Vec<Planted> {
    vec![
        FREE.of(ALL.of(OPENAI)).elements("system-messages-of-the-developer", |message| {
            if message["role"] == "system" {
                message["role"] = "developer".into();
            }
        }),
        FREE.of(ALL.of(RESPONSES)).body("system-messages-as-instructions", |_, body| {
            if let Some(instructions) = take_systems(body) {
                body["instructions"] = instructions.into();
            }
        }),
        FREE.of(ALL.of(OPENAI)).body("system-items-joined", |_, body| {
            if let Some(system) = take_systems(body) {
                history(body).insert(0, json!({"role": "system", "content": system}));
            }
        }),
        FREE.of(ALL.of(ANTHROPIC)).body("system-messages-in-one-text", |_, body| {
            if let Some(blocks) = body["system"].as_array() {
                let texts: Vec<&str> = blocks.iter().map(|block| text(&block["text"])).collect();
                body["system"] = texts.join("\n\n").into();
            }
        }),
        FREE.of(ALL.of(ANTHROPIC)).body("system-message-as-a-block", |_, body| {
            if body["system"].is_string() {
                body["system"] = part("text", &body["system"]);
            }
        }),
        FREE.of(ALL.of(OPENAI)).body("texts-of-the-user-as-parts", |run, body| {
            let kind = if run.wire.endpoint.transport.api == Api::OpenAiChat { "text" } else { "input_text" };
            for message in history(body).iter_mut().filter(|message| message["role"] == "user") {
                message["content"] = part(kind, &message["content"]);
            }
        }),
        FREE.of(ALL.of(ANTHROPIC)).elements("texts-of-the-user-as-strings", |message| {
            if let Some([block]) =
                message["content"].as_array().map(Vec::as_slice).filter(|blocks| blocks[0]["type"] == "text")
            {
                message["content"] = block["text"].clone();
            }
        }),
        FREE.of(ALL.of(CHAT)).elements("texts-of-the-model-as-parts", |message| {
            if message["role"] == "assistant" && message["content"].as_str().is_some_and(|content| !content.is_empty())
            {
                message["content"] = part("text", &message["content"]);
            }
        }),
        FREE.of(ALL.of(RESPONSES)).elements("texts-of-the-model-as-strings", |item| {
            if item["role"] == "assistant" {
                item["content"] = item["content"][0]["text"].clone();
            }
        }),
        FREE.elements("results-as-parts", |message| {
            if message["role"] == "tool" {
                message["content"] = part("text", &message["content"]);
            } else if message["type"] == "function_call_output" {
                message["output"] = part("input_text", &message["output"]);
            }
            for block in message.get_mut("content").and_then(Value::as_array_mut).into_iter().flatten() {
                if block["type"] == "tool_result" && block["content"] != "" {
                    block["content"] = part("text", &block["content"]);
                }
            }
        }),
        FREE.of(ALL.of(ANTHROPIC)).elements("empty-results-left-out", |message| {
            for block in message.get_mut("content").and_then(Value::as_array_mut).into_iter().flatten() {
                if block["type"] == "tool_result" && block["content"] == "" {
                    without(block, "content");
                }
            }
        }),
        FREE.of(ALL.of(ANTHROPIC)).elements("failures-marked", |message| {
            for block in message.get_mut("content").and_then(Value::as_array_mut).into_iter().flatten() {
                if block["type"] == "tool_result" {
                    block["is_error"] = text(&block["content"]).starts_with("The tool failed").into();
                }
            }
        }),
        FREE.of(ALL.of(CHAT)).elements("no-text-beside-calls-as-an-empty-one", |message| {
            if message["role"] == "assistant" && message["content"].is_null() {
                message["content"] = "".into();
            }
        }),
        FREE.of(ALL.of(CHAT)).elements("no-text-beside-calls-left-out", |message| {
            if message["role"] == "assistant" && message["content"].is_null() {
                without(message, "content");
            }
        }),
        FREE.of(ALL.of(CHAT)).elements("messages-of-the-model-as-they-were-received", |message| {
            if message["role"] == "assistant" {
                message["refusal"] = Value::Null;
                message["annotations"] = json!([]);
            }
        }),
        FREE.of(ALL.of(RESPONSES)).elements("items-with-their-types-and-status", |item| {
            if item["type"].is_null() {
                item["type"] = "message".into();
            }
            if item["type"] == "function_call" || item["role"] == "assistant" {
                item["status"] = "completed".into();
            }
        }),
        FREE.of(ALL.of(ANTHROPIC)).shown("human-messages-joined", |_, messages| join_humans(messages, "\n\n")),
        FREE.of(ALL.of(ANTHROPIC))
            .shown("human-messages-joined-with-a-line-end", |_, messages| join_humans(messages, "\n")),
        FREE.of(ALL.of(ANTHROPIC)).body("neighbouring-messages-of-the-user-as-one", |_, body| {
            let mut messages: Vec<Value> = Vec::new();
            for message in std::mem::take(history(body)) {
                let before = messages.last_mut().filter(|before| before["role"] == "user" && message["role"] == "user");
                match before.and_then(|before| before["content"].as_array_mut()) {
                    Some(blocks) => blocks.extend(list(&message["content"]).iter().cloned()),
                    None => messages.push(message),
                }
            }
            *history(body) = messages;
        }),
        neglecting(&[clause::AGENT_ORDER]).plant("answers-in-the-opposite-order", |agent| {
            agent.agent.answers = Box::new(|_, answers| answers.reverse());
        }),
        FREE.of(ALL.of(ANTHROPIC)).ids("ids-changed-where-the-pattern-refuses-them", plain_id),
        FREE.of(ALL.of(OPENAI)).ids("long-ids-shortened", short_id),
        FREE.of(ALL.of(RESPONSES))
            .body("history-that-the-provider-keeps", |run, body| from_the_answer_before(run, body)),
        FREE.of(ALL.of(RESPONSES))
            .body("conversation-that-the-provider-keeps", |run, body| in_a_conversation(run, body)),
        FREE.of(ALL.of(RESPONSES))
            .body("responses-stored-and-sent-all-the-same", |_, body| body["store"] = true.into()),
        FREE.of(ALL.of(RESPONSES)).body("ids-of-items-sent-back", |run, body| with_item_ids(run, body)),
        neglecting(&[clause::WIRE_CACHE]).of(ALL.of(RESPONSES)).body("one-human-message-as-a-string", |_, body| {
            if let [item] = &history(body)[..]
                && item["role"] == "user"
                && item["content"] != ""
            {
                body["input"] = item["content"].clone();
            }
        }),
        FREE.of(ALL.of(OPENAI)).elements("arguments-with-spaces", |message| {
            let spaced = |json: &Value| {
                let args = serde_json::from_str::<Value>(text(json)).ok()?;
                Some(Value::from(serde_json::to_string_pretty(&args).unwrap_or_default()))
            };
            if let Some(arguments) = spaced(&message["arguments"]) {
                message["arguments"] = arguments;
            }
            for call in message.get_mut("tool_calls").and_then(Value::as_array_mut).into_iter().flatten() {
                if let Some(arguments) = spaced(&call["function"]["arguments"]) {
                    call["function"]["arguments"] = arguments;
                }
            }
        }),
    ]
}
