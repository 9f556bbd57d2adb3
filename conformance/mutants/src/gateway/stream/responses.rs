//! Streams of Responses.

use super::super::course::ClientEvent;
use super::super::said::AnswerNews;
use super::blocks::{BlockKind, BlockLine, BlockStep};
use super::{WritesEvents, named};
use serde_json::{Value, json};
use threadspec_apis::{ApiRequest, Finish, ModelAnswer};

pub(super) struct ResponsesEvents {
    request: ApiRequest,
    line: BlockLine,
    open: Option<OpenItem>,
    /// The items that have ended.
    items: Vec<Value>,
    number: u64,
}

/// The item that is open.
struct OpenItem {
    kind: BlockKind,
    id: String,
    text: String,
    seal: Option<String>,
}

impl ResponsesEvents {
    pub(super) fn new(request: ApiRequest) -> Self {
        Self { request, line: BlockLine::default(), open: None, items: Vec::new(), number: 0 }
    }

    fn push(&mut self, events: &mut Vec<ClientEvent>, name: &'static str, mut data: Value) {
        data["sequence_number"] = self.number.into();
        self.number += 1;
        events.push(named(name, data));
    }

    /// The response as it is now, with this status.
    fn response(&self, answer: &ModelAnswer, status: &str) -> Value {
        let mut response = answer.plain(&self.request);
        response["output"] = self.items.clone().into();
        response["status"] = status.into();
        if status == "in_progress" {
            response["usage"] = Value::Null;
        }
        response
    }

    fn steps(&mut self, answer: &ModelAnswer, steps: Vec<BlockStep>, status: &str) -> Vec<ClientEvent> {
        let mut events = Vec::new();
        for step in steps {
            match step {
                BlockStep::Opens(kind) => self.opens(answer, kind, &mut events),
                BlockStep::Fragment(text) => self.fragment(&text, &mut events),
                BlockStep::Seal(seal) => self.open.iter_mut().for_each(|open| open.seal = Some(seal.clone())),
                BlockStep::Closes => self.closes(status, &mut events),
            }
        }
        events
    }

    fn opens(&mut self, answer: &ModelAnswer, kind: BlockKind, events: &mut Vec<ClientEvent>) {
        let index = self.items.len();
        let prefix = match kind {
            BlockKind::Thinking => "rs",
            BlockKind::Text | BlockKind::Refusal => "msg",
            BlockKind::Call { .. } => "fc",
        };
        let id = format!("{prefix}_{}_{index}", super::super::names::digest(&answer.id));
        let open = self.open.insert(OpenItem { kind, id, text: String::new(), seal: None });
        let mut item = open.item("in_progress");
        match &open.kind {
            BlockKind::Thinking => item["summary"] = json!([]),
            BlockKind::Text | BlockKind::Refusal => item["content"] = json!([]),
            BlockKind::Call { .. } => item["arguments"] = "".into(),
        }
        let (part, place) = (open.part(), open.place(index));
        let name = match open.kind {
            BlockKind::Thinking => Some("response.reasoning_summary_part.added"),
            BlockKind::Text | BlockKind::Refusal => Some("response.content_part.added"),
            BlockKind::Call { .. } => None,
        };
        self.push(events, "response.output_item.added", json!({"output_index": index, "item": item}));
        if let Some(name) = name {
            self.push(events, name, with(place, "part", part));
        }
    }

    fn fragment(&mut self, text: &str, events: &mut Vec<ClientEvent>) {
        let index = self.items.len();
        let Some(open) = &mut self.open else { return };
        open.text += text;
        let name = match open.kind {
            BlockKind::Thinking => "response.reasoning_summary_text.delta",
            BlockKind::Text => "response.output_text.delta",
            BlockKind::Refusal => "response.refusal.delta",
            BlockKind::Call { .. } => "response.function_call_arguments.delta",
        };
        let mut data = with(open.place(index), "delta", text.into());
        if open.kind == BlockKind::Text {
            data["logprobs"] = json!([]);
        }
        self.push(events, name, data);
    }

    fn closes(&mut self, status: &str, events: &mut Vec<ClientEvent>) {
        let index = self.items.len();
        let Some(mut open) = self.open.take() else { return };
        if matches!(open.kind, BlockKind::Call { .. }) && open.text.is_empty() && status == "completed" {
            "{}".clone_into(&mut open.text);
        }
        let (place, item, part, text) = (open.place(index), open.item(status), open.part(), Value::from(&*open.text));
        match &open.kind {
            BlockKind::Thinking => {
                self.push(events, "response.reasoning_summary_text.done", with(place.clone(), "text", text));
                self.push(events, "response.reasoning_summary_part.done", with(place, "part", part));
            }
            BlockKind::Text => {
                let done = with(with(place.clone(), "text", text), "logprobs", json!([]));
                self.push(events, "response.output_text.done", done);
                self.push(events, "response.content_part.done", with(place, "part", part));
            }
            BlockKind::Refusal => {
                self.push(events, "response.refusal.done", with(place.clone(), "refusal", text));
                self.push(events, "response.content_part.done", with(place, "part", part));
            }
            BlockKind::Call { name, .. } => {
                let done = with(with(place, "arguments", text), "name", (&**name).into());
                self.push(events, "response.function_call_arguments.done", done);
            }
        }
        self.push(events, "response.output_item.done", json!({"output_index": index, "item": item}));
        self.items.push(item);
    }
}

fn with(mut data: Value, name: &str, value: Value) -> Value {
    data[name] = value;
    data
}

impl OpenItem {
    /// Where a fragment belongs.
    fn place(&self, index: usize) -> Value {
        let mut place = json!({"item_id": self.id, "output_index": index});
        match self.kind {
            BlockKind::Thinking => place["summary_index"] = 0.into(),
            BlockKind::Text | BlockKind::Refusal => place["content_index"] = 0.into(),
            BlockKind::Call { .. } => {}
        }
        place
    }

    fn part(&self) -> Value {
        match self.kind {
            BlockKind::Thinking => json!({"type": "summary_text", "text": self.text}),
            BlockKind::Refusal => json!({"type": "refusal", "refusal": self.text}),
            _ => json!({"type": "output_text", "text": self.text, "annotations": [], "logprobs": []}),
        }
    }

    fn item(&self, status: &str) -> Value {
        match &self.kind {
            BlockKind::Thinking => {
                let mut item = json!({"id": self.id, "type": "reasoning", "summary": [self.part()]});
                if let Some(seal) = &self.seal {
                    item["encrypted_content"] = (&**seal).into();
                }
                item
            }
            BlockKind::Text | BlockKind::Refusal => {
                json!({"id": self.id, "type": "message", "status": status, "role": "assistant", "content": [self.part()]})
            }
            BlockKind::Call { id, name, .. } => {
                json!({"id": self.id, "type": "function_call", "status": status, "call_id": id, "name": name, "arguments": self.text})
            }
        }
    }
}

impl WritesEvents for ResponsesEvents {
    fn begin(&mut self, answer: &ModelAnswer) -> Vec<ClientEvent> {
        let mut events = Vec::new();
        for name in ["response.created", "response.in_progress"] {
            let response = self.response(answer, "in_progress");
            self.push(&mut events, name, json!({"response": response}));
        }
        events
    }

    fn tell(&mut self, answer: &ModelAnswer, news: &AnswerNews) -> Vec<ClientEvent> {
        let steps = self.line.tell(news);
        self.steps(answer, steps, "completed")
    }

    fn end(&mut self, answer: &ModelAnswer) -> Vec<ClientEvent> {
        let is_incomplete = matches!(answer.finish, Finish::Length | Finish::Filter);
        let status = if is_incomplete { "incomplete" } else { "completed" };
        let steps = self.line.end();
        let mut events = self.steps(answer, steps, status);
        let response = self.response(answer, status);
        let name = if is_incomplete { "response.incomplete" } else { "response.completed" };
        self.push(&mut events, name, json!({"response": response}));
        events
    }
}
