//! The adapter of op `session`: several runs on one thread, which the agent keeps by its own memory.
//!
//! The agent here is `Agent`, a loop whose memory is a list. Put yours in its place: the scripted model at its model interface, the scripted
//! tools, and the memory that its documentation recommends (a checkpointer, a session, the list that a run hands back). Fix nothing between
//! runs: what the memory holds is what the next run gets, and that is what is judged.

mod lines;

use serde_json::{json, Value};
use std::io;

/// What the agent has, by itself or as its documentation tells its users to do. Cases that need anything else are unsupported, and do not
/// count against it. Add one after the other: "error", "cancel", "kill", "limit", "resume", "approval", "edit", "compact", "handoff",
/// "opaque", "raw", "image", "rewind", "branch", "steer". What a run has then is said in
/// <https://github.com/threadspec/threadspec/blob/main/conformance/REFERENCE.md#sessions>.
const FEATURES: [&str; 1] = ["message"];

/// The agent that is tested: it asks the model, answers each call, and remembers.
struct Agent {
    memory: Vec<Value>,
}

impl Agent {
    fn new(system: Option<&str>) -> Self {
        let memory = system.map(|system| json!({"type": "system", "content": system}));
        Self { memory: memory.into_iter().collect() }
    }

    fn run(&mut self, message: &Value, script: &mut Script) -> Result<(), String> {
        self.memory.push(json!({"type": "human", "content": message}));
        loop {
            let response = script.ask(&self.memory)?;
            self.memory.push(response.clone());
            let Some(calls) = response["tool_calls"].as_array() else {
                return Ok(());
            };
            for call in calls {
                let content = match script.execute(call) {
                    Ok(Value::String(text)) => text,
                    Ok(result) => result.to_string(),
                    Err(error) => format!("Error: {error}"),
                };
                self.memory.push(json!({"type": "tool", "tool_call_id": call["id"], "content": content}));
            }
        }
    }
}

/// The model and the tools of a run, and what they saw.
struct Script<'a> {
    tools: &'a Value,
    turns: std::slice::Iter<'a, Value>,
    requests: Vec<Value>,
    executed: Vec<Value>,
}

impl<'a> Script<'a> {
    fn new(tools: &'a Value, run: &'a Value) -> Self {
        let turns = run["model"].as_array().map_or(&[][..], Vec::as_slice).iter();
        Self { tools, turns, requests: Vec::new(), executed: Vec::new() }
    }

    /// The model: keeps a copy of what it gets, and says what the script says next.
    fn ask(&mut self, messages: &[Value]) -> Result<Value, String> {
        self.requests.push(messages.into());
        let turn = self.turns.next().ok_or("script exhausted")?;
        if let Some(error) = turn["error"].as_str() {
            return Err(error.to_owned());
        }
        let mut response = json!({"type": "ai", "content": turn["content"].as_str().unwrap_or_default()});
        if turn["tool_calls"].as_array().is_some_and(|calls| !calls.is_empty()) {
            response["tool_calls"] = turn["tool_calls"].clone();
        }
        Ok(response)
    }

    /// A tool: keeps what it was called with, and gives the result of the call with this id.
    fn execute(&mut self, call: &Value) -> Result<Value, String> {
        let (id, name) = (call["id"].as_str().unwrap_or_default(), call["name"].as_str().unwrap_or_default());
        let tool = self.tools.get(name).ok_or_else(|| format!("there is no tool `{name}`"))?;
        self.executed.push(json!({"id": id, "name": name, "args": call["args"]}));
        let result = tool["byId"].get(id).cloned().unwrap_or_else(|| json!(""));
        match result.as_object().filter(|members| members.len() == 1).and_then(|members| members.get("error")?.as_str()) {
            Some(error) => Err(error.to_owned()),
            None => Ok(result),
        }
    }

    fn report(self, ended: Result<(), String>) -> Value {
        // An agent that refuses a run does not ask its model.
        let reason = if self.requests.is_empty() { "refused" } else { "failure" };
        let mut report = json!({"requests": self.requests, "executed": self.executed});
        if let Err(error) = ended {
            report[reason] = error.into();
        }
        report
    }
}

/// Plays all runs, also those behind one that failed, and reports each.
fn play(session: &Value) -> Value {
    let mut agent = Agent::new(session["system"].as_str());
    let runs = session["runs"].as_array().map_or(&[][..], Vec::as_slice).iter();
    let play_one = |run| {
        let mut script = Script::new(&session["tools"], run);
        let ended = agent.run(&run["message"], &mut script);
        script.report(ended)
    };
    json!({"runs": runs.map(play_one).collect::<Vec<_>>()})
}

fn answer(request: &Value) -> Value {
    let id = &request["id"];
    if request["op"] == "session" {
        return json!({"id": id, "ok": play(&request["input"])});
    }
    let implementation = json!({"name": "my-agent", "version": env!("CARGO_PKG_VERSION"), "language": "Rust"});
    let hello = json!({
        "protocol": 1, "implementation": implementation, "ops": ["session"], "profiles": ["universal"], "session": FEATURES,
    });
    json!({"id": id, "ok": hello})
}

fn main() -> io::Result<()> {
    lines::serve(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hello_names_the_features() {
        let hello = &answer(&json!({"id": 0, "op": "hello", "protocol": 1}))["ok"];
        assert_eq!((&hello["ops"], &hello["profiles"]), (&json!(["session"]), &json!(["universal"])));
        assert!(hello["session"].as_array().unwrap().contains(&json!("message")));
    }

    #[test]
    fn each_run_is_reported_and_begins_with_the_one_before() {
        let call = json!({"id": "c1", "name": "look", "args": {"at": "the door"}});
        let input = json!({
            "storage": "not used by a list",
            "system": "Be brief.",
            "tools": {"look": {"byId": {"c1": "it is open"}}},
            "runs": [
                {"message": "Is it open?", "model": [{"tool_calls": [call]}, {"content": "Yes."}]},
                {"message": "Fails", "model": [{"error": "overloaded"}]},
                {"message": "Thanks", "model": [{"content": "Bye."}]},
            ],
        });
        let reply = answer(&json!({"id": 7, "op": "session", "input": input}));
        let runs = &reply["ok"]["runs"];
        assert_eq!(runs[0]["executed"], json!([call]));
        let lengths: Vec<_> = runs[0]["requests"].as_array().unwrap().iter().map(|one| one.as_array().unwrap().len()).collect();
        assert_eq!(lengths, [2, 4]);
        assert_eq!(runs[1]["failure"], "overloaded");
        let texts: Vec<_> = runs[2]["requests"][0].as_array().unwrap().iter().map(|message| &message["content"]).collect();
        assert_eq!(texts, ["Be brief.", "Is it open?", "", "it is open", "Yes.", "Fails", "Thanks"]);
    }
}
