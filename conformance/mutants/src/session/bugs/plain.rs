//! SESSION-VALID and SESSION-PREFIX: what goes wrong with plain threads.

use super::{Always, LongThread, NewStart, SecondSession, Shows, ThirdCall, ThirdRun, bugs, is, on_later_runs};
use crate::agent::calls;
use crate::planted::Planted;
use crate::threads::run::SessionRun;
use crate::threads::sound;
use serde_json::{Value, json};
use threadspec_golden::clause;

const VALID: &[&str] = &[clause::SESSION_VALID];
const PREFIX: &[&str] = &[clause::SESSION_PREFIX];
const FROM_RUN_TO_RUN: &[Shows] = &[Always, ThirdRun, SecondSession, LongThread];

pub(super) fn all() -> Vec<Planted> {
    valid().into_iter().chain(prefix()).collect()
}

/// Changes answers of earlier runs, given as the list and the place of one; what becomes of the list is up to the change.
fn on_earlier_answers(agent: &mut crate::session::SessionAgent, shows: Shows, change: fn(&mut Vec<Value>, usize)) {
    agent.request = Box::new(move |run| {
        let mut request = sound::request(run);
        if run.number == 0 {
            return request;
        }
        let end = request.iter().rposition(|message| is(message, "human")).unwrap_or_default();
        for index in (0..end).rev().filter(|&index| is(&request[index], "tool")).collect::<Vec<_>>() {
            if is_shown(run, &request, index, shows) {
                change(&mut request, index);
            }
        }
        request
    });
}

/// Whether it shows with an answer.
fn is_shown(run: &SessionRun, request: &[Value], answer: usize, shows: Shows) -> bool {
    let place = request[..answer].iter().rev().take_while(|message| is(message, "tool")).count();
    if shows == ThirdCall { place == 2 } else { shows.holds(run) }
}

fn valid() -> Vec<Planted> {
    const ANYWHERE: &[Shows] = &[Always, ThirdRun, ThirdCall, SecondSession, NewStart, LongThread];
    let mut all = Vec::new();
    all.extend(bugs("answers-of-earlier-runs-lost", VALID, ANYWHERE, |agent, shows| {
        on_earlier_answers(agent, shows, |list, index| drop(list.remove(index)));
    }));
    all.extend(bugs("answers-of-earlier-runs-doubled", VALID, ANYWHERE, |agent, shows| {
        on_earlier_answers(agent, shows, |list, index| list.insert(index, list[index].clone()));
    }));
    all.extend(bugs("answers-of-earlier-runs-without-an-id", VALID, &[Always, ThirdRun, ThirdCall], |agent, shows| {
        on_earlier_answers(agent, shows, |list, index| {
            list[index].as_object_mut().map(|members| members.remove("tool_call_id"));
        });
    }));
    all.extend(bugs("answers-of-earlier-runs-before-their-response", VALID, &[Always, ThirdRun], |agent, shows| {
        on_earlier_answers(agent, shows, |list, index| {
            if !calls(&list[index - 1]).is_empty() {
                list.swap(index - 1, index);
            }
        });
    }));
    all.extend(bugs("answers-of-earlier-runs-behind-the-next-message", VALID, &[Always, ThirdCall], |agent, shows| {
        on_earlier_answers(agent, shows, |list, index| {
            let answer = list.remove(index);
            let message = list[index..].iter().position(|message| is(message, "human"));
            list.insert(message.map_or(list.len(), |message| index + message + 1), answer);
        });
    }));
    all.extend(bugs("responses-of-earlier-runs-lost-but-for-their-answers", VALID, FROM_RUN_TO_RUN, |agent, shows| {
        on_later_runs(agent, shows, |_, request| {
            let end = request.iter().rposition(|message| is(message, "human")).unwrap_or_default();
            let mut index = 0;
            request.retain(|message| {
                index += 1;
                index > end || calls(message).is_empty()
            });
        });
    }));
    all
}

fn prefix() -> Vec<Planted> {
    let mut all = Vec::new();
    all.extend(bugs("note-of-the-run-before-the-history", PREFIX, FROM_RUN_TO_RUN, |agent, shows| {
        on_later_runs(agent, shows, |run, request| {
            let system = request.len() - run.thread.list.len();
            request.insert(system, json!({"type": "human", "content": format!("[run {}]", run.number + 1)}));
        });
    }));
    all.extend(bugs("number-of-the-run-in-the-system-message", PREFIX, FROM_RUN_TO_RUN, |agent, shows| {
        on_later_runs(agent, shows, |run, request| {
            let number = run.number + 1;
            for message in request.iter_mut().filter(|message| is(message, "system")) {
                message["content"] =
                    format!("{} Run {number}.", message["content"].as_str().unwrap_or_default()).into();
            }
        });
    }));
    all.extend(bugs("ids-renamed-by-the-run", PREFIX, &[Always, ThirdRun, LongThread], |agent, shows| {
        on_later_runs(agent, shows, |run, request| {
            let new = |id: &Value| json!(format!("r{}_{}", run.number, id.as_str().unwrap_or_default()));
            let end = own_message(run, request);
            for message in &mut request[..end] {
                super::calls_mut(message).for_each(|call| call["id"] = new(&call["id"]));
                let parts = message.get_mut("opaque").and_then(Value::as_array_mut).into_iter().flatten();
                parts.filter(|part| part["call"].is_string()).for_each(|part| part["call"] = new(&part["call"]));
                if is(message, "tool") {
                    message["tool_call_id"] = new(&message["tool_call_id"]);
                }
            }
        });
    }));
    all.extend(bugs("recap-before-the-last-message", PREFIX, FROM_RUN_TO_RUN, |agent, shows| {
        on_later_runs(agent, shows, |run, request| {
            let last = own_message(run, request);
            // In every later request it stands somewhere else.
            let recap = json!({"type": "human", "content": "The conversation so far is above."});
            request.insert(last, recap);
        });
    }));
    all.extend(bugs("note-kept-before-each-message", PREFIX, FROM_RUN_TO_RUN, |agent, shows| {
        agent.message = Box::new(move |run, words| {
            sound::message(run, words)?;
            if run.number > 0 && shows.holds(run) {
                let last = run.thread.list.len() - 1;
                run.thread.list.insert(last, json!({"type": "human", "content": "The user is back."}));
            }
            Ok(())
        });
    }));
    all.extend(bugs("system-message-last-in-later-runs", PREFIX, &[Always, ThirdRun], |agent, shows| {
        on_later_runs(agent, shows, |_, request| {
            if request.first().is_some_and(|first| is(first, "system")) {
                request.rotate_left(1);
            }
        });
    }));
    all
}

/// Returns the place of the message with which a run began, or else of the last one of the user.
fn own_message(run: &SessionRun, request: &[Value]) -> usize {
    let is_own = |message: &Value| is(message, "human") && message["content"] == run.script()["message"];
    let last = || request.iter().rposition(|message| is(message, "human"));
    request.iter().rposition(is_own).or_else(last).unwrap_or_default()
}
