//! Answers of OpenAI's Responses.

use super::shape::{EventPart, StreamEvent, StreamShape};
use super::{EventList, Finish, ModelAnswer, NAMESPACE_END, SaidCall, Thinking, in_turn};
use crate::failure::ApiError;
use crate::request::ApiRequest;
use crate::usage::Usage;
use serde::Serialize;
use serde_json::{Map, Value, json};
use threadspec::oracle::Api;

#[derive(Serialize)]
struct WrittenResponse<'a> {
    id: &'a str,
    object: &'a str,
    created_at: u64,
    status: &'a str,
    background: bool,
    error: Option<ResponseError<'a>>,
    incomplete_details: Option<WhyIncomplete<'a>>,
    instructions: Value,
    max_output_tokens: Value,
    model: &'a str,
    output: Vec<OutputItem<'a>>,
    parallel_tool_calls: Value,
    previous_response_id: Value,
    reasoning: Value,
    service_tier: &'a str,
    store: Value,
    temperature: Value,
    text: Value,
    tool_choice: Value,
    tools: Value,
    top_p: Value,
    truncation: Value,
    user: Value,
    metadata: Value,
    usage: Option<ResponseUsage>,
}

#[derive(Serialize)]
struct ResponseError<'a> {
    code: &'a str,
    message: &'a str,
}

#[derive(Serialize)]
struct WhyIncomplete<'a> {
    reason: &'a str,
}

#[derive(Clone, Serialize)]
#[serde(untagged)]
enum OutputItem<'a> {
    Reasoning {
        id: &'a str,
        #[serde(rename = "type")]
        kind: &'a str,
        summary: Vec<OutputPart<'a>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        encrypted_content: Option<&'a str>,
    },
    Message {
        id: &'a str,
        #[serde(rename = "type")]
        kind: &'a str,
        status: &'a str,
        role: &'a str,
        content: Vec<OutputPart<'a>>,
    },
    Call {
        id: &'a str,
        #[serde(rename = "type")]
        kind: &'a str,
        status: &'a str,
        arguments: &'a str,
        call_id: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        namespace: Option<&'a str>,
        name: &'a str,
    },
}

#[derive(Clone, Copy, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum OutputPart<'a> {
    OutputText { annotations: [(); 0], logprobs: [(); 0], text: &'a str },
    Refusal { refusal: &'a str },
    SummaryText { text: &'a str },
}

#[derive(Serialize)]
struct ResponseUsage {
    input_tokens: u64,
    input_tokens_details: InputTokens,
    output_tokens: u64,
    output_tokens_details: ResponsesOutputTokens,
    total_tokens: u64,
}

#[derive(Serialize)]
struct InputTokens {
    cached_tokens: u64,
    /// Newer clients want it.
    cache_write_tokens: u64,
}

#[derive(Serialize)]
struct ResponsesOutputTokens {
    reasoning_tokens: u64,
}

/// An event: its type first, its number last.
#[derive(Serialize)]
struct NumberedEvent<'a, B: Serialize> {
    #[serde(rename = "type")]
    kind: &'a str,
    #[serde(flatten)]
    body: B,
    sequence_number: u64,
}

#[derive(Serialize)]
struct ResponseBody<'a> {
    response: WrittenResponse<'a>,
}

#[derive(Serialize)]
struct ItemBody<'a> {
    item: OutputItem<'a>,
    output_index: usize,
}

#[derive(Serialize)]
struct ErrorEventBody<'a> {
    code: &'a str,
    message: &'a str,
    param: Option<&'a str>,
}

/// The events inside an item.
#[derive(Serialize)]
struct InsideBody<'a> {
    output_index: usize,
    item_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    content_index: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary_index: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    part: Option<OutputPart<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    delta: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refusal: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    logprobs: Option<[(); 0]>,
}

/// The items of an answer, in their order.
enum ItemSource<'a> {
    Reasoning(&'a Thinking),
    Message,
    Call(&'a SaidCall),
}

fn sources(answer: &ModelAnswer, text_last: bool) -> Vec<ItemSource<'_>> {
    let message = || (answer.has_text() || answer.refusal.is_some()).then_some(ItemSource::Message);
    let calls = answer.calls.iter().map(ItemSource::Call);
    let thoughts = answer.thinking.iter().map(ItemSource::Reasoning);
    let (first, last) = if text_last { (None, message()) } else { (message(), None) };
    thoughts.chain(first).chain(calls).chain(last).collect()
}

fn text_part(text: &str) -> OutputPart<'_> {
    OutputPart::OutputText { annotations: [], logprobs: [], text }
}

/// The parts of the message: its text, its refusal.
fn parts(answer: &ModelAnswer) -> Vec<OutputPart<'_>> {
    let text = answer.has_text().then(|| text_part(&answer.text));
    let refusal = answer.refusal.as_deref().map(|refusal| OutputPart::Refusal { refusal });
    text.into_iter().chain(refusal).collect()
}

struct Items<'a> {
    answer: &'a ModelAnswer,
    has_encrypted: bool,
}

impl<'a> Items<'a> {
    fn id(&self, source: &ItemSource<'a>) -> &'a str {
        let id = match source {
            ItemSource::Reasoning(thought) => &thought.item_id,
            ItemSource::Message => &self.answer.item_id,
            ItemSource::Call(call) => &call.item_id,
        };
        id.as_deref().unwrap_or_default()
    }

    /// An item as it is when it is added, or when it is whole.
    fn item(&self, source: &ItemSource<'a>, is_whole: bool, status: &'a str) -> OutputItem<'a> {
        let id = self.id(source);
        match source {
            ItemSource::Reasoning(thought) => {
                let is_shown = is_whole && !thought.text.is_empty();
                let summary = is_shown.then_some(OutputPart::SummaryText { text: &thought.text }).into_iter().collect();
                let encrypted_content = thought.seal.as_deref().filter(|_| self.has_encrypted);
                OutputItem::Reasoning { id, kind: "reasoning", summary, encrypted_content }
            }
            ItemSource::Message => {
                let content = if is_whole { parts(self.answer) } else { Vec::new() };
                OutputItem::Message { id, kind: "message", status, role: "assistant", content }
            }
            ItemSource::Call(call) => {
                let (namespace, name) = match call.name.split_once(NAMESPACE_END) {
                    Some((namespace, name)) => (Some(namespace), name),
                    None => (None, call.name.as_str()),
                };
                OutputItem::Call {
                    id,
                    kind: "function_call",
                    status,
                    arguments: if is_whole { &call.arguments } else { "" },
                    call_id: &call.id,
                    namespace,
                    name,
                }
            }
        }
    }
}

/// How an answer has ended: its status, and the reason if it is incomplete.
fn status(finish: &Finish) -> (&'static str, Option<&str>) {
    match finish {
        Finish::Length | Finish::Filter => ("incomplete", Some(finish.name(Api::OpenAiResponses))),
        _ => ("completed", None),
    }
}

fn items<'a>(answer: &'a ModelAnswer, request: &ApiRequest, text_last: bool) -> Vec<OutputItem<'a>> {
    let items = Items { answer, has_encrypted: request.wants_encrypted_reasoning() };
    let sources = sources(answer, text_last);
    let last = sources.len().saturating_sub(1);
    let of = |(position, source)| {
        // What the end has cut off is the last item.
        let state = if position == last { status(&answer.finish).0 } else { "completed" };
        items.item(source, true, state)
    };
    sources.iter().enumerate().map(of).collect()
}

fn response<'a>(
    answer: &'a ModelAnswer,
    request: &'a ApiRequest,
    status: &'a str,
    output: Vec<OutputItem<'a>>,
    usage: Option<&Usage>,
) -> WrittenResponse<'a> {
    let echo = |name: &str, default: Value| request.echo.get(name).cloned().unwrap_or(default);
    let reasoning = || {
        let mut members = Map::from_iter([("effort".to_owned(), Value::Null), ("summary".to_owned(), Value::Null)]);
        members.extend(request.echo.get("reasoning").and_then(Value::as_object).cloned().unwrap_or_default());
        Value::Object(members)
    };
    WrittenResponse {
        id: &answer.id,
        object: "response",
        created_at: answer.created,
        status,
        background: false,
        error: None,
        incomplete_details: None,
        instructions: echo("instructions", Value::Null),
        max_output_tokens: echo("max_output_tokens", Value::Null),
        model: &answer.model,
        output,
        parallel_tool_calls: echo("parallel_tool_calls", true.into()),
        previous_response_id: echo("previous_response_id", Value::Null),
        reasoning: reasoning(),
        service_tier: "default",
        store: echo("store", true.into()),
        temperature: echo("temperature", json!(1.0)),
        text: echo("text", json!({"format": {"type": "text"}})),
        tool_choice: echo("tool_choice", "auto".into()),
        tools: echo("tools", json!([])),
        top_p: echo("top_p", json!(1.0)),
        truncation: echo("truncation", "disabled".into()),
        user: echo("user", Value::Null),
        metadata: echo("metadata", json!({})),
        usage: usage.map(|usage| ResponseUsage {
            input_tokens: usage.input,
            input_tokens_details: InputTokens { cached_tokens: usage.cached, cache_write_tokens: usage.written },
            output_tokens: usage.output,
            output_tokens_details: ResponsesOutputTokens { reasoning_tokens: usage.reasoning },
            total_tokens: usage.input + usage.output,
        }),
    }
}

fn whole<'a>(answer: &'a ModelAnswer, request: &'a ApiRequest, text_last: bool) -> WrittenResponse<'a> {
    let (status, reason) = status(&answer.finish);
    let output = items(answer, request, text_last);
    WrittenResponse {
        incomplete_details: reason.map(|reason| WhyIncomplete { reason }),
        ..response(answer, request, status, output, Some(&answer.usage))
    }
}

pub(super) fn plain<'a>(answer: &'a ModelAnswer, request: &'a ApiRequest) -> impl Serialize + 'a {
    whole(answer, request, false)
}

pub(super) fn events(answer: &ModelAnswer, request: &ApiRequest, shape: &StreamShape) -> Vec<StreamEvent> {
    let mut writer = ItemWriter { list: EventList::new(shape, None), shape, number: 0 };
    for (kind, part) in [("response.created", EventPart::Start), ("response.in_progress", EventPart::Frame)] {
        let response = response(answer, request, "in_progress", Vec::new(), None);
        writer.push(kind, ResponseBody { response }, part);
    }
    let items = Items { answer, has_encrypted: request.wants_encrypted_reasoning() };
    let sources = sources(answer, shape.text_last);
    let whole_items = self::items(answer, request, shape.text_last);
    let done = |index: usize| ItemBody { item: whole_items[index].clone(), output_index: index };
    let mut calls: Vec<(usize, &SaidCall)> = Vec::new();
    for (index, source) in sources.iter().enumerate() {
        let is_next_a_call = matches!(sources.get(index + 1), Some(ItemSource::Call(_)));
        let added = ItemBody { item: items.item(source, false, "in_progress"), output_index: index };
        let part = if matches!(source, ItemSource::Call(_)) { EventPart::Call } else { EventPart::Frame };
        writer.push("response.output_item.added", added, part);
        match source {
            ItemSource::Reasoning(thought) => writer.summary(index, items.id(source), &thought.text),
            ItemSource::Message => writer.message(index, items.id(source), answer),
            ItemSource::Call(call) => {
                calls.push((index, call));
                if !shape.interleave || !is_next_a_call {
                    writer.calls(&std::mem::take(&mut calls), &done);
                }
                continue;
            }
        }
        writer.push("response.output_item.done", done(index), EventPart::Frame);
    }
    let kind = if status(&answer.finish).1.is_some() { "response.incomplete" } else { "response.completed" };
    let response = whole(answer, request, shape.text_last);
    writer.push(kind, ResponseBody { response }, EventPart::Stop);
    writer.list.finish()
}

/// The error itself, or a response that failed; numbered behind the events that were sent.
pub(super) fn error_event(
    answer: &ModelAnswer,
    request: &ApiRequest,
    error: &ApiError,
    sent: &[StreamEvent],
    as_failed: bool,
) -> StreamEvent {
    let sequence_number = sent.iter().filter(|event| event.part != EventPart::Comment).count() as u64;
    let (code, message) = (error.code.as_deref().unwrap_or(&error.kind), &*error.message);
    if as_failed {
        let response = response(answer, request, "failed", Vec::new(), None);
        let response = WrittenResponse { error: Some(ResponseError { code, message }), ..response };
        let kind = "response.failed";
        return super::event(
            Some(kind),
            &NumberedEvent { kind, body: ResponseBody { response }, sequence_number },
            EventPart::Error,
        );
    }
    let body = ErrorEventBody { code, message, param: error.param.as_deref() };
    super::event(Some("error"), &NumberedEvent { kind: "error", body, sequence_number }, EventPart::Error)
}

struct ItemWriter<'a> {
    list: EventList<'a>,
    shape: &'a StreamShape,
    number: u64,
}

fn inside(output_index: usize, item_id: &str) -> InsideBody<'_> {
    InsideBody {
        output_index,
        item_id,
        content_index: None,
        summary_index: None,
        part: None,
        delta: None,
        text: None,
        refusal: None,
        arguments: None,
        logprobs: None,
    }
}

impl ItemWriter<'_> {
    fn push(&mut self, kind: &'static str, body: impl Serialize, part: EventPart) {
        self.push_as(kind, body, part, false);
    }

    fn push_as(&mut self, kind: &'static str, body: impl Serialize, part: EventPart, ends_call: bool) {
        let event = NumberedEvent { kind, body, sequence_number: self.number };
        self.number += 1;
        self.list.push_as(Some(kind), &event, part, ends_call);
    }

    fn summary(&mut self, index: usize, id: &str, text: &str) {
        if text.is_empty() {
            return;
        }
        let of_part = || InsideBody { summary_index: Some(0), ..inside(index, id) };
        let part = |text| Some(OutputPart::SummaryText { text });
        let added = InsideBody { part: part(""), ..of_part() };
        self.push("response.reasoning_summary_part.added", added, EventPart::Frame);
        for delta in self.shape.fragments(text) {
            let body = InsideBody { delta: Some(delta), ..of_part() };
            self.push("response.reasoning_summary_text.delta", body, EventPart::Thinking);
        }
        let done = InsideBody { text: Some(text), ..of_part() };
        self.push("response.reasoning_summary_text.done", done, EventPart::Frame);
        self.push(
            "response.reasoning_summary_part.done",
            InsideBody { part: part(text), ..of_part() },
            EventPart::Frame,
        );
    }

    fn message(&mut self, index: usize, id: &str, answer: &ModelAnswer) {
        for (content_index, part) in (0_u64..).zip(parts(answer)) {
            let of_part = || InsideBody { content_index: Some(content_index), ..inside(index, id) };
            let (empty, text) = match part {
                OutputPart::Refusal { refusal } => (OutputPart::Refusal { refusal: "" }, refusal),
                OutputPart::OutputText { text, .. } | OutputPart::SummaryText { text } => (text_part(""), text),
            };
            let added = InsideBody { part: Some(empty), ..of_part() };
            self.push("response.content_part.added", added, EventPart::Frame);
            if matches!(part, OutputPart::Refusal { .. }) {
                for delta in self.shape.fragments(text) {
                    let body = InsideBody { delta: Some(delta), ..of_part() };
                    self.push("response.refusal.delta", body, EventPart::Refusal);
                }
                let done = InsideBody { refusal: Some(text), ..of_part() };
                self.push("response.refusal.done", done, EventPart::Frame);
            } else {
                for delta in self.shape.fragments(text) {
                    let body = InsideBody { delta: Some(delta), logprobs: Some([]), ..of_part() };
                    self.push("response.output_text.delta", body, EventPart::Text);
                }
                let done = InsideBody { text: Some(text), logprobs: Some([]), ..of_part() };
                self.push("response.output_text.done", done, EventPart::Frame);
            }
            self.push("response.content_part.done", InsideBody { part: Some(part), ..of_part() }, EventPart::Frame);
        }
    }

    /// The arguments of calls that were added, and their ends.
    fn calls<'b>(&mut self, calls: &[(usize, &SaidCall)], done: &impl Fn(usize) -> ItemBody<'b>) {
        let fragments: Vec<Vec<&str>> = calls.iter().map(|(_, call)| self.shape.fragments(&call.arguments)).collect();
        for (number, delta) in in_turn(&fragments) {
            let (index, call) = calls[number];
            let body = InsideBody { delta: Some(delta), ..inside(index, call.item_id.as_deref().unwrap_or_default()) };
            self.push("response.function_call_arguments.delta", body, EventPart::Arguments);
        }
        for &(index, call) in calls {
            let whole = InsideBody {
                arguments: Some(&call.arguments),
                ..inside(index, call.item_id.as_deref().unwrap_or_default())
            };
            self.push("response.function_call_arguments.done", whole, EventPart::Frame);
            self.push_as("response.output_item.done", done(index), EventPart::Frame, true);
        }
    }
}
