//! What adapters of Rust frameworks share: the protocol, the scripted model's turns, the scripted tools.
//!
//! An adapter is a function of one `Script` that lets the framework's own loop do the work, and returns what happened. Its tools, named by
//! `Script::tools`, ask `Script::result`. Requests are answered at the same time, each in a thread of its own. Lone surrogates, which no
//! Rust string can hold, are unsupported.
//!
//! A request that is given to the model by value is what the model got: there is nothing that the framework could change afterwards, so
//! that no `requestsAtEnd` is needed. A run is refused (`reject`) only if an error ended it before the model was asked.

use serde_json::{Value, json};
use std::io::BufRead;
use std::sync::{Arc, Mutex};
use std::thread;

/// The number for "no limit" where a framework wants one.
pub const UNLIMITED: usize = 1000;

/// A tool call.
#[derive(Clone)]
pub struct Call {
    pub id: String,
    pub name: String,
    pub args: Value,
}

/// What the scripted model answers, or how it fails.
pub type Turn = Result<(String, Vec<Call>), String>;

/// A message that is given; the results of one round are together, as most frameworks have them, each with id, name and text.
pub enum Given {
    System(String),
    Human(String),
    Ai(String, Vec<Call>),
    Results(Vec<(String, String, String)>),
}

/// One request of op `tools`.
pub struct Script {
    pub messages: Vec<Given>,
    pub turns: Vec<Turn>,
    pub tools: Vec<String>,
    /// How many rounds of calls the framework may run.
    pub rounds: usize,
    /// Where the model is, for a program with a real client: `{api, baseUrl, apiKey, model, stream?}`. There are no `turns` then.
    pub endpoint: Value,
    scripts: Value,
    taken: Mutex<Vec<String>>,
    ambiguous: Mutex<Option<String>>,
}

/// How a run ended: its requests and the list at the end, each in the protocol's messages, and the error that ended it, if one did.
pub struct Outcome {
    pub requests: Vec<Value>,
    pub messages: Option<Value>,
    pub error: Option<String>,
}

impl Script {
    fn read(request: &Value) -> Self {
        let input = &request["input"];
        let turn = |turn: &Value| match turn["error"].as_str() {
            Some(error) => Err(error.to_owned()),
            None => Ok((text(&turn["content"]), calls(turn))),
        };
        Self {
            messages: given(&input["messages"]),
            turns: list(&input["model"]).iter().map(turn).collect(),
            tools: input["tools"].as_object().map(|tools| tools.keys().cloned().collect()).unwrap_or_default(),
            rounds: input["maxRecursionDepth"].as_u64().map_or(UNLIMITED, |limit| limit as usize),
            endpoint: request["endpoint"].clone(),
            scripts: input["tools"].clone(),
            taken: Mutex::default(),
            ambiguous: Mutex::default(),
        }
    }

    /// The tools whose names every API takes.
    pub fn declarable(&self) -> impl Iterator<Item = &String> {
        let is_plain = |name: &&String| {
            let of = |character: char| character.is_ascii_alphanumeric() || "_-".contains(character);
            (1..=64).contains(&name.len()) && name.chars().all(of)
        };
        self.tools.iter().filter(is_plain)
    }

    /// The scripted result of a call; an error if the tool fails. Name and arguments find the call, since tools do not receive its id.
    pub fn result(&self, round: usize, name: &str, args: &Value) -> Result<Value, String> {
        let script = &self.scripts[name];
        let result = if let Some(results) = script.as_array() {
            let mut taken = self.taken.lock().unwrap();
            let count = taken.iter().filter(|taken| *taken == name).count();
            taken.push(name.to_owned());
            results.get(count).or(results.last()).cloned()
        } else if let Some(results) = script["byArgs"].as_array() {
            results.iter().find(|pair| same(&pair[0], args)).map(|pair| pair[1].clone())
        } else if self.endpoint.is_null() {
            self.by_elimination(round, name, args)
        } else {
            self.called_with(name, args)
        };
        let result = result.unwrap_or_else(|| json!(""));
        match result["error"].as_str() {
            Some(error) if result.as_object().is_some_and(|members| members.len() == 1) => Err(error.to_owned()),
            _ => Ok(result),
        }
    }

    fn by_elimination(&self, round: usize, name: &str, args: &Value) -> Option<Value> {
        let (_, calls) = self.turns.get(round)?.as_ref().ok()?;
        let named = || calls.iter().filter(|call| call.name == name);
        let exact = named().any(|call| same(&call.args, args));
        let mut found = named()
            .filter(|call| !exact || same(&call.args, args))
            .map(|call| self.scripts[name]["byId"].get(&call.id));
        let first = found.next()?;
        if found.any(|result| result != first) {
            self.cannot_tell(name);
        }
        first.cloned()
    }

    /// The result of the call with these arguments, among those that have not been run. Over the wire the script says which call has which.
    fn called_with(&self, name: &str, args: &Value) -> Option<Value> {
        let script = &self.scripts[name];
        let mut taken = self.taken.lock().unwrap();
        let mut ids: Vec<&String> = script["byId"].as_object()?.keys().collect();
        let is_exact = |id: &&String| script["args"].get(*id).is_some_and(|own| same(own, args));
        if ids.iter().any(is_exact) {
            ids.retain(is_exact);
        }
        let open: Vec<&String> = ids.iter().filter(|id| !taken.contains(id)).copied().collect();
        let results = if open.is_empty() && script["again"].is_object() { &script["again"] } else { &script["byId"] };
        let ids = if open.is_empty() { ids } else { open };
        let first = ids.first()?;
        if ids.iter().any(|id| script["byId"][*id] != script["byId"][*first]) {
            self.cannot_tell(name);
        }
        taken.push(first.to_string());
        results.get(*first).cloned()
    }

    fn cannot_tell(&self, name: &str) {
        *self.ambiguous.lock().unwrap() =
            Some(format!("the framework does not tell its tools which of the calls to {name:?} they answer"));
    }

    fn answer(self: Arc<Self>, outcome: Result<Outcome, String>) -> Value {
        let ambiguous = self.ambiguous.lock().unwrap().take();
        let outcome = match (ambiguous, outcome) {
            (None, Ok(outcome)) => outcome,
            (Some(why), _) | (None, Err(why)) => return json!({"unsupported": why}),
        };
        let error =
            outcome.error.map(|error| if error.is_empty() { "an error without a message".into() } else { error });
        match error {
            Some(error) if outcome.requests.is_empty() && self.endpoint.is_null() => {
                json!({"reject": {"kind": "invalid-input", "message": error}})
            }
            failure => json!({"ok": {"requests": outcome.requests, "messages": outcome.messages, "failure": failure}}),
        }
    }
}

fn given(messages: &Value) -> Vec<Given> {
    let mut given = Vec::new();
    for message in list(messages) {
        let content = text(&message["content"]);
        match message["type"].as_str() {
            Some("system") => given.push(Given::System(content)),
            Some("human") => given.push(Given::Human(content)),
            Some("ai") => given.push(Given::Ai(content, calls(&message))),
            _ => {
                let id = text(&message["tool_call_id"]);
                let named = |given: &Given| match given {
                    Given::Ai(_, calls) => calls.iter().find(|call| call.id == id).map(|call| call.name.clone()),
                    _ => None,
                };
                let name = given.iter().rev().find_map(named).unwrap_or_else(|| "unknown".to_owned());
                match given.last_mut() {
                    Some(Given::Results(results)) => results.push((id, name, content)),
                    _ => given.push(Given::Results(vec![(id, name, content)])),
                }
            }
        }
    }
    given
}

fn calls(message: &Value) -> Vec<Call> {
    let args = |call: &Value| if call["args"].is_null() { json!({}) } else { call["args"].clone() };
    list(&message["tool_calls"])
        .iter()
        .map(|call| Call { id: text(&call["id"]), name: text(&call["name"]), args: args(call) })
        .collect()
}

fn list(value: &Value) -> Vec<Value> {
    value.as_array().cloned().unwrap_or_default()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// A message of the protocol.
pub fn message(kind: &str, content: &str) -> Value {
    json!({"type": kind, "content": content})
}

/// A response of the model, as a message of the protocol.
pub fn response(content: &str, calls: &[Call]) -> Value {
    let call = |call: &Call| json!({"id": call.id, "name": call.name, "args": call.args});
    json!({"type": "ai", "content": content, "tool_calls": calls.iter().map(call).collect::<Vec<_>>()})
}

/// An answer to a call, as a message of the protocol.
pub fn answer(id: &str, content: &str) -> Value {
    json!({"type": "tool", "content": content, "tool_call_id": id})
}

/// Answers requests until standard input ends. An adapter that cannot put a script to its framework says why. A program with a real client
/// says which `apis` it speaks.
pub fn serve(implementation: Value, apis: Option<Value>, run: impl Fn(Arc<Script>) -> Result<Outcome, String> + Sync) {
    let mut hello = json!({
        "protocol": 1, "implementation": implementation, "ops": ["tools"], "profiles": ["universal"], "concurrent": true,
    });
    if let Some(apis) = apis {
        hello["apis"] = apis;
    }
    let (hello, run) = (&hello, &run);
    thread::scope(|scope| {
        for line in std::io::stdin().lock().lines().map_while(Result::ok).filter(|line| !line.trim().is_empty()) {
            scope.spawn(move || println!("{}", reply(&line, hello, run)));
        }
    });
}

fn reply(line: &str, hello: &Value, run: &impl Fn(Arc<Script>) -> Result<Outcome, String>) -> Value {
    let (id, mut reply) = match serde_json::from_str::<Value>(line) {
        Ok(request) => {
            let reply = match request["op"].as_str() {
                Some("hello") => json!({"ok": hello}),
                Some("tools") => {
                    let script = Arc::new(Script::read(&request));
                    if request["endpoint"]["reasoning"] == true {
                        json!({"unsupported": "the program does not switch the model's thinking on"})
                    } else {
                        script.clone().answer(run(script))
                    }
                }
                _ => json!({"unsupported": "unknown op"}),
            };
            (request["id"].clone(), reply)
        }
        Err(error) => {
            let digits = line.chars().skip_while(|character| !character.is_ascii_digit());
            let id: String = digits.take_while(char::is_ascii_digit).collect();
            (json!(id.parse::<u64>().ok()), json!({"unsupported": format!("no Rust string can hold it: {error}")}))
        }
    };
    reply["id"] = id;
    reply
}

/// Whether two JSON values are equal; 1 and 1.0 are one number.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            one == other || (one.is_f64() || other.is_f64()) && one.as_f64() == other.as_f64()
        }
        (Value::Array(ones), Value::Array(others)) => {
            ones.len() == others.len() && ones.iter().zip(others).all(|(one, other)| same(one, other))
        }
        (Value::Object(ones), Value::Object(others)) => {
            let found = |(name, one)| others.get(name).is_some_and(|other| same(one, other));
            ones.len() == others.len() && ones.iter().all(found)
        }
        (one, other) => one == other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A framework that asks once, and calls the tool `a` with the arguments of the script's call, read from text.
    fn one_call(script: Arc<Script>) -> Result<Outcome, String> {
        let Some(Ok((_, calls))) = script.turns.first() else { return Err("no turn".into()) };
        let args = serde_json::from_str(&calls[0].args.to_string()).map_err(|error| error.to_string())?;
        let result = script.result(0, &calls[0].name, &args).unwrap_or_else(|error| json!(format!("failed: {error}")));
        Ok(Outcome { requests: vec![json!([result])], messages: None, error: None })
    }

    #[test]
    fn over_the_wire_arguments_find_the_call_that_was_not_run_yet() {
        let tool = json!({"byId": {"c1": "one", "c2": "two", "c3": "three"}, "args": {"c1": {"n": 1}, "c2": {"n": 2}, "c3": {"n": 2}}, "again": {"c1": "once more"}});
        let request = json!({"input": {"tools": {"a": tool}}, "endpoint": {"api": "anthropic"}});
        let script = Script::read(&request);
        let results = [1, 1].map(|n| script.result(0, "a", &json!({"n": n})).unwrap());
        assert_eq!(results, ["one", "once more"]);
        assert!(script.ambiguous.lock().unwrap().is_none());
        script.result(0, "a", &json!({"n": 2})).unwrap();
        assert!(script.ambiguous.lock().unwrap().is_some());
    }

    #[test]
    fn over_the_wire_a_run_that_ends_with_an_error_is_no_refusal() {
        let ended = |_| Ok(Outcome { requests: Vec::new(), messages: None, error: Some("no".to_owned()) });
        let found = reply(r#"{"id":7,"op":"tools","input":{"messages":[]},"endpoint":{}}"#, &Value::Null, &ended);
        assert_eq!(found["ok"]["failure"], "no");
    }

    fn said(op: &str, args: &str, tool: &str) -> Value {
        let input = format!(
            r#"{{"messages":[],"model":[{{"tool_calls":[{{"id":"c1","name":"a","args":{args}}}]}}],"tools":{{"a":{tool}}}}}"#
        );
        reply(&format!(r#"{{"id":7,"op":"{op}","input":{input}}}"#), &json!("hello"), &one_call)
    }

    #[test]
    fn an_op_that_is_not_there_is_unsupported() {
        assert_eq!(said("hello", "{}", "[]"), json!({"id": 7, "ok": "hello"}));
        assert_eq!(said("loop", "{}", "[]"), json!({"id": 7, "unsupported": "unknown op"}));
        assert!(said("tools", r#"{"a":"\ud800"}"#, "[]")["unsupported"].is_string());
    }

    #[test]
    fn arguments_are_compared_by_value() {
        for (given, args, is_same) in [
            ("1", "1.0", true),
            ("[1e2]", "[100]", true),
            ("-0.0", "0", true),
            ("9007199254740993", "9007199254740992", false),
            ("1", "true", false),
            ("[1]", "[1,2]", false),
            (r#"{"a":1,"b":2}"#, r#"{"b":2.0,"a":1}"#, true),
            (r#"{"a":1,"b":2}"#, r#"{"a":1}"#, false),
            (r#"{"a":1}"#, r#"{"b":1}"#, false),
        ] {
            let found =
                said("tools", &format!(r#"{{"n":{args}}}"#), &format!(r#"{{"byArgs":[[{{"n":{given}}},null]]}}"#));
            let expected = if is_same { Value::Null } else { json!("") };
            assert_eq!(found["ok"]["requests"], json!([[expected]]), "{given} {args}");
        }
    }

    /// A framework that goes on until there are no more calls, and repairs nothing.
    fn recording(script: Arc<Script>) -> Result<Outcome, String> {
        let (mut requests, mut messages) = (Vec::new(), vec![message("human", "Go")]);
        let error = loop {
            requests.push(json!(messages));
            let (content, calls) = match script.turns.get(requests.len() - 1) {
                Some(Ok(turn)) => turn,
                Some(Err(error)) => break Some(error.clone()),
                None => break Some("script exhausted".to_owned()),
            };
            messages.push(response(content, calls));
            if calls.is_empty() {
                break None;
            }
            for call in calls {
                let content = if script.tools.contains(&call.name) {
                    match script.result(requests.len() - 1, &call.name, &call.args) {
                        Ok(Value::String(text)) => text,
                        Ok(result) => result.to_string(),
                        Err(error) => format!("failed: {error}"),
                    }
                } else {
                    format!("unknown: {}", call.name)
                };
                messages.push(answer(&call.id, &content));
            }
        };
        Ok(Outcome { requests, messages: Some(json!(messages)), error })
    }

    fn said_of(messages: &Value) -> Vec<Value> {
        let said = |message: &Value| response(&text(&message["content"]), &calls(message));
        list(messages).iter().map(said).collect()
    }

    #[test]
    fn each_kind_of_turn_and_of_result_is_played_as_it_stands() {
        let data: Value = serde_json::from_str(include_str!("turns.json")).unwrap();
        let cases = list(&data["cases"]);
        assert!(!cases.is_empty());
        for case in cases {
            let name = &case["name"];
            let input = json!({"messages": [], "model": case["model"], "tools": case["tools"]});
            let output =
                &reply(&json!({"id": 7, "op": "tools", "input": input}).to_string(), &Value::Null, &recording)["ok"];
            assert_eq!(json!(list(&output["requests"]).len()), case["requests"], "{name}");
            let behind = |kind: &str| -> Vec<Value> {
                list(&output["messages"]).split_off(1).into_iter().filter(|message| message["type"] == kind).collect()
            };
            assert!(same(&json!(said_of(&json!(behind("ai")))), &json!(said_of(&case["says"]))), "{name}: {output}");
            let (found, expected) = (behind("tool"), list(&case["answers"]));
            assert_eq!(found.len(), expected.len(), "{name}");
            for (found, expected) in found.iter().zip(&expected) {
                let content = text(&found["content"]);
                let is_right = match (expected.as_str(), expected["includes"].as_str()) {
                    (Some(expected), _) => content == expected,
                    (_, Some(part)) => content.contains(part),
                    _ => serde_json::from_str(&content).is_ok_and(|value| same(&value, expected)),
                };
                assert!(is_right, "{name}: {content} for {expected}");
            }
            let failure = output["failure"].as_str().map(str::to_owned);
            assert_eq!(failure.is_some(), case["failure"].is_string(), "{name}");
            assert!(failure.unwrap_or_default().contains(case["failure"].as_str().unwrap_or_default()), "{name}");
        }
    }

    #[test]
    fn a_run_is_refused_only_before_the_first_request() {
        for (requests, error, member) in
            [(0, Some("no"), "reject"), (1, Some("no"), "ok"), (1, Some(""), "ok"), (0, None, "ok"), (1, None, "ok")]
        {
            let ended = |_| {
                let requests = vec![json!([]); requests];
                Ok(Outcome { requests, messages: None, error: error.map(str::to_owned) })
            };
            let found = reply(r#"{"id":7,"op":"tools","input":{"messages":[],"model":[{}]}}"#, &Value::Null, &ended);
            assert!(found[member].is_object(), "{found}");
            assert_eq!(found["ok"]["failure"].is_string(), member == "ok" && error.is_some(), "{found}");
        }
    }

    #[test]
    fn a_scripted_failure_is_one() {
        let found = said("tools", "{}", r#"{"byId":{"c1":{"error":"down"}}}"#);
        assert_eq!(found["ok"]["requests"], json!([["failed: down"]]));
    }
}
