//! SESSION-COMPACT and SESSION-COMPACT-WHOLE: what compaction tears apart.

use super::{Always, LongThread, NewStart, SecondSession, Shows, ThirdCall, ThirdRun, TwoCuts, bugs, is};
use crate::agent::calls;
use crate::planted::Planted;
use crate::threads::SessionAgent;
use crate::threads::run::{SessionRun, answers_behind};
use crate::threads::sound;
use serde_json::{Value, json};
use threadspec_golden::clause;
use threadspec_judge::json::list;

const COMPACT: &[&str] = &[clause::SESSION_COMPACT];
/// The run with the decision asks nothing, so that no request shows what was taken away: the decision names the fault.
const APPROVED: &[&str] = &[clause::SESSION_APPROVED];
const WHOLE: &[&str] = &[clause::SESSION_COMPACT_WHOLE];

/// Compacts in another way.
fn on_compact(agent: &mut SessionAgent, shows: Shows, compact: fn(&mut SessionRun, &Value)) {
    agent.compact = Box::new(move |run, budget| {
        if shows.holds(run) {
            compact(run, budget);
        } else {
            sound::compact(run, budget);
        }
    });
}

pub(super) fn all() -> Vec<Planted> {
    valid().into_iter().chain(whole()).collect()
}

fn valid() -> Vec<Planted> {
    const SOMEWHERE: &[Shows] = &[Always, ThirdRun, ThirdCall, TwoCuts, SecondSession, NewStart, LongThread];
    let mut all = Vec::new();
    all.extend(bugs("messages-counted-without-their-pairs", COMPACT, SOMEWHERE, |agent, shows| {
        on_compact(agent, shows, |run, budget| {
            let end = sound::room(&run.thread.list, budget);
            sound::take_away(run, end, budget);
        });
    }));
    all.extend(bugs(
        "responses-taken-but-not-their-answers",
        COMPACT,
        &[Always, ThirdRun, LongThread],
        |agent, shows| {
            on_compact(agent, shows, |run, _| run.thread.list.retain(|message| calls(message).is_empty()));
        },
    ));
    all.extend(bugs(
        "answers-taken-to-save-room",
        COMPACT,
        &[Always, ThirdCall, ThirdRun, LongThread],
        |agent, shows| {
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
        },
    ));
    all.extend(bugs("arguments-left-as-words-of-the-user", COMPACT, &[Always, LongThread], |agent, shows| {
        on_compact(agent, shows, |run, budget| {
            let all: Vec<Value> = run.thread.list.iter().flat_map(calls).collect();
            sound::compact(run, budget);
            if let Some(call) = all.iter().find(|call| call["args"] != json!({})) {
                run.thread.list.insert(0, json!({"type": "human", "content": call["args"].to_string()}));
            }
        });
    }));
    all.extend(bugs("summaries-told-twice", COMPACT, &[Always, LongThread], |agent, shows| {
        on_compact(agent, shows, |run, budget| {
            let before = run.summaries.len();
            sound::compact(run, budget);
            if run.summaries.len() > before {
                run.thread.list.insert(0, run.thread.list[0].clone());
            }
        });
    }));
    all.extend(bugs("system-message-compacted-away", COMPACT, &[Always, ThirdRun, SecondSession], |agent, shows| {
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
    }));
    all.extend(bugs("everything-compacted-away", COMPACT, &[Always, ThirdRun], |agent, shows| {
        agent.compact = Box::new(move |run, budget| {
            sound::compact(run, budget);
            run.thread.notes["empty"] = json!(shows.holds(run));
        });
        agent.request = Box::new(|run| {
            let request = sound::request(run);
            let is_empty = run.thread.notes["empty"] == true && run.turn == 0;
            if is_empty { Vec::new() } else { request }
        });
    }));
    all.extend(bugs("open-round-compacted-away", COMPACT, SOMEWHERE, |agent, shows| {
        on_compact(agent, shows, |run, budget| {
            if let Some(response) = run.last_round().filter(|_| is_open(run)) {
                // What waits for a decision is no longer there, but is still waited for.
                let end = answers_behind(&run.thread.list, response).end;
                let taken: Vec<Value> = run.thread.list.drain(response..end).collect();
                if let Some(summary) = sound::summarize(run, &taken, budget) {
                    run.thread.list.push(summary);
                }
            }
        });
    }));
    all.extend(bugs("pending-calls-compacted-away", APPROVED, &[Always, ThirdRun, ThirdCall], |agent, shows| {
        agent.compact = Box::new(move |run, budget| {
            sound::compact(run, budget);
            for call in run.waiting() {
                if shows.holds_for(run, &call) {
                    super::denials::leave_out(run, &call);
                }
            }
        });
    }));
    all.extend(bugs(
        "answers-of-the-open-round-compacted-away",
        COMPACT,
        &[Always, ThirdCall, ThirdRun],
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
    ));
    all
}

/// Whether the last response has calls, and the model has not been asked behind them.
fn is_open(run: &SessionRun) -> bool {
    run.last_round().is_some_and(|response| answers_behind(&run.thread.list, response).end == run.thread.list.len())
}

fn whole() -> Vec<Planted> {
    let mut all = Vec::new();
    all.extend(bugs(
        "parallel-calls-compacted-one-by-one",
        WHOLE,
        &[Always, ThirdRun, LongThread, ThirdCall],
        |agent, shows| {
            on_compact(agent, shows, |run, _| {
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
            });
        },
    ));
    all.extend(bugs("words-of-responses-compacted-away", WHOLE, &[Always, ThirdRun, LongThread], |agent, shows| {
        on_compact(agent, shows, |run, _| {
            let beside_calls = run.thread.list.iter_mut().filter(|message| !calls(message).is_empty());
            beside_calls.for_each(|message| message["content"] = "".into());
        });
    }));
    all.extend(bugs(
        "message-of-this-run-compacted-away",
        WHOLE,
        &[Always, ThirdRun, SecondSession, LongThread],
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
    ));
    all.extend(bugs(
        "message-before-the-open-turn-compacted-away",
        WHOLE,
        &[Always, ThirdRun, ThirdCall, LongThread],
        |agent, shows| {
            agent.compact = Box::new(move |run, budget| {
                if is_open(run) && shows.holds(run) {
                    let message = run.last("human").map_or(0, |message| message + 1);
                    sound::take_away(run, message, budget);
                } else {
                    sound::compact(run, budget);
                }
            });
        },
    ));
    all.extend(bugs("last-calls-of-responses-compacted-away", WHOLE, &[Always], |agent, _| {
        agent.compact = Box::new(|run, _| {
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
        });
    }));
    all
}
