//! Bodies of Anthropic's messages.

use super::{WrittenPart, media_type, parts, schema, set, without_halves};
use serde_json::{Value, json};
use threadspec_apis::{ApiRequest, ToolChoice, WireMessage};
use threadspec_judge::protocol::Speaker;

/// The limit of output tokens where the client names none.
const MOST_TOKENS: u64 = 4096;

pub(super) fn body(request: &ApiRequest) -> Value {
    let max = request.max_tokens.unwrap_or(MOST_TOKENS);
    let mut body = json!({"max_tokens": max, "messages": messages(request)});
    let leading = request.messages.iter().take_while(|message| message.speaker == Speaker::System);
    let systems: Vec<Value> = leading.filter(|message| has_text(&message.content)).map(text_block).collect();
    set(&mut body, "system", &systems.into());
    set(&mut body, "stop_sequences", &request.stop.clone().into());
    let thinks = request.thinking && may_think(request) && max > 1024;
    if thinks {
        body["thinking"] = json!({"type": "enabled", "budget_tokens": 1024});
    }
    if !request.tools.is_empty() {
        let declared = request.tools.iter().map(|tool| {
            let mut declared = json!({"name": tool.name, "input_schema": schema(tool)});
            set(&mut declared, "description", &tool.description.clone().into());
            declared
        });
        body["tools"] = declared.collect();
        set(&mut body, "tool_choice", &choice(request));
    }
    without_halves(&body)
}

fn choice(request: &ApiRequest) -> Value {
    let one_at_a_time = request.parallel == Some(false);
    let mut choice = match &request.choice {
        ToolChoice::None => return json!({"type": "none"}),
        ToolChoice::Auto | ToolChoice::Other if !one_at_a_time => return Value::Null,
        ToolChoice::Auto | ToolChoice::Other => json!({"type": "auto"}),
        ToolChoice::Any => json!({"type": "any"}),
        ToolChoice::Named(name) => json!({"type": "tool", "name": name}),
    };
    if one_at_a_time {
        choice["disable_parallel_tool_use"] = true.into();
    }
    choice
}

/// Thinking is not carried over, and without its thinking a turn that goes on is refused. It is forbidden beside a forced call as well.
fn may_think(request: &ApiRequest) -> bool {
    let is_forced = matches!(request.choice, ToolChoice::Any | ToolChoice::Named(_));
    let goes_on = request.messages.last().is_some_and(|message| message.speaker == Speaker::Tool);
    !is_forced && !goes_on
}

/// Empty texts, and those of white space, are refused there, and say nothing.
fn has_text(content: &str) -> bool {
    !content.trim().is_empty()
}

fn text_block(message: &WireMessage) -> Value {
    json!({"type": "text", "text": message.content})
}

fn messages(request: &ApiRequest) -> Vec<Value> {
    let mut written: Vec<Value> = Vec::new();
    let mut before = None;
    let begin = request.messages.iter().take_while(|message| message.speaker == Speaker::System).count();
    for message in &request.messages[begin..] {
        let blocks = blocks(message);
        let goes_on = message.speaker == Speaker::Tool && before == Some(Speaker::Tool);
        before = Some(message.speaker);
        let last = written.last_mut().and_then(|message| message["content"].as_array_mut());
        match last.filter(|_| goes_on) {
            // The results of parallel calls stand in one message.
            Some(results) => results.extend(blocks),
            None if blocks.is_empty() => {}
            None => {
                let role = if message.speaker == Speaker::Ai { "assistant" } else { "user" };
                written.push(json!({"role": role, "content": blocks}));
            }
        }
    }
    written
}

fn content_block(part: WrittenPart<'_>) -> Option<Value> {
    match part {
        WrittenPart::Text(text) => has_text(text).then(|| json!({"type": "text", "text": text})),
        WrittenPart::Image(image) => {
            let source = json!({"type": "base64", "media_type": media_type(image), "data": image});
            Some(json!({"type": "image", "source": source}))
        }
    }
}

fn blocks(message: &WireMessage) -> Vec<Value> {
    let WireMessage { content, images, .. } = message;
    let of_content = || parts(message).into_iter().filter_map(content_block).collect::<Vec<_>>();
    match message.speaker {
        // In the middle a system text is told as the user's, and marked as what it is.
        Speaker::System if !has_text(content) => Vec::new(),
        Speaker::System => vec![json!({"type": "text", "text": format!("<system>{content}</system>")})],
        Speaker::Human => of_content(),
        Speaker::Tool => {
            let content = if images.is_empty() { content.clone().into() } else { Value::from(of_content()) };
            vec![json!({"type": "tool_result", "tool_use_id": message.call_id, "content": content})]
        }
        Speaker::Ai => {
            let calls = message
                .calls
                .iter()
                .map(|call| json!({"type": "tool_use", "id": call.id, "name": call.name, "input": call.args}));
            of_content().into_iter().chain(calls).collect()
        }
    }
}
