//! SESSION-CUT: threads that a cut leaves stuck.

use super::{
    AFTER_ANY_CUT, Always, BY_CANCEL, BY_KILL, BY_LIMIT, BY_THROW, NewStart, SecondSession, ThirdCall, ThirdRun,
    TwoCuts, bugs,
};
use crate::planted::Planted;
use crate::threads::sound;
use serde_json::json;
use threadspec_golden::clause;

const CUT: &[&str] = &[clause::SESSION_CUT];

pub(super) fn all() -> Vec<Planted> {
    let mut all = Vec::new();
    all.extend(bugs("threads-refused-after-a-cut", CUT, AFTER_ANY_CUT, |agent, shows| {
        agent.mend = Box::new(move |run| {
            if run.thread.notes["broken"] == true || !sound::cut_calls(run).is_empty() && shows.holds(run) {
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
    }));
    all.extend(bugs("runs-after-a-cut-fail", CUT, &[Always, TwoCuts, ThirdCall, BY_LIMIT], |agent, shows| {
        agent.mend = Box::new(move |run| {
            let is_cut = !sound::cut_calls(run).is_empty();
            if is_cut && shows.holds(run) {
                run.failure = Some("KeyError: 'tool_call_id'".into());
            } else {
                sound::mend(run);
            }
            Vec::new()
        });
    }));
    all.extend(bugs(
        "runs-after-a-cut-do-nothing",
        CUT,
        &[Always, ThirdRun, SecondSession, BY_KILL],
        |agent, shows| {
            agent.mend = Box::new(move |run| {
                run.thread.notes["done"] = json!(run.thread.cuts > 0 && shows.holds(run));
                sound::mend(run);
                Vec::new()
            });
            agent.asks = Box::new(|run| run.thread.notes["done"] != true);
        },
    ));
    all.extend(bugs("threads-locked-by-a-killed-process", CUT, &[Always, NewStart], |agent, shows| {
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
    }));
    all.extend(bugs("refused-without-words-after-a-cut", CUT, &[Always, BY_CANCEL, BY_THROW], |agent, shows| {
        agent.mend = Box::new(move |run| {
            run.thread.notes["broken"] = json!(!sound::cut_calls(run).is_empty() && shows.holds(run));
            sound::mend(run);
            Vec::new()
        });
        agent.message = Box::new(|run, words| {
            is_fit(&run.thread.notes).map_err(|_| String::new())?;
            sound::message(run, words)
        });
    }));
    all
}

fn is_fit(notes: &serde_json::Value) -> Result<(), String> {
    if notes["broken"] == true { Err("The thread has a call without an answer.".into()) } else { Ok(()) }
}

fn is_free(notes: &serde_json::Value) -> Result<(), String> {
    if notes["locked"] == true { Err("The thread is busy with another run.".into()) } else { Ok(()) }
}
