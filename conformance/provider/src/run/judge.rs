//! Judges a request by the rules of its API, fairly, and chooses the words of its refusal.

use super::body::Body;
use super::{AskState, PlayedRun};
use crate::http::{Received, unreadable};
use crate::record::{BreachOutcome, JudgedBreach, RequestProblem, Said, SaidThought};
use serde_json::{Value, json};
use std::collections::HashSet;
use threadspec::oracle::{Api, Breach, RequestContext, RequestHeaders, StoredItems, provider_breaches_with};
use threadspec::surrogates::unmark_surrogates;
use threadspec_apis::{ApiError, is_refused, rule_answer};
use threadspec_judge::json::{compact, list, text};
use threadspec_judge::protocol::ServerDialect;

/// The judgement of a request.
#[derive(Debug, Default)]
pub(super) struct RequestJudgement {
    pub(super) breaches: Vec<JudgedBreach>,
    pub(super) problem: Option<RequestProblem>,
    /// The refusal.
    pub(super) refusal: Option<ApiError>,
}

/// The headers of a request that rules speak of.
#[derive(Debug, Default)]
pub(crate) struct RuleHeaders {
    version: Option<String>,
    pub(crate) beta: String,
}

impl RuleHeaders {
    pub(crate) fn of(received: &Received) -> Self {
        let beta = received.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("anthropic-beta"));
        let beta: Vec<&str> = beta.map(|(_, value)| value.as_str()).collect();
        Self { version: received.header("anthropic-version").map(str::to_owned), beta: beta.join(",") }
    }

    pub(crate) fn of_rules(&self) -> RequestHeaders<'_> {
        RequestHeaders { anthropic_version: self.version.as_deref(), anthropic_beta: &self.beta }
    }
}

impl PlayedRun {
    /// Judges a request. Another attempt of an ask may name another model.
    pub(super) fn judge(&self, body: &mut Body, headers: &RuleHeaders, is_first: bool) -> RequestJudgement {
        let mut judged = RequestJudgement { problem: body.problem.take(), ..RequestJudgement::default() };
        if let (Some(value), Some(request)) = (&body.value, &body.request) {
            let lacks = |name: &str| request.lacks.contains(&name);
            let other =
                request.model.as_ref().filter(|named| self.plan.model.as_ref().is_some_and(|own| own != *named));
            judged.problem = if lacks("model") {
                Some(RequestProblem::Lacks("model".to_owned()))
            } else if let Some(model) = other.filter(|_| is_first) {
                Some(RequestProblem::Model(model.clone()))
            } else {
                request.lacks.first().map(|name| RequestProblem::Lacks((*name).to_owned()))
            };
            let mut breaches = self.breaches(value, body.before.as_deref(), headers);
            let forgotten = body.forgotten.take();
            breaches.extend(forgotten.filter(|own| breaches.iter().all(|breach| breach.rule != own.rule)));
            self.sort(breaches, body, headers, &mut judged);
        }
        if let Some(problem) = &judged.problem {
            judged.refusal = Some(of_problem(self.plan.api, problem));
        }
        judged
    }

    fn breaches(&self, body: &Value, before: Option<&[Value]>, headers: &RuleHeaders) -> Vec<Breach> {
        let thinking = self.thinking();
        let context = RequestContext {
            headers: Some(headers.of_rules()),
            stored: before.map_or(StoredItems::Missing, StoredItems::Items),
            thinking: (self.plan.api == Api::Anthropic).then_some(&thinking),
        };
        provider_breaches_with(self.plan.api, &context, body)
    }

    /// The thinking blocks of each answer that the agent has, the oldest first.
    fn thinking(&self) -> Vec<Vec<Value>> {
        if self.plan.api != Api::Anthropic {
            return Vec::new();
        }
        let over = self.asks.iter().filter(|ask| matches!(ask.state, AskState::Over | AskState::Answering));
        let said = over.filter_map(|ask| self.record.attempts.get(ask.last)?.said.as_ref());
        said.map(|said| said.thoughts.iter().map(block).collect()).collect()
    }

    /// Sorts breaches by what comes of them. The first one that counts is answered.
    fn sort(&self, breaches: Vec<Breach>, body: &Body, headers: &RuleHeaders, judged: &mut RequestJudgement) {
        let (Some(value), Some(request)) = (&body.value, &body.request) else { return };
        let (api, model) = (self.plan.api, request.model.as_deref().unwrap_or_default());
        // Who gives empty ids gets them back.
        let has_no_ids = self.plan.dialect == Some(ServerDialect::EmptyIds)
            && request.messages.iter().flat_map(|message| &message.calls).any(|call| call.id.is_empty());
        let mut repeatable = None;
        for breach in breaches {
            let outcome = if has_no_ids || !is_refused(&breach, api, model, &headers.of_rules()) {
                BreachOutcome::Possible
            } else if repeatable.get_or_insert_with(|| self.repeatable()).excuses(breach.rule, &breach.place, value) {
                BreachOutcome::Excused
            } else if judged.problem.is_some() || judged.refusal.is_some() {
                BreachOutcome::Certain
            } else {
                judged.refusal = Some(rule_answer(&breach, api, &body.text));
                BreachOutcome::Refused
            };
            let Breach { rule, place, what, .. } = breach;
            judged.breaches.push(JudgedBreach { rule: rule.to_owned(), place, what, outcome });
        }
    }

    /// Everything that an agent may repeat, whatever its form.
    fn repeatable(&self) -> Repeatable {
        let mut repeatable = Repeatable::default();
        repeatable.given(&self.plan.given);
        self.record.attempts.iter().filter_map(|attempt| attempt.said.as_ref()).for_each(|said| repeatable.said(said));
        repeatable
    }
}

/// A thinking block as the API has it.
fn block(thought: &SaidThought) -> Value {
    let opaque = thought.opaque.as_deref().unwrap_or_default();
    if thought.is_redacted {
        json!({"type": "redacted_thinking", "data": opaque})
    } else {
        json!({"type": "thinking", "thinking": thought.text, "signature": opaque})
    }
}

/// Returns the words for a problem.
fn of_problem(api: Api, problem: &RequestProblem) -> ApiError {
    match problem {
        RequestProblem::Unreadable(why, status) => unreadable(api, why, *status),
        RequestProblem::NotJson(why) => ApiError::not_json(api, why),
        RequestProblem::Lacks(member) => ApiError::missing(api, member),
        RequestProblem::Model(model) => ApiError::unknown_model(api, model),
    }
}

// Fairness: repeating what the provider sent, or what the agent was given, breaks no rule about its form.

/// The rules about the form of ids, names, arguments and texts. Rules about pairing and about halves of characters know no excuse.
const FORM_RULES: &[&str] = &[
    "OAI-CHAT-ID-LEN",
    "OAI-CHAT-NAME-PATTERN",
    "OAI-CHAT-NAME-LEN",
    "OAI-CHAT-ARGS-JSON",
    "OAI-CHAT-CONTENT-MAX",
    "OAI-RESP-CALLID-LEN",
    "OAI-RESP-CONTENT-MAX",
    "OAI-RESP-CONTENT-TYPE",
    "OAI-RESP-ARGS-JSON",
    "OAI-RESP-NAME-PATTERN",
    "OAI-RESP-NAME-LEN",
    "ANT-ID-PATTERN",
    "ANT-INPUT-OBJECT",
    "ANT-TEXT-NONEMPTY",
    "ANT-TEXT-WHITESPACE",
    "ANT-MSG-NONEMPTY",
    "ANT-CONTENT-TYPE",
    "ANT-TRAILING",
    "ANT-TOOL-NAME",
];

/// The input and the output of a run so far.
#[derive(Debug, Default)]
pub(crate) struct Repeatable {
    texts: HashSet<String>,
    ids: HashSet<String>,
    /// True if calls are among it that no model made here, so that none is signed.
    has_given_calls: bool,
}

impl Repeatable {
    /// Adds the messages of op `tools`.
    pub(crate) fn given(&mut self, messages: &[Value]) {
        for message in messages {
            self.text(text(&message["content"]));
            self.id(text(&message["tool_call_id"]));
            for call in list(&message["tool_calls"]) {
                self.has_given_calls = true;
                self.id(text(&call["id"]));
                self.text(text(&call["name"]));
                self.text(&unmark_surrogates(&call["args"].to_string()));
            }
        }
    }

    /// Adds an answer of the model.
    pub(crate) fn said(&mut self, said: &Said) {
        self.text(&said.text);
        self.texts.extend(said.refusal.clone());
        for call in &said.calls {
            self.id(&call.id);
            self.text(&call.name);
            self.text(&call.arguments);
            self.texts.insert(compact(&call.arguments));
        }
    }

    fn id(&mut self, id: &str) {
        self.text(id);
        self.ids.insert(id.to_owned());
    }

    /// Returns whether an id begins like one that Anthropic would not give, and is otherwise plain: a new id that is made of one that came
    /// twice.
    fn is_made_of_one(&self, id: &str) -> bool {
        let is_odd = |of: char| !of.is_ascii_alphanumeric() && !matches!(of, '_' | '-');
        let odd = |id: &str| id.char_indices().rfind(|(_, of)| is_odd(*of)).map(|(at, of)| at + of.len_utf8());
        self.ids.iter().any(|known| odd(known).is_some_and(|end| odd(id) == Some(end) && known[..end] == id[..end]))
    }

    fn text(&mut self, text: &str) {
        self.texts.insert(text.to_owned());
    }

    /// Returns whether a breach of a rule in a body is excused: it is one of form, and repeats something.
    pub(crate) fn excuses(&self, rule: &str, place: &str, body: &Value) -> bool {
        if rule == "GEM-SIGNATURE" {
            return self.has_given_calls;
        }
        // What a request declares is the agent's own.
        if !FORM_RULES.contains(&rule) || place.starts_with("tools") {
            return false;
        }
        match at(body, place) {
            Some(Value::String(id)) if rule == "ANT-ID-PATTERN" => self.texts.contains(id) || self.is_made_of_one(id),
            Some(Value::String(text)) => self.texts.contains(text),
            // No content is an empty text.
            Some(Value::Array(blocks)) if blocks.is_empty() => self.texts.contains(""),
            Some(Value::Null) | None => self.texts.contains(""),
            Some(other) => self.texts.contains(&*unmark_surrogates(&other.to_string())),
        }
    }
}

/// The value at a place such as `messages[3].tool_calls[0].id`.
fn at<'a>(body: &'a Value, place: &str) -> Option<&'a Value> {
    let names = place.split(['.', '[']).filter(|name| !name.is_empty());
    names.into_iter().try_fold(body, |value, name| match name.strip_suffix(']') {
        Some(position) => value.get(position.parse::<usize>().ok()?),
        None => value.get(name),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::SaidByModel;
    use serde_json::json;

    #[test]
    fn only_what_is_repeated_is_excused() {
        let mut repeatable = Repeatable::default();
        repeatable
            .given(&[json!({"type": "ai", "content": "", "tool_calls": [{"id": "a b", "name": "n", "args": [1, 2]}]})]);
        let call = SaidByModel { id: "c d".into(), name: "odd name".into(), arguments: "{\"n\": ".into() };
        repeatable.said(&Said { text: " ".into(), calls: vec![call], ..Said::default() });
        let body = json!({"messages": [{"content": [
            {"id": "a b", "input": [1, 2]}, {"id": "c d", "name": "odd name", "input": "{\"n\": "}, {"id": "e f", "text": " "}, {"id": "a b_2"}, {"id": "a/b"}]},
            {"content": []}], "tools": [{"name": "odd name"}]});
        for (rule, place, expected) in [
            ("ANT-ID-PATTERN", "messages[0].content[0].id", true),
            ("ANT-ID-PATTERN", "messages[0].content[3].id", true),
            ("ANT-ID-PATTERN", "messages[0].content[4].id", false),
            ("ANT-ID-PATTERN", "messages[0].content[1].id", true),
            ("ANT-ID-PATTERN", "messages[0].content[2].id", false),
            ("ANT-INPUT-OBJECT", "messages[0].content[0].input", true),
            ("ANT-INPUT-OBJECT", "messages[0].content[1].input", true),
            ("ANT-TEXT-WHITESPACE", "messages[0].content[2].text", true),
            ("ANT-MSG-NONEMPTY", "messages[1].content", true),
            ("ANT-TOOL-NAME", "messages[0].content[1].name", true),
            ("ANT-TOOL-NAME", "tools[0].name", false),
            ("ANT-ID-UNIQUE", "messages[0].content[0].id", false),
        ] {
            assert_eq!(repeatable.excuses(rule, place, &body), expected, "{rule} {place}");
        }
    }
}
