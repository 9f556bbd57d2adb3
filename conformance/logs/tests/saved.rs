//! What programs were seen to save, beside what they save as a rule.

use serde_json::{Value, json};
use threadspec_logs::{CheckOptions, Report, check_bytes};

fn found(log: &str) -> Report {
    check_bytes(log.as_bytes(), &CheckOptions::default())
}

fn rules(log: &str) -> Vec<(&'static str, Option<usize>)> {
    found(log).findings.iter().map(|found| (found.rule, found.place.line)).collect()
}

fn lines(records: &[Value]) -> String {
    records.iter().map(Value::to_string).collect::<Vec<_>>().join("\n")
}

/// A line of a session of Claude Code.
fn line(id: &str, parent: &str, role: &str, content: &Value) -> Value {
    json!({"uuid": id, "parentUuid": parent, "sessionId": "s", "type": role, "message": {"role": role, "content": content}})
}

fn call(id: &str) -> Value {
    json!([{"type": "tool_use", "id": id, "name": "t", "input": {}}])
}

fn result(id: &str) -> Value {
    json!([{"type": "tool_result", "tool_use_id": id, "content": "4"}])
}

#[test]
fn a_result_may_be_logged_before_the_call_that_it_names() {
    let asked = line("1", "", "user", &json!("Hi"));
    let first = [line("2", "1", "assistant", &call("a")), line("3", "2", "user", &result("a"))];
    let (said, second) = (line("4", "3", "assistant", &json!("So.")), line("5", "4", "assistant", &call("b")));
    let early = line("6", "5", "user", &result("b"));
    let end = line("7", "6", "assistant", &json!("Done."));
    let log = |order: &[&Value]| {
        let [call, answer] = &first;
        let all: Vec<Value> = [&asked, call, answer].into_iter().chain(order.iter().copied()).cloned().collect();
        rules(&lines(&all))
    };
    assert_eq!(log(&[&said, &second, &early, &end]), []);
    assert_eq!(log(&[&early, &said, &second, &end]), []);
    assert_eq!(log(&[&said, &early, &second, &end]), []);
    // A call that never comes.
    assert_eq!(log(&[&said, &early, &end]), [("LOG-ORPHAN", Some(5))]);
}

#[test]
fn sessions_of_others_that_look_alike_are_not_taken() {
    // Qwen Code: lines as those of Claude Code, with messages of Gemini.
    let said = |id: &str, kind: &str, role: &str, part: Value| json!({"uuid": id, "sessionId": "s", "type": kind, "message": {"role": role, "parts": [part]}});
    let log = lines(&[
        said("1", "user", "user", json!({"text": "Hi"})),
        said("2", "assistant", "model", json!({"functionCall": {"id": "a", "name": "t", "args": {}}})),
        said("3", "tool_result", "user", json!({"functionResponse": {"id": "a", "name": "t", "response": {}}})),
    ]);
    assert_eq!(rules(&log), []);
    // How an answer ended is in no request.
    let messages =
        json!([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yes?", "finish_reason": "stop"}]);
    let report = found(&json!({"model": "claude-sonnet-5", "session_id": "s", "messages": messages}).to_string());
    assert_eq!((report.findings.len(), report.summary.total()), (0, "1 history".to_owned()));
}

#[test]
fn the_runs_of_agno_stand_in_their_session_too() {
    let function = json!({"name": "t", "arguments": "{}"});
    let call = json!({"role": "assistant", "content": null, "tool_calls": [{"id": "a", "type": "function", "function": function}]});
    let log = |answer: Option<Value>| {
        let messages: Vec<Value> = [json!({"role": "user", "content": "Hi"}), call.clone()]
            .into_iter()
            .chain(answer)
            .chain([json!({"role": "assistant", "content": "4"})])
            .collect();
        let runs = json!([{"run_id": "r", "messages": messages}]).to_string();
        // The text of a text.
        let row = json!({"session_id": "s", "agent_id": "a", "session_data": "{}", "runs": json!(runs).to_string()});
        let report = found(&row.to_string());
        assert_eq!(report.summary.total(), "1 history");
        report.findings.iter().map(|found| (found.rule, found.place.path.clone())).collect::<Vec<_>>()
    };
    assert_eq!(log(Some(json!({"role": "tool", "tool_call_id": "a", "content": "4"}))), []);
    assert_eq!(log(None), [("LOG-ANSWERED", "runs[0].messages[1]".to_owned())]);
}

#[test]
fn a_demonstration_of_swe_agent_is_its_history() {
    let said = |role: &str, content: &str| json!({"role": role, "content": content, "agent": "main"});
    let mut call = said("assistant", "ls");
    call["tool_calls"] = json!([{"id": "a", "type": "function", "function": {"name": "bash", "arguments": "{}"}}]);
    let mut result = said("tool", "src");
    result["tool_call_ids"] = json!(["a"]);
    let history = |result: Option<&Value>| {
        let begun = [said("user", "q"), call.clone()].into_iter().chain(result.cloned());
        let history: Vec<Value> = begun.chain([said("assistant", "done")]).collect();
        json!({"history": history}).to_string()
    };
    assert_eq!(rules(&history(Some(&result))), []);
    assert_eq!(rules(&history(None)), [("LOG-ANSWERED", Some(1))]);
}
