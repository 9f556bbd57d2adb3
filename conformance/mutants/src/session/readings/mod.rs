//! Readings of sessions, which §5 of the specification permits: nothing may accuse them.

mod cuts;
mod decisions;
mod histories;

use super::group::SessionGroup;
use crate::planted::Planted;
use crate::threads::SessionAgent;
use crate::threads::run::SessionRun;
use crate::threads::sound;
use serde_json::Value;

/// Every reading.
pub(super) fn all() -> Vec<Planted> {
    [cuts::all(), decisions::all(), histories::all(), histories::parts()].concat()
}

/// Compaction does nothing. Beside some readings it would take what the agent writes itself for the user's last words, a turn without its cut
/// calls for a closed one, or all of a closed thread.
fn never_compacts(agent: &mut SessionAgent) {
    agent.compact = Box::new(|_, _| {});
}

impl SessionGroup {
    /// Answers cut calls in words of its own.
    pub(in crate::session) fn tells(self, name: &'static str, tell: fn(&SessionRun, &Value) -> String) -> Vec<Planted> {
        self.mend(name, move |run, _| {
            sound::mend_with(run, |run, open| Some(tell(run, &open.call).into()));
            Vec::new()
        })
    }
}
