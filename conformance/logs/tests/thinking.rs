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
    // Where the model thinks as it likes, all thinking of a response may be left out.
    let mut adaptive = right.clone();
    for body in &mut adaptive {
        body["thinking"] = json!({"type": "adaptive"});
    }
    adaptive[2]["messages"][1]["content"].as_array_mut().expect("blocks").remove(0);
    assert_eq!(broken(&adaptive), [""; 0]);
    for (at, member) in [(2, "thinking"), (5, "signature")] {
        let mut changed = right.clone();
        changed[at]["messages"][1]["content"][0][member] = json!("else");
        let found = broken(&changed);
        assert!(found.contains(&"error ANT-THINK-SAME messages[1].content[0]".to_owned()), "{found:?}");
    }
}

#[test]
fn thinking_between_calls_stays_there() {
    let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "look", "input": {}});
    let thought = |text: &str| json!({"type": "thinking", "thinking": text, "signature": text});
    let result = |id: &str| json!({"type": "tool_result", "tool_use_id": id, "content": "4"});
    let after = |blocks: Value| {
        let mut body = request(0);
        let said = [
            json!({"role": "assistant", "content": blocks}),
            json!({"role": "user", "content": [result("a"), result("b")]}),
        ];
        body["messages"].as_array_mut().expect("messages").extend(said);
        body
    };
    let answer = json!([thought("One."), call("a"), thought("Two."), call("b")]);
    let asked = json!({"request": request(0), "response": {"type": "message", "role": "assistant", "content": answer, "stop_reason": "tool_use", "usage": {"input_tokens": 1, "output_tokens": 1}}});
    assert_eq!(broken(&[asked.clone(), after(answer)]), [""; 0]);
    let moved = after(json!([thought("One."), thought("Two."), call("a"), call("b")]));
    assert_eq!(broken(&[asked, moved]), ["error ANT-THINK-SAME messages[1].content[0]"]);
}

/// The answer to the last request of a conversation with so many rounds, plain or streamed.
fn answer(rounds: usize, streamed: bool) -> Value {
    let said = request(rounds + 1);
    let content = said["messages"][2 * rounds + 1]["content"].clone();
    if !streamed {
        return json!({"type": "message", "role": "assistant", "content": content, "stop_reason": "tool_use", "usage": {"input_tokens": 1, "output_tokens": 1}});
    }
    let start = json!({"type": "message_start", "message": {"type": "message", "role": "assistant", "content": [], "usage": {"input_tokens": 1, "output_tokens": 1}}});
    let blocks = [
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "", "signature": ""}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": content[0]["thinking"]}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": content[0]["signature"]}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use", "id": content[1]["id"], "name": "look", "input": {}}}),
        json!({"type": "content_block_stop", "index": 1}),
    ];
    let end = [
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 1}}),
        json!({"type": "message_stop"}),
    ];
    let events = [start].into_iter().chain(blocks).chain(end);
    let of = |event: Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default());
    events.map(of).collect::<Vec<_>>().concat().into()
}

#[test]
fn thinking_is_that_of_the_logged_answer() {
    for streamed in [false, true] {
        let log = |requests: &[Value]| -> Vec<Value> {
            let exchanges = requests.iter().enumerate();
            exchanges.map(|(rounds, body)| json!({"request": body, "response": answer(rounds, streamed)})).collect()
        };
        let right: Vec<Value> = (0..4).map(request).collect();
        assert_eq!(broken(&log(&right)), [""; 0]);
        // No request has the newest thinking as it was.
        let (mut changed, mut missing) = (right.clone(), right.clone());
        changed[3]["messages"][5]["content"][0]["thinking"] = json!("else");
        assert_eq!(broken(&log(&changed)), ["error ANT-THINK-SAME messages[5].content[0]"]);
        missing[3]["messages"][5]["content"].as_array_mut().expect("blocks").remove(0);
        assert_eq!(broken(&log(&missing)), ["error ANT-THINK-FIRST messages[5].content[0].type"]);
        // A log that keeps no signatures of answers accuses nobody.
        let mut unsigned = log(&right);
        for one in unsigned.iter_mut().filter(|one| one["response"].is_object()) {
            one["response"]["content"][0].as_object_mut().expect("a block").shift_remove("signature");
        }
        assert_eq!(broken(&unsigned), [""; 0]);
    }
}

#[test]
fn what_only_counts_tokens_is_no_request_to_a_model() {
    let mut count = request(1);
    count.as_object_mut().expect("a body").shift_remove("max_tokens");
    let url = "https://api.anthropic.com/v1/messages";
    let records = [
        json!({"url": format!("{url}/count_tokens?beta=true"), "request": count, "response": {"input_tokens": 7}}),
        json!({"url": url, "request": request(1), "response": answer(1, false)}),
    ];
    assert_eq!(broken(&records), [""; 0]);
    assert_eq!(broken(&[json!({"url": url, "request": count})]), ["error ANT-MAX-TOKENS max_tokens"]);
}
