//! Every rule of the model APIs through `check`, in logs as people have them: a request that an API refuses gives a finding of this rule, at
//! its level, and none of another; the request that it accepts gives none.

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use threadspec::oracle::{RequestForm, provider_breaches_with};
use threadspec::read_json;
use threadspec_apis::rule_context;
use threadspec_golden::{RuleEntry, provider_rules};
use threadspec_logs::{CheckOptions, Level, check_bytes};

/// Rules that no log shows, and why.
const UNSEEN: [(&str, &str); 1] =
    [("OAI-RESP-PREVIOUS", "what the server has stored is not in the log, which may have begun after it")];

/// Forms that do not show a rule, and why.
const NOT_IN: [(&str, &str, &str); 12] = [
    (REQUESTS, "version", HEADERS),
    (REQUESTS, "sampling", HEADERS),
    (REQUESTS, "assistant-document", HEADERS),
    (REQUESTS, "user-citations", HEADERS),
    (LANGFUSE, "required", SETTINGS),
    (LANGFUSE, "tool-options", SETTINGS),
    (LANGFUSE, "messages-nonempty", "an empty input has nothing by which it is known for a request"),
    (LANGFUSE, "version", HEADERS),
    (LANGFUSE, "sampling", HEADERS),
    (LANGFUSE, "assistant-document", HEADERS),
    (LANGFUSE, "user-citations", HEADERS),
    (
        LANGFUSE,
        "OAI-CHAT-PART-TYPE",
        "without settings they are words of Anthropic's, which gateways take for every model",
    ),
];
const SETTINGS: &str = "an observation has the input of a call, and not all of its settings";
const HEADERS: &str = "it depends on headers, which are not there";

const REQUESTS: &str = "requests";
const HAR: &str = "a HAR recording";
const ENVELOPE: &str = "JSON inside a string";
const LANGFUSE: &str = "an observation of Langfuse";

/// A request of the data as a client sends it.
struct Sent {
    url: String,
    headers: BTreeMap<String, String>,
    model: &'static str,
    body: BTreeMap<String, Box<RawValue>>,
    answer: Option<Value>,
}

fn text(members: &BTreeMap<String, Box<RawValue>>) -> String {
    serde_json::to_string(members).expect("JSON")
}

impl Sent {
    /// The broken or the valid request of a rule, with what every request has.
    fn new(rule: &RuleEntry, is_broken: bool) -> Self {
        let body = if is_broken { rule.broken() } else { rule.valid() };
        let mut body: BTreeMap<String, Box<RawValue>> = serde_json::from_str(&body).expect("a body");
        let (name, model, path) = match &*rule.api {
            "openai-chat" => ("model", "gpt-4.1", "/v1/chat/completions"),
            "openai-responses" => ("model", "gpt-5", "/v1/responses"),
            "anthropic" => ("model", "claude-sonnet-5", "/v1/messages"),
            "gemini" => ("model", "gemini-2.5-pro", "/v1beta/models/{model}:generateContent"),
            _ => ("modelId", "amazon.nova-pro-v1:0", "/model/{model}/converse"),
        };
        let raw = |value: Value| RawValue::from_string(value.to_string()).expect("JSON");
        let mut add = |name: &str, value: Value| {
            body.entry(name.to_owned()).or_insert_with(|| raw(value));
        };
        add(name, json!(model));
        match &*rule.api {
            "anthropic" => {
                add("system", json!("You are a weather assistant."));
                if rule.id != "ANT-MAX-TOKENS" {
                    add("max_tokens", json!(4096));
                }
            }
            "bedrock-converse" if rule.id != "BED-TOOLCONFIG" => {
                add("toolConfig", json!({"tools": [{"toolSpec": {"name": "t"}}]}));
            }
            _ => {}
        }
        let mut headers = BTreeMap::from([("host".to_owned(), "api.example.com".to_owned())]);
        match &rule.headers {
            Some(pair) => headers.extend(if is_broken { pair.broken.clone() } else { pair.valid.clone() }),
            None => drop(headers.insert("anthropic-version".to_owned(), "2023-06-01".to_owned())),
        }
        let path = path.replace("{model}", body[name].get().trim_matches('"'));
        Self { url: format!("https://api.example.com{path}"), headers, model: name, body, answer: None }
    }

    /// The request before, to which the model answered what the valid one has of it.
    fn before(rule: &RuleEntry) -> Self {
        let mut before = Self::new(rule, false);
        let messages: Vec<Value> = serde_json::from_str(before.body["messages"].get()).expect("messages");
        let asked = RawValue::from_string(json!(messages[..1]).to_string()).expect("JSON");
        before.body.insert("messages".to_owned(), asked);
        let content = &messages[1]["content"];
        before.answer = Some(json!({"type": "message", "role": "assistant", "content": content}));
        before
    }

    /// A record with it.
    fn record(&self, form: &str) -> String {
        let answer = self.answer.as_ref().map(Value::to_string);
        let body = text(&self.body);
        match form {
            REQUESTS => answer.map_or(body.clone(), |answer| format!(r#"{{"request": {body}, "response": {answer}}}"#)),
            HAR => {
                let headers: Vec<Value> =
                    self.headers.iter().map(|(name, value)| json!({"name": name, "value": value})).collect();
                let post = json!({"mimeType": "application/json", "text": body});
                let request = json!({"method": "POST", "url": self.url, "headers": headers, "postData": post});
                let content = json!({"mimeType": "application/json", "text": answer});
                json!({"startedDateTime": "2026-11-26T05:42:38Z", "request": request, "response": {"content": content}})
                    .to_string()
            }
            ENVELOPE => {
                let headers: Map<String, Value> =
                    self.headers.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
                let request = json!({"url": self.url, "headers": headers, "body": body});
                json!({"time": "05:42:38", "request": request, "response": {"body": answer}}).to_string()
            }
            _ => {
                let mut input = self.body.clone();
                let model = input.remove(self.model).expect("a model");
                let (input, output) = (text(&input), answer.unwrap_or("null".to_owned()));
                format!(
                    r#"{{"traceId": "1", "type": "GENERATION", "model": {model}, "input": {input}, "output": {output}}}"#
                )
            }
        }
    }
}

/// A log of this form with the broken or the valid request of a rule.
fn log(rule: &RuleEntry, form: &str, is_broken: bool) -> String {
    let before = rule.thinking.is_some().then(|| Sent::before(rule));
    let sent = before.into_iter().chain([Sent::new(rule, is_broken)]);
    let records: Vec<String> = sent.map(|sent| sent.record(form)).collect();
    if form == HAR { format!(r#"{{"log": {{"entries": [{}]}}}}"#, records.join(",")) } else { records.join("\n") }
}

/// What is wrong with a log, and what it was taken for.
fn found(log: &str) -> (Vec<(String, Level)>, String) {
    let report = check_bytes(log.as_bytes(), &CheckOptions::default());
    let found = report.findings.iter().filter(|found| found.level != Level::Note);
    let told: Vec<String> = report.findings.iter().map(ToString::to_string).collect();
    let told = told.join("; ").chars().take(600).collect::<String>();
    (found.map(|found| (found.rule.to_owned(), found.level)).collect(), format!("{}: {told}", report.summary.total()))
}

/// The level of a rule: an error if its broken request is refused for certain, with everything known that the data have beside it.
fn level(rule: &RuleEntry) -> Level {
    let body = read_json(&rule.broken()).expect("a body");
    let api: RequestForm = rule.api.parse().expect("an API");
    let breaches = provider_breaches_with(api, &rule_context(rule, true, &body), &body);
    let breach = breaches.iter().find(|breach| breach.rule == rule.id).expect("it is broken");
    if breach.is_certain { Level::Error } else { Level::Warning }
}

#[test]
fn each_rule_is_seen_in_logs_and_its_valid_request_is_not_accused() {
    let mut wrong = Vec::new();
    for rule in provider_rules().iter().filter(|rule| UNSEEN.iter().all(|(id, _)| rule.id != *id)) {
        let is_so = |name: &str| name == rule.id || name == rule.family;
        let is_shown = |form: &&&str| !NOT_IN.iter().any(|(other, name, _)| other == *form && is_so(name));
        for form in [REQUESTS, HAR, ENVELOPE, LANGFUSE].iter().filter(is_shown) {
            let (broken, told) = found(&log(rule, form, true));
            let is_named = broken.contains(&(rule.id.clone(), level(rule)));
            if !is_named || broken.iter().any(|(id, _)| *id != rule.id && !rule.also.contains(id)) {
                wrong.push(format!("{} ({}) in {form}, {:?}: {told}", rule.id, rule.api, level(rule)));
            }
            let (valid, told) = found(&log(rule, form, false));
            if !valid.is_empty() || told.starts_with(':') {
                wrong.push(format!("{} ({}), the valid one, in {form}: {told}", rule.id, rule.api));
            }
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn what_is_left_out_is_known_and_not_seen() {
    let is_so = |name: &str, rule: &RuleEntry| name == rule.id || name == rule.family;
    for (form, name, why) in NOT_IN {
        let mut rules = provider_rules().iter().filter(|rule| is_so(name, rule)).peekable();
        assert!(rules.peek().is_some(), "{name}: {why}");
        let is_unseen = |rule: &RuleEntry| {
            let (broken, _) = found(&log(rule, form, true));
            !broken.contains(&(rule.id.clone(), level(rule)))
        };
        assert!(rules.any(is_unseen), "{name} is seen in {form}, though: {why}");
    }
    for (id, why) in UNSEEN {
        let rule = provider_rules().iter().find(|rule| rule.id == id).expect(why);
        for form in [REQUESTS, HAR, ENVELOPE, LANGFUSE] {
            assert_eq!(found(&log(rule, form, true)).0, [], "{id} in {form}");
        }
    }
}

/// A request to Anthropic in a HAR recording with these headers and members.
fn recorded(headers: &Value, url: &str, members: &Value) -> Vec<(String, Level)> {
    let mut body =
        json!({"model": "claude-sonnet-5", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]});
    let more = members.as_object().into_iter().flatten().map(|(name, value)| (name.clone(), value.clone()));
    body.as_object_mut().expect("a body").extend(more);
    let request = json!({"url": url, "headers": headers, "postData": {"text": body.to_string()}});
    found(&json!({"log": {"entries": [{"request": request, "response": {"content": {}}}]}}).to_string()).0
}

#[test]
fn a_header_is_missing_only_where_all_were_recorded() {
    let url = "https://api.anthropic.com/v1/messages?beta=true";
    let host = json!({"name": "Host", "value": "api.anthropic.com"});
    let version = |date: &str| json!({"name": "Anthropic-Version", "value": date});
    let missing = vec![("ANT-VERSION".to_owned(), Level::Error)];
    assert_eq!(recorded(&json!([host]), url, &json!({})), missing);
    for headers in
        [json!([]), json!([{"name": "accept", "value": "*/*"}]), json!([host, version("2023-06-01")]), Value::Null]
    {
        assert_eq!(recorded(&headers, url, &json!({"temperature": 1})), [], "{headers}");
    }
    // Vertex has the version in the body, and chat completions have none.
    let vertex = "https://aiplatform.googleapis.com/v1/publishers/anthropic/models/claude-sonnet-5:rawPredict";
    assert_eq!(recorded(&json!([host]), vertex, &json!({"anthropic_version": "vertex-2023-10-16"})), []);
    assert_eq!(recorded(&json!([host]), "https://openrouter.ai/api/v1/chat/completions", &json!({})), []);
    // What the version forbids, in each way in which headers are logged.
    let sampling = vec![("ANT-SAMPLING".to_owned(), Level::Error)];
    for headers in [
        json!([version("2026-10-21")]),
        json!([["anthropic-version", "2026-10-21"]]),
        json!({"anthropic-version": "2026-10-21"}),
        json!({"Anthropic-Version": ["2026-10-21"]}),
    ] {
        assert_eq!(recorded(&headers, url, &json!({"temperature": 1})), sampling, "{headers}");
    }
}

#[test]
fn a_log_whose_requests_have_other_headers_is_judged_by_each() {
    let said = |rounds: usize| {
        let round = |number| {
            [json!({"role": "assistant", "content": format!("{number}")}), json!({"role": "user", "content": "More"})]
        };
        let first = [json!({"role": "user", "content": "x".repeat(1200)})];
        first.into_iter().chain((0..rounds).flat_map(round)).collect::<Vec<_>>()
    };
    let record = |rounds: usize, version: &str| {
        let body = json!({"model": "claude-sonnet-5", "max_tokens": 9, "temperature": 1, "messages": said(rounds)});
        json!({"request": {"headers": {"anthropic-version": version}, "url": "https://api.anthropic.com/v1/messages", "body": body}}).to_string()
    };
    let log = |versions: &[&str]| {
        versions.iter().enumerate().map(|(rounds, version)| record(rounds, version) + "\n").collect::<String>()
    };
    assert_eq!(found(&log(&["2023-06-01"; 5])).0, []);
    let (found, told) = found(&log(&["2023-06-01", "2023-06-01", "2023-06-01", "2026-10-21", "2026-10-21"]));
    assert_eq!(found, [("ANT-SAMPLING".to_owned(), Level::Error)], "{told}");
}
