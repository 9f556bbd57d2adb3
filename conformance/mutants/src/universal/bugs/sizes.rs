//! What shows only with size, and remembers or looks around. All else that shows with size are rows.

use super::{calls_mut, cut, family, is, on_later_requests, on_response};
use crate::agent::{Agent, RunState, ToolOutcome, answer, content, mend, outcome, text};
use crate::planted::Planted;
use serde_json::json;
use threadspec_golden::clause;

const FAILURE: &[&str] = &[clause::AGENT_FAILURE];
const GOES_ON: &[&str] = &[clause::AGENT_GOES_ON];
const INDEPENDENT: &[&str] = &[clause::AGENT_INDEPENDENT];
const PREFIX: &[&str] = &[clause::AGENT_PREFIX];
const RESPONSE: &[&str] = &[clause::AGENT_RESPONSE];
const RESULT: &[&str] = &[clause::AGENT_RESULT];

/// The number that a bug keeps in the memory of the agent, one more with each call.
fn counted(run: &mut RunState, by: u64) -> u64 {
    let count = run.memory.as_u64().unwrap_or(0) + by;
    run.memory = count.into();
    count
}

/// Empties results when all of them together are longer.
fn budget(agent: &mut Agent, size: usize) {
    on_later_requests(agent, move |_, request| {
        let mut left = size;
        for message in request.iter_mut().rev().filter(|message| is(message, &["tool"])) {
            let length = text(&message["content"]).len();
            if length > left {
                message["content"] = "[removed]".into();
            }
            left = left.saturating_sub(length);
        }
    });
}

/// Does not know the tools behind so many.
fn tools_beyond(agent: &mut Agent, size: usize) {
    agent.outcome = Box::new(move |run, call| {
        let tools = run.input["tools"].as_object();
        let at = tools.and_then(|tools| tools.keys().position(|name| *name == call["name"]));
        let is_known = at.is_none_or(|at| at < size);
        if is_known { outcome(run, call) } else { ToolOutcome::Unknown(text(&call["name"]).to_owned()) }
    });
}

pub(super) fn bugs() -> Vec<Planted> {
    let mut bugs: Vec<Planted> = family("failures-beyond-{n}-end-the-run", FAILURE, &[10, 50, 99], |agent, size| {
        agent.after_round = Box::new(move |run| {
            if run.list.iter().filter(|message| text(&message["content"]).starts_with("The tool failed")).count() > size
            {
                run.stop = Some("too many failures".into());
            }
        });
    })
    .collect();
    bugs.extend(family("answers-of-a-run-beyond-{n}-emptied", RESULT, &[500, 999], |agent, size| {
        agent.answers = Box::new(move |run, answers| {
            let before = run.list.iter().filter(|message| is(message, &["tool"])).count();
            answers.iter_mut().skip(size.saturating_sub(before)).for_each(|answer| answer["content"] = "".into());
        });
    }));
    bugs.extend(family("rounds-older-than-{n}-lost", PREFIX, &[125, 190], |agent, size| {
        on_later_requests(agent, move |run, request| {
            if run.turn > size + 1 {
                request.drain(1..3);
            }
        });
    }));
    bugs.extend(family("no-more-than-{n}-rounds", GOES_ON, &[128, 199], |agent, size| {
        agent.after_round = Box::new(move |run| {
            if run.turn >= size {
                run.stop = Some(String::new());
            }
        });
    }));
    bugs.extend(family("tools-beyond-{n}-not-found", RESULT, &[20, 127, 512, 999], tools_beyond));
    bugs.extend(family("tools-beyond-number-{n}-not-found", RESULT, &[64, 128, 500], tools_beyond));
    bugs.extend(family("results-of-a-run-beyond-{n}-characters-removed", PREFIX, &[20_000, 100_000, 400_000], budget));
    bugs.extend(family("long-ids-cut-to-{n}-characters", &[clause::AGENT_IDS], &[100, 512], |agent, size| {
        agent.response = Box::new(move |run, message| {
            for call in calls_mut(message) {
                let old = text(&call["id"]).to_owned();
                let id = cut(&old, size);
                call.insert("id".into(), (&*id).into());
                run.renamed.push((id, old));
            }
        });
    }));
    bugs.extend(family("limits-above-{n}-lowered", GOES_ON, &[25, 50, 99], |agent, size| {
        agent.is_cut = Box::new(move |run| {
            run.limit().is_some_and(|limit| run.turn > limit.min(size) + usize::from(limit > size))
        });
        agent.answers_when_cut = Box::new(|_, calls| calls.iter().map(|call| answer(call, "Limit.")).collect());
    }));
    bugs.extend(family("texts-beside-calls-beyond-{n}-dropped", RESPONSE, &[20, 99], |agent, size| {
        on_response(agent, move |run, message| {
            if run.turn > size {
                message["content"] = "".into();
            }
        });
    }));
    bugs.extend(family("run-{n}-gets-the-messages-of-the-one-before", INDEPENDENT, &[20, 101, 520], |agent, size| {
        agent.begin = Box::new(move |run| {
            mend(&mut run.list);
            let count = run.memory["count"].as_u64().unwrap_or(0) + 1;
            if count >= size as u64 {
                let earlier = run.memory["list"].as_array().cloned().unwrap_or_default();
                run.list.splice(0..0, earlier);
            }
            run.memory = json!({"count": count, "list": run.input["messages"]});
            Ok(())
        });
    }));
    bugs.extend(family("no-run-after-{n}", GOES_ON, &[50, 100, 500], |agent, size| {
        agent.begin = Box::new(move |run| {
            mend(&mut run.list);
            if counted(run, 1) > size as u64 { Err("too many runs".into()) } else { Ok(()) }
        });
    }));
    bugs.extend(family("results-empty-after-{n}-calls", RESULT, &[100, 200, 1_000], |agent, size| {
        agent.content =
            Box::new(move |run, outcome| if counted(run, 1) > size as u64 { "".into() } else { content(outcome) });
    }));
    bugs
}
