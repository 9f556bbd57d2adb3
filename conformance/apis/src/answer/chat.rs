//! Answers of OpenAI's chat completions.

use super::shape::{EventPart, StreamEvent, StreamShape};
use super::{EventList, ModelAnswer, SaidCall, event, in_turn};
use crate::failure::{ApiError, OpenAiError};
use crate::request::ApiRequest;
use crate::usage::Usage;
use serde::Serialize;
use threadspec::oracle::Api;
use threadspec_judge::protocol::ServerDialect;

const SERVICE_TIER: &str = "default";
const FINGERPRINT: &str = "fp_threadspec";
const CHUNK: &str = "chat.completion.chunk";

#[derive(Serialize)]
struct Completion<'a, C, U> {
    id: &'a str,
    object: &'a str,
    created: u64,
    model: &'a str,
    service_tier: &'a str,
    system_fingerprint: &'a str,
    choices: Vec<C>,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<U>,
}

#[derive(Serialize)]
struct PlainChoice<'a> {
    index: u64,
    message: ChoiceMessage<'a>,
    logprobs: (),
    finish_reason: &'a str,
}

#[derive(Serialize)]
struct ChoiceMessage<'a> {
    role: &'a str,
    content: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<String>,
    refusal: Option<&'a str>,
    annotations: [(); 0],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<ToolCallForm<'a>>,
}

#[derive(Serialize)]
struct ToolCallForm<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    kind: Option<&'a str>,
    function: WrittenFunction<'a>,
}

#[derive(Serialize)]
struct WrittenFunction<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    arguments: &'a str,
}

#[derive(Serialize)]
struct ChunkChoice<'a> {
    index: u64,
    delta: ChunkDelta<'a>,
    logprobs: (),
    finish_reason: Option<&'a str>,
}

#[derive(Default, Serialize)]
struct ChunkDelta<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'a str>,
    #[serde(skip_serializing_if = "ChunkText::is_absent")]
    content: ChunkText<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<&'a str>,
    #[serde(skip_serializing_if = "ChunkText::is_absent")]
    refusal: ChunkText<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_calls: Option<[ToolCallForm<'a>; 1]>,
}

/// A member that may be absent, null or a text.
#[derive(Default, Serialize)]
#[serde(untagged)]
enum ChunkText<'a> {
    #[default]
    Absent,
    Null,
    Is(&'a str),
}

impl ChunkText<'_> {
    fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }
}

#[derive(Serialize)]
struct CompletionUsage {
    prompt_tokens: u64,
    completion_tokens: u64,
    total_tokens: u64,
    prompt_tokens_details: PromptTokens,
    completion_tokens_details: CompletionTokens,
}

#[derive(Serialize)]
struct ChunkError<'a> {
    error: OpenAiError<'a>,
}

#[derive(Serialize)]
struct PromptTokens {
    cached_tokens: u64,
    audio_tokens: u64,
}

#[derive(Serialize)]
#[allow(clippy::struct_field_names, reason = "the names of the API")]
struct CompletionTokens {
    reasoning_tokens: u64,
    audio_tokens: u64,
    accepted_prediction_tokens: u64,
    rejected_prediction_tokens: u64,
}

impl CompletionUsage {
    fn of(usage: &Usage) -> Self {
        Self {
            prompt_tokens: usage.input,
            completion_tokens: usage.output,
            total_tokens: usage.input + usage.output,
            prompt_tokens_details: PromptTokens { cached_tokens: usage.cached, audio_tokens: 0 },
            completion_tokens_details: CompletionTokens {
                reasoning_tokens: usage.reasoning,
                audio_tokens: 0,
                accepted_prediction_tokens: 0,
                rejected_prediction_tokens: 0,
            },
        }
    }
}

fn completion<'a, C, U>(
    answer: &'a ModelAnswer,
    object: &'a str,
    choices: Vec<C>,
    usage: Option<U>,
) -> Completion<'a, C, U> {
    Completion {
        id: &answer.id,
        object,
        created: answer.created,
        model: &answer.model,
        service_tier: SERVICE_TIER,
        system_fingerprint: FINGERPRINT,
        choices,
        usage,
    }
}

fn beginning<'a>(index: Option<usize>, call: &'a SaidCall, arguments: &'a str) -> ToolCallForm<'a> {
    let function = WrittenFunction { name: Some(&call.name), arguments };
    ToolCallForm { index, id: Some(&call.id), kind: Some("function"), function }
}

/// Returns the model's thinking, as servers show it that are like OpenAI's.
fn thoughts(answer: &ModelAnswer) -> String {
    answer.thinking.iter().map(|thought| &*thought.text).collect()
}

fn finish(answer: &ModelAnswer) -> &str {
    answer.finish.name(Api::OpenAiChat)
}

pub(super) fn plain(answer: &ModelAnswer) -> impl Serialize {
    let message = ChoiceMessage {
        role: "assistant",
        content: answer.has_text().then_some(&answer.text),
        reasoning_content: Some(thoughts(answer)).filter(|thoughts| !thoughts.is_empty()),
        refusal: answer.refusal.as_deref(),
        annotations: [],
        tool_calls: answer.calls.iter().map(|call| beginning(None, call, &call.arguments)).collect(),
    };
    let choice = PlainChoice { index: 0, message, logprobs: (), finish_reason: finish(answer) };
    let usage = Some(CompletionUsage::of(&answer.usage));
    completion(answer, "chat.completion", vec![choice], usage)
}

pub(super) fn events(answer: &ModelAnswer, request: &ApiRequest, shape: &StreamShape) -> Vec<StreamEvent> {
    let mut writer = ChunkWriter { list: EventList::new(shape, None), answer, shape, has_usage: request.include_usage };
    writer.begin();
    if !shape.text_last {
        writer.texts();
    }
    writer.calls();
    if shape.text_last {
        writer.texts();
    }
    writer.end()
}

struct ChunkWriter<'a> {
    list: EventList<'a>,
    answer: &'a ModelAnswer,
    shape: &'a StreamShape,
    has_usage: bool,
}

impl ChunkWriter<'_> {
    fn push(&mut self, delta: ChunkDelta<'_>, part: EventPart, ends_call: bool) {
        self.push_choice(delta, None, part, ends_call);
    }

    fn push_choice(&mut self, delta: ChunkDelta<'_>, finish_reason: Option<&str>, part: EventPart, ends_call: bool) {
        let choice = ChunkChoice { index: 0, delta, logprobs: (), finish_reason };
        // Every chunk says that the usage comes later, if it comes.
        let usage = self.has_usage.then_some(None::<CompletionUsage>);
        self.list.push_as(None, &completion(self.answer, CHUNK, vec![choice], usage), part, ends_call);
    }

    /// The role, and what the model thought.
    fn begin(&mut self) {
        let content = if self.answer.has_text() { ChunkText::Is("") } else { ChunkText::Null };
        let first = ChunkDelta { role: Some("assistant"), content, refusal: ChunkText::Null, ..ChunkDelta::default() };
        self.push(first, EventPart::Start, false);
        let thoughts = thoughts(self.answer);
        for fragment in self.shape.fragments(&thoughts) {
            let delta = ChunkDelta { reasoning_content: Some(fragment), ..ChunkDelta::default() };
            self.push(delta, EventPart::Thinking, false);
        }
    }

    fn texts(&mut self) {
        for fragment in self.shape.fragments(&self.answer.text) {
            let delta = ChunkDelta { content: ChunkText::Is(fragment), ..ChunkDelta::default() };
            self.push(delta, EventPart::Text, false);
        }
        for fragment in self.shape.fragments(self.answer.refusal.as_deref().unwrap_or_default()) {
            let delta = ChunkDelta { refusal: ChunkText::Is(fragment), ..ChunkDelta::default() };
            self.push(delta, EventPart::Refusal, false);
        }
    }

    fn calls(&mut self) {
        let calls = &self.answer.calls;
        let fragments: Vec<Vec<&str>> = calls.iter().map(|call| self.shape.fragments(&call.arguments)).collect();
        // How many calls begin before their arguments come.
        let is_spoken = |dialect| self.shape.dialect == Some(dialect);
        let index = |call: usize| (!is_spoken(ServerDialect::NoIndex)).then_some(call);
        let together = if self.shape.interleave { calls.len().max(1) } else { 1 };
        for (group, fragments) in fragments.chunks(together).enumerate() {
            let first = group * together;
            let mut left: Vec<usize> = fragments.iter().map(Vec::len).collect();
            for (number, &left) in left.iter().enumerate() {
                let call = beginning(index(first + number), &calls[first + number], "");
                self.push(ChunkDelta { tool_calls: Some([call]), ..ChunkDelta::default() }, EventPart::Call, left == 0);
            }
            let mut said = vec![String::new(); fragments.len()];
            for (number, fragment) in in_turn(fragments) {
                left[number] -= 1;
                said[number] += fragment;
                let function = WrittenFunction {
                    name: is_spoken(ServerDialect::RepeatedNames).then_some(&*calls[first + number].name),
                    arguments: if is_spoken(ServerDialect::CumulativeArguments) { &said[number] } else { fragment },
                };
                let call = ToolCallForm { index: index(first + number), id: None, kind: None, function };
                let delta = ChunkDelta { tool_calls: Some([call]), ..ChunkDelta::default() };
                self.push(delta, EventPart::Arguments, left[number] == 0);
            }
        }
    }

    fn end(mut self) -> Vec<StreamEvent> {
        self.push_choice(ChunkDelta::default(), Some(finish(self.answer)), EventPart::Stop, false);
        if self.has_usage {
            let usage = Some(Some(CompletionUsage::of(&self.answer.usage)));
            let last = completion(self.answer, CHUNK, Vec::<ChunkChoice<'_>>::new(), usage);
            self.list.push(None, &last, EventPart::Stop);
        }
        self.list.push_text("[DONE]", EventPart::Stop);
        self.list.finish()
    }
}

pub(super) fn error_event(error: &ApiError) -> StreamEvent {
    event(None, &ChunkError { error: error.openai() }, EventPart::Error)
}
