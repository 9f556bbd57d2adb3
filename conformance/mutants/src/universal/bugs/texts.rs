//! AGENT-ENCODABLE: what becomes of lone surrogates. What happens to other texts are rows.

use super::{bug, change_text, on_response};
use crate::agent::{Agent, ToolOutcome, calls, content};
use crate::planted::Planted;
use serde_json::Value;
use threadspec_golden::clause;
use threadspec_judge::universal::halves;

const TEXT: &[&str] = &[clause::AGENT_TEXT];
const ENCODABLE: &[&str] = &[clause::AGENT_ENCODABLE];

/// Lets lone surrogates of results pass as they are.
fn halves_pass(agent: &mut Agent, passes: fn(&ToolOutcome) -> Option<Value>) {
    agent.content = Box::new(move |_, outcome| passes(outcome).unwrap_or_else(|| content(outcome)));
}

pub(super) fn bugs() -> Vec<Planted> {
    let mut bugs = vec![
        bug("texts-written-again-in-each-round", &[clause::AGENT_PREFIX], |agent| {
            super::on_later_requests(agent, |run, request| {
                let end = run.requests.last().map_or(0, Vec::len);
                request
                    .iter_mut()
                    .take(end)
                    .for_each(|message| change_text(message, |text| text.replace("{{", "{").replace("}}", "}")));
            });
        }),
        bug("halves-of-results-pass", ENCODABLE, |agent| {
            halves_pass(agent, |outcome| match outcome {
                ToolOutcome::Result(Value::String(text)) => Some(text.clone().into()),
                _ => None,
            });
        }),
        bug("halves-in-structured-results-pass", ENCODABLE, |agent| {
            halves_pass(agent, |outcome| match outcome {
                ToolOutcome::Result(value) if !value.is_string() => Some(value.to_string().into()),
                _ => None,
            });
        }),
        bug("halves-of-errors-pass", ENCODABLE, |agent| {
            agent.outcome = Box::new(|run, call| {
                let error = run.input["tools"][crate::agent::text(&call["name"])]["byId"]
                    [crate::agent::text(&call["id"])]["error"]
                    .clone();
                match (crate::agent::outcome(run, call), error) {
                    (ToolOutcome::Failure(_), Value::String(error)) => ToolOutcome::Failure(error),
                    (outcome, _) => outcome,
                }
            });
        }),
        bug("halves-of-responses-pass", ENCODABLE, |agent| {
            on_response(agent, |run, message| {
                message["content"] = run.scripted(0)["content"].as_str().unwrap_or_default().into()
            });
        }),
        bug("halves-of-questions-pass", ENCODABLE, |agent| {
            agent.begin = Box::new(|run| {
                super::mend(&mut run.list);
                let given = run.input["messages"].as_array().cloned().unwrap_or_default();
                if given.len() == run.list.len() {
                    run.list
                        .iter_mut()
                        .zip(given)
                        .for_each(|(message, given)| message["content"] = given["content"].clone());
                }
                Ok(())
            });
        }),
        bug("halves-end-the-run", ENCODABLE, |agent| {
            agent.content = Box::new(|run, outcome| {
                if matches!(outcome, ToolOutcome::Result(Value::String(text)) if halves::escaped(text) != *text) {
                    run.stop = Some("surrogates not allowed".to_owned());
                }
                content(outcome)
            });
        }),
    ];
    let lost: [(&str, fn(&str) -> String); 2] = [
        ("replacement-characters-left-out-with-halves", |text| halves::repaired(text).replace('\u{fffd}', "")),
        ("text-around-a-half-lost", |_| "?".into()),
    ];
    bugs.extend(lost.map(|(name, edit)| {
        bug(name, TEXT, move |agent| {
            agent.content = Box::new(move |_, outcome| match outcome {
                ToolOutcome::Result(Value::String(text)) if halves::escaped(text) != *text => edit(text).into(),
                _ => content(outcome),
            });
        })
    }));
    bugs.push(bug("halves-of-ids-pass", ENCODABLE, |agent| {
        on_response(agent, |run, message| {
            for (call, said) in super::calls_mut(message).zip(calls(&run.scripted(0))) {
                call.insert("id".into(), said["id"].clone());
            }
        });
    }));
    bugs
}
