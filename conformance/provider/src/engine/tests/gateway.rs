//! A gateway's one key for several runs.

use super::*;
use crate::record::StrayReason;
use threadspec_apis::ApiRequest;

const GATEWAY: &str = "sk-threadspec-gateway";
const NOW: Duration = Duration::from_secs(1);

fn engine(runs: &[&str]) -> Engine {
    let mut engine = Engine::new(EngineOptions::default());
    engine.take_gateway_keys(vec![GATEWAY.to_owned()]);
    for run in runs {
        let turns = WireTurn::read_all(r#"[{"content": "Done"}]"#, "model").expect("turns");
        engine.begin(NOW, run, RunPlan::of_turns(Api::OpenAiChat, turns));
    }
    engine
}

/// Sends what a gateway would send for a run of this mark, and gives the status.
fn send(engine: &mut Engine, method: &str, target: &str, mark: Option<&str>) -> u16 {
    let mut body = json!({"model": "m", "messages": [{"role": "user", "content": "Go"}]});
    if let Some(mark) = mark {
        let description = crate::mark_of(mark);
        body["tools"] =
            json!([{"type": "function", "function": {"name": "look", "description": format!("Looks. {description}")}}]);
        // Whoever gave the tools would find the mark where it is.
        let tools = ApiRequest::read(Api::OpenAiChat, &body).tools;
        assert!(tools[0].raw.to_string().contains(&description));
    }
    let received = Received {
        method: method.to_owned(),
        target: target.to_owned(),
        headers: vec![("authorization".to_owned(), format!("Bearer {GATEWAY}"))],
        body: Ok(body.to_string().into_bytes()),
    };
    match engine.receive(NOW, received) {
        (attempt, Reaction::Answer(answer)) => {
            engine.delivered(NOW, attempt, true);
            answer.status
        }
        other => panic!("{other:?}"),
    }
}

const CHAT: &str = "/v1/chat/completions";

#[test]
fn a_request_belongs_to_the_run_whose_mark_it_carries() {
    let mut engine = engine(&["aaaa", "bbbb"]);
    for mark in ["bbbb", "aaaa", "bbbb"] {
        send(&mut engine, "POST", CHAT, Some(mark));
    }
    // Without a mark it may be of either.
    assert_eq!(send(&mut engine, "POST", CHAT, None), 401);
    let strays: Vec<StrayReason> = engine.take_strays().iter().map(|stray| stray.why).collect();
    assert_eq!(strays, [StrayReason::Unasked]);
    let counts = ["aaaa", "bbbb"].map(|run| engine.end(NOW, run).map(|run| run.record.attempts.len()));
    assert_eq!(counts, [Some(1), Some(2)]);
}

#[test]
fn a_request_without_a_mark_is_of_the_only_run() {
    let mut engine = engine(&["aaaa"]);
    assert_eq!(send(&mut engine, "POST", CHAT, None), 200);
    // A mark that nobody gave out came out of a cache.
    assert_eq!(send(&mut engine, "POST", CHAT, Some("zzzz")), 401);
    let record = engine.end(NOW, "aaaa").expect("the run").record;
    let strays: Vec<StrayReason> = record.strays.iter().map(|stray| stray.why).collect();
    assert_eq!((record.attempts.len(), strays), (1, vec![StrayReason::Unasked]));
}

#[test]
fn a_request_of_a_run_that_is_over_is_late() {
    let mut engine = engine(&["aaaa"]);
    let key = engine.end(NOW, "aaaa").expect("the run").record.key;
    engine.begin(NOW, "bbbb", RunPlan::of_turns(Api::OpenAiChat, Vec::new()));
    send(&mut engine, "POST", CHAT, Some("aaaa"));
    let strays = engine.take_strays();
    assert!(strays.len() == 1 && strays[0].why == StrayReason::Late && strays[0].key == Some(key), "{strays:?}");
    // One that was given up is nobody's fault.
    engine.abandon("bbbb");
    send(&mut engine, "POST", CHAT, Some("bbbb"));
    assert_eq!(engine.take_strays(), []);
}

#[test]
fn what_looks_around_is_answered_and_not_noted() {
    let mut engine = engine(&["aaaa"]);
    for (method, target, status) in [
        ("GET", "/v1/models", 200),
        ("HEAD", "/", 200),
        ("GET", "/health", 404),
        ("GET", CHAT, 405),
        ("POST", "/v1/responses/input_tokens", 200),
        ("POST", "/v1/embeddings", 404),
        ("POST", "/v1/messages", 404),
    ] {
        assert_eq!(send(&mut engine, method, target, None), status, "{method} {target}");
    }
    let record = engine.end(NOW, "aaaa").expect("the run").record;
    let strays: Vec<StrayReason> = record.strays.iter().map(|stray| stray.why).collect();
    assert_eq!(strays, [StrayReason::Path, StrayReason::OtherApi]);
    assert_eq!(send(&mut engine, "GET", "/v1/models", None), 200);
    assert_eq!(engine.take_strays(), []);
}
