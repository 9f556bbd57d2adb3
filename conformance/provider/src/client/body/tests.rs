//! One conversation in three APIs.

use super::*;
use serde_json::json;
use threadspec_judge::protocol::Transport;

fn endpoint(api: Api) -> Endpoint {
    Endpoint {
        transport: Transport { api, stream: true },
        base_url: "http://127.0.0.1:1/v1".into(),
        api_key: "k".into(),
        model: "m".into(),
        reasoning: false,
    }
}

/// Two calls, one of which failed with two texts and an image, and the user's words behind them.
fn ask() -> ClientAsk {
    let text = |text: &str| ClientPart::Text(text.into());
    let call =
        |id: &str, arguments: &str| ClientCall { id: id.into(), name: "look".into(), arguments: arguments.into() };
    let answer = |id: &str, content: Option<ClientContent>| ClientMessage {
        call_id: Some(id.into()),
        content,
        ..ClientMessage::text(Speaker::Tool, "")
    };
    let parts = ClientContent::Parts(vec![text("a"), text("b"), ClientPart::Image("iVBORw==".into())]);
    let failed = ClientMessage { is_error: true, ..answer("c1", Some(parts)) };
    let behind = ClientContent::Parts(vec![text("And now?")]);
    ClientAsk {
        instructions: Some("Be brief.".into()),
        messages: vec![
            ClientMessage::text(Speaker::Human, "Go"),
            ClientMessage {
                calls: vec![call("c1", r#"{"n":9007199254740993}"#), call("c2", "{}")],
                ..ClientMessage::text(Speaker::Ai, "")
            },
            failed,
            answer("c2", None),
            ClientMessage { content: Some(behind), ..ClientMessage::text(Speaker::Human, "") },
        ],
        tools: vec![ClientTool { description: Some("Looks.".into()), ..ClientTool::named("look") }],
        options: ClientOptions {
            choice: Some(ToolChoice::Named("look".into())),
            parallel: Some(false),
            most_tokens: Some(9),
            stop: vec!["END".into()],
            developer: false,
        },
    }
}

#[test]
fn chat_completions() {
    let call = |id: &str, arguments: &str| json!({"id": id, "type": "function", "function": {"name": "look", "arguments": arguments}});
    let text = |text: &str| json!({"type": "text", "text": text});
    let schema = json!({"type": "object", "properties": {}, "additionalProperties": true});
    assert_eq!(
        body(&endpoint(Api::OpenAiChat), &ask()),
        json!({
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "Go"},
                {"role": "assistant", "content": null, "tool_calls": [call("c1", r#"{"n":9007199254740993}"#), call("c2", "{}")]},
                {"role": "tool", "tool_call_id": "c1", "content": [text("a"), text("b")]},
                {"role": "tool", "tool_call_id": "c2", "content": ""},
                {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw=="}}]},
                {"role": "user", "content": [text("And now?")]},
            ],
            "tools": [{"type": "function", "function": {"name": "look", "description": "Looks.", "parameters": schema}}],
            "tool_choice": {"type": "function", "function": {"name": "look"}}, "parallel_tool_calls": false,
            "max_completion_tokens": 9, "stop": ["END"], "model": "m", "stream": true, "stream_options": {"include_usage": true},
        })
    );
}

#[test]
fn responses() {
    let call = |id: &str, arguments: &str| json!({"type": "function_call", "call_id": id, "name": "look", "arguments": arguments});
    let text = |text: &str| json!({"type": "input_text", "text": text});
    let schema = json!({"type": "object", "properties": {}, "additionalProperties": true});
    assert_eq!(
        body(&endpoint(Api::OpenAiResponses), &ask()),
        json!({
            "instructions": "Be brief.", "store": false,
            "input": [
                {"role": "user", "content": "Go"},
                call("c1", r#"{"n":9007199254740993}"#), call("c2", "{}"),
                {"type": "function_call_output", "call_id": "c1", "output": [
                    text("a"), text("b"), {"type": "input_image", "image_url": "data:image/png;base64,iVBORw=="}]},
                {"type": "function_call_output", "call_id": "c2", "output": ""},
                {"role": "user", "content": [text("And now?")]},
            ],
            "tools": [{"type": "function", "name": "look", "description": "Looks.", "parameters": schema, "strict": false}],
            "tool_choice": {"type": "function", "name": "look"}, "parallel_tool_calls": false,
            "max_output_tokens": 9, "model": "m", "stream": true,
        })
    );
}

#[test]
fn anthropic() {
    let text = |text: &str| json!({"type": "text", "text": text});
    let image = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw=="}});
    let schema = json!({"type": "object", "properties": {}, "additionalProperties": true});
    assert_eq!(
        body(&endpoint(Api::Anthropic), &ask()),
        json!({
            "system": "Be brief.", "max_tokens": 9, "stop_sequences": ["END"],
            "messages": [
                {"role": "user", "content": "Go"},
                {"role": "assistant", "content": [
                    {"type": "tool_use", "id": "c1", "name": "look", "input": {"n": 9_007_199_254_740_993_u64}},
                    {"type": "tool_use", "id": "c2", "name": "look", "input": {}}]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "c1", "content": [text("a"), text("b"), image], "is_error": true},
                    {"type": "tool_result", "tool_use_id": "c2"},
                    text("And now?")]},
            ],
            "tools": [{"name": "look", "description": "Looks.", "input_schema": schema}],
            "tool_choice": {"type": "tool", "name": "look", "disable_parallel_tool_use": true},
            "model": "m", "stream": true,
        })
    );
}

#[test]
fn a_developer_message_is_the_first_where_the_api_has_the_role() {
    let mut ask = ask();
    ask.options.developer = true;
    let developer = json!({"role": "developer", "content": "Be brief."});
    let [chat, responses, anthropic] =
        [Api::OpenAiChat, Api::OpenAiResponses, Api::Anthropic].map(|api| body(&endpoint(api), &ask));
    assert_eq!((&chat["messages"][0], &responses["input"][0]), (&developer, &developer));
    assert_eq!((&responses["instructions"], &anthropic["system"]), (&Value::Null, &json!("Be brief.")));
}

#[test]
fn half_a_pair_is_an_escape_and_what_looks_like_its_mark_is_itself() {
    let half = threadspec::surrogates::mark_surrogates(r#""\ud83d""#).into_owned();
    let half: String = serde_json::from_str(&half).expect("a string");
    let looks_like_it = Message::human("\u{10d83d}");
    let ask = ClientAsk {
        messages: vec![ClientMessage::text(Speaker::Human, half), ClientMessage::of(&looks_like_it, &[], &[])],
        ..ClientAsk::default()
    };
    let sent =
        String::from_utf8(super::super::ClientRequest::of(&endpoint(Api::OpenAiChat), &ask).body).expect("UTF-8");
    assert!(sent.contains(r#""content":"\ud83d""#) && sent.contains("\"content\":\"\u{10d83d}\""), "{sent}");
}
