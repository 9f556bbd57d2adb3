//! What may be done about calls that wait for a decision, raw calls and hand-overs.

use super::{SessionAgent, never_compacts};
use crate::session::prelude::*;

impl SessionGroup {
    /// Tells or leaves out what waits when a message goes past.
    fn passes(self, name: &'static str, pass: fn(&mut SessionRun, &Value)) -> Vec<Planted> {
        self.plant(name, move |agent, _| passes(agent, pass))
    }

    /// Does something else with calls whose arguments are no object.
    fn raw_calls(self, name: &'static str, step: fn(&mut SessionRun, &Value) -> CallStep) -> Vec<Planted> {
        self.plant(name, move |agent, _| on_raw(agent, step))
    }

    /// Runs calls with the object that can be made of their arguments.
    fn repairs(self, name: &'static str, repair: fn(&str) -> Option<Value>) -> Vec<Planted> {
        self.response(name, move |_, message, _| {
            for call in calls_mut(message) {
                if let Some(args) = call["raw"].as_str().and_then(repair) {
                    call["args"] = args;
                    call.as_object_mut().map(|members| members.remove("raw"));
                }
            }
        })
    }

    /// Changes the thread that another agent is handed.
    fn filtered(self, name: &'static str, change: fn(&mut SessionRun)) -> Vec<Planted> {
        self.plant(name, move |agent, _| {
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
        })
    }
}

pub(super) fn all() -> Vec<Planted> {
    approvals().into_iter().chain(passed()).chain(raw()).chain(hand_overs()).collect()
}

fn approvals() -> Vec<Planted> {
    [
        FREE.plant("siblings-executed-after-the-decision", |agent, _| {
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
                    (!is_held).then(|| INTERRUPTED.into())
                });
                Vec::new()
            });
            agent.decisions = Box::new(|run, decisions| {
                let mut approved = sound::decisions(run, decisions)?;
                approved.extend_from_slice(list(&run.thread.notes["held"].take()));
                Ok(approved)
            });
        }),
        FREE.place("answers-in-the-order-of-the-decisions", |run, answer, _| {
            let made =
                |message: &Value| list(&message["tool_calls"]).iter().any(|call| call["id"] == answer["tool_call_id"]);
            let response = run.thread.list.iter().rposition(made);
            let end = response.map(|response| answers_behind(&run.thread.list, response).end);
            let end = end.unwrap_or(run.thread.list.len());
            run.thread.list.insert(end, answer.clone());
        }),
        FREE.decisions("edited-arguments-in-the-history", |run, decisions, _| {
            let approved = sound::decisions(run, decisions)?;
            for call in &approved {
                let response = run.last_round().unwrap_or_default();
                let made = run.thread.list[response]["tool_calls"].as_array_mut().into_iter().flatten();
                made.filter(|own| own["id"] == call["id"]).for_each(|own| own["args"] = call["args"].clone());
            }
            Ok(approved)
        }),
        FREE.execute("a-note-about-the-edit-beside-the-result", |run, call, _| {
            let mut answer = sound::execute(run, call);
            let is_edited = run.script()["decisions"][text(&call["id"])]["args"].is_object();
            if is_edited {
                answer["content"] = format!("{}\n(The user changed the arguments.)", text(&answer["content"])).into();
            }
            answer
        }),
        FREE.decisions("incomplete-decisions-taken", |run, decisions, _| {
            if run.thread.pending.is_empty() {
                return sound::decisions(run, decisions);
            }
            Ok(sound::decide(run, decisions, sound::denial))
        }),
        FREE.decisions("denials-in-other-words", |run, decisions, _| {
            sound::check(run, decisions)?;
            Ok(sound::decide(run, decisions, |_, call, decision| {
                let told = json!({"status": "rejected", "id": call["id"], "feedback": decision["reason"]});
                Some(told.to_string().into())
            }))
        }),
        FREE.plant("pending-calls-kept-in-the-cut-response-told", |agent, _| {
            // A cut takes what waited with it.
            agent.cut = Box::new(|run, _| run.thread.pending.clear());
        }),
    ]
    .concat()
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
    [
        FREE.passes("pending-calls-told-when-a-message-goes-past", tell_passed),
        FREE.passes("pending-calls-left-out-when-a-message-goes-past", |run, call| {
            if let Some(response) = run.last_round() {
                sound::leave_out(&mut run.thread.list, response, |own| own["id"] == call["id"]);
            }
        }),
        FREE.plant("late-decisions-ask-the-model", |agent, _| {
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
        FREE.plant("late-decisions-do-nothing", |agent, _| {
            passes(agent, tell_passed);
            agent.decisions = Box::new(|run, decisions| {
                run.thread.notes["late"] = json!(run.thread.pending.is_empty());
                if run.thread.pending.is_empty() { Ok(Vec::new()) } else { sound::decisions(run, decisions) }
            });
            agent.asks = Box::new(|run| !run.script()["decisions"].is_object() || run.thread.notes["late"] != true);
        }),
    ]
    .concat()
}

fn raw() -> Vec<Planted> {
    [
        FREE.plant("raw-arguments-sent-back-as-an-empty-object", |agent, _| {
            agent.response = Box::new(|_, message| {
                for call in calls_mut(message) {
                    call.as_object_mut().map(|members| members.remove("raw"));
                }
            });
            on_raw(agent, |_, _| CallStep::Tell("These are no arguments.".into()));
        }),
        FREE.plant("raw-arguments-sent-back-as-a-string", |agent, _| {
            agent.response = Box::new(|_, message| {
                for call in calls_mut(message) {
                    if call["raw"].is_string() {
                        call["args"] = call["raw"].take();
                        call.as_object_mut().map(|members| members.remove("raw"));
                    }
                }
            });
            on_raw(agent, |_, _| CallStep::Tell("These are no arguments.".into()));
        }),
        FREE.plant("raw-calls-of-tools-that-need-an-approval-wait-too", |agent, _| {
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
        FREE.raw_calls("empty-raw-arguments-run-as-an-empty-object", |run, asked| {
            let is_empty = text(&asked["made"]["arguments"]).trim().is_empty();
            if is_empty { CallStep::Execute } else { sound::step(run, asked) }
        }),
        FREE.repairs("fenced-arguments-repaired", |raw| {
            let inner = raw.trim().trim_start_matches("```json").trim_start_matches("```").trim_end_matches("```");
            sound::object(inner)
        }),
        FREE.repairs("doubly-encoded-arguments-repaired", |raw| {
            sound::object(serde_json::from_str::<Value>(raw).ok()?.as_str()?)
        }),
    ]
    .concat()
}

/// Does something else with calls whose arguments are no object.
fn on_raw(agent: &mut SessionAgent, step: fn(&mut SessionRun, &Value) -> CallStep) {
    agent.step = Box::new(move |run, asked| {
        let is_raw = asked["made"]["arguments"].as_str().is_some_and(|raw| sound::object(raw).is_none());
        if is_raw { step(run, asked) } else { sound::step(run, asked) }
    });
}

fn hand_overs() -> Vec<Planted> {
    [
        FREE.step("siblings-of-hand-overs-told", |run, asked, _| {
            let turn = run.scripted();
            let is_over = list(&turn["tool_calls"]).iter().any(|call| call["handoff"].is_string());
            match sound::step(run, asked) {
                CallStep::Execute | CallStep::Wait if is_over => {
                    CallStep::Tell("Not run: the thread was handed over.".into())
                }
                step => step,
            }
        }),
        FREE.filtered("history-filtered-at-a-hand-over", |run| {
            let last = run.last("human").map(|last| run.thread.list[last].clone());
            run.thread.list = last.into_iter().collect();
        }),
        FREE.filtered("rounds-filtered-at-a-hand-over", |run| {
            while let Some(response) = run.last_round() {
                sound::take_round(&mut run.thread.list, response);
            }
        }),
        FREE.filtered("history-summarized-at-a-hand-over", |run| {
            let words: Vec<&str> = run.thread.list.iter().map(|message| text(&message["content"])).collect();
            let summary = format!("The conversation so far: {}", words.join(" / "));
            run.thread.list = vec![json!({"type": "human", "content": summary})];
        }),
        FREE.loaded("the-next-run-begins-with-the-first-agent", |run, _| {
            if run.thread.pending.is_empty() && cut_calls(run).is_empty() {
                run.thread.agent = Some(MAIN.into());
            }
        }),
        FREE.plant("system-messages-of-all-agents-declared", |agent, _| {
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
    .concat()
}
