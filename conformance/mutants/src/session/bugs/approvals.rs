//! SESSION-APPROVED: calls that wait for a decision run without it, or do not run as it says.

use super::execution::again;
use super::on_cut_calls;
use crate::session::prelude::*;

impl SessionGroup {
    /// Does something else with a call that was approved, and returns what is then to be executed.
    fn approved(self, name: &'static str, change: fn(&mut SessionRun, Value) -> Option<Value>) -> Vec<Planted> {
        self.decisions(name, move |run, decisions, shows| {
            let approved = sound::decisions(run, decisions)?;
            let chosen = approved
                .into_iter()
                .filter_map(|call| if shows.holds_for(run, &call) { change(run, call) } else { Some(call) });
            Ok(chosen.collect())
        })
    }
}

pub(super) fn all() -> Vec<Planted> {
    too_early().into_iter().chain(otherwise()).collect()
}

fn too_early() -> Vec<Planted> {
    const SOMEWHERE: &[Shows] = &[Always, ThirdRun, ThirdCall, TwoCuts, SecondSession, NewStart, LongThread];
    [
        APPROVED.when(SOMEWHERE).step("approval-not-waited-for", |run, asked, shows| match sound::step(run, asked) {
            CallStep::Wait if shows.holds_for(run, &asked["call"]) => CallStep::Execute,
            step => step,
        }),
        APPROVED.step("pending-calls-run-at-once-and-again-when-approved", |run, asked, _| {
            let step = sound::step(run, asked);
            if step == CallStep::Wait {
                again(run, &asked["call"]);
            }
            step
        }),
        APPROVED.when(&[Always, ThirdRun, ThirdCall]).resume("pending-calls-run-by-resume", |run, shows| {
            for call in run.waiting() {
                if shows.holds_for(run, &call) {
                    run_now(run, &call);
                }
            }
            sound::resume(run)
        }),
        APPROVED.when(&[Always, ThirdRun, ThirdCall]).message("pending-calls-run-by-a-message", |run, words, shows| {
            for call in run.waiting() {
                if shows.holds_for(run, &call) {
                    run_now(run, &call);
                }
            }
            sound::message(run, words)
        }),
        APPROVED.plant("approvals-hold-for-the-tool", |agent, _| {
            agent.decisions = Box::new(|run, decisions| {
                let approved = sound::decisions(run, decisions)?;
                for call in &approved {
                    run.thread.notes[text(&call["name"])] = json!(true);
                }
                Ok(approved)
            });
            agent.step = Box::new(|run, asked| match sound::step(run, asked) {
                CallStep::Wait if run.thread.notes[text(&asked["call"]["name"])] == true => CallStep::Execute,
                step => step,
            });
        }),
        APPROVED.loaded("pending-calls-run-by-a-new-start", |run, _| {
            if run.from > 0 && run.number == run.from {
                for call in run.waiting() {
                    run_now(run, &call);
                }
            }
        }),
    ]
    .concat()
}

fn otherwise() -> Vec<Planted> {
    const SOMEWHERE: &[Shows] = &[Always, ThirdRun, ThirdCall, SecondSession, NewStart, LongThread];
    [
        APPROVED.when(SOMEWHERE).approved("approved-calls-run-twice", |run, call| {
            again(run, &call);
            Some(call)
        }),
        APPROVED.when(SOMEWHERE).approved("approved-calls-not-run", |run, call| {
            place(&mut run.thread.list, answer(&call, "Approved."));
            None
        }),
        APPROVED.when(&[Always, ThirdCall, ThirdRun]).approved("approved-calls-left-open", |run, call| {
            again(run, &call);
            None
        }),
        APPROVED.when(&[Always, ThirdCall, ThirdRun, NewStart]).approved("approved-results-lost", |run, call| {
            again(run, &call);
            place(&mut run.thread.list, answer(&call, "Approved."));
            None
        }),
        APPROVED.when(&[Always, ThirdCall]).approved("approved-results-answered-twice", |run, call| {
            run_now(run, &call);
            let answer = sound::execute(run, &call);
            place(&mut run.thread.list, answer);
            None
        }),
        APPROVED.when(&[Always, ThirdCall, ThirdRun]).decisions("edited-arguments-ignored", |run, decisions, shows| {
            let waiting = run.waiting();
            let mut approved = sound::decisions(run, decisions)?;
            for call in &mut approved {
                if shows.holds_for(run, call)
                    && let Some(made) = waiting.iter().find(|made| made["id"] == call["id"])
                {
                    *call = made.clone();
                }
            }
            Ok(approved)
        }),
        APPROVED.decisions("edited-arguments-added-to-the-old-ones", |run, decisions, _| {
            let waiting = run.waiting();
            let mut approved = sound::decisions(run, decisions)?;
            for call in &mut approved {
                let made = waiting.iter().find(|made| made["id"] == call["id"]);
                for (name, value) in made.and_then(|made| made["args"].as_object()).into_iter().flatten() {
                    if call["args"][name].is_null() {
                        call["args"][name] = value.clone();
                    }
                }
            }
            Ok(approved)
        }),
        APPROVED.when(&[Always, ThirdCall]).approved("arguments-of-approved-calls-lost", |_, mut call| {
            call["args"] = json!({});
            Some(call)
        }),
        APPROVED.when(SOMEWHERE).decisions("complete-decisions-refused", |run, decisions, shows| {
            if !run.thread.pending.is_empty() && shows.holds(run) {
                return Err("There is no run to go on with.".into());
            }
            sound::decisions(run, decisions)
        }),
        APPROVED.when(&[Always, ThirdRun]).decisions("decisions-reach-the-wrong-calls", |run, decisions, shows| {
            sound::check(run, decisions)?;
            // The last one made is decided first.
            let calls: Vec<Value> = run.waiting();
            let mut swapped = decisions.clone();
            if shows.holds(run) {
                for (call, other) in calls.iter().zip(calls.iter().rev()) {
                    swapped[text(&call["id"])] = decisions[text(&other["id"])].clone();
                }
            }
            Ok(sound::decide(run, &swapped, sound::denial))
        }),
        APPROVED.decisions("only-the-first-decision-taken", |run, decisions, _| {
            let mut approved = sound::decisions(run, decisions)?;
            approved.truncate(1);
            Ok(approved)
        }),
        // Cut while it runs, an approved call is a cut call.
        ANSWERED.when(&[Always, BY_CANCEL, BY_THROW, BY_KILL]).plant(
            "approved-calls-that-were-cut-left-open",
            |agent, shows| {
                agent.decisions = Box::new(|run, decisions| {
                    let approved = sound::decisions(run, decisions)?;
                    run.thread.notes["approved"] = approved.iter().map(|call| call["id"].clone()).collect();
                    Ok(approved)
                });
                on_cut_calls(agent, shows, |run, open| {
                    let approved = run.thread.notes["approved"].as_array();
                    let is_approved = approved.is_some_and(|approved| approved.contains(&open.call["id"]));
                    (!is_approved).then(|| INTERRUPTED.into())
                });
            },
        ),
    ]
    .concat()
}
