//! SESSION-DENIED and SESSION-SIBLINGS: what a denial does to a call, and a decision to the others of its response.

use super::execution::{again, returned};
use super::{Always, LongThread, NewStart, SecondSession, Shows, ThirdCall, ThirdRun, bugs, lapses, run_now};
use crate::agent::answer;
use crate::planted::Planted;
use crate::threads::SessionAgent;
use crate::threads::run::{SessionRun, answers_behind, place};
use crate::threads::sound::{self, INTERRUPTED};
use serde_json::{Value, json};
use threadspec_golden::clause;
use threadspec_judge::json::text;

const DENIED: &[&str] = &[clause::SESSION_DENIED];
/// What was decided is named before what stood beside it.
const APPROVED: &[&str] = &[clause::SESSION_APPROVED];
const SIBLINGS: &[&str] = &[clause::SESSION_SIBLINGS];
const SOMEWHERE: &[Shows] = &[Always, ThirdRun, ThirdCall, SecondSession, NewStart, LongThread];

pub(super) fn all() -> Vec<Planted> {
    denied().into_iter().chain(siblings()).collect()
}

/// Does something else with each call that is denied, given it and the decision.
fn on_denied(agent: &mut SessionAgent, shows: Shows, change: fn(&mut SessionRun, &Value, &Value)) {
    agent.decisions = Box::new(move |run, decisions| {
        sound::check(run, decisions)?;
        let denied = run.waiting().into_iter().filter(|call| decisions[text(&call["id"])]["approve"] != true);
        let denied: Vec<Value> = denied.filter(|call| shows.holds_for(run, call)).collect();
        let approved = sound::decide(run, decisions, |run, call, decision| {
            if shows.holds_for(run, call) { None } else { sound::denial(run, call, decision) }
        });
        for call in denied {
            change(run, &call, &decisions[text(&call["id"])]);
        }
        Ok(approved)
    });
}

fn tell_denied(run: &mut SessionRun, call: &Value, decision: &Value) {
    let told = sound::denial(run, call, decision).unwrap_or_default();
    place(&mut run.thread.list, answer(call, told));
}

fn denied() -> Vec<Planted> {
    let mut all = Vec::new();
    all.extend(bugs("denied-calls-run", DENIED, SOMEWHERE, |agent, shows| {
        on_denied(agent, shows, |run, call, _| run_now(run, call));
    }));
    all.extend(bugs("denied-calls-run-and-told-denied", DENIED, &[Always, ThirdCall], |agent, shows| {
        on_denied(agent, shows, |run, call, decision| {
            again(run, call);
            tell_denied(run, call, decision);
        });
    }));
    all.extend(bugs("denied-calls-left-open", DENIED, SOMEWHERE, |agent, shows| {
        on_denied(agent, shows, |_, _, _| {});
        // They are no cut calls.
        agent.mend = Box::new(|_| Vec::new());
    }));
    all.extend(bugs("denied-calls-left-out", DENIED, &[Always, ThirdRun, ThirdCall], |agent, shows| {
        on_denied(agent, shows, |run, call, _| leave_out(run, call));
    }));
    all.extend(bugs("denied-calls-told-twice", DENIED, &[Always, ThirdCall], |agent, shows| {
        on_denied(agent, shows, |run, call, decision| {
            tell_denied(run, call, decision);
            tell_denied(run, call, decision);
        });
    }));
    all.extend(lapses("reasons-of-denials-lost", DENIED, &[Always, ThirdRun, ThirdCall], |agent, shows| {
        on_denied(agent, shows, |run, call, _| place(&mut run.thread.list, answer(call, "Denied.")));
    }));
    all.extend(lapses("reasons-of-denials-change-places", DENIED, &[Always], |agent, _| {
        agent.decisions = Box::new(|run, decisions| {
            sound::check(run, decisions)?;
            let reasons: Vec<Value> =
                decisions.as_object().into_iter().flatten().map(|(_, decision)| decision["reason"].clone()).collect();
            let mut swapped = decisions.clone();
            let denied = swapped.as_object_mut().into_iter().flatten().map(|(_, decision)| decision);
            for (decision, reason) in denied.zip(reasons.iter().rev()) {
                if decision["approve"] != true && reason.is_string() {
                    decision["reason"] = reason.clone();
                }
            }
            Ok(sound::decide(run, &swapped, sound::denial))
        });
    }));
    all.extend(bugs("denied-calls-told-with-a-siblings-result", DENIED, &[Always], |agent, shows| {
        on_denied(agent, shows, |run, call, decision| {
            let round = run.last_round().unwrap_or_default();
            let answers = answers_behind(&run.thread.list, round);
            let content = run.thread.list[answers].iter().map(|answer| answer["content"].clone()).next();
            match content {
                Some(content) => place(&mut run.thread.list, answer(call, content)),
                None => tell_denied(run, call, decision),
            }
        });
    }));
    all.extend(bugs("denied-calls-run-by-the-next-message", DENIED, &[Always, ThirdRun, ThirdCall], |agent, shows| {
        on_denied(agent, shows, |run, call, decision| {
            tell_denied(run, call, decision);
            run.thread.notes["denied"] = call.clone();
        });
        agent.message = Box::new(|run, words| {
            let denied = run.thread.notes["denied"].take();
            if !denied.is_null() {
                again(run, &denied);
            }
            sound::message(run, words)
        });
    }));
    all.extend(bugs("denied-calls-run-by-resume", DENIED, &[Always, NewStart], |agent, shows| {
        on_denied(agent, Always, |run, call, decision| {
            tell_denied(run, call, decision);
            run.thread.notes["denied"] = call.clone();
        });
        agent.resume = Box::new(move |run| {
            let denied = run.thread.notes["denied"].take();
            if !denied.is_null() && shows.holds(run) {
                again(run, &denied);
            }
            sound::resume(run)
        });
    }));
    all
}

/// Leaves a call out of its response.
pub(super) fn leave_out(run: &mut SessionRun, call: &Value) {
    if let Some(response) = run.last_round() {
        sound::leave_out(&mut run.thread.list, response, |own| own["id"] == call["id"]);
    }
}

fn siblings() -> Vec<Planted> {
    let mut all = Vec::new();
    all.extend(bugs("siblings-of-pending-calls-not-run", SIBLINGS, SOMEWHERE, |agent, shows| {
        agent.batches = Box::new(move |run, calls| {
            let mut kept = calls.clone();
            if !run.thread.pending.is_empty() && shows.holds(run) {
                for call in calls.iter().filter(|call| shows.holds_for(run, call) || shows != ThirdCall) {
                    kept.retain(|own| own != call);
                }
                let left_out: Vec<Value> = calls.iter().filter(|call| !kept.contains(call)).cloned().collect();
                for call in left_out {
                    place(&mut run.thread.list, answer(&call, "Not run: another call waits."));
                }
            }
            vec![kept]
        });
    }));
    all.extend(bugs("siblings-run-again-with-the-decision", SIBLINGS, SOMEWHERE, |agent, shows| {
        on_siblings(agent, shows, |run, call, _| again(run, call));
    }));
    all.extend(bugs("results-of-siblings-lost-with-the-decision", SIBLINGS, SOMEWHERE, |agent, shows| {
        on_siblings(agent, shows, |run, _, answer| run.thread.list[answer]["content"] = INTERRUPTED.into());
    }));
    all.extend(bugs(
        "answers-of-siblings-left-out-with-the-decision",
        SIBLINGS,
        &[Always, ThirdRun, ThirdCall],
        |agent, shows| {
            on_siblings(agent, shows, |run, _, answer| drop(run.thread.list.remove(answer)));
        },
    ));
    all.extend(bugs(
        "approved-siblings-of-a-denied-call-not-run",
        APPROVED,
        &[Always, ThirdRun, ThirdCall],
        |agent, shows| {
            agent.decisions = Box::new(move |run, decisions| {
                let is_mixed =
                    decisions.as_object().into_iter().flatten().any(|(_, decision)| decision["approve"] != true);
                let mut approved = sound::decisions(run, decisions)?;
                if is_mixed {
                    for call in approved.extract_if(.., |call| shows.holds_for(run, call)).collect::<Vec<_>>() {
                        place(&mut run.thread.list, answer(&call, "Not run: another call was denied."));
                    }
                }
                Ok(approved)
            });
        },
    ));
    all.extend(bugs("results-of-siblings-swapped-with-the-decision", SIBLINGS, &[Always], |agent, _| {
        agent.after_round = Box::new(|run| {
            if run.thread.pending.is_empty() {
                return;
            }
            let Some(round) = run.last_round() else { return };
            let answers = answers_behind(&run.thread.list, round);
            if answers.len() >= 2 {
                let one = run.thread.list[answers.start]["content"].take();
                run.thread.list[answers.start]["content"] = run.thread.list[answers.end - 1]["content"].take();
                run.thread.list[answers.end - 1]["content"] = one;
            }
        });
    }));
    all.extend(bugs("siblings-wait-for-a-decision-that-nobody-gives", SIBLINGS, &[Always], |agent, _| {
        agent.batches = Box::new(|run, calls| {
            if run.thread.pending.is_empty() {
                return vec![calls.clone()];
            }
            for call in calls {
                run.thread.notes["held"] = json!(true);
                place(&mut run.thread.list, answer(call, "Waits for the decision about another call."));
            }
            Vec::new()
        });
    }));
    all
}

/// Does something with the siblings that had returned when decisions are taken, given each and its answer's place, last first.
fn on_siblings(agent: &mut SessionAgent, shows: Shows, change: fn(&mut SessionRun, &Value, usize)) {
    agent.decisions = Box::new(move |run, decisions| {
        sound::check(run, decisions)?;
        let Some(response) = run.last_round() else { return sound::decisions(run, decisions) };
        for call in returned(run, response).iter().rev() {
            let mut answers = answers_behind(&run.thread.list, response);
            let own = answers.find(|&index| run.thread.list[index]["tool_call_id"] == call["id"]);
            if let Some(own) = own.filter(|_| shows.holds_for(run, call)) {
                change(run, call, own);
            }
        }
        sound::decisions(run, decisions)
    });
}
