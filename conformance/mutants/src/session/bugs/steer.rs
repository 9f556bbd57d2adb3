//! SESSION-STEER: what the user says while a tool works.

use super::{Always, BY_CANCEL, NewStart, Shows, ThirdCall, bugs, is};
use crate::agent::calls;
use crate::planted::Planted;
use crate::threads::SessionAgent;
use crate::threads::run::SessionRun;
use crate::threads::sound::{self, say};
use serde_json::{Value, json};
use threadspec_golden::clause;
use threadspec_judge::json::text;

const STEER: &[&str] = &[clause::SESSION_STEER];
const ALONE: &[Shows] = &[Always];

/// Takes the user's words otherwise.
fn on_steer(agent: &mut SessionAgent, shows: Shows, take: fn(&mut SessionRun, &str)) {
    agent.steer = Box::new(move |run, words| if shows.holds(run) { take(run, words) } else { say(run, words) });
}

/// Adds the words that were kept aside to a request.
fn on_request(agent: &mut SessionAgent, is_once: bool) {
    on_steer(agent, Always, |run, words| run.thread.notes = words.into());
    agent.request = Box::new(move |run| {
        let mut request = sound::request(run);
        if let Some(words) = run.thread.notes.as_str().map(str::to_owned) {
            request.push(json!({"type": "human", "content": words}));
            if is_once {
                run.thread.notes = Value::Null;
            }
        }
        request
    });
}

/// Inserts the words before the messages behind the last response: so many of them.
fn insert(run: &mut SessionRun, words: &str, behind: usize) {
    let at = run.last_round().map_or(0, |response| response + behind);
    run.thread.list.insert(at, json!({"type": "human", "content": words}));
}

pub(super) fn all() -> Vec<Planted> {
    let mut all = Vec::new();
    all.extend(bugs("words-during-a-call-lost", STEER, &[Always, ThirdCall], |agent, shows| {
        on_steer(agent, shows, |_, _| {});
    }));
    all.extend(bugs("words-during-a-call-before-its-answer", STEER, ALONE, |agent, shows| {
        on_steer(agent, shows, |run, words| insert(run, words, 1));
    }));
    all.extend(bugs("words-during-parallel-calls-between-their-answers", STEER, ALONE, |agent, _| {
        on_steer(agent, ThirdCall, |run, words| insert(run, words, 2));
    }));
    all.extend(bugs("words-during-a-call-before-its-response", STEER, ALONE, |agent, shows| {
        on_steer(agent, shows, |run, words| insert(run, words, 0));
    }));
    all.extend(bugs("words-during-a-call-said-twice", STEER, ALONE, |agent, shows| {
        on_steer(agent, shows, |run, words| (0..2).for_each(|_| say(run, words)));
    }));
    all.extend(bugs("words-during-a-call-in-one-request-alone", STEER, ALONE, |agent, _| on_request(agent, true)));
    all.extend(bugs("words-during-a-call-behind-every-request", STEER, ALONE, |agent, _| on_request(agent, false)));
    all.extend(bugs("words-during-a-call-said-again-by-the-next-run", STEER, &[Always, NewStart], |agent, shows| {
        on_steer(agent, Always, |run, words| {
            say(run, words);
            run.thread.notes = words.into();
        });
        agent.message = Box::new(move |run, words| {
            if let Some(words) = run.thread.notes.as_str().filter(|_| shows.holds(run)).map(str::to_owned) {
                say(run, &words);
                run.thread.notes = Value::Null;
            }
            sound::message(run, words)
        });
    }));
    all.extend(bugs("words-during-a-call-in-its-result", STEER, ALONE, |agent, shows| {
        on_steer(agent, shows, |run, words| {
            if let Some(answer) = run.thread.list.last_mut() {
                answer["content"] = format!("{}\n\n{words}", text(&answer["content"])).into();
            }
        });
    }));
    all.extend(bugs("words-during-a-call-that-fails-lost", STEER, ALONE, |agent, shows| {
        on_steer(agent, shows, |run, words| {
            if !run.thread.list.last().is_some_and(|answer| text(&answer["content"]).contains("address unknown")) {
                say(run, words);
            }
        });
    }));
    all.extend(bugs("words-during-a-call-lost-if-they-were-said-before", STEER, ALONE, |agent, shows| {
        on_steer(agent, shows, |run, words| {
            if run.thread.list.iter().all(|message| message["content"] != words) {
                say(run, words);
            }
        });
    }));
    all.extend(bugs("words-during-a-call-escaped", STEER, ALONE, |agent, shows| {
        on_steer(agent, shows, |run, words| say(run, &words.replace('&', "&amp;").replace('<', "&lt;")));
    }));
    all.extend(bugs("words-during-a-call-in-place-of-the-message", STEER, ALONE, |agent, shows| {
        on_steer(agent, shows, |run, words| {
            if let Some(first) = run.thread.list.iter().rposition(|message| is(message, "human")) {
                run.thread.list[first]["content"] = words.into();
            }
        });
    }));
    all.extend(bugs("words-during-a-call-lost-with-a-run-that-is-cut", STEER, ALONE, |agent, _| {
        agent.message = Box::new(|run, words| {
            if BY_CANCEL.holds(run) {
                let first = run.thread.list.iter().position(|message| is(message, "human"));
                let mut at = 0;
                run.thread.list.retain(|message| {
                    at += 1;
                    !is(message, "human") || Some(at - 1) == first
                });
            }
            sound::message(run, words)
        });
    }));
    all.extend(bugs("words-during-a-call-gone-behind-four-rounds", STEER, ALONE, |agent, _| {
        agent.request = Box::new(|run| {
            let mut request = sound::request(run);
            let own = request.iter().rposition(|message| is(message, "human"));
            let is_far = |own: &usize| request[*own..].iter().filter(|message| !calls(message).is_empty()).count() > 4;
            if let Some(own) = own.filter(is_far).filter(|own| is(&request[own - 1], "tool")) {
                request.remove(own);
            }
            request
        });
    }));
    all
}
