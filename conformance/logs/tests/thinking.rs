//! Thinking before calls, which one request does not show, over the requests of a log.

use serde_json::{Value, json};
use threadspec_logs::{CheckOptions, check_bytes};

/// A request of a conversation with so many rounds of calls, each behind its thinking.
fn request(rounds: usize) -> Value {
    let mut messages = vec![json!({"role": "user", "content": "Go"})];
    for round in 0..rounds {
        let id = format!("toolu_{round}");
        let thought = json!({"type": "thinking", "thinking": format!("Hm {round}."), "signature": format!("s{round}")});
        messages.push(json!({"role": "assistant", "content": [thought, {"type": "tool_use", "id": id, "name": "look", "input": {}}]}));
        messages.push(json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": "4"}]}));
    }
    json!({"model": "claude-sonnet-5", "max_tokens": 2048, "thinking": {"type": "enabled", "budget_tokens": 1024},
        "tools": [{"name": "look", "input_schema": {"type": "object"}}], "messages": messages})
}

/// The rules that a log of requests breaks, as errors.
fn broken(requests: &[Value]) -> Vec<String> {
    let log = requests.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    let report = check_bytes(log.as_bytes(), &CheckOptions::default());
    report.findings.iter().map(|found| format!("{} {} {}", found.level, found.rule, found.place.path)).collect()
}

#[test]
fn thinking_that_goes_or_changes_is_an_error() {
    let right: Vec<Value> = (0..6).map(request).collect();
    assert_eq!(broken(&right), [""; 0]);
    let first = |position| format!("error ANT-THINK-FIRST messages[{position}].content[0].type");
    for (at, position) in [(2, 1), (3, 1), (4, 5), (5, 7)] {
        let mut missing = right.clone();
        missing[at]["messages"][position]["content"].as_array_mut().expect("blocks").remove(0);
        assert!(broken(&missing).contains(&first(position)), "{:?}", broken(&missing));
    }
    for (at, member) in [(2, "thinking"), (5, "signature")] {
        let mut changed = right.clone();
        changed[at]["messages"][1]["content"][0][member] = json!("else");
        let found = broken(&changed);
        assert!(found.iter().any(|found| found.ends_with("ANT-THINK-SAME messages[1].content[0]")), "{found:?}");
    }
}
