//! Bugs of sizes beyond the corpus, and of readers of streams, written before there was a case for any of them. Most of them are rows.

use super::{bug, calls_mut, change_text, cut, family, is, on_later_requests, on_response};
use crate::agent::{calls, mend};
use crate::planted::Planted;
use serde_json::json;
use threadspec_golden::clause;

const RESPONSE: &[&str] = &[clause::AGENT_RESPONSE];
const INDEPENDENT: &[&str] = &[clause::AGENT_INDEPENDENT];

pub(super) fn bugs() -> Vec<Planted> {
    let runs = family("system-message-forgotten-from-run-{n}-on", INDEPENDENT, &[10, 50, 500], |agent, size| {
        agent.begin = Box::new(move |run| {
            mend(&mut run.list);
            let runs = run.memory.as_u64().unwrap_or(0) + 1;
            run.memory = runs.into();
            if runs > size as u64 {
                run.list.retain(|message| !is(message, &["system"]));
            }
            Ok(())
        });
    });
    let later =
        family("results-cut-to-{n}-characters-later", &[clause::AGENT_PREFIX], &[20_000, 200_000], |agent, size| {
            on_later_requests(agent, move |run, request| {
                let before = run.requests.last().map_or(0, Vec::len);
                let sent = request.iter_mut().take(before).filter(|message| is(message, &["tool"]));
                sent.for_each(|message| change_text(message, |text| cut(text, size)));
            });
        });
    let others = [
        bug("second-call-in-a-stream-joins-the-first", RESPONSE, |agent| {
            on_response(agent, |_, message| {
                let own = calls(message);
                if own.len() > 1 && own[0]["name"] == own[1]["name"] && own[0]["args"] == json!({}) {
                    calls_mut(message)
                        .take(1)
                        .for_each(|call| drop(call.insert("args".into(), own[1]["args"].clone())));
                }
            });
        }),
        bug("response-without-arguments-takes-those-before", RESPONSE, |agent| {
            on_response(agent, |run, message| {
                for call in calls_mut(message).filter(|call| call["args"] == json!({})) {
                    let earlier = run.list.iter().rev().flat_map(calls).find(|other| other["name"] == call["name"]);
                    call.insert("args".into(), earlier.map_or(json!({}), |earlier| earlier["args"].clone()));
                }
            });
        }),
    ];
    runs.chain(later).chain(others).collect()
}
