//! SESSION-KEPT and SESSION-WHOLE: what a cut takes away that had been there.

use super::execution::AFTER_A_CUT_CALL;
use super::{
    AFTER_ANY_CUT, Always, BY_KILL, BY_LIMIT, LongThread, NewStart, SecondSession, ThirdCall, ThirdRun, TwoCuts, bugs,
    on_cut_responses,
};
use crate::planted::Planted;
use crate::threads::run::{Moment, SessionRun, answers_behind};
use crate::threads::sound::{self, INTERRUPTED, take_round};
use serde_json::{Value, json};
use threadspec_golden::clause;
use threadspec_judge::json::list;

const KEPT: &[&str] = &[clause::SESSION_KEPT];
const WHOLE: &[&str] = &[clause::SESSION_WHOLE];

pub(super) fn all() -> Vec<Planted> {
    kept().into_iter().chain(whole()).collect()
}

fn kept() -> Vec<Planted> {
    let mut all = Vec::new();
    all.extend(bugs("returned-results-told-as-interrupted", KEPT, AFTER_A_CUT_CALL, |agent, shows| {
        agent.mend = Box::new(move |run| {
            let cut = sound::cut_calls(run);
            sound::mend(run);
            for open in cut {
                for index in answers_behind(&run.thread.list, open.response) {
                    let call = json!({"id": run.thread.list[index]["tool_call_id"]});
                    if shows.holds_for(run, &call) {
                        run.thread.list[index]["content"] = INTERRUPTED.into();
                    }
                }
            }
            Vec::new()
        });
    }));
    all.extend(bugs(
        "responses-dropped-although-a-call-had-returned",
        KEPT,
        &[Always, ThirdRun, ThirdCall, TwoCuts, BY_KILL],
        |agent, shows| {
            on_cut_responses(agent, shows, |run, response| {
                if is_all_that_happened(run) {
                    take_round(&mut run.thread.list, response);
                }
                true
            });
        },
    ));
    all.extend(bugs("cut-runs-rolled-back", KEPT, &[Always, ThirdRun, SecondSession, BY_LIMIT], |agent, shows| {
        on_cut_responses(agent, shows, |run, _| {
            if is_all_that_happened(run) {
                let message = run.last("human").map_or(0, |message| message + 1);
                run.thread.list.truncate(message);
            }
            true
        });
    }));
    all.extend(bugs(
        "earlier-rounds-of-cut-runs-gone",
        KEPT,
        &[Always, TwoCuts, NewStart, LongThread, BY_LIMIT],
        |agent, shows| {
            on_cut_responses(agent, shows, |run, response| {
                if is_all_that_happened(run) {
                    let message = run.last("human").map_or(0, |message| message + 1);
                    run.thread.list.drain(message.min(response)..response);
                }
                true
            });
        },
    ));
    all.extend(bugs("results-saved-by-the-round", KEPT, &[Always, ThirdRun, ThirdCall], |agent, shows| {
        agent.saves = Box::new(move |run, moment| *moment != Moment::Answer || !is_cut_alone(run) || !shows.holds(run));
    }));
    all.extend(bugs("rounds-saved-at-the-end", KEPT, &[Always, ThirdRun, SecondSession], |agent, shows| {
        agent.saves = Box::new(move |run, moment| {
            let is_meant = matches!(moment, Moment::Answer | Moment::Round | Moment::Response);
            !is_meant || !is_cut_alone(run) || !shows.holds(run)
        });
    }));
    all
}

/// Whether a cut alone is what may take something away: compaction must keep an open round, and what was decided has clauses of its own.
fn is_all_that_happened(run: &SessionRun) -> bool {
    let before = run.number.checked_sub(1).map(|before| &run.input["runs"][before]);
    run.script()["compact"].is_null() && before.is_none_or(|before| before["decisions"].is_null())
}

/// The same for the whole session.
fn is_cut_alone(run: &SessionRun) -> bool {
    list(&run.input["runs"]).iter().all(|script| script["compact"].is_null() && script["decisions"].is_null())
}

fn whole() -> Vec<Planted> {
    let mut all = Vec::new();
    all.extend(bugs("text-of-cut-responses-lost", WHOLE, AFTER_ANY_CUT, |agent, shows| {
        on_cut_responses(agent, shows, |run, response| {
            run.thread.list[response]["content"] = "".into();
            true
        });
    }));
    all.extend(bugs("text-of-cut-responses-shortened", WHOLE, &[Always, ThirdCall], |agent, shows| {
        on_cut_responses(agent, shows, |run, response| {
            let text = run.thread.list[response]["content"].as_str().unwrap_or_default();
            let half: String = text.chars().take(text.chars().count() / 2).collect();
            run.thread.list[response]["content"] = half.into();
            true
        });
    }));
    all.extend(bugs("text-lost-with-the-cut-calls", WHOLE, &[Always, ThirdRun, ThirdCall], |agent, shows| {
        on_cut_responses(agent, shows, |run, response| {
            let is_alone = answers_behind(&run.thread.list, response).is_empty();
            if is_alone {
                return true;
            }
            leave_out(&mut run.thread.list, response);
            run.thread.list[response]["content"] = "".into();
            true
        });
    }));
    all.extend(bugs("opaque-parts-left-without-a-call", WHOLE, &[Always, TwoCuts, BY_KILL], |agent, shows| {
        on_cut_responses(agent, shows, |run, response| {
            leave_out(&mut run.thread.list, response);
            true
        });
    }));
    all
}

/// Leaves the cut calls of a response out of it, and their signatures; it stays, even if nothing else is in it.
fn leave_out(list: &mut Vec<Value>, response: usize) {
    let answers = list[answers_behind(list, response)].to_vec();
    let is_cut = |call: &Value| answers.iter().all(|answer| answer["tool_call_id"] != call["id"]);
    let message = list[response].clone();
    sound::leave_out(list, response, is_cut);
    if list.get(response).is_none_or(|left| left["type"] != "ai") {
        let mut rest = message;
        rest.as_object_mut().map(|members| members.remove("tool_calls"));
        list.insert(response, rest);
    }
}
