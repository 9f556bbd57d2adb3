//! SESSION-ONCE: what is executed that no response asks for any more, or with arguments that are not its own.

use super::{
    Always, BY_CANCEL, BY_KILL, BY_THROW, LongThread, NewStart, SecondSession, Shows, ThirdCall, ThirdRun, TwoCuts,
    bugs, on_loaded,
};
use crate::planted::Planted;
use crate::threads::SessionAgent;
use crate::threads::run::{SessionRun, answers_behind};
use crate::threads::sound::{self, cut_calls};
use serde_json::{Value, json};
use threadspec_golden::clause;
use threadspec_judge::json::{list, text};

const ONCE: &[&str] = &[clause::SESSION_ONCE];

/// Where calls that were run before a cut can be run again.
pub(super) const AFTER_A_CUT_CALL: &[Shows] =
    &[Always, ThirdRun, ThirdCall, TwoCuts, SecondSession, NewStart, LongThread, BY_CANCEL, BY_THROW, BY_KILL];

/// Runs the calls that had returned before a cut once more, each as it is changed.
fn run_returned_again(agent: &mut SessionAgent, shows: Shows, change: fn(&mut Value)) {
    agent.mend = Box::new(move |run| {
        for response in cut_calls(run).into_iter().map(|open| open.response).collect::<std::collections::BTreeSet<_>>()
        {
            for mut call in returned(run, response) {
                if shows.holds_for(run, &call) {
                    change(&mut call);
                    again(run, &call);
                }
            }
        }
        sound::mend(run)
    });
}

pub(super) fn all() -> Vec<Planted> {
    let mut all = Vec::new();
    all.extend(bugs("returned-calls-run-again-after-a-cut", ONCE, AFTER_A_CUT_CALL, |agent, shows| {
        run_returned_again(agent, shows, |_| {});
    }));
    all.extend(bugs(
        "returned-calls-run-again-under-another-id",
        ONCE,
        &[Always, BY_KILL, BY_CANCEL],
        |agent, shows| {
            run_returned_again(agent, shows, |call| call["id"] = format!("again_{}", text(&call["id"])).into());
        },
    ));
    all.extend(bugs("told-calls-run-later", ONCE, &[Always, TwoCuts, ThirdCall, BY_KILL], |agent, shows| {
        agent.mend = Box::new(move |run| {
            for call in list(&run.thread.notes["told"].take()) {
                again(run, call);
            }
            let cut = cut_calls(run).into_iter().map(|open| open.call);
            let kept: Vec<Value> = cut.filter(|call| shows.holds_for(run, call)).collect();
            run.thread.notes["told"] = kept.into();
            sound::mend(run)
        });
    }));
    all.extend(bugs("cut-calls-run-again-without-arguments", ONCE, &[Always, ThirdCall], |agent, shows| {
        agent.mend = Box::new(move |run| {
            let cut: Vec<Value> = cut_calls(run).into_iter().map(|open| open.call).collect();
            let without = cut.into_iter().map(|mut call| {
                if shows.holds_for(run, &call) {
                    call["args"] = json!({});
                }
                call
            });
            without.collect()
        });
    }));
    all.extend(bugs("cut-calls-run-again-with-a-siblings-arguments", ONCE, &[Always], |agent, _| {
        agent.mend = Box::new(|run| {
            let cut = cut_calls(run);
            let with_others = cut.into_iter().map(|open| {
                let calls = list(&run.thread.list[open.response]["tool_calls"]);
                let mut call = open.call;
                call["args"] = calls[(open.place + 1) % calls.len()]["args"].clone();
                call
            });
            with_others.collect()
        });
    }));
    all.extend(bugs(
        "calls-run-twice",
        ONCE,
        &[Always, ThirdRun, ThirdCall, SecondSession, NewStart, LongThread],
        |agent, shows| {
            agent.execute = Box::new(move |run, call| {
                if shows.holds_for(run, call) {
                    again(run, call);
                }
                sound::execute(run, call)
            });
        },
    ));
    all.extend(bugs(
        "last-round-run-again-after-a-failing-model",
        ONCE,
        &[Always, ThirdRun, ThirdCall],
        |agent, shows| {
            agent.mend = Box::new(move |run| {
                if run.thread.notes["failed"] == true && shows.holds(run) {
                    run_last_round_again(run, shows);
                }
                sound::mend(run)
            });
            agent.end = Box::new(|run| run.thread.notes["failed"] = json!(run.failure.is_some() && run.cut.is_none()));
        },
    ));
    all.extend(bugs(
        "last-round-run-again-by-resume",
        ONCE,
        &[Always, ThirdRun, ThirdCall, TwoCuts],
        |agent, shows| {
            agent.resume = Box::new(move |run| {
                if shows.holds(run) {
                    run_last_round_again(run, shows);
                }
                sound::resume(run)
            });
        },
    ));
    all.extend(bugs(
        "calls-of-the-run-before-run-again",
        ONCE,
        &[Always, ThirdRun, SecondSession, NewStart, LongThread],
        |agent, shows| on_loaded(agent, shows, |run| run_last_round_again(run, Always)),
    ));
    all.extend(bugs("calls-that-nobody-made-are-run", ONCE, &[Always, ThirdRun, TwoCuts], |agent, shows| {
        on_loaded(agent, shows, |run| {
            run.executed.push(json!({"id": "call_of_nobody", "name": "look", "args": {}}));
        });
    }));
    all.extend(bugs(
        "calls-run-with-the-first-ones-arguments",
        ONCE,
        &[Always, ThirdRun, ThirdCall],
        |agent, shows| {
            agent.execute = Box::new(move |run, call| {
                if shows.holds_for(run, call)
                    && let Some(response) = run.last_round()
                    && let Some(deed) = run.executed.last_mut()
                {
                    deed["args"] = run.thread.list[response]["tool_calls"][0]["args"].clone();
                }
                sound::execute(run, call)
            });
        },
    ));
    all
}

/// The calls of a response that were answered.
pub(super) fn returned(run: &SessionRun, response: usize) -> Vec<Value> {
    let answers = &run.thread.list[answers_behind(&run.thread.list, response)];
    let is_answered = |call: &&Value| answers.iter().any(|answer| answer["tool_call_id"] == call["id"]);
    list(&run.thread.list[response]["tool_calls"]).iter().filter(is_answered).cloned().collect()
}

fn run_last_round_again(run: &mut SessionRun, shows: Shows) {
    let Some(response) = run.last_round() else { return };
    for call in returned(run, response) {
        if shows != ThirdCall || run.place_of(&call) == 2 {
            again(run, &call);
        }
    }
}

/// Executes a call once more.
pub(super) fn again(run: &mut SessionRun, call: &Value) {
    run.executed.push(json!({"id": call["id"], "name": call["name"], "args": call["args"]}));
}
