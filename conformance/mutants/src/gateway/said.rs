//! What is new in a streamed answer.

use threadspec_apis::{ModelAnswer, ReadAnswer};

/// Something that an answer says and did not say before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AnswerNews {
    Thinking(String),
    /// What the provider reads beside the thinking that came before.
    Seal(String),
    Text(String),
    Refusal(String),
    /// A call begins.
    Call {
        number: usize,
        id: String,
        name: String,
    },
    Arguments {
        number: usize,
        text: String,
    },
    /// A call has come whole.
    Closed {
        number: usize,
    },
}

impl AnswerNews {
    /// The call that it is about.
    pub(crate) fn number(&self) -> Option<usize> {
        match self {
            Self::Call { number, .. } | Self::Arguments { number, .. } | Self::Closed { number } => Some(*number),
            _ => None,
        }
    }
}

/// How much of an answer was told.
#[derive(Clone, Debug, Default)]
pub(super) struct Told {
    thinking: Vec<(usize, bool)>,
    text: usize,
    refusal: usize,
    calls: Vec<(usize, bool)>,
}

impl Told {
    /// What the answer says beyond what was told, which is told then.
    pub(super) fn news(&mut self, said: &ReadAnswer) -> Vec<AnswerNews> {
        let ModelAnswer { thinking, text, refusal, calls, .. } = &said.answer;
        let mut news = Vec::new();
        for (number, thought) in thinking.iter().enumerate() {
            if number == self.thinking.len() {
                self.thinking.push((0, false));
            }
            let (told, is_sealed) = &mut self.thinking[number];
            if let Some(rest) = beyond(&thought.text, told) {
                news.push(AnswerNews::Thinking(rest));
            }
            // It is whole when the next part begins, or something else does.
            let is_over = number + 1 < thinking.len() || !text.is_empty() || !calls.is_empty() || said.has_ended();
            if let Some(seal) = thought.seal.clone().filter(|_| is_over && !*is_sealed && !thought.is_redacted) {
                *is_sealed = true;
                news.push(AnswerNews::Seal(seal));
            }
        }
        news.extend(beyond(text, &mut self.text).map(AnswerNews::Text));
        news.extend(beyond(refusal.as_deref().unwrap_or_default(), &mut self.refusal).map(AnswerNews::Refusal));
        for (number, call) in calls.iter().enumerate() {
            if number == self.calls.len() {
                self.calls.push((0, false));
                news.push(AnswerNews::Call { number, id: call.id.clone(), name: call.name.clone() });
            }
            let (told, is_closed) = &mut self.calls[number];
            news.extend(beyond(&call.arguments, told).map(|text| AnswerNews::Arguments { number, text }));
            if said.whole_calls.get(number) == Some(&true) && !*is_closed {
                *is_closed = true;
                news.push(AnswerNews::Closed { number });
            }
        }
        news
    }
}

/// What a text has beyond what was told, if anything.
fn beyond(text: &str, told: &mut usize) -> Option<String> {
    let rest = text.get(*told..).filter(|rest| !rest.is_empty())?;
    *told = text.len();
    Some(rest.to_owned())
}
