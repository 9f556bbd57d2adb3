//! Rules: which one answers, and with what.

use super::{Desk, chat, request, result, tool, user};
use crate::standalone::Script;
use serde_json::{Value, json};
use threadspec::oracle::Api;

/// Returns whether a rule with this condition answers a request.
fn fits(when: &Value, api: Api, body: &Value) -> bool {
    let mut desk =
        Desk::new(&json!({"rules": [{"when": when, "turn": {"content": "yes"}}], "otherwise": {"content": "no"}}));
    let (status, answer) = desk.send(request(api, "k", body));
    assert_eq!(status, 200, "{answer}");
    answer.to_string().contains("\"yes\"")
}

#[test]
fn every_condition_looks_at_its_part_of_the_request() {
    let called = json!({"role": "assistant", "content": null, "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}]});
    let answered = chat(json!([user("Go"), called, result("c1", "found 3")]));
    let begun = chat(json!([{"role": "system", "content": "Write a Title"}, user("Go home")]));
    let without = json!({"model": "gpt-4.1-mini", "messages": [user("Go home")]});
    for (when, body, expected) in [
        (json!({}), &begun, true),
        (json!({"last": "user"}), &begun, true),
        (json!({"last": "user"}), &answered, false),
        (json!({"last": "tool"}), &answered, true),
        (json!({"last": "assistant"}), &answered, false),
        (json!({"contains": "home"}), &begun, true),
        // Only the last message counts.
        (json!({"contains": "Title"}), &begun, false),
        (json!({"matches": "(?i)^GO"}), &begun, true),
        (json!({"matches": "^home"}), &begun, false),
        (json!({"tool": "lo*"}), &answered, true),
        (json!({"tool": "other"}), &answered, false),
        (json!({"tool": "*"}), &begun, false),
        (json!({"tools": true}), &begun, true),
        (json!({"tools": false}), &begun, false),
        (json!({"tools": false}), &without, true),
        (json!({"answered": 0}), &begun, true),
        (json!({"answered": {"below": 1}}), &answered, false),
        (json!({"answered": {"atLeast": 1, "atMost": 2}}), &answered, true),
        (json!({"api": "openai-chat"}), &begun, true),
        (json!({"api": "anthropic"}), &begun, false),
        (json!({"model": "gpt-*-mini"}), &without, true),
        (json!({"model": "gpt-*-mini"}), &begun, false),
        (json!({"turn": 1}), &begun, true),
        (json!({"turn": {"atLeast": 2}}), &begun, false),
        // All of them must hold.
        (json!({"last": "user", "tools": false}), &begun, false),
    ] {
        assert_eq!(fits(&when, Api::OpenAiChat, body), expected, "{when} {body}");
    }
    let anthropic = json!({"model": "claude-sonnet-5", "max_tokens": 9, "messages": [user("Go")]});
    assert!(fits(&json!({"api": "anthropic", "last": "user", "model": "claude-*"}), Api::Anthropic, &anthropic));
    let responses = json!({"model": "gpt-4.1", "input": "Go"});
    assert!(fits(&json!({"api": "openai-responses", "contains": "Go"}), Api::OpenAiResponses, &responses));
}

#[test]
fn turns_are_counted_in_their_conversation() {
    let mut desk = Desk::new(
        &json!({"rules": [{"when": {"turn": 2}, "turn": {"content": "second"}}], "otherwise": {"content": "other"}}),
    );
    let mut history = vec![user("Go")];
    let mut said = Vec::new();
    for _ in 0..3 {
        let answer = desk.chat(json!(history));
        said.push(answer["content"].clone());
        history.extend([answer, user("on")]);
    }
    assert_eq!(said, ["other", "second", "other"]);
    assert_eq!(desk.provider.talks().len(), 1);
}

#[test]
fn a_rule_answers_as_often_as_it_says_in_all_conversations() {
    let mut desk =
        Desk::new(&json!({"rules": [{"turn": {"content": "rare"}, "times": 2}], "otherwise": {"content": "usual"}}));
    let said: Vec<Value> = ["a", "b", "c"].map(|text| desk.chat(json!([user(text)]))["content"].clone()).into();
    assert_eq!(said, ["rare", "rare", "usual"]);
}

#[test]
fn a_call_is_made_for_the_tools_that_are_declared() {
    let schema = json!({"type": "object", "required": ["command", "count", "kind"], "properties": {
        "command": {"type": "string"}, "count": {"type": "integer", "minimum": 2}, "kind": {"enum": ["b", "a"]}, "note": {"type": "string"}}});
    for (declared, globs, expected) in [
        // The first glob that fits a tool, whatever the order of the tools.
        (
            json!([tool("other", json!({})), tool("shell_exec", schema.clone())]),
            json!(["bash", "*exec*", "*"]),
            Some(("shell_exec", json!({"command": "ls", "count": 2, "kind": "b"}))),
        ),
        (json!([tool("a", json!({"type": "object", "properties": {}}))]), json!("*"), Some(("a", json!({})))),
        // What the schema does not know is left out, unless it knows nothing.
        (
            json!([tool("free", json!({"type": "object"}))]),
            json!(["free"]),
            Some(("free", json!({"command": "ls", "unknown": 1}))),
        ),
        // A tool that nobody declares: the next rule.
        (json!([tool("a", json!({}))]), json!(["bash"]), None),
    ] {
        let mut desk = Desk::new(&json!({"rules": [
            {"turn": {"content": "I look.", "call": {"tool": globs, "args": {"command": "ls", "unknown": 1}}}}, {"turn": {"content": "none"}}]}));
        let body = json!({"model": "gpt-4.1", "messages": [user("Go")], "tools": declared});
        let (_, answer) = desk.ask(Api::OpenAiChat, &body);
        let message = &answer["choices"][0]["message"];
        let Some((name, args)) = expected else {
            assert_eq!((&message["content"], &message["tool_calls"]), (&json!("none"), &Value::Null));
            continue;
        };
        let call = &message["tool_calls"][0]["function"];
        let said: Value = serde_json::from_str(call["arguments"].as_str().expect("text")).expect("JSON");
        assert_eq!((&call["name"], said), (&json!(name), args), "{answer}");
    }
}

#[test]
fn no_rule_and_no_otherwise_is_a_script_that_ran_out() {
    let mut desk = Desk::new(&json!({"rules": [{"when": {"last": "tool"}, "turn": {"content": "x"}}]}));
    let (status, answer) = desk.ask(Api::OpenAiChat, &chat(json!([user("Go")])));
    assert_eq!((status, &answer["error"]["message"]), (400, &json!("script exhausted")));
}

#[test]
fn a_script_is_read_strictly() {
    for (script, expected) in [
        ("{", "not JSON"),
        ("[]", "[] is not an object"),
        ("{}", "`model` or `rules` is missing"),
        (r#"{"model": [], "otherwise": {}}"#, "replace it"),
        (r#"{"model": [], "modell": 1}"#, "`modell` is no member that is known here"),
        (r#"{"model": [{"contents": "x"}]}"#, "model[0]: `contents`"),
        (r#"{"rules": [{"when": {"last": "human"}, "turn": {}}]}"#, "rules[0].when.last: `human` is none of"),
        (r#"{"rules": [{"when": {"matches": "("}, "turn": {}}]}"#, "rules[0].when.matches: no regular expression"),
        (r#"{"rules": [{"when": {"turns": 1}, "turn": {}}]}"#, "rules[0].when: `turns`"),
        (r#"{"rules": [{"when": {"answered": {}}, "turn": {}}]}"#, "rules[0].when.answered: it needs"),
        (r#"{"rules": [{"when": {"api": "palm"}, "turn": {}}]}"#, "rules[0].when.api: `palm` is none of"),
        (r#"{"rules": [{"when": {}}]}"#, "rules[0]: `turn` is missing"),
        (r#"{"rules": [{"turn": {}, "times": 0}]}"#, "rules[0].times: 0 is not a whole number from 1 on"),
        (r#"{"rules": [{"turn": {"call": {"args": {}}}}]}"#, "rules[0].turn.call: `tool` is missing"),
        (
            r#"{"rules": [{"turn": {"call": {"tool": "a", "args": []}}}]}"#,
            "rules[0].turn.call.args: the arguments are no object",
        ),
        (r#"{"rules": [{"turn": {}, "turn": {}}]}"#, "rules[0]: `turn` is there twice"),
        (r#"{"otherwise": {}, "expect": {"asks": -1}}"#, "expect.asks: -1 is not"),
    ] {
        let error = Script::read(script).expect_err(script).to_string();
        assert!(error.contains(expected), "{script}: {error}");
    }
}

#[test]
fn what_a_script_expects_is_counted() {
    let mut desk = Desk::new(
        &json!({"otherwise": {"content": "x"}, "expect": {"conversations": 2, "asks": {"atLeast": 2, "atMost": 3}}}),
    );
    let mut unmet = vec![desk.provider.unmet()];
    for text in ["a", "b", "c", "d"] {
        desk.chat(json!([user(text)]));
        unmet.push(desk.provider.unmet());
    }
    assert_eq!(unmet[0], ["0 conversations, and the script expects 2", "0 asks, and the script expects 2 to 3"]);
    assert_eq!(unmet[2], [""; 0]);
    assert_eq!(unmet[4], ["4 conversations, and the script expects 2", "4 asks, and the script expects 2 to 3"]);
}

/// The scripts that the guide shows.
#[test]
fn the_examples_are_scripts() {
    let mut desk = Desk::new(&example(include_str!("../../../../../examples/provider/list.json")));
    assert_eq!(desk.ask(Api::OpenAiChat, &chat(json!([user("Go")]))).0, 429);
    let said = desk.chat(json!([user("Go")]));
    assert_eq!(desk.chat(json!([user("Go"), said, result("c1", "3")]))["content"], "There are 3.");
    let mut desk = Desk::new(&example(include_str!("../../../../../examples/provider/rules.json")));
    assert_eq!(desk.chat(json!([user("Write a title")]))["content"], "A title");
    let mut history = vec![user("Go")];
    for _ in 0..2 {
        let said = desk.chat(json!(history));
        let id = said["tool_calls"][0]["id"].as_str().expect("a call").to_owned();
        history.extend([said, result(&id, "3")]);
    }
    assert_eq!(desk.chat(json!(history))["content"], "Done");
    assert_eq!((desk.provider.unmet(), desk.broken()), (vec![], vec![vec![]; 2]));
}

fn example(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}
