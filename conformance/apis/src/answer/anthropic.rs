//! Answers of Anthropic's messages.

use super::shape::{EventPart, StreamEvent, StreamShape};
use super::{EventList, ModelAnswer, SaidCall};
use crate::failure::ApiError;
use crate::usage::Usage;
use serde::Serialize;
use serde_json::{Map, Value};
use threadspec::oracle::Api;
use threadspec::surrogates::unmark_surrogates;
use threadspec_judge::universal::value;

const PING: (&str, &str) = ("ping", r#"{"type":"ping"}"#);

#[derive(Serialize)]
struct WrittenMessage<'a> {
    id: &'a str,
    #[serde(rename = "type")]
    kind: &'a str,
    role: &'a str,
    model: &'a str,
    content: Vec<WrittenBlock<'a>>,
    stop_reason: Option<&'a str>,
    stop_sequence: (),
    usage: MessageUsage,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum WrittenBlock<'a> {
    Text { text: &'a str },
    ToolUse { id: &'a str, name: &'a str, input: Value },
    Thinking { thinking: &'a str, signature: &'a str },
    RedactedThinking { data: &'a str },
}

#[derive(Serialize)]
struct MessageUsage {
    input_tokens: u64,
    cache_creation_input_tokens: u64,
    cache_read_input_tokens: u64,
    cache_creation: CacheCreation,
    output_tokens: u64,
    service_tier: &'static str,
}

#[derive(Serialize)]
struct CacheCreation {
    ephemeral_5m_input_tokens: u64,
    ephemeral_1h_input_tokens: u64,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum WrittenEvent<'a> {
    MessageStart { message: WrittenMessage<'a> },
    ContentBlockStart { index: usize, content_block: WrittenBlock<'a> },
    ContentBlockDelta { index: usize, delta: WrittenDelta<'a> },
    ContentBlockStop { index: usize },
    MessageDelta { delta: WrittenStop<'a>, usage: OutputTokens },
    MessageStop,
    Error { error: WrittenError<'a> },
}

#[derive(Serialize)]
#[serde(tag = "type")]
enum WrittenDelta<'a> {
    #[serde(rename = "text_delta")]
    Text { text: &'a str },
    #[serde(rename = "input_json_delta")]
    Input { partial_json: &'a str },
    #[serde(rename = "thinking_delta")]
    Thinking { thinking: &'a str },
    #[serde(rename = "signature_delta")]
    Signature { signature: &'a str },
}

#[derive(Serialize)]
struct WrittenStop<'a> {
    stop_reason: &'a str,
    stop_sequence: (),
}

#[derive(Serialize)]
struct WrittenError<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    message: &'a str,
}

#[derive(Serialize)]
struct OutputTokens {
    output_tokens: u64,
}

impl WrittenEvent<'_> {
    fn name(&self) -> &'static str {
        match self {
            Self::MessageStart { .. } => "message_start",
            Self::ContentBlockStart { .. } => "content_block_start",
            Self::ContentBlockDelta { .. } => "content_block_delta",
            Self::ContentBlockStop { .. } => "content_block_stop",
            Self::MessageDelta { .. } => "message_delta",
            Self::MessageStop => "message_stop",
            Self::Error { .. } => "error",
        }
    }
}

fn usage_form(usage: &Usage, output_tokens: u64) -> MessageUsage {
    MessageUsage {
        input_tokens: usage.input.saturating_sub(usage.cached + usage.written),
        cache_creation_input_tokens: usage.written,
        cache_read_input_tokens: usage.cached,
        cache_creation: CacheCreation { ephemeral_5m_input_tokens: usage.written, ephemeral_1h_input_tokens: 0 },
        output_tokens,
        service_tier: "standard",
    }
}

/// Returns the texts of the answer: a refusal is text, too.
pub(super) fn texts(answer: &ModelAnswer) -> impl Iterator<Item = &str> {
    [Some(&*answer.text), answer.refusal.as_deref()].into_iter().flatten().filter(|text| !text.is_empty())
}

/// The value of a call's arguments; what is none is its text, as no plain answer of the API can say it.
pub(super) fn input(call: &SaidCall) -> Value {
    match &*call.arguments {
        "" => Value::Object(Map::new()),
        text => value::read(&unmark_surrogates(text)).unwrap_or_else(|_| text.into()),
    }
}

fn message<'a>(
    answer: &'a ModelAnswer,
    content: Vec<WrittenBlock<'a>>,
    stop_reason: Option<&'a str>,
    output_tokens: u64,
) -> WrittenMessage<'a> {
    WrittenMessage {
        id: &answer.id,
        kind: "message",
        role: "assistant",
        model: &answer.model,
        content,
        stop_reason,
        stop_sequence: (),
        usage: usage_form(&answer.usage, output_tokens),
    }
}

pub(super) fn plain(answer: &ModelAnswer) -> impl Serialize {
    let mut content = Vec::new();
    for thought in &answer.thinking {
        let seal = thought.seal.as_deref().unwrap_or_default();
        content.push(if thought.is_redacted {
            WrittenBlock::RedactedThinking { data: seal }
        } else {
            WrittenBlock::Thinking { thinking: &thought.text, signature: seal }
        });
    }
    content.extend(texts(answer).map(|text| WrittenBlock::Text { text }));
    content.extend(answer.calls.iter().map(|call| WrittenBlock::ToolUse {
        id: &call.id,
        name: &call.name,
        input: input(call),
    }));
    message(answer, content, Some(answer.finish.name(Api::Anthropic)), answer.usage.output)
}

pub(super) fn events(answer: &ModelAnswer, shape: &StreamShape) -> Vec<StreamEvent> {
    let mut writer = BlockWriter { list: EventList::new(shape, Some(PING)), shape, index: 0 };
    writer.push(&WrittenEvent::MessageStart { message: message(answer, Vec::new(), None, 1) }, EventPart::Start);
    if !shape.ping_all {
        writer.list.ping();
    }
    for thought in &answer.thinking {
        let seal = thought.seal.as_deref().unwrap_or_default();
        if thought.is_redacted {
            writer.block(WrittenBlock::RedactedThinking { data: seal }, EventPart::Frame, false, |_, _| {});
            continue;
        }
        writer.block(
            WrittenBlock::Thinking { thinking: "", signature: "" },
            EventPart::Frame,
            false,
            |writer, shape| {
                for thinking in shape.fragments(&thought.text) {
                    writer.delta(WrittenDelta::Thinking { thinking }, EventPart::Thinking);
                }
                writer.delta(WrittenDelta::Signature { signature: seal }, EventPart::Frame);
            },
        );
    }
    if !shape.text_last {
        writer.texts(answer);
    }
    for call in &answer.calls {
        let block = WrittenBlock::ToolUse { id: &call.id, name: &call.name, input: Value::Object(Map::new()) };
        writer.block(block, EventPart::Call, true, |writer, shape| {
            writer.delta(WrittenDelta::Input { partial_json: "" }, EventPart::Frame);
            let arguments = if call.arguments == "{}" { "" } else { &call.arguments };
            for partial_json in shape.fragments(arguments) {
                writer.delta(WrittenDelta::Input { partial_json }, EventPart::Arguments);
            }
        });
    }
    if shape.text_last {
        writer.texts(answer);
    }
    let delta = WrittenStop { stop_reason: answer.finish.name(Api::Anthropic), stop_sequence: () };
    let usage = OutputTokens { output_tokens: answer.usage.output };
    writer.push(&WrittenEvent::MessageDelta { delta, usage }, EventPart::Stop);
    writer.push(&WrittenEvent::MessageStop, EventPart::Stop);
    writer.list.finish()
}

pub(super) fn error_event(error: &ApiError) -> StreamEvent {
    let event = WrittenEvent::Error { error: WrittenError { kind: &error.kind, message: &error.message } };
    super::event(Some(event.name()), &event, EventPart::Error)
}

struct BlockWriter<'a> {
    list: EventList<'a>,
    shape: &'a StreamShape,
    /// The number of the block.
    index: usize,
}

impl BlockWriter<'_> {
    fn push(&mut self, event: &WrittenEvent<'_>, part: EventPart) {
        self.list.push(Some(event.name()), event, part);
    }

    fn delta(&mut self, delta: WrittenDelta<'_>, part: EventPart) {
        self.push(&WrittenEvent::ContentBlockDelta { index: self.index, delta }, part);
    }

    /// A block: its beginning, its fragments, its end.
    fn block(
        &mut self,
        content_block: WrittenBlock<'_>,
        part: EventPart,
        is_call: bool,
        fragments: impl FnOnce(&mut Self, &StreamShape),
    ) {
        self.push(&WrittenEvent::ContentBlockStart { index: self.index, content_block }, part);
        fragments(self, self.shape);
        let end = WrittenEvent::ContentBlockStop { index: self.index };
        self.list.push_as(Some(end.name()), &end, EventPart::Frame, is_call);
        self.index += 1;
    }

    fn texts(&mut self, answer: &ModelAnswer) {
        for (text, part) in texts(answer)
            .zip([if answer.text.is_empty() { EventPart::Refusal } else { EventPart::Text }, EventPart::Refusal])
        {
            self.block(WrittenBlock::Text { text: "" }, EventPart::Frame, false, |writer, shape| {
                for text in shape.fragments(text) {
                    writer.delta(WrittenDelta::Text { text }, part);
                }
            });
        }
    }
}
