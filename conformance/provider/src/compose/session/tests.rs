//! A session in the engine, without a socket.

use crate::{EndedRun, Engine, EngineOptions, Reaction, Received, RunPlan, compose};
use serde_json::{Value, json};
use std::time::Duration;
use threadspec::oracle::Api;
use threadspec_judge::protocol::Reply;

const KEY: &str = "sk-threadspec-1";

struct PlayedSession {
    engine: Engine,
    now: Duration,
}

impl PlayedSession {
    fn of(input: &Value) -> Self {
        let mut engine = Engine::new(EngineOptions::default());
        let plan = RunPlan::of_session_input(Api::OpenAiChat, &input.to_string()).expect("a plan");
        engine.begin(Duration::ZERO, KEY, plan);
        Self { engine, now: Duration::ZERO }
    }

    /// The status and the body of an answer.
    fn post(&mut self, target: &str, body: &Value) -> (u16, Value) {
        self.now += Duration::from_millis(100);
        let request = Received {
            method: "POST".into(),
            target: target.into(),
            headers: vec![("authorization".into(), format!("Bearer {KEY}"))],
            body: Ok(body.to_string().into_bytes()),
        };
        let (attempt, reaction) = self.engine.receive(self.now, request);
        let Reaction::Answer(answer) = reaction else { panic!("{reaction:?}") };
        self.engine.delivered(self.now, attempt, true);
        (answer.status, serde_json::from_slice(&answer.body()).expect("JSON"))
    }

    fn run(&mut self, number: usize) -> u16 {
        self.post(&format!("/v1/runs/{number}"), &json!(null)).0
    }

    /// The text of the answer, or the error.
    fn ask(&mut self, tools: &[&str], messages: &[Value]) -> String {
        let declared = |name: &&str| {
            let schema = json!({"type": "object", "properties": {}});
            json!({"type": "function", "function": {"name": name, "parameters": schema}})
        };
        let mut body = json!({"model": "gpt-4.1", "messages": messages});
        if !tools.is_empty() {
            body["tools"] = tools.iter().map(declared).collect();
        }
        let (_, answer) = self.post("/v1/chat/completions", &body);
        let message = &answer["choices"][0]["message"];
        let said = [&message["tool_calls"][0]["function"]["name"], &message["content"], &answer["error"]["message"]];
        said.into_iter().find_map(Value::as_str).unwrap_or_default().to_owned()
    }

    fn output(mut self, reply: Value) -> Value {
        let EndedRun { plan, record, .. } = self.engine.end(self.now, KEY).expect("a run");
        match compose(&plan, &record, Reply::Ok(reply)) {
            Reply::Ok(output) => output,
            other => panic!("{other:?}"),
        }
    }
}

fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

fn input() -> Value {
    json!({
        "tools": {"look": {"byId": {"a": "ra"}}},
        "agents": {"b": {"tools": {"pay": {"byId": {}}}}},
        "runs": [
            {"message": "Go", "cut": {"during": "a", "how": "cancel"}, "model": [
                {"content": "I look.", "tool_calls": [{"id": "a", "name": "look", "args": {"n": 1.0}}]}, {"content": "Never."}]},
            {"resume": true, "compact": {"keepMessages": 1, "summary": "In short."}, "model": [
                {"tool_calls": [{"id": "h", "handoff": "b"}]}, {"content": "Taken."}]},
        ],
    })
}

#[test]
fn each_run_has_its_turns_however_the_one_before_ended() {
    let mut played = PlayedSession::of(&input());
    assert_eq!(played.run(2), 400);
    assert_eq!((played.run(1), played.run(1)), (200, 200));
    assert_eq!(played.ask(&["look", "transfer_to_b"], &[user("Go")]), "look");
    assert_eq!(played.run(2), 200);
    // A summary has no tools; what is resumed looks as if nothing had happened.
    assert_eq!(played.ask(&[], &[user("Sum up: Go")]), "In short.");
    assert_eq!(played.ask(&["look", "transfer_to_b"], &[user("Go")]), "transfer_to_b");
    assert_eq!(played.ask(&["pay", "transfer_to_main"], &[user("Go"), user("On")]), "Taken.");
    assert_eq!(played.ask(&["pay"], &[user("Go")]), "script exhausted");
    assert_eq!((played.run(3), played.run(1)), (400, 400));
    let told = json!({"executed": [], "refused": "no", "requests": [["told"]], "summaries": [["told"]]});
    let output = played.output(json!({"runs": [told, told], "more": 1}));
    let human = |text: &str| json!({"type": "human", "content": text});
    let (first, second) = (&output["runs"][0], &output["runs"][1]);
    assert_eq!(*first, json!({"executed": [], "failure": "no", "requests": [[human("Go")]]}));
    let requests = json!([[human("Go")], [human("Go"), human("On")], [human("Go")]]);
    assert_eq!(second["requests"], requests);
    assert_eq!(second["summaries"], json!([[human("Sum up: Go")]]));
    let (wire, runs) = (&output["wire"], &input()["runs"]);
    assert_eq!(wire["said"][0], json!([runs[0]["model"][0]]));
    assert_eq!(wire["said"][1], json!([runs[1]["model"][0], runs[1]["model"][1], {"error": "script exhausted"}]));
    assert_eq!((&wire["findings"], wire.get("unsupported"), output.get("more")), (&json!([]), None, None));
}

#[test]
fn what_is_refused_is_an_error_in_its_run() {
    let mut played = PlayedSession::of(&input());
    played.run(1);
    played.ask(&["look"], &[user("Go")]);
    played.run(2);
    let call = json!({"id": "a", "type": "function", "function": {"name": "look", "arguments": "{}"}});
    let open = json!({"role": "assistant", "content": "I look.", "tool_calls": [call]});
    let words = played.ask(&["look"], &[user("Go"), open, user("Well?")]);
    let output = played.output(json!({"runs": [{"executed": []}, {"executed": []}]}));
    let wire = &output["wire"];
    assert_eq!(wire["said"][1], json!([{"error": words}]));
    assert_eq!(wire["findings"][0]["clause"], "OAI-CHAT-ANSWERED");
    let what = wire["findings"][0]["what"].as_str().expect("a text");
    assert!(what.starts_with("run 2, request 1: messages["), "{what}");
}

#[test]
fn runs_that_nobody_says_to_begin_show_nothing() {
    let mut played = PlayedSession::of(&input());
    played.run(1);
    played.ask(&["look"], &[user("Go")]);
    let output = played.output(json!({"runs": [{"executed": []}, {"executed": []}]}));
    let why = "nobody announced that run 2 begins: POST to `runs/2` behind the base URL";
    assert_eq!(output["wire"]["unsupported"], why);
}

#[test]
fn what_an_api_or_a_request_does_not_have_shows_nothing() {
    let mut input = input();
    let mut played = PlayedSession::of(&input);
    (1..=2).for_each(|run| assert_eq!(played.run(run), 200));
    assert_eq!(played.ask(&["look"], &[user("Go")]), "no tool hands over to b");
    let output = played.output(json!({"runs": [{"executed": []}, {"executed": []}]}));
    assert_eq!(output["wire"]["unsupported"], "no tool of a request hands over to the agent `b`");
    input["runs"][0]["model"][0]["opaque"] = json!([{"kind": "redacted", "data": "d"}]);
    let plan = |api| RunPlan::of_session_input(api, &input.to_string()).expect("a plan");
    assert!(plan(Api::Anthropic).reasoning && !plan(Api::OpenAiResponses).reasoning);
    let mut played = PlayedSession::of(&input);
    (1..=2).for_each(|run| assert_eq!(played.run(run), 200));
    let output = played.output(json!({"runs": [{"executed": []}, {"executed": []}]}));
    assert_eq!(output["wire"]["unsupported"], "openai-chat has no opaque parts of the kind `redacted`");
}
