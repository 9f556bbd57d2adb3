//! What may become of a history: compaction, system messages, and messages of runs that were refused.

use super::{SessionAgent, never_compacts, reading};
use crate::agent::calls;
use crate::planted::Planted;
use crate::threads::run::answers_behind;
use crate::threads::sound;
use serde_json::{Value, json};
use threadspec_judge::json::{list, text};

pub(super) fn all() -> Vec<Planted> {
    compaction().into_iter().chain(systems()).collect()
}

fn is(message: &Value, of_type: &str) -> bool {
    message["type"] == of_type
}

fn compaction() -> Vec<Planted> {
    vec![
        reading("compaction-does-nothing", never_compacts),
        reading("summaries-as-system-messages", |agent| {
            compacts_as(agent, |summary| summary["type"] = "system".into());
        }),
        reading("summaries-as-assistant-messages", |agent| {
            compacts_as(agent, |summary| summary["type"] = "ai".into());
        }),
        reading("summaries-in-the-frameworks-own-words", |agent| {
            compacts_as(agent, |summary| summary["content"] = "Earlier, the user and the assistant talked.".into());
        }),
        reading("summaries-shortened", |agent| {
            compacts_as(agent, |summary| {
                let half = text(&summary["content"]).chars().count() * 2 / 3;
                let kept: String = text(&summary["content"]).chars().take(half).collect();
                summary["content"] = format!("{kept}…").into();
            });
        }),
        reading("a-mark-where-messages-were-taken-without-a-summary", |agent| {
            agent.compact = Box::new(|run, budget| {
                let before = run.thread.list.len();
                sound::compact(run, budget);
                if run.thread.list.len() < before && budget["summary"].is_null() {
                    run.thread.list.insert(0, json!({"type": "human", "content": "[Earlier messages were left out.]"}));
                }
            });
        }),
        reading("more-kept-than-asked", |agent| {
            agent.compact = Box::new(|run, budget| {
                let mut budget = budget.clone();
                for name in ["keepMessages", "tokens"] {
                    if let Some(n) = budget[name].as_u64() {
                        budget[name] = json!(n * 2 + 2);
                    }
                }
                sound::compact(run, &budget);
            });
        }),
        reading("less-kept-than-asked", |agent| {
            agent.compact = Box::new(|run, budget| {
                let mut budget = budget.clone();
                for name in ["keepMessages", "tokens"] {
                    if budget[name].is_u64() {
                        budget[name] = json!(0);
                    }
                }
                sound::compact(run, &budget);
            });
        }),
        reading("earlier-rounds-of-the-open-turn-compacted", |agent| {
            agent.compact = Box::new(|run, budget| {
                sound::compact(run, budget);
                let Some(open) = run.last_round() else { return };
                if answers_behind(&run.thread.list, open).end < run.thread.list.len() {
                    return;
                }
                let message = run.last("human").map_or(0, |message| message + 1);
                run.thread.list.drain(message.min(open)..open);
            });
        }),
        reading("results-shortened-with-a-mark", |agent| {
            agent.compact = Box::new(|run, _| {
                let end = run.last_round().unwrap_or_default();
                for message in run.thread.list[..end].iter_mut().filter(|message| is(message, "tool")) {
                    let kept: String = text(&message["content"]).chars().take(3).collect();
                    message["content"] = format!("{kept}… [shortened]").into();
                }
            });
        }),
        reading("results-cleared-with-a-mark", |agent| {
            agent.compact = Box::new(|run, _| {
                let end = run.last_round().unwrap_or_default();
                for message in run.thread.list[..end].iter_mut().filter(|message| is(message, "tool")) {
                    message["content"] = "[Old tool result content cleared]".into();
                }
            });
        }),
        reading("whole-rounds-of-closed-turns-taken-alone", |agent| {
            agent.compact = Box::new(|run, _| {
                let end = run.last("human").unwrap_or_default();
                for response in (0..end).rev() {
                    if !calls(&run.thread.list[response]).is_empty() {
                        sound::take_round(&mut run.thread.list, response);
                    }
                }
            });
        }),
        reading("compaction-shows-in-this-runs-requests-alone", |agent| {
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
        reading("the-message-is-on-the-thread-before-compaction", |agent| {
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
}

/// Compacts with another kind of summary.
fn compacts_as(agent: &mut SessionAgent, change: fn(&mut Value)) {
    agent.compact = Box::new(move |run, budget| {
        let before = run.summaries.len();
        sound::compact(run, budget);
        if run.summaries.len() > before {
            change(&mut run.thread.list[0]);
        }
    });
}

fn systems() -> Vec<Planted> {
    vec![
        reading("system-message-always-last", |agent| {
            agent.request = Box::new(|run| {
                let mut request = sound::request(run);
                if request.first().is_some_and(|first| is(first, "system")) {
                    request.rotate_left(1);
                }
                request
            });
        }),
        reading("answers-of-older-runs-in-another-order", |agent| {
            agent.request = Box::new(|run| {
                let mut request = sound::request(run);
                let end = request.iter().rposition(|message| is(message, "human")).unwrap_or_default();
                let responses = (0..end).filter(|&index| !calls(&request[index]).is_empty()).collect::<Vec<_>>();
                for response in responses {
                    let answers = answers_behind(&request, response);
                    request[answers].reverse();
                }
                request
            });
        }),
        reading("messages-of-refused-runs-kept-behind-the-decision", |agent| {
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
        reading("refusals-in-few-words", |agent| {
            agent.message = Box::new(|run, words| sound::message(run, words).map_err(|_| "InvalidState".to_owned()));
        }),
        reading("refused-runs-still-say-what-waits", |agent| {
            agent.reported = Box::new(|run, report| {
                if report["refused"].is_string() {
                    report["pending"] = json!(run.thread.pending);
                }
            });
        }),
        reading("words-during-a-call-wait-for-the-end-of-the-run", |agent| waits_for_the_end(agent, false)),
        reading("words-during-a-call-joined-with-the-next-message", |agent| waits_for_the_end(agent, true)),
        reading("words-during-a-call-in-a-frame", |agent| {
            agent.steer = Box::new(|run, words| {
                let framed =
                    format!("<system-reminder>\nThe user sent this while you worked:\n{words}\n</system-reminder>");
                sound::say(run, &framed);
            });
        }),
        reading("results-written-as-json-with-spaces", |agent| {
            agent.execute = Box::new(|run, call| {
                let result = sound::scripted(run, call);
                let mut answer = sound::answer_of(call, result.clone());
                let is_plain = result["error"].is_null() && result["image"].is_null() && !result.is_string();
                if is_plain && let Ok(text) = serde_json::to_string_pretty(&result) {
                    answer["content"] = text.into();
                }
                answer
            });
        }),
    ]
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
