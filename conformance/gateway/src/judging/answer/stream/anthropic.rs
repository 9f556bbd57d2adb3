//! SSE-ANT-ORDER, -TOOL, -END.

use super::{Excuses, FormEvent, FormFaults};
use serde_json::Value;

/// The events that the SDKs know.
const KNOWN: [&str; 8] = [
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
    "ping",
    "error",
];

#[derive(Default)]
struct MessageCourse {
    excuses: Excuses,
    has_begun: bool,
    has_reason: bool,
    has_ended: bool,
    /// How many blocks have started.
    blocks: u64,
    /// The block that is open, and its type.
    open: Option<(u64, String)>,
}

pub(super) fn judge(events: &[FormEvent<'_>], excuses: Excuses, faults: &mut FormFaults) {
    let mut message = MessageCourse { excuses, ..MessageCourse::default() };
    for event in events {
        let kind = event.data["type"].as_str().unwrap_or_default();
        match event.name {
            None => faults.must(format!("an event `{kind}` has no line `event:`, so that SDKs drop it")),
            Some(name) if name != kind => faults.must(format!("an event is called `{name}`, and its data `{kind}`")),
            Some(name) if !KNOWN.contains(&name) => {
                faults.should(format!("there is an event `{name}`, which the API does not have"));
            }
            Some(_) => {}
        }
        message.take(kind, &event.data, faults);
    }
    if let Some((index, _)) = message.open {
        faults.must(format!("block {index} does not stop"));
    }
    if !message.has_reason {
        faults.must("it has no `message_delta` with a `stop_reason`");
    }
    if !message.has_ended {
        faults.must("it ends without `message_stop`");
    }
}

impl MessageCourse {
    fn take(&mut self, kind: &str, data: &Value, faults: &mut FormFaults) {
        if matches!(kind, "ping" | "error") || !KNOWN.contains(&kind) {
            return;
        }
        if self.has_ended {
            return faults.must(format!("`{kind}` is behind `message_stop`"));
        }
        if kind == "message_start" {
            if self.has_begun {
                faults.must("`message_start` comes twice");
            }
            self.has_begun = true;
            if !data["message"]["usage"].is_object() {
                faults.must("`message_start` has no `usage`, which SDKs read");
            }
            return;
        }
        if !self.has_begun {
            faults.must(format!("`{kind}` is before `message_start`"));
            self.has_begun = true;
        }
        let index = data["index"].as_u64();
        match (kind, index) {
            ("message_delta", _) => {
                self.has_reason |= data["delta"]["stop_reason"].is_string();
                if let Some((open, _)) = &self.open {
                    faults.must(format!("`message_delta` is before block {open} stops"));
                }
            }
            ("message_stop", _) => self.has_ended = true,
            (_, None) => faults.must(format!("`{kind}` has no `index`")),
            ("content_block_start", Some(index)) => self.start(index, &data["content_block"], faults),
            ("content_block_delta", Some(index)) => self.delta(index, &data["delta"], faults),
            (_, Some(index)) => match self.open.take() {
                Some((open, _)) if open == index => {}
                other => {
                    faults.must(format!("block {index} stops, and is not open"));
                    self.open = other;
                }
            },
        }
    }

    fn start(&mut self, index: u64, block: &Value, faults: &mut FormFaults) {
        let kind = block["type"].as_str().unwrap_or_default();
        if let Some((open, _)) = &self.open {
            faults.must(if *open == index {
                format!("block {index} starts twice")
            } else {
                format!("block {index} starts before block {open} stops")
            });
        } else if index < self.blocks {
            faults.must(format!("block {index} starts twice"));
        } else if index > self.blocks {
            faults.must(format!("block {index} starts, and is number {}", self.blocks));
        }
        if kind == "tool_use" {
            for (name, is_excused) in [("id", self.excuses.lacks_ids), ("name", self.excuses.lacks_names)] {
                if !is_excused && block[name].as_str().unwrap_or_default().is_empty() {
                    faults.must(format!("block {index}, a call, has no `{name}`"));
                }
            }
        }
        self.blocks = self.blocks.max(index + 1);
        self.open = Some((index, kind.to_owned()));
    }

    fn delta(&mut self, index: u64, delta: &Value, faults: &mut FormFaults) {
        let kind = delta["type"].as_str().unwrap_or_default();
        match &self.open {
            Some((open, _)) if *open != index => {
                faults.must(format!("a fragment of block {index} comes while block {open} is open"));
            }
            None => faults.must(format!("a fragment of block {index} comes, and none is open")),
            Some((_, block)) => {
                let fits = match kind {
                    "text_delta" | "citations_delta" => block == "text",
                    "input_json_delta" => block.ends_with("tool_use"),
                    "thinking_delta" | "signature_delta" => block == "thinking",
                    _ => true,
                };
                if !fits {
                    faults.must(format!("block {index} is a `{block}`, and has a fragment `{kind}`"));
                }
            }
        }
    }
}
