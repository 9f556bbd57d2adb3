//! Each clause on sessions that are right, and on sessions that are wrong in one way.

mod cuts;
mod decisions;
mod parts;
mod readings;
mod replies;
mod threads;

use super::*;
use crate::feature::{Saves, SessionAbilities};
use crate::universal::{Holding, Property, value};
use serde_json::{Value, json};

/// A user message.
fn h(text: &str) -> Value {
    json!({"type": "human", "content": text})
}

/// A system message.
fn s(text: &str) -> Value {
    json!({"type": "system", "content": text})
}

/// A response of the model with calls of tool `look`, each with its id as argument.
fn a(text: &str, ids: &[&str]) -> Value {
    let calls: Vec<Value> = ids.iter().map(|id| call(id)).collect();
    json!({"type": "ai", "content": text, "tool_calls": calls})
}

/// Returns them as a turn of the script.
fn turn(text: &str, ids: &[&str]) -> Value {
    let calls: Vec<Value> = ids.iter().map(|id| call(id)).collect();
    json!({"content": text, "tool_calls": calls})
}

/// A call of tool `look`, or of tool `pay`, which needs an approval, if the id begins with a p.
fn call(id: &str) -> Value {
    let name = if id.starts_with('p') { "pay" } else { "look" };
    json!({"id": id, "name": name, "args": {"n": id}})
}

/// An answer.
fn t(id: &str, content: &str) -> Value {
    json!({"type": "tool", "tool_call_id": id, "content": content})
}

/// The tool was called, and returned.
fn ran(id: &str) -> Value {
    call(id)
}

/// The tool was called, and had not returned when the run was cut.
fn cut(id: &str) -> Value {
    let mut executed = call(id);
    executed["returned"] = false.into();
    executed
}

/// A report.
fn run(requests: &[&[Value]], executed: &[Value]) -> Value {
    json!({"requests": requests, "executed": executed})
}

/// A script whose tools `look` and `pay` give `r-` and the id.
fn script(runs: &Value) -> Value {
    let ids: Vec<String> = runs
        .as_array()
        .expect("runs")
        .iter()
        .flat_map(|run| run["model"].as_array().expect("turns"))
        .flat_map(|turn| turn["tool_calls"].as_array().cloned().unwrap_or_default())
        .map(|call| call["id"].as_str().expect("an id").to_owned())
        .collect();
    let results: serde_json::Map<String, Value> = ids.iter().map(|id| (id.clone(), format!("r-{id}").into())).collect();
    json!({"system": "Be brief.", "runs": runs, "tools": {
        "look": {"byId": results}, "pay": {"byId": results, "approval": true},
    }})
}

fn saves(saves: Saves) -> Abilities {
    Abilities { session: SessionAbilities { saves, ..SessionAbilities::default() }, ..Abilities::default() }
}

fn ruling_of(input: &Value, runs: &[Value], abilities: Abilities) -> Ruling {
    let output = value::read(&json!({"runs": runs}).to_string()).expect("JSON");
    judge(&input.to_string(), &Others::default(), abilities, AgentReply::Output(output))
        .expect("a script and a session")
}

fn found_in(ruling: &Ruling) -> Vec<String> {
    ruling.findings().iter().map(ToString::to_string).collect()
}

/// Judges a session whose runs have these reports.
#[track_caller]
fn assert_found(input: &Value, runs: &[Value], expected: &[&str]) {
    assert_eq!(found_in(&ruling_of(input, runs, Abilities::default())), expected);
}

#[track_caller]
fn assert_sound(input: &Value, runs: &[Value]) {
    assert_found(input, runs, &[]);
}
