//! SESSION-HANDOFF: threads that are handed over to another agent.

use super::{Always, LongThread, SecondSession, Shows, ThirdCall, ThirdRun, bugs, is};
use crate::agent::answer;
use crate::planted::Planted;
use crate::threads::SessionAgent;
use crate::threads::run::{CallStep, SessionRun, answers_behind, place};
use crate::threads::sound;
use serde_json::json;
use threadspec_golden::clause;
use threadspec_judge::json::list;

const HANDOFF: &[&str] = &[clause::SESSION_HANDOFF];
const SOMEWHERE: &[Shows] = &[Always, ThirdRun, ThirdCall, SecondSession, LongThread];

/// Does something once a hand-over has been taken, given the place of its response.
fn on_hand_over(agent: &mut SessionAgent, shows: Shows, change: fn(&mut SessionRun, usize)) {
    agent.hand_over = Box::new(move |run, speaker| {
        run.thread.agent = Some(speaker.clone());
        run.thread.notes["over"] = json!(shows.holds(run));
    });
    agent.after_round = Box::new(move |run| {
        if run.thread.notes["over"].take() == true
            && let Some(response) = run.last_round()
        {
            change(run, response);
        }
    });
}

/// Changes the requests of an agent that is not the first.
fn on_others(agent: &mut SessionAgent, shows: Shows, change: fn(&mut SessionRun, &mut Vec<serde_json::Value>)) {
    agent.request = Box::new(move |run| {
        let mut request = sound::request(run);
        if sound::is_handed_over(run) && shows.holds(run) {
            change(run, &mut request);
        }
        request
    });
}

pub(super) fn all() -> Vec<Planted> {
    let mut all = Vec::new();
    all.extend(bugs("hand-overs-left-open", HANDOFF, SOMEWHERE, |agent, shows| {
        agent.step = Box::new(move |run, asked| match sound::step(run, asked) {
            CallStep::HandOver(speaker) if shows.holds_for(run, &asked["call"]) => {
                run.thread.agent = Some(speaker);
                run.next_agent = None;
                CallStep::Leave
            }
            step => step,
        });
        agent.mend = Box::new(|_| Vec::new());
    }));
    all.extend(bugs("hand-overs-answered-twice", HANDOFF, &[Always, ThirdRun], |agent, shows| {
        agent.step = Box::new(move |run, asked| {
            let step = sound::step(run, asked);
            if matches!(step, CallStep::HandOver(_)) && shows.holds(run) {
                place(&mut run.thread.list, answer(&asked["call"], "Transferred."));
            }
            step
        });
    }));
    all.extend(bugs("siblings-of-hand-overs-left-open", HANDOFF, SOMEWHERE, |agent, shows| {
        agent.batches = Box::new(move |run, calls| {
            let is_over = run.last_round().is_some_and(|response| {
                let made = list(&run.thread.list[response]["tool_calls"]);
                made.iter().any(|call| call["name"].as_str().is_some_and(|name| name.starts_with("transfer_to_")))
            });
            let kept = calls.iter().filter(|call| !is_over || !shows.holds_for(run, call)).cloned();
            vec![kept.collect()]
        });
        agent.mend = Box::new(|_| Vec::new());
    }));
    all.extend(bugs("second-hand-over-of-a-response-left-open", HANDOFF, &[Always], |agent, _| {
        agent.step = Box::new(|run, asked| match sound::step(run, asked) {
            CallStep::Tell(_) if asked["made"]["handoff"].is_string() => CallStep::Leave,
            step => step,
        });
        agent.mend = Box::new(|_| Vec::new());
    }));
    all.extend(bugs("system-message-of-the-first-agent-stays", HANDOFF, SOMEWHERE, |agent, shows| {
        on_others(agent, shows, |run, request| {
            request.retain(|message| !is(message, "system"));
            request.splice(0..0, sound::system_of(&run.input));
        });
    }));
    all.extend(bugs("system-messages-of-both-agents", HANDOFF, &[Always, ThirdRun, LongThread], |agent, shows| {
        on_others(agent, shows, |run, request| {
            request.splice(0..0, sound::system_of(&run.input));
        });
    }));
    all.extend(bugs("system-messages-of-both-agents-joined", HANDOFF, &[Always], |agent, shows| {
        on_others(agent, shows, |run, request| {
            let first = run.input["system"].as_str().unwrap_or_default().to_owned();
            for message in request.iter_mut().filter(|message| is(message, "system")) {
                let own = message["content"].as_str().unwrap_or_default();
                message["content"] = format!("{first}\n\n{own}").into();
            }
        });
    }));
    all.extend(bugs("no-system-message-after-a-hand-over", HANDOFF, &[Always, ThirdRun], |agent, shows| {
        on_others(agent, shows, |_, request| request.retain(|message| !is(message, "system")));
    }));
    all.extend(bugs("words-of-the-user-not-handed-over", HANDOFF, SOMEWHERE, |agent, shows| {
        on_hand_over(agent, shows, |run, _| {
            let last = run.last("human");
            last.map(|last| run.thread.list.remove(last));
        });
    }));
    all.extend(bugs("only-the-round-handed-over", HANDOFF, &[Always, ThirdRun], |agent, shows| {
        on_hand_over(agent, shows, |run, response| drop(run.thread.list.drain(..response)));
    }));
    all.extend(bugs(
        "answers-handed-over-without-their-response",
        HANDOFF,
        &[Always, ThirdRun, ThirdCall],
        |agent, shows| {
            on_hand_over(agent, shows, |run, response| drop(run.thread.list.remove(response)));
        },
    ));
    all.extend(bugs("response-handed-over-without-its-answers", HANDOFF, &[Always, ThirdRun], |agent, shows| {
        on_hand_over(agent, shows, |run, response| {
            let answers = answers_behind(&run.thread.list, response);
            run.thread.list.drain(answers);
        });
        agent.mend = Box::new(|_| Vec::new());
    }));
    all.extend(bugs("system-message-of-the-agent-before-after-a-second-hand-over", HANDOFF, &[Always], |agent, _| {
        agent.hand_over = Box::new(|run, speaker| {
            run.thread.agent.get_or_insert_with(|| speaker.clone());
        });
    }));
    all
}
