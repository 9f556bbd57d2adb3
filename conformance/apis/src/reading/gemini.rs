//! Answers of Gemini's `generateContent`.

use super::{AnswerEnd, Closing, ReadAnswer, form};
use crate::answer::{Finish, ModelAnswer, SaidCall, Thinking};
use crate::argument_text;
use crate::error::Error;
use crate::failure::ApiError;
use crate::sse::SseEvent;
use crate::usage::Usage;
use serde_json::{Map, Value};

/// A plain answer, or the list of the pieces of a stream.
pub(super) fn read(body: &Value) -> Result<ReadAnswer, Error> {
    let mut stream = GeminiStream::default();
    let pieces = body.as_array().map_or_else(|| std::slice::from_ref(body), Vec::as_slice);
    let is_piece = |piece: &Value| ["candidates", "promptFeedback", "error"].iter().any(|name| !piece[*name].is_null());
    if pieces.is_empty() || !pieces.iter().all(is_piece) {
        return Err(Error::new("the answer cannot be read: it has no candidates"));
    }
    for piece in pieces {
        stream.take(piece);
    }
    Ok(stream.said())
}

/// A streamed answer, as far as it has come.
#[derive(Clone, Debug, Default)]
pub(super) struct GeminiStream {
    answer: ModelAnswer,
    finish: Option<Finish>,
    error: Option<ApiError>,
}

impl GeminiStream {
    pub(super) fn push(&mut self, event: &SseEvent) -> Result<(), Error> {
        self.take(&form::<Value>(event)?);
        Ok(())
    }

    pub(super) fn said(&self) -> ReadAnswer {
        let usual = self.answer.usual_finish();
        let finish = self.finish.clone().map(|finish| if finish == Finish::End { usual } else { finish });
        let end = match &self.error {
            Some(error) => AnswerEnd::Failed(error.clone()),
            None if finish.is_some() => AnswerEnd::Whole,
            None => AnswerEnd::Broken,
        };
        let answer = ModelAnswer { finish: finish.unwrap_or_default(), ..self.answer.clone() };
        let closings = vec![Closing::Closed; answer.calls.len()];
        ReadAnswer::of(answer, &closings, end)
    }

    fn take(&mut self, piece: &Value) {
        if piece["error"].is_object() {
            self.error.get_or_insert(ApiError::of_body(piece));
            return;
        }
        let text = |name: &str| piece[name].as_str().map(str::to_owned);
        self.answer.id = text("responseId").unwrap_or_else(|| std::mem::take(&mut self.answer.id));
        self.answer.model = text("modelVersion").unwrap_or_else(|| std::mem::take(&mut self.answer.model));
        let candidate = &piece["candidates"][0];
        for part in candidate["content"]["parts"].as_array().into_iter().flatten() {
            self.part(part);
        }
        let reason = candidate["finishReason"].as_str().or_else(|| piece["promptFeedback"]["blockReason"].as_str());
        self.finish = reason.map(Finish::of_name).or(self.finish.take());
        self.count(&piece["usageMetadata"]);
    }

    fn part(&mut self, part: &Value) {
        let text = part["text"].as_str().unwrap_or_default();
        if part["thought"] == true {
            match self.answer.thinking.last_mut() {
                Some(thought) => thought.text += text,
                None => self.answer.thinking.push(Thinking { text: text.to_owned(), ..Thinking::default() }),
            }
        } else {
            self.answer.text += text;
        }
        if let Some(signature) = part["thoughtSignature"].as_str() {
            if self.answer.thinking.is_empty() {
                self.answer.thinking.push(Thinking::default());
            }
            self.answer.thinking.iter_mut().for_each(|thought| thought.seal = Some(signature.to_owned()));
        }
        let call = &part["functionCall"];
        if call.is_object() {
            let text = |name: &str| call[name].as_str().unwrap_or_default().to_owned();
            let arguments = argument_text(call.get("args").unwrap_or(&Map::new().into()));
            self.answer.calls.push(SaidCall { id: text("id"), name: text("name"), arguments, item_id: None });
        }
    }

    /// Later numbers replace earlier ones.
    fn count(&mut self, usage: &Value) {
        let count = |name: &str| usage[name].as_u64().unwrap_or_default();
        if usage.is_object() {
            let reasoning = count("thoughtsTokenCount");
            let (input, cached) = (count("promptTokenCount"), count("cachedContentTokenCount"));
            let output = count("candidatesTokenCount") + reasoning;
            self.answer.usage = Usage { input, cached, written: 0, output, reasoning };
        }
    }
}
