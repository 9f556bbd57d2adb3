//! SESSION-REWIND: runs that replace an earlier message of the user, and threads that go back to what such a run left.

use super::{Always, NewStart, Shows, ThirdRun, bugs, is};
use crate::planted::Planted;
use crate::threads::SessionAgent;
use crate::threads::run::SessionRun;
use crate::threads::sound;
use serde_json::{Value, json};
use threadspec_golden::clause;
use threadspec_judge::json::list;

const REWIND: &[&str] = &[clause::SESSION_REWIND];
const LOST: &[&str] = &[clause::SESSION_SAID_ONCE];
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

/// Changes the thread likewise when it has gone back to a branch that was left, given how many messages both branches begin with.
fn on_return(agent: &mut SessionAgent, change: fn(&mut SessionRun, &[Value], usize)) {
    agent.rewind = Box::new(move |run, at| {
        let before = run.thread.list.clone();
        sound::rewind(run, at);
        let common = run.thread.list.iter().zip(&before).take_while(|(one, other)| one == other).count();
        if common < run.thread.list.len() {
            change(run, &before, common);
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

pub(super) fn all() -> Vec<Planted> {
    let mut all = Vec::new();
    all.extend(bugs("replaced-messages-stay", REWIND, &[Always, ThirdRun, NewStart], |agent, shows| {
        on_rewind(agent, shows, |run, before| run.thread.list = before.to_vec());
    }));
    all.extend(bugs("replaced-message-stays-alone", REWIND, ALONE, |agent, shows| {
        on_rewind(agent, shows, |run, before| {
            let kept = run.thread.list.len();
            run.thread.list.extend(before.get(kept).cloned());
        });
    }));
    all.extend(bugs("what-was-behind-a-replaced-message-stays", REWIND, ALONE, |agent, shows| {
        on_rewind(agent, shows, |run, before| {
            let kept = run.thread.list.len();
            run.thread.list.extend(before.iter().skip(kept + 1).cloned());
        });
    }));
    all.extend(bugs("calls-that-waited-behind-a-replaced-message-still-wait", REWIND, ALONE, |agent, _| {
        agent.rewind = Box::new(|run, at| {
            let pending = run.thread.pending.clone();
            sound::rewind(run, at);
            run.thread.pending = pending;
        });
    }));
    all.extend(bugs("replaced-messages-back-in-the-next-run", REWIND, &[Always, NewStart], on_later_load));
    all.extend(bugs("one-turn-too-many-replaced", LOST, ALONE, |agent, shows| {
        on_rewind(agent, shows, |run, _| {
            if let Some(last) = run.thread.list.iter().rposition(|message| is(message, "human")) {
                run.thread.list.truncate(last);
            }
        });
    }));
    all.extend(bugs("new-branch-in-the-one-that-was-left", REWIND, ALONE, |agent, _| {
        on_return(agent, |run, before, common| run.thread.list.extend(before.iter().skip(common).cloned()));
    }));
    all.extend(bugs("branch-that-was-left-lost", LOST, ALONE, |agent, _| {
        on_return(agent, |run, _, common| run.thread.list.truncate(common));
    }));
    all
}
