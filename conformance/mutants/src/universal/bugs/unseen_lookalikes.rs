//! Ids, names, texts and arguments that look like something else: numbers, blanks, markers, control words. Written from the clauses,
//! and from memory of real frameworks, before there was a case for any of them.

use super::unseen::rename;
use super::{
    bug, calls_mut, change_text, each, is, on_arguments, on_given, on_response, on_structured, on_text_result,
};
use crate::agent::{Agent, ToolOutcome, calls, outcome, text};
use crate::planted::Planted;
use serde_json::{Value, json};
use threadspec_golden::clause;
use threadspec_judge::universal::halves;

const IDS: &[&str] = &[clause::AGENT_IDS];
const RESPONSE: &[&str] = &[clause::AGENT_RESPONSE];
const RESULT: &[&str] = &[clause::AGENT_RESULT];
const START: &[&str] = &[clause::AGENT_START];
const GOES_ON: &[&str] = &[clause::AGENT_GOES_ON];

/// Gives calls other ids, and still finds their results.
fn renamed(agent: &mut Agent, other: fn(&str) -> Option<String>) {
    on_response(agent, move |run, message| rename(run, message, &|_, id| other(id)));
}

/// Finds no tool with such a name.
fn not_found(agent: &mut Agent, is_odd: fn(&str) -> bool) {
    agent.outcome = Box::new(move |run, call| match text(&call["name"]) {
        name if is_odd(name) => ToolOutcome::Unknown(name.to_owned()),
        _ => outcome(run, call),
    });
}

/// Repeats calls with other tool names, and still runs them.
fn named(agent: &mut Agent, name: fn(&str) -> &str) {
    agent.after_round = Box::new(move |run| {
        let last = run.list.iter_mut().rfind(|message| is(message, &["ai"]));
        for call in last.into_iter().flat_map(calls_mut) {
            let name = name(text(&call["name"])).to_owned();
            call.insert("name".into(), name.into());
        }
    });
}

/// Ends the run after a round in which the model or a tool said something.
fn ends_at(agent: &mut Agent, of: &'static str, ends: fn(&str) -> bool) {
    agent.after_round = Box::new(move |run| {
        let last = run.list.iter().rfind(|message| is(message, &[of]));
        if last.is_some_and(|message| ends(text(&message["content"]))) {
            run.stop = Some(String::new());
        }
    });
}

/// Changes the values inside arguments.
fn in_arguments(agent: &mut Agent, change: fn(&mut Value)) {
    on_arguments(agent, move |args| {
        args.as_object_mut().into_iter().flat_map(|args| args.values_mut()).for_each(|value| each(value, &change));
    });
}

/// Changes the values inside structured results.
fn in_results(agent: &mut Agent, change: fn(&mut Value)) {
    on_structured(agent, move |value| {
        let mut value = value.clone();
        each(&mut value, &change);
        halves::escaped(&value.to_string()).into()
    });
}

fn empty_object_as_list(value: &mut Value) {
    if *value == json!({}) {
        *value = json!([]);
    }
}

fn keys_of_a_list(value: &mut Value) {
    if let Value::Object(members) = value
        && !members.is_empty()
        && members.keys().enumerate().all(|(index, key)| *key == index.to_string())
    {
        *value = members.values().cloned().collect();
    }
}

fn date_written_anew(value: &mut Value) {
    if let Value::String(text) = value
        && text.len() > 19
        && text.as_bytes()[4] == b'-'
        && text.as_bytes()[10] == b'T'
    {
        *text = text.replace(".000Z", "Z").replace("+00:00", "Z");
    }
}

pub(super) fn bugs() -> Vec<Planted> {
    vec![
        bug("ids-of-digits-read-as-numbers", IDS, |agent| {
            renamed(agent, |id| id.parse::<u64>().ok().map(|number| number.to_string()).filter(|new| new != id));
        }),
        bug("ids-trimmed", IDS, |agent| renamed(agent, |id| Some(id.trim().to_owned()).filter(|new| new != id))),
        bug("ids-that-say-null-made-up", IDS, |agent| {
            renamed(agent, |id| matches!(id, "null" | "None" | "undefined" | "nil").then(|| "call_made_up".to_owned()));
        }),
        bug("ids-that-count-as-false-made-up", IDS, |agent| {
            renamed(agent, |id| matches!(id, "0" | "false").then(|| "call_made_up".to_owned()));
        }),
        bug("ids-composed", IDS, |agent| {
            renamed(agent, |id| Some(id.replace("e\u{301}", "é").replace("a\u{308}", "ä")).filter(|new| new != id));
        }),
        bug("ids-with-percent-codes-decoded", IDS, |agent| {
            renamed(agent, |id| {
                Some(id.replace("%20", " ").replace("%2F", "/").replace('+', " ")).filter(|new| new != id)
            });
        }),
        bug("tools-called-finish-end-the-run", GOES_ON, |agent| {
            agent.after_round = Box::new(|run| {
                let last = run.list.iter().rfind(|message| is(message, &["ai"])).map(calls).unwrap_or_default();
                if last
                    .iter()
                    .any(|call| matches!(text(&call["name"]), "finish" | "final_answer" | "done" | "end" | "stop"))
                {
                    run.stop = Some(String::new());
                }
            });
        }),
        bug("tools-called-null-not-found", RESULT, |agent| {
            not_found(agent, |name| matches!(name, "null" | "None" | "undefined" | "nil"));
        }),
        bug("tools-called-like-numbers-not-found", RESULT, |agent| {
            not_found(agent, |name| name.parse::<f64>().is_ok())
        }),
        bug("tools-called-with-a-namespace-not-found", RESULT, |agent| {
            not_found(agent, |name| name.contains(['.', '/', ':']))
        }),
        bug("tools-called-like-keywords-not-found", RESULT, |agent| {
            not_found(agent, |name| matches!(name, "class" | "default" | "self" | "import" | "lambda"));
        }),
        bug("namespace-of-tool-names-left-out", RESPONSE, |agent| {
            named(agent, |name| name.strip_prefix("functions.").unwrap_or(name));
        }),
        bug("texts-that-count-as-false-dropped", RESPONSE, |agent| {
            on_response(agent, |_, message| {
                change_text(
                    message,
                    |text| if text == "0" || text == "false" { String::new() } else { text.to_owned() },
                )
            });
        }),
        bug("texts-that-say-null-dropped", RESPONSE, |agent| {
            on_response(agent, |_, message| {
                change_text(message, |text| {
                    if matches!(text, "null" | "None" | "undefined") { String::new() } else { text.to_owned() }
                })
            });
        }),
        bug("results-that-say-null-emptied", RESULT, |agent| {
            on_text_result(agent, |text| {
                if matches!(text, "null" | "None" | "undefined") { String::new() } else { text.to_owned() }
            });
        }),
        bug("results-that-say-true-in-capitals", RESULT, |agent| {
            on_text_result(agent, |text| match text {
                "true" => "True".to_owned(),
                "false" => "False".to_owned(),
                _ => text.to_owned(),
            });
        }),
        bug("results-that-say-error-as-failures", RESULT, |agent| {
            on_text_result(agent, |text| {
                text.strip_prefix("Error: ")
                    .map_or_else(|| text.to_owned(), |error| format!("The tool failed: {error}"))
            });
        }),
        bug("results-that-are-images-replaced", RESULT, |agent| {
            on_text_result(
                agent,
                |text| if text.starts_with("data:image/") { "[image]".to_owned() } else { text.to_owned() },
            );
        }),
        bug("results-of-content-blocks-unpacked", &[clause::AGENT_TEXT], |agent| {
            on_text_result(agent, |given| match serde_json::from_str::<Value>(given) {
                Ok(Value::Array(blocks)) if blocks.first().is_some_and(|block| block["type"] == "text") => {
                    blocks.iter().map(|block| text(&block["text"])).collect()
                }
                _ => given.to_owned(),
            });
        }),
        bug("results-in-quotes-unquoted", RESULT, |agent| {
            on_text_result(agent, |text| serde_json::from_str::<String>(text).unwrap_or_else(|_| text.to_owned()));
        }),
        bug("results-that-say-terminate-end-the-run", GOES_ON, |agent| {
            ends_at(agent, "tool", |text| text.contains("TERMINATE"))
        }),
        bug("results-that-look-final-end-the-run", GOES_ON, |agent| {
            ends_at(agent, "tool", |text| text.contains("FINAL ANSWER") || text.contains("__end__"));
        }),
        bug("terminate-beside-calls-ends-the-run", GOES_ON, |agent| {
            ends_at(agent, "ai", |text| text.contains("TERMINATE"))
        }),
        bug("done-beside-calls-ends-the-text", RESPONSE, |agent| {
            on_response(agent, |_, message| {
                change_text(message, |text| text.split("[DONE]").next().unwrap_or_default().to_owned())
            });
        }),
        bug("questions-that-are-commands-dropped", START, |agent| {
            on_given(agent, |list| {
                list.retain(|message| {
                    !is(message, &["human"])
                        || !matches!(text(&message["content"]), "exit" | "quit" | "/clear" | "/reset" | "q")
                })
            });
        }),
        bug("blank-questions-dropped", START, |agent| {
            on_given(agent, |list| {
                list.retain(|message| !is(message, &["human"]) || !text(&message["content"]).trim().is_empty())
            });
        }),
        bug("empty-answers-of-the-history-dropped", START, |agent| {
            on_given(agent, |list| {
                list.retain(|message| {
                    !is(message, &["ai"]) || !text(&message["content"]).is_empty() || !calls(message).is_empty()
                })
            });
        }),
        bug("empty-system-message-dropped", START, |agent| {
            on_given(agent, |list| {
                list.retain(|message| !is(message, &["system"]) || !text(&message["content"]).is_empty())
            });
        }),
        bug("arguments-called-self-dropped", RESPONSE, |agent| {
            on_arguments(agent, |args| {
                args.as_object_mut().into_iter().for_each(|args| {
                    args.retain(|name, _| !matches!(&**name, "self" | "cls" | "kwargs" | "config" | "callbacks"))
                });
            });
        }),
        bug("lone-argument-unwrapped", RESPONSE, |agent| {
            on_arguments(agent, |args| {
                for wrapper in ["arguments", "parameters", "input", "kwargs"] {
                    if args.as_object().is_some_and(|members| members.len() == 1) && args[wrapper].is_object() {
                        *args = args[wrapper].clone();
                    }
                }
            });
        }),
        bug("metadata-in-arguments-dropped", RESPONSE, |agent| {
            on_arguments(agent, |args| {
                super::drop_members(args, |name, _| matches!(name, "$ref" | "$id" | "$type" | "$schema"));
            });
        }),
        bug("digits-in-arguments-as-numbers", RESPONSE, |agent| {
            in_arguments(agent, |value| {
                if let Some(number) = value.as_str().and_then(|text| text.parse::<i64>().ok()) {
                    *value = number.into();
                }
            });
        }),
        bug("words-of-yaml-in-arguments-as-truth", RESPONSE, |agent| {
            in_arguments(agent, |value| {
                *value = match value.as_str() {
                    Some("yes" | "on" | "true") => true.into(),
                    Some("no" | "off" | "false") => false.into(),
                    _ => return,
                }
            });
        }),
        bug("dates-in-arguments-in-another-form", RESPONSE, |agent| in_arguments(agent, date_written_anew)),
        bug("dates-in-results-in-another-form", RESULT, |agent| in_results(agent, date_written_anew)),
        bug("empty-objects-in-arguments-as-empty-lists", RESPONSE, |agent| in_arguments(agent, empty_object_as_list)),
        bug("empty-objects-in-results-as-empty-lists", RESULT, |agent| in_results(agent, empty_object_as_list)),
        bug("arguments-with-the-keys-of-a-list-as-lists", RESPONSE, |agent| in_arguments(agent, keys_of_a_list)),
        bug("results-with-the-keys-of-a-list-as-lists", RESULT, |agent| in_results(agent, keys_of_a_list)),
        bug("nulls-in-lists-of-arguments-dropped", RESPONSE, |agent| {
            in_arguments(agent, |value| {
                value.as_array_mut().into_iter().for_each(|list| list.retain(|element| !element.is_null()))
            });
        }),
        bug("equal-elements-of-results-merged", RESULT, |agent| {
            in_results(agent, |value| value.as_array_mut().into_iter().for_each(Vec::dedup));
        }),
    ]
}
