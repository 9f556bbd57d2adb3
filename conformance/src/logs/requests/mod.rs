//! Requests to model APIs, one or a sequence: what a provider refuses, and where a prompt cache was lost.

mod cache;
mod form;
mod segments;

pub(super) use form::{body, is_request};

use super::report::{Finding, Report, count};
use cache::{Conversations, How, Loss};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};
use threadspec::oracle::{Api, Breach, provider_breaches};
use threadspec::read_json;

/// Judges the requests of a log, one after the other.
pub(super) struct Requests {
    api: Option<Api>,
    apis: BTreeSet<String>,
    /// The API of the last request; the next one is taken to be for it, too, if its form does not tell.
    last: Api,
    /// How many requests there were, and how many other elements.
    count: usize,
    others: usize,
    conversations: Conversations,
    /// The faults of each request, to report them once: a history is sent again and again.
    told: HashMap<usize, HashSet<(String, String)>>,
    breaches: usize,
    losses: usize,
}

impl Requests {
    /// Requests for this API, or each for the API that its form tells.
    pub(super) fn new(api: Option<Api>) -> Self {
        Self {
            api,
            apis: BTreeSet::new(),
            last: Api::OpenAiChat,
            count: 0,
            others: 0,
            conversations: Conversations::default(),
            told: HashMap::new(),
            breaches: 0,
            losses: 0,
        }
    }

    /// What is wrong with the next element of a log.
    pub(super) fn push(&mut self, line: usize, json: &str) -> Vec<Finding> {
        let body = match (body(json), self.api) {
            (Some(body), _) => body,
            (None, Some(api)) if json.trim_start().starts_with('[') => list_as_body(api, json).into(),
            (None, Some(api)) if form::is_message(json) => list_as_body(api, &format!("[{json}]")).into(),
            (None, _) => {
                self.others += 1;
                let is_json = serde_json::from_str::<&serde_json::value::RawValue>(json).is_ok();
                let broken = || Finding::error(format!("line {line}: not readable as JSON"));
                return if is_json { Vec::new() } else { vec![broken()] };
            }
        };
        self.count += 1;
        let place = format!("request {} (line {line})", self.count);
        self.request(&place, &body).unwrap_or_else(|error| vec![Finding::error(format!("{place}: {error}"))])
    }

    fn request(&mut self, place: &str, text: &str) -> Result<Vec<Finding>, threadspec::Error> {
        let body = read_json(text)?;
        let api = self.api.or_else(|| form::api_of(&body)).unwrap_or(self.last);
        self.last = api;
        self.apis.insert(api.to_string());
        // The beginning of the history is on the server, so nothing can be said about the cache.
        let is_stored = !body["previous_response_id"].is_null() || !body["conversation"].is_null();
        let key = (api, body["model"].to_string());
        let relation = if is_stored {
            cache::Relation::default()
        } else {
            self.conversations.push(self.count, key, &segments::segments(api, &body))
        };
        let mut breaches = provider_breaches(api, text)?;
        breaches.extend(objects_as_text(api, &body));
        let known = relation.parent.and_then(|parent| self.told.get(&parent));
        let identity = |breach: &Breach| (breach.place.clone(), breach.what.clone());
        let is_new = |breach: &&Breach| known.is_none_or(|known| !known.contains(&identity(breach)));
        let mut found: Vec<Finding> = breaches.iter().filter(is_new).map(|breach| finding(place, breach)).collect();
        self.breaches += breaches.iter().filter(|breach| breach.is_certain).count();
        self.told.insert(self.count, breaches.iter().map(identity).collect());
        if let (Some(loss), Some(parent)) = (&relation.loss, relation.parent) {
            self.losses += 1;
            found.push(Finding::warning(lost(place, parent, loss)));
        }
        Ok(found)
    }

    pub(super) fn conclude(&self, report: &mut Report<'_>) {
        report.total = count(self.count, "request");
        if !self.apis.is_empty() {
            report.total.push_str(&format!(" ({})", self.apis.iter().cloned().collect::<Vec<_>>().join(", ")));
        }
        if self.others > 0 {
            report.total.push_str(&format!(", {}", count(self.others, "other element")));
        }
        if self.count == 0 {
            return report.error("there is no request in it");
        }
        if self.breaches == 0 {
            report.holds.push("provider-rules");
        }
        if self.losses == 0 && self.count > 1 {
            report.holds.push("append-only");
        }
    }
}

/// A bare list of messages or items as the body of a request.
fn list_as_body(api: Api, list: &str) -> String {
    let name = if api == Api::OpenAiResponses { "input" } else { "messages" };
    format!("{{\"{name}\":{list}}}")
}

/// A breach as a finding. `messages[4].tool_call_id` is in message 5.
fn finding(request: &str, Breach { rule, place, what, is_certain }: &Breach) -> Finding {
    let number = |list: &str| place.strip_prefix(list)?.split_once(']')?.0.parse::<usize>().ok();
    let element = number("messages[").map(|position| format!(", message {}", position + 1));
    let element = element.or_else(|| Some(format!(", item {}", number("input[")? + 1))).unwrap_or_default();
    let at = if place.is_empty() { Cow::Borrowed("") } else { format!(" at {place}").into() };
    let text = format!("{request}{element}: {what} ({rule}{at})");
    match *rule {
        _ if *is_certain => Finding::error(text),
        // No server objects, but the model does not see the result.
        LOST_RESULT => Finding::warning(text),
        _ => Finding::warning(format!("{text}; not every server or version refuses it")),
    }
}

fn lost(place: &str, parent: usize, Loss { place: segment, how }: &Loss) -> String {
    let how = match how {
        How::Changed(difference) => format!(
            "{} has changed in it, from byte {}: {:?}, before {:?}",
            if difference.path.is_empty() { "the text" } else { &difference.path },
            difference.byte,
            difference.now,
            difference.before
        ),
        How::Removed(lost) => format!("{lost} of request {parent} is missing"),
        How::Inserted => format!("it was not there in request {parent}"),
    };
    format!(
        "{place}, {segment}: the request goes on from request {parent}, but is no extension of it from here on, so that the prompt cache is lost: {how}"
    )
}

const LOST_RESULT: &str = "AGENT-RESULT";

/// Results that read `[object Object]`: JavaScript's text of an object, instead of what is in it (AGENT-RESULT).
fn objects_as_text(api: Api, body: &Value) -> Vec<Breach> {
    let is_lost = |text: &Value| {
        text.as_str().is_some_and(|text| !text.is_empty() && text.split(',').all(|part| part == "[object Object]"))
    };
    let mut found = Vec::new();
    let mut look = |place: String, content: &Value| {
        let parts = content.as_array().into_iter().flatten().enumerate();
        let in_parts = parts.map(|(number, part)| (format!("{place}[{number}].text"), &part["text"]));
        for (place, _) in [(place.clone(), content)].into_iter().chain(in_parts).filter(|(_, text)| is_lost(text)) {
            let what = "the result is JavaScript's text of an object, not what is in it".to_owned();
            found.push(Breach { rule: LOST_RESULT, place, what, is_certain: false });
        }
    };
    let list = if api == Api::OpenAiResponses { "input" } else { "messages" };
    for (position, item) in body[list].as_array().into_iter().flatten().enumerate() {
        let place = format!("{list}[{position}]");
        if item["role"] == "tool" {
            look(format!("{place}.content"), &item["content"]);
        }
        if item["type"] == "function_call_output" {
            look(format!("{place}.output"), &item["output"]);
        }
        for (number, block) in item["content"].as_array().into_iter().flatten().enumerate() {
            if block["type"] == "tool_result" {
                look(format!("{place}.content[{number}].content"), &block["content"]);
            }
        }
    }
    found
}
