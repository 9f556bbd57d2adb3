//! SESSION-RAW: calls whose arguments are no JSON object.

use super::{Always, LongThread, NewStart, SecondSession, Shows, ThirdCall, ThirdRun, bugs};
use crate::agent::answer;
use crate::planted::Planted;
use crate::threads::SessionAgent;
use crate::threads::run::{CallStep, SessionRun, place};
use crate::threads::sound;
use serde_json::{Value, json};
use threadspec_golden::clause;
use threadspec_judge::json::{list, text};

const RAW: &[&str] = &[clause::SESSION_RAW];

/// Does something else with a call of raw arguments.
fn on_raw(agent: &mut SessionAgent, shows: Shows, step: fn(&mut SessionRun, &Value) -> CallStep) {
    agent.step = Box::new(move |run, asked| {
        let is_raw = asked["call"]["raw"].is_string();
        if is_raw && shows.holds_for(run, &asked["call"]) { step(run, asked) } else { sound::step(run, asked) }
    });
}

pub(super) fn all() -> Vec<Planted> {
    const SOMEWHERE: &[Shows] = &[Always, ThirdRun, ThirdCall, SecondSession, NewStart, LongThread];
    let mut all = Vec::new();
    all.extend(bugs("raw-calls-run-without-arguments", RAW, SOMEWHERE, |agent, shows| {
        on_raw(agent, shows, |_, _| CallStep::Execute);
    }));
    all.extend(bugs("raw-calls-end-the-run", RAW, &[Always, ThirdRun, ThirdCall], |agent, shows| {
        on_raw(agent, shows, |run, asked| {
            run.failure = Some("JSONDecodeError: Expecting value".into());
            sound::step(run, asked)
        });
    }));
    all.extend(bugs("raw-calls-left-open", RAW, SOMEWHERE, |agent, shows| {
        on_raw(agent, shows, |_, _| CallStep::Leave);
        agent.mend = Box::new(|_| Vec::new());
    }));
    all.extend(bugs("raw-calls-left-out", RAW, &[Always, ThirdCall, ThirdRun], |agent, shows| {
        on_raw(agent, shows, |run, asked| {
            super::denials::leave_out(run, &asked["call"]);
            CallStep::Leave
        });
    }));
    all.extend(bugs("siblings-of-raw-calls-not-run", RAW, &[Always, ThirdCall, ThirdRun], |agent, shows| {
        agent.step = Box::new(move |run, asked| {
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
        });
    }));
    all.extend(bugs(
        "model-not-asked-again-after-raw-calls",
        RAW,
        &[Always, ThirdRun, SecondSession],
        |agent, shows| {
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
        },
    ));
    all.extend(bugs("threads-with-raw-calls-cannot-be-read", RAW, &[Always, ThirdRun, LongThread], |agent, shows| {
        agent.message = Box::new(move |run, words| {
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
        });
    }));
    all.extend(bugs("cut-objects-mended-and-run", RAW, &[Always, ThirdCall], |agent, shows| {
        on_raw(agent, shows, |run, asked| {
            let raw = text(&asked["call"]["raw"]).to_owned();
            let mended =
                ["}", "\"}", "\"}]}", "1}", "null}"].iter().find_map(|end| sound::object(&format!("{raw}{end}")));
            let Some(args) = mended else { return sound::step(run, asked) };
            let mut call = asked["call"].clone();
            call["args"] = args;
            super::run_now(run, &call);
            CallStep::Leave
        });
    }));
    all.extend(bugs("raw-calls-told-twice", RAW, &[Always], |agent, shows| {
        on_raw(agent, shows, |run, asked| {
            place(&mut run.thread.list, answer(&asked["call"], "Bad arguments."));
            sound::step(run, asked)
        });
    }));
    all.extend(bugs("raw-calls-told-with-a-result", RAW, &[Always], |agent, shows| {
        on_raw(agent, shows, |run, asked| {
            let answer = sound::execute(run, &asked["call"]);
            place(&mut run.thread.list, answer);
            CallStep::Leave
        });
    }));
    all
}
