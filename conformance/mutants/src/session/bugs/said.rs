//! SESSION-SAID-ONCE: what is lost, changed or said again from run to run.

use super::{
    Always, BY_CANCEL, BY_KILL, BY_LIMIT, LongThread, NewStart, SecondSession, Shows, ThirdCall, ThirdRun, TwoCuts,
    bugs, calls_mut, is, on_cut_responses, on_later_runs, on_loaded,
};
use crate::agent::calls;
use crate::planted::Planted;
use crate::threads::sound;
use serde_json::{Value, json};
use threadspec_golden::clause;
use threadspec_judge::json::text;

const SAID_ONCE: &[&str] = &[clause::SESSION_SAID_ONCE];
const FROM_RUN_TO_RUN: &[Shows] = &[Always, ThirdRun, SecondSession, NewStart, LongThread];

pub(super) fn all() -> Vec<Planted> {
    twice().into_iter().chain(missing()).chain(changed()).collect()
}

fn twice() -> Vec<Planted> {
    let mut all = Vec::new();
    all.extend(bugs("user-message-said-again-by-resume", SAID_ONCE, &[Always, ThirdRun, TwoCuts], |agent, shows| {
        agent.resume = Box::new(move |run| {
            sound::resume(run)?;
            if let Some(last) = run.last("human").filter(|_| shows.holds(run)) {
                run.thread.list.push(run.thread.list[last].clone());
            }
            Ok(())
        });
    }));
    all.extend(bugs("user-message-kept-twice", SAID_ONCE, FROM_RUN_TO_RUN, |agent, shows| {
        agent.message = Box::new(move |run, words| {
            sound::message(run, words)?;
            if shows.holds(run) {
                sound::say(run, words);
            }
            Ok(())
        });
    }));
    all.extend(bugs("user-message-of-a-failed-run-said-again", SAID_ONCE, &[Always, SecondSession], |agent, shows| {
        agent.message = Box::new(move |run, words| {
            let last = run.thread.list.last().filter(|last| is(last, "human")).cloned();
            if shows.holds(run) {
                run.thread.list.extend(last);
            }
            sound::message(run, words)
        });
    }));
    all.extend(bugs("history-read-twice", SAID_ONCE, FROM_RUN_TO_RUN, |agent, shows| {
        on_later_runs(agent, shows, |run, request| {
            let own = run.thread.list.iter().rposition(|message| is(message, "human")).unwrap_or_default();
            let history: Vec<Value> = run.thread.list[..own].to_vec();
            let system = request.len() - run.thread.list.len();
            request.splice(system..system, history);
        });
    }));
    all.extend(bugs("system-message-said-again", SAID_ONCE, FROM_RUN_TO_RUN, |agent, shows| {
        on_later_runs(agent, shows, |run, request| {
            let system = sound::system_of(run.speaker());
            request.splice(0..0, system);
        });
    }));
    all.extend(bugs("last-answer-kept-twice", SAID_ONCE, &[Always, ThirdRun, SecondSession], |agent, shows| {
        agent.end = Box::new(move |run| {
            let last = run.thread.list.last().filter(|last| is(last, "ai") && calls(last).is_empty()).cloned();
            if shows.holds(run) {
                run.thread.list.extend(last);
            }
        });
    }));
    all.extend(bugs("cut-responses-said-again", SAID_ONCE, &[Always, TwoCuts, ThirdCall, BY_KILL], |agent, shows| {
        on_cut_responses(agent, shows, |run, _| {
            sound::mend(run);
            let Some(response) = run.last_round() else { return false };
            let round = run.thread.list[response..].to_vec();
            run.thread.list.extend(round);
            false
        });
    }));
    all
}

fn missing() -> Vec<Planted> {
    let mut all = Vec::new();
    all.extend(bugs("user-message-lost-after-a-failing-model", SAID_ONCE, &[Always, ThirdRun], |agent, shows| {
        agent.failed = Box::new(move |run, error| {
            run.failure = Some(error.clone());
            let is_last = run.thread.list.last().is_some_and(|last| is(last, "human"));
            if is_last && shows.holds(run) {
                run.thread.list.pop();
            }
        });
    }));
    all.extend(bugs(
        "user-message-lost-with-a-cut",
        SAID_ONCE,
        &[Always, TwoCuts, BY_CANCEL, BY_LIMIT],
        |agent, shows| {
            on_cut_responses(agent, shows, |run, _| {
                let message = run.last("human");
                message.map(|message| run.thread.list.remove(message));
                true
            });
        },
    ));
    all.extend(bugs("error-kept-as-an-answer", &[clause::AGENT_MODEL_FAILURE], &[Always], |agent, shows| {
        agent.failed = Box::new(move |run, error| {
            run.failure = Some(error.clone());
            if shows.holds(run) {
                run.thread.list.push(json!({"type": "ai", "content": format!("Error: {error}")}));
            }
        });
    }));
    all.extend(bugs("first-user-message-forgotten", SAID_ONCE, FROM_RUN_TO_RUN, |agent, shows| {
        on_later_runs(agent, shows, |_, request| {
            let first = request.iter().position(|message| is(message, "human"));
            first.map(|first| request.remove(first));
        });
    }));
    all.extend(bugs("only-the-last-twenty-messages-read", SAID_ONCE, &[LongThread], |agent, shows| {
        on_later_runs(agent, shows, |_, request| {
            let end = request.len().saturating_sub(20);
            let end = (0..=end).rev().find(|&index| is(&request[index], "human")).unwrap_or_default();
            let start = usize::from(request.first().is_some_and(|first| is(first, "system")));
            request.drain(start..end.max(start));
        });
    }));
    all.extend(bugs("last-answer-not-kept", SAID_ONCE, FROM_RUN_TO_RUN, |agent, shows| {
        agent.end = Box::new(move |run| {
            let is_last = run.thread.list.last().is_some_and(|last| is(last, "ai") && calls(last).is_empty());
            if is_last && shows.holds(run) {
                run.thread.list.pop();
            }
        });
    }));
    all.extend(bugs("system-message-lost-in-later-runs", SAID_ONCE, FROM_RUN_TO_RUN, |agent, shows| {
        on_later_runs(agent, shows, |_, request| request.retain(|message| !is(message, "system")));
    }));
    all.extend(bugs("middle-runs-forgotten", SAID_ONCE, &[ThirdRun], |agent, shows| {
        on_later_runs(agent, shows, |_, request| {
            let said: Vec<usize> = request
                .iter()
                .enumerate()
                .filter(|(_, message)| is(message, "human"))
                .map(|(index, _)| index)
                .collect();
            if let [_, second, third, ..] = said[..] {
                request.drain(second..third);
            }
        });
    }));
    all
}

fn changed() -> Vec<Planted> {
    let mut all = Vec::new();
    all.extend(bugs(
        "long-results-shortened-in-the-store",
        SAID_ONCE,
        &[Always, ThirdRun, NewStart],
        |agent, shows| {
            on_loaded(agent, shows, |run| {
                for message in run.thread.list.iter_mut().filter(|message| is(message, "tool")) {
                    let short: String = text(&message["content"]).chars().take(100).collect();
                    message["content"] = short.into();
                }
            });
        },
    ));
    all.extend(bugs("words-beside-calls-lost-in-later-runs", SAID_ONCE, FROM_RUN_TO_RUN, |agent, shows| {
        on_later_runs(agent, shows, |_, request| {
            let own = request.iter().rposition(|message| is(message, "human")).unwrap_or_default();
            let beside_calls = request[..own].iter_mut().filter(|message| !calls(message).is_empty());
            beside_calls.for_each(|message| message["content"] = "".into());
        });
    }));
    all.extend(bugs(
        "arguments-lost-in-later-runs",
        SAID_ONCE,
        &[Always, ThirdRun, ThirdCall, NewStart],
        |agent, shows| {
            agent.request = Box::new(move |run| {
                let mut request = sound::request(run);
                for message in request.iter_mut().filter(|_| run.number > 0) {
                    for call in calls_mut(message) {
                        if shows.holds_for(run, call) {
                            call["args"] = json!({});
                        }
                    }
                }
                request
            });
        },
    ));
    all.extend(bugs(
        "results-of-siblings-swapped-in-later-runs",
        SAID_ONCE,
        &[Always, ThirdRun, ThirdCall],
        |agent, shows| {
            on_later_runs(agent, shows, |_, request| {
                let answers: Vec<usize> = request
                    .iter()
                    .enumerate()
                    .filter(|(_, message)| is(message, "tool"))
                    .map(|(index, _)| index)
                    .collect();
                if let [.., one, other] = answers[..] {
                    let content = request[one]["content"].take();
                    request[one]["content"] = request[other]["content"].take();
                    request[other]["content"] = content;
                }
            });
        },
    ));
    all.extend(bugs("last-answers-change-places", SAID_ONCE, &[ThirdRun, SecondSession], |agent, shows| {
        on_later_runs(agent, shows, |_, request| {
            swap(request, |message| is(message, "ai") && calls(message).is_empty())
        });
    }));
    all.extend(bugs("user-messages-change-places", SAID_ONCE, &[Always, ThirdRun, LongThread], |agent, shows| {
        on_later_runs(agent, shows, |_, request| swap(request, |message| is(message, "human")));
    }));
    all.extend(bugs("results-told-as-strings-in-strings-after-a-new-start", SAID_ONCE, &[NewStart], |agent, shows| {
        on_later_runs(agent, shows, |_, request| {
            for message in request.iter_mut().filter(|message| is(message, "tool")) {
                message["content"] = message["content"].to_string().into();
            }
        });
    }));
    all.extend(bugs("system-message-of-the-first-session", &[clause::AGENT_INDEPENDENT], &[Always], |agent, _| {
        agent.request = Box::new(|run| {
            let mut request = sound::request(run);
            if run.memory["system"].is_null() {
                run.memory["system"] = sound::system_of(run.speaker()).into();
            }
            request.retain(|message| !is(message, "system"));
            let kept = run.memory["system"].as_array().cloned().unwrap_or_default();
            request.splice(0..0, kept);
            request
        });
    }));
    all.extend(independence());
    all
}

/// Sessions of one process that influence each other.
fn independence() -> Vec<Planted> {
    const INDEPENDENT: &[&str] = &[clause::AGENT_INDEPENDENT];
    let mut all = Vec::new();
    all.extend(bugs("threads-of-all-sessions-under-one-key", INDEPENDENT, &[Always], |agent, _| {
        agent.key = Box::new(|_, _| "thread".into());
    }));
    all.extend(bugs("threads-kept-in-the-process", INDEPENDENT, &[Always], |agent, _| {
        agent.loaded = Box::new(|run| {
            if run.number == 0 {
                run.thread.list = run.memory["list"].as_array().cloned().unwrap_or_default();
            }
        });
        agent.end = Box::new(|run| run.memory["list"] = run.thread.list.clone().into());
    }));
    // Its own other agent speaks first: what another session left is nothing that it could be known by.
    all.extend(bugs("speaker-kept-in-the-process", &[clause::AGENT_START], &[Always], |agent, _| {
        agent.hand_over = Box::new(|run, speaker| {
            run.thread.agent = Some(speaker.clone());
            run.memory["agent"] = speaker.clone().into();
        });
        agent.loaded = Box::new(|run| {
            if run.number == 0 {
                run.thread.agent = run.memory["agent"].as_str().map(str::to_owned);
            }
        });
    }));
    all.extend(bugs("pending-calls-kept-in-the-process", &[clause::AGENT_GOES_ON], &[Always], |agent, _| {
        agent.message = Box::new(|run, words| {
            if run.memory["pending"] == true && run.thread.pending.is_empty() && run.number == 0 {
                return Err("Decide first about the call that waits.".into());
            }
            sound::message(run, words)
        });
        agent.end = Box::new(|run| run.memory["pending"] = json!(!run.thread.pending.is_empty()));
    }));
    all.extend(bugs("results-kept-by-id-over-runs", &[clause::AGENT_RESULT], &[Always], |agent, _| {
        agent.execute = Box::new(|run, call| {
            let answer = sound::execute(run, call);
            let id = text(&call["id"]).to_owned();
            if run.thread.notes["results"][&id].is_null() {
                run.thread.notes["results"][&id] = answer;
            }
            run.thread.notes["results"][&id].clone()
        });
    }));
    all.extend(bugs("results-kept-by-id-in-the-process", INDEPENDENT, &[Always], |agent, _| {
        agent.execute = Box::new(|run, call| {
            let id = text(&call["id"]).to_owned();
            let known = run.memory["results"][&id].clone();
            let answer = sound::execute(run, call);
            if !known.is_null() && run.number == 0 {
                return known;
            }
            run.memory["results"][&id] = answer.clone();
            answer
        });
    }));
    all
}

/// Lets the texts of the first two messages of a kind change places.
fn swap(request: &mut [Value], is_meant: fn(&Value) -> bool) {
    let places: Vec<usize> =
        request.iter().enumerate().filter(|(_, message)| is_meant(message)).map(|(index, _)| index).collect();
    if let [one, other, ..] = places[..] {
        let content = request[one]["content"].take();
        request[one]["content"] = request[other]["content"].take();
        request[other]["content"] = content;
    }
}
