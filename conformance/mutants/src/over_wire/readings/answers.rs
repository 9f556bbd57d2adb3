//! How answers are read: by the helpers of SDKs, by readers of one's own.

use super::{neglecting, reading};
use crate::agent::ToolOutcome;
use crate::planted::Planted;
use crate::wire::modes::{ALL, PLAIN, STREAMS};
use crate::wire::{SseLine, WireAgent};
use serde_json::{Value, json};
use threadspec::oracle::Api;
use threadspec_golden::clause;
use threadspec_judge::json::{list, text};

/// Keeps only the events of these types.
fn only(agent: &mut WireAgent, types: &'static [&'static str]) {
    agent.events = Box::new(move |_, events| {
        events.retain(|event| types.contains(&text(&event["type"])) || !event["error"].is_null());
    });
}

/// Reads a stream line by line, and the data of each by itself.
fn data_lines(pieces: &[Vec<u8>]) -> Vec<SseLine> {
    let text = String::from_utf8_lossy(&pieces.concat()).into_owned();
    // What stands behind the last line end is no line yet.
    let lines = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    let data = lines.filter_map(|line| line.trim_end().strip_prefix("data:"));
    data.map(|data| SseLine { name: String::new(), data: data.trim_start().to_owned() }).collect()
}

/// Answers a call whose arguments nobody can read with an error, and sends it back without arguments.
fn tell_unreadable(agent: &mut WireAgent) {
    agent.heard = Box::new(|run, heard| {
        if heard.is_ended && !heard.is_cut_off() {
            let unreadable = |call: &&mut Value| crate::wire::arguments(text(&call["arguments"])).is_none();
            for call in heard.parts_of("call").filter(unreadable) {
                call["arguments"] = "{}".into();
                run.memory[text(&call["id"])] = true.into();
            }
        }
    });
    agent.agent.outcome = Box::new(|run, call| match run.memory[text(&call["id"])].take() {
        Value::Null => crate::agent::outcome(run, call),
        _ => ToolOutcome::Failure("The arguments are no JSON object.".to_owned()),
    });
}

pub(super) fn readings() -> Vec<Planted> {
    vec![
        reading("unreadable-arguments-told", ALL, tell_unreadable),
        reading("streams-read-line-by-line", STREAMS, |agent| agent.lines = data_lines),
        reading("end-known-by-the-reason-for-stopping", STREAMS.of(&[Api::OpenAiChat]), |agent| {
            agent.heard = Box::new(|_, heard| heard.is_ended |= !heard.stop.is_empty());
        }),
        reading("texts-taken-when-they-are-done", STREAMS.of(&[Api::OpenAiResponses]), |agent| {
            agent.events = Box::new(|_, events| {
                events.retain(|event| event["type"] != "response.output_text.delta");
                for event in events.iter_mut().filter(|event| event["type"] == "response.output_text.done") {
                    event["type"] = "response.output_text.delta".into();
                    event["delta"] = event["text"].take();
                }
            });
        }),
        reading("arguments-taken-when-they-are-done", STREAMS.of(&[Api::OpenAiResponses]), |agent| {
            agent.events = Box::new(|_, events| {
                events.retain(|event| event["type"] != "response.function_call_arguments.delta");
                for event in events.iter_mut().filter(|event| event["type"] == "response.function_call_arguments.done")
                {
                    event["type"] = "response.function_call_arguments.delta".into();
                    event["delta"] = event["arguments"].take();
                }
            });
        }),
        reading("response-taken-from-the-last-event", STREAMS.of(&[Api::OpenAiResponses]), |agent| {
            agent.events = Box::new(|_, events| {
                let last = events
                    .iter()
                    .find(|event| ["response.completed", "response.incomplete"].contains(&text(&event["type"])));
                let output = last.map(|event| list(&event["response"]["output"]).to_vec());
                let Some(output) = output else { return };
                events.retain(|event| {
                    !text(&event["type"]).starts_with("response.output_")
                        && !text(&event["type"]).starts_with("response.function_")
                        && !text(&event["type"]).starts_with("response.refusal")
                });
                let at = events.len() - 1;
                let whole = output.into_iter().enumerate().flat_map(|(index, item)| whole_item(index, item));
                let whole: Vec<Value> = whole.collect();
                events.splice(at..at, whole);
            });
        }),
        reading("pings-and-unknown-events-skipped", STREAMS.of(&[Api::Anthropic]), |agent| {
            only(
                agent,
                &[
                    "message_start",
                    "content_block_start",
                    "content_block_delta",
                    "content_block_stop",
                    "message_delta",
                    "message_stop",
                    "garbage",
                    "error",
                ],
            );
        }),
        reading("streams-where-none-is-asked-for", PLAIN, |agent| {
            agent.body = Box::new(|_, body| body["stream"] = true.into());
        }),
        neglecting("reasoning-not-sent-back", &[clause::WIRE_OPAQUE_BACK], ALL.of(&[Api::OpenAiResponses]), |agent| {
            agent.heard = Box::new(|_, heard| heard.parts.retain(|part| part["type"] != "opaque"));
        }),
        reading("text-parts-without-words-dropped", ALL, |agent| {
            agent.heard = Box::new(|_, heard| heard.parts.retain(|part| part["type"] != "text" || part["text"] != ""));
        }),
    ]
}

/// The events that say an item at once.
fn whole_item(index: usize, item: Value) -> Vec<Value> {
    let event = |kind: &str| json!({"type": kind, "output_index": index});
    match text(&item["type"]) {
        "message" => {
            let delta = |part: &Value| {
                let is_refusal = part["type"] == "refusal";
                let mut event = event(if is_refusal { "response.refusal.delta" } else { "response.output_text.delta" });
                event["delta"] = if is_refusal { part["refusal"].clone() } else { part["text"].clone() };
                event
            };
            list(&item["content"]).iter().map(delta).collect()
        }
        "function_call" => {
            let [mut added, mut delta, mut done] = [
                event("response.output_item.added"),
                event("response.function_call_arguments.delta"),
                event("response.output_item.done"),
            ];
            (added["item"], delta["delta"], done["item"]) = (item.clone(), item["arguments"].clone(), item);
            vec![added, delta, done]
        }
        _ => {
            let mut done = event("response.output_item.done");
            done["item"] = item;
            vec![done]
        }
    }
}
