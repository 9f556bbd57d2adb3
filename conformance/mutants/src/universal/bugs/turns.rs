//! AGENT-GOES-ON, AGENT-STOPS and AGENT-LIMIT: when the model is asked again; AGENT-MODEL-FAILURE: what happens when it fails.

use super::{bug, family};
use crate::agent::{Agent, calls, text};
use crate::planted::Planted;
use serde_json::{Value, json};
use threadspec_golden::clause;

const GOES_ON: &[&str] = &[clause::AGENT_GOES_ON];
const STOPS: &[&str] = &[clause::AGENT_STOPS];
const LIMIT: &[&str] = &[clause::AGENT_LIMIT];
const MODEL: &[&str] = &[clause::AGENT_MODEL_FAILURE];

/// Ends the run after a round, without saying why.
fn ends_after(agent: &mut Agent, ends: impl Fn(&[Value], usize) -> bool + Send + Sync + 'static) {
    agent.after_round = Box::new(move |run| {
        if ends(&run.list, run.turn) {
            run.stop = Some(String::new());
        }
    });
}

/// Asks the model again after a response without calls that has one of these texts.
fn asks_again(agent: &mut Agent, again: fn(&str) -> bool) {
    agent.is_last = Box::new(move |_, message| calls(message).is_empty() && !again(text(&message["content"])));
}

/// The last message with calls.
fn last_calls(list: &[Value]) -> Vec<Value> {
    list.iter().rfind(|message| message["type"] == "ai").map(calls).unwrap_or_default()
}

/// Asks the model again after a failure, so many times, with a message or without.
fn retries(agent: &mut Agent, times: usize, message: Option<fn(&str) -> Value>) {
    agent.failed = Box::new(move |run, error| {
        let tried = run.memory["tried"].as_u64().map_or(0, |tried| usize::try_from(tried).unwrap_or(0));
        run.memory = json!({"tried": tried + 1});
        if let Some(message) = message {
            run.list.push(message(error));
        }
        let again = tried < times;
        if !again {
            run.memory = Value::Null;
            run.stop = Some(error.clone());
        }
        again
    });
}

/// Reports a failure as a message at the end.
fn invents(agent: &mut Agent, message: fn(&str) -> Value) {
    agent.failed = Box::new(move |run, error| {
        run.stop = Some(error.clone());
        run.list.push(message(error));
        false
    });
}

pub(super) fn bugs() -> Vec<Planted> {
    let mut bugs = vec![
        bug("text-beside-calls-ends-the-run", GOES_ON, |agent| {
            ends_after(agent, |list, _| {
                list.iter()
                    .rfind(|message| message["type"] == "ai")
                    .is_some_and(|message| !text(&message["content"]).is_empty())
            });
        }),
        bug("final-answer-beside-calls-ends-the-run", GOES_ON, |agent| {
            ends_after(agent, |list, _| list.iter().any(|message| text(&message["content"]).contains("Final Answer")));
        }),
        bug("empty-result-ends-the-run", GOES_ON, |agent| {
            ends_after(agent, |list, _| list.last().is_some_and(|answer| text(&answer["content"]).is_empty()));
        }),
        bug("parallel-calls-end-the-run", GOES_ON, |agent| ends_after(agent, |list, _| last_calls(list).len() > 1)),
        bug("same-call-again-ends-the-run", GOES_ON, |agent| {
            ends_after(agent, |list, _| {
                let last = last_calls(list);
                let same = |message: &&Value| {
                    !last.is_empty()
                        && calls(message).iter().zip(&last).filter(|(one, other)| one["id"] == other["id"]).count()
                            == last.len()
                };
                list.iter().filter(same).count() > 1
            });
        }),
        bug("same-failure-again-ends-the-run", &[clause::AGENT_FAILURE], |agent| {
            ends_after(agent, |list, _| {
                let failures: Vec<&str> = list
                    .iter()
                    .map(|message| text(&message["content"]))
                    .filter(|text| text.starts_with("The tool failed"))
                    .collect();
                failures.len() > 2 && failures.windows(2).all(|pair| pair[0] == pair[1])
            });
        }),
        bug("empty-answer-asked-again", STOPS, |agent| asks_again(agent, str::is_empty)),
        bug("empty-answer-left-out-and-asked-again", STOPS, |agent| {
            agent.is_last = Box::new(|run, message| {
                let again = calls(message).is_empty() && text(&message["content"]).is_empty();
                if again {
                    run.list.pop();
                }
                calls(message).is_empty() && !again
            });
        }),
        bug("white-space-asked-again", STOPS, |agent| {
            asks_again(agent, |text| text.trim().is_empty() && !text.is_empty())
        }),
        bug("calls-read-from-json-text", STOPS, |agent| {
            asks_again(agent, |text| text.starts_with('{') && text.contains("\"name\""))
        }),
        bug("calls-read-from-action-lines", STOPS, |agent| asks_again(agent, |text| text.contains("Action:"))),
        bug("calls-read-from-tags", STOPS, |agent| asks_again(agent, |text| text.contains("<tool_call>"))),
        bug("final-answer-asked-for-once-more", STOPS, |agent| {
            agent.is_last = Box::new(|run, message| {
                let asks = calls(message).is_empty()
                    && run.turn > 1
                    && !run.list.iter().any(|message| text(&message["content"]) == "Sum up.");
                if asks {
                    run.list.push(json!({"type": "human", "content": "Sum up."}));
                }
                calls(message).is_empty() && !asks
            });
        }),
        bug("every-answer-asked-for-twice", STOPS, |agent| {
            agent.is_last = Box::new(|run, message| {
                let said =
                    run.list.iter().filter(|message| message["type"] == "ai" && calls(message).is_empty()).count();
                calls(message).is_empty() && said > 1
            });
        }),
        bug("empty-list-of-calls-asked-again", STOPS, |agent| {
            agent.is_last =
                Box::new(|run, message| calls(message).is_empty() && !run.scripted(0)["tool_calls"].is_array());
        }),
        bug("limit-ignored", LIMIT, |agent| agent.is_cut = Box::new(|_| false)),
        bug("limit-doubled", LIMIT, |agent| {
            agent.is_cut = Box::new(|run| run.limit().is_some_and(|limit| run.turn > 2 * limit + 1));
        }),
        bug("two-rounds-beyond-the-limit", LIMIT, |agent| {
            agent.is_cut = Box::new(|run| run.limit().is_some_and(|limit| run.turn > limit + 2));
        }),
        bug("limit-of-zero-means-none", LIMIT, |agent| {
            agent.is_cut = Box::new(|run| run.limit().is_some_and(|limit| limit > 0 && run.turn > limit));
        }),
        bug("limit-of-zero-means-one", LIMIT, |agent| {
            agent.is_cut = Box::new(|run| run.limit().is_some_and(|limit| run.turn > limit.max(1)));
        }),
        bug("limit-counts-calls", LIMIT, |agent| {
            agent.is_cut =
                Box::new(|run| run.limit().is_some_and(|limit| run.list.iter().flat_map(calls).count() > limit));
        }),
        bug("limit-counts-messages", LIMIT, |agent| {
            agent.is_cut = Box::new(|run| run.limit().is_some_and(|limit| run.list.len() > limit));
        }),
        bug("limit-forgives-failures", LIMIT, |agent| {
            agent.is_cut = Box::new(|run| {
                let failures =
                    run.list.iter().filter(|message| text(&message["content"]).starts_with("The tool failed")).count();
                run.limit().is_some_and(|limit| run.turn > limit + failures)
            });
        }),
        bug("one-round-less-than-the-limit-and-one-more", LIMIT, |agent| {
            agent.is_cut =
                Box::new(|run| run.limit().is_some_and(|limit| limit > 2 && run.turn + 1 > limit.saturating_sub(1)));
        }),
        bug("error-said-by-the-assistant", MODEL, |agent| {
            invents(agent, |error| json!({"type": "ai", "content": format!("Error: {error}")}));
        }),
        bug("apology-said-by-the-assistant", MODEL, |agent| {
            invents(agent, |_| json!({"type": "ai", "content": "Sorry, something went wrong."}));
        }),
        bug("empty-message-said-by-the-assistant", MODEL, |agent| {
            invents(agent, |_| json!({"type": "ai", "content": ""}))
        }),
        bug("error-told-to-the-model-as-a-question", MODEL, |agent| {
            retries(agent, 1, Some(|error| json!({"type": "human", "content": format!("Error: {error}")})));
        }),
        bug("error-told-to-the-model-as-its-own-words", MODEL, |agent| {
            retries(agent, 1, Some(|error| json!({"type": "ai", "content": format!("Error: {error}")})));
        }),
        bug("failing-model-tried-without-the-last-message", MODEL, |agent| {
            agent.failed = Box::new(|run, error| {
                let again = run.list.len() > 1 && run.memory.is_null();
                run.memory = if again { json!(true) } else { Value::Null };
                run.list.pop();
                if !again {
                    run.stop = Some(error.clone());
                }
                again
            });
        }),
        bug("failing-model-unreported", MODEL, |agent| agent.failed = Box::new(|_, _| false)),
        bug("last-text-repeated-when-the-model-fails", MODEL, |agent| {
            agent.failed = Box::new(|run, error| {
                run.stop = Some(error.clone());
                let last = run.list.last().map(|message| text(&message["content"]).to_owned()).unwrap_or_default();
                run.list.push(json!({"type": "ai", "content": last}));
                false
            });
        }),
        bug("failing-model-after-rounds-begins-anew", MODEL, |agent| {
            agent.failed = Box::new(|run, error| {
                let again = run.memory.is_null() && run.turn > 1;
                run.memory = if again { json!(true) } else { Value::Null };
                if again {
                    run.list.truncate(run.requests[0].len());
                } else {
                    run.stop = Some(error.clone());
                }
                again
            });
        }),
    ];
    bugs.extend(family("run-ends-after-{n}-rounds", GOES_ON, &[1, 3, 10, 25, 50, 118, 150], |agent, size| {
        ends_after(agent, move |_, turn| turn >= size);
    }));
    bugs.extend(family("run-ends-after-{n}-calls", GOES_ON, &[2, 10, 100], |agent, size| {
        ends_after(agent, move |list, _| list.iter().flat_map(calls).count() >= size);
    }));
    bugs.extend(family("failing-model-tried-{n}-times-more", MODEL, &[2, 10], |agent, size| {
        retries(agent, size, None)
    }));
    bugs.extend(family("limit-of-at-least-{n}", LIMIT, &[2, 10, 20], |agent, size| {
        agent.is_cut = Box::new(move |run| run.limit().is_some_and(|limit| run.turn > limit.max(size)));
    }));
    bugs
}
