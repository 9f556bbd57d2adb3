//! Requests to Anthropic, and the thinking of a sequence of them.

use super::{anthropic, exactly};
use serde_json::{Value, json};
use threadspec::oracle::{Api, SentThinking};

#[test]
fn anthropic_messages() {
    let image = || Some(json!({"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}));
    exactly(
        Api::Anthropic,
        &anthropic(),
        &[
            (
                &[("/messages/0/content", Some(json!({"type": "text", "text": "Hi"})))],
                &[("ANT-CONTENT-TYPE", "messages[0].content")],
            ),
            (&[("/messages/3/content", Some(Value::Null))], &[("ANT-CONTENT-TYPE", "messages[3].content")]),
            (&[("/messages/160/content", None)], &[("ANT-CONTENT-TYPE", "messages[160].content")]),
            (
                &[("/messages/4/content/0", Some(json!("Hi"))), ("/messages/4/content/1/type", None)],
                &[("ANT-CONTENT-TYPE", "messages[4].content[0]"), ("ANT-CONTENT-TYPE", "messages[4].content[1].type")],
            ),
            (
                &[("/messages/0/content/1/type", Some(json!("image_url")))],
                &[("ANT-BLOCK-TYPE", "messages[0].content[1].type")],
            ),
            (
                &[("/messages/1/content/0/type", Some(json!("output_text")))],
                &[("ANT-BLOCK-TYPE", "messages[1].content[0].type")],
            ),
            (
                &[("/messages/156/content/0/type", Some(json!("input_text")))],
                &[("ANT-BLOCK-TYPE", "messages[156].content[0].type")],
            ),
            (
                &[
                    ("/messages/4/content/0/type", Some(json!("fallback"))),
                    ("/messages/4/content/1/type", Some(json!("file"))),
                ],
                &[("ANT-BLOCK-TYPE", "messages[4].content[0].type"), ("ANT-BLOCK-TYPE", "messages[4].content[1].type")],
            ),
            (&[("/messages/1/content/0", image())], &[("ANT-IMAGE", "messages[1].content[0].type")]),
            (&[("/messages/157/content/0", image())], &[("ANT-IMAGE", "messages[157].content[0].type")]),
            (&[("/messages/3/content", Some(json!([image()])))], &[("ANT-IMAGE", "messages[3].content[0].type")]),
            (
                &[
                    ("/messages/5/content/0", image()),
                    ("/messages/7/content", Some(json!([{"type": "text", "text": "Look:"}, image()]))),
                ],
                &[("ANT-IMAGE", "messages[5].content[0].type"), ("ANT-IMAGE", "messages[7].content[1].type")],
            ),
            (&[("/messages/0/role", Some(json!("human")))], &[("ANT-ROLE", "messages[0].role")]),
            (&[("/messages/160/role", Some(json!("tool")))], &[("ANT-ROLE", "messages[160].role")]),
            (&[("/messages/156/role", None)], &[("ANT-ROLE", "messages[156].role")]),
            (
                &[("/messages/4/role", Some(json!("developer"))), ("/messages/8/role", Some(json!(1)))],
                &[("ANT-ROLE", "messages[4].role"), ("ANT-ROLE", "messages[8].role")],
            ),
            (&[("/max_tokens", None)], &[("ANT-MAX-TOKENS", "max_tokens")]),
            (&[("/max_tokens", Some(Value::Null))], &[("ANT-MAX-TOKENS", "max_tokens")]),
            (&[("/max_tokens", Some(json!("1024")))], &[("ANT-MAX-TOKENS", "max_tokens")]),
            (
                &[("/max_tokens", None), ("/model", None), ("/anthropic_version", Some(json!("vertex-2023-10-16")))],
                &[("ANT-MAX-TOKENS", "max_tokens")],
            ),
            // A part of a request.
            (&[("/max_tokens", None), ("/model", None)], &[]),
            (&[("/messages/1/content/1/name", Some(json!("")))], &[("ANT-TOOL-NAME", "messages[1].content[1].name")]),
            (
                &[("/messages/157/content/1/name", Some(json!("get weather")))],
                &[("ANT-TOOL-NAME", "messages[157].content[1].name")],
            ),
            (
                &[("/messages/5/content/1/name", Some(json!("n".repeat(201))))],
                &[("ANT-TOOL-NAME", "messages[5].content[1].name")],
            ),
            (&[("/tools/0/name", Some(json!("a.b")))], &[("ANT-TOOL-NAME", "tools[0].name")]),
            (
                &[(
                    "/messages/2/content/0/content",
                    Some(json!([{"type": "text", "text": ""}, {"type": "text", "text": ""}])),
                )],
                &[
                    ("ANT-RESULT-CONTENT", "messages[2].content[0].content[0].text"),
                    ("ANT-RESULT-CONTENT", "messages[2].content[0].content[1].text"),
                ],
            ),
        ],
    );
}

/// Thinking before calls, over the requests and answers of a log.
#[test]
fn thinking_is_followed_through_a_log() {
    let thought = |text: &str| json!({"type": "thinking", "thinking": text, "signature": "x"});
    let redacted = json!({"type": "redacted_thinking", "data": "secret"});
    let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "t", "input": {}});
    let says = |role: &str, content: Vec<Value>| json!({"role": role, "content": content});
    let result = |id: &str| json!({"type": "tool_result", "tool_use_id": id, "content": "4"});
    let text = || json!({"type": "text", "text": "Hi"});
    let body = |kind: &str, messages: &[Value]| json!({"model": "claude-sonnet-5", "max_tokens": 2048, "thinking": {"type": kind}, "messages": messages});
    let first = |blocks: &[Value]| {
        let content = blocks.iter().cloned().chain([call("a")]).collect();
        vec![says("user", vec![text()]), says("assistant", content), says("user", vec![result("a")])]
    };
    let both = [thought("One."), redacted.clone()];
    let found = |sent: &mut SentThinking, body: &Value| -> Vec<(&str, String, bool)> {
        sent.request(body).into_iter().map(|breach| (breach.rule, breach.place, breach.is_certain)).collect()
    };
    let missing = || vec![("ANT-THINK-FIRST", "messages[1].content[0].type".to_owned(), true)];
    let changed = || vec![("ANT-THINK-SAME", "messages[1].content[0]".to_owned(), true)];
    for (blocks, expected) in [
        (both.to_vec(), vec![]),
        (vec![], missing()),
        (vec![thought("One.")], changed()),
        (vec![redacted.clone()], changed()),
        (vec![redacted.clone(), thought("One.")], changed()),
        (vec![thought("One"), redacted.clone()], changed()),
        (vec![json!({"type": "thinking", "thinking": "One.", "signature": "y"}), redacted.clone()], changed()),
        // A mark of the cache is no change.
        (vec![thought("One."), json!({"type": "redacted_thinking", "data": "secret", "cache_control": null})], vec![]),
    ] {
        let next = body("enabled", &first(&blocks));
        let mut answered = SentThinking::default();
        answered.answer(&both.iter().cloned().chain([call("a")]).collect::<Vec<_>>());
        assert_eq!(found(&mut answered, &next), expected, "behind the answer: {blocks:?}");
        assert_eq!(found(&mut answered, &next), [], "it is told once");
        let mut repeated = SentThinking::default();
        assert_eq!(found(&mut repeated, &body("adaptive", &first(&both))), []);
        assert_eq!(found(&mut repeated, &next), expected, "behind a request: {blocks:?}");
    }
    // The signature of a message that is not the latest one does not fit.
    let mut sent = SentThinking::default();
    assert_eq!(found(&mut sent, &body("enabled", &first(&both))), []);
    let second =
        [first(&[thought("One")]), vec![says("assistant", vec![call("b")]), says("user", vec![result("b")])]].concat();
    assert_eq!(found(&mut sent, &body("enabled", &second)), changed());
    // Blocks of one answer may stand in several messages.
    let mut sent = SentThinking::default();
    sent.answer(&[thought("One."), call("a")]);
    let split = [
        says("user", vec![text()]),
        says("assistant", vec![thought("One.")]),
        says("assistant", vec![call("a")]),
        says("user", vec![result("a")]),
    ];
    assert_eq!(found(&mut sent, &body("enabled", &split)), []);
    // A turn that is over may lose its thinking, and so may a request that does not think, or another conversation.
    for (kind, rest) in [("enabled", vec![says("user", vec![text()])]), ("disabled", vec![])] {
        let mut sent = SentThinking::default();
        assert_eq!(found(&mut sent, &body("enabled", &first(&both))), []);
        assert_eq!(found(&mut sent, &body(kind, &[first(&[]), rest].concat())), []);
    }
    assert_eq!(found(&mut SentThinking::default(), &body("enabled", &first(&[]))), []);
}
