//! SESSION-PENDING: a user message while calls wait for a decision.

use super::execution::again;
use super::{Always, LongThread, NewStart, SecondSession, Shows, ThirdCall, ThirdRun, bugs};
use crate::agent::answer;
use crate::planted::Planted;
use crate::threads::run::{answers_behind, place};
use crate::threads::sound;
use serde_json::{Value, json};
use threadspec_golden::clause;
use threadspec_judge::json::list;

/// What is decided in the end is named by the decision.
const APPROVED: &[&str] = &[clause::SESSION_APPROVED];
const PENDING: &[&str] = &[clause::SESSION_PENDING];
/// What a call is told that a message went past.
const PASSED: &str = "Not run: the user went on without a decision.";

pub(super) fn all() -> Vec<Planted> {
    const SOMEWHERE: &[Shows] = &[Always, ThirdRun, ThirdCall, SecondSession, NewStart, LongThread];
    let mut all = Vec::new();
    all.extend(bugs("messages-taken-while-calls-are-open", PENDING, SOMEWHERE, |agent, shows| {
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
    }));
    all.extend(bugs("messages-lost-while-calls-wait", PENDING, &[Always, ThirdRun, NewStart], |agent, shows| {
        agent.message = Box::new(move |run, words| {
            let is_lost = !run.thread.pending.is_empty() && shows.holds(run);
            if is_lost { Ok(()) } else { sound::message(run, words) }
        });
    }));
    all.extend(bugs("late-decisions-run-calls", PENDING, SOMEWHERE, |agent, shows| {
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
    }));
    all.extend(bugs("late-decisions-answer-calls-again", PENDING, &[Always, ThirdCall], |agent, shows| {
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
    }));
    all.extend(bugs(
        "results-of-siblings-told-when-a-message-goes-past",
        PENDING,
        &[Always, ThirdRun, ThirdCall],
        |agent, shows| {
            agent.message = Box::new(move |run, words| {
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
            });
        },
    ));
    all.extend(bugs(
        "responses-with-siblings-dropped-when-a-message-goes-past",
        PENDING,
        &[Always, ThirdCall],
        |agent, shows| {
            agent.message = Box::new(move |run, words| {
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
            });
        },
    ));
    all.extend(bugs(
        "pending-calls-told-behind-the-message",
        PENDING,
        &[Always, ThirdRun, ThirdCall],
        |agent, shows| {
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
        },
    ));
    all.extend(bugs("refused-messages-kept-between-call-and-answer", APPROVED, &[Always, ThirdRun], |agent, shows| {
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
    }));
    all.extend(bugs("decisions-forgotten-by-a-refused-message", APPROVED, &[Always, ThirdRun], |agent, shows| {
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
    }));
    all.extend(bugs("approved-twice-behind-a-refused-message", APPROVED, &[Always], |agent, _| {
        agent.message = Box::new(|run, words| {
            let taken = sound::message(run, words);
            run.thread.notes["refused"] = json!(taken.is_err());
            taken
        });
        agent.decisions = Box::new(|run, decisions| {
            let approved = sound::decisions(run, decisions)?;
            for call in approved.iter().filter(|_| run.thread.notes["refused"] == true).cloned().collect::<Vec<_>>() {
                again(run, &call);
            }
            Ok(approved)
        });
    }));
    all
}
