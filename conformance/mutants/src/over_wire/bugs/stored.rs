//! Responses with a history that the provider keeps: it goes on from the wrong place, or not alone.

use super::{RESPONSES, bug, history, on_bodies};
use crate::agent::RunState;
use crate::planted::Planted;
use crate::wire::modes::ALL;
use crate::wire::stored::from_the_answer_before;
use crate::wire::{Modes, WireAgent, write};
use serde_json::{Value, json};
use threadspec_golden::clause;
use threadspec_judge::json::text;

const PREFIX: &[&str] = &[clause::AGENT_PREFIX];
const RULES: &[&str] = &[clause::WIRE_RULES];
const HERE: Modes = ALL.of(RESPONSES);

/// Goes on from the answer before, with a change.
fn stored(agent: &mut WireAgent, change: impl Fn(&mut RunState, &mut Value) + Send + Sync + 'static) {
    on_bodies(agent, move |run, body| {
        from_the_answer_before(run, body);
        if body["previous_response_id"].is_string() {
            change(run, body);
        }
    });
}

pub(super) fn bugs() -> Vec<Planted> {
    vec![
        bug("goes-on-from-the-first-response-for-ever", PREFIX, HERE, |agent| {
            stored(agent, |run, body| body["previous_response_id"] = (&*run.wire.answers[0].0).into());
        }),
        bug("goes-on-from-the-response-before-the-last", PREFIX, HERE, |agent| {
            stored(agent, |run, body| {
                let answers = &run.wire.answers;
                body["previous_response_id"] = (&*answers[answers.len().saturating_sub(2)].0).into();
            });
        }),
        bug("stored-history-sent-as-well", PREFIX, HERE, |agent| {
            stored(agent, |run, body| {
                body["input"] = run.list.iter().flat_map(write::items).collect();
            });
        }),
        bug("human-messages-sent-beside-the-stored-history", PREFIX, HERE, |agent| {
            stored(agent, |run, body| {
                let human = run.list.iter().rfind(|message| message["type"] == "human");
                let items: Vec<Value> = human.into_iter().flat_map(write::items).collect();
                history(body).splice(0..0, items);
            });
        }),
        bug("instructions-not-sent-again-beside-the-stored-history", PREFIX, HERE, |agent| {
            on_bodies(agent, |run, body| {
                from_the_answer_before(run, body);
                let systems: Vec<&str> = run
                    .list
                    .iter()
                    .filter(|message| message["type"] == "system")
                    .map(|message| text(&message["content"]))
                    .collect();
                let instructions = systems.join("\n");
                if !instructions.is_empty() {
                    history(body).retain(|item| item["role"] != "system");
                }
                if !instructions.is_empty() && body["previous_response_id"].is_null() {
                    body["instructions"] = instructions.into();
                }
            });
        }),
        bug("goes-on-from-what-was-not-stored", RULES, HERE, |agent| {
            stored(agent, |_, body| body["store"] = false.into());
            let inner = std::mem::replace(&mut agent.body, Box::new(|_, _| {}));
            agent.body = Box::new(move |run, body| {
                inner(run, body);
                body["store"] = false.into();
            });
        }),
        bug("goes-on-from-a-response-of-another-run", RULES, HERE, |agent| {
            stored(agent, |run, body| {
                let before = run.memory["id"].clone();
                run.memory["id"] = body["previous_response_id"].clone();
                if before.is_string() {
                    body["previous_response_id"] = before;
                }
            });
        }),
        bug("goes-on-from-an-id-of-another-kind", RULES, HERE, |agent| {
            stored(agent, |_, body| {
                let id = text(&body["previous_response_id"]).replace("resp_", "msg_");
                body["previous_response_id"] = id.into();
            });
        }),
        bug("items-named-that-were-not-stored", RULES, HERE, |agent| {
            on_bodies(agent, |run, body| {
                body["store"] = false.into();
                let id = run.wire.answers.last().map(|(id, _)| id.replace("resp_", "rs_"));
                if let Some(id) = id {
                    let at = history(body).len() - 1;
                    history(body).insert(at, json!({"type": "item_reference", "id": id}));
                }
            });
        }),
        bug("results-sent-alone-on-a-retry", &[clause::WIRE_RETRY], HERE, |agent| {
            agent.again = Box::new(|_, body| {
                let items = history(body);
                let results = items.iter().rev().take_while(|item| item["type"] == "function_call_output").count();
                if results > 0 {
                    items.drain(..items.len() - results);
                }
            });
        }),
    ]
}
