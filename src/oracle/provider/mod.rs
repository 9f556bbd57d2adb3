//! Checks the history of an agent that calls tools by the rules of each model API, and finds the breaches in a request.
//!
//! `golden/provider-rules.json` has where each rule was seen, with a request that breaks it and one that does not;
//! `golden/provider-rules.md` says which rules are not judged here, and why.

mod anthropic;
mod bedrock;
mod breach;
mod context;
mod form;
mod gemini;
mod openai_chat;
mod openai_responses;
mod openai_tools;
mod sent_thinking;

pub use breach::{Breach, BreachDetail};
pub use context::{RequestContext, RequestHeaders, StoredItems};
pub use form::{Api, RequestForm};
pub use sent_thinking::SentThinking;

use crate::Error;
use crate::MemberLookup;
use crate::surrogates::{mark_surrogates, repair_surrogates};
use breach::Breaches;
use serde_json::{Map, Value};
use std::collections::HashMap;

/// One thing that an API demands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProviderRule {
    /// A name that never changes.
    pub id: &'static str,
    /// Whose rule it is.
    pub api: RequestForm,
    /// The requirement.
    pub text: &'static str,
}

/// Every rule that is judged.
pub fn provider_rules() -> impl Iterator<Item = ProviderRule> {
    RequestForm::ALL.into_iter().flat_map(|api| {
        let rules = match api {
            RequestForm::Api(Api::OpenAiChat) => openai_chat::RULES,
            RequestForm::Api(Api::OpenAiResponses) => openai_responses::RULES,
            RequestForm::Api(Api::Anthropic) => anthropic::RULES,
            RequestForm::Gemini => gemini::RULES,
            RequestForm::BedrockConverse => bedrock::RULES,
        };
        rules.iter().map(move |&(id, text)| ProviderRule { id, api, text })
    })
}

/// The rules that the body of a request breaks, in the order of the body; none if the API accepts it.
///
/// It takes the JSON text, since a parsed value shows no lone surrogate.
///
/// ```
/// use threadspec::oracle::{Api, provider_breaches};
/// let body = r#"{"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yes? "}]}"#;
/// assert_eq!(provider_breaches(Api::OpenAiChat, body)?, []);
/// let breaches = provider_breaches(Api::Anthropic, body)?;
/// assert_eq!((breaches[0].rule, &*breaches[0].place), ("ANT-TRAILING", "messages[1].content"));
/// # Ok::<(), threadspec::Error>(())
/// ```
///
/// # Errors
/// An [`Error`] with [`is_invalid_input`](Error::is_invalid_input) if the text is not a JSON object.
pub fn provider_breaches(api: impl Into<RequestForm>, body: &str) -> Result<Vec<Breach>, Error> {
    let body: Map<String, Value> = serde_json::from_str(&mark_surrogates(body))
        // For the place of the error: a mark is shorter than the escape that it represents.
        .or_else(|_| serde_json::from_str(&repair_surrogates(body)))
        .map_err(|error| Error::input(format!("the body of a request is a JSON object: {error}")))?;
    Ok(provider_breaches_in(api, &Value::Object(body)))
}

/// As [`provider_breaches`], of a body that was read with [`read_json`](crate::read_json).
pub fn provider_breaches_in(api: impl Into<RequestForm>, body: &Value) -> Vec<Breach> {
    provider_breaches_with(api, &RequestContext::default(), body)
}

/// As [`provider_breaches_in`], of a request whose headers and history are known, too.
pub fn provider_breaches_with(api: impl Into<RequestForm>, context: &RequestContext<'_>, body: &Value) -> Vec<Breach> {
    let mut breaches = Breaches::default();
    match api.into() {
        RequestForm::Api(Api::OpenAiChat) => openai_chat::judge(body, &mut breaches),
        RequestForm::Api(Api::OpenAiResponses) => openai_responses::judge(body, context, &mut breaches),
        RequestForm::Api(Api::Anthropic) => anthropic::judge(body, context, &mut breaches),
        RequestForm::Gemini => gemini::judge(body, &mut breaches),
        RequestForm::BedrockConverse => bedrock::judge(body, &mut breaches),
    }
    breaches.0
}

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value.member(name).as_array().map(Vec::as_slice).unwrap_or_default()
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.member(name).as_str().unwrap_or_default()
}

/// Letters, digits, `_` and `-`, at least one.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

/// The name of a model, without what a gateway, a path or a fine tuning puts before it.
fn model(body: &Value) -> &str {
    let name = text(body, "model");
    let name = name.rsplit('/').next().unwrap_or(name);
    name.strip_prefix("ft:").unwrap_or(name)
}

/// Returns whether a member is there and not null.
fn has(value: &Value, name: &str) -> bool {
    !value.member(name).is_null()
}

/// The calls of a group that are waiting for their answers.
#[derive(Default)]
struct Open<'a> {
    ids: Vec<&'a str>,
    /// For each id the position of the message with its first answer.
    answers: HashMap<&'a str, Option<usize>>,
    /// The position of the last message that has such calls.
    at: usize,
}

/// The kind of an answer among the calls that are open.
enum GroupAnswers {
    Unknown,
    First,
    /// The message at this position answered the call already.
    Again(usize),
}

impl<'a> Open<'a> {
    /// Adds a call; whether no other call of the group has its id.
    fn call(&mut self, id: &'a str, position: usize) -> bool {
        self.ids.push(id);
        self.at = position;
        self.answers.insert(id, None).is_none()
    }

    fn answer(&mut self, id: &str, position: usize) -> GroupAnswers {
        match self.answers.get_mut(id) {
            None => GroupAnswers::Unknown,
            Some(Some(first)) => GroupAnswers::Again(*first),
            Some(answer) => {
                *answer = Some(position);
                GroupAnswers::First
            }
        }
    }

    /// Takes back a call that was reported.
    fn forget(&mut self, id: &str) {
        self.answers.remove(id);
    }

    /// Those without an answer, for a report.
    fn unanswered(&self) -> Vec<&'a str> {
        self.ids.iter().copied().filter(|id| self.answers.get(id) == Some(&None)).collect()
    }
}
