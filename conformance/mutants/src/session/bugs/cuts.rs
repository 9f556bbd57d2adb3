//! SESSION-ANSWERED: calls that were cut off stay open, or are answered wrongly.

use super::on_cut_calls;
use crate::session::prelude::*;

pub(super) fn all() -> Vec<Planted> {
    [
        ANSWERED.when(AFTER_ANY_CUT).cut_calls("cut-calls-left-open", |_, _| None),
        ANSWERED.when(&[Always, ThirdRun, ThirdCall]).mend("cut-calls-told-twice", |run, shows| {
            let cut = cut_calls(run);
            sound::mend(run);
            for open in cut {
                if shows.holds_for(run, &open.call) {
                    place(&mut run.thread.list, answer(&open.call, INTERRUPTED));
                }
            }
            Vec::new()
        }),
        ANSWERED.when(&[Always, ThirdRun, ThirdCall]).plant(
            "cut-calls-told-behind-the-next-message",
            |agent, shows| {
                on_cut_calls(agent, shows, |_, _| None);
                agent.message = Box::new(move |run, words| {
                    let cut = cut_calls(run);
                    sound::message(run, words)?;
                    run.thread.list.extend(cut.iter().map(|open| answer(&open.call, INTERRUPTED)));
                    Ok(())
                });
            },
        ),
        ANSWERED.when(&[Always, TwoCuts, ThirdCall]).mend("cut-calls-told-under-another-id", |run, shows| {
            for open in cut_calls(run) {
                let mut told = answer(&open.call, INTERRUPTED);
                if shows.holds_for(run, &open.call) {
                    told["tool_call_id"] = json!(format!("call_{}", run.thread.list.len()));
                }
                let end = answers_behind(&run.thread.list, open.response).end;
                run.thread.list.insert(end, told);
            }
            Vec::new()
        }),
        ANSWERED.when(&[Always, BY_LIMIT]).cut_responses("cut-calls-told-as-user-messages", |run, response| {
            let end = answers_behind(&run.thread.list, response).end;
            run.thread.list.insert(end, json!({"type": "human", "content": INTERRUPTED}));
            false
        }),
        ANSWERED.when(&[Always, ThirdRun, ThirdCall]).cut_responses(
            "answers-of-dropped-responses-stay",
            |run, response| {
                run.thread.list.remove(response);
                true
            },
        ),
        ANSWERED.when(&[Always, ThirdCall]).cut_calls("cut-calls-told-with-a-siblings-result", |run, open| {
            let answers = &run.thread.list[answers_behind(&run.thread.list, open.response)];
            let returned = answers.iter().find(|answer| answer["content"] != INTERRUPTED);
            Some(returned.map_or_else(|| INTERRUPTED.into(), |answer| answer["content"].clone()))
        }),
        ANSWERED.mend("only-the-first-cut-call-told", |run, _| {
            if let Some(open) = cut_calls(run).first() {
                place(&mut run.thread.list, answer(&open.call, INTERRUPTED));
            }
            Vec::new()
        }),
        ANSWERED.mend("cut-calls-told-only-once-in-a-process", |run, _| {
            if !cut_calls(run).is_empty() && run.memory["told"] != true {
                sound::mend(run);
                run.memory["told"] = json!(true);
            }
            Vec::new()
        }),
        ANSWERED.plant("cut-calls-told-in-the-request-but-not-kept", |agent, _| {
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
        }),
        ANSWERED.cut_calls("cut-calls-of-text-left-open", |run, open| {
            (run.thread.list[open.response]["content"] == "").then(|| INTERRUPTED.into())
        }),
        ANSWERED.cut_calls("cut-calls-of-returned-siblings-left-open", |run, open| {
            let behind = run.thread.list.get(open.response + 1);
            let is_alone = behind.is_none_or(|message| !is(message, "tool") || message["content"] == INTERRUPTED);
            is_alone.then(|| INTERRUPTED.into())
        }),
    ]
    .concat()
}
