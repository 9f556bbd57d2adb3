//! Requests and their answers as recorders of HTTP keep them: browsers, proxies, and cassettes of tests.

use super::message::{any, list, unquoted, word};
use super::said::{self, LoggedAnswer, LoggedExchange, LoggedHeaders, RecordPiece, SaidToModel, ServerVerdict};
use crate::input;
use serde_json::Value;
use std::borrow::Cow;
use threadspec::MemberLookup;
use threadspec::oracle::Api;
use threadspec_judge::text::of_base64;

/// The answer to a request.
#[derive(Default)]
pub(super) struct ServerAnswer {
    pub(super) answer: Option<LoggedAnswer>,
    pub(super) verdict: ServerVerdict,
}

impl ServerAnswer {
    pub(super) fn of(status: Option<u64>, body: &Value) -> Self {
        let verdict = verdict_of(status, body);
        let answer = if matches!(verdict, ServerVerdict::Refused { .. }) { None } else { said::answer(body) };
        Self { answer, verdict }
    }
}

/// Derives the server's verdict on a request from a status and the body of an answer.
pub(super) fn verdict_of(status: Option<u64>, body: &Value) -> ServerVerdict {
    let status = status.and_then(|status| u16::try_from(status).ok());
    match status {
        Some(200..300) if error_in(body).is_none() => ServerVerdict::Accepted(status),
        // Nothing of the contents was looked at.
        Some(status @ (401 | 403 | 404 | 408 | 409 | 429 | 500..)) => ServerVerdict::Unjudged(status),
        Some(status @ 400..500) => {
            // What is no error and no plain text says nothing.
            let is_plain = |text: &&str| !text.starts_with(['{', '[', '<']) && !text.starts_with("data:");
            let text = || body.as_str().map(str::trim).filter(is_plain).unwrap_or_default().to_owned();
            let words = error_in(body).unwrap_or_else(text);
            let is_account = ACCOUNT.iter().any(|words_of| words.contains(words_of));
            if is_account {
                ServerVerdict::Unjudged(status)
            } else {
                ServerVerdict::Refused { status: Some(status), words }
            }
        }
        // What an application writes down of an exception may have the body alone, which says what kind of error it is.
        None if body.member("error").member("type") == "invalid_request_error" => match verdict_of(Some(400), body) {
            ServerVerdict::Refused { words, .. } => ServerVerdict::Refused { status: None, words },
            other => other,
        },
        // What was counted, was answered.
        None if body.member("usage").is_object() => ServerVerdict::Accepted(None),
        _ => ServerVerdict::Unknown,
    }
}

/// Words by which a server speaks of the account, and not of the request.
const ACCOUNT: [&str; 6] = ["credit balance", "API key", "api key", "billing", "API_KEY", "usage limits"];

/// The words of an error in an answer.
fn error_in(body: &Value) -> Option<String> {
    let body = unquoted(body)?;
    let body = if body.is_array() { &body[0] } else { &*body };
    let error = body.member("error");
    let inner = [error.member("message"), error, any(body, &["message", "Message", "detail", "errorMessage"])];
    let is_error = !error.is_null() || !any(body, &["message", "Message", "detail", "errorMessage"]).is_null();
    let is_answer = ["choices", "content", "output", "candidates"].iter().any(|name| !body.member(name).is_null());
    if !is_error || is_answer || body.member("message").is_object() {
        return None;
    }
    let words = inner.into_iter().find_map(Value::as_str).map(str::to_owned);
    words.or_else(|| (!error.is_null()).then(|| error.to_string()))
}

/// An entry of a HAR recording.
pub(super) fn har(record: &Value) -> Option<Vec<RecordPiece>> {
    let (sent, came) = (record.member("request").as_object()?, record.member("response"));
    let url = sent.get("url")?.as_str()?;
    let post = sent.get("postData").unwrap_or(&Value::Null);
    if !came.member("content").is_object() && !post.is_object() || sent.contains_key("content") {
        return None;
    }
    let Some(body) = unquoted(post.member("text")) else { return Some(Vec::new()) };
    let content = came.member("content");
    let text = content.member("text");
    let decoded = || text.as_str().and_then(of_base64).map(|bytes| input::text_of(&bytes).into());
    let text =
        if content.member("encoding") == "base64" { decoded() } else { None }.map_or(Cow::Borrowed(text), Cow::Owned);
    let came = ServerAnswer::of(came.member("status").as_u64(), &text);
    let headers = sent.get("headers").and_then(LoggedHeaders::of);
    Some(exchange((url, headers), &body, came, "request.postData.text"))
}

/// A flow of a recording of mitmproxy.
pub(super) fn mitmproxy(record: &Value) -> Option<Vec<RecordPiece>> {
    let flow = record.member("mitmproxy").as_object()?;
    let url = flow.get("url").and_then(Value::as_str).unwrap_or_default();
    let Some(body) = flow.get("request").and_then(unquoted) else { return Some(Vec::new()) };
    let status = flow.get("status").and_then(Value::as_u64);
    let came = ServerAnswer::of(status, flow.get("response").unwrap_or(&Value::Null));
    let headers = flow.get("headers").and_then(LoggedHeaders::of);
    Some(exchange((url, headers), &body, came, "request.content"))
}

/// Reads a line of a transcript of `threadspec provider`; a redacted one has no texts.
pub(super) fn transcript(record: &Value) -> Option<Vec<RecordPiece>> {
    if record["provider"].is_number() && record["threadspec"].is_string() {
        return Some(Vec::new());
    }
    let (attempt, sent) = (record["attempt"].as_object()?, record["sent"].as_array()?);
    let Some(body) = attempt.get("body").and_then(unquoted) else { return Some(Vec::new()) };
    let url = attempt.get("target").and_then(Value::as_str).unwrap_or_default();
    // Each piece is a time and what was sent then.
    let came: String = sent.iter().filter_map(|piece| piece[1].as_str()).collect();
    let is_answered = attempt.get("status").is_some_and(|status| status == 200);
    let answer = if is_answered { said::answer(&Value::String(came)) } else { None };
    // What the provider says is a part in a play, and no verdict.
    Some(exchange((url, None), &body, ServerAnswer { answer, verdict: ServerVerdict::Unsaid }, "attempt.body"))
}

/// An exchange of a cassette: of vcrpy, go-vcr, Ruby's vcr, httpmock, `WireMock`, the replays of google-genai and others.
pub(super) fn cassette(record: &Value) -> Option<Vec<RecordPiece>> {
    if ["scope", "method", "path"].iter().all(|name| record[*name].is_string()) && record["status"].is_number() {
        return nock(record);
    }
    let names = if record["when"].is_object() { ("when", "then") } else { ("request", "response") };
    let (sent, came) = (&record[names.0], &record[names.1]);
    let url = any(sent, &["uri", "url", "urlPath", "path"]).as_str()?;
    if !sent["method"].is_string() || !came.is_object() || came["content"].is_object() && sent["content"].is_null() {
        return None;
    }
    let Some(body) = body_in(sent).and_then(|body| unquoted(&body).map(Cow::into_owned)) else {
        return Some(Vec::new());
    };
    let status = [&came["status"]["code"], &came["code"], &came["status_code"], &came["status"]];
    let status = status.into_iter().find_map(|status| {
        // Go's has its words behind it.
        let in_words = || status.as_str()?.split(' ').next()?.parse().ok();
        status.as_u64().or_else(in_words)
    });
    let came = ServerAnswer::of(status, &body_in(came).unwrap_or_default());
    let headers = LoggedHeaders::of(any(sent, &["headers", "header"]));
    let path = if names.0 == "when" { "when.body" } else { "request.body" };
    Some(exchange((url, headers), &body, came, path))
}

/// An exchange of a recording of nock; one without a request has an answer all the same.
fn nock(record: &Value) -> Option<Vec<RecordPiece>> {
    let (status, came) = (record["status"].as_u64()?, &record["response"]);
    let Some(body) = unquoted(&record["body"]) else {
        let answer = came.as_str().and_then(|_| said::answer(came));
        return Some(answer.map(|_| RecordPiece::Answer).into_iter().collect());
    };
    let url = format!("{}{}", word(record, "scope"), word(record, "path"));
    Some(exchange((&url, None), &body, ServerAnswer::of(Some(status), came), "body"))
}

/// The body of one side of an exchange: as a text, as base64, in an object with its encoding, in pieces, or parsed.
fn body_in(side: &Value) -> Option<Value> {
    let parsed = [&side["parsed_body"], &side["jsonBody"], &side["bodyPatterns"][0]["equalToJson"]];
    if let Some(parsed) = parsed.into_iter().find(|parsed| !parsed.is_null()) {
        return Some(parsed.clone());
    }
    if let [one] = list(&side["body_segments"]) {
        return Some(one.clone());
    }
    let coded = |value: &Value| value.as_str().and_then(of_base64).map(|bytes| input::text_of(&bytes).into());
    if side["body_encoding"] == "base64" {
        return coded(&side["body"]);
    }
    let body = any(side, &["body", "body_segments", "content"]);
    let body = match body {
        Value::Object(members) => {
            let text = members.get("string").or(members.get("text")).cloned();
            let text = text.or_else(|| if body["encoding"] == "base64" { coded(&body["data"]) } else { None });
            let text = coded(&body["base64_string"]).or_else(|| coded(&body["base64"])).or(text);
            text.unwrap_or_else(|| without_type(body))
        }
        Value::Array(pieces) => pieces.iter().map(without_type).collect(),
        Value::String(_) => body.clone(),
        _ => return None,
    };
    // Bytes that were written as characters.
    let bytes = body.as_str().filter(|text| text.starts_with("\u{1f}\u{8b}"));
    let bytes: Option<Vec<u8>> = bytes.and_then(|text| text.chars().map(|one| u8::try_from(one).ok()).collect());
    Some(bytes.map_or(body, |bytes| input::text_of(&bytes).into()))
}

/// A value without the name of its type, which Llama Stack records beside it.
fn without_type(value: &Value) -> Value {
    let data = value.member("__data__");
    if data.is_object() { data.clone() } else { value.clone() }
}

/// Endings of addresses at which no history is sent, and what is asked there.
const OTHER_SERVICES: [(&str, &str); 23] = [
    ("/embeddings", "a request for embeddings"),
    ("/embed", "a request for embeddings"),
    (":embedContent", "a request for embeddings"),
    (":batchEmbedContents", "a request for embeddings"),
    (":predict", "a request for a prediction"),
    ("/moderations", "a request for moderation"),
    ("/generations", "a request for an image"),
    ("/edits", "a request for an image"),
    ("/speech", "a request for audio"),
    ("/transcriptions", "a request for audio"),
    ("/translations", "a request for audio"),
    ("/rerank", "a request for a ranking"),
    ("/models", "a request for the list of models"),
    ("/files", "a request for files"),
    ("/batches", "a request for a batch"),
    ("/count_tokens", "a request for the number of tokens"),
    ("/count-tokens", "a request for the number of tokens"),
    ("/input_tokens", "a request for the number of tokens"),
    (":countTokens", "a request for the number of tokens"),
    ("/tokenize", "a request for the number of tokens"),
    ("/completions", "a request with a prompt alone"),
    ("/api/generate", "a request with a prompt alone"),
    ("/interactions", "a request of Gemini's Interactions API"),
];

/// The body of a request to this address, with these headers, if it is one to a model.
pub(super) fn exchange(
    (url, headers): (&str, Option<LoggedHeaders>),
    body: &Value,
    ServerAnswer { answer, verdict }: ServerAnswer,
    path: &str,
) -> Vec<RecordPiece> {
    let target = url.split('?').next().unwrap_or_default().trim_end_matches('/');
    let other = OTHER_SERVICES.iter().find(|(ending, _)| target.ends_with(ending));
    if let Some((_, what)) = other.filter(|_| !target.ends_with("/chat/completions")) {
        return vec![RecordPiece::Skipped(what)];
    }
    if list(body.member("input")).first().is_some_and(Value::is_string) {
        return vec![RecordPiece::Skipped("a request for embeddings")];
    }
    let Some(mut said) = said::said(body, path) else { return Vec::new() };
    let known = match () {
        () if target.ends_with("/chat/completions") => Some(Api::OpenAiChat),
        () if target.ends_with("/responses") => Some(Api::OpenAiResponses),
        () if target.ends_with("/messages") => Some(Api::Anthropic),
        () => None,
    };
    // Nobody offers the API of Gemini or Bedrock but who has it. A path alone tells no more than what it ends with,
    // and one that ends with a version tells nothing.
    let ends_with_version = target.rsplit('/').next().is_some_and(|last| {
        last.is_empty()
            || last.strip_prefix('v').is_some_and(|rest| rest.starts_with(|digit: char| digit.is_ascii_digit()))
    });
    let is_path = target.starts_with('/') && known.is_none() && !ends_with_version;
    let is_of_others = !matches!(said, SaidToModel::Form { .. }) && (is_path || is_foreign(url, body));
    if let (Some(known), SaidToModel::Api { api, is_whole, .. }) = (known, &mut said) {
        *api = Some(known);
        *is_whole = true;
    } else if let (Some(known), SaidToModel::Messages(_) | SaidToModel::Form { .. }) = (known, &said) {
        // What only this API's own words can judge, however strange they are.
        said = SaidToModel::Api { api: Some(known), body: body.clone(), is_whole: true };
    } else if let SaidToModel::Form { body, is_whole, .. } = &mut said {
        // What a client or a proxy wraps is all that it sent, but for the model, which is in the address.
        *is_whole |= !path.is_empty();
        if let Some(model) = model_in(target).filter(|_| body["model"].is_null()) {
            body["model"] = model.into();
        }
    } else if is_of_others {
        // An address of nobody known has an API of its own.
        said = SaidToModel::Messages(said::turns(said));
    }
    // Anthropic's models at other addresses have the version in the body.
    let headers = headers.filter(|_| known == Some(Api::Anthropic));
    LoggedExchange { headers, verdict, is_of_others, ..LoggedExchange::of(said, answer, path) }.piece()
}

/// Endings of the hosts of those whose rules are known.
const HOSTS: [&str; 8] = [
    "openai.com",
    "chatgpt.com",
    "anthropic.com",
    "googleapis.com",
    "amazonaws.com",
    "openai.azure.com",
    "services.ai.azure.com",
    "cognitiveservices.azure.com",
];
/// Beginnings of the names of their models.
const MODELS: [&str; 9] = ["gpt-", "chatgpt-", "o1", "o3", "o4", "claude", "gemini", "models/gemini", "deepseek-"];

/// Returns whether a request went to a server whose rules are not those of the API that it offers.
fn is_foreign(url: &str, body: &Value) -> bool {
    let Some((_, behind)) = url.split_once("://") else { return false };
    let host = behind.split(['/', ':']).next().unwrap_or_default();
    let is_known = |end: &str| host.strip_suffix(end).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    let model = word(body, "model");
    // What is known of DeepSeek is its chat completions.
    let is_of = |known: &str| model.starts_with(known) && (known != "deepseek-" || !url.contains("/responses"));
    !HOSTS.iter().any(|end| is_known(end)) && !MODELS.iter().any(|known| is_of(known))
}

/// The model in an address of Gemini or Bedrock: `/v1beta/models/gemini-3-pro:generateContent`.
fn model_in(target: &str) -> Option<&str> {
    let behind = ["/models/", "/model/"].iter().find_map(|name| target.split_once(name))?.1;
    behind.split(['/', ':', '%']).next()
}
