//! Readings of sessions, which §5 of the specification permits: nothing may accuse them.

mod cuts;
mod decisions;
mod histories;
mod parts;

use super::reading;
use crate::planted::Planted;
use crate::threads::SessionAgent;
use crate::threads::run::SessionRun;
use crate::threads::sound;
use serde_json::Value;

/// Every reading.
pub(super) fn all() -> Vec<Planted> {
    [cuts::all(), decisions::all(), histories::all(), parts::all()].concat()
}

/// Compaction does nothing. Beside some readings it would take what the agent writes itself for the user's last words, a turn without its cut
/// calls for a closed one, or all of a closed thread.
fn never_compacts(agent: &mut SessionAgent) {
    agent.compact = Box::new(|_, _| {});
}

/// Answers cut calls in words of its own.
fn tells(agent: &mut SessionAgent, tell: fn(&SessionRun, &Value) -> String) {
    agent.mend = Box::new(move |run| {
        sound::mend_with(run, |run, open| Some(tell(run, &open.call).into()));
        Vec::new()
    });
}

/// The calls of a message that can be changed.
fn calls_mut(message: &mut Value) -> impl Iterator<Item = &mut Value> {
    message.get_mut("tool_calls").and_then(Value::as_array_mut).into_iter().flatten()
}
