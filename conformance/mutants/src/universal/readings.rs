//! Readings: deviations that the clauses and the fairness rules permit, so that no case may object to them.

use super::Variant;
use super::agent::{Agent, Outcome, Run, answer, calls, content, distinct, mend, text};
use super::bugs::{bug, cut, each, on_failure, on_given, on_structured};
use serde_json::{Value, json};
use threadspec::surrogates::{is_mark, unmark_surrogates};
use threadspec_judge::universal::{Abilities, halves};

fn reading(name: &str, plant: impl Fn(&mut Agent) + Send + Sync + 'static) -> Variant {
    bug(name, &[], plant)
}

/// Deals with a broken history in another way.
fn on_broken(agent: &mut Agent, deal: fn(&mut Vec<Value>) -> Result<(), String>) {
    agent.begin = Box::new(move |run| {
        let mut mended = run.list.clone();
        mend(&mut mended);
        if mended == run.list { Ok(()) } else { deal(&mut run.list) }
    });
}

/// Changes every message of the output.
fn everywhere(agent: &mut Agent, change: impl Fn(&mut Value) + Send + Sync + 'static) {
    agent.end = Box::new(move |_, output| {
        let requests = output["requests"].as_array().cloned().unwrap_or_default();
        let changed: Vec<Value> = requests
            .into_iter()
            .map(|mut request| {
                request.as_array_mut().into_iter().flatten().for_each(&change);
                request
            })
            .collect();
        output["requests"] = changed.into();
        output["messages"].as_array_mut().into_iter().flatten().for_each(&change);
    });
}

/// Refuses the given list for what this says is wrong with it.
fn on_refusable(agent: &mut Agent, wrong: impl Fn(&Run) -> Option<&'static str> + Send + Sync + 'static) {
    agent.begin = Box::new(move |run| {
        if let Some(wrong) = wrong(run) {
            return Err(wrong.to_owned());
        }
        mend(&mut run.list);
        Ok(())
    });
}

/// Rearranges each request as it is sent.
fn rearranged(agent: &mut Agent, change: fn(&mut Vec<Value>)) {
    agent.shown = Box::new(move |_, request| change(request));
}

fn systems(list: &mut Vec<Value>) -> Vec<Value> {
    list.extract_if(.., |message| message["type"] == "system").collect()
}

pub(super) fn all() -> Vec<Variant> {
    vec![
        reading("the-agent-itself", |_| {}),
        reading("answers-to-failures-in-other-words", |agent| {
            on_failure(agent, |error| format!("⚠ {error} (try something else)"))
        }),
        reading("failures-as-json", |agent| {
            on_failure(agent, |error| json!({"status": "error", "error": error}).to_string())
        }),
        reading("failures-in-string-notation", |agent| {
            on_failure(agent, |error| format!("ToolError({:?})", unmark_surrogates(error)));
        }),
        reading("failures-as-they-are", |agent| on_failure(agent, str::to_owned)),
        reading("unknown-tools-as-json", |agent| {
            agent.content = Box::new(|_, outcome| match outcome {
                Outcome::Unknown(name) => json!({"error": "unknown_tool", "tool": name}).to_string().into(),
                _ => content(outcome),
            });
        }),
        reading("results-as-indented-json", |agent| {
            on_structured(agent, |value| {
                halves::escaped(&serde_json::to_string_pretty(value).unwrap_or_default()).into()
            });
        }),
        reading("results-with-members-sorted", |agent| {
            on_structured(agent, |value| {
                fn sorted(value: &Value) -> Value {
                    match value {
                        Value::Array(elements) => elements.iter().map(sorted).collect(),
                        Value::Object(members) => {
                            let mut members: Vec<_> =
                                members.iter().map(|(name, member)| (name.clone(), sorted(member))).collect();
                            members.sort_by(|one, other| one.0.cmp(&other.0));
                            members.into_iter().collect()
                        }
                        other => other.clone(),
                    }
                }
                halves::escaped(&sorted(value).to_string()).into()
            });
        }),
        reading("c1-controls-and-line-separators-escaped", |agent| {
            on_structured(agent, |value| {
                let escape = |c: char| match c {
                    '\u{80}'..='\u{9f}' | '\u{2028}' | '\u{2029}' => format!("\\u{:04x}", u32::from(c)),
                    c => c.to_string(),
                };
                halves::escaped(&value.to_string()).chars().map(escape).collect::<String>().into()
            });
        }),
        reading("halves-of-structured-results-as-u-fffd", |agent| {
            on_structured(agent, |value| halves::repaired(&value.to_string()).into())
        }),
        reading("halves-as-escapes-in-text", |agent| {
            agent.content = Box::new(|_, outcome| match outcome {
                Outcome::Result(Value::String(text)) => halves::escaped(text).into(),
                _ => content(outcome),
            });
        }),
        reading("halves-left-out", |agent| {
            agent.content = Box::new(|_, outcome| match outcome {
                Outcome::Result(Value::String(text)) if halves::escaped(text) != *text => {
                    text.replace(is_mark, "").into()
                }
                _ => content(outcome),
            });
        }),
        reading("halves-in-the-given-list-refused", |agent| {
            on_refusable(agent, |run| {
                let given = run.input["messages"].to_string();
                (halves::escaped(&given) != given).then_some("the messages are not valid Unicode")
            });
        }),
        reading("doubles-alone", |agent| {
            agent.abilities = Abilities::default();
            agent.raw = |input| {
                let token = |token: &str| {
                    let long = token.len() > 15 && token.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
                    let double = token.parse::<f64>().ok().filter(|double| long && double.is_finite());
                    double.map_or_else(|| token.to_owned(), |double| format!("{double:.0}"))
                };
                threadspec_judge::json::tokens(input).map(token).collect()
            };
        }),
        reading("scripts-with-numbers-beyond-the-doubles-refused", |agent| {
            agent.raw = |input| {
                let huge = |token: &str| {
                    token.starts_with(|c: char| c == '-' || c.is_ascii_digit())
                        && token.parse().is_ok_and(f64::is_infinite)
                };
                if threadspec_judge::json::tokens(input).any(huge) {
                    "number out of range".to_owned()
                } else {
                    input.to_owned()
                }
            };
        }),
        reading("scripts-with-nesting-beyond-50-refused", |agent| {
            agent.raw = |input| {
                let mut depth = 0;
                let is_deep = threadspec_judge::json::tokens(input).any(|token| {
                    depth += i32::from(matches!(token, "{" | "[")) - i32::from(matches!(token, "}" | "]"));
                    depth > 50
                });
                if is_deep { "nested too deep".to_owned() } else { input.to_owned() }
            };
        }),
        reading("whole-numbers-with-a-point", |agent| {
            on_structured(agent, |value| match value.as_i64() {
                Some(number) if number.abs() < 1 << 53 => format!("{number}.0").into(),
                _ => halves::escaped(&value.to_string()).into(),
            });
        }),
        reading("silent-calls-with-null-content", |agent| {
            everywhere(agent, |message| {
                if !calls(message).is_empty() && text(&message["content"]).is_empty() {
                    message["content"] = Value::Null;
                }
            });
        }),
        reading("silent-calls-without-content", |agent| {
            everywhere(agent, |message| {
                let silent = !calls(message).is_empty() && text(&message["content"]).is_empty();
                if let Some(members) = message.as_object_mut().filter(|_| silent) {
                    members.remove("content");
                }
            });
        }),
        reading("metadata-on-every-message", |agent| {
            everywhere(agent, |message| {
                message["response_metadata"] = json!({"model": "m", "usage": {"input_tokens": 3}});
                message["name"] = "agent".into();
            });
        }),
        reading("calls-null-where-there-are-none", |agent| {
            everywhere(agent, |message| {
                if message["type"] == "ai" && calls(message).is_empty() {
                    message["tool_calls"] = Value::Null;
                }
            });
        }),
        reading("empty-arguments-left-out", |agent| {
            everywhere(agent, |message| {
                for call in message
                    .get_mut("tool_calls")
                    .and_then(Value::as_array_mut)
                    .into_iter()
                    .flatten()
                    .filter_map(Value::as_object_mut)
                {
                    call.retain(|name, value| name != "args" || value.as_object().is_some_and(|args| !args.is_empty()));
                }
            });
        }),
        reading("system-messages-first", |agent| {
            rearranged(agent, |list| {
                drop({
                    let systems = systems(list);
                    list.splice(0..0, systems)
                })
            })
        }),
        reading("system-messages-last", |agent| {
            rearranged(agent, |list| {
                let systems = systems(list);
                list.extend(systems);
            });
        }),
        reading("system-messages-joined", |agent| {
            rearranged(agent, |list| {
                let systems = systems(list);
                let texts: Vec<&str> = systems.iter().map(|message| text(&message["content"])).collect();
                if !texts.is_empty() {
                    list.insert(0, json!({"type": "system", "content": texts.join("\n\n")}));
                }
            });
        }),
        reading("system-messages-kept-apart-at-the-end", |agent| {
            agent.end = Box::new(|_, output| {
                output["messages"]
                    .as_array_mut()
                    .into_iter()
                    .for_each(|list| list.retain(|message| message["type"] != "system"))
            });
        }),
        reading("repeated-ids-renamed-to-fresh-ones", |agent| {
            agent.response = Box::new(|run, message| {
                let own: Vec<Value> = calls(message).iter().map(|call| call["id"].clone()).collect();
                let turn = run.turn;
                for (index, call) in
                    message.get_mut("tool_calls").and_then(Value::as_array_mut).into_iter().flatten().enumerate()
                {
                    if own.iter().filter(|id| **id == own[index]).count() > 1 {
                        let id = format!("fresh-{turn}-{index}");
                        run.renamed.push((id.clone(), text(&own[index]).to_owned()));
                        call["id"] = id.into();
                    }
                }
            });
        }),
        reading("ids-renamed-where-a-run-repeats-them", |agent| {
            agent.response = Box::new(|run, message| {
                distinct(run, message);
                let used: Vec<Value> = run.list.iter().flat_map(calls).map(|call| call["id"].clone()).collect();
                let turn = run.turn;
                for call in message.get_mut("tool_calls").and_then(Value::as_array_mut).into_iter().flatten() {
                    if used.contains(&call["id"]) {
                        let id = format!("{}-r{turn}", text(&call["id"]));
                        run.renamed.push((id.clone(), text(&call["id"]).to_owned()));
                        call["id"] = id.into();
                    }
                }
            });
        }),
        reading("responses-with-repeated-ids-refused", |agent| {
            agent.response = Box::new(|run, message| {
                let ids: Vec<Value> = calls(message).iter().map(|call| call["id"].clone()).collect();
                if (1..ids.len()).any(|index| ids[..index].contains(&ids[index])) {
                    run.stop = Some("the model repeats a call id".to_owned());
                }
            });
        }),
        reading("responses-with-empty-ids-refused", |agent| {
            agent.response = Box::new(|run, message| {
                distinct(run, message);
                if calls(message).iter().any(|call| call["id"] == "") {
                    run.stop = Some("the model gave a call no id".to_owned());
                }
            });
        }),
        reading("empty-ids-in-the-given-list-refused", |agent| {
            on_refusable(agent, |run| {
                let is_empty = |id: &Value| id == "";
                let is_nameless = |message: &Value| {
                    is_empty(&message["tool_call_id"]) || calls(message).iter().any(|call| is_empty(&call["id"]))
                };
                run.list.iter().any(is_nameless).then_some("an id is empty")
            });
        }),
        reading("limit-reported-as-a-failure", |agent| {
            agent.answers_when_cut = Box::new(|run, calls| {
                run.stop = Some("GraphRecursionError: the limit is reached".to_owned());
                calls.iter().map(|call| answer(call, "Not executed.")).collect()
            });
        }),
        reading("limit-raised-so-that-the-list-is-lost", |agent| {
            agent.answers_when_cut = Box::new(|run, _| {
                run.stop = Some("MaxTurnsExceeded".to_owned());
                Vec::new()
            });
            agent.end = Box::new(|run, output| {
                if run.stop.as_deref() == Some("MaxTurnsExceeded") {
                    output["messages"] = Value::Null;
                }
            });
        }),
        reading("limit-reported-after-the-last-answer", |agent| {
            agent.is_last = Box::new(|run, message| {
                let is_last = calls(message).is_empty();
                if is_last && run.limit().is_some_and(|limit| run.turn > limit) {
                    run.stop = Some("the limit is reached".to_owned());
                }
                is_last
            });
        }),
        reading("failing-model-tried-once-more-and-reported", |agent| {
            agent.failed = Box::new(|run, error| {
                let [.., last, this] = &run.requests[..] else { return true };
                let again = last != this;
                run.memory = Value::from(&**error);
                if !again {
                    run.stop = Some(error.clone());
                }
                again
            });
            agent.end = Box::new(|run, output| {
                if let Value::String(error) = run.memory.take() {
                    output["failure"] = error.into();
                }
            });
        }),
        reading("names-of-unknown-tools-replaced-where-no-provider-takes-them", |agent| {
            agent.response = Box::new(|run, message| {
                distinct(run, message);
                let tools = run.input["tools"].clone();
                for call in message.get_mut("tool_calls").and_then(Value::as_array_mut).into_iter().flatten() {
                    let name = text(&call["name"]);
                    let is_taken = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
                    if tools.get(name).is_none() && !name.chars().all(is_taken) {
                        call["name"] = "unknown_tool".into();
                    }
                }
            });
        }),
        reading("empty-ids-filled-in", |agent| {
            agent.response = Box::new(|run, message| {
                let turn = run.turn;
                for (index, call) in
                    message.get_mut("tool_calls").and_then(Value::as_array_mut).into_iter().flatten().enumerate()
                {
                    if call["id"] == "" {
                        let id = format!("made-up-{turn}-{index}");
                        run.renamed.push((id.clone(), String::new()));
                        call["id"] = id.into();
                    }
                }
                distinct(run, message);
            });
        }),
        reading("long-ids-shortened-by-a-hash", |agent| {
            agent.response = Box::new(|run, message| {
                distinct(run, message);
                for call in message.get_mut("tool_calls").and_then(Value::as_array_mut).into_iter().flatten() {
                    let old = text(&call["id"]).to_owned();
                    if old.len() > 40 {
                        let sum = old.bytes().fold(5381_u64, |sum, byte| sum.wrapping_mul(33) ^ u64::from(byte));
                        let id = format!("{}{sum:016x}", cut(&old, 8));
                        run.renamed.push((id.clone(), old));
                        call["id"] = id.into();
                    }
                }
            });
        }),
        reading("as-many-requests-as-the-limit", |agent| {
            agent.is_cut = Box::new(|run| run.limit().is_some_and(|limit| run.turn >= limit.max(1)));
        }),
        reading("calls-executed-at-the-limit", |agent| {
            agent.answers_when_cut = Box::new(|run, calls| {
                let answers = calls.iter().map(|call| {
                    let outcome = super::agent::outcome(run, call);
                    answer(call, content(&outcome))
                });
                answers.collect()
            });
        }),
        reading("broken-history-refused", |agent| {
            on_broken(agent, |_| Err("the history has calls without answers, or answers without calls".to_owned()))
        }),
        reading("open-calls-of-the-history-dropped", |agent| {
            on_broken(agent, |list| {
                list.retain(|message| message["type"] != "tool");
                for message in list.iter_mut().filter_map(Value::as_object_mut) {
                    message.remove("tool_calls");
                }
                list.retain(|message| message["type"] != "ai" || !text(&message["content"]).is_empty());
                Ok(())
            });
        }),
        reading("orphans-told-as-text", |agent| {
            on_broken(agent, |list| {
                let ids: Vec<Value> = list.iter().flat_map(calls).map(|call| call["id"].clone()).collect();
                let orphan = |message: &Value| message["type"] == "tool" && !ids.contains(&message["tool_call_id"]);
                for message in list.iter_mut().filter(|message| orphan(message)) {
                    *message =
                        json!({"type": "human", "content": format!("[Earlier result] {}", text(&message["content"]))});
                }
                mend(list);
                Ok(())
            });
        }),
        reading("empty-lists-refused", |agent| {
            on_refusable(agent, |run| run.list.is_empty().then_some("there is no message"));
        }),
        reading("failing-model-tried-once-more", |agent| {
            agent.failed = Box::new(|run, error| {
                let again = run.requests.len() < 2
                    || run.requests[run.requests.len() - 1] != run.requests[run.requests.len() - 2];
                if !again {
                    run.stop = Some(error.clone());
                }
                again
            });
        }),
        reading("empty-last-response-left-out", |agent| {
            agent.end = Box::new(|_, output| {
                output["messages"].as_array_mut().into_iter().for_each(|list| {
                    drop(list.pop_if(|last| {
                        last["type"] == "ai" && calls(last).is_empty() && text(&last["content"]).is_empty()
                    }))
                });
            });
        }),
        reading("nothing-that-is-optional", |agent| {
            agent.at_end = Box::new(|_, _| None);
            agent.end = Box::new(|_, output| {
                if let Some(members) = output.as_object_mut() {
                    members.retain(|name, _| name == "requests" || name == "messages");
                }
            });
        }),
        reading("no-list-at-the-end", |agent| {
            agent.end = Box::new(|_, output| {
                if let Some(members) = output.as_object_mut() {
                    members.shift_remove("messages");
                }
            });
        }),
        reading("parts-of-messages-in-another-order", |agent| {
            everywhere(agent, |message| {
                if let Some(members) = message.as_object_mut() {
                    *members = members.clone().into_iter().rev().collect();
                }
            });
        }),
        reading("given-list-copied", |agent| on_given(agent, |list| *list = list.clone())),
        reading("numbers-of-results-in-exponential-form", |agent| {
            rewritten(agent, |number| number.as_f64().map(|double| format!("{double:e}")));
        }),
        reading("numbers-of-results-with-seventeen-digits", |agent| {
            rewritten(agent, |number| number.as_f64().map(|double| format!("{double:.16E}")));
        }),
        reading("numbers-of-results-in-full", |agent| {
            rewritten(agent, |number| {
                number.as_f64().filter(|double| double.abs() >= 1e-300).map(|double| format!("{double}"))
            });
        }),
        reading("minus-zero-of-results-kept", |agent| {
            rewritten(agent, |number| (number.as_f64() == Some(0.0)).then(|| "-0.0".to_owned()));
        }),
        reading("minus-zero-of-arguments-as-zero", |agent| {
            everywhere(agent, |message| {
                for call in message.get_mut("tool_calls").and_then(Value::as_array_mut).into_iter().flatten() {
                    let mut args = call["args"].take();
                    each(&mut args, &|value| {
                        if value.as_f64() == Some(0.0) {
                            *value = 0.into();
                        }
                    });
                    call["args"] = args;
                }
            });
        }),
        reading("results-with-spaces-between-tokens", |agent| {
            on_structured(agent, |value| {
                threadspec_judge::json::tokens(&halves::escaped(&value.to_string()))
                    .map(|token| format!(" {token} "))
                    .collect::<String>()
                    .into()
            });
        }),
        reading("results-safe-for-html", |agent| {
            on_structured(agent, |value| {
                let escaped = |c: char| {
                    if matches!(c, '<' | '>' | '&' | '\'' | '\u{7f}') {
                        format!("\\u{:04X}", u32::from(c))
                    } else {
                        c.to_string()
                    }
                };
                halves::escaped(&value.to_string()).chars().map(escaped).collect::<String>().into()
            });
        }),
        reading("slashes-of-results-escaped", |agent| {
            on_structured(agent, |value| halves::escaped(&value.to_string()).replace('/', "\\/").into());
        }),
        reading("failures-with-their-class", |agent| on_failure(agent, |error| format!("ToolException: {error}"))),
        reading("failures-between-lines", |agent| {
            on_failure(agent, |error| format!("<error>\n{error}\n</error>\nPlease fix your mistakes."));
        }),
        reading("failing-model-reported-in-other-words", |agent| {
            agent.failed = Box::new(|run, _| {
                run.stop = Some("RuntimeError: the model could not be reached".to_owned());
                false
            });
        }),
        reading("cut-calls-answered-without-words", |agent| {
            agent.answers_when_cut = Box::new(|_, calls| calls.iter().map(|call| answer(call, "")).collect());
        }),
    ]
}

/// Writes numbers of structured results in another way. Integers of any size go through a double.
fn rewritten(agent: &mut Agent, write: fn(&serde_json::Number) -> Option<String>) {
    agent.abilities = Abilities { exact_integers: false, ..agent.abilities };
    on_structured(agent, move |value| {
        let other = |token: &str| {
            let number = serde_json::from_str::<serde_json::Number>(token).ok();
            number.and_then(|number| write(&number)).unwrap_or_else(|| token.to_owned())
        };
        threadspec_judge::json::tokens(&halves::escaped(&value.to_string())).map(other).collect::<String>().into()
    });
}
