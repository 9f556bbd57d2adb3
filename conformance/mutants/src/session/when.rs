//! Where a planted bug of a session shows: everywhere, or only where something has happened before.

use crate::threads::run::{CutBy, SessionRun};
use serde_json::Value;
use threadspec_judge::json::{list, text};

/// When a bug shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shows {
    Always,
    /// In the third run, and later.
    ThirdRun,
    /// With the third call of a response; where no call is meant, behind a response with three.
    ThirdCall,
    /// Once two runs were cut off.
    TwoCuts,
    /// From the second session of a process on.
    SecondSession,
    /// In a process that found its thread in the store.
    NewStart,
    /// On a thread of more than forty messages.
    LongThread,
    /// After a run that was cut off in this way.
    After(CutBy),
}

impl Shows {
    /// What follows the name of the bug.
    pub(super) fn suffix(self) -> &'static str {
        match self {
            Self::Always => "",
            Self::ThirdRun => "-in-the-third-run",
            Self::ThirdCall => "-with-three-calls",
            Self::TwoCuts => "-after-two-cuts",
            Self::SecondSession => "-in-the-second-session",
            Self::NewStart => "-after-a-new-start",
            Self::LongThread => "-on-long-threads",
            Self::After(CutBy::Cancel) => "-after-a-cancel",
            Self::After(CutBy::Throw) => "-after-an-exception",
            Self::After(CutBy::Kill) => "-after-a-kill",
            Self::After(CutBy::Limit) => "-after-a-limit",
        }
    }

    /// Returns whether it shows in a run.
    pub(super) fn holds(self, run: &SessionRun) -> bool {
        match self {
            Self::Always => true,
            Self::ThirdRun => run.number >= 2,
            Self::ThirdCall => calls_of_last_round(run) >= 3,
            Self::TwoCuts => run.thread.cuts >= 2,
            Self::SecondSession => run.session >= 2,
            Self::NewStart => run.from > 0,
            Self::LongThread => run.thread.list.len() > 40,
            Self::After(by) => run.number.checked_sub(1).and_then(|number| scripted_cut(run, number)) == Some(by),
        }
    }

    /// Returns whether it shows with a call.
    pub(super) fn holds_for(self, run: &SessionRun, call: &Value) -> bool {
        match self {
            Self::ThirdCall => run.place_of(call) == 2,
            _ => self.holds(run),
        }
    }
}

fn calls_of_last_round(run: &SessionRun) -> usize {
    run.last_round().map_or(0, |response| list(&run.thread.list[response]["tool_calls"]).len())
}

/// How a run is cut off, as far as its script says.
fn scripted_cut(run: &SessionRun, number: usize) -> Option<CutBy> {
    let script = &run.input["runs"][number];
    match text(&script["cut"]["how"]) {
        "" => script["maxRecursionDepth"].is_number().then_some(CutBy::Limit),
        _ => Some(CutBy::read(&script["cut"]["how"])),
    }
}
