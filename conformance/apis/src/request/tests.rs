//! Reads bodies of requests.

use super::*;
use serde_json::json;
use threadspec::read_json;

fn request(api: Api, body: &str) -> ApiRequest {
    ApiRequest::read(api, &read_json(body).expect("JSON"))
}

fn messages(api: Api, body: &str) -> Vec<Value> {
    request(api, body).messages.iter().map(WireMessage::to_json).collect()
}

/// The second request of the worked exchanges (section 9 of the specification of the provider), in each API.
const SECOND: [(Api, &str); 3] = [
    (
        Api::OpenAiChat,
        r#"{"model":"gpt-4.1","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Go"},
     {"role":"assistant","content":"I look.","tool_calls":[{"id":"call_a","type":"function","function":{"name":"look","arguments":"{\"n\":1}"}},
                                                           {"id":"call_b","type":"function","function":{"name":"look","arguments":"{\"n\":2}"}}]},
     {"role":"tool","tool_call_id":"call_a","content":"r1"},{"role":"tool","tool_call_id":"call_b","content":"r2"}],
     "tools":[{"type":"function","function":{"name":"look","parameters":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}}}]}"#,
    ),
    (
        Api::OpenAiResponses,
        r#"{"model":"gpt-4.1","instructions":"Be brief.","store":false,"input":[{"role":"user","content":"Go"},
     {"type":"message","role":"assistant","content":[{"type":"output_text","text":"I look."}]},
     {"type":"function_call","call_id":"call_a","name":"look","arguments":"{\"n\":1}"},{"type":"function_call","call_id":"call_b","name":"look","arguments":"{\"n\":2}"},
     {"type":"function_call_output","call_id":"call_a","output":"r1"},{"type":"function_call_output","call_id":"call_b","output":"r2"}],
     "tools":[{"type":"function","name":"look","parameters":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false},"strict":true}]}"#,
    ),
    (
        Api::Anthropic,
        r#"{"model":"claude-sonnet-5","max_tokens":1024,"system":"Be brief.","messages":[{"role":"user","content":"Go"},
     {"role":"assistant","content":[{"text":"I look.","type":"text"},{"id":"toolu_a","input":{"n":1},"name":"look","type":"tool_use"},{"id":"toolu_b","input":{"n":2},"name":"look","type":"tool_use"}]},
     {"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_a","content":"r1"},{"type":"tool_result","tool_use_id":"toolu_b","content":"r2"}]}],
     "tools":[{"name":"look","input_schema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}}]}"#,
    ),
];

#[test]
fn the_worked_exchanges_say_the_same_in_every_api() {
    for (api, body) in SECOND {
        let request = request(api, body);
        let (a, b) = if api == Api::Anthropic { ("toolu_a", "toolu_b") } else { ("call_a", "call_b") };
        let said: Vec<Value> = request.messages.iter().map(WireMessage::to_json).collect();
        let expected = json!([
            {"type": "system", "content": "Be brief."},
            {"type": "human", "content": "Go"},
            {"type": "ai", "content": "I look.", "tool_calls": [
                {"id": a, "name": "look", "args": {"n": 1}}, {"id": b, "name": "look", "args": {"n": 2}}]},
            {"type": "tool", "content": "r1", "tool_call_id": a},
            {"type": "tool", "content": "r2", "tool_call_id": b},
        ]);
        assert_eq!(Value::from(said), expected, "{api}");
        let model = if api == Api::Anthropic { "claude-sonnet-5" } else { "gpt-4.1" };
        assert_eq!(request.model.as_deref(), Some(model));
        assert_eq!((&request.lacks, &request.notes, request.stream), (&vec![], &vec![], false));
        let [tool] = &request.tools[..] else { panic!("{api}: {:?}", request.tools) };
        assert_eq!((tool.name.as_deref(), tool.is_function()), (Some("look"), true));
        assert_eq!(tool.strict, (api == Api::OpenAiResponses).then_some(true));
        assert_eq!(tool.schema.as_ref().map(|schema| &schema["required"]), Some(&json!(["n"])));
    }
}

#[test]
fn messages_of_chat() {
    let body = r#"{"messages":[
        {"role":"developer","content":[{"type":"text","text":"a "},{"type":"text","text":"b"}]},
        {"role":"user","name":"n","content":[{"type":"text","text":"see "},{"type":"image_url","image_url":{"url":"data:"}},{"type":"input_audio"},{"type":"odd"}]},
        {"role":"assistant","content":null,"refusal":"No.","audio":{"id":"x"}},
        {"role":"assistant","content":null,"tool_calls":[
            {"id":"a","function":{"name":"t","arguments":""}},
            {"id":"b","function":{"name":"t","arguments":"[1]"}},
            {"id":"c","function":{"name":"t","arguments":"{\"a\": \"\\ud83d\"}"}},
            {"id":"d","type":"custom","custom":{"name":"p","input":"*** patch"}}]},
        {"role":"tool","tool_call_id":"a","content":[{"type":"text","text":"r"},{"type":"text","text":"1"}]},
        {"role":"tool","content":"no id"},
        {"role":"critic","content":"?"}]}"#;
    assert_eq!(
        Value::from(messages(Api::OpenAiChat, body)),
        json!([
            {"type": "system", "content": "a b"},
            {"type": "human", "content": "see \u{fffc}\u{fffc}"},
            {"type": "ai", "content": "No."},
            {"type": "ai", "content": "", "tool_calls": [
                {"id": "a", "name": "t", "args": {}}, {"id": "b", "name": "t", "args": "[1]"},
                {"id": "c", "name": "t", "args": {"a": "\u{10d83d}"}}, {"id": "d", "name": "p", "args": "*** patch"}]},
            {"type": "tool", "content": "r1", "tool_call_id": "a"},
            {"type": "tool", "content": "no id"},
        ])
    );
    let request = request(Api::OpenAiChat, body);
    let notes: Vec<String> = request.notes.iter().map(|note| format!("{}: {}", note.place, note.what)).collect();
    assert_eq!(
        notes,
        [
            "messages[1].content[1]: `image_url` is shown as U+FFFC",
            "messages[1].content[2]: `input_audio` is shown as U+FFFC",
            "messages[1].content[3]: a part of type `odd` is left out",
            "messages[6]: a message of role \"critic\" is left out",
        ]
    );
    assert_eq!(request.lacks, ["model"]);
    assert_eq!(request.messages[3].calls[2].place, "messages[3].tool_calls[2]");
}

#[test]
fn half_a_pair_is_a_mark() {
    let chat = messages(
        Api::OpenAiChat,
        r#"{"messages":[{"role":"user","content":"a\ud83d"},{"role":"assistant","tool_calls":[
            {"id":"a","function":{"name":"t","arguments":"{\"k\":\"\ud83d\"}"}}]}]}"#,
    );
    assert_eq!(chat[0]["content"], "a\u{10d83d}");
    assert_eq!(chat[1]["tool_calls"][0]["args"], json!({"k": "\u{10d83d}"}));
    let anthropic = messages(
        Api::Anthropic,
        r#"{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"t","input":{"\ud83d":1}}]}]}"#,
    );
    assert_eq!(anthropic[0]["tool_calls"][0]["args"], json!({"\u{10d83d}": 1}));
}

#[test]
fn messages_of_anthropic() {
    let body = r#"{"system":[{"type":"text","text":"one","cache_control":{"type":"ephemeral"}},{"type":"text","text":"two"}],
        "thinking":{"type":"enabled","budget_tokens":1024},"tool_choice":{"type":"tool","name":"t","disable_parallel_tool_use":true},
        "messages":[
        {"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"},{"type":"image","source":{}}]},
        {"role":"assistant","content":[{"type":"thinking","thinking":"Hm.","signature":"s"},{"type":"redacted_thinking","data":"d"},
            {"type":"text","text":"x"},{"type":"text","text":"y"},{"type":"tool_use","id":"i","name":"t","input":{"b":1,"a":2}},
            {"type":"server_tool_use","id":"z","name":"web_search","input":{}}]},
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"i"},
            {"type":"tool_result","tool_use_id":"j","content":[{"type":"text","text":"p"},{"type":"image"},{"type":"text","text":"q"}],"is_error":true},
            {"type":"text","text":"and?"}]},
        {"role":"system","content":"mid"},
        {"role":"assistant","content":[]}]}"#;
    let request = request(Api::Anthropic, body);
    let said: Vec<Value> = request.messages.iter().map(WireMessage::to_json).collect();
    assert_eq!(
        Value::from(said),
        json!([
            {"type": "system", "content": "one"},
            {"type": "system", "content": "two"},
            {"type": "human", "content": "a"},
            {"type": "human", "content": "b"},
            {"type": "human", "content": "\u{fffc}"},
            {"type": "ai", "content": "xy", "tool_calls": [{"id": "i", "name": "t", "args": {"b": 1, "a": 2}}]},
            {"type": "tool", "content": "", "tool_call_id": "i"},
            {"type": "tool", "content": "p\u{fffc}q", "tool_call_id": "j"},
            {"type": "human", "content": "and?"},
            {"type": "system", "content": "mid"},
            {"type": "ai", "content": ""},
        ])
    );
    let opaque: Vec<_> = request.messages[5].opaque.iter().map(|part| (&part.content, &*part.place)).collect();
    let thinking = OpaqueContent::Thinking { text: "Hm.".into(), signature: Some("s".into()) };
    let redacted = OpaqueContent::Redacted { data: "d".into() };
    assert_eq!(opaque, [(&thinking, "messages[1].content[0]"), (&redacted, "messages[1].content[1]")]);
    assert_eq!((request.thinking, request.parallel, &*request.lacks), (true, Some(false), &["model"][..]));
    assert_eq!(request.choice, ToolChoice::Named("t".into()));
    assert_eq!(request.messages[7].place, "messages[2].content[1]");
}

#[test]
fn items_of_responses_that_touch_are_one_message() {
    let call = |id: &str| json!({"type": "function_call", "id": "fc_x", "call_id": id, "name": "t", "arguments": ""});
    let text = |text: &str| json!({"role": "assistant", "content": text});
    let thought = |id: &str| json!({"type": "reasoning", "id": id, "summary": [{"type": "summary_text", "text": "Hm"}], "encrypted_content": "e"});
    let output = |id: &str| json!({"type": "function_call_output", "call_id": id, "output": [{"type": "input_text", "text": "r"}, {"type": "input_text", "text": id}]});
    let said = |text: &str, ids: &[&str]| {
        let calls: Vec<Value> = ids.iter().map(|id| json!({"id": id, "name": "t", "args": {}})).collect();
        if calls.is_empty() {
            json!({"type": "ai", "content": text})
        } else {
            json!({"type": "ai", "content": text, "tool_calls": calls})
        }
    };
    for (items, expected) in [
        (json!([text("x"), call("a"), call("b")]), json!([said("x", &["a", "b"])])),
        (json!([call("a"), text("x")]), json!([said("x", &["a"])])),
        (json!([text("x"), thought("rs_1"), call("a")]), json!([said("x", &["a"])])),
        (json!([text("x"), text("y")]), json!([said("x", &[]), said("y", &[])])),
        (json!([text("x"), call("a"), text("y")]), json!([said("xy", &["a"])])),
        (
            json!([call("a"), output("a"), call("b")]),
            json!([said("", &["a"]), {"type": "tool", "content": "ra", "tool_call_id": "a"}, said("", &["b"])]),
        ),
        (json!([{"type": "web_search_call", "id": "ws_1"}, text("x")]), json!([said("x", &[])])),
    ] {
        assert_eq!(
            Value::from(messages(Api::OpenAiResponses, &json!({"input": items}).to_string())),
            expected,
            "{items}"
        );
    }
    let body = json!({"input": [text("x"), thought("rs_1"), text("y"), {"role": "user", "content": "u"}, thought("rs_2"),
        {"type": "item_reference", "id": "msg_1"}]});
    let request = request(Api::OpenAiResponses, &body.to_string());
    let opaque = |message: usize| request.messages[message].opaque.iter().map(|part| &*part.place).collect::<Vec<_>>();
    assert_eq!((opaque(0), opaque(1)), (vec![], vec!["input[1]"]));
    let encrypted =
        OpaqueContent::Reasoning { id: Some("rs_2".into()), summary: "Hm".into(), encrypted: Some("e".into()) };
    assert_eq!(request.loose, [OpaquePart { content: encrypted, place: "input[4]".into() }]);
    assert_eq!(request.references, [ItemReference { id: "msg_1".into(), place: "input[5]".into() }]);
}

#[test]
fn options_of_responses() {
    let request = request(
        Api::OpenAiResponses,
        r#"{"model":"m","input":"Go","stream":true,"store":false,"include":["reasoning.encrypted_content"],"previous_response_id":"resp_1",
            "conversation":{"id":"conv_1"},"reasoning":{"effort":"low"},"parallel_tool_calls":false,"tool_choice":{"type":"function","name":"t"},
            "tools":[{"type":"web_search"},{"type":"custom","name":"p"}]}"#,
    );
    assert_eq!(request.messages[0].to_json(), json!({"type": "human", "content": "Go"}));
    assert!(request.stream && request.thinking && request.wants_encrypted_reasoning() && !request.has_max_tokens);
    assert_eq!((request.store, request.parallel), (Some(false), Some(false)));
    assert_eq!(request.previous_response_id.as_deref(), Some("resp_1"));
    assert_eq!(request.conversation.as_deref(), Some("conv_1"));
    let kinds: Vec<_> = request.tools.iter().map(|tool| (&*tool.kind, tool.is_function())).collect();
    assert_eq!(kinds, [("web_search", false), ("custom", false)]);
    assert_eq!(request.lacks, [] as [&str; 0]);
}

#[test]
fn what_a_request_forbids() {
    let of = |api, body: Value| request(api, &body.to_string());
    let chat = |choice: Value| of(Api::OpenAiChat, json!({"tool_choice": choice, "parallel_tool_calls": false}));
    assert_eq!(chat(json!("auto")).forbids(["t"]), None);
    assert_eq!(chat(json!("none")).forbids([]), None);
    for (request, calls, why) in [
        (chat(json!("auto")), &["t", "u"][..], "it forbids parallel calls, and 2 are to be made"),
        (chat(json!("none")), &["t"], "it forbids calls, and `t` is to be called"),
        (
            chat(json!({"type": "function", "function": {"name": "u"}})),
            &["t"],
            "it forces the tool `u`, and `t` is to be called",
        ),
        (
            of(Api::Anthropic, json!({"tool_choice": {"type": "auto", "disable_parallel_tool_use": true}})),
            &["t", "t"],
            "it forbids parallel calls, and 2 are to be made",
        ),
    ] {
        assert_eq!(request.forbids(calls.iter().copied()).as_deref(), Some(why));
    }
}

#[test]
fn whatever_has_another_form_is_passed_over() {
    for api in Api::ALL {
        for body in [
            "null",
            "[]",
            r#"{"messages":{},"input":7,"tools":"x","tool_choice":[],"system":1,"stream":"yes"}"#,
            r#"{"messages":[null,1,"x",[]],"input":[null,1,"x",[]],"tools":[null],"system":[null]}"#,
            r#"{"messages":[{"role":"user","content":[null,7]},{"role":"assistant","content":{"a":1},"tool_calls":[null,{"function":7}]}],
                "input":[{"type":7},{"type":"function_call"},{"type":"function_call_output","output":{}},{"type":"reasoning","summary":"x"}]}"#,
        ] {
            let request = request(api, body);
            assert!(!request.stream && !request.lacks.is_empty(), "{api}: {body}");
        }
    }
}

/// The bodies are those that the chats of `google-genai` 3.6.1 (Python) and `@google/genai` 2.32.0 (JavaScript) sent.
#[test]
fn gemini_as_its_official_sdks_write_it() {
    let streamed = r#"{"contents": [{"parts": [{"text": "Go"}, {"inlineData": {"data": "iVBORw==", "mime_type": "image/png"}}], "role": "user"}, {"parts": [{"text": "I look."}], "role": "model"}, {"parts": [{"functionCall": {"id": "c1", "args": {"n": 1}, "name": "look"}, "thoughtSignature": "AAEC"}], "role": "model"}, {"parts": [{"functionCall": {"args": {"n": 2}, "name": "look"}}], "role": "model"}, {"parts": [{"functionResponse": {"name": "look", "response": {"result": "r1"}}}, {"functionResponse": {"name": "look", "response": {"error": "r2"}}}], "role": "user"}], "systemInstruction": {"parts": [{"text": "Be brief."}], "role": "user"}, "tools": [{"functionDeclarations": [{"description": "Looks.", "name": "look", "parameters_json_schema": {"type": "object"}}]}], "toolConfig": {"functionCallingConfig": {"allowedFunctionNames": ["look"], "mode": "ANY"}}, "generationConfig": {"maxOutputTokens": 9, "stopSequences": ["END"], "thinkingConfig": {"include_thoughts": true}}}"#;
    let read = request(Api::Gemini, streamed);
    let messages: Vec<Value> = read.messages.iter().map(WireMessage::to_json).collect();
    let place = "contents[3].parts[0]";
    assert_eq!(
        messages,
        [
            json!({"type": "system", "content": "Be brief."}),
            json!({"type": "human", "content": "Go"}),
            json!({"type": "human", "content": "\u{fffc}"}),
            json!({"type": "ai", "content": "I look.", "tool_calls": [
                {"id": "c1", "name": "look", "args": {"n": 1}}, {"id": place, "name": "look", "args": {"n": 2}}]}),
            json!({"type": "tool", "content": "r1", "tool_call_id": "c1"}),
            json!({"type": "tool", "content": "r2", "tool_call_id": place}),
        ]
    );
    let errors: Vec<bool> = read.messages.iter().map(|message| message.is_error).collect();
    assert_eq!(errors, [false, false, false, false, false, true]);
    let signature = OpaqueContent::Reasoning { id: None, summary: String::new(), encrypted: Some("AAEC".to_owned()) };
    assert_eq!(read.messages[3].opaque[0].content, signature);
    assert_eq!(read.messages[2].images, ["iVBORw=="]);
    let tool = &read.tools[0];
    assert_eq!((tool.name.as_deref(), tool.schema.as_ref()), (Some("look"), Some(&json!({"type": "object"}))));
    assert_eq!((read.choice, read.thinking, read.omits_thinking), (ToolChoice::Named("look".into()), true, false));
    assert_eq!((read.max_tokens, read.stop), (Some(9), vec!["END".to_owned()]));
    let plain = r#"{"contents":[{"parts":[{"text":"Go"}],"role":"user"},{"parts":[{"text":"I look."},{"functionCall":{"args":{"n":1},"id":"c1","name":"look"},"thoughtSignature":"AAEC"},{"functionCall":{"args":{"n":2},"name":"look"}}],"role":"model"},{"parts":[{"functionResponse":{"id":"c1","name":"look","response":{"output":"r1"}}},{"functionResponse":{"name":"look","response":{"output":{"a":1}}}}],"role":"user"}],"systemInstruction":{"parts":[{"text":"Be brief."}],"role":"user"}}"#;
    let answers: Vec<Value> = request(Api::Gemini, plain).messages.iter().skip(3).map(WireMessage::to_json).collect();
    assert_eq!(
        answers,
        [
            json!({"type": "tool", "content": "r1", "tool_call_id": "c1"}),
            json!({"type": "tool", "content": r#"{"a":1}"#, "tool_call_id": "contents[1].parts[2]"}),
        ]
    );
}
