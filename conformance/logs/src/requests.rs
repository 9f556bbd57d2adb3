//! Requests to model APIs, one or a sequence: what a provider refuses, and where a prompt cache was lost.

use super::finding::{Element, Finding, Output, Place, Skipped};
use super::list::Batch;
use super::rules::{finding, of_breach};
use rayon::prelude::*;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::{BTreeSet, HashMap, HashSet};
use threadspec::oracle::{Api, Breach, provider_breaches_in};
use threadspec::read_json;
use threadspec_apis::follow::{self, Conversations, Location, Loss, LossKind, SegmentText};
use threadspec_apis::form;

/// Judges the requests of a log, one after the other.
pub(super) struct RequestLog {
    api: Option<Api>,
    apis: BTreeSet<String>,
    /// The API of the last request; the next one is taken to be for it, too, if its form does not tell.
    last: Api,
    /// How many requests there were, and how many other elements.
    count: usize,
    others: usize,
    /// The line of the first other element.
    first_other: usize,
    conversations: Conversations,
    /// Hashes of the faults of the last requests, to report them once: a history is sent again and again.
    told: HashMap<usize, HashSet<u64>>,
    breaches: usize,
    losses: usize,
}

/// What an element of a log is.
enum LogEntry {
    Request(Result<RequestBody, threadspec::Error>),
    Other,
    NotJson,
}

/// The body of a request.
struct RequestBody {
    value: Value,
    /// The API that it is for; `None` if it could be for several.
    api: Option<Api>,
}

/// A request, and what is wrong with it on its own.
struct JudgedRequest {
    number: usize,
    place: Place,
    /// Requests with different keys share no cache. `None` if the server keeps the history.
    key: Option<(Api, String)>,
    texts: Vec<SegmentText>,
    breaches: Vec<Breach>,
}

impl RequestLog {
    /// Requests for this API, or each for the API that its form tells.
    pub(super) fn new(api: Option<Api>) -> Self {
        Self {
            api,
            apis: BTreeSet::new(),
            last: Api::OpenAiChat,
            count: 0,
            others: 0,
            first_other: 0,
            conversations: Conversations::default(),
            told: HashMap::new(),
            breaches: 0,
            losses: 0,
        }
    }

    /// How many requests there were.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// What is wrong with the next elements of a log.
    pub(super) fn push(&mut self, batch: &Batch<'_>) -> Vec<Finding> {
        let elements: Vec<(usize, &str)> = batch.elements().map(|(_, line, json)| (line, json)).collect();
        let api = self.api;
        let read: Vec<(usize, LogEntry)> =
            elements.into_par_iter().map(|(line, json)| (line, LogEntry::read(json, api))).collect();
        let placed: Vec<_> = read.into_iter().filter_map(|(line, element)| self.place(line, element)).collect();
        let judged: Vec<_> = placed.into_par_iter().map(|request| request.map(JudgedRequest::of)).collect();
        judged.into_iter().flat_map(|judged| judged.map_or_else(|found| vec![found], |one| self.relate(one))).collect()
    }

    /// Numbers a request, and finds its API: if it could be for several, that of the request before it.
    fn place(&mut self, line: usize, element: LogEntry) -> Option<Result<(usize, Place, Api, Value), Finding>> {
        let body = match element {
            LogEntry::Request(body) => body,
            LogEntry::Other | LogEntry::NotJson => {
                self.others += 1;
                if self.others == 1 {
                    self.first_other = line;
                }
                let is_broken = matches!(element, LogEntry::NotJson);
                return is_broken.then(|| Err(finding("LOG-JSON", Place::line(line), "not readable as JSON")));
            }
        };
        self.count += 1;
        let place = Place { request: Some(self.count), ..Place::line(line) };
        let RequestBody { value, api } = match body {
            Ok(body) => body,
            Err(error) => return Some(Err(finding("LOG-JSON", place, error.to_string()))),
        };
        self.last = self.api.or(api).unwrap_or(self.last);
        self.apis.insert(self.last.to_string());
        Some(Ok((self.count, place, self.last, value)))
    }

    /// What is wrong with a request, without the faults that were reported of the request that it goes on from, and where the prompt
    /// cache of that one was lost.
    fn relate(&mut self, JudgedRequest { number, place, key, texts, breaches }: JudgedRequest) -> Vec<Finding> {
        let relation = key.map(|key| self.conversations.push(number, key, texts)).unwrap_or_default();
        let known = relation.parent.and_then(|parent| self.told.get(&parent));
        let identity = |breach: &Breach| follow::hash(&(&breach.place, &breach.what));
        let is_new = |breach: &&Breach| known.is_none_or(|known| !known.contains(&identity(breach)));
        let mut found: Vec<Finding> = breaches.iter().filter(is_new).map(|breach| told(&place, breach)).collect();
        self.breaches += breaches.iter().filter(|breach| breach.is_certain).count();
        self.told.insert(number, breaches.iter().map(identity).collect());
        self.told.remove(&number.saturating_sub(follow::REACH));
        if let (Some(loss), Some(parent)) = (&relation.loss, relation.parent) {
            self.losses += 1;
            found.push(finding("LOG-PREFIX", in_element(&place, &loss.place), lost(parent, loss)));
        }
        found
    }

    pub(super) fn conclude(&self, output: &mut Output<'_>) {
        if self.count > 0 {
            output.summary.judge("request", self.count);
            output.summary.apis.clone_from(&self.apis);
        }
        if self.others > 0 {
            output.summary.skipped.push(Skipped {
                why: "no request in it",
                records: self.others,
                line: self.first_other,
            });
        }
        if self.count > 0 && self.breaches == 0 {
            output.summary.holds.push("provider-rules");
        }
        if self.losses == 0 && self.count > 1 {
            output.summary.holds.push("append-only");
        }
    }
}

impl LogEntry {
    fn read(json: &str, api: Option<Api>) -> Self {
        let body = match (form::body(json), api) {
            (Some(body), _) => body,
            (None, Some(api)) if json.trim_start().starts_with('[') => list_as_body(api, json).into(),
            (None, Some(api)) if form::is_message(json) => list_as_body(api, &format!("[{json}]")).into(),
            (None, _) if serde_json::from_str::<&RawValue>(json).is_ok() => return Self::Other,
            (None, _) => return Self::NotJson,
        };
        Self::Request(read_json(&body).map(|value| RequestBody { api: form::api_of(&value), value }))
    }
}

impl JudgedRequest {
    fn of((number, place, api, body): (usize, Place, Api, Value)) -> Self {
        // A history that the server keeps is no part of the request.
        let is_stored = !body["previous_response_id"].is_null() || !body["conversation"].is_null();
        let key = (!is_stored).then(|| (api, body["model"].to_string()));
        let texts = if is_stored { Vec::new() } else { follow::segment_texts(follow::segments(api, &body)) };
        let mut breaches = provider_breaches_in(api, &body);
        breaches.extend(objects_as_text(api, &body));
        Self { number, place, key, texts, breaches }
    }
}

/// A bare list of messages or items as the body of a request.
fn list_as_body(api: Api, list: &str) -> String {
    let name = if api == Api::OpenAiResponses { "input" } else { "messages" };
    format!("{{\"{name}\":{list}}}")
}

/// A breach as a finding. `messages[4].tool_call_id` is in message 5.
fn told(request: &Place, breach: &Breach) -> Finding {
    let number = |list: &str| breach.place.strip_prefix(list)?.split_once(']')?.0.parse::<usize>().ok();
    let message = number("messages[").map(|position| Element { kind: "message", number: position + 1 });
    let item = || number("input[").map(|position| Element { kind: "item", number: position + 1 });
    let place = Place { element: message.or_else(item), path: breach.place.clone(), ..request.clone() };
    match breach.rule {
        // No server objects, but the model does not see the result.
        LOST_RESULT => finding(LOST_RESULT, place, &*breach.what),
        _ => of_breach(breach, place),
    }
}

/// The place of a piece in a request.
fn in_element(request: &Place, location: &Location) -> Place {
    let element = match location {
        Location::Message(position) => Some(Element { kind: "message", number: position + 1 }),
        Location::Item(position) => Some(Element { kind: "item", number: position + 1 }),
        Location::Tool(position) => Some(Element { kind: "tool", number: position + 1 }),
        Location::System => None,
    };
    let path = if *location == Location::System { "system".to_owned() } else { String::new() };
    Place { element, path, ..request.clone() }
}

fn lost(parent: usize, Loss { how, .. }: &Loss) -> String {
    let how = match how {
        LossKind::Changed(difference) => format!(
            "{} has changed in it, from byte {}: {:?}, before {:?}",
            if difference.path.is_empty() { "the text" } else { &difference.path },
            difference.byte,
            difference.now,
            difference.before
        ),
        LossKind::Removed(lost) => format!("{lost} of request {parent} is missing"),
        LossKind::Inserted => format!("it was not there in request {parent}"),
    };
    format!(
        "the request goes on from request {parent}, but is no extension of it from here on, so that the prompt cache is lost: {how}"
    )
}

const LOST_RESULT: &str = "LOG-RESULT";

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
            let what = "the result is JavaScript's text of an object, not what is in it";
            found.push(Breach { is_certain: false, ..Breach::new(LOST_RESULT, place, what) });
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
