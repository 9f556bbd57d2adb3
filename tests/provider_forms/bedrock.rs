//! Requests to Bedrock.

use super::{bedrock, exactly};
use serde_json::{Value, json};
use threadspec::oracle::RequestForm;

#[test]
fn bedrock_messages() {
    exactly(
        RequestForm::BedrockConverse,
        &bedrock(),
        &[
            (&[("/messages/2/content/0", None)], &[("BED-ANSWERED", "messages[2].content")]),
            (
                &[("/messages/158/content/0/toolResult/toolUseId", Some(json!("z")))],
                &[("BED-ANSWERED", "messages[158].content")],
            ),
            (&[("/messages/2/content", Some(json!([{"text": "No."}])))], &[("BED-ANSWERED", "messages[2].content")]),
            (
                &[("/messages/2/content/1", None), ("/messages/6/content/0", None)],
                &[("BED-ANSWERED", "messages[2].content"), ("BED-ANSWERED", "messages[6].content")],
            ),
            (
                &[(
                    "/messages/160/content",
                    Some(json!([{"toolResult": {"toolUseId": "z", "content": [{"text": "4"}]}}])),
                )],
                &[("BED-COUNT", "messages[160].content")],
            ),
            (&[("/messages/1/content/2", None)], &[("BED-COUNT", "messages[2].content")]),
            (
                &[(
                    "/messages/0/content",
                    Some(json!([{"toolResult": {"toolUseId": "z", "content": [{"text": "4"}]}}])),
                )],
                &[("BED-COUNT", "messages[0].content")],
            ),
            (
                &[("/messages/5/content/1", None), ("/messages/157/content/2", None)],
                &[("BED-COUNT", "messages[6].content"), ("BED-COUNT", "messages[158].content")],
            ),
            (&[("/toolConfig", None)], &[("BED-TOOLCONFIG", "toolConfig")]),
            (&[("/toolConfig", Some(Value::Null))], &[("BED-TOOLCONFIG", "toolConfig")]),
            (
                &[("/toolConfig", None), ("/modelId", None), ("/inferenceConfig", Some(json!({})))],
                &[("BED-TOOLCONFIG", "toolConfig")],
            ),
            (&[("/toolConfig", None), ("/system", Some(json!([{"text": "S"}])))], &[("BED-TOOLCONFIG", "toolConfig")]),
            // A part of a request.
            (&[("/toolConfig", None), ("/modelId", None)], &[]),
            (&[("/messages/0/content/0/text", Some(json!("")))], &[("BED-BLANK", "messages[0].content[0].text")]),
            (&[("/messages/157/content/0/text", Some(json!("\n")))], &[("BED-BLANK", "messages[157].content[0].text")]),
            (&[("/messages/160/content", Some(json!([])))], &[("BED-BLANK", "messages[160].content")]),
            (
                &[("/messages/4/content", None), ("/messages/6/content/0/toolResult/content/0/text", Some(json!(" ")))],
                &[
                    ("BED-BLANK", "messages[4].content"),
                    ("BED-BLANK", "messages[6].content[0].toolResult.content[0].text"),
                ],
            ),
            (
                &[("/messages/2/content/0/toolResult/content", Some(json!([])))],
                &[("BED-ERROR-CONTENT", "messages[2].content[0].toolResult.content")],
            ),
            (
                &[("/messages/2/content/0/toolResult/content", None)],
                &[("BED-ERROR-CONTENT", "messages[2].content[0].toolResult.content")],
            ),
            (
                &[("/messages/158/content/0/toolResult/content", Some(json!([])))],
                &[("BED-ERROR-CONTENT", "messages[158].content[0].toolResult.content")],
            ),
            (
                &[
                    ("/messages/2/content/0/toolResult/content", None),
                    ("/messages/2/content/1/toolResult/content", None),
                    ("/messages/2/content/1/toolResult/status", Some(json!("error"))),
                ],
                &[
                    ("BED-ERROR-CONTENT", "messages[2].content[0].toolResult.content"),
                    ("BED-ERROR-CONTENT", "messages[2].content[1].toolResult.content"),
                ],
            ),
            (&[("/messages/0", None)], &[("BED-ALTERNATE", "messages[0].role")]),
            (&[("/messages/3", None)], &[("BED-ALTERNATE", "messages[3].role")]),
            (
                &[("/messages/159/role", Some(json!("user")))],
                &[("BED-ALTERNATE", "messages[159].role"), ("BED-ALTERNATE", "messages[160].role")],
            ),
            (
                &[("/messages/8", None), ("/messages/3", None)],
                &[("BED-ALTERNATE", "messages[3].role"), ("BED-ALTERNATE", "messages[7].role")],
            ),
        ],
    );
}
