//! Writes the input of a case or a session for a testee: without the answers, which come over the wire.

use serde_json::Value;
use std::collections::HashMap;
use threadspec_judge::json::Node;
use threadspec_judge::universal::value;

/// An input of op `tools` as a testee gets it whose model is the provider: without `model`. Results that are found by the id of a call
/// get `args`, the arguments of these calls, for agents whose tools do not receive the id.
///
/// The same of an input of op `session`, each of whose runs has a `model`.
///
/// All else stays as it is written, down to the spelling of numbers and names.
///
/// ```
/// let input = r#"{"messages": [], "model": [{"tool_calls": [{"id": "c1", "name": "a", "args": {"n": 1.0}}]}], "tools": {"a": {"byId": {"c1": "ok"}}}}"#;
/// let told = threadspec_provider::told(input);
/// assert_eq!(told, r#"{"messages": [], "tools": {"a": {"byId": {"c1": "ok"}, "args": {"c1": {"n": 1.0}}}}}"#);
/// ```
pub fn told(input: &str) -> String {
    if is_session(input) {
        return told_of_session(input);
    }
    let Node::Object(mut members) = Node::of(input) else { return input.to_owned() };
    let model = members.iter().position(|(name, _)| read(name) == "model").map(|place| members.remove(place).1);
    let mut known = HashMap::new();
    if let Some(model) = &model {
        calls(model, &mut known);
    }
    if let Some((_, tools)) = members.iter_mut().find(|(name, _)| read(name) == "tools") {
        with_args(tools, &known);
    }
    Node::Object(members).text()
}

/// Returns whether a text is the input of a session.
fn is_session(input: &str) -> bool {
    matches!(member(&Node::of(input), "runs"), Some(Node::Array(_)))
}

/// Adds to each tool whose results are found by the id of a call the arguments of these calls.
fn with_args<'a>(tools: &mut Node<'a>, known: &HashMap<String, ArgsById<'a>>) {
    let Node::Object(tools) = tools else { return };
    for (name, results) in tools {
        let Node::Object(results) = results else { continue };
        if results.iter().any(|(kind, _)| read(kind) == "byId")
            && let Some(args) = known.get(&read(name))
        {
            results.push((r#""args""#, Node::Object(args.clone())));
        }
    }
}

/// The arguments of a tool's calls: ids as they are written, each once.
type ArgsById<'a> = Vec<(&'a str, Node<'a>)>;

/// Adds the arguments of all calls that turns make, by the name of the tool.
fn calls<'a>(turns: &Node<'a>, found: &mut HashMap<String, ArgsById<'a>>) {
    let Node::Array(turns) = turns else { return };
    for turn in turns {
        let Some(Node::Array(calls)) = member(turn, "tool_calls") else { continue };
        for call in calls {
            if let (Some(Node::Scalar(id)), Some(Node::Scalar(name))) = (member(call, "id"), member(call, "name")) {
                let args = member(call, "args").cloned().unwrap_or(Node::Object(Vec::new()));
                let of_tool = found.entry(read(name)).or_default();
                if !of_tool.iter().any(|(other, _)| read(other) == read(id)) {
                    of_tool.push((id, args));
                }
            }
        }
    }
}

fn member<'n, 'a>(object: &'n Node<'a>, name: &str) -> Option<&'n Node<'a>> {
    let Node::Object(members) = object else { return None };
    members.iter().find(|(key, _)| read(key) == name).map(|(_, value)| value)
}

/// The text of a string, lone surrogates marked.
fn read(token: &str) -> String {
    value::read(token)
        .ok()
        .and_then(|value| match value {
            Value::String(text) => Some(text),
            _ => None,
        })
        .unwrap_or_default()
}

// Writes the input of a session for a testee: without the answers, which come over the wire.

/// An input of op `session` as a testee gets it whose model is the provider: its runs have no `model`, and results that are found by the id of
/// a call have `args`, the arguments of these calls.
fn told_of_session(input: &str) -> String {
    let Node::Object(mut members) = Node::of(input) else { return input.to_owned() };
    let mut known: HashMap<String, ArgsById<'_>> = HashMap::new();
    if let Some((_, Node::Array(runs))) = members.iter_mut().find(|(name, _)| read(name) == "runs") {
        for run in runs {
            let Node::Object(run) = run else { continue };
            let Some(place) = run.iter().position(|(name, _)| read(name) == "model") else { continue };
            calls(&run.remove(place).1, &mut known);
        }
    }
    for (name, node) in &mut members {
        match (read(name).as_str(), node) {
            ("tools", tools) => with_args(tools, &known),
            ("agents", Node::Object(agents)) => {
                for (_, agent) in agents {
                    let Node::Object(agent) = agent else { continue };
                    let tools = agent.iter_mut().filter(|(name, _)| read(name) == "tools");
                    tools.for_each(|(_, tools)| with_args(tools, &known));
                }
            }
            _ => {}
        }
    }
    Node::Object(members).text()
}

#[cfg(test)]
mod tests {
    use super::told;

    #[test]
    fn what_is_not_the_model_stays_as_it_is_written() {
        let input = r#"{"messages": [{"content": "\ud83d \u0061"}], "model": [], "tools": {"b": ["1.0", 1e400]}, "maxRecursionDepth": 3}"#;
        assert_eq!(told(input), input.replace(r#""model": [], "#, ""));
    }

    #[test]
    fn results_by_id_come_with_the_arguments_of_their_calls() {
        let input = r#"{"messages":[],"model":[
            {"tool_calls":[{"id":"c1","name":"\u0061","args":{"n":1e2}},{"id":"c2","name":"b"}]},{"error":"e"},
            {"tool_calls":[{"id":"c1","name":"a","args":{"n":9}},{"id":"\ud83d","name":"a","args":{}}]}],
            "tools":{"a":{"byId":{"c1":1}},"b":["r"],"c":{"byId":{}}}}"#;
        let tools =
            r#"{"a": {"byId": {"c1": 1}, "args": {"c1": {"n": 1e2}, "\ud83d": {}}}, "b": ["r"], "c": {"byId": {}}}"#;
        assert_eq!(told(input), format!(r#"{{"messages": [], "tools": {tools}}}"#));
    }

    #[test]
    fn of_a_session_each_run_loses_its_model() {
        let input = r#"{"system":"S","tools":{"look":{"byId":{"a":1}},"pay":{"approval":true,"byId":{"b":2}}},
            "agents":{"other":{"tools":{"read":{"byId":{"c":3}}}}},
            "runs":[{"message":"Go","model":[{"tool_calls":[{"id":"a","name":"look","args":{"n":1.0}},{"id":"h","handoff":"other"}]}]},
                    {"resume":true,"model":[{"tool_calls":[{"id":"c","name":"read","args":{}}]},{"tool_calls":[{"id":"b","name":"pay","arguments":"{"}]}]}]}"#;
        let tools = r#""tools": {"look": {"byId": {"a": 1}, "args": {"a": {"n": 1.0}}}, "pay": {"approval": true, "byId": {"b": 2}, "args": {"b": {}}}}"#;
        let agents = r#""agents": {"other": {"tools": {"read": {"byId": {"c": 3}, "args": {"c": {}}}}}}"#;
        let runs = r#""runs": [{"message": "Go"}, {"resume": true}]"#;
        assert_eq!(told(input), format!(r#"{{"system": "S", {tools}, {agents}, {runs}}}"#));
    }

    #[test]
    fn what_is_no_input_is_left_alone() {
        assert_eq!(told("[1]"), "[1]");
        assert_eq!(told(r#"{"tools": 1}"#), r#"{"tools": 1}"#);
    }
}
