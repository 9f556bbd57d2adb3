//! SESSION-PENDING: a user message while calls wait for a decision.
//! SESSION-CUT: threads that a cut leaves stuck.

use super::execution::again;
use crate::session::prelude::*;

/// What is decided in the end is named by the decision.
const PENDING: SessionGroup = breaking(&[clause::SESSION_PENDING]);
/// What a call is told that a message went past.
const PASSED: &str = "Not run: the user went on without a decision.";

pub(super) fn all() -> Vec<Planted> {
    const SOMEWHERE: &[Shows] = &[Always, ThirdRun, ThirdCall, SecondSession, NewStart, LongThread];
    [
        PENDING.when(SOMEWHERE).plant("messages-taken-while-calls-are-open", |agent, shows| {
            agent.message = Box::new(move |run, words| {
                if run.thread.pending.is_empty() || !shows.holds(run) {
                    return sound::message(run, words);
                }
                for call in run.waiting() {
                    if shows.holds_for(run, &call) {
                        run.thread.notes["open"] = json!(true);
                    } else {
                        place(&mut run.thread.list, answer(&call, PASSED));
                    }
                }
                run.thread.pending.clear();
                sound::say(run, words);
                Ok(())
            });
            agent.mend = Box::new(|run| if run.thread.notes["open"] == true { Vec::new() } else { sound::mend(run) });
        }),
        PENDING.when(&[Always, ThirdRun, NewStart]).message("messages-lost-while-calls-wait", |run, words, shows| {
            let is_lost = !run.thread.pending.is_empty() && shows.holds(run);
            if is_lost { Ok(()) } else { sound::message(run, words) }
        }),
        PENDING.when(SOMEWHERE).plant("late-decisions-run-calls", |agent, shows| {
            agent.message = Box::new(move |run, words| {
                for call in run.waiting() {
                    if shows.holds_for(run, &call) {
                        run.thread.notes["late"] = json!([run.thread.notes["late"].take(), call]);
                    }
                    place(&mut run.thread.list, answer(&call, PASSED));
                }
                run.thread.pending.clear();
                sound::message(run, words)
            });
            agent.decisions = Box::new(|run, decisions| {
                for call in list(&run.thread.notes["late"].take()).iter().filter(|call| call.is_object()) {
                    again(run, call);
                }
                sound::decisions(run, decisions)
            });
        }),
        PENDING.when(&[Always, ThirdCall]).plant("late-decisions-answer-calls-again", |agent, shows| {
            agent.message = Box::new(move |run, words| {
                let waiting = run.waiting();
                for call in &waiting {
                    place(&mut run.thread.list, answer(call, PASSED));
                }
                let kept = waiting.into_iter().filter(|call| shows.holds_for(run, call));
                run.thread.notes["late"] = kept.collect();
                run.thread.pending.clear();
                sound::message(run, words)
            });
            agent.decisions = Box::new(|run, decisions| {
                let late = run.thread.notes["late"].take();
                if list(&late).is_empty() {
                    return sound::decisions(run, decisions);
                }
                for call in list(&late) {
                    let answer = sound::execute(run, call);
                    again(run, call);
                    run.thread.list.push(answer);
                }
                Ok(Vec::new())
            });
        }),
        PENDING.when(&[Always, ThirdRun, ThirdCall]).message(
            "results-of-siblings-told-when-a-message-goes-past",
            |run, words, shows| {
                if let Some(response) = run.last_round().filter(|_| !run.thread.pending.is_empty()) {
                    for index in answers_behind(&run.thread.list, response) {
                        let call = json!({"id": run.thread.list[index]["tool_call_id"]});
                        if shows.holds_for(run, &call) {
                            run.thread.list[index]["content"] = PASSED.into();
                        }
                    }
                    for call in run.waiting() {
                        place(&mut run.thread.list, answer(&call, PASSED));
                    }
                    run.thread.pending.clear();
                }
                sound::message(run, words)
            },
        ),
        PENDING.when(&[Always, ThirdCall]).message(
            "responses-with-siblings-dropped-when-a-message-goes-past",
            |run, words, shows| {
                if let Some(response) = run.last_round().filter(|_| !run.thread.pending.is_empty()) {
                    if shows.holds(run) {
                        sound::take_round(&mut run.thread.list, response);
                    } else {
                        for call in run.waiting() {
                            place(&mut run.thread.list, answer(&call, PASSED));
                        }
                    }
                    run.thread.pending.clear();
                }
                sound::message(run, words)
            },
        ),
        PENDING.when(&[Always, ThirdRun, ThirdCall]).plant("pending-calls-told-behind-the-message", |agent, shows| {
            agent.message = Box::new(move |run, words| {
                let waiting = run.waiting();
                let (behind, before): (Vec<Value>, Vec<Value>) =
                    waiting.into_iter().partition(|call| shows.holds_for(run, call));
                before.iter().for_each(|call| place(&mut run.thread.list, answer(call, PASSED)));
                run.thread.pending.clear();
                sound::message(run, words)?;
                run.thread.list.extend(behind.iter().map(|call| answer(call, PASSED)));
                Ok(())
            });
            agent.mend = Box::new(|_| Vec::new());
        }),
        APPROVED.when(&[Always, ThirdRun]).plant("refused-messages-kept-between-call-and-answer", |agent, shows| {
            agent.message = Box::new(move |run, words| {
                let taken = sound::message(run, words);
                if taken.is_err() && shows.holds(run) {
                    sound::say(run, words);
                }
                taken
            });
            agent.place = Box::new(|run, answer| {
                let is_between = run.script()["decisions"].is_object() && run.turn == 0;
                if is_between { run.thread.list.push(answer.clone()) } else { sound::place(run, answer) }
            });
        }),
        APPROVED.when(&[Always, ThirdRun]).plant("decisions-forgotten-by-a-refused-message", |agent, shows| {
            agent.message = Box::new(move |run, words| {
                let taken = sound::message(run, words);
                if taken.is_err() && shows.holds(run) {
                    run.thread.notes["forgotten"] = json!(true);
                }
                taken
            });
            agent.decisions = Box::new(|run, decisions| {
                let approved = sound::decisions(run, decisions)?;
                if run.thread.notes["forgotten"] != true {
                    return Ok(approved);
                }
                approved.iter().for_each(|call| place(&mut run.thread.list, answer(call, PASSED)));
                Ok(Vec::new())
            });
        }),
        APPROVED.plant("approved-twice-behind-a-refused-message", |agent, _| {
            agent.message = Box::new(|run, words| {
                let taken = sound::message(run, words);
                run.thread.notes["refused"] = json!(taken.is_err());
                taken
            });
            agent.decisions = Box::new(|run, decisions| {
                let approved = sound::decisions(run, decisions)?;
                for call in approved.iter().filter(|_| run.thread.notes["refused"] == true).cloned().collect::<Vec<_>>()
                {
                    again(run, &call);
                }
                Ok(approved)
            });
        }),
    ]
    .concat()
}

const CUT: SessionGroup = breaking(&[clause::SESSION_CUT]);

pub(super) fn stuck() -> Vec<Planted> {
    [
        CUT.when(AFTER_ANY_CUT).plant("threads-refused-after-a-cut", |agent, shows| {
            agent.mend = Box::new(move |run| {
                if run.thread.notes["broken"] == true || !cut_calls(run).is_empty() && shows.holds(run) {
                    run.thread.notes["broken"] = json!(true);
                } else {
                    sound::mend(run);
                }
                Vec::new()
            });
            agent.message = Box::new(|run, words| {
                is_fit(&run.thread.notes)?;
                sound::message(run, words)
            });
            agent.resume = Box::new(|run| {
                is_fit(&run.thread.notes)?;
                sound::resume(run)
            });
            agent.decisions = Box::new(|run, decisions| {
                is_fit(&run.thread.notes)?;
                sound::decisions(run, decisions)
            });
        }),
        CUT.when(&[Always, TwoCuts, ThirdCall, BY_LIMIT]).mend("runs-after-a-cut-fail", |run, shows| {
            let is_cut = !cut_calls(run).is_empty();
            if is_cut && shows.holds(run) {
                run.failure = Some("KeyError: 'tool_call_id'".into());
            } else {
                sound::mend(run);
            }
            Vec::new()
        }),
        CUT.when(&[Always, ThirdRun, SecondSession, BY_KILL]).plant("runs-after-a-cut-do-nothing", |agent, shows| {
            agent.mend = Box::new(move |run| {
                run.thread.notes["done"] = json!(run.thread.cuts > 0 && shows.holds(run));
                sound::mend(run);
                Vec::new()
            });
            agent.asks = Box::new(|run| run.thread.notes["done"] != true);
        }),
        CUT.when(&[Always, NewStart]).plant("threads-locked-by-a-killed-process", |agent, shows| {
            agent.mend = Box::new(move |run| {
                run.thread.notes["locked"] = json!(run.thread.notes["running"] == true && shows.holds(run));
                run.thread.notes["running"] = json!(true);
                sound::mend(run);
                Vec::new()
            });
            agent.end = Box::new(|run| run.thread.notes["running"] = json!(run.thread.notes["locked"]));
            agent.message = Box::new(|run, words| {
                is_free(&run.thread.notes)?;
                sound::message(run, words)
            });
            agent.resume = Box::new(|run| {
                is_free(&run.thread.notes)?;
                sound::resume(run)
            });
        }),
        CUT.when(&[Always, BY_CANCEL, BY_THROW]).plant("refused-without-words-after-a-cut", |agent, shows| {
            agent.mend = Box::new(move |run| {
                run.thread.notes["broken"] = json!(!cut_calls(run).is_empty() && shows.holds(run));
                sound::mend(run);
                Vec::new()
            });
            agent.message = Box::new(|run, words| {
                is_fit(&run.thread.notes).map_err(|_| String::new())?;
                sound::message(run, words)
            });
        }),
    ]
    .concat()
}

fn is_fit(notes: &Value) -> Result<(), String> {
    if notes["broken"] == true { Err("The thread has a call without an answer.".into()) } else { Ok(()) }
}

fn is_free(notes: &Value) -> Result<(), String> {
    if notes["locked"] == true { Err("The thread is busy with another run.".into()) } else { Ok(()) }
}
