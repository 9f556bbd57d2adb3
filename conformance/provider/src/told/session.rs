//! Writes the input of a session for a testee: without the answers, which come over the wire.

use super::{ArgsById, calls, read, with_args};
use std::collections::HashMap;
use threadspec_judge::json::Node;

/// An input of op `session` as a testee gets it whose model is the provider: its runs have no `model`, and results that are found by the id of
/// a call have `args`, the arguments of these calls.
pub(super) fn told(input: &str) -> String {
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
