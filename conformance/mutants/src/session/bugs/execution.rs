//! SESSION-ONCE: what is executed that no response asks for any more, or with arguments that are not its own.
//! SESSION-RAW: calls whose arguments are no JSON object.

use crate::session::prelude::*;

/// Where calls that were run before a cut can be run again.
pub(super) const AFTER_A_CUT_CALL: &[Shows] =
    &[Always, ThirdRun, ThirdCall, TwoCuts, SecondSession, NewStart, LongThread, BY_CANCEL, BY_THROW, BY_KILL];

impl SessionGroup {
    /// Runs the calls that had returned before a cut once more, each as it is changed.
    fn run_returned_again(self, name: &'static str, change: fn(&mut Value)) -> Vec<Planted> {
        self.mend(name, move |run, shows| {
            for response in
                cut_calls(run).into_iter().map(|open| open.response).collect::<std::collections::BTreeSet<_>>()
            {
                for mut call in returned(run, response) {
                    if shows.holds_for(run, &call) {
                        change(&mut call);
                        again(run, &call);
                    }
                }
            }
            sound::mend(run)
        })
    }
}

pub(super) fn all() -> Vec<Planted> {
    [
        ONCE.when(AFTER_A_CUT_CALL).run_returned_again("returned-calls-run-again-after-a-cut", |_| {}),
        ONCE.when(&[Always, BY_KILL, BY_CANCEL])
            .run_returned_again("returned-calls-run-again-under-another-id", |call| {
                call["id"] = format!("again_{}", text(&call["id"])).into()
            }),
        ONCE.when(&[Always, TwoCuts, ThirdCall, BY_KILL]).mend("told-calls-run-later", |run, shows| {
            for call in list(&run.thread.notes["told"].take()) {
                again(run, call);
            }
            let cut = cut_calls(run).into_iter().map(|open| open.call);
            let kept: Vec<Value> = cut.filter(|call| shows.holds_for(run, call)).collect();
            run.thread.notes["told"] = kept.into();
            sound::mend(run)
        }),
        ONCE.when(&[Always, ThirdCall]).mend("cut-calls-run-again-without-arguments", |run, shows| {
            let cut: Vec<Value> = cut_calls(run).into_iter().map(|open| open.call).collect();
            let without = cut.into_iter().map(|mut call| {
                if shows.holds_for(run, &call) {
                    call["args"] = json!({});
                }
                call
            });
            without.collect()
        }),
        ONCE.mend("cut-calls-run-again-with-a-siblings-arguments", |run, _| {
            let cut = cut_calls(run);
            let with_others = cut.into_iter().map(|open| {
                let calls = list(&run.thread.list[open.response]["tool_calls"]);
                let mut call = open.call;
                call["args"] = calls[(open.place + 1) % calls.len()]["args"].clone();
                call
            });
            with_others.collect()
        }),
        ONCE.when(&[Always, ThirdRun, ThirdCall, SecondSession, NewStart, LongThread]).execute(
            "calls-run-twice",
            |run, call, shows| {
                if shows.holds_for(run, call) {
                    again(run, call);
                }
                sound::execute(run, call)
            },
        ),
        ONCE.when(&[Always, ThirdRun, ThirdCall]).plant(
            "last-round-run-again-after-a-failing-model",
            |agent, shows| {
                agent.mend = Box::new(move |run| {
                    if run.thread.notes["failed"] == true && shows.holds(run) {
                        run_last_round_again(run, shows);
                    }
                    sound::mend(run)
                });
                agent.end =
                    Box::new(|run| run.thread.notes["failed"] = json!(run.failure.is_some() && run.cut.is_none()));
            },
        ),
        ONCE.when(&[Always, ThirdRun, ThirdCall, TwoCuts]).resume("last-round-run-again-by-resume", |run, shows| {
            if shows.holds(run) {
                run_last_round_again(run, shows);
            }
            sound::resume(run)
        }),
        ONCE.when(&[Always, ThirdRun, SecondSession, NewStart, LongThread])
            .as_loaded("calls-of-the-run-before-run-again", |run| run_last_round_again(run, Always)),
        ONCE.when(&[Always, ThirdRun, TwoCuts]).as_loaded("calls-that-nobody-made-are-run", |run| {
            run.executed.push(json!({"id": "call_of_nobody", "name": "look", "args": {}}));
        }),
        ONCE.when(&[Always, ThirdRun, ThirdCall]).execute(
            "calls-run-with-the-first-ones-arguments",
            |run, call, shows| {
                if shows.holds_for(run, call)
                    && let Some(response) = run.last_round()
                    && let Some(deed) = run.executed.last_mut()
                {
                    deed["args"] = run.thread.list[response]["tool_calls"][0]["args"].clone();
                }
                sound::execute(run, call)
            },
        ),
    ]
    .concat()
}

/// The calls of a response that were answered.
pub(super) fn returned(run: &SessionRun, response: usize) -> Vec<Value> {
    let answers = &run.thread.list[answers_behind(&run.thread.list, response)];
    let is_answered = |call: &&Value| answers.iter().any(|answer| answer["tool_call_id"] == call["id"]);
    list(&run.thread.list[response]["tool_calls"]).iter().filter(is_answered).cloned().collect()
}

fn run_last_round_again(run: &mut SessionRun, shows: Shows) {
    let Some(response) = run.last_round() else { return };
    for call in returned(run, response) {
        if shows != ThirdCall || run.place_of(&call) == 2 {
            again(run, &call);
        }
    }
}

/// Executes a call once more.
pub(super) fn again(run: &mut SessionRun, call: &Value) {
    run.executed.push(json!({"id": call["id"], "name": call["name"], "args": call["args"]}));
}

/// Does something else with a call of raw arguments.
fn on_raw(agent: &mut SessionAgent, shows: Shows, step: fn(&mut SessionRun, &Value) -> CallStep) {
    agent.step = Box::new(move |run, asked| {
        let is_raw = asked["call"]["raw"].is_string();
        if is_raw && shows.holds_for(run, &asked["call"]) { step(run, asked) } else { sound::step(run, asked) }
    });
}

impl SessionGroup {
    /// Does something else with a call of raw arguments.
    fn raw(self, name: &'static str, step: fn(&mut SessionRun, &Value) -> CallStep) -> Vec<Planted> {
        self.plant(name, move |agent, shows| on_raw(agent, shows, step))
    }
}

pub(super) fn raw() -> Vec<Planted> {
    const SOMEWHERE: &[Shows] = &[Always, ThirdRun, ThirdCall, SecondSession, NewStart, LongThread];
    [
        RAW.when(SOMEWHERE).raw("raw-calls-run-without-arguments", |_, _| CallStep::Execute),
        RAW.when(&[Always, ThirdRun, ThirdCall]).raw("raw-calls-end-the-run", |run, asked| {
            run.failure = Some("JSONDecodeError: Expecting value".into());
            sound::step(run, asked)
        }),
        RAW.when(SOMEWHERE).plant("raw-calls-left-open", |agent, shows| {
            on_raw(agent, shows, |_, _| CallStep::Leave);
            agent.mend = Box::new(|_| Vec::new());
        }),
        RAW.when(&[Always, ThirdCall, ThirdRun]).raw("raw-calls-left-out", |run, asked| {
            super::denials::leave_out(run, &asked["call"]);
            CallStep::Leave
        }),
        RAW.when(&[Always, ThirdCall, ThirdRun]).step("siblings-of-raw-calls-not-run", |run, asked, shows| {
            let step = sound::step(run, asked);
            let has_raw = run.last_round().is_some_and(|response| {
                list(&run.thread.list[response]["tool_calls"]).iter().any(|call| call["raw"].is_string())
            });
            match step {
                CallStep::Execute if has_raw && shows.holds_for(run, &asked["call"]) => {
                    CallStep::Tell("Not run.".into())
                }
                step => step,
            }
        }),
        RAW.when(&[Always, ThirdRun, SecondSession]).plant("model-not-asked-again-after-raw-calls", |agent, shows| {
            on_raw(agent, shows, |run, asked| {
                run.thread.notes["raw"] = json!(true);
                sound::step(run, asked)
            });
            agent.after_round = Box::new(|run| {
                if run.thread.notes["raw"].take() == true {
                    run.failure = Some(String::new());
                }
            });
            agent.reported = Box::new(|_, report| {
                if report["failure"] == "" {
                    report.as_object_mut().map(|members| members.remove("failure"));
                }
            });
        }),
        RAW.when(&[Always, ThirdRun, LongThread]).message(
            "threads-with-raw-calls-cannot-be-read",
            |run, words, shows| {
                let has_raw = run
                    .thread
                    .list
                    .iter()
                    .flat_map(|message| list(&message["tool_calls"]))
                    .any(|call| call["raw"].is_string());
                if has_raw && shows.holds(run) {
                    return Err("JSONDecodeError: Expecting value".into());
                }
                sound::message(run, words)
            },
        ),
        RAW.when(&[Always, ThirdCall]).raw("cut-objects-mended-and-run", |run, asked| {
            let raw = text(&asked["call"]["raw"]).to_owned();
            let mended =
                ["}", "\"}", "\"}]}", "1}", "null}"].iter().find_map(|end| sound::object(&format!("{raw}{end}")));
            let Some(args) = mended else { return sound::step(run, asked) };
            let mut call = asked["call"].clone();
            call["args"] = args;
            run_now(run, &call);
            CallStep::Leave
        }),
        RAW.raw("raw-calls-told-twice", |run, asked| {
            place(&mut run.thread.list, answer(&asked["call"], "Bad arguments."));
            sound::step(run, asked)
        }),
        RAW.raw("raw-calls-told-with-a-result", |run, asked| {
            let answer = sound::execute(run, &asked["call"]);
            place(&mut run.thread.list, answer);
            CallStep::Leave
        }),
    ]
    .concat()
}
