//! Requests to models, as a client, a proxy, a batch or a browser logs them, and lists of messages that stand alone.

use super::message::{any, list, unquoted, word};
use super::said::{self, LoggedExchange, LoggedHeaders, RecordPiece, SaidToModel};
use serde_json::Value;
use std::borrow::Cow;
use threadspec::MemberLookup;
use threadspec::oracle::Api;

/// An entry of a HAR recording.
pub(super) fn har(record: &Value) -> Option<Vec<RecordPiece>> {
    let (sent, came) = (record.member("request").as_object()?, record.member("response"));
    let url = sent.get("url")?.as_str()?;
    let post = sent.get("postData").unwrap_or(&Value::Null);
    if !came.member("content").is_object() && !post.is_object() {
        return None;
    }
    let Some(body) = unquoted(post.member("text")) else { return Some(Vec::new()) };
    let answer = said::answer(came.member("content").member("text"));
    let headers = sent.get("headers").and_then(LoggedHeaders::of);
    Some(exchange((url, headers), &body, answer, "request.postData.text"))
}

/// A flow of a recording of mitmproxy.
pub(super) fn mitmproxy(record: &Value) -> Option<Vec<RecordPiece>> {
    let flow = record.member("mitmproxy").as_object()?;
    let url = flow.get("url").and_then(Value::as_str).unwrap_or_default();
    let Some(body) = flow.get("request").and_then(unquoted) else { return Some(Vec::new()) };
    let answer = flow.get("response").and_then(said::answer);
    let headers = flow.get("headers").and_then(LoggedHeaders::of);
    Some(exchange((url, headers), &body, answer, "request.content"))
}

/// A line of a transcript of `threadspec provider`; in one that is redacted nothing is said.
pub(super) fn transcript(record: &Value) -> Option<Vec<RecordPiece>> {
    if record["provider"].is_number() && record["threadspec"].is_string() {
        return Some(Vec::new());
    }
    let (attempt, sent) = (record["attempt"].as_object()?, record["sent"].as_array()?);
    let Some(body) = attempt.get("body").and_then(unquoted) else { return Some(Vec::new()) };
    let url = attempt.get("target").and_then(Value::as_str).unwrap_or_default();
    // Each piece is a time and what was sent then.
    let came: String = sent.iter().filter_map(|piece| piece[1].as_str()).collect();
    let answer =
        said::answer(&Value::String(came)).filter(|_| attempt.get("status").is_some_and(|status| status == 200));
    Some(exchange((url, None), &body, answer, "attempt.body"))
}

/// The body of a request to this address, with these headers, if it is one to a model.
fn exchange(
    (url, headers): (&str, Option<LoggedHeaders>),
    body: &Value,
    answer: Option<said::LoggedAnswer>,
    path: &str,
) -> Vec<RecordPiece> {
    let target = url.split('?').next().unwrap_or_default().trim_end_matches('/');
    // It only asks how long the request is that comes next.
    if target.ends_with("/count_tokens") || target.ends_with("/input_tokens") || target.ends_with(":countTokens") {
        return Vec::new();
    }
    let Some(mut said) = said::said(body, path) else { return Vec::new() };
    let known = match () {
        () if target.ends_with("/chat/completions") => Some(Api::OpenAiChat),
        () if target.ends_with("/responses") => Some(Api::OpenAiResponses),
        () if target.ends_with("/messages") => Some(Api::Anthropic),
        () => None,
    };
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
    }
    // Anthropic's models at other addresses have the version in the body.
    let headers = headers.filter(|_| known == Some(Api::Anthropic));
    LoggedExchange { headers, ..LoggedExchange::of(said, answer, path) }.piece()
}

/// The model in an address of Gemini or Bedrock: `/v1beta/models/gemini-3-pro:generateContent`.
fn model_in(target: &str) -> Option<&str> {
    let behind = ["/models/", "/model/"].iter().find_map(|name| target.split_once(name))?.1;
    behind.split(['/', ':']).next()
}

/// The members in which the body of a request is wrapped.
const WRAPPERS: [&str; 9] =
    ["body", "request", "params", "json", "kwargs", "request_body", "requestBody", "modelInput", "data"];
/// Those in which an answer is.
const ANSWERS: [&str; 7] =
    ["response", "answer", "completion", "response_body", "responseBody", "modelOutput", "output"];
/// What a request has beside its messages, and a transcript has not.
const SETTINGS: [&str; 17] = [
    "model",
    "modelId",
    "tools",
    "system",
    "instructions",
    "max_tokens",
    "max_completion_tokens",
    "max_output_tokens",
    "temperature",
    "tool_choice",
    "stream",
    "store",
    "previous_response_id",
    "generationConfig",
    "inferenceConfig",
    "toolConfig",
    "anthropic_version",
];

/// A request to a model, alone or as a proxy or a batch wraps it, perhaps with its answer.
pub(super) fn request(record: &Value) -> Option<Vec<RecordPiece>> {
    let answer = || ANSWERS.iter().find_map(|name| answer_in(record.member(name)));
    let (path, mut body) = body(record, "", 3)?;
    let url = ["url", "path", "target"].iter().map(|name| word(record, name)).find(|url| !url.is_empty());
    let url = url.unwrap_or_else(|| word(record.member("request"), "url"));
    let has_settings = SETTINGS.iter().any(|name| !body.member(name).is_null());
    if list(body.member("messages")).iter().any(|message| message.member("finish_reason").is_string()) {
        // It is what somebody saved: how an answer ended, no request says.
        return None;
    }
    if path.is_empty() && !has_settings && !body.member("input").is_array() && !body.member("contents").is_array() {
        return None;
    }
    if let Some(model) =
        ANSWERS.iter().map(|name| record.member(name).member("modelVersion")).find(|model| model.is_string())
    {
        // A body of Gemini does not say the model; its answer does.
        body.to_mut()["model"] = model.clone();
    }
    let headers =
        [record.member("request").member("headers"), record.member("headers"), record.member("request_headers")];
    let headers = headers.into_iter().find_map(LoggedHeaders::of);
    Some(exchange((url, headers), &body, answer(), &path))
}

/// The body of a request within a record, and its path.
fn body<'r>(record: &'r Value, path: &str, depth: usize) -> Option<(String, Cow<'r, Value>)> {
    let value = unquoted(record).filter(|value| value.is_object())?;
    let has_settings = || SETTINGS.iter().any(|name| !value.member(name).is_null());
    let is_body = value.member("messages").is_array()
        || value.member("contents").is_array()
        || value.member("input").is_array()
        || (value.member("input").is_string() && has_settings());
    if is_body {
        return Some((path.to_owned(), value));
    }
    match value {
        Cow::Borrowed(value) => wrapped(value, path, depth),
        Cow::Owned(value) => wrapped(&value, path, depth).map(|(path, body)| (path, Cow::Owned(body.into_owned()))),
    }
}

/// The same in one of the members that wrap it.
fn wrapped<'r>(value: &'r Value, path: &str, depth: usize) -> Option<(String, Cow<'r, Value>)> {
    let mut names = WRAPPERS.iter().filter(|name| depth > 0 && !value.member(name).is_null());
    names.find_map(|name| body(value.member(name), &said::under(path, name), depth - 1))
}

fn answer_in(value: &Value) -> Option<said::LoggedAnswer> {
    // The content of a message is no wrapper.
    let mut inner = ["body", "content", "text"].iter().map(|name| &value[*name]).filter(|_| value["role"].is_null());
    let inner = inner.find(|inner| inner.is_object() || inner.is_string());
    inner.and_then(said::answer).or_else(|| said::answer(value))
}

/// Answers of a batch or a store, without what they answer.
pub(super) fn answers(record: &Value) -> Option<Vec<RecordPiece>> {
    let bodies = [record, &record["response"]["body"], &record["response"], &record["result"]["message"]];
    let is_answer = |body: &&Value| {
        body["choices"].is_array()
            || (body["object"] == "response" && body["output"].is_array())
            || (body["type"] == "message" && body["content"].is_array())
            || body["candidates"].is_array()
    };
    let body = bodies.into_iter().find(is_answer)?;
    said::answer(body).map(|_| vec![RecordPiece::Answer])
}

/// A history that stands alone: a list of messages, or an object with nothing but one.
pub(super) fn history(record: &Value) -> Option<Vec<RecordPiece>> {
    if record.is_array() || record["messages"].is_array() {
        let list = if record.is_array() { record } else { &record["messages"] };
        let path = if record.is_array() { "" } else { "messages" };
        let said = said::said(list, path)?;
        return Some(LoggedExchange::history(said, path).model(any(record, &["model"])).piece());
    }
    // One message: the conversation goes on in the next line.
    let says = record.get("content").is_some() || !list(&record["tool_calls"]).is_empty();
    let is_item = record["call_id"].is_string() && record["type"].is_string();
    let is_message = (record["role"].is_string() && says) || is_item;
    let turns = is_message.then(|| said::turns_of(std::slice::from_ref(record), ""))?;
    Some(vec![RecordPiece::Turns { key: String::new(), turns }])
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_request_is_found_in_what_logs_wrap_it_in() {
        let inner = json!({"model": "m", "messages": []});
        let said = json!({"input": "Hi", "model": "m"});
        for (record, expected) in [
            (inner.clone(), Some(&inner)),
            (json!({"custom_id": "1", "method": "POST", "url": "/v1/chat/completions", "body": inner}), Some(&inner)),
            (json!({"request": {"body": inner}}), Some(&inner)),
            (json!({"request": {"body": inner.to_string()}}), Some(&inner)),
            (said.clone(), Some(&said)),
            (json!({"input": "Hi"}), None),
            (json!({"type": "message", "role": "user", "content": "Hi", "iteration": 0}), None),
            (json!({"messages": {}}), None),
            (json!([]), None),
            (json!("nope"), None),
        ] {
            assert_eq!(body(&record, "", 3).map(|(_, body)| body).as_deref(), expected, "{record}");
        }
        for (record, expected) in [
            (inner, true),
            (json!({"messages": []}), false),
            (json!({"body": {"messages": []}}), true),
            (json!({"input": []}), true),
        ] {
            assert_eq!(request(&record).is_some(), expected, "{record}");
        }
    }
}
