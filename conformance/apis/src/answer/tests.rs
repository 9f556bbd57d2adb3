//! The worked exchanges (section 9 of the specification of the provider): what is written is typed from there.

use super::*;
use serde_json::json;

fn request(api: Api, options: &Value) -> ApiRequest {
    let mut body = match api {
        Api::OpenAiChat => json!({"model": "gpt-4.1", "messages": []}),
        Api::OpenAiResponses => json!({"model": "gpt-4.1", "instructions": "Be brief.", "store": false, "input": []}),
        Api::Anthropic => json!({"model": "claude-sonnet-5", "max_tokens": 1024, "messages": []}),
        Api::Gemini => json!({"model": "gemini-2.5-pro", "contents": []}),
    };
    body.as_object_mut().expect("an object").extend(options.as_object().cloned().unwrap_or_default());
    ApiRequest::read(api, &body)
}

/// `I look.` with two calls.
fn looks(api: Api) -> ModelAnswer {
    let (id, model, prefix) = match api {
        Api::OpenAiChat => ("chatcmpl-BaJb", "gpt-4.1", "call_"),
        Api::OpenAiResponses => ("resp_fd6E", "gpt-4.1", "call_"),
        Api::Anthropic => ("msg_01IW", "claude-sonnet-5", "toolu_"),
        Api::Gemini => ("cWkr", "gemini-2.5-pro", "call_"),
    };
    let call = |letter: &str, n: u64, item: &str| SaidCall {
        item_id: Some(item.to_owned()),
        ..SaidCall::new(format!("{prefix}{letter}"), "look", &json!({ "n": n }))
    };
    ModelAnswer {
        id: id.into(),
        model: model.into(),
        created: 1_790_000_000,
        text: "I look.".into(),
        calls: vec![call("a", 1, "fc_V6kr"), call("b", 2, "fc_nHQj")],
        finish: Finish::Calls,
        usage: Usage { input: if api == Api::OpenAiChat { 18 } else { 8 }, output: 5, ..Usage::default() },
        item_id: Some("msg_nyMg".into()),
        ..ModelAnswer::default()
    }
}

const FOURS: fn() -> StreamShape = || StreamShape { pieces: Pieces::Lengths(vec![4]), ..StreamShape::default() };

fn written(events: &[StreamEvent]) -> Vec<String> {
    let line = |event: &StreamEvent| match (event.part, event.name) {
        (EventPart::Comment, _) => format!(": {}", event.data),
        (_, Some(name)) => format!("{name} {}", event.data),
        (_, None) => event.data.clone(),
    };
    events.iter().map(line).collect()
}

#[test]
fn a_plain_answer_of_chat() {
    let api = Api::OpenAiChat;
    assert_eq!(
        looks(api).plain(&request(api, &json!({}))).to_string(),
        concat!(
            r#"{"id":"chatcmpl-BaJb","object":"chat.completion","created":1790000000,"model":"gpt-4.1","service_tier":"default","system_fingerprint":"fp_threadspec","#,
            r#""choices":[{"index":0,"message":{"role":"assistant","content":"I look.","refusal":null,"annotations":[],"tool_calls":[{"id":"call_a","type":"function","function":{"name":"look","arguments":"{\"n\":1}"}},"#,
            r#"{"id":"call_b","type":"function","function":{"name":"look","arguments":"{\"n\":2}"}}]},"logprobs":null,"finish_reason":"tool_calls"}],"#,
            r#""usage":{"prompt_tokens":18,"completion_tokens":5,"total_tokens":23,"prompt_tokens_details":{"cached_tokens":0,"audio_tokens":0},"#,
            r#""completion_tokens_details":{"reasoning_tokens":0,"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}}}"#
        )
    );
}

#[test]
fn a_streamed_answer_of_chat() {
    let api = Api::OpenAiChat;
    let events = looks(api).events(&request(api, &json!({"stream_options": {"include_usage": true}})), &FOURS());
    let head = r#"{"id":"chatcmpl-BaJb","object":"chat.completion.chunk","created":1790000000,"model":"gpt-4.1","service_tier":"default","system_fingerprint":"fp_threadspec","choices":"#;
    let chunk = |delta: &str| {
        format!(r#"{head}[{{"index":0,"delta":{delta},"logprobs":null,"finish_reason":null}}],"usage":null}}"#)
    };
    let expected = [
        ": keep-alive".to_owned(),
        chunk(r#"{"role":"assistant","content":"","refusal":null}"#),
        chunk(r#"{"content":"I lo"}"#),
        chunk(r#"{"content":"ok."}"#),
        chunk(
            r#"{"tool_calls":[{"index":0,"id":"call_a","type":"function","function":{"name":"look","arguments":""}}]}"#,
        ),
        chunk(r#"{"tool_calls":[{"index":0,"function":{"arguments":"{\"n\""}}]}"#),
        chunk(r#"{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]}"#),
        chunk(
            r#"{"tool_calls":[{"index":1,"id":"call_b","type":"function","function":{"name":"look","arguments":""}}]}"#,
        ),
        chunk(r#"{"tool_calls":[{"index":1,"function":{"arguments":"{\"n\""}}]}"#),
        chunk(r#"{"tool_calls":[{"index":1,"function":{"arguments":":2}"}}]}"#),
        format!(r#"{head}[{{"index":0,"delta":{{}},"logprobs":null,"finish_reason":"tool_calls"}}],"usage":null}}"#),
        format!(
            r#"{head}[],"usage":{{"prompt_tokens":18,"completion_tokens":5,"total_tokens":23,"prompt_tokens_details":{{"cached_tokens":0,"audio_tokens":0}},"completion_tokens_details":{{"reasoning_tokens":0,"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}}}}}}"#
        ),
        "[DONE]".to_owned(),
    ];
    assert_eq!(written(&events), expected);
    let ends: Vec<usize> = (0..events.len()).filter(|&at| events[at].ends_call).collect();
    assert_eq!(ends, [6, 9]);
    let without_usage = looks(api).events(&request(api, &json!({})), &FOURS());
    assert!(without_usage.iter().all(|event| !event.data.contains("usage")));
    assert_eq!(without_usage.len(), events.len() - 1);
}

/// The response of the worked exchange but for its beginning and its end.
fn response(status: &str, output: &str, usage: &str) -> String {
    format!(
        concat!(
            r#"{{"id":"resp_fd6E","object":"response","created_at":1790000000,"status":"{}","background":false,"error":null,"incomplete_details":null,"instructions":"Be brief.","max_output_tokens":null,"model":"gpt-4.1","#,
            r#""output":[{}],"parallel_tool_calls":true,"previous_response_id":null,"reasoning":{{"effort":null,"summary":null}},"service_tier":"default","store":false,"temperature":1.0,"text":{{"format":{{"type":"text"}}}},"#,
            r#""tool_choice":"auto","tools":[],"top_p":1.0,"truncation":"disabled","user":null,"metadata":{{}},"usage":{}}}"#
        ),
        status, output, usage
    )
}

const MESSAGE: &str = r#"{"id":"msg_nyMg","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","annotations":[],"logprobs":[],"text":"I look."}]}"#;
const CALL_A: &str = r#"{"id":"fc_V6kr","type":"function_call","status":"completed","arguments":"{\"n\":1}","call_id":"call_a","name":"look"}"#;
const CALL_B: &str = r#"{"id":"fc_nHQj","type":"function_call","status":"completed","arguments":"{\"n\":2}","call_id":"call_b","name":"look"}"#;
/// With `cache_write_tokens`, which the specification lacks and openai-python 3.57.0 requires.
const RESPONSE_USAGE: &str = r#"{"input_tokens":8,"input_tokens_details":{"cached_tokens":0,"cache_write_tokens":0},"output_tokens":5,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":13}"#;

#[test]
fn a_plain_answer_of_responses() {
    let api = Api::OpenAiResponses;
    let output = [MESSAGE, CALL_A, CALL_B].join(",");
    assert_eq!(looks(api).plain(&request(api, &json!({}))).to_string(), response("completed", &output, RESPONSE_USAGE));
}

#[test]
fn a_streamed_answer_of_responses() {
    let api = Api::OpenAiResponses;
    let events = looks(api).events(&request(api, &json!({})), &FOURS());
    let begun = format!(r#""response":{}"#, response("in_progress", "", "null"));
    let output = [MESSAGE, CALL_A, CALL_B].join(",");
    let ended = format!(r#""response":{}"#, response("completed", &output, RESPONSE_USAGE));
    let at = |index: usize, id: &str| format!(r#""output_index":{index},"item_id":"{id}""#);
    let text = at(0, "msg_nyMg") + r#","content_index":0"#;
    let item = |whole: &str, index: usize| format!(r#""item":{whole},"output_index":{index}"#);
    let call = |id: &str, letter: &str| {
        format!(
            r#"{{"id":"{id}","type":"function_call","status":"in_progress","arguments":"","call_id":"call_{letter}","name":"look"}}"#
        )
    };
    let arguments = |index: usize, id: &str, member: &str| format!("{},{member}", at(index, id));
    let expected = [
        ("response.created", begun.clone()),
        ("response.in_progress", begun),
        (
            "response.output_item.added",
            item(r#"{"id":"msg_nyMg","type":"message","status":"in_progress","role":"assistant","content":[]}"#, 0),
        ),
        (
            "response.content_part.added",
            format!(r#"{text},"part":{{"type":"output_text","annotations":[],"logprobs":[],"text":""}}"#),
        ),
        ("response.output_text.delta", format!(r#"{text},"delta":"I lo","logprobs":[]"#)),
        ("response.output_text.delta", format!(r#"{text},"delta":"ok.","logprobs":[]"#)),
        ("response.output_text.done", format!(r#"{text},"text":"I look.","logprobs":[]"#)),
        (
            "response.content_part.done",
            format!(r#"{text},"part":{{"type":"output_text","annotations":[],"logprobs":[],"text":"I look."}}"#),
        ),
        ("response.output_item.done", item(MESSAGE, 0)),
        ("response.output_item.added", item(&call("fc_V6kr", "a"), 1)),
        ("response.function_call_arguments.delta", arguments(1, "fc_V6kr", r#""delta":"{\"n\"""#)),
        ("response.function_call_arguments.delta", arguments(1, "fc_V6kr", r#""delta":":1}""#)),
        ("response.function_call_arguments.done", arguments(1, "fc_V6kr", r#""arguments":"{\"n\":1}""#)),
        ("response.output_item.done", item(CALL_A, 1)),
        ("response.output_item.added", item(&call("fc_nHQj", "b"), 2)),
        ("response.function_call_arguments.delta", arguments(2, "fc_nHQj", r#""delta":"{\"n\"""#)),
        ("response.function_call_arguments.delta", arguments(2, "fc_nHQj", r#""delta":":2}""#)),
        ("response.function_call_arguments.done", arguments(2, "fc_nHQj", r#""arguments":"{\"n\":2}""#)),
        ("response.output_item.done", item(CALL_B, 2)),
        ("response.completed", ended),
    ];
    let expected = expected
        .iter()
        .enumerate()
        .map(|(number, (kind, body))| format!(r#"{kind} {{"type":"{kind}",{body},"sequence_number":{number}}}"#));
    let expected: Vec<String> = std::iter::once(": keep-alive".to_owned()).chain(expected).collect();
    assert_eq!(written(&events), expected);
}

#[test]
fn a_plain_answer_of_anthropic() {
    let api = Api::Anthropic;
    assert_eq!(
        looks(api).plain(&request(api, &json!({}))).to_string(),
        concat!(
            r#"{"id":"msg_01IW","type":"message","role":"assistant","model":"claude-sonnet-5","content":[{"type":"text","text":"I look."},{"type":"tool_use","id":"toolu_a","name":"look","input":{"n":1}},"#,
            r#"{"type":"tool_use","id":"toolu_b","name":"look","input":{"n":2}}],"stop_reason":"tool_use","stop_sequence":null,"#,
            r#""usage":{"input_tokens":8,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0},"output_tokens":5,"service_tier":"standard"}}"#
        )
    );
}

#[test]
fn a_streamed_answer_of_anthropic() {
    let api = Api::Anthropic;
    let events = looks(api).events(&request(api, &json!({})), &FOURS());
    let expected = [
        ": keep-alive",
        concat!(
            r#"message_start {"type":"message_start","message":{"id":"msg_01IW","type":"message","role":"assistant","model":"claude-sonnet-5","content":[],"stop_reason":null,"stop_sequence":null,"#,
            r#""usage":{"input_tokens":8,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0},"output_tokens":1,"service_tier":"standard"}}}"#
        ),
        r#"ping {"type":"ping"}"#,
        r#"content_block_start {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
        r#"content_block_delta {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"I lo"}}"#,
        r#"content_block_delta {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"ok."}}"#,
        r#"content_block_stop {"type":"content_block_stop","index":0}"#,
        r#"content_block_start {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_a","name":"look","input":{}}}"#,
        r#"content_block_delta {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":""}}"#,
        r#"content_block_delta {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"n\""}}"#,
        r#"content_block_delta {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":":1}"}}"#,
        r#"content_block_stop {"type":"content_block_stop","index":1}"#,
        r#"content_block_start {"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"toolu_b","name":"look","input":{}}}"#,
        r#"content_block_delta {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":""}}"#,
        r#"content_block_delta {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"n\""}}"#,
        r#"content_block_delta {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":":2}"}}"#,
        r#"content_block_stop {"type":"content_block_stop","index":2}"#,
        r#"message_delta {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":5}}"#,
        r#"message_stop {"type":"message_stop"}"#,
    ];
    assert_eq!(written(&events), expected);
}
