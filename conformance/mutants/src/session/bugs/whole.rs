//! SESSION-KEPT and SESSION-WHOLE: what a cut takes away that had been there.

use super::execution::AFTER_A_CUT_CALL;
use crate::session::prelude::*;
use crate::threads::sound::take_round;

pub(super) fn all() -> Vec<Planted> {
    kept().into_iter().chain(whole()).collect()
}

fn kept() -> Vec<Planted> {
    [
        KEPT.when(AFTER_A_CUT_CALL).mend("returned-results-told-as-interrupted", |run, shows| {
            let cut = cut_calls(run);
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
        }),
        KEPT.when(&[Always, ThirdRun, ThirdCall, TwoCuts, BY_KILL]).cut_responses(
            "responses-dropped-although-a-call-had-returned",
            |run, response| {
                if is_all_that_happened(run) {
                    take_round(&mut run.thread.list, response);
                }
                true
            },
        ),
        KEPT.when(&[Always, ThirdRun, SecondSession, BY_LIMIT]).cut_responses("cut-runs-rolled-back", |run, _| {
            if is_all_that_happened(run) {
                let message = run.last("human").map_or(0, |message| message + 1);
                run.thread.list.truncate(message);
            }
            true
        }),
        KEPT.when(&[Always, TwoCuts, NewStart, LongThread, BY_LIMIT]).cut_responses(
            "earlier-rounds-of-cut-runs-gone",
            |run, response| {
                if is_all_that_happened(run) {
                    let message = run.last("human").map_or(0, |message| message + 1);
                    run.thread.list.drain(message.min(response)..response);
                }
                true
            },
        ),
        KEPT.when(&[Always, ThirdRun, ThirdCall]).saves("results-saved-by-the-round", |run, moment, shows| {
            *moment != Moment::Answer || !is_cut_alone(run) || !shows.holds(run)
        }),
        KEPT.when(&[Always, ThirdRun, SecondSession]).saves("rounds-saved-at-the-end", |run, moment, shows| {
            let is_meant = matches!(moment, Moment::Answer | Moment::Round | Moment::Response);
            !is_meant || !is_cut_alone(run) || !shows.holds(run)
        }),
    ]
    .concat()
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
    [
        WHOLE.when(AFTER_ANY_CUT).cut_responses("text-of-cut-responses-lost", |run, response| {
            run.thread.list[response]["content"] = "".into();
            true
        }),
        WHOLE.when(&[Always, ThirdCall]).cut_responses("text-of-cut-responses-shortened", |run, response| {
            let text = run.thread.list[response]["content"].as_str().unwrap_or_default();
            let half: String = text.chars().take(text.chars().count() / 2).collect();
            run.thread.list[response]["content"] = half.into();
            true
        }),
        WHOLE.when(&[Always, ThirdRun, ThirdCall]).cut_responses("text-lost-with-the-cut-calls", |run, response| {
            let is_alone = answers_behind(&run.thread.list, response).is_empty();
            if is_alone {
                return true;
            }
            leave_out(&mut run.thread.list, response);
            run.thread.list[response]["content"] = "".into();
            true
        }),
        WHOLE.when(&[Always, TwoCuts, BY_KILL]).cut_responses("opaque-parts-left-without-a-call", |run, response| {
            leave_out(&mut run.thread.list, response);
            true
        }),
    ]
    .concat()
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
