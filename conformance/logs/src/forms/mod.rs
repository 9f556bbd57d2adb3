//! Reads a record of a log, whatever program wrote it: requests with their answers, histories, and turns of conversations.
//!
//! A form is a row of [`FORMS`]: what it is called, and a function that knows it and takes out what can be judged. Where a form keeps its
//! messages is the form's to know; how the messages themselves look, `message` knows for all of them. So a new form is a row of `dialects.toml` or, where it
//! is more than places, one function of a few lines in `programs`, `traces` or `requests`; a new way to write a message is one case in `message`.

mod http;
mod message;
mod programs;
mod requests;
mod rows;
mod said;
mod streams;
mod traces;

pub use rows::FormRow;

pub(super) use programs::opencode_message;
pub(super) use rows::written;
pub(super) use said::{
    LoggedAnswer, LoggedExchange, LoggedHeaders, LoggedTurn, RecordPiece, SaidToModel, ServerVerdict, answer,
    are_words_of, places_in, turns_of_body,
};

use memchr::memmem;
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;
use threadspec_apis::form::members;

/// A form of log.
pub(super) struct LogForm {
    /// The name for users, with its article.
    pub(super) name: &'static str,
    /// Takes out what a record of this form holds; `None` if it is not of this form.
    read: fn(&Value) -> Option<Vec<RecordPiece>>,
}

/// Every form, those first that tell themselves by names of their own.
const FORMS: [LogForm; 36] = [
    LogForm { name: "a HAR recording", read: http::har },
    LogForm { name: "an HTTP cassette", read: http::cassette },
    LogForm { name: "a recording of mitmproxy", read: http::mitmproxy },
    LogForm { name: "a transcript of threadspec provider", read: http::transcript },
    LogForm { name: "spans that were cut off", read: traces::cut_off },
    LogForm { name: "OpenTelemetry events (gen_ai)", read: traces::gen_ai_event },
    LogForm { name: "OpenTelemetry spans (gen_ai)", read: traces::gen_ai },
    LogForm { name: "OpenInference spans", read: traces::open_inference },
    LogForm { name: "OpenLLMetry spans", read: traces::open_llmetry },
    LogForm { name: "Vercel AI SDK spans", read: traces::vercel },
    LogForm { name: "Langfuse spans", read: traces::langfuse_span },
    LogForm { name: "OpenTelemetry spans of other work", read: traces::other_span },
    LogForm { name: "an Agno run", read: programs::agno },
    LogForm { name: "Langfuse observations", read: traces::langfuse },
    LogForm { name: "LangSmith runs", read: traces::langsmith },
    LogForm { name: "a LiteLLM logging payload", read: traces::litellm },
    LogForm { name: "Helicone requests", read: traces::helicone },
    LogForm { name: "Weave calls", read: traces::weave },
    LogForm { name: "Braintrust spans", read: traces::braintrust },
    LogForm { name: "a Claude Code session", read: programs::claude_code },
    LogForm { name: "a Codex session", read: programs::codex },
    LogForm { name: "an opencode session", read: programs::opencode },
    LogForm { name: "a SWE-agent trajectory", read: programs::swe_agent },
    LogForm { name: "a mini-swe-agent trajectory", read: programs::mini_swe_agent },
    LogForm { name: "a Strands session", read: programs::strands },
    LogForm { name: "LangGraph checkpoints", read: programs::langgraph },
    LogForm { name: "an OpenAI Agents session", read: programs::openai_agents },
    LogForm { name: "a LlamaIndex chat store", read: programs::llama_index },
    LogForm { name: "LangChain messages", read: programs::langchain },
    LogForm { name: "pydantic-ai messages", read: programs::pydantic },
    LogForm { name: "a ChatGPT export", read: programs::chatgpt },
    LogForm { name: "a Cline task", read: programs::cline },
    LogForm { name: "AI SDK messages", read: programs::ai_sdk },
    LogForm { name: "requests", read: requests::request },
    LogForm { name: "messages", read: requests::history },
    LogForm { name: "answers", read: requests::answers },
];

/// The lists whose elements are records of their own, by their path. In a file that is too large to be held, they are all that is read.
pub(super) const ENVELOPES: [&str; 25] = [
    "[]",
    "interactions[]",
    "mappings[]",
    "http_interactions[]",
    "log.entries[]",
    "entries[]",
    "resourceSpans[].scopeSpans[].spans[]",
    "resource_spans[].scope_spans[].spans[]",
    "resourceLogs[].scopeLogs[].logRecords[]",
    "resource_logs[].scope_logs[].log_records[]",
    "requests[]",
    "post[]",
    "patch[]",
    "responses[]",
    "data[]",
    "observations[]",
    "trace.observations[]",
    "traces[]",
    "runs[]",
    "spans[]",
    "calls[]",
    "samples[]",
    "attempts[]",
    "rows[]",
    "sessions[]",
];

/// Returns the content of a record, and the name of its form; `None` if it is of no form. The rows of the user are tried first.
pub(super) fn read(record: &Value, own: &'static [FormRow]) -> Option<(&'static str, Vec<RecordPiece>)> {
    rows::read(record, own).or_else(|| FORMS.iter().find_map(|form| Some((form.name, (form.read)(record)?))))
}

/// Returns the content of a record, if that is one exchange of this form and nothing else.
pub(super) fn one_request(record: &Value, text: &str, form: &str) -> Option<LoggedExchange> {
    let is_event = memmem::find(text.as_bytes(), b"\"iteration\"").is_some();
    if !record.is_object() || is_event || opened(record, &[]).iter().any(|(_, element)| element.is_object()) {
        return None;
    }
    let (read, pieces) = read(record, &[])?;
    match <[RecordPiece; 1]>::try_from(pieces) {
        Ok([RecordPiece::Exchange(exchange)]) if read == form => Some(exchange),
        _ => None,
    }
}

/// Exports of servers, which may have their newest records first, and where their records have their times.
const EXPORTS: [(&str, &str); 5] = [
    ("Langfuse observations", "startTime"),
    ("LangSmith runs", "start_time"),
    ("Helicone requests", "request_created_at"),
    ("Weave calls", "started_at"),
    ("Braintrust spans", "created"),
];

/// When a record of an export was.
pub(super) fn time<'a>(form: &str, record: &'a Value) -> Option<&'a Value> {
    let (_, name) = EXPORTS.iter().find(|(known, _)| *known == form)?;
    record.get(*name)
}

/// Returns whether it is a list of messages, and so one record, not a list of records.
pub(super) fn is_list_of_messages(value: &Value) -> bool {
    value.is_array() && read(value, &[]).is_some()
}

/// Returns whether it has messages of its own: then its other lists, whatever their names, are no records.
fn has_messages(record: &Value) -> bool {
    ["messages", "contents"].iter().any(|name| {
        let first = record.get(*name).and_then(|list| list.get(0));
        first.is_some_and(|first| first["role"].is_string())
    })
}

/// The elements of a record that is an envelope, with their paths.
pub(super) fn opened<'r>(record: &'r Value, own: &'static [FormRow]) -> Vec<(String, &'r Value)> {
    let mut found = Vec::new();
    if has_messages(record) {
        return found;
    }
    for pattern in ENVELOPES {
        step(record, pattern, String::new(), &mut found);
    }
    // A row says itself where its records are.
    if !found.is_empty() && rows::is_of(record, own) {
        found.clear();
    }
    found
}

/// Returns the JSON in the texts of a record that is itself of no form, with its paths. A container's log, for one, has each line of its
/// program as a text. Only what is of a known form.
pub(super) fn inside(record: &Value) -> Vec<(String, Value)> {
    const DEEPEST: usize = 3;
    let mut found = Vec::new();
    look_inside(record, DEEPEST, String::new(), &mut found);
    found
}

fn look_inside(value: &Value, depth: usize, path: String, found: &mut Vec<(String, Value)>) {
    match value {
        Value::String(_) => {
            let is_known = |inner: &Value| {
                read(inner, &[]).is_some() || opened(inner, &[]).iter().any(|(_, element)| element.is_object())
            };
            found.extend(message::unquoted(value).map(Cow::into_owned).filter(is_known).map(|inner| (path, inner)));
        }
        Value::Object(members) if depth > 0 => {
            for (name, member) in members {
                look_inside(member, depth - 1, said::under(&path, name), found);
            }
        }
        Value::Array(elements) if depth > 0 => {
            for (position, element) in elements.iter().enumerate() {
                look_inside(element, depth - 1, format!("{path}[{position}]"), found);
            }
        }
        _ => {}
    }
}

/// Returns the opened values as they are written.
pub(super) fn opened_text(record: &str) -> Vec<&RawValue> {
    let mut found = Vec::new();
    if let Ok(record) = serde_json::from_str::<&RawValue>(record) {
        for pattern in ENVELOPES {
            step_text(record, pattern, &mut found);
        }
    }
    // In the order of the file, whatever that of its lists is.
    found.sort_by_key(|element| element.get().as_ptr());
    found
}

fn step_text<'a>(value: &'a RawValue, pattern: &str, found: &mut Vec<&'a RawValue>) {
    if pattern.is_empty() {
        return found.push(value);
    }
    if let Some(rest) = pattern.strip_prefix("[]") {
        let elements: Vec<&RawValue> = serde_json::from_str(value.get()).unwrap_or_default();
        return elements.into_iter().for_each(|element| step_text(element, rest.trim_start_matches('.'), found));
    }
    let end = pattern.find(['.', '[']).unwrap_or(pattern.len());
    let (name, rest) = pattern.split_at(end);
    if let Some(member) = members(value.get()).and_then(|members| members.get(name).copied()) {
        step_text(member, rest.trim_start_matches('.'), found);
    }
}

fn step<'a>(value: &'a Value, pattern: &str, path: String, found: &mut Vec<(String, &'a Value)>) {
    if pattern.is_empty() {
        return found.push((path, value));
    }
    if let Some(rest) = pattern.strip_prefix("[]") {
        for (position, element) in value.as_array().into_iter().flatten().enumerate() {
            step(element, rest.trim_start_matches('.'), format!("{path}[{position}]"), found);
        }
        return;
    }
    let end = pattern.find(['.', '[']).unwrap_or(pattern.len());
    let (name, rest) = pattern.split_at(end);
    if let Some(member) = value.as_object().and_then(|object| object.get(name)) {
        step(member, rest.trim_start_matches('.'), said::under(&path, name), found);
    }
}
