//! How an API refuses a request that breaks one of its rules: status, type, code, parameter and message, in its own words.

use crate::ApiError;
use memchr::{memchr_iter, memrchr};
use serde_json::Value;
use std::borrow::Cow;
use threadspec::oracle::{Api, Breach, RequestContext, RequestForm, RequestHeaders, StoredItems};
use threadspec::surrogates::lone_surrogates;
use threadspec_golden::{RuleCondition, RuleEntry, provider_rules};

/// Every placeholder that the words of a rule may have, beside those of [`BreachDetail`](threadspec::oracle::BreachDetail).
pub const PLACEHOLDERS: [&str; 10] =
    ["place", "path", "message", "block", "tool", "index", "surrogate", "line", "column", "char"];

/// Returns whether a provider refuses a request for a breach: the rule is documented or was reported at least twice, it applies to this
/// model and these headers, and no version or server of the API is known to accept it. Every other breach is worth a warning.
///
/// ```
/// use threadspec::oracle::{Api, RequestHeaders, provider_breaches_in};
/// use threadspec::read_json;
/// use threadspec_apis::is_refused;
/// let body = read_json(r#"{"model": "claude-sonnet-5", "messages": [
///     {"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Well,"}]}"#)?;
/// let breach = &provider_breaches_in(Api::Anthropic, &body)[0];
/// assert_eq!(breach.rule, "ANT-PREFILL");
/// assert!(is_refused(breach, Api::Anthropic, "claude-sonnet-5", &RequestHeaders::default()));
/// assert!(!is_refused(breach, Api::Anthropic, "claude-sonnet-4-5", &RequestHeaders::default()));
/// # Ok::<(), threadspec::Error>(())
/// ```
pub fn is_refused(breach: &Breach, api: impl Into<RequestForm>, model: &str, headers: &RequestHeaders<'_>) -> bool {
    entry(breach, api.into()).is_some_and(|rule| rule_refuses(rule, breach, model, headers))
}

/// As [`is_refused`], by the data that a caller has of the rule that is broken.
pub fn rule_refuses(rule: &RuleEntry, breach: &Breach, model: &str, headers: &RequestHeaders<'_>) -> bool {
    breach.is_certain
        && rule.is_sure()
        && rule.until.is_none()
        && rule_applies(rule, model, headers)
        && rule.words(breach.variant).is_some_and(|words| one_is_met(&words.applies, model, headers))
}

/// Returns whether a rule holds for this model and these headers, where the API's maker serves it.
///
/// ```
/// use threadspec::oracle::RequestHeaders;
/// use threadspec_apis::rule_applies;
/// let rule = threadspec_golden::provider_rules().iter().find(|rule| rule.id == "ANT-PREFILL").expect("a rule");
/// assert!(rule_applies(rule, "claude-sonnet-5", &RequestHeaders::default()));
/// assert!(!rule_applies(rule, "claude-sonnet-4-5", &RequestHeaders::default()));
/// ```
pub fn rule_applies(rule: &RuleEntry, model: &str, headers: &RequestHeaders<'_>) -> bool {
    one_is_met(&rule.applies, model, headers)
}

fn one_is_met(conditions: &[RuleCondition], model: &str, headers: &RequestHeaders<'_>) -> bool {
    conditions.is_empty() || conditions.iter().any(|condition| is_met(condition, model, headers))
}

/// How the API refuses the request for this breach. `text` is the body as it was sent.
///
/// ```
/// use threadspec::oracle::{Api, provider_breaches};
/// use threadspec_apis::rule_answer;
/// let text = r#"{"messages": [{"role": "user", "content": "Hi"}, {"role": "tool", "tool_call_id": "a", "content": "4"}]}"#;
/// let breach = &provider_breaches(Api::OpenAiChat, text)?[0];
/// let error = rule_answer(breach, Api::OpenAiChat, text);
/// assert_eq!(error.param.as_deref(), Some("messages.[1].role"));
/// assert_eq!(error.status, 400);
/// assert!(error.message.starts_with("Invalid parameter: messages with role 'tool'"));
/// # Ok::<(), threadspec::Error>(())
/// ```
pub fn rule_answer(breach: &Breach, api: impl Into<RequestForm>, text: &str) -> ApiError {
    let api = api.into();
    let Some(words) = entry(breach, api).and_then(|rule| rule.words(breach.variant)) else {
        return ApiError::invalid(&*breach.what);
    };
    let filling = Filling { breach, api, text };
    let error = ApiError::new(words.status, &*words.kind, filling.fill(&words.message));
    let error = words.code.iter().fold(error, |error, code| error.with_code(&**code));
    words.param.iter().fold(error, |error, param| error.with_param(filling.fill(param)))
}

/// Returns the context of the broken or the valid request of a rule in `provider-rules.json`; `body` is that request, read.
///
/// ```
/// use threadspec::oracle::{Api, provider_breaches_with};
/// use threadspec::read_json;
/// use threadspec_apis::rule_context;
/// let rule = threadspec_golden::provider_rules().iter().find(|rule| rule.id == "ANT-VERSION").expect("a rule");
/// let body = read_json(&rule.broken())?;
/// assert_eq!(provider_breaches_with(Api::Anthropic, &rule_context(rule, true, &body), &body)[0].rule, "ANT-VERSION");
/// assert_eq!(provider_breaches_with(Api::Anthropic, &rule_context(rule, false, &body), &body), []);
/// # Ok::<(), threadspec::Error>(())
/// ```
pub fn rule_context<'a>(rule: &'a RuleEntry, is_broken: bool, body: &Value) -> RequestContext<'a> {
    let headers = rule.headers.as_ref().map(|pair| {
        let headers = if is_broken { &pair.broken } else { &pair.valid };
        let header = |name: &str| headers.get(name).map(String::as_str);
        RequestHeaders {
            anthropic_version: header("anthropic-version"),
            anthropic_beta: header("anthropic-beta").unwrap_or_default(),
        }
    });
    let named = body["previous_response_id"].as_str();
    let stored = rule.stored.as_ref().map_or(StoredItems::Unknown, |stored| match named {
        None => StoredItems::Items(&[]),
        Some(name) => {
            stored.get(name).and_then(Value::as_array).map_or(StoredItems::Missing, |items| StoredItems::Items(items))
        }
    });
    RequestContext { headers, stored, thinking: rule.thinking.as_deref() }
}

/// The rule in the data. Breaches of other rules, such as clauses, have none.
fn entry(breach: &Breach, api: RequestForm) -> Option<&'static RuleEntry> {
    let name = api.to_string();
    provider_rules().iter().find(|rule| rule.id == breach.rule && rule.api == name)
}

fn is_met(condition: &RuleCondition, model: &str, headers: &RequestHeaders<'_>) -> bool {
    let RuleCondition { models, not_models, servers, version, without_betas } = condition;
    let begins = |names: &[String]| names.iter().any(|name| begins_with(model, name));
    // Whoever asks this plays the provider itself.
    servers.is_empty()
        && (models.is_empty() || begins(models))
        && !begins(not_models)
        && version.as_ref().is_none_or(|first| headers.anthropic_version.is_some_and(|sent| sent >= first.as_str()))
        && !without_betas.iter().any(|beta| headers.has_beta(beta))
}

/// Returns whether a model has this name, whatever a gateway puts before it: `us.anthropic.claude-…`, `openai/gpt-…`.
fn begins_with(model: &str, name: &str) -> bool {
    let is_boundary = |at: usize| !model[..at].ends_with(|before: char| before.is_ascii_alphanumeric());
    model.match_indices(name).any(|(at, _)| is_boundary(at))
}

/// The values of the placeholders of an answer.
struct Filling<'a> {
    breach: &'a Breach,
    api: RequestForm,
    text: &'a str,
}

impl Filling<'_> {
    fn fill(&self, words: &str) -> String {
        let mut filled = String::with_capacity(words.len());
        let mut rest = words;
        while let Some((before, behind)) = rest.split_once('{') {
            filled += before;
            let named = behind.split_once('}').and_then(|(name, behind)| Some((self.value(name)?, behind)));
            // A pattern has braces of its own.
            let (value, behind) = named.unwrap_or((Cow::Borrowed("{"), behind));
            filled += &value;
            rest = behind;
        }
        filled + rest
    }

    fn value(&self, name: &str) -> Option<Cow<'_, str>> {
        if let Some(detail) = self.breach.details.iter().find(|detail| detail.placeholder() == name) {
            return Some(detail.to_string().into());
        }
        let place = &*self.breach.place;
        let index = || place.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map(|(index, _)| index);
        Some(match name {
            "place" => self.spelled(place).into(),
            "path" => dotted(place).into(),
            "block" => self.spelled(up_to(place, 2)).into(),
            "index" => index().unwrap_or("0").into(),
            // OpenAI spells the places of messages in a way of its own.
            "message" if self.api == RequestForm::Api(Api::OpenAiChat) => up_to(place, 1).replacen('[', ".[", 1).into(),
            "message" | "tool" => self.spelled(up_to(place, 1)).into(),
            "surrogate" | "line" | "column" | "char" => self.half(name).into(),
            _ => return None,
        })
    }

    /// A place as the API writes it.
    fn spelled(&self, place: &str) -> String {
        match self.api {
            RequestForm::Api(Api::Anthropic) | RequestForm::BedrockConverse => dotted(place),
            RequestForm::Api(_) => place.to_owned(),
        }
    }

    /// Describes, as a parser does, the first lone surrogate of the body.
    fn half(&self, name: &str) -> String {
        let start = lone_surrogates(self.text).next().unwrap_or_default();
        let bytes = self.text.as_bytes();
        let is_high =
            bytes.get(start + 3).is_some_and(|digit| matches!(digit, b'8' | b'9' | b'a' | b'b' | b'A' | b'B'));
        let end = (start + 6).min(bytes.len());
        let meets_escape = bytes[end..].starts_with(b"\\u");
        // The parser stops at the half itself if it begins a pair that it cannot begin, and otherwise where the other half is missing.
        let at = if is_high { end } else { start };
        let before = self.text.get(..at).unwrap_or_default();
        let line_start = memrchr(b'\n', before.as_bytes()).map_or(0, |newline| newline + 1);
        match name {
            "surrogate" if !is_high => "invalid high surrogate".to_owned(),
            "surrogate" if meets_escape => "invalid low surrogate".to_owned(),
            "surrogate" => "no low surrogate".to_owned(),
            "line" => (memchr_iter(b'\n', before.as_bytes()).count() + 1).to_string(),
            "column" => (before[line_start..].chars().count() + 1).to_string(),
            _ => before.chars().count().to_string(),
        }
    }
}

/// `messages[1].content[0].id` as `messages.1.content.0.id`.
fn dotted(place: &str) -> String {
    place.replace('[', ".").replace(']', "")
}

/// A place up to its index of this number.
fn up_to(place: &str, number: usize) -> &str {
    place.match_indices(']').nth(number - 1).map_or(place, |(at, _)| &place[..=at])
}
