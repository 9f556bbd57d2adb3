//! What may be done about calls that wait for a decision, raw calls and hand-overs.

use super::{SessionAgent, never_compacts, reading};
use crate::agent::answer;
use crate::planted::Planted;
use crate::threads::run::{CallStep, MAIN, SessionRun, answers_behind, place};
use crate::threads::sound;
use serde_json::{Value, json};
use threadspec_judge::json::{list, text};

pub(super) fn all() -> Vec<Planted> {
    approvals().into_iter().chain(passed()).chain(raw()).chain(hand_overs()).collect()
}

fn approvals() -> Vec<Planted> {
    vec![
        reading("siblings-executed-after-the-decision", |agent| {
            agent.batches = Box::new(|run, calls| {
                let is_first_time = list(&run.thread.notes["held"]).is_empty();
                if run.thread.pending.is_empty() || !is_first_time {
                    return vec![calls.clone()];
                }
                run.thread.notes["held"] = calls.clone().into();
                Vec::new()
            });
            agent.mend = Box::new(|run| {
                let held = run.thread.notes["held"].clone();
                sound::mend_with(run, |_, open| {
                    let is_held = list(&held).iter().any(|call| call["id"] == open.call["id"]);
                    (!is_held).then(|| sound::INTERRUPTED.into())
                });
                Vec::new()
            });
            agent.decisions = Box::new(|run, decisions| {
                let mut approved = sound::decisions(run, decisions)?;
                approved.extend_from_slice(list(&run.thread.notes["held"].take()));
                Ok(approved)
            });
        }),
        reading("answers-in-the-order-of-the-decisions", |agent| {
            agent.place = Box::new(|run, answer| {
                let made = |message: &Value| {
                    list(&message["tool_calls"]).iter().any(|call| call["id"] == answer["tool_call_id"])
                };
                let response = run.thread.list.iter().rposition(made);
                let end = response.map(|response| answers_behind(&run.thread.list, response).end);
                let end = end.unwrap_or(run.thread.list.len());
                run.thread.list.insert(end, answer.clone());
            });
        }),
        reading("edited-arguments-in-the-history", |agent| {
            agent.decisions = Box::new(|run, decisions| {
                let approved = sound::decisions(run, decisions)?;
                for call in &approved {
                    let response = run.last_round().unwrap_or_default();
                    let made = run.thread.list[response]["tool_calls"].as_array_mut().into_iter().flatten();
                    made.filter(|own| own["id"] == call["id"]).for_each(|own| own["args"] = call["args"].clone());
                }
                Ok(approved)
            });
        }),
        reading("a-note-about-the-edit-beside-the-result", |agent| {
            agent.execute = Box::new(|run, call| {
                let mut answer = sound::execute(run, call);
                let is_edited = run.script()["decisions"][text(&call["id"])]["args"].is_object();
                if is_edited {
                    answer["content"] =
                        format!("{}\n(The user changed the arguments.)", text(&answer["content"])).into();
                }
                answer
            });
        }),
        reading("incomplete-decisions-taken", |agent| {
            agent.decisions = Box::new(|run, decisions| {
                if run.thread.pending.is_empty() {
                    return sound::decisions(run, decisions);
                }
                Ok(sound::decide(run, decisions, sound::denial))
            });
        }),
        reading("denials-in-other-words", |agent| {
            agent.decisions = Box::new(|run, decisions| {
                sound::check(run, decisions)?;
                Ok(sound::decide(run, decisions, |_, call, decision| {
                    let told = json!({"status": "rejected", "id": call["id"], "feedback": decision["reason"]});
                    Some(told.to_string().into())
                }))
            });
        }),
        reading("pending-calls-kept-in-the-cut-response-told", |agent| {
            // A cut takes what waited with it.
            agent.cut = Box::new(|run, _| run.thread.pending.clear());
        }),
    ]
}

/// Tells or leaves out what waits when a message goes past.
fn passes(agent: &mut SessionAgent, pass: fn(&mut SessionRun, &Value)) {
    agent.message = Box::new(move |run, words| {
        for call in run.waiting() {
            pass(run, &call);
        }
        run.thread.pending.clear();
        sound::message(run, words)
    });
}

fn tell_passed(run: &mut SessionRun, call: &Value) {
    place(&mut run.thread.list, answer(call, "Not run: the user went on."));
}

fn passed() -> Vec<Planted> {
    vec![
        reading("pending-calls-told-when-a-message-goes-past", |agent| passes(agent, tell_passed)),
        reading("pending-calls-left-out-when-a-message-goes-past", |agent| {
            passes(agent, |run, call| {
                if let Some(response) = run.last_round() {
                    sound::leave_out(&mut run.thread.list, response, |own| own["id"] == call["id"]);
                }
            });
        }),
        reading("late-decisions-ask-the-model", |agent| {
            passes(agent, tell_passed);
            // Compaction may take all of a closed thread, and then there is nothing to ask.
            never_compacts(agent);
            agent.decisions =
                Box::new(
                    |run, decisions| {
                        if run.thread.pending.is_empty() { Ok(Vec::new()) } else { sound::decisions(run, decisions) }
                    },
                );
        }),
        reading("late-decisions-do-nothing", |agent| {
            passes(agent, tell_passed);
            agent.decisions = Box::new(|run, decisions| {
                run.thread.notes["late"] = json!(run.thread.pending.is_empty());
                if run.thread.pending.is_empty() { Ok(Vec::new()) } else { sound::decisions(run, decisions) }
            });
            agent.asks = Box::new(|run| !run.script()["decisions"].is_object() || run.thread.notes["late"] != true);
        }),
    ]
}

fn raw() -> Vec<Planted> {
    vec![
        reading("raw-arguments-sent-back-as-an-empty-object", |agent| {
            agent.response = Box::new(|_, message| {
                for call in super::calls_mut(message) {
                    call.as_object_mut().map(|members| members.remove("raw"));
                }
            });
            on_raw(agent, |_, _| CallStep::Tell("These are no arguments.".into()));
        }),
        reading("raw-arguments-sent-back-as-a-string", |agent| {
            agent.response = Box::new(|_, message| {
                for call in super::calls_mut(message) {
                    if call["raw"].is_string() {
                        call["args"] = call["raw"].take();
                        call.as_object_mut().map(|members| members.remove("raw"));
                    }
                }
            });
            on_raw(agent, |_, _| CallStep::Tell("These are no arguments.".into()));
        }),
        reading("raw-calls-of-tools-that-need-an-approval-wait-too", |agent| {
            agent.step = Box::new(|run, asked| {
                let is_guarded = run.speaker()["tools"][text(&asked["call"]["name"])]["approval"] == true;
                if is_guarded { CallStep::Wait } else { sound::step(run, asked) }
            });
            // The case decides on the others alone.
            passes(agent, tell_passed);
            agent.decisions = Box::new(|run, decisions| {
                if run.thread.pending.is_empty() {
                    return sound::decisions(run, decisions);
                }
                Ok(sound::decide(run, decisions, sound::denial))
            });
        }),
        reading("empty-raw-arguments-run-as-an-empty-object", |agent| {
            on_raw(agent, |run, asked| {
                let is_empty = text(&asked["made"]["arguments"]).trim().is_empty();
                if is_empty { CallStep::Execute } else { sound::step(run, asked) }
            });
        }),
        reading("fenced-arguments-repaired", |agent| {
            repairs(agent, |raw| {
                let inner = raw.trim().trim_start_matches("```json").trim_start_matches("```").trim_end_matches("```");
                sound::object(inner)
            });
        }),
        reading("doubly-encoded-arguments-repaired", |agent| {
            repairs(agent, |raw| sound::object(serde_json::from_str::<Value>(raw).ok()?.as_str()?));
        }),
    ]
}

/// Does something else with calls whose arguments are no object.
fn on_raw(agent: &mut SessionAgent, step: fn(&mut SessionRun, &Value) -> CallStep) {
    agent.step = Box::new(move |run, asked| {
        let is_raw = asked["made"]["arguments"].as_str().is_some_and(|raw| sound::object(raw).is_none());
        if is_raw { step(run, asked) } else { sound::step(run, asked) }
    });
}

/// Runs calls with the object that can be made of their arguments.
fn repairs(agent: &mut SessionAgent, repair: fn(&str) -> Option<Value>) {
    agent.response = Box::new(move |_, message| {
        for call in super::calls_mut(message) {
            if let Some(args) = call["raw"].as_str().and_then(repair) {
                call["args"] = args;
                call.as_object_mut().map(|members| members.remove("raw"));
            }
        }
    });
}

fn hand_overs() -> Vec<Planted> {
    vec![
        reading("siblings-of-hand-overs-told", |agent| {
            agent.step = Box::new(|run, asked| {
                let turn = run.scripted();
                let is_over = list(&turn["tool_calls"]).iter().any(|call| call["handoff"].is_string());
                match sound::step(run, asked) {
                    CallStep::Execute | CallStep::Wait if is_over => {
                        CallStep::Tell("Not run: the thread was handed over.".into())
                    }
                    step => step,
                }
            });
        }),
        reading("history-filtered-at-a-hand-over", |agent| {
            on_hand_over(agent, |run| {
                let last = run.last("human").map(|last| run.thread.list[last].clone());
                run.thread.list = last.into_iter().collect();
            });
        }),
        reading("rounds-filtered-at-a-hand-over", |agent| {
            on_hand_over(agent, |run| {
                while let Some(response) = run.last_round() {
                    sound::take_round(&mut run.thread.list, response);
                }
            });
        }),
        reading("history-summarized-at-a-hand-over", |agent| {
            on_hand_over(agent, |run| {
                let words: Vec<&str> = run.thread.list.iter().map(|message| text(&message["content"])).collect();
                let summary = format!("The conversation so far: {}", words.join(" / "));
                run.thread.list = vec![json!({"type": "human", "content": summary})];
            });
        }),
        reading("the-next-run-begins-with-the-first-agent", |agent| {
            agent.loaded = Box::new(|run| {
                if run.thread.pending.is_empty() && sound::cut_calls(run).is_empty() {
                    run.thread.agent = Some(MAIN.into());
                }
            });
        }),
        reading("system-messages-of-all-agents-declared", |agent| {
            agent.abilities.both_systems = true;
            agent.request = Box::new(|run| {
                let mut request = sound::request(run);
                if sound::is_handed_over(run) {
                    request.splice(0..0, sound::system_of(&run.input));
                }
                request
            });
        }),
    ]
}

/// Changes the thread that another agent is handed.
fn on_hand_over(agent: &mut SessionAgent, change: fn(&mut SessionRun)) {
    agent.hand_over = Box::new(|run, speaker| {
        run.thread.agent = Some(speaker.clone());
        run.thread.notes["over"] = json!(run.number);
    });
    agent.after_round = Box::new(move |run| {
        // What waits for a decision is not filtered away, nor is anything in a later run, if this one was cut off.
        if run.thread.notes["over"].take() == run.number && run.thread.pending.is_empty() {
            change(run);
        }
    });
}
