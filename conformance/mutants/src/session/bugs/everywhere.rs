//! Plants what programs do with odd texts where only sessions have texts: in stored texts, reasons, edits, thoughts and summaries.

use crate::agent::taps::Operator;
use crate::planted::{Kind, OnSession};
use crate::session::prelude::*;
use crate::universal::operators::HAZARDS;
use threadspec_judge::protocol::JudgeProfile;

/// Plants an edit of texts.
type PlantIn = fn(&mut SessionAgent, Operator);

/// Edits a member of each decision before it is taken.
fn in_decisions(agent: &mut SessionAgent, name: &'static str, edit: Operator) {
    agent.decisions = Box::new(move |run, decisions| {
        let mut decisions = decisions.clone();
        let own = decisions.as_object_mut().into_iter().flat_map(|members| members.values_mut());
        own.filter_map(|decision| decision.get_mut(name)).for_each(|member| edit.change(member));
        sound::decisions(run, &decisions)
    });
}

const POSITIONS: [(&str, &[&str], PlantIn); 5] = [
    ("stored-texts", &[clause::SESSION_SAID_ONCE], |agent, edit| {
        agent.loaded = Box::new(move |run| {
            run.thread.list.iter_mut().for_each(|message| edit.change(&mut message["content"]));
        });
    }),
    ("reasons", &[clause::SESSION_DENIED], |agent, edit| in_decisions(agent, "reason", edit)),
    ("edits", &[clause::SESSION_APPROVED], |agent, edit| in_decisions(agent, "args", edit)),
    ("thoughts", &[clause::SESSION_OPAQUE], |agent, edit| {
        agent.request = Box::new(move |run| {
            let mut request = sound::request(run);
            let parts = request.iter_mut().filter_map(|message| message.get_mut("opaque")?.as_array_mut()).flatten();
            parts.filter_map(|part| part.get_mut("text")).for_each(|text| edit.change(text));
            request
        });
    }),
    ("summaries", &[clause::SESSION_COMPACT], |agent, edit| {
        agent.compact = Box::new(move |run, budget| {
            let mut budget = budget.clone();
            budget.get_mut("summary").into_iter().for_each(|summary| edit.change(summary));
            sound::compact(run, &budget);
        });
    }),
];

pub(super) fn all() -> Vec<Planted> {
    let at = |(place, breaks, plant): (&'static str, &'static [&'static str], PlantIn)| {
        // White space at the ends of what is quoted is nobody's.
        let is_open = move |what: &str| what != "trimmed" || !matches!(place, "reasons" | "summaries");
        HAZARDS.into_iter().filter(move |(what, ..)| is_open(what)).map(move |(what, edit, _)| {
            let edit = Operator::Text(edit);
            let planted = OnSession(Box::leak(Box::new(move |agent: &mut SessionAgent| plant(agent, edit))));
            let kind = if place == "reasons" { Kind::SessionLapse(planted) } else { Kind::SessionBug(planted) };
            let name = format!("{place}-{what}").leak();
            Planted { name, kind, breaks, profiles: &[JudgeProfile::Universal] }
        })
    };
    POSITIONS.into_iter().flat_map(at).collect()
}
