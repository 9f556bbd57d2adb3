//! How answers are read: by the helpers of SDKs, by readers of one's own.

use crate::agent::ToolOutcome;
use crate::over_wire::prelude::*;

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

impl WireGroup {
    /// Keeps only the events of these types.
    fn only(self, name: &'static str, types: &'static [&'static str]) -> Planted {
        self.events(name, move |_, events| {
            events.retain(|event| types.contains(&text(&event["type"])) || !event["error"].is_null());
        })
    }
}

pub(super) fn readings() -> Vec<Planted> {
    vec![
        FREE.plant("unreadable-arguments-told", tell_unreadable),
        FREE.of(STREAMS).plant("streams-read-line-by-line", |agent| agent.lines = data_lines),
        FREE.of(STREAMS.of(CHAT))
            .heard("end-known-by-the-reason-for-stopping", |_, heard| heard.is_ended |= !heard.stop.is_empty()),
        FREE.of(STREAMS.of(RESPONSES)).events("texts-taken-when-they-are-done", |_, events| {
            events.retain(|event| event["type"] != "response.output_text.delta");
            for event in events.iter_mut().filter(|event| event["type"] == "response.output_text.done") {
                event["type"] = "response.output_text.delta".into();
                event["delta"] = event["text"].take();
            }
        }),
        FREE.of(STREAMS.of(RESPONSES)).events("arguments-taken-when-they-are-done", |_, events| {
            events.retain(|event| event["type"] != "response.function_call_arguments.delta");
            for event in events.iter_mut().filter(|event| event["type"] == "response.function_call_arguments.done") {
                event["type"] = "response.function_call_arguments.delta".into();
                event["delta"] = event["arguments"].take();
            }
        }),
        FREE.of(STREAMS.of(RESPONSES)).events("response-taken-from-the-last-event", |_, events| {
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
        }),
        FREE.of(STREAMS.of(ANTHROPIC)).only(
            "pings-and-unknown-events-skipped",
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
        ),
        FREE.of(PLAIN).body("streams-where-none-is-asked-for", |_, body| body["stream"] = true.into()),
        neglecting(&[clause::WIRE_OPAQUE_BACK])
            .of(ALL.of(RESPONSES))
            .heard("reasoning-not-sent-back", |_, heard| heard.parts.retain(|part| part["type"] != "opaque")),
        FREE.heard("text-parts-without-words-dropped", |_, heard| {
            heard.parts.retain(|part| part["type"] != "text" || part["text"] != "")
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
