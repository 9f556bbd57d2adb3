//! SESSION-COMPACT and SESSION-COMPACT-WHOLE: what compaction tears apart.

use crate::session::prelude::*;

const COMPACT: SessionGroup = breaking(&[clause::SESSION_COMPACT]);
/// The run with the decision asks nothing, so that no request shows what was taken away: the decision names the fault.
const WHOLE: SessionGroup = breaking(&[clause::SESSION_COMPACT_WHOLE]);

impl SessionGroup {
    /// Compacts in another way.
    fn compacts(self, name: &'static str, compact: fn(&mut SessionRun, &Value)) -> Vec<Planted> {
        self.compact(name, move |run, budget, shows| {
            if shows.holds(run) {
                compact(run, budget);
            } else {
                sound::compact(run, budget);
            }
        })
    }
}

pub(super) fn all() -> Vec<Planted> {
    valid().into_iter().chain(whole()).collect()
}

fn valid() -> Vec<Planted> {
    const SOMEWHERE: &[Shows] = &[Always, ThirdRun, ThirdCall, TwoCuts, SecondSession, NewStart, LongThread];
    [
        COMPACT.when(SOMEWHERE).compacts("messages-counted-without-their-pairs", |run, budget| {
            let end = sound::room(&run.thread.list, budget);
            sound::take_away(run, end, budget);
        }),
        COMPACT.when(&[Always, ThirdRun, LongThread]).compacts("responses-taken-but-not-their-answers", |run, _| {
            run.thread.list.retain(|message| calls(message).is_empty())
        }),
        COMPACT.when(&[Always, ThirdCall, ThirdRun, LongThread]).plant("answers-taken-to-save-room", |agent, shows| {
            agent.compact = Box::new(move |run, _| {
                for index in (0..run.thread.list.len())
                    .rev()
                    .filter(|&index| is(&run.thread.list[index], "tool"))
                    .collect::<Vec<_>>()
                {
                    let call = json!({"id": run.thread.list[index]["tool_call_id"]});
                    if shows.holds_for(run, &call) {
                        run.thread.list.remove(index);
                    }
                }
            });
            agent.mend = Box::new(|_| Vec::new());
        }),
        COMPACT.when(&[Always, LongThread]).compacts("arguments-left-as-words-of-the-user", |run, budget| {
            let all: Vec<Value> = run.thread.list.iter().flat_map(calls).collect();
            sound::compact(run, budget);
            if let Some(call) = all.iter().find(|call| call["args"] != json!({})) {
                run.thread.list.insert(0, json!({"type": "human", "content": call["args"].to_string()}));
            }
        }),
        COMPACT.when(&[Always, LongThread]).compacts("summaries-told-twice", |run, budget| {
            let before = run.summaries.len();
            sound::compact(run, budget);
            if run.summaries.len() > before {
                run.thread.list.insert(0, run.thread.list[0].clone());
            }
        }),
        COMPACT.when(&[Always, ThirdRun, SecondSession]).plant("system-message-compacted-away", |agent, shows| {
            agent.compact = Box::new(move |run, budget| {
                sound::compact(run, budget);
                run.thread.notes["systemless"] = json!(shows.holds(run));
            });
            agent.request = Box::new(|run| {
                let mut request = sound::request(run);
                if run.thread.notes["systemless"] == true {
                    request.retain(|message| !is(message, "system"));
                }
                request
            });
        }),
        COMPACT.when(&[Always, ThirdRun]).plant("everything-compacted-away", |agent, shows| {
            agent.compact = Box::new(move |run, budget| {
                sound::compact(run, budget);
                run.thread.notes["empty"] = json!(shows.holds(run));
            });
            agent.request = Box::new(|run| {
                let request = sound::request(run);
                let is_empty = run.thread.notes["empty"] == true && run.turn == 0;
                if is_empty { Vec::new() } else { request }
            });
        }),
        COMPACT.when(SOMEWHERE).compacts("open-round-compacted-away", |run, budget| {
            if let Some(response) = run.last_round().filter(|_| is_open(run)) {
                // What waits for a decision is no longer there, but is still waited for.
                let end = answers_behind(&run.thread.list, response).end;
                let taken: Vec<Value> = run.thread.list.drain(response..end).collect();
                if let Some(summary) = sound::summarize(run, &taken, budget) {
                    run.thread.list.push(summary);
                }
            }
        }),
        APPROVED.when(&[Always, ThirdRun, ThirdCall]).compact("pending-calls-compacted-away", |run, budget, shows| {
            sound::compact(run, budget);
            for call in run.waiting() {
                if shows.holds_for(run, &call) {
                    super::denials::leave_out(run, &call);
                }
            }
        }),
        COMPACT.when(&[Always, ThirdCall, ThirdRun]).plant(
            "answers-of-the-open-round-compacted-away",
            |agent, shows| {
                agent.compact = Box::new(move |run, budget| {
                    sound::compact(run, budget);
                    let Some(response) = run.last_round().filter(|_| is_open(run)) else { return };
                    for index in answers_behind(&run.thread.list, response).rev() {
                        let call = json!({"id": run.thread.list[index]["tool_call_id"]});
                        if shows.holds_for(run, &call) {
                            run.thread.list.remove(index);
                        }
                    }
                });
                agent.mend =
                    Box::new(|run| if run.script()["compact"].is_object() { sound::mend(run) } else { Vec::new() });
            },
        ),
    ]
    .concat()
}

/// Returns whether the last response has calls, and the model has not been asked behind them.
fn is_open(run: &SessionRun) -> bool {
    run.last_round().is_some_and(|response| answers_behind(&run.thread.list, response).end == run.thread.list.len())
}

fn whole() -> Vec<Planted> {
    [
        WHOLE.when(&[Always, ThirdRun, LongThread, ThirdCall]).compacts(
            "parallel-calls-compacted-one-by-one",
            |run, _| {
                // The first call of each closed response goes with its answer, its siblings stay.
                let end = if is_open(run) { run.last_round().unwrap_or_default() } else { run.thread.list.len() };
                for response in (0..end).rev() {
                    let made = calls(&run.thread.list[response]);
                    if made.len() < 2 {
                        continue;
                    }
                    let gone = &made[0]["id"];
                    let answers = answers_behind(&run.thread.list, response);
                    let own = answers.clone().find(|&index| run.thread.list[index]["tool_call_id"] == *gone);
                    own.map(|own| run.thread.list.remove(own));
                    run.thread.list[response]["tool_calls"] = list(&made.into())[1..].to_vec().into();
                }
            },
        ),
        WHOLE.when(&[Always, ThirdRun, LongThread]).compacts("words-of-responses-compacted-away", |run, _| {
            let beside_calls = run.thread.list.iter_mut().filter(|message| !calls(message).is_empty());
            beside_calls.for_each(|message| message["content"] = "".into());
        }),
        WHOLE.when(&[Always, ThirdRun, SecondSession, LongThread]).plant(
            "message-of-this-run-compacted-away",
            |agent, shows| {
                agent.compact = Box::new(move |run, budget| {
                    run.thread.notes["unheard"] = json!(shows.holds(run));
                    sound::compact(run, budget);
                });
                agent.message = Box::new(|run, words| {
                    sound::message(run, words)?;
                    // The list must not be empty.
                    if run.thread.notes["unheard"].take() == true && run.thread.list.len() > 1 {
                        run.thread.list.pop();
                    }
                    Ok(())
                });
            },
        ),
        WHOLE.when(&[Always, ThirdRun, ThirdCall, LongThread]).compact(
            "message-before-the-open-turn-compacted-away",
            |run, budget, shows| {
                if is_open(run) && shows.holds(run) {
                    let message = run.last("human").map_or(0, |message| message + 1);
                    sound::take_away(run, message, budget);
                } else {
                    sound::compact(run, budget);
                }
            },
        ),
        WHOLE.compact("last-calls-of-responses-compacted-away", |run, _, _| {
            for response in (0..run.thread.list.len()).rev() {
                let made = calls(&run.thread.list[response]);
                if made.len() > 1 && !(is_open(run) && Some(response) == run.last_round()) {
                    // The last call of each goes with its answer.
                    let answers = answers_behind(&run.thread.list, response);
                    if answers.len() == made.len() {
                        run.thread.list.remove(answers.end - 1);
                        run.thread.list[response]["tool_calls"] = made[..made.len() - 1].to_vec().into();
                    }
                }
            }
        }),
    ]
    .concat()
}
