//! Snapshots of what a model is shown: documents, messages, and the requests of tool rounds.
//!
//! `cargo insta review` shows what a change alters (CONTRIBUTING).

use serde_json::Map;
use std::collections::HashMap;
use std::fmt::Write;
use threadspec::agent::{
    LoopOptions, Response, ScriptedModel, ScriptedTools, ScriptedVerifier, Turn, Verification, run_loop,
};
use threadspec::{
    ContextMode, ContextOptions, Event, Message, Profile, SerializeOptions, ToolCall, build_messages, read_events,
    serialize_thread,
};

/// All ten types of events, with what is hard to write in each.
fn every_type() -> Vec<Event> {
    read_events(
        r#"[
        {"type": "message", "role": "user", "content": "List <src> & \"docs\"", "iteration": 0},
        {"type": "message", "role": "assistant", "content": "I'll look.", "iteration": 1},
        {"type": "message", "role": "system", "content": "Answer in English.", "iteration": 1},
        {"type": "tool_call", "toolName": "list_files", "toolCallId": "c1", "args": {"path": "src", "all": true}, "iteration": 1},
        {"type": "tool_result", "toolCallId": "c1", "result": "\u001b[34mmain.rs\u001b[0m\r\nlib.rs", "iteration": 1},
        {"type": "tool_call", "toolName": "report", "toolCallId": "c2", "args": {}, "iteration": 1},
        {"type": "error", "error": "disk < full", "recoverable": true, "iteration": 1},
        {"type": "human_input_requested", "question": "Which folder?", "iteration": 2},
        {"type": "human_input_received", "response": "both", "iteration": 2},
        {"type": "summary", "summary": "two files", "summarizedIterations": [1, 2], "iteration": 3},
        {"type": "completion", "result": "two files", "verified": true, "iteration": 3}
    ]"#,
    )
    .expect("events")
}

#[test]
fn the_document_of_every_type() {
    for profile in Profile::ALL {
        let document = serialize_thread(&every_type(), &SerializeOptions { profile, ..Default::default() });
        insta::assert_snapshot!(format!("document-{profile}"), document);
    }
}

#[test]
fn the_messages_of_every_type() {
    for profile in Profile::ALL {
        for mode in ContextMode::ALL {
            let options = ContextOptions { profile, mode, instructions: "Be brief." };
            let messages = build_messages(&every_type(), &options);
            insta::assert_snapshot!(format!("messages-{mode}-{profile}"), lines(&messages));
        }
    }
}

/// FLOW's chain of files, one call after the other, and then an iteration that must remember them.
#[test]
fn the_requests_of_tool_rounds() {
    const CHAIN: [&str; 5] = ["createFile", "validateFile", "generateReport", "readFile", "deleteFile"];
    for calls in [1, 3, 5] {
        for mode in ContextMode::ALL {
            let called = CHAIN.iter().take(calls).enumerate().map(|(index, name)| Response {
                content: String::new(),
                tool_calls: vec![ToolCall {
                    id: format!("call_{}", index + 1),
                    name: (*name).into(),
                    args: Map::new(),
                }],
            });
            let said = ["Done.", "Checked."].map(|text| Response { content: text.into(), tool_calls: Vec::new() });
            let mut model = ScriptedModel::new(called.chain(said).map(|response| Turn(Ok(response))).collect());
            let results: HashMap<_, _> =
                CHAIN.iter().map(|name| ((*name).to_owned(), vec![format!("{name} succeeded").into()])).collect();
            let mut verifier = ScriptedVerifier::new(vec![Verification::Incomplete(Some("check it".into()))]);
            let options = LoopOptions { mode, ..Default::default() };
            run_loop(
                "Create and read a file",
                &mut model,
                &mut ScriptedTools::new(results),
                Some(&mut verifier),
                &options,
            );
            let requests: Vec<String> = model.requests().iter().map(|request| lines(request)).collect();
            insta::assert_snapshot!(format!("requests-{calls}-{mode}"), requests.join("\n"));
        }
    }
}

/// A line per message, and more for a text of several lines.
fn lines(messages: &[Message]) -> String {
    messages.iter().fold(String::new(), |mut out, message| {
        let json = message.to_json();
        let _ = write!(out, "{}", json["type"].as_str().unwrap_or("?"));
        if let Some(id) = json["tool_call_id"].as_str() {
            let _ = write!(out, " to {id}");
        }
        for call in message.tool_calls() {
            let _ = write!(out, " calls {} {}({})", call.id, call.name, serde_json::Value::from(call.args.clone()));
        }
        let _ = writeln!(out, ": {}", message.content().replace('\n', "\n    "));
        out
    })
}
