//! Answers of OpenAI's chat completions, and of servers that are like them.

use super::{AnswerEnd, Closing, ReadAnswer, body_form, form};
use crate::answer::{Finish, ModelAnswer, SaidCall, Thinking};
use crate::error::Error;
use crate::failure::{ApiError, ErrorForm};
use crate::sse::SseEvent;
use crate::usage::Usage;
use serde::Deserialize;
use serde_json::Value;

/// A plain answer, or a piece of a streamed one.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CompletionForm {
    id: Option<String>,
    created: Option<u64>,
    model: Option<String>,
    choices: Option<Vec<Choice>>,
    usage: Option<CompletionUsageForm>,
    error: Option<ErrorForm>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Choice {
    index: Option<u64>,
    #[serde(alias = "message")]
    delta: Option<SaidDelta>,
    finish_reason: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct SaidDelta {
    content: Option<String>,
    reasoning_content: Option<String>,
    reasoning: Option<String>,
    refusal: Option<String>,
    tool_calls: Option<Vec<CallForm>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CallForm {
    index: Option<u64>,
    id: Option<String>,
    function: Option<FunctionForm>,
    custom: Option<CustomForm>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct FunctionForm {
    name: Option<String>,
    /// A text; some servers give the value itself.
    arguments: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CustomForm {
    name: Option<String>,
    input: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CompletionUsageForm {
    prompt_tokens: u64,
    completion_tokens: u64,
    prompt_tokens_details: Option<PromptDetails>,
    completion_tokens_details: Option<CompletionDetails>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PromptDetails {
    cached_tokens: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CompletionDetails {
    reasoning_tokens: Option<u64>,
}

impl From<CompletionUsageForm> for Usage {
    fn from(form: CompletionUsageForm) -> Self {
        Self {
            input: form.prompt_tokens,
            cached: form.prompt_tokens_details.and_then(|details| details.cached_tokens).unwrap_or_default(),
            written: 0,
            output: form.completion_tokens,
            reasoning: form.completion_tokens_details.and_then(|details| details.reasoning_tokens).unwrap_or_default(),
        }
    }
}

impl CallForm {
    /// Its name and its arguments, or the part of them that has come.
    fn says(self) -> (Option<String>, String) {
        // Some servers send every member that there is, and those that say nothing empty.
        let is_function = self.function.as_ref().is_some_and(|function| function.name.is_some());
        if let Some(custom) = self.custom.filter(|custom| !is_function || custom.name.as_deref() != Some("")) {
            return (custom.name, custom.input.unwrap_or_default());
        }
        let FunctionForm { name, arguments } = self.function.unwrap_or_default();
        let arguments = match arguments {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text,
            Some(other) => crate::argument_text(&other),
        };
        (name, arguments)
    }
}

/// A plain answer.
pub(super) fn read(body: &Value) -> Result<ReadAnswer, Error> {
    let form: CompletionForm = body_form(body)?;
    let mut stream = ChatStream::default();
    if form.choices.as_ref().is_none_or(Vec::is_empty) {
        return Err(Error::new("the answer cannot be read: it has no choice"));
    }
    stream.take(form, true);
    // A plain answer has all that it says.
    stream.finish.get_or_insert_default();
    Ok(stream.said())
}

/// A streamed answer, as far as it has come.
#[derive(Clone, Debug, Default)]
pub(super) struct ChatStream {
    answer: ModelAnswer,
    /// For each call the index that its fragments have.
    indexes: Vec<Option<u64>>,
    closings: Vec<Closing>,
    finish: Option<Finish>,
    error: Option<ApiError>,
}

impl ChatStream {
    pub(super) fn push(&mut self, event: &SseEvent) -> Result<(), Error> {
        if event.data.trim() != "[DONE]" {
            self.take(form(event)?, false);
        }
        Ok(())
    }

    pub(super) fn said(&self) -> ReadAnswer {
        let answer = ModelAnswer { finish: self.finish.clone().unwrap_or_default(), ..self.answer.clone() };
        let end = match (&self.error, &self.finish) {
            (Some(error), _) => AnswerEnd::Failed(error.clone()),
            (None, Some(_)) => AnswerEnd::Whole,
            (None, None) => AnswerEnd::Broken,
        };
        ReadAnswer::of(answer, &self.closings, end)
    }

    fn take(&mut self, form: CompletionForm, is_plain: bool) {
        let CompletionForm { id, created, model, choices, usage, error } = form;
        let set = |text: &mut String, new: Option<String>| {
            if let Some(new) = new.filter(|_| text.is_empty()) {
                *text = new;
            }
        };
        set(&mut self.answer.id, id);
        set(&mut self.answer.model, model);
        self.answer.created = created.unwrap_or(self.answer.created);
        if let Some(usage) = usage {
            self.answer.usage = usage.into();
        }
        if let Some(error) = error {
            self.error.get_or_insert(error.with_status(None));
        }
        // Others than the first one were not asked for.
        for choice in choices.unwrap_or_default().into_iter().filter(|choice| choice.index.unwrap_or_default() == 0) {
            self.delta(choice.delta.unwrap_or_default(), is_plain);
            if let Some(reason) = choice.finish_reason {
                self.finish = Some(Finish::of_name(&reason));
            }
        }
    }

    fn delta(&mut self, delta: SaidDelta, is_plain: bool) {
        let SaidDelta { content, reasoning_content, reasoning, refusal, tool_calls } = delta;
        self.answer.text += &content.unwrap_or_default();
        if let Some(refusal) = refusal {
            *self.answer.refusal.get_or_insert_default() += &refusal;
        }
        if let Some(thought) = reasoning_content.or(reasoning).filter(|thought| !thought.is_empty()) {
            if self.answer.thinking.is_empty() {
                self.answer.thinking.push(Thinking::default());
            }
            self.answer.thinking[0].text += &thought;
        }
        for call in tool_calls.unwrap_or_default() {
            let (index, id) = (call.index, call.id.clone().filter(|id| !id.is_empty()));
            // No event closes a call; arguments that are a whole object do.
            let closing = if call.custom.is_some() { Closing::AnyText } else { Closing::Closed };
            let (name, arguments) = call.says();
            let position = (!is_plain).then(|| self.known(index, id.as_deref())).flatten();
            let position = position.unwrap_or_else(|| {
                self.indexes.push(index);
                self.closings.push(closing);
                self.answer.calls.push(SaidCall::default());
                self.indexes.len() - 1
            });
            let known = &mut self.answer.calls[position];
            if let Some(id) = id.filter(|_| known.id.is_empty()) {
                known.id = id;
            }
            if let Some(name) = name.filter(|_| known.name.is_empty()) {
                known.name = name;
            }
            // Some servers send all of it again. No object begins twice.
            if !known.arguments.is_empty() && arguments.starts_with(&known.arguments) && arguments.starts_with('{') {
                known.arguments.clear();
            }
            known.arguments += &arguments;
        }
    }

    /// The call that a fragment belongs to: the last one with its index, or without an index the last one. A new id begins a new call,
    /// also where a server gives all calls one index.
    fn known(&self, index: Option<u64>, id: Option<&str>) -> Option<usize> {
        let position = match index {
            Some(_) => self.indexes.iter().rposition(|known| *known == index)?,
            None => self.indexes.len().checked_sub(1)?,
        };
        let known = &self.answer.calls[position].id;
        let is_new = id.is_some_and(|id| !known.is_empty() && id != known);
        (!is_new).then_some(position)
    }
}
