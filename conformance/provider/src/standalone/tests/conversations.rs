//! Conversations: distinguished, judged each, and forgotten in time.

use super::{Desk, call_and_text, chat, request, result, turns, user};
use crate::http::Received;
use crate::judging::WireLevel;
use crate::serve::Answers;
use crate::standalone::name;
use serde_json::{Value, json};
use std::time::Duration;
use threadspec::oracle::Api;
use threadspec_golden::clause;

/// A list of which each conversation gets all, also two that begin alike at the same time.
#[test]
fn each_conversation_has_its_own_place_in_the_script() {
    let mut desk = Desk::new(&turns(json!([{"tool_calls": [{"name": "look", "args": {}}]}, {"content": "Done"}])));
    let begin = request(Api::OpenAiChat, "k", &chat(json!([user("Go")])));
    // Both ask before either is answered; the answer of the first one is still on its way when the second one comes.
    let firsts = [desk.chat(json!([user("Go")])), desk.send(begin).1["choices"][0]["message"].clone()];
    assert_ne!(firsts[0]["tool_calls"][0]["id"], firsts[1]["tool_calls"][0]["id"]);
    for message in [&firsts[1], &firsts[0]] {
        let id = message["tool_calls"][0]["id"].as_str().expect("an id");
        assert_eq!(desk.chat(json!([user("Go"), message, result(id, "3")]))["content"], "Done");
    }
    let talks: Vec<_> = desk.provider.talks().map(|talk| (talk.requests, talk.answers)).collect();
    assert_eq!(talks, [(2, 2), (2, 2)]);
    assert_eq!(desk.broken(), [[""; 0], [""; 0]]);
}

#[test]
fn a_retry_is_no_new_conversation_and_no_new_turn() {
    let mut desk = Desk::new(&turns(
        json!([{"content": "one", "attempts": [{"status": 500}, {"status": 429, "retryAfterMs": 30}]}, {"content": "two"}]),
    ));
    let body = chat(json!([user("Go")]));
    let statuses: Vec<u16> = (0..3).map(|_| desk.ask(Api::OpenAiChat, &body).0).collect();
    assert_eq!(statuses, [500, 429, 200]);
    assert_eq!(desk.chat(json!([user("Go"), {"role": "assistant", "content": "one"}, user("on")]))["content"], "two");
    let talks: Vec<_> = desk.provider.talks().map(|talk| (talk.requests, talk.answers)).collect();
    assert_eq!((talks, desk.broken()), (vec![(4, 2)], vec![vec![]]));
}

/// A client that leaves has no turn either.
#[test]
fn what_was_not_taken_to_its_end_is_asked_again() {
    let mut desk = Desk::new(&turns(json!([{"content": "one"}, {"content": "two"}])));
    let (attempt, _) = desk.provider.receive(Duration::ZERO, request(Api::OpenAiChat, "k", &chat(json!([user("Go")]))));
    desk.provider.delivered(Duration::from_secs(1), attempt, false);
    assert_eq!(desk.chat(json!([user("Go")]))["content"], "one");
    assert_eq!(desk.provider.talks().map(|talk| (talk.requests, talk.answers)).collect::<Vec<_>>(), [(2, 1)]);
}

/// The first message of the model in `call_and_text`.
fn said(id: &str, args: &str) -> Value {
    json!({"role": "assistant", "content": "I look.", "tool_calls": [
        {"id": id, "type": "function", "function": {"name": "look", "arguments": args}}]})
}

/// The history after the first answer of `call_and_text`, changed by an agent.
fn histories() -> Vec<(&'static str, Value)> {
    let (system, go, found) = (json!({"role": "system", "content": "Be brief."}), user("Go"), result("c1", "3"));
    let renamed = json!([system, go, said("c2", r#"{"n":1}"#), result("c2", "3")]);
    vec![
        ("", json!([system, go, said("c1", r#"{ "n": 1 }"#), found])),
        (clause::AGENT_ANSWERED, json!([system, go, said("c1", r#"{"n":1}"#), user("on")])),
        (clause::AGENT_ANSWERED, json!([system, go, said("c1", r#"{"n":1}"#), found, found])),
        (clause::AGENT_RESPONSE, json!([system, go, said("c1", r#"{"n":2}"#), found])),
        (clause::AGENT_RESPONSE, json!([system, go, {"role": "assistant", "content": "I look."}, user("on")])),
        (clause::AGENT_IDS, renamed),
        (
            clause::AGENT_RESPONSE,
            json!([system, go, {"role": "assistant", "content": "I lo"}, said("c1", r#"{"n":1}"#), found]),
        ),
        (
            clause::AGENT_RESPONSE,
            json!([system, go, {"role": "assistant", "content": "I look."}, said("c1", r#"{"n":1}"#), found]),
        ),
        (clause::AGENT_RESPONSE, json!([system, go, said("c1", r#"{"n":1}"#), found, said("c1", r#"{"n":1}"#), found])),
        (
            clause::AGENT_PREFIX,
            json!([{"role": "system", "content": "Be brief!"}, go, said("c1", r#"{"n":1}"#), found]),
        ),
        (clause::AGENT_PREFIX, json!([system, user("Go!"), said("c1", r#"{"n":1}"#), found])),
    ]
}

#[test]
fn a_history_may_be_shortened_where_a_run_begins() {
    let system = json!({"role": "system", "content": "Be brief."});
    let call = |id: &str| json!({"content": "I look.", "tool_calls": [{"id": id, "name": "look", "args": {"n": 1}}]});
    let done = json!({"role": "assistant", "content": "Done"});
    let mut desk = Desk::new(&turns(
        json!([call("c1"), {"content": "Done"}, call("c2"), {"content": "Done"}, {"content": "Done"}]),
    ));
    let mut history = vec![system.clone()];
    for (question, id) in [("How many apples?", "c1"), ("How many pears?", "c2")] {
        history.push(user(question));
        desk.chat(json!(history));
        history.extend([said(id, r#"{"n":1}"#), result(id, "3")]);
        desk.chat(json!(history));
        history.push(done.clone());
    }
    let shortened = [&[system], &history[5..], &[user("How many plums?")]].concat();
    desk.ask(Api::OpenAiChat, &chat(json!(shortened)));
    let news: Vec<_> = desk.provider.take_news().into_iter().flat_map(|news| news.findings).collect();
    let found: Vec<_> =
        news.iter().filter(|one| one.clause.ends_with("PREFIX")).map(|one| (one.clause, one.level)).collect();
    assert_eq!(found, [(clause::SESSION_PREFIX, WireLevel::Should)], "{news:?}");
}

#[test]
fn a_fault_is_found_once_and_by_one_name() {
    for (clause, history) in histories() {
        let mut desk = Desk::new(&call_and_text());
        desk.chat(json!([{"role": "system", "content": "Be brief."}, user("Go")]));
        let expected: Vec<&str> = Some(clause).filter(|clause| !clause.is_empty()).into_iter().collect();
        // What is found in one request is not found again in the next one.
        let mut next = history.clone();
        next.as_array_mut().expect("messages").extend([json!({"role": "assistant", "content": "Done"}), user("on")]);
        for messages in [history, next] {
            desk.ask(Api::OpenAiChat, &chat(messages.clone()));
            assert_eq!(desk.broken(), std::slice::from_ref(&expected), "{messages}");
        }
        let news: Vec<_> = desk.provider.take_news().into_iter().flat_map(|news| news.findings).collect();
        assert_eq!(news.iter().filter(|finding| finding.level == WireLevel::Must).count(), expected.len());
        assert!(desk.provider.take_news().is_empty());
    }
}

#[test]
fn the_rule_by_which_a_fault_is_refused_stands_in_it() {
    let mut desk = Desk::new(&call_and_text());
    let first = desk.chat(json!([user("Go")]));
    let (status, answer) = desk.ask(Api::OpenAiChat, &chat(json!([user("Go"), first, user("on")])));
    assert_eq!(status, 400, "{answer}");
    let message = answer["error"]["message"].as_str().expect("a message");
    assert!(message.contains("must be followed by tool messages"), "{message}");
    let findings: Vec<_> = desk.provider.talks().flat_map(|talk| &talk.findings).collect();
    let what = &findings[0].what;
    assert!(what.contains("`c1` of `look` has 0 answers") && what.contains("(OAI-CHAT-ANSWERED)"), "{what}");
    // A rule that no clause explains has its own name.
    let mut desk = Desk::new(&call_and_text());
    assert_eq!(desk.ask(Api::OpenAiChat, &chat(json!([user("Go"), result("x", "3")]))).0, 400);
    assert_eq!(desk.broken(), [["OAI-CHAT-ORPHAN"]]);
}

#[test]
fn other_keys_are_refused_if_there_is_one() {
    let mut desk = Desk::with_keys(&call_and_text(), &["sk-right"]);
    let body = chat(json!([user("Go")]));
    // Also the names that conversations have inside.
    for key in ["sk-wrong-0123456789", "conversation-0", "\0conversation", ""] {
        let (status, answer) = desk.send(request(Api::OpenAiChat, key, &body));
        assert_eq!(status, 401, "{key}");
        assert!(key.is_empty() || !answer.to_string().contains(key), "{answer}");
        assert_eq!(desk.send(request(Api::OpenAiChat, "sk-right", &body)).0, 200);
    }
    let of_anthropic = json!({"model": "claude-sonnet-5", "max_tokens": 9, "messages": [user("Go")]});
    let (status, answer) = desk.send(request(Api::Anthropic, "other", &of_anthropic));
    assert_eq!((status, &answer["error"]["type"]), (401, &json!("authentication_error")));
    assert!(desk.provider.talks().all(|talk| talk.api == Api::OpenAiChat), "a refused key begins no conversation");
}

#[test]
fn a_stored_response_tells_the_conversation() {
    let mut desk =
        Desk::new(&turns(json!([{"tool_calls": [{"id": "c1", "name": "look", "args": {}}]}, {"content": "Done"}])));
    let tools = json!([{"type": "function", "name": "look", "parameters": {"type": "object"}}]);
    let begin = json!({"model": "gpt-4.1", "input": "Go", "tools": tools});
    let (_, first) = desk.ask(Api::OpenAiResponses, &begin);
    let (_, other) = desk.ask(Api::OpenAiResponses, &begin);
    for answer in [&first, &other] {
        let output = json!([{"type": "function_call_output", "call_id": "c1", "output": "3"}]);
        let body = json!({"model": "gpt-4.1", "previous_response_id": answer["id"], "input": output, "tools": tools});
        let (status, answer) = desk.ask(Api::OpenAiResponses, &body);
        assert_eq!((status, &answer["output"][0]["content"][0]["text"]), (200, &json!("Done")), "{answer}");
    }
    assert_eq!(desk.broken(), [[""; 0], [""; 0]]);
    let stored = Received {
        method: "GET".into(),
        target: format!("/v1/responses/{}", first["id"].as_str().expect("an id")),
        ..request(Api::OpenAiResponses, "k", &json!({}))
    };
    assert_eq!(desk.send(stored).1["id"], first["id"]);
    // One that nobody stored.
    let body = json!({"model": "gpt-4.1", "previous_response_id": "resp_none", "input": "on"});
    let (status, answer) = desk.ask(Api::OpenAiResponses, &body);
    assert_eq!((status, &answer["error"]["code"]), (400, &json!("previous_response_not_found")));
}

/// The memory for a conversation does not grow with its history.
#[test]
fn old_requests_are_forgotten() {
    let mut desk = Desk::new(&json!({"otherwise": {"content": "Go on"}}));
    let mut history = vec![user("Go")];
    for _ in 0..6 {
        let said = desk.chat(json!(history));
        history.extend([said, user("on")]);
    }
    let record = desk.provider.engine.record(&name(0)).expect("a conversation");
    let kept: Vec<bool> = record.attempts.iter().map(|attempt| !attempt.body.is_empty()).collect();
    assert_eq!(kept, [false, false, false, false, true, true]);
    assert_eq!(desk.broken(), [[""; 0]]);
}
