//! Tests strict reading, and the requests that a client makes of a case.

use super::*;
use crate::ExchangeRecorder;
use serde_json::json;
use std::time::Duration;
use threadspec_judge::protocol::Endpoint;
use threadspec_judge::universal::Property;
use threadspec_provider::client::{ClientRequest, ClientResponse, Exchange};

fn input() -> Value {
    json!({
        "sends": [
            {"type": "system", "content": "Be brief."},
            {"type": "human", "content": [{"text": "Look"}, {"image": "iVBORw=="}]},
            {"type": "ai", "content": "I look.", "tool_calls": [{"id": "c1", "name": "look", "args": {"n": 9_007_199_254_740_993_u64}}],
                "thinking": [{"text": "Hm", "signature": "s"}]},
            {"type": "tool", "tool_call_id": "c1", "content": "ok", "error": true},
        ],
        "tools": [{"name": "look", "description": "Looks.", "schema": {"type": "object"}}],
        "options": {"choice": {"name": "look"}, "parallel": false, "max": 50, "stop": ["END"], "thinking": true},
        "turn": {"tool_calls": [{"id": "a", "name": "look"}, {"id": "a", "name": "look", "args": {"n": 2}}]},
        "then": [{
            "sends": [{"type": "tool", "tool_call_id": "a", "content": "1"}, {"type": "tool", "tool_call_id": "a", "content": "2"}],
            "turn": {"content": "Done"},
        }],
    })
}

#[test]
fn what_is_not_known_is_refused_with_its_place() {
    assert!(GatewayCase::read(&input().to_string()).is_ok());
    for (pointer, value, says) in [
        ("/sends", json!([]), "`sends` is empty"),
        ("/sends", Value::Null, "`sends` is missing"),
        ("/turn", Value::Null, "`turn` is missing"),
        ("/model", json!([]), "`model` is no member"),
        ("/turn/stopp", json!("stop"), "turn: `stopp`"),
        ("/then/0/tools", json!([]), "then[0]: `tools` is no member"),
        ("/sends/0/type", json!("developer"), "sends[0].type: `developer` is none of"),
        ("/sends/0/content", json!([{"image": "iVBORw=="}]), "sends[0]: a system message has content, and no image"),
        ("/sends/0/content", Value::Null, "sends[0]: a system message has content, and no image"),
        ("/sends/1/content", Value::Null, "sends[1]: a message of the user has content"),
        ("/sends/1/content/1/text", json!("both"), "sends[1].content[1]: a part is a `text` or an `image`"),
        ("/sends/1/error", json!(true), "sends[1]: `error` is no member"),
        ("/sends/2/tool_calls/0/id", Value::Null, "sends[2].tool_calls[0]: a call of a history has an `id`"),
        ("/sends/2/content", json!([{"image": "iVBORw=="}]), "no API takes an image"),
        ("/sends/2/thinking/0/signature", Value::Null, "sends[2].thinking[0]: `signature` is missing"),
        ("/sends/3/tool_call_id", Value::Null, "sends[3]: `tool_call_id` is missing"),
        ("/sends/3/error", json!("yes"), "sends[3].error"),
        ("/tools/0/schema", json!("any"), "tools[0].schema: a schema is an object"),
        ("/tools/0/parameters", json!({}), "tools[0]: `parameters`"),
        ("/options/choice", json!("any"), "options.choice"),
        ("/options/max", json!(0), "options.max"),
        ("/options/seed", json!(1), "options: `seed`"),
    ] {
        let mut changed = input();
        let (parent, member) = pointer.rsplit_once('/').expect("a pointer");
        match changed.pointer_mut(parent).expect("it is there") {
            Value::Object(members) => drop(members.insert(member.to_owned(), value)),
            Value::Array(elements) => elements[member.parse::<usize>().expect("a number")] = value,
            other => panic!("{other}"),
        }
        let error = GatewayCase::read(&changed.to_string()).expect_err(pointer).to_string();
        assert!(error.contains(says), "{pointer}: {error}");
    }
}

/// A gateway that makes its own ids.
struct Renaming(u32);

impl Exchange for Renaming {
    fn exchange(&mut self, _: &ClientRequest) -> Option<ClientResponse> {
        self.0 += 1;
        let call = |id: &str| json!({"id": id, "type": "function", "function": {"name": "look", "arguments": "{}"}});
        let message = match self.0 {
            1 => json!({"role": "assistant", "content": null, "tool_calls": [call("x1"), call("x2")]}),
            _ => json!({"role": "assistant", "content": "Done"}),
        };
        let body = json!({"id": "r", "object": "chat.completion", "created": 1, "model": "m", "choices": [
            {"index": 0, "finish_reason": "stop", "message": message}]});
        let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        Some(ClientResponse { status: 200, headers, pieces: vec![body.to_string().into_bytes()], is_whole: true })
    }

    fn wait(&mut self, _: Duration) {}
}

fn endpoint() -> Endpoint {
    Endpoint {
        transport: "openai-chat".parse().expect("a transport"),
        base_url: "http://gateway/v1".into(),
        api_key: "k".into(),
        model: "m".into(),
        reasoning: false,
    }
}

#[test]
fn the_next_request_goes_on_with_what_the_client_read() {
    let case = GatewayCase::read(&input().to_string()).expect("a case");
    let now = std::cell::Cell::new(0);
    let clock = || {
        now.set(now.get() + 1);
        Duration::from_secs(now.get())
    };
    let mut recorder = ExchangeRecorder::new(Api::OpenAiChat, Renaming(0), clock);
    assert_eq!(play(&case, &endpoint(), Some("threadspec run q8Zr"), &mut recorder), 2);
    let exchanges = recorder.into_exchanges();
    let times: Vec<_> = exchanges.iter().map(|one| (one.began.as_secs(), one.ended.as_secs())).collect();
    assert_eq!(times, [(1, 2), (3, 4)]);
    let body: Value = serde_json::from_slice(&exchanges[1].request.body).expect("JSON");
    assert_eq!(body["tools"][0]["function"]["description"], "Looks. threadspec run q8Zr");
    let messages = body["messages"].as_array().expect("messages");
    let ids: Vec<&Value> =
        messages[4]["tool_calls"].as_array().expect("calls").iter().map(|call| &call["id"]).collect();
    assert_eq!(ids, ["x1", "x2"]);
    // Two results of one id, which the gateway told apart.
    assert_eq!(messages[5], json!({"role": "tool", "tool_call_id": "x1", "content": "1"}));
    assert_eq!(messages[6], json!({"role": "tool", "tool_call_id": "x2", "content": "2"}));
}

#[test]
fn a_case_shows_what_it_is_about() {
    let case = GatewayCase::read(&input().to_string()).expect("a case");
    let shown = case.subjects();
    for property in
        [Property::GateCallsExact, Property::GateMedia, Property::GateChoice, Property::GateOpaque, Property::GateCache]
    {
        assert!(shown.contains(&property), "{property}");
    }
    for property in
        [Property::GateCut, Property::GateWait, Property::GateStop, Property::GateWords, Property::AgentStart]
    {
        assert!(!shown.contains(&property), "{property}");
    }
    let plain = GatewayCase::read(r#"{"sends": [{"type": "human", "content": "Go"}], "turn": {"content": "Gone"}}"#);
    let shown = plain.expect("a case").subjects();
    assert!(shown.contains(&Property::GateSaid) && !shown.contains(&Property::GateTools), "{shown:?}");
}
