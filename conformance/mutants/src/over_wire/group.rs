//! Groups of bugs and readings over the wire, and a fault for each decision that an agent makes there.

use super::bugs::history;
use crate::agent::{ChangesInRun, RunState};
use crate::planted::{Kind, OnWire, Planted};
use crate::wire::modes::ALL;
use crate::wire::{Failed, HeardAnswer, Modes, NextStep, WireAgent};
use serde_json::Value;
use threadspec_judge::protocol::JudgeProfile;
use threadspec_provider::client::ClientRequest;

/// Holds what bugs or readings have in common.
#[derive(Clone, Copy)]
pub(super) struct WireGroup {
    /// The clauses that bugs break; the `should` clauses that readings do not follow, whose cases may object.
    clauses: &'static [&'static str],
    modes: Modes,
    is_permitted: bool,
}

/// Begins a group of bugs that show everywhere.
pub(super) const fn breaking(clauses: &'static [&'static str]) -> WireGroup {
    WireGroup { clauses, modes: ALL, is_permitted: false }
}

/// Begins a group of readings that do not follow some `should` clauses.
pub(super) const fn neglecting(clauses: &'static [&'static str]) -> WireGroup {
    WireGroup { is_permitted: true, ..breaking(clauses) }
}

/// The group of readings that follow every clause.
pub(super) const FREE: WireGroup = neglecting(&[]);

impl WireGroup {
    /// Narrows the group to some modes.
    pub(super) const fn of(self, modes: Modes) -> Self {
        Self { modes, ..self }
    }

    /// Plants a fault of the group.
    pub(super) fn plant(self, name: &'static str, plant: impl Fn(&mut WireAgent) + Send + Sync + 'static) -> Planted {
        let Self { clauses, modes, is_permitted } = self;
        let (breaks, neglects): (_, &[_]) = if is_permitted { (&[][..], clauses) } else { (clauses, &[]) };
        // The tables are made once, and live as long as the program.
        let planted = OnWire { modes, neglects, plant: Box::leak(Box::new(plant)) };
        let kind = if is_permitted { Kind::WireReading(planted) } else { Kind::WireBug(planted) };
        Planted { name, kind, breaks, profiles: &[JudgeProfile::Universal] }
    }

    /// Decides what comes of an attempt that failed.
    pub(super) fn failed(
        self,
        name: &'static str,
        decide: impl Fn(&mut RunState, &Failed) -> NextStep + Copy + Send + Sync + 'static,
    ) -> Planted {
        self.plant(name, move |agent| agent.failed = Box::new(decide))
    }

    /// Changes each part of a type that was heard.
    pub(super) fn parts(self, name: &'static str, of_type: &'static str, change: fn(&mut Value)) -> Planted {
        self.heard(name, move |_, heard| heard.parts_of(of_type).for_each(change))
    }

    /// Changes each event of streams.
    pub(super) fn each_event(self, name: &'static str, change: fn(&mut Value)) -> Planted {
        self.events(name, move |_, events| events.iter_mut().for_each(change))
    }

    /// Changes each message or item of each body.
    pub(super) fn elements(self, name: &'static str, change: fn(&mut Value)) -> Planted {
        self.body(name, move |_, body| history(body).iter_mut().for_each(change))
    }

    /// Changes each message of retries.
    pub(super) fn retold(self, name: &'static str, change: fn(&mut Value)) -> Planted {
        self.shown_again(name, move |_, messages| messages.iter_mut().for_each(change))
    }

    /// Changes the body of each ask from this one on, counted from 1.
    pub(super) fn since_ask(
        self,
        name: &'static str,
        first: usize,
        change: impl Fn(&mut Value) + Copy + Send + Sync + 'static,
    ) -> Planted {
        self.body(name, move |run, body| {
            if run.turn >= first {
                change(body);
            }
        })
    }
}

macro_rules! seams {
    ($($(#[$about:meta])* $seam:ident: $value:ty;)*) => {
        impl WireGroup {
            $($(#[$about])*
            pub(super) fn $seam(self, name: &'static str, change: impl ChangesInRun<$value>) -> Planted {
                self.plant(name, move |agent| agent.$seam = Box::new(change))
            })*
        }
    };
}

seams! {
    /// Changes the messages before they are written.
    shown: Vec<Value>;
    /// Changes the body of each ask.
    body: Value;
    /// Changes the messages of retries.
    shown_again: Vec<Value>;
    /// Changes the bodies of retries.
    again: Value;
    /// Changes each attempt as it is sent.
    sent: ClientRequest;
    /// Changes the events of streams.
    events: Vec<Value>;
    /// Changes what was heard before anything is made of it.
    heard: HeardAnswer;
}
