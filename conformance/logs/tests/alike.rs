//! Conversations that begin alike: a call that one has lost is told, whatever the others have called; and whoever asks again, steps back or
//! asks something beside it has lost nothing.

use serde_json::{Value, json};
use threadspec_logs::{CheckOptions, check_bytes};

/// An element in a word: `u…` says the user, `s…` the system, `a…` the model; `c…` is a call with its result, behind `.` the run in which it has its id.
fn elements(word: &str) -> Vec<Value> {
    let role = match &word[..1] {
        "u" => "user",
        "s" => "system",
        _ => "assistant",
    };
    if !word.starts_with('c') {
        return vec![json!({"role": role, "content": word})];
    }
    vec![answer(word), json!({"role": "tool", "tool_call_id": word, "content": format!("r{word}")})]
}

/// What a model answers: a text, or a call.
fn answer(word: &str) -> Value {
    if !word.starts_with('c') {
        return json!({"role": "assistant", "content": word});
    }
    let arguments = json!({"at": word.split('.').next()}).to_string();
    let call = json!({"id": word, "type": "function", "function": {"name": "look", "arguments": arguments}});
    json!({"role": "assistant", "content": null, "tool_calls": [call]})
}

/// The requests of a log, each `words > answer`, whose calls are lost. Where texts are long, only what is new in a request is read.
fn lost(log: &[&str]) -> Vec<usize> {
    let short = lost_in(log, "");
    assert_eq!(short, lost_in(log, &"x".repeat(3000)), "{log:?}");
    short
}

fn lost_in(log: &[&str], padding: &str) -> Vec<usize> {
    let record = |request: &&str| {
        let (words, said) = request.split_once(" > ").expect("an answer");
        let mut messages: Vec<Value> = words.split(' ').flat_map(elements).collect();
        messages[0]["content"] = json!(format!("{}{padding}", messages[0]["content"]));
        let response = json!({"choices": [{"message": answer(said), "finish_reason": "stop"}]});
        json!({"request": {"model": "gpt-4.1", "messages": messages}, "response": response}).to_string()
    };
    let log = log.iter().map(record).collect::<Vec<_>>().join("\n");
    let found = check_bytes(log.as_bytes(), &CheckOptions::default()).findings;
    let lost = found.iter().filter(|found| found.rule == "LOG-CALL-LOST");
    lost.filter_map(|found| found.place.request).collect()
}

#[test]
fn a_call_is_lost_whatever_another_conversation_has() {
    let right = ["u > c1.a", "u c1.a > c2.a", "u c1.a c2.a > a"];
    let first = ["u > c1.b", "u a u2 > a"];
    let second = ["u > c1.b", "u c1.b > c2.b", "u c1.b a u2 > a"];
    for (log, expected) in [
        ([&right[..], &first].concat(), vec![4]),
        ([&first[..], &right].concat(), vec![1]),
        ([&right[..], &first, &right].concat(), vec![4]),
        ([&first[..], &right, &["u > c1.c", "u a u3 > a"]].concat(), vec![1, 6]),
        ([&right[..], &second].concat(), vec![5]),
        ([&second[..], &right].concat(), vec![2]),
        // The ids of a model that counts its calls are those of every run.
        ([&right[..], &["u > c1.a", "u a u2 > a"]].concat(), vec![4]),
        // Agents with other instructions that were asked the same.
        ([&["s1 u > c1.a", "s1 u c1.a > a"][..], &["s2 u > c1.b", "s2 u a u2 > a"]].concat(), vec![3]),
        ([&["s2 u > c1.b", "s2 u a u2 > a"][..], &["s1 u > c1.a", "s1 u c1.a > a"]].concat(), vec![1]),
        // It was lost before the user spoke, of whom the next request goes on.
        (vec!["u > c1.a", "u u2 > a", "u u2 a u3 > a"], vec![1]),
        (vec!["u > c1.a", "u uTitle > a", "u a u3 > a"], vec![1]),
        (vec!["u > c1.a", "u u2 > a", "u u2 u3 > a", "u u2 u3 a u4 > a"], vec![1]),
        // Somebody asked again, and what was answered then was lost.
        ([&right[..], &["u > c3.b", "u > c1.b", "u a u2 > a"]].concat(), vec![5]),
    ] {
        assert_eq!(lost(&log), expected, "{log:?}");
    }
}

#[test]
fn one_conversation_has_lost_nothing() {
    for log in [
        &["u > c1.a", "u c1.a > c2.a", "u > c1.b", "u c1.a c2.a > a", "u c1.b > c2.b", "u c1.b c2.b > a"][..],
        // All ask before one goes on.
        &["u > c1.a", "u > c1.b", "u > c2.c", "u c1.b > a", "u c2.c > a", "u c1.a > a"],
        // Both call the same, and something else is asked beside one.
        &["u > c1.a", "u uTitle > a", "u > c1.b", "u c1.a > a", "u c1.b > a"],
        // Asked again, once or twice, and one of the answers was taken.
        &["u > c1.a", "u > c2.a", "u c1.a > a"],
        &["u > c1.a", "u > c2.a", "u c2.a > a"],
        &["u > c1.a", "u > c2.a", "u > c3.a", "u c1.a > a"],
        &["u c1.a > c2.a", "u c1.a > c3.a", "u c1.a c2.a > a"],
        &["u c1.a > c2.a", "u c1.a > c3.a", "u c1.a c3.a > a"],
        // A step back, a branch.
        &["u > c1.a", "u c1.a > c2.a", "u c1.a c2.a > a", "u c1.a > c3.a", "u c1.a c3.a > a", "u > c4.a", "u c4.a > a"],
        &["u > c1.a", "u u2 > a", "u c1.a > a"],
        // Asked beside it, also again, or in another conversation that is the same; a message before the answer.
        &["u > c1.a", "u uTitle > a", "u uTitle > a", "u c1.a > a"],
        &["u > c1.a", "u u2 > a", "u u2 > a", "u u2 c1.a > a"],
        &["u > c1.a", "u u1 > a", "u c1.a > a", "u > c1.a", "u u2 > a", "u c1.a > a"],
        &["u > c1.a", "u c1.a > a", "u > c1.b", "u uTitle > a", "u c1.b > a"],
        &["u > c1.a", "u c1.a > c2.a", "u c1.a c2.a > a", "u > c1.a", "u u2 > a", "u c1.a u3 > a"],
        // A log that begins in the middle, and one whose first request was written last.
        &["u a u2 > c1.a", "u a u2 c1.a > a", "u a u2 > c1.b", "u a u2 c1.b > a"],
        &["u c1.a > a", "u > c1.a", "u uTitle > a", "u c1.a a u2 > a"],
        // Something is asked beside it, and then nobody goes on: the run was stopped there.
        &["u > c1.a", "u uTitle > a"],
        &["u > c1.a", "u c1.a > c2.a", "u c1.a uTitle > a", "u c1.a uTags > a"],
        // Instructions with the time in them.
        &["s1 u > c1.a", "s1 u uTitle > a", "s2 u c1.a > a"],
    ] {
        assert_eq!(lost(log), [0; 0], "{log:?}");
    }
}
