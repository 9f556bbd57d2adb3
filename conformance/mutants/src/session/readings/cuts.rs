//! What may become of a cut response, and of a run that ended early.

use super::never_compacts;
use crate::session::prelude::*;
use threadspec_judge::protocol::Saves;

pub(super) fn all() -> Vec<Planted> {
    told().into_iter().chain(left_out()).chain(again()).chain(ended()).collect()
}

fn told() -> Vec<Planted> {
    [
        FREE.tells("cut-calls-told-in-other-words", |_, _| "[Tool use interrupted by user]".into()),
        FREE.tells("cut-calls-told-an-error-in-json", |_, call| {
            json!({"error": "cancelled", "id": call["id"]}).to_string()
        }),
        FREE.tells("cut-calls-told-nothing-in-an-empty-answer", |_, _| String::new()),
        FREE.cut("cut-calls-told-at-the-cut", |run, _, _| drop(sound::mend(run))),
        FREE.mend("cut-calls-told-before-a-run-that-is-replaced", |run, _| {
            sound::mend(run);
            let mended = run.thread.list.clone();
            run.thread.before.entry(run.number).and_modify(|before| *before = mended);
            Vec::new()
        }),
        FREE.cut("cut-calls-told-at-the-cut-but-for-a-limit", |run, by, _| {
            if *by != CutBy::Limit {
                sound::mend(run);
            }
        }),
        FREE.plant("cut-calls-told-and-a-user-message-says-so", |agent, _| {
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
        FREE.reported("calls-that-throw-reported-like-others", |run, report, _| {
            let deeds = report["executed"].as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut);
            deeds.filter(|_| run.cut == Some(CutBy::Throw)).for_each(|deed| drop(deed.remove("returned")));
        }),
        FREE.cut("a-limit-told-as-an-assistant-message", |run, by, _| {
            if *by == CutBy::Limit {
                sound::mend(run);
                run.thread.list.push(json!({"type": "ai", "content": "Model call limits exceeded."}));
            }
        }),
        FREE.mend("answers-to-cut-calls-in-another-order", |run, _| {
            for open in cut_calls(run) {
                run.thread.list.insert(open.response + 1, answer(&open.call, INTERRUPTED));
            }
            Vec::new()
        }),
        FREE.tells("cut-calls-told-which-they-were", |run, call| {
            format!("Call {} of {} was stopped.", run.place_of(call) + 1, run.number)
        }),
    ]
    .concat()
}

fn left_out() -> Vec<Planted> {
    [
        FREE.plant("cut-calls-left-out", |agent, _| {
            never_compacts(agent);
            agent.mend = Box::new(|run| {
                leave_out_cut_calls(run);
                Vec::new()
            });
        }),
        FREE.mend("responses-dropped-where-nothing-had-returned", |run, _| {
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
        }),
        FREE.plant("cut-calls-left-out-at-the-cut", |agent, _| {
            never_compacts(agent);
            agent.cut = Box::new(|run, _| leave_out_cut_calls(run));
        }),
        FREE.plant("only-the-calls-that-never-began-left-out", |agent, _| {
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
    .concat()
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
    [
        FREE.plant("cut-calls-run-again-before-the-next-message", |agent, _| {
            keep_approved(agent);
            agent.mend = Box::new(cut_calls_as_approved);
        }),
        FREE.plant("cut-calls-run-again-by-resume-alone", |agent, _| {
            keep_approved(agent);
            agent.mend = Box::new(|run| {
                if run.script()["resume"] == true {
                    return cut_calls_as_approved(run);
                }
                sound::mend(run)
            });
        }),
        FREE.plant("cut-calls-run-again-under-another-id", |agent, _| {
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
        FREE.plant("messages-refused-until-a-cut-thread-is-resumed", |agent, _| {
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
        FREE.plant("resume-with-nothing-to-go-on-with-does-nothing", |agent, _| {
            agent.resume = Box::new(|run| {
                run.thread.notes["done"] = json!(sound::resume(run).is_err() && run.thread.pending.is_empty());
                if run.thread.notes["done"] == true { Ok(()) } else { sound::resume(run) }
            });
            agent.asks = Box::new(|run| run.script()["resume"] != true || run.thread.notes["done"] != true);
        }),
        FREE.resume("resume-with-nothing-to-go-on-with-asks", |run, _| {
            // There is nothing to ask of an empty thread.
            let is_refused = !run.thread.pending.is_empty() || run.thread.list.is_empty();
            if is_refused { sound::resume(run) } else { Ok(()) }
        }),
        FREE.plant("resume-says-continue-as-the-user", |agent, _| {
            never_compacts(agent);
            agent.resume = Box::new(|run| {
                sound::resume(run)?;
                sound::say(run, "Continue.");
                Ok(())
            });
        }),
        FREE.batches("calls-executed-one-by-one", |_, calls, _| calls.iter().map(|call| vec![call.clone()]).collect()),
    ]
    .concat()
}

fn ended() -> Vec<Planted> {
    [
        FREE.plant("only-whole-runs-saved", |agent, _| {
            agent.abilities.saves = Saves::Run;
            agent.saves = Box::new(|run, moment| match moment {
                Moment::End => run.failure.is_none(),
                _ => false,
            });
        }),
        FREE.plant("only-whole-rounds-saved", |agent, _| saves_rounds(agent)),
        FREE.message("user-messages-joined-after-a-failing-model", |run, words, _| {
            let before = run.thread.list.pop_if(|last| last["type"] == "human");
            let joined = before.map(|last| format!("{}\n\n{words}", last["content"].as_str().unwrap_or_default()));
            sound::message(run, joined.as_deref().unwrap_or(words))
        }),
        FREE.cut("cancelled-runs-say-so-as-a-failure", |run, by, _| {
            if *by == CutBy::Cancel {
                run.failure = Some("CancelledError".into());
            }
        }),
        FREE.cut("a-limit-is-told-as-a-failure", |run, by, _| {
            if *by == CutBy::Limit {
                run.failure = Some("GraphRecursionError: recursion limit reached".into());
            }
        }),
        FREE.end("empty-last-answers-not-kept", |run, _| {
            run.thread.list.pop_if(|last| last["type"] == "ai" && last["content"] == "" && calls(last).is_empty());
        }),
        FREE.plant("exceptions-of-tools-answered-like-failures", |agent, _| {
            // There was no cut, then: the run goes on.
            agent.is_cut = Box::new(|_, by| *by != CutBy::Throw);
        }),
    ]
    .concat()
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
