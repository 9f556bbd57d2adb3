//! SESSION-DENIED and SESSION-SIBLINGS: what a denial does to a call, and a decision to the others of its response.

use super::execution::{again, returned};
use crate::session::prelude::*;

/// What was decided is named before what stood beside it.
const SOMEWHERE: &[Shows] = &[Always, ThirdRun, ThirdCall, SecondSession, NewStart, LongThread];

impl SessionGroup {
    /// Does something else with each call that is denied, given it and the decision.
    fn denied(self, name: &'static str, change: fn(&mut SessionRun, &Value, &Value)) -> Vec<Planted> {
        self.plant(name, move |agent, shows| on_denied(agent, shows, change))
    }

    /// Does something with the siblings that had returned when decisions are taken, given each and its answer's place, last first.
    fn siblings(self, name: &'static str, change: fn(&mut SessionRun, &Value, usize)) -> Vec<Planted> {
        self.decisions(name, move |run, decisions, shows| {
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
        })
    }
}

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
    [
        DENIED.when(SOMEWHERE).denied("denied-calls-run", |run, call, _| run_now(run, call)),
        DENIED.when(&[Always, ThirdCall]).denied("denied-calls-run-and-told-denied", |run, call, decision| {
            again(run, call);
            tell_denied(run, call, decision);
        }),
        DENIED.when(SOMEWHERE).plant("denied-calls-left-open", |agent, shows| {
            on_denied(agent, shows, |_, _, _| {});
            // They are no cut calls.
            agent.mend = Box::new(|_| Vec::new());
        }),
        DENIED
            .when(&[Always, ThirdRun, ThirdCall])
            .denied("denied-calls-left-out", |run, call, _| leave_out(run, call)),
        DENIED.when(&[Always, ThirdCall]).denied("denied-calls-told-twice", |run, call, decision| {
            tell_denied(run, call, decision);
            tell_denied(run, call, decision);
        }),
        DENIED
            .lapsing()
            .when(&[Always, ThirdRun, ThirdCall])
            .denied("reasons-of-denials-lost", |run, call, _| place(&mut run.thread.list, answer(call, "Denied."))),
        DENIED.lapsing().decisions("reasons-of-denials-change-places", |run, decisions, _| {
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
        }),
        DENIED.denied("denied-calls-told-with-a-siblings-result", |run, call, decision| {
            let round = run.last_round().unwrap_or_default();
            let answers = answers_behind(&run.thread.list, round);
            let content = run.thread.list[answers].iter().map(|answer| answer["content"].clone()).next();
            match content {
                Some(content) => place(&mut run.thread.list, answer(call, content)),
                None => tell_denied(run, call, decision),
            }
        }),
        DENIED.when(&[Always, ThirdRun, ThirdCall]).plant("denied-calls-run-by-the-next-message", |agent, shows| {
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
        }),
        DENIED.when(&[Always, NewStart]).plant("denied-calls-run-by-resume", |agent, shows| {
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
        }),
    ]
    .concat()
}

/// Leaves a call out of its response.
pub(super) fn leave_out(run: &mut SessionRun, call: &Value) {
    if let Some(response) = run.last_round() {
        sound::leave_out(&mut run.thread.list, response, |own| own["id"] == call["id"]);
    }
}

fn siblings() -> Vec<Planted> {
    [
        SIBLINGS.when(SOMEWHERE).batches("siblings-of-pending-calls-not-run", |run, calls, shows| {
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
        }),
        SIBLINGS.when(SOMEWHERE).siblings("siblings-run-again-with-the-decision", |run, call, _| again(run, call)),
        SIBLINGS.when(SOMEWHERE).siblings("results-of-siblings-lost-with-the-decision", |run, _, answer| {
            run.thread.list[answer]["content"] = INTERRUPTED.into()
        }),
        SIBLINGS
            .when(&[Always, ThirdRun, ThirdCall])
            .siblings("answers-of-siblings-left-out-with-the-decision", |run, _, answer| {
                drop(run.thread.list.remove(answer))
            }),
        APPROVED.when(&[Always, ThirdRun, ThirdCall]).decisions(
            "approved-siblings-of-a-denied-call-not-run",
            |run, decisions, shows| {
                let is_mixed =
                    decisions.as_object().into_iter().flatten().any(|(_, decision)| decision["approve"] != true);
                let mut approved = sound::decisions(run, decisions)?;
                if is_mixed {
                    for call in approved.extract_if(.., |call| shows.holds_for(run, call)).collect::<Vec<_>>() {
                        place(&mut run.thread.list, answer(&call, "Not run: another call was denied."));
                    }
                }
                Ok(approved)
            },
        ),
        SIBLINGS.after_round("results-of-siblings-swapped-with-the-decision", |run, _| {
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
        }),
        SIBLINGS.batches("siblings-wait-for-a-decision-that-nobody-gives", |run, calls, _| {
            if run.thread.pending.is_empty() {
                return vec![calls.clone()];
            }
            for call in calls {
                run.thread.notes["held"] = json!(true);
                place(&mut run.thread.list, answer(call, "Waits for the decision about another call."));
            }
            Vec::new()
        }),
    ]
    .concat()
}
