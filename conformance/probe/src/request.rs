//! Makes the requests of a rule as a server takes them, with the options of the run.
//!
//! The corpus has the part that is about the rule, and the rest is what every client sends.

use serde::de::{Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::fmt;
use threadspec::oracle::{Api, provider_breaches_with};
use threadspec::read_json;
use threadspec_apis::{facts, rule_answer, rule_context};
use threadspec_golden::{HeaderPair, RuleEntry};

/// The version of Anthropic's API, if none is named.
const VERSION: &str = "2023-06-01";

/// The two requests of a rule.
#[derive(Clone, Debug)]
pub struct ProbePair {
    /// The rule.
    pub rule: &'static RuleEntry,
    /// The request that keeps it.
    pub twin: ProbeRequest,
    /// The request that breaks it.
    pub broken: ProbeRequest,
    /// How our data say that the API refuses it.
    pub expected: ExpectedRefusal,
}

/// A request without its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeRequest {
    /// The path.
    pub target: String,
    /// Names and values.
    pub headers: Vec<(String, String)>,
    /// The body, which is JSON, or nearly: some rules are about what is none.
    pub body: String,
}

impl ProbeRequest {
    /// How many bytes its body has.
    pub fn bytes(&self) -> usize {
        self.body.len()
    }
}

/// How our data say that a rule's broken request is refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedRefusal {
    /// The status.
    pub status: u16,
    /// `code` of OpenAI, or the type of Anthropic's error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// `param` of OpenAI.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub param: Option<String>,
    /// The message.
    pub words: String,
}

/// The header in which an API takes a key.
pub fn key_header(api: Api, key: &str) -> (String, String) {
    let (name, before) = facts(api).key;
    (name.to_owned(), format!("{before}{key}"))
}

pub(crate) fn pair(rule: &'static RuleEntry, options: &ProbeOptions) -> Option<ProbePair> {
    let mut valid = BodyMembers::read(&rule.valid())?;
    if rule.stored.is_some() {
        // Nothing is stored, so that there is no response to go on from.
        valid.remove("previous_response_id");
    }
    without_answers(&mut valid);
    let twin = request(rule, false, valid, options);
    let broken = request(rule, true, BodyMembers::read(&rule.broken())?, options);
    let body = read_json(&broken.body).ok()?;
    let breaches = provider_breaches_with(options.api, &rule_context(rule, true, &body), &body);
    let breach = breaches.iter().find(|breach| breach.rule == rule.id)?;
    let error = rule_answer(breach, options.api, &broken.body);
    let expected = ExpectedRefusal {
        status: error.status,
        // Anthropic has types only.
        code: error.code.or_else(|| (options.api == Api::Anthropic).then_some(error.kind)),
        param: error.param,
        words: error.message,
    };
    Some(ProbePair { rule, twin, broken, expected })
}

/// Leaves out of the valid request the parts that only the server could have sent, with its signature, and a last message of the assistant,
/// which newer models refuse.
fn without_answers(twin: &mut BodyMembers) {
    if let Some(Value::Array(mut items)) = twin.value("input") {
        let count = items.len();
        items.retain(|item| item["type"] != "reasoning");
        if items.len() < count {
            twin.set("input", &Value::Array(items));
        }
    }
    let Some(Value::Array(mut messages)) = twin.value("messages") else { return };
    let before = messages.clone();
    if messages.len() > 1 && messages.last().is_some_and(|last| last["role"] == "assistant") {
        messages.pop();
    }
    for content in messages.iter_mut().filter_map(|message| message["content"].as_array_mut()) {
        content.retain(|block| block["type"] != "thinking");
    }
    if messages != before {
        twin.set("messages", &Value::Array(messages));
    }
}

fn request(rule: &RuleEntry, is_broken: bool, mut members: BodyMembers, options: &ProbeOptions) -> ProbeRequest {
    let api = options.api;
    // A request that is to lack its limit keeps lacking it.
    complete(&mut members, options, !is_broken || rule.at != "max_tokens");
    let mut headers = vec![
        ("content-type".to_owned(), "application/json".to_owned()),
        ("accept".to_owned(), if options.stream { "text/event-stream" } else { "application/json" }.to_owned()),
        ("user-agent".to_owned(), concat!("threadspec/", env!("CARGO_PKG_VERSION")).to_owned()),
    ];
    if api == Api::Anthropic {
        let of_rule = rule.headers.as_ref().map(|HeaderPair { broken, valid }| if is_broken { broken } else { valid });
        let named = |name: &str| of_rule.and_then(|headers| headers.get(name).cloned());
        let version = match named("anthropic-version") {
            // The rule is about the header itself.
            None if of_rule.is_some() => None,
            of_rule => options.version.clone().or(of_rule).or_else(|| Some(VERSION.to_owned())),
        };
        headers.extend(version.map(|version| ("anthropic-version".to_owned(), version)));
        headers.extend(named("anthropic-beta").map(|beta| ("anthropic-beta".to_owned(), beta)));
    }
    let facts = facts(api);
    let path = if options.stream { facts.stream_path } else { facts.path };
    let target = format!("{}{path}", facts.base).replace("{model}", &options.model);
    ProbeRequest { target, headers, body: members.text() }
}

/// Adds the members that every client sends, and the real API demands, beside the subject of the rule.
fn complete(members: &mut BodyMembers, options: &ProbeOptions, is_limited: bool) {
    let ProbeOptions { api, model, max_tokens, stream, .. } = options;
    let history = members.text();
    let has_calls = ["\"tool_calls\"", "\"tool_call_id\"", "\"function_call", "\"tool_use", "\"tool_result\""]
        .iter()
        .any(|word| history.contains(word));
    match members.value("tools") {
        None if has_calls => members.set("tools", &json!([tool(*api)])),
        Some(Value::Array(mut tools)) if *api == Api::Anthropic => {
            for tool in tools.iter_mut().filter_map(Value::as_object_mut) {
                tool.entry("input_schema").or_insert_with(|| json!({"type": "object"}));
            }
            members.set("tools", &Value::Array(tools));
        }
        _ => {}
    }
    // What it thinks counts, too, and needs a room of its own.
    let budget = members.value("thinking").and_then(|thinking| thinking["budget_tokens"].as_u64()).unwrap_or_default();
    let most = json!(budget + max_tokens);
    match api {
        _ if !is_limited => {}
        Api::OpenAiChat if takes_completion_tokens(model) => members.set("max_completion_tokens", &most),
        // Gemini is not probed.
        Api::OpenAiChat | Api::Anthropic | Api::Gemini => members.set("max_tokens", &most),
        Api::OpenAiResponses => members.set("max_output_tokens", &most),
    }
    if *api != Api::Anthropic {
        members.set("store", &json!(false));
    }
    if *stream {
        members.set("stream", &json!(true));
    }
    members.set("model", &json!(model));
}

/// Newer models of OpenAI refuse `max_tokens`, which is all that many servers know.
fn takes_completion_tokens(model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or(model);
    ["o1", "o3", "o4", "gpt-5", "gpt-6"].iter().any(|begin| name.starts_with(begin))
}

/// The tool of the corpus' histories.
fn tool(api: Api) -> Value {
    let (name, description, schema) = ("t", "Tells a number.", json!({"type": "object", "properties": {}}));
    match api {
        Api::OpenAiChat => {
            json!({"type": "function", "function": {"name": name, "description": description, "parameters": schema}})
        }
        Api::OpenAiResponses => {
            json!({"type": "function", "name": name, "description": description, "parameters": schema, "strict": false})
        }
        Api::Anthropic | Api::Gemini => json!({"name": name, "description": description, "input_schema": schema}),
    }
}

/// The members of a body, each as it is in the text: half a surrogate pair has no other form.
struct BodyMembers(Vec<(String, Box<RawValue>)>);

impl BodyMembers {
    fn read(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    fn value(&self, name: &str) -> Option<Value> {
        let (_, value) = self.0.iter().find(|(own, _)| own == name)?;
        serde_json::from_str(value.get()).ok()
    }

    fn remove(&mut self, name: &str) {
        self.0.retain(|(own, _)| own != name);
    }

    /// Sets a member. A new one is first, as clients write it.
    fn set(&mut self, name: &str, value: &Value) {
        let Ok(value) = serde_json::value::to_raw_value(value) else { return };
        match self.0.iter_mut().find(|(own, _)| own == name) {
            Some((_, own)) => *own = value,
            None => self.0.insert(0, (name.to_owned(), value)),
        }
    }

    fn text(&self) -> String {
        let members: Vec<String> =
            self.0.iter().map(|(name, value)| format!("{}: {}", Value::from(&**name), value.get())).collect();
        format!("{{{}}}", members.join(", "))
    }
}

impl<'de> Deserialize<'de> for BodyMembers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = BodyMembers;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<BodyMembers, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(BodyMembers(members))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

// Defines the options of a run.

/// The options of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "switches of a command line")]
pub struct ProbeOptions {
    /// Whose rules.
    pub api: Api,
    /// The model that the requests name.
    pub model: String,
    /// True if the answers should be streams.
    pub stream: bool,
    /// The header `anthropic-version`, if it is not the usual one.
    pub version: Option<String>,
    /// How much an answer may have.
    pub max_tokens: u64,
    /// Globs of ids; all rules without one.
    pub rules: Vec<String>,
    /// True if rules for other models, versions or servers are asked, too.
    pub all: bool,
    /// True if bodies of more than a megabyte are sent.
    pub large: bool,
}

impl ProbeOptions {
    /// The usual way to ask about a model.
    pub fn new(api: Api, model: &str) -> Self {
        let model = model.to_owned();
        Self { api, model, stream: false, version: None, max_tokens: 16, rules: Vec::new(), all: false, large: false }
    }
}
