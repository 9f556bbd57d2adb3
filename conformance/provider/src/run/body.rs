//! The body of a request: read, with what it refers to in its place.

use super::kept::{Forgotten, Kept};
use crate::received::Unreadable;
use crate::record::RequestProblem;
use serde_json::Value;
use threadspec::oracle::{Api, Breach, BreachDetail};
use threadspec::surrogates::unmark_surrogates;
use threadspec_apis::ApiRequest;
use threadspec_judge::universal::value;

/// A body, as far as it could be read.
#[derive(Debug, Default)]
pub(crate) struct Body {
    /// As it came.
    pub(crate) text: String,
    /// Marked, with the items that it names by their ids.
    pub(crate) value: Option<Value>,
    /// The body with the items that it continues, if there are any.
    pub(crate) whole: Option<Value>,
    /// The kept items that it continues; `None` if it names one that is not kept.
    pub(crate) before: Option<Vec<Value>>,
    /// The body as JSON text, if it refers to anything that is kept.
    pub(crate) resolved: Option<String>,
    /// Its content, the items before it included.
    pub(crate) request: Option<ApiRequest>,
    /// Why nobody could answer it.
    pub(crate) problem: Option<RequestProblem>,
    /// The name of an item that is not kept, unless the rules find that themselves.
    pub(crate) forgotten: Option<Breach>,
}

impl Body {
    pub(crate) fn read(api: Api, kept: &Kept, received: Result<Vec<u8>, Unreadable>) -> Self {
        let mut body = Self { before: Some(Vec::new()), ..Self::default() };
        let bytes = match received {
            Ok(bytes) => bytes,
            Err(why) => {
                return Self { problem: Some(RequestProblem::Unreadable(why.to_string(), why.status())), ..body };
            }
        };
        let read = match String::from_utf8(bytes) {
            Ok(text) => {
                body.text = text;
                value::read(&body.text).map_err(|error| error.to_string())
            }
            Err(error) => {
                body.text = String::from_utf8_lossy(error.as_bytes()).into_owned();
                Err("it is not UTF-8".to_owned())
            }
        };
        match read {
            Ok(value) if value.is_object() => body.resolve(api, kept, value),
            Ok(_) => body.problem = Some(RequestProblem::NotJson("it is no object".to_owned())),
            Err(why) => body.problem = Some(RequestProblem::NotJson(why)),
        }
        body
    }

    /// Replaces the names in the body by the kept items.
    fn resolve(&mut self, api: Api, kept: &Kept, value: Value) {
        let resolved = if api == Api::OpenAiResponses { kept.resolve(&value) } else { Ok(None) };
        let whole = match resolved {
            Ok(None) => None,
            Ok(Some(resolved)) => {
                let inner = resolved.body.unwrap_or_else(|| value.clone());
                let mut whole = inner.clone();
                whole["input"] = resolved.before.iter().cloned().chain(items(&inner)).collect();
                self.before = Some(resolved.before);
                self.resolved = Some(unmark_surrogates(&whole.to_string()).into_owned());
                self.request = Some(ApiRequest::read(api, &whole));
                self.whole = Some(whole);
                Some(inner)
            }
            Err(Forgotten::Response(_)) => {
                self.before = None;
                None
            }
            Err(Forgotten::Item(id, position)) => {
                let place = format!("input[{position}].id");
                let what = format!("{id:?} is not stored");
                let mut breach = Breach::new("OAI-RESP-STORE", place, what);
                breach.details.push(BreachDetail::Id(id));
                self.forgotten = Some(breach);
                None
            }
        };
        let value = whole.unwrap_or(value);
        if self.request.is_none() {
            self.request = Some(ApiRequest::read(api, &value));
        }
        self.value = Some(value);
    }
}

/// The input of a body as items.
pub(super) fn items(body: &Value) -> Vec<Value> {
    match &body["input"] {
        Value::String(text) => vec![serde_json::json!({"role": "user", "content": text})],
        Value::Array(items) => items.clone(),
        _ => Vec::new(),
    }
}
