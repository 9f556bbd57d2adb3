//! What may become of a history: compaction, system messages, and messages of runs that were refused.
//! What may become of opaque parts and images.

use super::never_compacts;
use crate::session::prelude::*;

impl SessionGroup {
    /// Compacts with another kind of summary.
    fn compacts_as(self, name: &'static str, change: fn(&mut Value)) -> Vec<Planted> {
        self.compact(name, move |run, budget, _| {
            let before = run.summaries.len();
            sound::compact(run, budget);
            if run.summaries.len() > before {
                change(&mut run.thread.list[0]);
            }
        })
    }
}

pub(super) fn all() -> Vec<Planted> {
    compaction().into_iter().chain(systems()).collect()
}

fn compaction() -> Vec<Planted> {
    [
        FREE.plant("compaction-does-nothing", |agent, _| never_compacts(agent)),
        FREE.compacts_as("summaries-as-system-messages", |summary| summary["type"] = "system".into()),
        FREE.compacts_as("summaries-as-assistant-messages", |summary| summary["type"] = "ai".into()),
        FREE.compacts_as("summaries-in-the-frameworks-own-words", |summary| {
            summary["content"] = "Earlier, the user and the assistant talked.".into()
        }),
        FREE.compacts_as("summaries-shortened", |summary| {
            let half = text(&summary["content"]).chars().count() * 2 / 3;
            let kept: String = text(&summary["content"]).chars().take(half).collect();
            summary["content"] = format!("{kept}…").into();
        }),
        FREE.compact("a-mark-where-messages-were-taken-without-a-summary", |run, budget, _| {
            let before = run.thread.list.len();
            sound::compact(run, budget);
            if run.thread.list.len() < before && budget["summary"].is_null() {
                run.thread.list.insert(0, json!({"type": "human", "content": "[Earlier messages were left out.]"}));
            }
        }),
        FREE.compact("more-kept-than-asked", |run, budget, _| {
            let mut budget = budget.clone();
            for name in ["keepMessages", "tokens"] {
                if let Some(n) = budget[name].as_u64() {
                    budget[name] = json!(n * 2 + 2);
                }
            }
            sound::compact(run, &budget);
        }),
        FREE.compact("less-kept-than-asked", |run, budget, _| {
            let mut budget = budget.clone();
            for name in ["keepMessages", "tokens"] {
                if budget[name].is_u64() {
                    budget[name] = json!(0);
                }
            }
            sound::compact(run, &budget);
        }),
        FREE.compact("earlier-rounds-of-the-open-turn-compacted", |run, budget, _| {
            sound::compact(run, budget);
            let Some(open) = run.last_round() else { return };
            if answers_behind(&run.thread.list, open).end < run.thread.list.len() {
                return;
            }
            let message = run.last("human").map_or(0, |message| message + 1);
            run.thread.list.drain(message.min(open)..open);
        }),
        FREE.compact("results-shortened-with-a-mark", |run, _, _| {
            let end = run.last_round().unwrap_or_default();
            for message in run.thread.list[..end].iter_mut().filter(|message| is(message, "tool")) {
                let kept: String = text(&message["content"]).chars().take(3).collect();
                message["content"] = format!("{kept}… [shortened]").into();
            }
        }),
        FREE.compact("results-cleared-with-a-mark", |run, _, _| {
            let end = run.last_round().unwrap_or_default();
            for message in run.thread.list[..end].iter_mut().filter(|message| is(message, "tool")) {
                message["content"] = "[Old tool result content cleared]".into();
            }
        }),
        FREE.compact("whole-rounds-of-closed-turns-taken-alone", |run, _, _| {
            let end = run.last("human").unwrap_or_default();
            for response in (0..end).rev() {
                if !calls(&run.thread.list[response]).is_empty() {
                    sound::take_round(&mut run.thread.list, response);
                }
            }
        }),
        FREE.plant("compaction-shows-in-this-runs-requests-alone", |agent, _| {
            agent.compact = Box::new(|run, budget| {
                let kept = run.thread.list.clone();
                sound::compact(run, budget);
                // Whole turns go from the beginning; a summary stands in their place.
                let summary: Vec<Value> = run.summaries.iter().map(|_| run.thread.list[0].clone()).collect();
                let left = kept.len() + summary.len() - run.thread.list.len();
                run.thread.notes["left"] = json!({"messages": left, "summary": summary});
                run.thread.list = kept;
            });
            agent.request = Box::new(|run| {
                let mut request = sound::request(run);
                if run.script()["compact"].is_object() {
                    let left = run.thread.notes["left"]["messages"].as_u64().unwrap_or(0);
                    let system = request.len() - run.thread.list.len();
                    let taken = system..system + usize::try_from(left).unwrap_or(0);
                    request.splice(taken, list(&run.thread.notes["left"]["summary"]).iter().cloned());
                }
                request
            });
        }),
        FREE.plant("the-message-is-on-the-thread-before-compaction", |agent, _| {
            agent.compact = Box::new(|_, _| {});
            agent.message = Box::new(|run, words| {
                sound::message(run, words)?;
                let budget = run.script()["compact"].clone();
                if budget.is_object() {
                    sound::compact(run, &budget);
                }
                Ok(())
            });
        }),
    ]
    .concat()
}

fn systems() -> Vec<Planted> {
    [
        FREE.request("system-message-always-last", |run, _| {
            let mut request = sound::request(run);
            if request.first().is_some_and(|first| is(first, "system")) {
                request.rotate_left(1);
            }
            request
        }),
        FREE.request("answers-of-older-runs-in-another-order", |run, _| {
            let mut request = sound::request(run);
            let end = request.iter().rposition(|message| is(message, "human")).unwrap_or_default();
            let responses = (0..end).filter(|&index| !calls(&request[index]).is_empty()).collect::<Vec<_>>();
            for response in responses {
                let answers = answers_behind(&request, response);
                request[answers].reverse();
            }
            request
        }),
        FREE.plant("messages-of-refused-runs-kept-behind-the-decision", |agent, _| {
            agent.message = Box::new(|run, words| {
                let taken = sound::message(run, words);
                if taken.is_err() {
                    let mut kept = run.thread.notes["kept"].as_array().cloned().unwrap_or_default();
                    kept.push(words.as_str().into());
                    run.thread.notes["kept"] = kept.into();
                }
                taken
            });
            agent.end = Box::new(|run| {
                if run.thread.pending.is_empty() && run.cut.is_none() && run.failure.is_none() {
                    let kept = run.thread.notes["kept"].take();
                    for words in kept.as_array().into_iter().flatten() {
                        sound::say(run, text(words));
                    }
                }
            });
        }),
        FREE.message("refusals-in-few-words", |run, words, _| {
            sound::message(run, words).map_err(|_| "InvalidState".to_owned())
        }),
        FREE.reported("refused-runs-still-say-what-waits", |run, report, _| {
            if report["refused"].is_string() {
                report["pending"] = json!(run.thread.pending);
            }
        }),
        FREE.plant("words-during-a-call-wait-for-the-end-of-the-run", |agent, _| waits_for_the_end(agent, false)),
        FREE.plant("words-during-a-call-joined-with-the-next-message", |agent, _| waits_for_the_end(agent, true)),
        FREE.steer("words-during-a-call-in-a-frame", |run, words, _| {
            let framed =
                format!("<system-reminder>\nThe user sent this while you worked:\n{words}\n</system-reminder>");
            sound::say(run, &framed);
        }),
        FREE.execute("results-written-as-json-with-spaces", |run, call, _| {
            let result = sound::scripted(run, call);
            let mut answer = sound::answer_of(call, result.clone());
            let is_plain = result["error"].is_null() && result["image"].is_null() && !result.is_string();
            if is_plain && let Ok(text) = serde_json::to_string_pretty(&result) {
                answer["content"] = text.into();
            }
            answer
        }),
    ]
    .concat()
}

impl SessionGroup {
    /// Changes the responses of closed turns as they are sent.
    fn closed_turns(self, name: &'static str, change: fn(&mut Value, usize)) -> Vec<Planted> {
        self.request(name, move |run, _| {
            let mut request = sound::request(run);
            let last = request.iter().rposition(|message| message["type"] == "human").unwrap_or_default();
            for (index, message) in request[..last].iter_mut().enumerate() {
                change(message, index);
            }
            request
        })
    }
}

pub(super) fn parts() -> Vec<Planted> {
    opaque().into_iter().chain(with_images()).collect()
}

fn drop_opaque(message: &mut Value) {
    message.as_object_mut().map(|members| members.remove("opaque"));
}

fn opaque() -> Vec<Planted> {
    [
        FREE.closed_turns("opaque-parts-of-closed-turns-dropped", |message, _| drop_opaque(message)),
        FREE.closed_turns("opaque-parts-of-every-second-message-of-closed-turns-dropped", |message, index| {
            if index % 2 == 0 {
                drop_opaque(message);
            }
        }),
        FREE.closed_turns("only-the-first-opaque-part-of-closed-turns-kept", |message, _| {
            if let Some(parts) = message["opaque"].as_array_mut() {
                parts.truncate(1);
            }
            if message["opaque"].is_null() {
                drop_opaque(message);
            }
        }),
        FREE.response("opaque-parts-with-members-of-their-own", |run, message, _| {
            let turn = run.turn;
            for part in message.get_mut("opaque").and_then(Value::as_array_mut).into_iter().flatten() {
                part["index"] = json!(turn);
            }
        }),
    ]
    .concat()
}

fn with_images() -> Vec<Planted> {
    [
        FREE.plant("images-in-a-user-message-behind-the-answers", |agent, _| {
            agent.after_round = Box::new(show_images);
            never_compacts(agent);
        }),
        FREE.execute("images-left-out-as-the-answer-says", |run, call, _| {
            let result = sound::scripted(run, call);
            let mut answer = sound::answer_of(call, result.clone());
            if images::of_result(&result).is_some() {
                let text = format!("{} [An image was left out.]", images::text_beside(&result));
                answer["content"] = text.trim().into();
                answer.as_object_mut().map(|members| members.remove("images"));
            }
            answer
        }),
        FREE.execute("answers-name-their-images", |run, call, _| {
            let result = sound::scripted(run, call);
            let mut answer = sound::answer_of(call, result.clone());
            if images::of_result(&result).is_some() {
                answer["content"] = format!("{}\nSee the image.", images::text_beside(&result)).trim().into();
            }
            answer
        }),
    ]
    .concat()
}

/// Moves the images of the last round into a user message behind it.
fn show_images(run: &mut SessionRun) {
    if !run.thread.pending.is_empty() {
        return;
    }
    let Some(response) = run.last_round() else { return };
    let mut images = Vec::new();
    for message in &mut run.thread.list[response..] {
        if let Some(Value::Array(own)) = message.as_object_mut().and_then(|members| members.remove("images")) {
            images.extend(own);
            message["content"] =
                format!("{}\nThe image is below.", message["content"].as_str().unwrap_or_default()).trim().into();
        }
    }
    if !images.is_empty() && !calls(&run.thread.list[response]).is_empty() {
        run.thread.list.push(json!({"type": "human", "content": "", "images": images}));
    }
}

/// Puts the user's words during a call behind the run, or in front of the next message.
fn waits_for_the_end(agent: &mut SessionAgent, is_joined: bool) {
    agent.steer = Box::new(|run, words| run.thread.notes["steer"] = words.as_str().into());
    agent.end = Box::new(move |run| {
        if let Some(words) = run.thread.notes["steer"].as_str().filter(|_| !is_joined).map(str::to_owned) {
            sound::say(run, &words);
            run.thread.notes["steer"] = Value::Null;
        }
    });
    agent.message = Box::new(move |run, words| {
        let earlier = run.thread.notes["steer"].take();
        let said = earlier.as_str().map_or_else(|| words.clone(), |earlier| format!("{earlier}\n\n{words}"));
        sound::message(run, &said)
    });
}
