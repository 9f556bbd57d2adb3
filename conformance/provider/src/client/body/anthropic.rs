//! The body of Anthropic's messages.

use super::{
    ClientAsk, ClientCall, ClientContent, ClientMessage, ClientOptions, ClientPart, ClientTool, described, media_type,
};
use serde_json::{Map, Value, json};
use threadspec::surrogates::{unmark_surrogates, without_marks};
use threadspec_apis::{Thinking, ToolChoice};
use threadspec_judge::protocol::Speaker;
use threadspec_judge::universal::value;

/// How many tokens an answer may have, of which half are for thinking.
const MOST_TOKENS: u64 = 4096;

pub(super) fn body(reasoning: bool, ask: &ClientAsk) -> Value {
    let most = ask.options.most_tokens.unwrap_or(MOST_TOKENS);
    let mut body = json!({"max_tokens": most, "messages": turns(&ask.messages)});
    if let Some(system) = system(ask) {
        body["system"] = system;
    }
    if reasoning {
        body["thinking"] = json!({"type": "enabled", "budget_tokens": most / 2});
    }
    if let Some(choice) = choice(&ask.options) {
        body["tool_choice"] = choice;
    }
    if !ask.options.stop.is_empty() {
        body["stop_sequences"] = ask.options.stop.iter().map(String::as_str).collect();
    }
    body
}

pub(super) fn declaration(tool: &ClientTool) -> Value {
    described(tool, json!({"name": tool.name, "input_schema": tool.schema()}))
}

fn choice(options: &ClientOptions) -> Option<Value> {
    let mut choice = match &options.choice {
        Some(ToolChoice::Auto) => json!({"type": "auto"}),
        Some(ToolChoice::None) => json!({"type": "none"}),
        Some(ToolChoice::Any) => json!({"type": "any"}),
        Some(ToolChoice::Named(name)) => json!({"type": "tool", "name": name}),
        // One call at a time is demanded beside a choice.
        None | Some(ToolChoice::Other) if options.parallel.is_some() => json!({"type": "auto"}),
        None | Some(ToolChoice::Other) => return None,
    };
    if let Some(parallel) = options.parallel
        && choice["type"] != "none"
    {
        choice["disable_parallel_tool_use"] = (!parallel).into();
    }
    Some(choice)
}

/// All system texts: no other place takes them in every version.
fn system(ask: &ClientAsk) -> Option<Value> {
    let block = |text: &str| json!({"type": "text", "text": text});
    let others: Vec<String> =
        ask.messages.iter().filter(|told| told.speaker == Speaker::System).flat_map(texts).collect();
    match (&ask.instructions, &others[..]) {
        (None, []) => None,
        (Some(text), []) => Some(text.as_str().into()),
        (first, others) => Some(first.iter().chain(others).map(|text| block(text)).collect()),
    }
}

/// The texts of a message that are not empty: this API takes no others.
pub(super) fn texts(told: &ClientMessage) -> Vec<String> {
    let texts: Vec<String> = match &told.content {
        None => Vec::new(),
        Some(ClientContent::Text(text)) => vec![text.clone()],
        Some(ClientContent::Parts(parts)) => parts.iter().filter_map(ClientPart::as_text).map(str::to_owned).collect(),
    };
    texts.into_iter().filter(|text| !text.is_empty()).collect()
}

fn turns(messages: &[ClientMessage]) -> Vec<Value> {
    let mut turns: Vec<Value> = Vec::new();
    let mut is_answering = false;
    for told in messages.iter().filter(|told| told.speaker != Speaker::System) {
        let is_answer = told.speaker == Speaker::Tool;
        let goes_on =
            is_answer || told.speaker == Speaker::Human && matches!(told.content, Some(ClientContent::Parts(_)));
        let last = turns.last_mut().and_then(|turn| turn["content"].as_array_mut());
        match last.filter(|_| is_answering && goes_on) {
            // The results of parallel calls are in one message, and what the user adds to them.
            Some(results) => results.extend(blocks(told)),
            None => turns.extend(turn(told)),
        }
        is_answering = is_answer;
    }
    turns
}

/// A message of its own; none without anything in it.
fn turn(told: &ClientMessage) -> Option<Value> {
    if let (Speaker::Human, Some(ClientContent::Text(text))) = (told.speaker, &told.content) {
        return (!text.is_empty()).then(|| json!({"role": "user", "content": text}));
    }
    let role = if told.speaker == Speaker::Ai { "assistant" } else { "user" };
    let blocks = blocks(told);
    (!blocks.is_empty()).then(|| json!({"role": role, "content": blocks}))
}

/// The blocks of a message that is no system message.
fn blocks(told: &ClientMessage) -> Vec<Value> {
    match told.speaker {
        Speaker::System | Speaker::Human => contents(told),
        Speaker::Tool => {
            let mut block = json!({"type": "tool_result", "tool_use_id": told.call_id});
            match &told.content {
                None => {}
                Some(ClientContent::Text(text)) => block["content"] = text.as_str().into(),
                Some(ClientContent::Parts(_)) => block["content"] = contents(told).into(),
            }
            if told.is_error {
                block["is_error"] = true.into();
            }
            vec![block]
        }
        Speaker::Ai => {
            let calls = told.calls.iter().map(call);
            told.thinking.iter().filter_map(thinking_block).chain(contents(told)).chain(calls).collect()
        }
    }
}

/// The texts and images of a message.
fn contents(told: &ClientMessage) -> Vec<Value> {
    let text = |text: &str| (!text.is_empty()).then(|| json!({"type": "text", "text": text}));
    match &told.content {
        None => Vec::new(),
        Some(ClientContent::Text(one)) => text(one).into_iter().collect(),
        Some(ClientContent::Parts(parts)) => {
            let part = |part: &ClientPart| match part {
                ClientPart::Text(one) => text(one),
                ClientPart::Image(image) => Some(json!({"type": "image", "source": {
                    "type": "base64", "media_type": media_type(image), "data": image}})),
            };
            parts.iter().filter_map(part).collect()
        }
    }
}

fn call(call: &ClientCall) -> Value {
    let input = value::read(&unmark_surrogates(&call.arguments)).unwrap_or_else(|_| call.arguments.as_str().into());
    json!({"type": "tool_use", "id": call.id, "name": call.name, "input": without_halves(&input)})
}

/// A block of thinking as it came; none that only another API reads.
fn thinking_block(thought: &Thinking) -> Option<Value> {
    if thought.item_id.is_some() {
        return None;
    }
    if thought.is_redacted {
        return Some(json!({"type": "redacted_thinking", "data": thought.seal}));
    }
    let signature = thought.seal.as_deref().unwrap_or_default();
    Some(json!({"type": "thinking", "thinking": without_marks(&thought.text), "signature": signature}))
}

/// Marked data without lone surrogates, which this API refuses even as escapes.
pub(super) fn without_halves(value: &Value) -> Value {
    match value {
        Value::String(text) => without_marks(text).into(),
        Value::Array(elements) => elements.iter().map(without_halves).collect(),
        Value::Object(members) => {
            let member = |(name, value): (&String, &Value)| (without_marks(name).into_owned(), without_halves(value));
            members.iter().map(member).collect::<Map<_, _>>().into()
        }
        other => other.clone(),
    }
}
