//! What may become of a cut response, and of a run that ended early.

use super::{SessionAgent, never_compacts, reading, tells};
use crate::agent::{answer, calls};
use crate::planted::Planted;
use crate::threads::run::{CutBy, Moment, SessionRun, answers_behind, place};
use crate::threads::sound::{self, INTERRUPTED, cut_calls};
use serde_json::{Value, json};
use threadspec_judge::protocol::Saves;

pub(super) fn all() -> Vec<Planted> {
    told().into_iter().chain(left_out()).chain(again()).chain(ended()).collect()
}

fn told() -> Vec<Planted> {
    vec![
        reading("cut-calls-told-in-other-words", |agent| tells(agent, |_, _| "[Tool use interrupted by user]".into())),
        reading("cut-calls-told-an-error-in-json", |agent| {
            tells(agent, |_, call| json!({"error": "cancelled", "id": call["id"]}).to_string());
        }),
        reading("cut-calls-told-nothing-in-an-empty-answer", |agent| tells(agent, |_, _| String::new())),
        reading("cut-calls-told-at-the-cut", |agent| {
            agent.cut = Box::new(|run, _| drop(sound::mend(run)));
        }),
        reading("cut-calls-told-before-a-run-that-is-replaced", |agent| {
            agent.mend = Box::new(|run| {
                sound::mend(run);
                let mended = run.thread.list.clone();
                run.thread.before.entry(run.number).and_modify(|before| *before = mended);
                Vec::new()
            });
        }),
        reading("cut-calls-told-at-the-cut-but-for-a-limit", |agent| {
            agent.cut = Box::new(|run, by| {
                if *by != CutBy::Limit {
                    sound::mend(run);
                }
            });
        }),
        reading("cut-calls-told-and-a-user-message-says-so", |agent| {
            never_compacts(agent);
            agent.mend = Box::new(|run| {
                // While a call waits, it would go past it.
                let is_cut = !cut_calls(run).is_empty() && run.thread.pending.is_empty();
                sound::mend(run);
                if is_cut {
                    sound::say(run, "[Request interrupted by user]");
                }
                Vec::new()
            });
        }),
        reading("calls-that-throw-reported-like-others", |agent| {
            agent.reported = Box::new(|run, report| {
                let deeds = report["executed"].as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut);
                deeds.filter(|_| run.cut == Some(CutBy::Throw)).for_each(|deed| drop(deed.remove("returned")));
            });
        }),
        reading("a-limit-told-as-an-assistant-message", |agent| {
            agent.cut = Box::new(|run, by| {
                if *by == CutBy::Limit {
                    sound::mend(run);
                    run.thread.list.push(json!({"type": "ai", "content": "Model call limits exceeded."}));
                }
            });
        }),
        reading("answers-to-cut-calls-in-another-order", |agent| {
            agent.mend = Box::new(|run| {
                for open in cut_calls(run) {
                    run.thread.list.insert(open.response + 1, answer(&open.call, INTERRUPTED));
                }
                Vec::new()
            });
        }),
        reading("cut-calls-told-which-they-were", |agent| {
            tells(agent, |run, call| format!("Call {} of {} was stopped.", run.place_of(call) + 1, run.number));
        }),
    ]
}

fn left_out() -> Vec<Planted> {
    vec![
        reading("cut-calls-left-out", |agent| {
            never_compacts(agent);
            agent.mend = Box::new(|run| {
                leave_out_cut_calls(run);
                Vec::new()
            });
        }),
        reading("responses-dropped-where-nothing-had-returned", |agent| {
            agent.mend = Box::new(|run| {
                let responses: Vec<usize> = cut_calls(run).iter().map(|open| open.response).collect();
                for response in responses.into_iter().rev() {
                    // What waits for a decision is not dropped.
                    let made = run.thread.list.get(response).map(calls).unwrap_or_default();
                    let is_whole = !made.is_empty() && !made.iter().any(|call| run.is_waiting(call));
                    if is_whole && answers_behind(&run.thread.list, response).is_empty() {
                        run.thread.list.remove(response);
                    }
                }
                sound::mend(run)
            });
        }),
        reading("cut-calls-left-out-at-the-cut", |agent| {
            never_compacts(agent);
            agent.cut = Box::new(|run, _| leave_out_cut_calls(run));
        }),
        reading("only-the-calls-that-never-began-left-out", |agent| {
            never_compacts(agent);
            agent.cut = Box::new(|run, _| {
                let is_begun = |call: &Value| run.executed.iter().any(|deed| deed["id"] == call["id"]);
                let never: Vec<Value> =
                    cut_calls(run).into_iter().map(|open| open.call).filter(|call| !is_begun(call)).collect();
                let response = run.last_round();
                if let Some(response) = response.filter(|_| !never.is_empty()) {
                    sound::leave_out(&mut run.thread.list, response, |call| {
                        never.iter().any(|own| own["id"] == call["id"])
                    });
                }
            });
        }),
    ]
}

/// Leaves each cut call out of its response; without calls, text and answers the response goes.
fn leave_out_cut_calls(run: &mut SessionRun) {
    let cut = cut_calls(run);
    let mut responses: Vec<usize> = cut.iter().map(|open| open.response).collect();
    responses.dedup();
    for response in responses.into_iter().rev() {
        let own = |call: &Value| cut.iter().any(|open| open.response == response && open.call["id"] == call["id"]);
        sound::leave_out(&mut run.thread.list, response, own);
    }
}

/// Remembers the calls that were approved, with the arguments of the decision.
fn keep_approved(agent: &mut SessionAgent) {
    agent.decisions = Box::new(|run, decisions| {
        let approved = sound::decisions(run, decisions)?;
        for call in &approved {
            run.thread.notes["approved"][call["id"].as_str().unwrap_or_default()] = call.clone();
        }
        Ok(approved)
    });
}

/// The cut calls that can be run again; those that were approved, as they were approved. One that never waited for its decision, or whose
/// arguments are no object, is told.
fn cut_calls_as_approved(run: &mut SessionRun) -> Vec<Value> {
    let mut again = Vec::new();
    for open in cut_calls(run) {
        let call = open.call;
        let approved = run.thread.notes["approved"][call["id"].as_str().unwrap_or_default()].clone();
        let name = call["name"].as_str().unwrap_or_default();
        let is_guarded = run.speaker()["tools"][name]["approval"] == true;
        if approved.is_object() {
            again.push(approved);
        } else if is_guarded || call["raw"].is_string() {
            place(&mut run.thread.list, answer(&call, INTERRUPTED));
        } else {
            again.push(call);
        }
    }
    again
}

fn again() -> Vec<Planted> {
    vec![
        reading("cut-calls-run-again-before-the-next-message", |agent| {
            keep_approved(agent);
            agent.mend = Box::new(cut_calls_as_approved);
        }),
        reading("cut-calls-run-again-by-resume-alone", |agent| {
            keep_approved(agent);
            agent.mend = Box::new(|run| {
                if run.script()["resume"] == true {
                    return cut_calls_as_approved(run);
                }
                sound::mend(run)
            });
        }),
        reading("cut-calls-run-again-under-another-id", |agent| {
            keep_approved(agent);
            agent.mend = Box::new(|run| {
                for call in cut_calls_as_approved(run) {
                    let id = call["id"].as_str().unwrap_or_default();
                    let is_hand_over = call["name"].as_str().is_some_and(|name| name.starts_with("transfer_to_"));
                    let new = if is_hand_over { id.to_owned() } else { format!("{id}_again") };
                    run.executed.push(json!({"id": new, "name": call["name"], "args": call["args"]}));
                    let answer = sound::execute(run, &call);
                    place(&mut run.thread.list, answer);
                }
                Vec::new()
            });
        }),
        reading("messages-refused-until-a-cut-thread-is-resumed", |agent| {
            agent.mend =
                Box::new(|run| if run.script()["message"].is_string() { Vec::new() } else { sound::mend(run) });
            agent.message = Box::new(|run, words| {
                if cut_calls(run).is_empty() {
                    sound::message(run, words)
                } else {
                    Err("The last run was cut off; resume it first.".into())
                }
            });
        }),
        reading("resume-with-nothing-to-go-on-with-does-nothing", |agent| {
            agent.resume = Box::new(|run| {
                run.thread.notes["done"] = json!(sound::resume(run).is_err() && run.thread.pending.is_empty());
                if run.thread.notes["done"] == true { Ok(()) } else { sound::resume(run) }
            });
            agent.asks = Box::new(|run| run.script()["resume"] != true || run.thread.notes["done"] != true);
        }),
        reading("resume-with-nothing-to-go-on-with-asks", |agent| {
            agent.resume = Box::new(|run| {
                // There is nothing to ask of an empty thread.
                let is_refused = !run.thread.pending.is_empty() || run.thread.list.is_empty();
                if is_refused { sound::resume(run) } else { Ok(()) }
            });
        }),
        reading("resume-says-continue-as-the-user", |agent| {
            never_compacts(agent);
            agent.resume = Box::new(|run| {
                sound::resume(run)?;
                sound::say(run, "Continue.");
                Ok(())
            });
        }),
        reading("calls-executed-one-by-one", |agent| {
            agent.batches = Box::new(|_, calls| calls.iter().map(|call| vec![call.clone()]).collect());
        }),
    ]
}

fn ended() -> Vec<Planted> {
    vec![
        reading("only-whole-runs-saved", |agent| {
            agent.abilities.saves = Saves::Run;
            agent.saves = Box::new(|run, moment| match moment {
                Moment::End => run.failure.is_none(),
                _ => false,
            });
        }),
        reading("only-whole-rounds-saved", saves_rounds),
        reading("user-messages-joined-after-a-failing-model", |agent| {
            agent.message = Box::new(|run, words| {
                let before = run.thread.list.pop_if(|last| last["type"] == "human");
                let joined = before.map(|last| format!("{}\n\n{words}", last["content"].as_str().unwrap_or_default()));
                sound::message(run, joined.as_deref().unwrap_or(words))
            });
        }),
        reading("cancelled-runs-say-so-as-a-failure", |agent| {
            agent.cut = Box::new(|run, by| {
                if *by == CutBy::Cancel {
                    run.failure = Some("CancelledError".into());
                }
            });
        }),
        reading("a-limit-is-told-as-a-failure", |agent| {
            agent.cut = Box::new(|run, by| {
                if *by == CutBy::Limit {
                    run.failure = Some("GraphRecursionError: recursion limit reached".into());
                }
            });
        }),
        reading("empty-last-answers-not-kept", |agent| {
            agent.end = Box::new(|run| {
                run.thread.list.pop_if(|last| last["type"] == "ai" && last["content"] == "" && calls(last).is_empty());
            });
        }),
        reading("exceptions-of-tools-answered-like-failures", |agent| {
            // There was no cut, then: the run goes on.
            agent.is_cut = Box::new(|_, by| *by != CutBy::Throw);
        }),
    ]
}

/// Rounds are saved whole, a user message with its first round.
fn saves_rounds(agent: &mut SessionAgent) {
    agent.abilities.saves = Saves::Round;
    agent.saves = Box::new(|run, moment| match moment {
        Moment::Round => run.thread.pending.is_empty(),
        Moment::End => true,
        _ => false,
    });
}
