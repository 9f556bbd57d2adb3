//! WIRE-CACHE: the same in other words, so that the provider must read it all again.

use super::{ANTHROPIC, CHAT, OPENAI, bug, history, on_bodies};
use crate::planted::Planted;
use crate::wire::WireAgent;
use crate::wire::modes::ALL;
use serde_json::{Map, Value, json};
use threadspec_golden::clause;
use threadspec_judge::json::text;

const CACHE: &[&str] = &[clause::WIRE_CACHE];

/// Changes the JSON text of arguments in the bodies of some asks.
fn on_arguments(agent: &mut WireAgent, changes: fn(usize) -> bool, change: fn(&Value) -> String) {
    on_bodies(agent, move |run, body| {
        if !changes(run.turn) {
            return;
        }
        for message in history(body) {
            let own = &mut message["arguments"];
            let rewritten = |json: &Value| serde_json::from_str::<Value>(text(json)).ok().map(|args| change(&args));
            if let Some(arguments) = rewritten(own) {
                *own = arguments.into();
            } else if own.is_null() {
                super::without(message, "arguments");
            }
            for call in message.get_mut("tool_calls").and_then(Value::as_array_mut).into_iter().flatten() {
                if let Some(arguments) = rewritten(&call["function"]["arguments"]) {
                    call["function"]["arguments"] = arguments.into();
                }
            }
        }
    });
}

/// An object with its members in the opposite order.
fn reversed(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            members.iter().rev().map(|(name, value)| (name.clone(), reversed(value))).collect::<Map<_, _>>().into()
        }
        Value::Array(elements) => elements.iter().map(reversed).collect(),
        other => other.clone(),
    }
}

fn is_even(turn: usize) -> bool {
    turn.is_multiple_of(2)
}

fn is_late(turn: usize) -> bool {
    turn > 2
}

pub(super) fn bugs() -> Vec<Planted> {
    vec![
        bug("members-of-arguments-in-an-order-of-chance", CACHE, ALL.of(OPENAI), |agent| {
            on_arguments(agent, is_even, |args| reversed(args).to_string());
        }),
        bug("members-of-arguments-in-another-order-from-the-third-ask-on", CACHE, ALL.of(OPENAI), |agent| {
            on_arguments(agent, is_late, |args| reversed(args).to_string());
        }),
        bug("arguments-written-with-spaces-from-the-third-ask-on", CACHE, ALL.of(OPENAI), |agent| {
            on_arguments(agent, is_late, |args| args.to_string().replacen("{\"", "{ \"", 1));
        }),
        bug("arguments-written-over-several-lines-by-chance", CACHE, ALL.of(OPENAI), |agent| {
            on_arguments(agent, is_even, |args| serde_json::to_string_pretty(args).unwrap_or_default());
        }),
        bug("members-of-input-in-an-order-of-chance", CACHE, ALL.of(ANTHROPIC), |agent| {
            on_bodies(agent, |run, body| {
                let blocks = history(body).iter_mut().filter_map(|message| message["content"].as_array_mut()).flatten();
                for block in blocks.filter(|block| is_even(run.turn) && block["type"] == "tool_use") {
                    block["input"] = reversed(&block["input"]);
                }
            });
        }),
        bug("time-in-the-system-message", &[clause::AGENT_PREFIX], ALL, |agent| {
            agent.shown = Box::new(|run, messages| {
                for message in messages.iter_mut().filter(|message| message["type"] == "system").take(1) {
                    message["content"] =
                        format!("{}\nIt is 12:{:02}.", text(&message["content"]), run.turn % 60).into();
                }
            });
        }),
        bug("time-in-front-of-everything", &[clause::AGENT_PREFIX], ALL, |agent| {
            agent.shown = Box::new(|run, messages| {
                let time = json!({"type": "system", "content": format!("It is 12:{:02}.", run.turn % 60)});
                messages.insert(0, time);
            });
        }),
        bug("round-counted-in-the-first-human-message", &[clause::AGENT_PREFIX], ALL, |agent| {
            agent.shown = Box::new(|run, messages| {
                for message in messages.iter_mut().filter(|message| message["type"] == "human").take(1) {
                    message["content"] = format!("{} (round {})", text(&message["content"]), run.turn).into();
                }
            });
        }),
        bug("old-texts-divided-into-parts", CACHE, ALL.of(CHAT), |agent| {
            on_bodies(agent, |run, body| {
                for message in history(body).iter_mut().filter(|message| run.turn > 1 && message["role"] == "user") {
                    if let Some(own) =
                        message["content"].as_str().map(str::to_owned).filter(|own| own.chars().count() > 1)
                    {
                        let (first, rest) = own.split_at(own.char_indices().nth(1).map_or(0, |(at, _)| at));
                        message["content"] = json!([{"type": "text", "text": first}, {"type": "text", "text": rest}]);
                    }
                }
            });
        }),
        bug("five-cache-marks", &[clause::WIRE_RULES], ALL.of(ANTHROPIC), |agent| {
            on_bodies(agent, |_, body| {
                let blocks = history(body).iter_mut().filter_map(|message| message["content"].as_array_mut()).flatten();
                blocks.for_each(|block| block["cache_control"] = json!({"type": "ephemeral"}));
            });
        }),
    ]
}
