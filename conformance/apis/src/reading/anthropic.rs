//! Answers of Anthropic's messages.

use super::{AnswerEnd, Closing, ReadAnswer, body_form, form};
use crate::answer::{Finish, ModelAnswer, SaidCall, Thinking};
use crate::argument_text;
use crate::error::Error;
use crate::failure::{ApiError, ErrorForm};
use crate::sse::SseEvent;
use crate::usage::Usage;
use serde::Deserialize;
use serde_json::Value;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct MessageForm {
    id: Option<String>,
    model: Option<String>,
    content: Option<Vec<BlockForm>>,
    stop_reason: Option<String>,
    stop_details: Option<StopDetailsForm>,
    usage: Option<MessageUsageForm>,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum BlockForm {
    Text {
        text: Option<String>,
    },
    ToolUse {
        id: Option<String>,
        name: Option<String>,
        input: Option<Value>,
    },
    Thinking {
        thinking: Option<String>,
        signature: Option<String>,
    },
    RedactedThinking {
        data: Option<String>,
    },
    #[serde(other)]
    Unknown,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
#[allow(clippy::struct_field_names, reason = "the names of the API")]
struct MessageUsageForm {
    input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    output_tokens: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum MessageEvent {
    MessageStart {
        message: MessageForm,
    },
    ContentBlockStart {
        index: usize,
        content_block: BlockForm,
    },
    ContentBlockDelta {
        index: usize,
        delta: BlockDelta,
    },
    ContentBlockStop {
        index: usize,
    },
    MessageDelta {
        delta: StopForm,
        usage: Option<MessageUsageForm>,
    },
    MessageStop,
    Error {
        error: ErrorForm,
    },
    /// `ping`, and what is newer than this reader.
    #[serde(other)]
    Unknown,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum BlockDelta {
    #[serde(rename = "text_delta")]
    Text { text: String },
    #[serde(rename = "input_json_delta")]
    Input { partial_json: String },
    #[serde(rename = "thinking_delta")]
    Thinking { thinking: String },
    #[serde(rename = "signature_delta")]
    Signature { signature: String },
    #[serde(other)]
    Unknown,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct StopForm {
    stop_reason: Option<String>,
    stop_details: Option<StopDetailsForm>,
}

/// Why the model refused.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct StopDetailsForm {
    explanation: Option<String>,
}

/// A plain answer.
pub(super) fn read(body: &Value) -> Result<ReadAnswer, Error> {
    let mut message: MessageForm = body_form(body)?;
    let content = message.content.take().ok_or_else(|| Error::new("the answer cannot be read: it has no content"))?;
    let mut stream = AnthropicStream::default();
    stream.begin(message);
    stream.has_stopped = true;
    for (index, block) in content.into_iter().enumerate() {
        stream.block(index, block);
        stream.close(index);
    }
    Ok(stream.said())
}

/// A streamed answer, as far as it has come.
#[derive(Clone, Debug, Default)]
pub(super) struct AnthropicStream {
    answer: ModelAnswer,
    usage: MessageUsageForm,
    /// The blocks by their index, and where each is in the answer.
    blocks: Vec<(usize, BlockPlace)>,
    /// For each call whether its block is closed.
    closings: Vec<Closing>,
    finish: Option<Finish>,
    has_stopped: bool,
    error: Option<ApiError>,
}

#[derive(Clone, Copy, Debug)]
enum BlockPlace {
    Text,
    Call(usize),
    Thinking(usize),
    Elsewhere,
}

impl AnthropicStream {
    pub(super) fn push(&mut self, event: &SseEvent) -> Result<(), Error> {
        match form(event)? {
            MessageEvent::MessageStart { message } => self.begin(message),
            MessageEvent::ContentBlockStart { index, content_block } => self.block(index, content_block),
            MessageEvent::ContentBlockDelta { index, delta } => self.delta(index, delta),
            MessageEvent::ContentBlockStop { index } => self.close(index),
            MessageEvent::MessageDelta { delta, usage } => {
                self.stop(delta);
                self.count(usage.unwrap_or_default());
            }
            MessageEvent::MessageStop => self.has_stopped = true,
            MessageEvent::Error { error } => drop(self.error.get_or_insert(error.with_status(None))),
            MessageEvent::Unknown => {}
        }
        Ok(())
    }

    pub(super) fn said(&self) -> ReadAnswer {
        let answer = ModelAnswer { finish: self.finish.clone().unwrap_or_default(), ..self.answer.clone() };
        let end = match &self.error {
            Some(error) => AnswerEnd::Failed(error.clone()),
            None if self.has_stopped => AnswerEnd::Whole,
            None => AnswerEnd::Broken,
        };
        ReadAnswer::of(answer, &self.closings, end)
    }

    fn begin(&mut self, message: MessageForm) {
        self.answer.id = message.id.unwrap_or_default();
        self.answer.model = message.model.unwrap_or_default();
        self.stop(StopForm { stop_reason: message.stop_reason, stop_details: message.stop_details });
        self.count(message.usage.unwrap_or_default());
    }

    fn stop(&mut self, stop: StopForm) {
        self.finish = stop.stop_reason.map(|reason| Finish::of_name(&reason)).or(self.finish.take());
        let explanation = stop.stop_details.and_then(|details| details.explanation).filter(|text| !text.is_empty());
        self.answer.refusal = explanation.or(self.answer.refusal.take());
    }

    /// Later numbers replace earlier ones.
    fn count(&mut self, usage: MessageUsageForm) {
        let known = &mut self.usage;
        known.input_tokens = usage.input_tokens.or(known.input_tokens);
        known.cache_creation_input_tokens = usage.cache_creation_input_tokens.or(known.cache_creation_input_tokens);
        known.cache_read_input_tokens = usage.cache_read_input_tokens.or(known.cache_read_input_tokens);
        known.output_tokens = usage.output_tokens.or(known.output_tokens);
        let (cached, written) = (known.cache_read_input_tokens, known.cache_creation_input_tokens);
        let (cached, written) = (cached.unwrap_or_default(), written.unwrap_or_default());
        self.answer.usage = Usage {
            input: known.input_tokens.unwrap_or_default() + cached + written,
            cached,
            written,
            output: known.output_tokens.unwrap_or_default(),
            reasoning: 0,
        };
    }

    fn block(&mut self, index: usize, block: BlockForm) {
        let place = match block {
            BlockForm::Text { text } => {
                self.answer.text += &text.unwrap_or_default();
                BlockPlace::Text
            }
            BlockForm::ToolUse { id, name, input } => {
                let input = input.filter(|input| input.as_object().is_none_or(|members| !members.is_empty()));
                self.answer.calls.push(SaidCall {
                    id: id.unwrap_or_default(),
                    name: name.unwrap_or_default(),
                    // An empty object represents what the fragments are to say.
                    arguments: input
                        .filter(|input| !input.is_null())
                        .map(|input| argument_text(&input))
                        .unwrap_or_default(),
                    item_id: None,
                });
                self.closings.push(Closing::Open);
                BlockPlace::Call(self.closings.len() - 1)
            }
            BlockForm::Thinking { thinking, signature } => {
                let seal = signature.filter(|signature| !signature.is_empty());
                let (text, calls_before) = (thinking.unwrap_or_default(), self.answer.calls.len());
                self.answer.thinking.push(Thinking { text, seal, calls_before, ..Thinking::default() });
                BlockPlace::Thinking(self.answer.thinking.len() - 1)
            }
            BlockForm::RedactedThinking { data } => {
                let calls_before = self.answer.calls.len();
                let thinking = Thinking { seal: data, is_redacted: true, calls_before, ..Thinking::default() };
                self.answer.thinking.push(thinking);
                BlockPlace::Thinking(self.answer.thinking.len() - 1)
            }
            BlockForm::Unknown => BlockPlace::Elsewhere,
        };
        self.blocks.push((index, place));
    }

    fn place(&self, index: usize) -> Option<BlockPlace> {
        self.blocks.iter().rev().find(|(known, _)| *known == index).map(|(_, place)| *place)
    }

    fn delta(&mut self, index: usize, delta: BlockDelta) {
        match (self.place(index), delta) {
            (Some(BlockPlace::Text), BlockDelta::Text { text }) => self.answer.text += &text,
            (Some(BlockPlace::Call(call)), BlockDelta::Input { partial_json }) => {
                self.answer.calls[call].arguments += &partial_json;
            }
            (Some(BlockPlace::Thinking(thought)), BlockDelta::Thinking { thinking }) => {
                self.answer.thinking[thought].text += &thinking;
            }
            (Some(BlockPlace::Thinking(thought)), BlockDelta::Signature { signature }) => {
                *self.answer.thinking[thought].seal.get_or_insert_default() += &signature;
            }
            _ => {}
        }
    }

    fn close(&mut self, index: usize) {
        if let Some(BlockPlace::Call(call)) = self.place(index) {
            self.closings[call] = Closing::Closed;
            // No fragments, or only empty ones, are an empty object.
            let arguments = &mut self.answer.calls[call].arguments;
            if arguments.is_empty() {
                "{}".clone_into(arguments);
            }
        }
    }
}
