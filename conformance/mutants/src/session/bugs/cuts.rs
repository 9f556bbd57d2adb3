//! SESSION-ANSWERED: calls that were cut off stay open, or are answered wrongly.

use super::{AFTER_ANY_CUT, Always, BY_LIMIT, ThirdCall, ThirdRun, TwoCuts, bugs, is, on_cut_calls, on_cut_responses};
use crate::agent::answer;
use crate::planted::Planted;
use crate::threads::run::{answers_behind, place};
use crate::threads::sound::{self, INTERRUPTED, cut_calls};
use serde_json::json;
use threadspec_golden::clause;

const ANSWERED: &[&str] = &[clause::SESSION_ANSWERED];

pub(super) fn all() -> Vec<Planted> {
    let mut all = Vec::new();
    all.extend(bugs("cut-calls-left-open", ANSWERED, AFTER_ANY_CUT, |agent, shows| {
        on_cut_calls(agent, shows, |_, _| None);
    }));
    all.extend(bugs("cut-calls-told-twice", ANSWERED, &[Always, ThirdRun, ThirdCall], |agent, shows| {
        agent.mend = Box::new(move |run| {
            let cut = cut_calls(run);
            sound::mend(run);
            for open in cut {
                if shows.holds_for(run, &open.call) {
                    place(&mut run.thread.list, answer(&open.call, INTERRUPTED));
                }
            }
            Vec::new()
        });
    }));
    all.extend(bugs(
        "cut-calls-told-behind-the-next-message",
        ANSWERED,
        &[Always, ThirdRun, ThirdCall],
        |agent, shows| {
            on_cut_calls(agent, shows, |_, _| None);
            agent.message = Box::new(move |run, words| {
                let cut = cut_calls(run);
                sound::message(run, words)?;
                run.thread.list.extend(cut.iter().map(|open| answer(&open.call, INTERRUPTED)));
                Ok(())
            });
        },
    ));
    all.extend(bugs("cut-calls-told-under-another-id", ANSWERED, &[Always, TwoCuts, ThirdCall], |agent, shows| {
        agent.mend = Box::new(move |run| {
            for open in cut_calls(run) {
                let mut told = answer(&open.call, INTERRUPTED);
                if shows.holds_for(run, &open.call) {
                    told["tool_call_id"] = json!(format!("call_{}", run.thread.list.len()));
                }
                let end = answers_behind(&run.thread.list, open.response).end;
                run.thread.list.insert(end, told);
            }
            Vec::new()
        });
    }));
    all.extend(bugs("cut-calls-told-as-user-messages", ANSWERED, &[Always, BY_LIMIT], |agent, shows| {
        on_cut_responses(agent, shows, |run, response| {
            let end = answers_behind(&run.thread.list, response).end;
            run.thread.list.insert(end, json!({"type": "human", "content": INTERRUPTED}));
            false
        });
    }));
    all.extend(bugs("answers-of-dropped-responses-stay", ANSWERED, &[Always, ThirdRun, ThirdCall], |agent, shows| {
        on_cut_responses(agent, shows, |run, response| {
            run.thread.list.remove(response);
            true
        });
    }));
    all.extend(bugs("cut-calls-told-with-a-siblings-result", ANSWERED, &[Always, ThirdCall], |agent, shows| {
        on_cut_calls(agent, shows, |run, open| {
            let answers = &run.thread.list[answers_behind(&run.thread.list, open.response)];
            let returned = answers.iter().find(|answer| answer["content"] != INTERRUPTED);
            Some(returned.map_or_else(|| INTERRUPTED.into(), |answer| answer["content"].clone()))
        });
    }));
    all.extend(bugs("only-the-first-cut-call-told", ANSWERED, &[Always], |agent, _| {
        agent.mend = Box::new(|run| {
            if let Some(open) = cut_calls(run).first() {
                place(&mut run.thread.list, answer(&open.call, INTERRUPTED));
            }
            Vec::new()
        });
    }));
    all.extend(bugs("cut-calls-told-only-once-in-a-process", ANSWERED, &[Always], |agent, _| {
        agent.mend = Box::new(|run| {
            if !cut_calls(run).is_empty() && run.memory["told"] != true {
                sound::mend(run);
                run.memory["told"] = json!(true);
            }
            Vec::new()
        });
    }));
    all.extend(bugs("cut-calls-told-in-the-request-but-not-kept", ANSWERED, &[Always], |agent, _| {
        // Told in the first request behind the cut alone.
        agent.mend = Box::new(|_| Vec::new());
        agent.request = Box::new(|run| {
            let is_first = run.turn == 0 && run.thread.cuts == 1;
            let mut request = sound::request(run);
            if is_first {
                let open = cut_calls(run);
                let system = request.len() - run.thread.list.len();
                let mut list = request.split_off(system);
                open.iter().for_each(|open| place(&mut list, answer(&open.call, INTERRUPTED)));
                request.extend(list);
            }
            request
        });
    }));
    all.extend(bugs("cut-calls-of-text-left-open", ANSWERED, &[Always], |agent, _| {
        on_cut_calls(agent, Always, |run, open| {
            (run.thread.list[open.response]["content"] == "").then(|| INTERRUPTED.into())
        });
    }));
    all.extend(bugs("cut-calls-of-returned-siblings-left-open", ANSWERED, &[Always], |agent, _| {
        on_cut_calls(agent, Always, |run, open| {
            let behind = run.thread.list.get(open.response + 1);
            let is_alone = behind.is_none_or(|message| !is(message, "tool") || message["content"] == INTERRUPTED);
            is_alone.then(|| INTERRUPTED.into())
        });
    }));
    all
}
