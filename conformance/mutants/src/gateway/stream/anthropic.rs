//! Streams of Anthropic's messages.

use super::super::course::ClientEvent;
use super::super::said::AnswerNews;
use super::blocks::{BlockKind, BlockLine, BlockStep};
use super::{WritesEvents, named};
use serde_json::{Value, json};
use threadspec::oracle::Api;
use threadspec_apis::{ApiRequest, ModelAnswer};

#[derive(Default)]
pub(super) struct AnthropicEvents {
    line: BlockLine,
    /// The part that is open.
    open: Option<BlockKind>,
    index: usize,
    is_sealed: bool,
}

impl AnthropicEvents {
    fn events(&mut self, steps: Vec<BlockStep>) -> Vec<ClientEvent> {
        steps.into_iter().flat_map(|step| self.step(step)).collect()
    }

    fn delta(&self, delta: &Value) -> ClientEvent {
        named("content_block_delta", json!({"index": self.index, "delta": delta}))
    }

    fn step(&mut self, step: BlockStep) -> Vec<ClientEvent> {
        match step {
            BlockStep::Opens(kind) => {
                let block = match &kind {
                    BlockKind::Thinking => json!({"type": "thinking", "thinking": "", "signature": ""}),
                    // Here a refusal is a text.
                    BlockKind::Text | BlockKind::Refusal => json!({"type": "text", "text": ""}),
                    BlockKind::Call { id, name, .. } => {
                        json!({"type": "tool_use", "id": id, "name": name, "input": {}})
                    }
                };
                (self.open, self.is_sealed) = (Some(kind), false);
                vec![named("content_block_start", json!({"index": self.index, "content_block": block}))]
            }
            BlockStep::Fragment(text) => vec![match self.open {
                Some(BlockKind::Thinking) => self.delta(&json!({"type": "thinking_delta", "thinking": text})),
                Some(BlockKind::Call { .. }) => self.delta(&json!({"type": "input_json_delta", "partial_json": text})),
                _ => self.delta(&json!({"type": "text_delta", "text": text})),
            }],
            BlockStep::Seal(seal) => {
                self.is_sealed = true;
                vec![self.delta(&json!({"type": "signature_delta", "signature": seal}))]
            }
            BlockStep::Closes => {
                let mut events = Vec::new();
                if self.open == Some(BlockKind::Thinking) && !self.is_sealed {
                    // It is for nobody but this gateway, which does not send thinking on.
                    events.push(self.delta(&json!({"type": "signature_delta", "signature": "gateway"})));
                }
                events.push(named("content_block_stop", json!({"index": self.index})));
                self.index += 1;
                self.open = None;
                events
            }
        }
    }
}

impl WritesEvents for AnthropicEvents {
    fn begin(&mut self, answer: &ModelAnswer) -> Vec<ClientEvent> {
        let request = ApiRequest::read(Api::Anthropic, &Value::Null);
        let mut message = ModelAnswer { id: answer.id.clone(), model: answer.model.clone(), ..ModelAnswer::default() }
            .plain(&request);
        message["content"] = json!([]);
        message["stop_reason"] = Value::Null;
        vec![named("message_start", json!({"message": message}))]
    }

    fn tell(&mut self, _: &ModelAnswer, news: &AnswerNews) -> Vec<ClientEvent> {
        let steps = self.line.tell(news);
        self.events(steps)
    }

    fn end(&mut self, answer: &ModelAnswer) -> Vec<ClientEvent> {
        let steps = self.line.end();
        let mut events = self.events(steps);
        let delta = json!({"stop_reason": answer.finish.name(Api::Anthropic), "stop_sequence": null});
        let usage = json!({"input_tokens": answer.usage.input, "output_tokens": answer.usage.output});
        events.push(named("message_delta", json!({"delta": delta, "usage": usage})));
        events.push(named("message_stop", json!({})));
        events
    }
}
