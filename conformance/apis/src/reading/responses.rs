//! Answers of OpenAI's Responses.

use super::{AnswerEnd, Closing, ReadAnswer, body_form, form};
use crate::answer::{Finish, ModelAnswer, SaidCall, Thinking};
use crate::error::Error;
use crate::failure::{ApiError, ErrorForm};
use crate::sse::SseEvent;
use crate::usage::Usage;
use serde::Deserialize;
use serde_json::Value;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct ResponseForm {
    id: Option<String>,
    created_at: Option<f64>,
    model: Option<String>,
    status: Option<String>,
    error: Option<Value>,
    incomplete_details: Option<IncompleteDetails>,
    output: Option<Vec<ItemForm>>,
    usage: Option<ResponseUsageForm>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct IncompleteDetails {
    reason: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct ItemForm {
    #[serde(rename = "type")]
    kind: Option<String>,
    id: Option<String>,
    call_id: Option<String>,
    name: Option<String>,
    #[serde(alias = "input")]
    arguments: Option<String>,
    content: Option<Vec<PartForm>>,
    summary: Option<Vec<PartForm>>,
    encrypted_content: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct PartForm {
    text: Option<String>,
    refusal: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct ResponseUsageForm {
    input_tokens: u64,
    output_tokens: u64,
    input_tokens_details: Option<CachedTokens>,
    output_tokens_details: Option<ReasoningTokens>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct CachedTokens {
    cached_tokens: Option<u64>,
    cache_write_tokens: Option<u64>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct ReasoningTokens {
    reasoning_tokens: Option<u64>,
}

/// An event; each kind has some of these members.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct EventForm {
    #[serde(rename = "type")]
    kind: Option<String>,
    response: Option<ResponseForm>,
    item: Option<ItemForm>,
    output_index: Option<u64>,
    delta: Option<String>,
    arguments: Option<String>,
    code: Option<Value>,
    message: Option<String>,
    param: Option<Value>,
    error: Option<ErrorForm>,
}

impl From<ResponseUsageForm> for Usage {
    fn from(form: ResponseUsageForm) -> Self {
        let details = form.input_tokens_details.unwrap_or_default();
        Self {
            input: form.input_tokens,
            cached: details.cached_tokens.unwrap_or_default(),
            written: details.cache_write_tokens.unwrap_or_default(),
            output: form.output_tokens,
            reasoning: form.output_tokens_details.and_then(|details| details.reasoning_tokens).unwrap_or_default(),
        }
    }
}

/// A plain answer.
pub(super) fn read(body: &Value) -> Result<ReadAnswer, Error> {
    let form: ResponseForm = body_form(body)?;
    if form.output.is_none() {
        return Err(Error::new("the answer cannot be read: it has no output"));
    }
    let mut stream = ResponsesStream::default();
    stream.end(form);
    Ok(stream.said())
}

/// A streamed answer, as far as it has come.
#[derive(Clone, Debug, Default)]
pub(super) struct ResponsesStream {
    head: ResponseForm,
    /// The items by their index, and whether each is closed.
    items: Vec<(u64, ItemForm, bool)>,
    end: Option<AnswerEnd>,
    finish: Option<Finish>,
}

impl ResponsesStream {
    pub(super) fn push(&mut self, event: &SseEvent) -> Result<(), Error> {
        let mut form: EventForm = form(event)?;
        let kind = form.kind.take().or_else(|| event.name.clone()).unwrap_or_default();
        match &*kind {
            "response.created" | "response.in_progress" | "response.queued" => {
                self.head = form.response.unwrap_or_default();
            }
            "response.output_item.added" => self.put(form, false),
            "response.output_item.done" => self.put(form, true),
            "response.completed" | "response.incomplete" | "response.failed" => {
                self.end(form.response.unwrap_or_default());
            }
            "error" => {
                let EventForm { code, message, param, error, .. } = form;
                let error = error.unwrap_or_else(|| ErrorForm::of_event(code, message, param));
                self.end.get_or_insert(AnswerEnd::Failed(error.with_status(None)));
            }
            _ => self.inside(&kind, form),
        }
        Ok(())
    }

    pub(super) fn said(&self) -> ReadAnswer {
        let mut answer = ModelAnswer {
            id: self.head.id.clone().unwrap_or_default(),
            model: self.head.model.clone().unwrap_or_default(),
            created: whole_seconds(self.head.created_at),
            usage: self.head.usage.clone().map(Usage::from).unwrap_or_default(),
            finish: self.finish.clone().unwrap_or_default(),
            ..ModelAnswer::default()
        };
        let mut closings = Vec::new();
        for (_, item, is_closed) in &self.items {
            item.add_to(&mut answer, *is_closed, &mut closings);
        }
        // The status says the same whether there are calls or not.
        if self.finish.is_none() {
            answer.finish = answer.usual_finish();
        }
        ReadAnswer::of(answer, &closings, self.end.clone().unwrap_or(AnswerEnd::Broken))
    }

    fn item(&mut self, index: u64) -> Option<&mut ItemForm> {
        self.items.iter_mut().find(|(known, _, _)| *known == index).map(|(_, item, _)| item)
    }

    fn put(&mut self, form: EventForm, is_closed: bool) {
        let (index, item) = (form.output_index.unwrap_or_default(), form.item.unwrap_or_default());
        match self.items.iter_mut().find(|(known, _, _)| *known == index) {
            Some(known) => (known.1, known.2) = (item, is_closed),
            None => self.items.push((index, item, is_closed)),
        }
    }

    /// An event inside an item.
    fn inside(&mut self, kind: &str, form: EventForm) {
        let Some(item) = self.item(form.output_index.unwrap_or_default()) else { return };
        let part = |parts: &mut Option<Vec<PartForm>>, text: Option<String>, refusal: Option<String>| {
            let parts = parts.get_or_insert_default();
            if parts.is_empty() {
                parts.push(PartForm::default());
            }
            let add = |known: &mut Option<String>, new: Option<String>| {
                if let Some(new) = new {
                    *known.get_or_insert_default() += &new;
                }
            };
            if let Some(last) = parts.last_mut() {
                add(&mut last.text, text);
                add(&mut last.refusal, refusal);
            }
        };
        match kind {
            "response.content_part.added" => item.content.get_or_insert_default().push(PartForm::default()),
            "response.reasoning_summary_part.added" => item.summary.get_or_insert_default().push(PartForm::default()),
            "response.output_text.delta" => part(&mut item.content, form.delta, None),
            "response.refusal.delta" => part(&mut item.content, None, form.delta),
            "response.reasoning_summary_text.delta" => part(&mut item.summary, form.delta, None),
            "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta" => {
                *item.arguments.get_or_insert_default() += &form.delta.unwrap_or_default();
            }
            "response.function_call_arguments.done" if form.arguments.is_some() => item.arguments = form.arguments,
            _ => {}
        }
    }

    fn end(&mut self, form: ResponseForm) {
        let is_failed = form.status.as_deref() == Some("failed");
        if is_failed {
            let error = form.error.as_ref().map_or_else(|| ErrorForm::default().with_status(None), ApiError::of_body);
            self.end.get_or_insert(AnswerEnd::Failed(error));
        } else {
            let is_over = matches!(form.status.as_deref(), None | Some("completed" | "incomplete"));
            self.end.get_or_insert(if is_over { AnswerEnd::Whole } else { AnswerEnd::Broken });
        }
        if form.status.as_deref() == Some("incomplete") {
            let reason = form.incomplete_details.as_ref().and_then(|details| details.reason.as_deref());
            self.finish = Some(Finish::of_name(reason.unwrap_or("incomplete")));
        }
        // A failed response lacks what the model sent before.
        if let Some(output) = form.output.as_ref().filter(|output| !output.is_empty() && !is_failed) {
            self.items = (0..).zip(output.clone()).map(|(index, item)| (index, item, true)).collect();
        }
        self.head = form;
    }
}

impl ItemForm {
    fn add_to(&self, answer: &mut ModelAnswer, is_closed: bool, closings: &mut Vec<Closing>) {
        let texts = |parts: &Option<Vec<PartForm>>| -> String {
            parts.iter().flatten().filter_map(|part| part.text.as_deref()).collect()
        };
        match self.kind.as_deref() {
            Some("message") => {
                answer.text += &texts(&self.content);
                for refusal in self.content.iter().flatten().filter_map(|part| part.refusal.as_deref()) {
                    *answer.refusal.get_or_insert_default() += refusal;
                }
                answer.item_id = answer.item_id.take().or_else(|| self.id.clone());
            }
            Some(kind @ ("function_call" | "custom_tool_call")) => {
                answer.calls.push(SaidCall {
                    id: self.call_id.clone().unwrap_or_default(),
                    name: self.name.clone().unwrap_or_default(),
                    arguments: self.arguments.clone().unwrap_or_default(),
                    item_id: self.id.clone(),
                });
                closings.push(match (is_closed, kind) {
                    (false, _) => Closing::Open,
                    (true, "function_call") => Closing::Closed,
                    (true, _) => Closing::AnyText,
                });
            }
            Some("reasoning") => {
                let text = texts(&self.summary);
                let is_redacted = text.is_empty() && self.encrypted_content.is_some();
                let (seal, item_id) = (self.encrypted_content.clone(), self.id.clone());
                answer.thinking.push(Thinking { text, seal, is_redacted, item_id, calls_before: 0 });
            }
            _ => {}
        }
    }
}

/// A time in seconds, which some servers give with a fraction.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "casts of doubles saturate")]
fn whole_seconds(seconds: Option<f64>) -> u64 {
    seconds.unwrap_or_default() as u64
}
