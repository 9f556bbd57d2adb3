//! SESSION-APPROVED: calls that wait for a decision run without it, or do not run as it says.

use super::execution::again;
use super::{
    Always, BY_CANCEL, BY_KILL, BY_THROW, LongThread, NewStart, SecondSession, Shows, ThirdCall, ThirdRun, TwoCuts,
    bugs, on_cut_calls, run_now,
};
use crate::agent::answer;
use crate::planted::Planted;
use crate::threads::run::{CallStep, place};
use crate::threads::sound::{self, INTERRUPTED};
use serde_json::{Value, json};
use threadspec_golden::clause;
use threadspec_judge::json::text;

const APPROVED: &[&str] = &[clause::SESSION_APPROVED];
/// Cut while it runs, an approved call is a cut call.
const ANSWERED: &[&str] = &[clause::SESSION_ANSWERED];

pub(super) fn all() -> Vec<Planted> {
    too_early().into_iter().chain(otherwise()).collect()
}

fn too_early() -> Vec<Planted> {
    const SOMEWHERE: &[Shows] = &[Always, ThirdRun, ThirdCall, TwoCuts, SecondSession, NewStart, LongThread];
    let mut all = Vec::new();
    all.extend(bugs("approval-not-waited-for", APPROVED, SOMEWHERE, |agent, shows| {
        agent.step = Box::new(move |run, asked| match sound::step(run, asked) {
            CallStep::Wait if shows.holds_for(run, &asked["call"]) => CallStep::Execute,
            step => step,
        });
    }));
    all.extend(bugs("pending-calls-run-at-once-and-again-when-approved", APPROVED, &[Always], |agent, _| {
        agent.step = Box::new(move |run, asked| {
            let step = sound::step(run, asked);
            if step == CallStep::Wait {
                again(run, &asked["call"]);
            }
            step
        });
    }));
    all.extend(bugs("pending-calls-run-by-resume", APPROVED, &[Always, ThirdRun, ThirdCall], |agent, shows| {
        agent.resume = Box::new(move |run| {
            for call in run.waiting() {
                if shows.holds_for(run, &call) {
                    run_now(run, &call);
                }
            }
            sound::resume(run)
        });
    }));
    all.extend(bugs("pending-calls-run-by-a-message", APPROVED, &[Always, ThirdRun, ThirdCall], |agent, shows| {
        agent.message = Box::new(move |run, words| {
            for call in run.waiting() {
                if shows.holds_for(run, &call) {
                    run_now(run, &call);
                }
            }
            sound::message(run, words)
        });
    }));
    all.extend(bugs("approvals-hold-for-the-tool", APPROVED, &[Always], |agent, _| {
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
    }));
    all.extend(bugs("pending-calls-run-by-a-new-start", APPROVED, &[Always], |agent, _| {
        agent.loaded = Box::new(|run| {
            if run.from > 0 && run.number == run.from {
                for call in run.waiting() {
                    run_now(run, &call);
                }
            }
        });
    }));
    all
}

fn otherwise() -> Vec<Planted> {
    const SOMEWHERE: &[Shows] = &[Always, ThirdRun, ThirdCall, SecondSession, NewStart, LongThread];
    let mut all = Vec::new();
    all.extend(bugs("approved-calls-run-twice", APPROVED, SOMEWHERE, |agent, shows| {
        on_approved(agent, shows, |run, call| {
            again(run, &call);
            Some(call)
        });
    }));
    all.extend(bugs("approved-calls-not-run", APPROVED, SOMEWHERE, |agent, shows| {
        on_approved(agent, shows, |run, call| {
            place(&mut run.thread.list, answer(&call, "Approved."));
            None
        });
    }));
    all.extend(bugs("approved-calls-left-open", APPROVED, &[Always, ThirdCall, ThirdRun], |agent, shows| {
        on_approved(agent, shows, |run, call| {
            again(run, &call);
            None
        });
    }));
    all.extend(bugs("approved-results-lost", APPROVED, &[Always, ThirdCall, ThirdRun, NewStart], |agent, shows| {
        on_approved(agent, shows, |run, call| {
            again(run, &call);
            place(&mut run.thread.list, answer(&call, "Approved."));
            None
        });
    }));
    all.extend(bugs("approved-results-answered-twice", APPROVED, &[Always, ThirdCall], |agent, shows| {
        on_approved(agent, shows, |run, call| {
            run_now(run, &call);
            let answer = sound::execute(run, &call);
            place(&mut run.thread.list, answer);
            None
        });
    }));
    all.extend(bugs("edited-arguments-ignored", APPROVED, &[Always, ThirdCall, ThirdRun], |agent, shows| {
        agent.decisions = Box::new(move |run, decisions| {
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
        });
    }));
    all.extend(bugs("edited-arguments-added-to-the-old-ones", APPROVED, &[Always], |agent, _| {
        agent.decisions = Box::new(|run, decisions| {
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
        });
    }));
    all.extend(bugs("arguments-of-approved-calls-lost", APPROVED, &[Always, ThirdCall], |agent, shows| {
        on_approved(agent, shows, |_, mut call| {
            call["args"] = json!({});
            Some(call)
        });
    }));
    all.extend(bugs("complete-decisions-refused", APPROVED, SOMEWHERE, |agent, shows| {
        agent.decisions = Box::new(move |run, decisions| {
            if !run.thread.pending.is_empty() && shows.holds(run) {
                return Err("There is no run to go on with.".into());
            }
            sound::decisions(run, decisions)
        });
    }));
    all.extend(bugs("decisions-reach-the-wrong-calls", APPROVED, &[Always, ThirdRun], |agent, shows| {
        agent.decisions = Box::new(move |run, decisions| {
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
        });
    }));
    all.extend(bugs("only-the-first-decision-taken", APPROVED, &[Always], |agent, _| {
        agent.decisions = Box::new(|run, decisions| {
            let mut approved = sound::decisions(run, decisions)?;
            approved.truncate(1);
            Ok(approved)
        });
    }));
    all.extend(bugs(
        "approved-calls-that-were-cut-left-open",
        ANSWERED,
        &[Always, BY_CANCEL, BY_THROW, BY_KILL],
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
    ));
    all
}

/// Does something else with a call that was approved, and returns what is then to be executed.
fn on_approved(
    agent: &mut crate::session::SessionAgent,
    shows: Shows,
    change: fn(&mut crate::threads::run::SessionRun, Value) -> Option<Value>,
) {
    agent.decisions = Box::new(move |run, decisions| {
        let approved = sound::decisions(run, decisions)?;
        let chosen = approved
            .into_iter()
            .filter_map(|call| if shows.holds_for(run, &call) { change(run, call) } else { Some(call) });
        Ok(chosen.collect())
    });
}
