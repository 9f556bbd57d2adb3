//! Groups of bugs and readings of sessions, and a fault for each decision of an agent that keeps threads.

use super::when::Shows;
use crate::planted::{Kind, OnSession, Planted};
use crate::threads::SessionAgent;
use crate::threads::run::{CallStep, CutBy, Moment, SessionRun};
use serde_json::Value;
use threadspec_judge::protocol::JudgeProfile;

/// Holds what bugs or readings have in common.
#[derive(Clone, Copy)]
pub(super) struct SessionGroup {
    breaks: &'static [&'static str],
    shows: &'static [Shows],
    kind: fn(OnSession) -> Kind,
}

/// Begins a group of bugs that always show.
pub(super) const fn breaking(clauses: &'static [&'static str]) -> SessionGroup {
    SessionGroup { breaks: clauses, shows: &[Shows::Always], kind: Kind::SessionBug }
}

/// The group of readings.
pub(super) const FREE: SessionGroup = SessionGroup { kind: Kind::SessionReading, ..breaking(&[]) };

impl SessionGroup {
    /// Narrows the group to some conditions.
    pub(super) const fn when(self, shows: &'static [Shows]) -> Self {
        Self { shows, ..self }
    }

    /// Makes a group of faults that break no more than the `should` part of their clauses.
    pub(super) const fn lapsing(self) -> Self {
        Self { kind: Kind::SessionLapse, ..self }
    }

    /// Plants a fault for each condition, which its name tells.
    pub(super) fn plant(
        self,
        name: &str,
        plant: impl Fn(&mut SessionAgent, Shows) + Copy + Send + Sync + 'static,
    ) -> Vec<Planted> {
        let one = |&shows: &Shows| Planted {
            name: format!("{name}{}", shows.suffix()).leak(),
            kind: (self.kind)(OnSession(Box::leak(Box::new(move |agent: &mut SessionAgent| plant(agent, shows))))),
            breaks: self.breaks,
            profiles: &[JudgeProfile::Universal],
        };
        self.shows.iter().map(one).collect()
    }
}

/// A method for each decision, which also tells when the fault shows.
macro_rules! seams {
    ($($seam:ident($($name:ident: $given:ty),*) $(-> $back:ty)?;)*) => {
        impl SessionGroup {
            $(pub(super) fn $seam(
                self,
                name: &str,
                seam: impl Fn(&mut SessionRun, $($given,)* Shows) $(-> $back)? + Copy + Send + Sync + 'static,
            ) -> Vec<Planted> {
                self.plant(name, move |agent, shows| {
                    agent.$seam = Box::new(move |run, $($name),*| seam(run, $($name,)* shows));
                })
            })*
        }
    };
}

seams! {
    loaded();
    rewind(run_number: &usize);
    mend() -> Vec<Value>;
    compact(budget: &Value);
    message(words: &String) -> Result<(), String>;
    decisions(decisions: &Value) -> Result<Vec<Value>, String>;
    resume() -> Result<(), String>;
    request() -> Vec<Value>;
    response(message: &mut Value);
    step(asked: &Value) -> CallStep;
    batches(calls: &Vec<Value>) -> Vec<Vec<Value>>;
    execute(call: &Value) -> Value;
    place(answer: &Value);
    steer(words: &String);
    after_round();
    cut(by: &CutBy);
    failed(error: &String);
    hand_over(speaker: &String);
    saves(moment: &Moment) -> bool;
    end();
    reported(report: &mut Value);
}
