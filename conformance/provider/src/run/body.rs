//! Reads the body of a request, and keeps what later requests may refer to.

use crate::http::Received;
use crate::record::RequestProblem;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;
use threadspec::oracle::{Api, Breach, BreachDetail};
use threadspec::surrogates::unmark_surrogates;
use threadspec_apis::ApiRequest;
use threadspec_judge::universal::halves::repaired;
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
    pub(crate) fn read(api: Api, kept: &Kept, received: &Received) -> Self {
        let mut body = Self { before: Some(Vec::new()), ..Self::default() };
        let bytes = match &received.body {
            Ok(bytes) => bytes.clone(),
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
            Ok(value) if value.is_object() => {
                body.resolve(api, kept, ApiRequest::with_target(api, &received.target, value));
            }
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

// Keeps items for Responses: answers, their items, conversations. Only the key of a run sees what was kept for it.

/// Everything that was kept for a run.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    responses: HashMap<String, Arc<KeptResponse>>,
    /// Items by their ids.
    items: HashMap<String, Value>,
    /// Conversations: what each ask added.
    conversations: HashMap<String, Vec<(usize, Vec<Value>)>>,
}

/// A response, with what led to it.
#[derive(Debug)]
struct KeptResponse {
    before: Option<Arc<KeptResponse>>,
    input: Vec<Value>,
    output: Vec<Value>,
    /// The answer as it was sent.
    whole: Value,
}

/// A request whose references are replaced by what they name.
#[derive(Debug, Default)]
pub(crate) struct Resolved {
    /// The items that the provider kept, which are before the input.
    pub(crate) before: Vec<Value>,
    /// The body with the items that it names by their ids; `None` if it names none.
    pub(crate) body: Option<Value>,
}

/// An item that a request names and nobody kept.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Forgotten {
    /// A response.
    Response(String),
    /// An item, and its position in the input.
    Item(String, usize),
}

impl Kept {
    /// Looks up what a body refers to; `None` if it refers to nothing.
    pub(crate) fn resolve(&self, body: &Value) -> Result<Option<Resolved>, Forgotten> {
        let mut resolved = Resolved::default();
        let mut refers = false;
        if let Some(id) = body["previous_response_id"].as_str() {
            let last = self.responses.get(id).ok_or_else(|| Forgotten::Response(id.to_owned()))?;
            resolved.before = last.thread();
            refers = true;
        }
        if let Some(id) = conversation(body) {
            let items = self.conversations.get(id).into_iter().flatten().flat_map(|(_, items)| items);
            resolved.before.extend(items.cloned());
            refers = true;
        }
        let input = body["input"].as_array().map(Vec::as_slice).unwrap_or_default();
        let named = |item: &Value| item["type"] == "item_reference";
        if input.iter().any(named) {
            let mut whole = body.clone();
            for (position, item) in input.iter().enumerate().filter(|(_, item)| named(item)) {
                let id = item["id"].as_str().unwrap_or_default();
                let kept = self.items.get(id).ok_or_else(|| Forgotten::Item(id.to_owned(), position))?;
                whole["input"][position] = kept.clone();
            }
            resolved.body = Some(whole);
            refers = true;
        }
        Ok(refers.then_some(resolved))
    }

    /// Keeps an answer to a request, unless the request says that nothing is to be kept.
    pub(crate) fn keep(&mut self, ask: usize, body: &Value, answer: Value) {
        let output: Vec<Value> = answer["output"].as_array().into_iter().flatten().map(as_input).collect();
        let input = items(body);
        if let Some(id) = conversation(body) {
            let parts = self.conversations.entry(id.to_owned()).or_default();
            // An attempt that comes again says the same again.
            parts.retain(|(other, _)| *other != ask);
            parts.push((ask, input.iter().chain(&output).cloned().collect()));
        }
        if body["store"] == false {
            return;
        }
        for item in input.iter().chain(&output) {
            if let Some(id) = item["id"].as_str() {
                self.items.insert(id.to_owned(), item.clone());
            }
        }
        let before = body["previous_response_id"].as_str().and_then(|id| self.responses.get(id)).map(Arc::clone);
        let id = answer["id"].as_str().unwrap_or_default().to_owned();
        self.responses.insert(id, Arc::new(KeptResponse { before, input, output, whole: answer }));
    }

    /// Forgets what an ask added to conversations: its client did not take the answer.
    pub(crate) fn take_back(&mut self, ask: usize) {
        self.conversations.values_mut().for_each(|parts| parts.retain(|(other, _)| *other != ask));
    }

    /// A response as it was sent.
    pub(crate) fn response(&self, id: &str) -> Option<&Value> {
        self.responses.get(id).map(|kept| &kept.whole)
    }
}

impl KeptResponse {
    /// The items of its request and its own, from the first response on.
    fn thread(&self) -> Vec<Value> {
        let mut chain = vec![self];
        let mut next = self.before.as_deref();
        while let Some(response) = next {
            chain.push(response);
            next = response.before.as_deref();
        }
        chain.iter().rev().flat_map(|response| response.input.iter().chain(&response.output)).cloned().collect()
    }
}

impl Drop for KeptResponse {
    /// A long chain is not dropped on the stack.
    fn drop(&mut self) {
        let mut next = self.before.take();
        while let Some(response) = next {
            next = Arc::try_unwrap(response).ok().and_then(|mut response| response.before.take());
        }
    }
}

/// The conversation that a body names.
fn conversation(body: &Value) -> Option<&str> {
    body["conversation"].as_str().or_else(|| body["conversation"]["id"].as_str())
}

/// An item of an answer as a request has it. Half a character that the model sent is not the fault of a request that refers to it.
fn as_input(item: &Value) -> Value {
    let mut own = item.clone();
    for part in own.get_mut("content").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(text) = part["text"].as_str().map(|text| repaired(text).into_owned()) {
            part["text"] = text.into();
        }
    }
    if let Some(members) =
        own.as_object_mut().filter(|members| members.get("type").is_some_and(|kind| kind == "reasoning"))
    {
        members.retain(|name, value| name != "status" && !value.is_null());
    }
    own
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn answer(id: &str) -> Value {
        json!({"id": id, "output": [
            {"id": format!("rs_{id}"), "type": "reasoning", "status": "completed", "encrypted_content": null, "summary": []},
            {"id": format!("msg_{id}"), "type": "message", "role": "assistant", "content": []},
        ]})
    }

    #[test]
    fn a_chain_goes_back_to_the_first_response() {
        let mut kept = Kept::default();
        kept.keep(0, &json!({"input": "Go"}), answer("a"));
        kept.keep(1, &json!({"input": [{"n": 1}], "previous_response_id": "a"}), answer("b"));
        let resolved =
            kept.resolve(&json!({"input": [], "previous_response_id": "b"})).expect("kept").expect("it refers");
        let ids: Vec<&str> = resolved.before.iter().map(|item| item["id"].as_str().unwrap_or("-")).collect();
        assert_eq!(ids, ["-", "rs_a", "msg_a", "-", "rs_b", "msg_b"]);
        assert_eq!(resolved.before[1], json!({"id": "rs_a", "type": "reasoning", "summary": []}));
        let unknown = kept.resolve(&json!({"input": [], "previous_response_id": "c"}));
        assert_eq!(unknown.err(), Some(Forgotten::Response("c".into())));
        assert!(kept.resolve(&json!({"input": "Go"})).expect("nothing").is_none());
        assert_eq!(kept.response("a"), Some(&answer("a")));
    }

    #[test]
    fn what_is_not_to_be_stored_is_not_found() {
        let mut kept = Kept::default();
        kept.keep(0, &json!({"input": "Go", "store": false}), answer("a"));
        assert_eq!(kept.response("a"), None);
        let named = json!({"input": ["x", {"type": "item_reference", "id": "msg_a"}]});
        assert_eq!(kept.resolve(&named).err(), Some(Forgotten::Item("msg_a".into(), 1)));
        kept.keep(0, &json!({"input": "Go"}), answer("a"));
        let resolved = kept.resolve(&named).expect("kept").expect("it refers");
        assert_eq!(resolved.body.expect("replaced")["input"][1]["role"], "assistant");
    }

    #[test]
    fn a_conversation_grows_by_each_ask_once() {
        let mut kept = Kept::default();
        let body = json!({"input": "Go", "conversation": {"id": "conv_1"}});
        let length = |kept: &Kept| {
            kept.resolve(&json!({"input": [], "conversation": "conv_1"}))
                .expect("kept")
                .expect("it refers")
                .before
                .len()
        };
        assert_eq!(length(&kept), 0);
        kept.keep(0, &body, answer("a"));
        kept.keep(0, &body, answer("b"));
        assert_eq!(length(&kept), 3);
        kept.take_back(0);
        assert_eq!(length(&kept), 0);
    }

    #[test]
    fn a_long_chain_is_dropped() {
        let mut kept = Kept::default();
        kept.keep(0, &json!({"input": "Go"}), answer("0"));
        for number in 1..100_000 {
            let body = json!({"input": [], "previous_response_id": (number - 1).to_string()});
            kept.keep(number, &body, json!({"id": number.to_string(), "output": []}));
        }
        drop(kept);
    }
}
