//! Requests to OpenAI.

use super::{IMAGE, chat, exactly, responses};
use serde_json::{Value, json};
use threadspec::oracle::Api;

#[test]
fn chat_completions() {
    let image = || Some(json!([{"type": "text", "text": "Look:"}, {"type": "image_url", "image_url": {"url": IMAGE}}]));
    exactly(
        Api::OpenAiChat,
        &chat(),
        &[
            (
                &[("/messages/0/content", Some(json!({"text": "S"})))],
                &[("OAI-CHAT-CONTENT-TYPE", "messages[0].content")],
            ),
            (&[("/messages/3/content", Some(json!({"n": 4})))], &[("OAI-CHAT-CONTENT-TYPE", "messages[3].content")]),
            (&[("/messages/119/content", Some(json!(7)))], &[("OAI-CHAT-CONTENT-TYPE", "messages[119].content")]),
            (
                &[("/messages/118/content/0", Some(json!("Hi")))],
                &[("OAI-CHAT-CONTENT-TYPE", "messages[118].content[0]")],
            ),
            (
                &[("/messages/4/content/0/type", None), ("/messages/6/content", Some(json!(true)))],
                &[
                    ("OAI-CHAT-CONTENT-TYPE", "messages[4].content[0].type"),
                    ("OAI-CHAT-CONTENT-TYPE", "messages[6].content"),
                ],
            ),
            (&[("/messages/0/role", Some(json!("System")))], &[("OAI-CHAT-ROLE", "messages[0].role")]),
            (
                &[("/messages/1/role", Some(json!("human")))],
                &[("OAI-CHAT-ROLE", "messages[1].role"), ("OAI-CHAT-IMAGE", "messages[1].content[1]")],
            ),
            (
                &[("/messages/118/role", None), ("/messages/118/content", Some(json!("Hi")))],
                &[("OAI-CHAT-ROLE", "messages[118].role")],
            ),
            (
                &[
                    ("/messages/0/role", Some(json!(1))),
                    ("/messages/4/role", Some(json!("ai"))),
                    ("/messages/4/content", Some(json!("Hi"))),
                ],
                &[("OAI-CHAT-ROLE", "messages[0].role"), ("OAI-CHAT-ROLE", "messages[4].role")],
            ),
            (&[("/messages/2/tool_calls/0/type", None)], &[("OAI-CHAT-CALL-TYPE", "messages[2].tool_calls[0].type")]),
            (
                &[("/messages/119/tool_calls/0/type", None)],
                &[("OAI-CHAT-CALL-TYPE", "messages[119].tool_calls[0].type")],
            ),
            (
                &[("/messages/5/tool_calls/0/type", Some(Value::Null))],
                &[("OAI-CHAT-CALL-TYPE", "messages[5].tool_calls[0].type")],
            ),
            (
                &[("/messages/8/tool_calls/0/type", Some(json!("tool_use")))],
                &[("OAI-CHAT-CALL-TYPE", "messages[8].tool_calls[0].type")],
            ),
            (
                &[("/messages/3/content/0", Some(json!({"type": "tool_result", "text": "4"})))],
                &[("OAI-CHAT-PART-TYPE", "messages[3].content[0].type")],
            ),
            (
                &[("/messages/1/content/0/type", Some(json!("input_text")))],
                &[("OAI-CHAT-PART-TYPE", "messages[1].content[0].type")],
            ),
            (
                &[("/messages/118/content/1/type", Some(json!("image")))],
                &[("OAI-CHAT-PART-TYPE", "messages[118].content[1].type")],
            ),
            (
                &[
                    ("/messages/4/content/0/type", Some(json!("thinking"))),
                    ("/messages/4/content/1/type", Some(json!("media"))),
                ],
                &[
                    ("OAI-CHAT-PART-TYPE", "messages[4].content[0].type"),
                    ("OAI-CHAT-PART-TYPE", "messages[4].content[1].type"),
                ],
            ),
            (&[("/messages/0/content", image())], &[("OAI-CHAT-IMAGE", "messages[0].content[1]")]),
            (&[("/messages/2/content", image())], &[("OAI-CHAT-IMAGE", "messages[2].content[1]")]),
            (&[("/messages/3/content", image())], &[("OAI-CHAT-IMAGE", "messages[3].content[1]")]),
            (
                &[("/messages/6/content", image()), ("/messages/120/content", image())],
                &[("OAI-CHAT-IMAGE", "messages[6].content[1]"), ("OAI-CHAT-IMAGE", "messages[120].content[1]")],
            ),
            // Every fault of a message is told, and every one of its kind.
            (
                &[
                    ("/messages/2/tool_calls/0/type", None),
                    ("/messages/2/tool_calls/0/function/name", Some(json!("a b"))),
                    ("/messages/2/tool_calls/0/function/arguments", Some(json!({}))),
                    ("/messages/2/content", Some(json!({}))),
                ],
                &[
                    ("OAI-CHAT-CALL-TYPE", "messages[2].tool_calls[0].type"),
                    ("OAI-CHAT-NAME-PATTERN", "messages[2].tool_calls[0].function.name"),
                    ("OAI-CHAT-ARGS-STRING", "messages[2].tool_calls[0].function.arguments"),
                    ("OAI-CHAT-CONTENT-TYPE", "messages[2].content"),
                ],
            ),
        ],
    );
}

#[test]
fn responses_items() {
    let chat_call = || Some(json!([{"id": "a", "type": "function", "function": {"name": "t", "arguments": "{}"}}]));
    exactly(
        Api::OpenAiResponses,
        &responses(),
        &[
            (&[("/input/0/type", Some(json!("input_text")))], &[("OAI-RESP-ITEM-TYPE", "input[0].type")]),
            (&[("/input/3/type", Some(json!("output_text")))], &[("OAI-RESP-ITEM-TYPE", "input[3].type")]),
            (&[("/input/156/type", Some(json!("tool_result")))], &[("OAI-RESP-ITEM-TYPE", "input[156].type")]),
            (
                &[("/input/4/type", Some(json!(1))), ("/input/159/type", Some(json!("text")))],
                &[("OAI-RESP-ITEM-TYPE", "input[4].type"), ("OAI-RESP-ITEM-TYPE", "input[159].type")],
            ),
            (&[("/input/0/role", Some(json!("tool")))], &[("OAI-RESP-ROLE", "input[0].role")]),
            (&[("/input/156/role", Some(json!("function")))], &[("OAI-RESP-ROLE", "input[156].role")]),
            (&[("/input/4/role", None), ("/input/4/type", None)], &[("OAI-RESP-ROLE", "input[4].role")]),
            (
                &[("/input/0/role", Some(json!("human"))), ("/input/8/role", Some(json!("model")))],
                &[("OAI-RESP-ROLE", "input[0].role"), ("OAI-RESP-ROLE", "input[8].role")],
            ),
            (&[("/input/3/tool_calls", chat_call())], &[("OAI-RESP-CHAT-CALLS", "input[3].tool_calls")]),
            (&[("/input/159/tool_calls", chat_call())], &[("OAI-RESP-CHAT-CALLS", "input[159].tool_calls")]),
            (&[("/input/0/tool_call_id", Some(json!("a")))], &[("OAI-RESP-CHAT-CALLS", "input[0].tool_call_id")]),
            (
                &[("/input/4/role", Some(json!("tool"))), ("/input/4/tool_call_id", Some(json!("a")))],
                &[("OAI-RESP-ROLE", "input[4].role"), ("OAI-RESP-CHAT-CALLS", "input[4].tool_call_id")],
            ),
            (
                &[("/input/0/content", Some(json!({"type": "input_text", "text": "Hi"})))],
                &[("OAI-RESP-CONTENT-TYPE", "input[0].content")],
            ),
            (&[("/input/3/content", Some(Value::Null))], &[("OAI-RESP-CONTENT-TYPE", "input[3].content")]),
            (&[("/input/156/content", None)], &[("OAI-RESP-CONTENT-TYPE", "input[156].content")]),
            (
                &[("/input/4/content/0", Some(json!("Hi"))), ("/input/4/content/1/type", None)],
                &[
                    ("OAI-RESP-CONTENT-TYPE", "input[4].content[0]"),
                    ("OAI-RESP-CONTENT-TYPE", "input[4].content[1].type"),
                ],
            ),
            (
                &[("/input/0/content/0/type", Some(json!("text")))],
                &[("OAI-RESP-TEXT-TYPE", "input[0].content[0].type")],
            ),
            (
                &[("/input/3/content/0", Some(json!({"type": "input_image", "image_url": IMAGE})))],
                &[("OAI-RESP-TEXT-TYPE", "input[3].content[0].type")],
            ),
            (
                &[("/input/156/content/1/type", Some(json!("image_url")))],
                &[("OAI-RESP-TEXT-TYPE", "input[156].content[1].type")],
            ),
            (
                &[
                    ("/input/4/content/0/type", Some(json!("output_text"))),
                    ("/input/4/content/1/type", Some(json!("image"))),
                ],
                &[
                    ("OAI-RESP-TEXT-TYPE", "input[4].content[0].type"),
                    ("OAI-RESP-TEXT-TYPE", "input[4].content[1].type"),
                ],
            ),
            (&[("/input/1/id", Some(json!("call_0")))], &[("OAI-RESP-ITEM-PREFIX", "input[1].id")]),
            (&[("/input/3/id", Some(json!("rs_0")))], &[("OAI-RESP-ITEM-PREFIX", "input[3].id")]),
            (&[("/input/157/id", Some(json!("")))], &[("OAI-RESP-ITEM-PREFIX", "input[157].id")]),
            (&[("/input/0/id", Some(json!("019f629b-43ee")))], &[("OAI-RESP-ITEM-PREFIX", "input[0].id")]),
            (
                &[("/input/5/id", Some(json!("x".repeat(65)))), ("/input/9/id", Some(json!("fc_ä")))],
                &[
                    ("OAI-RESP-ITEM-PREFIX", "input[5].id"),
                    ("OAI-RESP-ITEM-PREFIX", "input[5].id"),
                    ("OAI-RESP-ITEM-PREFIX", "input[9].id"),
                ],
            ),
            (
                &[(
                    "/input/1",
                    Some(
                        json!({"type": "custom_tool_call", "id": "fc_x", "call_id": "call_0", "name": "t", "input": "x"}),
                    ),
                )],
                &[("OAI-RESP-ITEM-PREFIX", "input[1].id")],
            ),
            (&[("/input/1/arguments", Some(json!({})))], &[("OAI-RESP-ARGS-STRING", "input[1].arguments")]),
            (&[("/input/157/arguments", Some(json!([1])))], &[("OAI-RESP-ARGS-STRING", "input[157].arguments")]),
            (&[("/input/5/arguments", None)], &[("OAI-RESP-ARGS-STRING", "input[5].arguments")]),
            (
                &[("/input/1/arguments", Some(Value::Null)), ("/input/9/arguments", Some(json!(1)))],
                &[("OAI-RESP-ARGS-STRING", "input[1].arguments"), ("OAI-RESP-ARGS-STRING", "input[9].arguments")],
            ),
            (&[("/input/1/arguments", Some(json!("")))], &[("OAI-RESP-ARGS-JSON", "input[1].arguments")]),
            (&[("/input/157/arguments", Some(json!("{\"n\": ")))], &[("OAI-RESP-ARGS-JSON", "input[157].arguments")]),
            (&[("/input/5/arguments", Some(json!("[1]")))], &[("OAI-RESP-ARGS-JSON", "input[5].arguments")]),
            (
                &[("/input/1/arguments", Some(json!("{}{}"))), ("/input/5/arguments", Some(json!("null")))],
                &[("OAI-RESP-ARGS-JSON", "input[1].arguments"), ("OAI-RESP-ARGS-JSON", "input[5].arguments")],
            ),
            // A server that parses them takes these, too.
            (
                &[
                    ("/input/1/arguments", Some(json!("\n{\"n\": 1e999} "))),
                    ("/input/5/arguments", Some(json!(format!("{{\"n\": {}1{}}}", "[".repeat(200), "]".repeat(200))))),
                ],
                &[],
            ),
            (&[("/input/1/name", Some(json!("mcp.t")))], &[("OAI-RESP-NAME-PATTERN", "input[1].name")]),
            (&[("/input/157/name", Some(json!("get weather")))], &[("OAI-RESP-NAME-PATTERN", "input[157].name")]),
            (&[("/tools/0/name", Some(json!("a/b")))], &[("OAI-RESP-NAME-PATTERN", "tools[0].name")]),
            (
                &[("/input/5/name", Some(json!("ä"))), ("/input/9/name", Some(json!("a:b")))],
                &[("OAI-RESP-NAME-PATTERN", "input[5].name"), ("OAI-RESP-NAME-PATTERN", "input[9].name")],
            ),
            (&[("/input/1/name", Some(json!("")))], &[("OAI-RESP-NAME-LEN", "input[1].name")]),
            (&[("/input/157/name", Some(json!("n".repeat(129))))], &[("OAI-RESP-NAME-LEN", "input[157].name")]),
            (
                &[("/tools/0", Some(json!({"type": "function", "function": {"name": "t"}})))],
                &[("OAI-RESP-NAME-LEN", "tools[0].name")],
            ),
            (
                &[("/input/5/name", None), ("/input/9/name", Some(Value::Null))],
                &[("OAI-RESP-NAME-LEN", "input[5].name"), ("OAI-RESP-NAME-LEN", "input[9].name")],
            ),
            // Half a surrogate pair stands in a value as its mark.
            (
                &[("/input/1/arguments", Some(json!("{\"cut\": \"\u{10d83d}\"}")))],
                &[("OAI-RESP-UTF16", "input[1].arguments.cut"), ("OAI-RESP-UTF16", "input[1].arguments")],
            ),
            (
                &[("/input/1/arguments", Some(json!("{\"cut\": \"\\ud83d\"}")))],
                &[("OAI-RESP-UTF16", "input[1].arguments.cut")],
            ),
            (
                &[("/input/158/output/0/text", Some(json!("\u{10de00}")))],
                &[("OAI-RESP-UTF16", "input[158].output[0].text")],
            ),
            (
                &[("/input/0/content/0/text", Some(json!("\u{10d83d}"))), ("/instructions", Some(json!("\u{10de00}")))],
                &[("OAI-RESP-UTF16", "input[0].content[0].text"), ("OAI-RESP-UTF16", "instructions")],
            ),
        ],
    );
}
