//! AGENT-IDS: what becomes of the ids of calls.

use super::{bug, calls_mut, cut, distinct, family, on_response};
use crate::agent::{Agent, RunState, calls, text};
use crate::planted::Planted;
use serde_json::Value;
use threadspec_golden::clause;

const IDS: &[&str] = &[clause::AGENT_IDS];

/// Gives each call a new id, and still finds its result.
fn renamed(agent: &mut Agent, new: impl Fn(&RunState, &str, usize) -> String + Send + Sync + 'static) {
    on_response(agent, move |run, message| {
        for (index, call) in calls_mut(message).enumerate() {
            let old = text(&call["id"]).to_owned();
            let id = new(run, &old, index);
            let origin =
                run.renamed.iter().find(|(new, _)| *new == old).map_or_else(|| old.clone(), |(_, old)| old.clone());
            call.insert("id".into(), (&*id).into());
            run.renamed.retain(|(known, _)| *known != id);
            run.renamed.push((id, origin));
        }
    });
}

/// Renames the ids that a response repeats, in another way.
fn repeats(agent: &mut Agent, new: fn(&str, usize) -> String) {
    agent.response = Box::new(move |run, message| {
        let own: Vec<Value> = calls(message).iter().map(|call| call["id"].clone()).collect();
        for (index, call) in calls_mut(message).enumerate() {
            let before = own[..index].iter().filter(|id| **id == own[index]).count();
            if before > 0 {
                let id = new(text(&own[index]), before);
                call.insert("id".into(), (&*id).into());
                run.renamed.push((id, text(&own[index]).to_owned()));
            }
        }
    });
}

pub(super) fn bugs() -> Vec<Planted> {
    let mut bugs = vec![
        bug("ids-of-its-own", IDS, |agent| renamed(agent, |run, _, index| format!("call_{}_{index}", run.turn))),
        bug("ids-in-lower-case", IDS, |agent| renamed(agent, |_, id, _| id.to_lowercase())),
        bug("ids-fitted-to-anthropics-pattern", IDS, |agent| {
            renamed(agent, |_, id, _| id.replace(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-', "_"));
        }),
        bug("ids-without-what-is-not-ascii", IDS, |agent| {
            renamed(agent, |_, id, _| id.chars().filter(char::is_ascii).collect())
        }),
        bug("ids-with-the-round-in-front", IDS, |agent| renamed(agent, |run, id, _| format!("{}:{id}", run.turn))),
        bug("ids-without-hyphens", IDS, |agent| renamed(agent, |_, id, _| id.replace('-', ""))),
        bug("short-ids-filled-up", IDS, |agent| renamed(agent, |_, id, _| format!("{id:0>9}"))),
        bug("ids-split-at-a-bar", IDS, |agent| {
            renamed(agent, |_, id, _| id.split_once('|').map_or(id.to_owned(), |(first, _)| format!("fc_{first}")));
        }),
        bug("repeated-ids-stay", IDS, |agent| agent.response = Box::new(|_, _| {})),
        bug("repeated-ids-renamed-in-the-call-alone", IDS, |agent| {
            agent.response = Box::new(distinct);
            agent.answers = Box::new(|run, answers| {
                for answer in answers {
                    let id = text(&answer["tool_call_id"]);
                    if let Some((_, old)) = run.renamed.iter().find(|(new, _)| new == id) {
                        answer["tool_call_id"] = (&**old).into();
                    }
                }
            });
        }),
        bug("repeated-ids-renamed-to-ones-that-are-taken", IDS, |agent| {
            repeats(agent, |id, before| format!("{id}_{}", before + 1))
        }),
        bug("all-repeats-get-one-id", IDS, |agent| repeats(agent, |id, _| format!("{id}_again"))),
        bug("empty-ids-stay-however-many", IDS, |agent| {
            agent.response = Box::new(|run, message| {
                if calls(message).iter().any(|call| call["id"] != "") {
                    distinct(run, message);
                }
            });
        }),
    ];
    bugs.extend(family("ids-cut-to-{n}-characters", IDS, &[2, 8, 9, 40, 64], |agent, size| {
        renamed(agent, move |_, id, _| cut(id, size));
    }));
    bugs
}
