//! Streams of chat completions: fragments are told as they come, those of parallel calls, too.

use super::super::course::ClientEvent;
use super::super::said::AnswerNews;
use super::WritesEvents;
use serde_json::{Value, json};
use threadspec::oracle::Api;
use threadspec_apis::{ApiRequest, ModelAnswer};

pub(super) struct ChatEvents {
    has_usage: bool,
}

impl ChatEvents {
    pub(super) fn new(has_usage: bool) -> Self {
        Self { has_usage }
    }
}

fn chunk(answer: &ModelAnswer, delta: &Value, finish: Option<&str>) -> ClientEvent {
    let choice = json!({"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish});
    whole(answer, &json!([choice]))
}

fn whole(answer: &ModelAnswer, choices: &Value) -> ClientEvent {
    let data = json!({"id": answer.id, "object": "chat.completion.chunk", "created": answer.created, "model": answer.model, "choices": choices});
    ClientEvent::new(None, data)
}

impl WritesEvents for ChatEvents {
    fn begin(&mut self, answer: &ModelAnswer) -> Vec<ClientEvent> {
        vec![chunk(answer, &json!({"role": "assistant", "content": ""}), None)]
    }

    fn tell(&mut self, answer: &ModelAnswer, news: &AnswerNews) -> Vec<ClientEvent> {
        let delta = match news {
            AnswerNews::Thinking(text) => json!({"reasoning_content": text}),
            AnswerNews::Text(text) => json!({"content": text}),
            AnswerNews::Refusal(text) => json!({"refusal": text}),
            AnswerNews::Call { number, id, name } => {
                let function = json!({"name": name, "arguments": ""});
                json!({"tool_calls": [{"index": number, "id": id, "type": "function", "function": function}]})
            }
            AnswerNews::Arguments { number, text } => {
                json!({"tool_calls": [{"index": number, "function": {"arguments": text}}]})
            }
            AnswerNews::Seal(_) | AnswerNews::Closed { .. } => return Vec::new(),
        };
        vec![chunk(answer, &delta, None)]
    }

    fn end(&mut self, answer: &ModelAnswer) -> Vec<ClientEvent> {
        let mut events = vec![chunk(answer, &json!({}), Some(answer.finish.name(Api::OpenAiChat)))];
        if self.has_usage {
            let mut last = whole(answer, &json!([]));
            let request = ApiRequest::read(Api::OpenAiChat, &Value::Null);
            last.data["usage"] = answer.plain(&request)["usage"].take();
            events.push(last);
        }
        events.push(ClientEvent::new(None, "[DONE]".into()));
        events
    }
}
