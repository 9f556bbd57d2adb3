//! SESSION-SAID-ONCE: what is lost, changed or said again from run to run.
//! SESSION-REWIND: runs that replace an earlier message of the user, and threads that go back to what such a run left.

use crate::session::prelude::*;

const FROM_RUN_TO_RUN: &[Shows] = &[Always, ThirdRun, SecondSession, NewStart, LongThread];

pub(super) fn all() -> Vec<Planted> {
    twice().into_iter().chain(missing()).chain(changed()).collect()
}

fn twice() -> Vec<Planted> {
    [
        SAID_ONCE.when(&[Always, ThirdRun, TwoCuts]).resume("user-message-said-again-by-resume", |run, shows| {
            sound::resume(run)?;
            if let Some(last) = run.last("human").filter(|_| shows.holds(run)) {
                run.thread.list.push(run.thread.list[last].clone());
            }
            Ok(())
        }),
        SAID_ONCE.when(FROM_RUN_TO_RUN).message("user-message-kept-twice", |run, words, shows| {
            sound::message(run, words)?;
            if shows.holds(run) {
                sound::say(run, words);
            }
            Ok(())
        }),
        SAID_ONCE.when(&[Always, SecondSession]).message(
            "user-message-of-a-failed-run-said-again",
            |run, words, shows| {
                let last = run.thread.list.last().filter(|last| is(last, "human")).cloned();
                if shows.holds(run) {
                    run.thread.list.extend(last);
                }
                sound::message(run, words)
            },
        ),
        SAID_ONCE.when(FROM_RUN_TO_RUN).later_runs("history-read-twice", |run, request| {
            let own = run.thread.list.iter().rposition(|message| is(message, "human")).unwrap_or_default();
            let history: Vec<Value> = run.thread.list[..own].to_vec();
            let system = request.len() - run.thread.list.len();
            request.splice(system..system, history);
        }),
        SAID_ONCE.when(FROM_RUN_TO_RUN).later_runs("system-message-said-again", |run, request| {
            let system = sound::system_of(run.speaker());
            request.splice(0..0, system);
        }),
        SAID_ONCE.when(&[Always, ThirdRun, SecondSession]).end("last-answer-kept-twice", |run, shows| {
            let last = run.thread.list.last().filter(|last| is(last, "ai") && calls(last).is_empty()).cloned();
            if shows.holds(run) {
                run.thread.list.extend(last);
            }
        }),
        SAID_ONCE.when(&[Always, TwoCuts, ThirdCall, BY_KILL]).cut_responses("cut-responses-said-again", |run, _| {
            sound::mend(run);
            let Some(response) = run.last_round() else { return false };
            let round = run.thread.list[response..].to_vec();
            run.thread.list.extend(round);
            false
        }),
    ]
    .concat()
}

fn missing() -> Vec<Planted> {
    [
        SAID_ONCE.when(&[Always, ThirdRun]).failed("user-message-lost-after-a-failing-model", |run, error, shows| {
            run.failure = Some(error.clone());
            let is_last = run.thread.list.last().is_some_and(|last| is(last, "human"));
            if is_last && shows.holds(run) {
                run.thread.list.pop();
            }
        }),
        SAID_ONCE.when(&[Always, TwoCuts, BY_CANCEL, BY_LIMIT]).cut_responses(
            "user-message-lost-with-a-cut",
            |run, _| {
                let message = run.last("human");
                message.map(|message| run.thread.list.remove(message));
                true
            },
        ),
        breaking(&[clause::AGENT_MODEL_FAILURE]).failed("error-kept-as-an-answer", |run, error, shows| {
            run.failure = Some(error.clone());
            if shows.holds(run) {
                run.thread.list.push(json!({"type": "ai", "content": format!("Error: {error}")}));
            }
        }),
        SAID_ONCE.when(FROM_RUN_TO_RUN).later_runs("first-user-message-forgotten", |_, request| {
            let first = request.iter().position(|message| is(message, "human"));
            first.map(|first| request.remove(first));
        }),
        SAID_ONCE.when(&[LongThread]).later_runs("only-the-last-twenty-messages-read", |_, request| {
            let end = request.len().saturating_sub(20);
            let end = (0..=end).rev().find(|&index| is(&request[index], "human")).unwrap_or_default();
            let start = usize::from(request.first().is_some_and(|first| is(first, "system")));
            request.drain(start..end.max(start));
        }),
        SAID_ONCE.when(FROM_RUN_TO_RUN).end("last-answer-not-kept", |run, shows| {
            let is_last = run.thread.list.last().is_some_and(|last| is(last, "ai") && calls(last).is_empty());
            if is_last && shows.holds(run) {
                run.thread.list.pop();
            }
        }),
        SAID_ONCE.when(FROM_RUN_TO_RUN).later_runs("system-message-lost-in-later-runs", |_, request| {
            request.retain(|message| !is(message, "system"))
        }),
        SAID_ONCE.when(&[ThirdRun]).later_runs("middle-runs-forgotten", |_, request| {
            let said: Vec<usize> = request
                .iter()
                .enumerate()
                .filter(|(_, message)| is(message, "human"))
                .map(|(index, _)| index)
                .collect();
            if let [_, second, third, ..] = said[..] {
                request.drain(second..third);
            }
        }),
    ]
    .concat()
}

fn changed() -> Vec<Planted> {
    [
        SAID_ONCE.when(&[Always, ThirdRun, NewStart]).as_loaded("long-results-shortened-in-the-store", |run| {
            for message in run.thread.list.iter_mut().filter(|message| is(message, "tool")) {
                let short: String = text(&message["content"]).chars().take(100).collect();
                message["content"] = short.into();
            }
        }),
        SAID_ONCE.when(FROM_RUN_TO_RUN).later_runs("words-beside-calls-lost-in-later-runs", |_, request| {
            let own = request.iter().rposition(|message| is(message, "human")).unwrap_or_default();
            let beside_calls = request[..own].iter_mut().filter(|message| !calls(message).is_empty());
            beside_calls.for_each(|message| message["content"] = "".into());
        }),
        SAID_ONCE.when(&[Always, ThirdRun, ThirdCall, NewStart]).request(
            "arguments-lost-in-later-runs",
            |run, shows| {
                let mut request = sound::request(run);
                for message in request.iter_mut().filter(|_| run.number > 0) {
                    for call in calls_mut(message) {
                        if shows.holds_for(run, call) {
                            call["args"] = json!({});
                        }
                    }
                }
                request
            },
        ),
        SAID_ONCE.when(&[Always, ThirdRun, ThirdCall]).later_runs(
            "results-of-siblings-swapped-in-later-runs",
            |_, request| {
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
            },
        ),
        SAID_ONCE.when(&[ThirdRun, SecondSession]).later_runs("last-answers-change-places", |_, request| {
            swap(request, |message| is(message, "ai") && calls(message).is_empty())
        }),
        SAID_ONCE
            .when(&[Always, ThirdRun, LongThread])
            .later_runs("user-messages-change-places", |_, request| swap(request, |message| is(message, "human"))),
        SAID_ONCE.when(&[NewStart]).later_runs("results-told-as-strings-in-strings-after-a-new-start", |_, request| {
            for message in request.iter_mut().filter(|message| is(message, "tool")) {
                message["content"] = message["content"].to_string().into();
            }
        }),
        INDEPENDENT.request("system-message-of-the-first-session", |run, _| {
            let mut request = sound::request(run);
            if run.memory["system"].is_null() {
                run.memory["system"] = sound::system_of(run.speaker()).into();
            }
            request.retain(|message| !is(message, "system"));
            let kept = run.memory["system"].as_array().cloned().unwrap_or_default();
            request.splice(0..0, kept);
            request
        }),
        independence(),
    ]
    .concat()
}

/// Sessions of one process that influence each other.
fn independence() -> Vec<Planted> {
    [
        INDEPENDENT.plant("threads-of-all-sessions-under-one-key", |agent, _| {
            agent.key = Box::new(|_, _| "thread".into());
        }),
        INDEPENDENT.plant("threads-kept-in-the-process", |agent, _| {
            agent.loaded = Box::new(|run| {
                if run.number == 0 {
                    run.thread.list = run.memory["list"].as_array().cloned().unwrap_or_default();
                }
            });
            agent.end = Box::new(|run| run.memory["list"] = run.thread.list.clone().into());
        }),
        // Its own other agent speaks first: what another session left is nothing that it could be known by.
        breaking(&[clause::AGENT_START]).plant("speaker-kept-in-the-process", |agent, _| {
            agent.hand_over = Box::new(|run, speaker| {
                run.thread.agent = Some(speaker.clone());
                run.memory["agent"] = speaker.clone().into();
            });
            agent.loaded = Box::new(|run| {
                if run.number == 0 {
                    run.thread.agent = run.memory["agent"].as_str().map(str::to_owned);
                }
            });
        }),
        breaking(&[clause::AGENT_GOES_ON]).plant("pending-calls-kept-in-the-process", |agent, _| {
            agent.message = Box::new(|run, words| {
                if run.memory["pending"] == true && run.thread.pending.is_empty() && run.number == 0 {
                    return Err("Decide first about the call that waits.".into());
                }
                sound::message(run, words)
            });
            agent.end = Box::new(|run| run.memory["pending"] = json!(!run.thread.pending.is_empty()));
        }),
        breaking(&[clause::AGENT_RESULT]).execute("results-kept-by-id-over-runs", |run, call, _| {
            let answer = sound::execute(run, call);
            let id = text(&call["id"]).to_owned();
            if run.thread.notes["results"][&id].is_null() {
                run.thread.notes["results"][&id] = answer;
            }
            run.thread.notes["results"][&id].clone()
        }),
        INDEPENDENT.execute("results-kept-by-id-in-the-process", |run, call, _| {
            let id = text(&call["id"]).to_owned();
            let known = run.memory["results"][&id].clone();
            let answer = sound::execute(run, call);
            if !known.is_null() && run.number == 0 {
                return known;
            }
            run.memory["results"][&id] = answer.clone();
            answer
        }),
    ]
    .concat()
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

const LOST: SessionGroup = breaking(&[clause::SESSION_SAID_ONCE]);
const ALONE: &[Shows] = &[Always];

/// Changes the thread when it has gone back, given as it was before.
fn on_rewind(agent: &mut SessionAgent, shows: Shows, change: fn(&mut SessionRun, &[Value])) {
    agent.rewind = Box::new(move |run, at| {
        let before = run.thread.list.clone();
        sound::rewind(run, at);
        if shows.holds(run) {
            change(run, &before);
        }
    });
}

/// Loads in a later run what was on the thread when it went back, with what came since.
fn on_later_load(agent: &mut SessionAgent, shows: Shows) {
    on_rewind(agent, Always, |run, before| {
        run.thread.notes = json!({"left": before, "kept": run.thread.list.len(), "run": run.number});
    });
    agent.loaded = Box::new(move |run| {
        let notes = run.thread.notes.clone();
        let number = |name: &str| notes[name].as_u64().and_then(|number| usize::try_from(number).ok());
        if number("run").is_some_and(|went_back| went_back < run.number) && shows.holds(run) {
            let kept = number("kept").unwrap_or_default().min(run.thread.list.len());
            let new = run.thread.list.split_off(kept);
            run.thread.list = [list(&notes["left"]), &new].concat();
            run.thread.notes = Value::Null;
        }
    });
}

impl SessionGroup {
    /// Changes the thread when it has gone back, given as it was before.
    fn rewinds(self, name: &'static str, change: fn(&mut SessionRun, &[Value])) -> Vec<Planted> {
        self.plant(name, move |agent, shows| on_rewind(agent, shows, change))
    }

    /// Changes the thread likewise when it has gone back to a branch that was left, given how many messages both branches begin with.
    fn returning(self, name: &'static str, change: fn(&mut SessionRun, &[Value], usize)) -> Vec<Planted> {
        self.rewind(name, move |run, at, _| {
            let before = run.thread.list.clone();
            sound::rewind(run, at);
            let common = run.thread.list.iter().zip(&before).take_while(|(one, other)| one == other).count();
            if common < run.thread.list.len() {
                change(run, &before, common);
            }
        })
    }
}

pub(super) fn rewind() -> Vec<Planted> {
    [
        REWIND
            .when(&[Always, ThirdRun, NewStart])
            .rewinds("replaced-messages-stay", |run, before| run.thread.list = before.to_vec()),
        REWIND.when(ALONE).rewinds("replaced-message-stays-alone", |run, before| {
            let kept = run.thread.list.len();
            run.thread.list.extend(before.get(kept).cloned());
        }),
        REWIND.when(ALONE).rewinds("what-was-behind-a-replaced-message-stays", |run, before| {
            let kept = run.thread.list.len();
            run.thread.list.extend(before.iter().skip(kept + 1).cloned());
        }),
        REWIND.when(ALONE).rewind("calls-that-waited-behind-a-replaced-message-still-wait", |run, at, _| {
            let pending = run.thread.pending.clone();
            sound::rewind(run, at);
            run.thread.pending = pending;
        }),
        REWIND.when(&[Always, NewStart]).plant("replaced-messages-back-in-the-next-run", on_later_load),
        LOST.when(ALONE).rewinds("one-turn-too-many-replaced", |run, _| {
            if let Some(last) = run.thread.list.iter().rposition(|message| is(message, "human")) {
                run.thread.list.truncate(last);
            }
        }),
        REWIND.when(ALONE).returning("new-branch-in-the-one-that-was-left", |run, before, common| {
            run.thread.list.extend(before.iter().skip(common).cloned())
        }),
        LOST.when(ALONE).returning("branch-that-was-left-lost", |run, _, common| run.thread.list.truncate(common)),
    ]
    .concat()
}
