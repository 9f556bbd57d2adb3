//! Checks the rules of model APIs: each has a request that breaks it and one that does not. A writer with one fault breaks a rule, and our
//! writers break none.

use serde_json::{Map, Value, json};
use threadspec::oracle::{
    Api, Breach, ProviderRule, RequestForm, provider_breaches, provider_breaches_with, provider_rules,
};
use threadspec::{Error, Message, ToolCall, read_json, wire};
use threadspec_apis::rule_context;
use threadspec_golden::{RuleEntry, provider_rules as rules};

pub(super) fn api(name: &str) -> RequestForm {
    name.parse().expect("an API")
}

/// What a request of the data breaks, with the headers and the history that the data have.
pub(super) fn breaches(rule: &RuleEntry, body: &str, is_broken: bool) -> Vec<Breach> {
    let body = read_json(body).expect("a body");
    provider_breaches_with(api(&rule.api), &rule_context(rule, is_broken, &body), &body)
}

#[test]
fn the_rules_are_those_that_are_judged() {
    let judged: Vec<_> = provider_rules().map(|rule| (rule.id.to_owned(), rule.api)).collect();
    let written: Vec<_> = rules().iter().map(|rule| (rule.id.clone(), api(&rule.api))).collect();
    assert_eq!(judged, written);
    for rule in rules() {
        assert!(rule.sure.split(' ').all(|sure| matches!(sure, "D" | "R2" | "R1")), "{}: {}", rule.id, rule.sure);
        assert!(!rule.seen.is_empty(), "{}", rule.id);
    }
}

#[test]
fn each_rule_is_named_where_it_is_broken_and_only_there() {
    for rule in rules() {
        let valid = rule.valid();
        assert_eq!(breaches(rule, &valid, false), [], "{}: {valid}", rule.id);
        let breaches = breaches(rule, &rule.broken(), true);
        let here = breaches.iter().find(|breach| breach.rule == rule.id);
        assert_eq!(here.map(|breach| &*breach.place), Some(&*rule.at), "{}: {breaches:?}", rule.id);
        for breach in breaches {
            assert!(breach.rule == rule.id || rule.also.iter().any(|id| id == breach.rule), "{}: {breach}", rule.id);
        }
    }
}

/// What is only seen once, or only of other servers, is no ground to refuse a request.
#[test]
fn what_is_certain_is_what_the_evidence_shows() {
    for rule in rules() {
        let breaches = breaches(rule, &rule.broken(), true);
        let here = breaches.iter().find(|breach| breach.rule == rule.id).expect("the breach");
        let elsewhere = !rule.applies.is_empty() && rule.applies.iter().all(|place| !place.servers.is_empty());
        let is_refused = rule.is_sure() && rule.until.is_none() && !elsewhere;
        assert!(here.is_certain || !is_refused, "{}: the broken request is refused for certain", rule.id);
        assert!(!here.is_certain || rule.is_sure(), "{}: seen once, and certain", rule.id);
    }
}

/// What a writer writes of a list, as the body of a request.
fn written(api: Api, messages: &[Message]) -> Result<Value, Error> {
    Ok(match api {
        Api::OpenAiChat => json!({"messages": wire::to_openai(messages)?}),
        Api::OpenAiResponses => json!({"input": wire::to_openai_responses(messages)?}),
        Api::Anthropic | Api::Gemini => wire::to_anthropic(messages)?,
    })
}

fn conversation() -> Vec<Message> {
    let call = |id: &str| ToolCall { id: id.to_owned(), name: "t".to_owned(), args: Map::new() };
    vec![
        Message::system("S"),
        Message::human("Hi"),
        Message::Ai { content: "Both.".to_owned(), tool_calls: vec![call("a"), call("b")] },
        Message::tool("a", "A"),
        Message::tool("b", ""),
        Message::human("More"),
        Message::Ai { content: "Well.".to_owned(), tool_calls: vec![call("c")] },
        Message::tool("c", "C"),
    ]
}

/// A fault of a writer: what it makes of a request that was right.
type WriterFault = (&'static str, fn(&mut Value));

/// In [`conversation`], the messages have these positions: 2 calls a and b, 3 and 4 answer, 6 calls c, 7 answers.
const CHAT: &[WriterFault] = &[
    ("OAI-CHAT-ANSWERED", |body| drop(list(&mut body["messages"]).remove(4))),
    ("OAI-CHAT-ORPHAN", |body| list(&mut body["messages"]).swap(6, 7)),
    ("OAI-CHAT-ONE-ANSWER", |body| {
        let again = body["messages"][3].clone();
        list(&mut body["messages"]).insert(4, again);
    }),
    ("OAI-CHAT-RESULT-ID", |body| remove(&mut body["messages"][3], "tool_call_id")),
    ("OAI-CHAT-ID-LEN", |body| {
        let long = json!(format!("call_{}", "0".repeat(36)));
        body["messages"][6]["tool_calls"][0]["id"] = long.clone();
        body["messages"][7]["tool_call_id"] = long;
    }),
    ("OAI-CHAT-ID-UNIQUE", |body| {
        body["messages"][2]["tool_calls"][1]["id"] = json!("a");
        list(&mut body["messages"]).remove(4);
    }),
    ("OAI-CHAT-NAME-PATTERN", |body| body["messages"][6]["tool_calls"][0]["function"]["name"] = json!("mcp.t")),
    ("OAI-CHAT-NAME-LEN", |body| body["messages"][6]["tool_calls"][0]["function"]["name"] = json!("")),
    ("OAI-CHAT-CALL-TYPE", |body| remove(&mut body["messages"][6]["tool_calls"][0], "type")),
    ("OAI-CHAT-ARGS-STRING", |body| body["messages"][6]["tool_calls"][0]["function"]["arguments"] = json!({})),
    ("OAI-CHAT-ARGS-JSON", |body| body["messages"][6]["tool_calls"][0]["function"]["arguments"] = json!("")),
    ("OAI-CHAT-CALLS-NONEMPTY", |body| body["messages"][1]["tool_calls"] = json!([])),
    ("OAI-CHAT-MESSAGES-NONEMPTY", |body| body["messages"] = json!([])),
    ("OAI-CHAT-TOOLS-NONEMPTY", |body| body["tools"] = json!([])),
    ("OAI-CHAT-TOOLS-MAX", |body| {
        body["tools"] = (0..200).map(|n| json!({"function": {"name": format!("t{n}")}})).collect();
    }),
    ("OAI-CHAT-TOOL-OPTIONS", |body| body["parallel_tool_calls"] = json!(false)),
    ("OAI-STRICT-SCHEMA", |body| {
        let open = json!({"type": "array", "items": {"type": ["object", "null"], "properties": {}}});
        let parameters =
            json!({"type": "object", "properties": {"a": open}, "required": ["a"], "additionalProperties": false});
        body["tools"] =
            json!([{"type": "function", "function": {"name": "t", "strict": true, "parameters": parameters}}]);
    }),
    ("OAI-CHAT-ROLE", |body| body["messages"][1]["role"] = json!("human")),
    ("OAI-CHAT-CONTENT-TYPE", |body| body["messages"][4]["content"] = json!({"n": 4})),
    ("OAI-CHAT-PART-TYPE", |body| body["messages"][4]["content"] = json!([{"type": "tool_result"}])),
    ("OAI-CHAT-IMAGE", |body| {
        body["messages"][4]["content"] =
            json!([{"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}]);
    }),
    ("OAI-CHAT-CONTENT-NULL", |body| body["messages"][4]["content"] = Value::Null),
    ("OAI-CHAT-CONTENT-MAX", |body| body["messages"][3]["content"] = json!("x".repeat(10_485_761))),
    ("OAI-CHAT-MSG-NAME", |body| body["messages"][1]["name"] = json!("Ada L.")),
    ("DS-UTF16", |body| body["messages"][6]["tool_calls"][0]["function"]["arguments"] = json!(r#"{"cut": "\ud83d"}"#)),
];

/// Items: 2 text, 3 and 4 calls, 5 and 6 outputs, 8 text, 9 call, 10 output.
const RESPONSES: &[WriterFault] = &[
    ("OAI-RESP-ANSWERED", |body| drop(list(&mut body["input"]).pop())),
    ("OAI-RESP-ORPHAN", |body| drop(list(&mut body["input"]).remove(9))),
    ("OAI-RESP-ONE-OUTPUT", |body| {
        body["input"][9]["call_id"] = json!("a");
        body["input"][10]["call_id"] = json!("a");
    }),
    ("OAI-RESP-INPUT-NONEMPTY", |body| body["input"] = json!("")),
    ("OAI-RESP-CALLID-LEN", |body| {
        body["input"][9]["call_id"] = json!("");
        body["input"][10]["call_id"] = json!("");
    }),
    ("OAI-RESP-ITEM-UNIQUE", |body| list(&mut body["input"]).iter_mut().for_each(|item| item["id"] = json!("item_0"))),
    ("OAI-RESP-ITEM-TYPE", |body| body["input"][8]["type"] = json!("output_text")),
    ("OAI-RESP-ROLE", |body| body["input"][8]["role"] = json!("tool")),
    ("OAI-RESP-CHAT-CALLS", |body| body["input"][8]["tool_calls"] = json!([])),
    ("OAI-RESP-CONTENT-TYPE", |body| body["input"][8]["content"] = json!({"type": "output_text", "text": "Well."})),
    ("OAI-RESP-ITEM-PREFIX", |body| body["input"][9]["id"] = json!("call_1")),
    ("OAI-RESP-ARGS-STRING", |body| body["input"][9]["arguments"] = json!({})),
    ("OAI-RESP-ARGS-JSON", |body| body["input"][9]["arguments"] = json!("{\"n\": ")),
    ("OAI-RESP-NAME-PATTERN", |body| body["input"][9]["name"] = json!("mcp.t")),
    ("OAI-RESP-NAME-LEN", |body| body["input"][9]["name"] = json!("")),
    ("OAI-RESP-REASON-NEXT", |body| {
        list(&mut body["input"]).insert(5, json!({"type": "reasoning", "id": "rs_1", "summary": []}));
    }),
    ("OAI-RESP-STORE", |body| {
        body["store"] = json!(false);
        list(&mut body["input"]).insert(3, json!({"type": "reasoning", "id": "rs_1", "summary": []}));
    }),
    ("OAI-RESP-EXTRA", |body| {
        let reasoning = json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": null});
        list(&mut body["input"]).insert(3, reasoning);
    }),
    ("OAI-RESP-TEXT-TYPE", |body| body["input"][2]["content"][0]["type"] = json!("input_text")),
    ("OAI-RESP-OUTPUT-FORM", |body| body["input"][6]["output"] = Value::Null),
    ("OAI-RESP-CONTENT-MAX", |body| body["input"][1]["content"][0]["text"] = json!("x".repeat(10_485_761))),
    ("OAI-STRICT-SCHEMA", |body| {
        body["tools"] = json!([{"type": "function", "name": "t", "strict": true, "parameters": {"type": "object"}}]);
    }),
    ("OAI-RESP-UTF16", |body| body["input"][9]["arguments"] = json!(r#"{"cut": "\ud83d"}"#)),
];

/// Messages: 0 user, 1 calls a and b behind a text, 2 answers before a text, 3 calls c behind a text, 4 answers.
const ANTHROPIC: &[WriterFault] = &[
    ("ANT-ANSWERED", |body| drop(list(&mut body["messages"][2]["content"]).remove(1))),
    ("ANT-ORPHAN", |body| drop(list(&mut body["messages"][1]["content"]).remove(2))),
    ("ANT-ONE-RESULT", |body| {
        let again = body["messages"][2]["content"][0].clone();
        list(&mut body["messages"][2]["content"]).insert(1, again);
    }),
    ("ANT-ID-UNIQUE", |body| {
        body["messages"][3]["content"][1]["id"] = json!("a");
        body["messages"][4]["content"][0]["tool_use_id"] = json!("a");
    }),
    ("ANT-ID-PATTERN", |body| {
        body["messages"][3]["content"][1]["id"] = json!("t:0");
        body["messages"][4]["content"][0]["tool_use_id"] = json!("t:0");
    }),
    ("ANT-INPUT-OBJECT", |body| body["messages"][3]["content"][1]["input"] = json!("{}")),
    ("ANT-RESULT-FIRST", |body| list(&mut body["messages"][2]["content"]).rotate_right(1)),
    ("ANT-RESULT-TOGETHER", |body| {
        let second = list(&mut body["messages"][2]["content"]).remove(1);
        list(&mut body["messages"]).insert(3, json!({"role": "user", "content": [second]}));
    }),
    ("ANT-RESULT-CONTENT", |body| body["messages"][2]["content"][1]["content"] = json!([{"type": "text", "text": ""}])),
    ("ANT-TEXT-NONEMPTY", |body| body["messages"][1]["content"][0]["text"] = json!("")),
    ("ANT-TEXT-WHITESPACE", |body| body["messages"][3]["content"][0]["text"] = json!("\n\n")),
    ("ANT-MSG-NONEMPTY", |body| body["messages"][0]["content"] = json!([])),
    ("ANT-CONTENT-TYPE", |body| body["messages"][0]["content"] = json!({"type": "text", "text": "Hi"})),
    ("ANT-BLOCK-TYPE", |body| body["messages"][0]["content"][0]["type"] = json!("input_text")),
    ("ANT-IMAGE", |body| body["messages"][1]["content"][0] = json!({"type": "image", "source": {}})),
    ("ANT-ROLE", |body| body["messages"][0]["role"] = json!("human")),
    ("ANT-TRAILING", |body| {
        list(&mut body["messages"]).push(json!({"role": "assistant", "content": [{"type": "text", "text": "So "}]}));
    }),
    ("ANT-PREFILL", |body| {
        list(&mut body["messages"]).push(json!({"role": "assistant", "content": [{"type": "text", "text": "So"}]}));
    }),
    ("ANT-MESSAGES-NONEMPTY", |body| body["messages"] = json!([])),
    ("ANT-SYSTEM", |body| {
        list(&mut body["messages"]).insert(0, json!({"role": "system", "content": "S"}));
    }),
    ("ANT-THINK-FIRST", |body| body["thinking"] = json!({"type": "enabled", "budget_tokens": 1024})),
    ("ANT-THINK-SIGN", |body| {
        list(&mut body["messages"][1]["content"])
            .insert(0, json!({"type": "thinking", "thinking": "Hm.", "signature": ""}));
    }),
    ("ANT-THINK-CHOICE", |body| {
        body["thinking"] = json!({"type": "adaptive"});
        body["tool_choice"] = json!({"type": "tool", "name": "t"});
    }),
    ("ANT-UTF16", |body| body["messages"][0]["content"][0]["text"] = json!("\u{10d83d}")),
    ("ANT-TOOL-NAME", |body| body["messages"][3]["content"][1]["name"] = json!("t".repeat(201))),
    ("ANT-TOOLS-UNIQUE", |body| body["tools"] = json!([{"name": "t"}, {"name": "t"}])),
    ("ANT-EXTRA", |body| body["messages"][1]["content"][1]["index"] = json!(1)),
    ("ANT-CACHE-MARKS", |body| {
        for message in 0..5 {
            body["messages"][message]["content"][0]["cache_control"] = json!({"type": "ephemeral"});
        }
    }),
    ("ANT-SIZE", |body| body["messages"][0]["content"][0]["text"] = json!("x".repeat(32 << 20))),
    ("ANT-MAX-TOKENS", |body| body["model"] = json!("claude-sonnet-5")),
];

fn list(value: &mut Value) -> &mut Vec<Value> {
    value.as_array_mut().expect("an array")
}

fn remove(value: &mut Value, name: &str) {
    value.as_object_mut().expect("an object").remove(name);
}

#[test]
fn a_writer_with_one_fault_is_caught_by_its_rule() {
    let mut broken = Vec::new();
    for (api, faults) in [(Api::OpenAiChat, CHAT), (Api::OpenAiResponses, RESPONSES), (Api::Anthropic, ANTHROPIC)] {
        let right = written(api, &conversation()).expect("there is something to send");
        assert_eq!(provider_breaches(api, &right.to_string()), Ok(vec![]));
        for (rule, fault) in faults {
            let mut wrong = right.clone();
            fault(&mut wrong);
            // A lone surrogate, which no string can hold, is added as its mark.
            let wrong = threadspec::surrogates::unmark_surrogates(&wrong.to_string()).into_owned();
            let breaches = provider_breaches(api, &wrong).expect("a body");
            assert!(breaches.iter().any(|breach| breach.rule == *rule), "{rule}: {breaches:?}");
            broken.push(*rule);
        }
    }
    // The others need headers, or what was before.
    let others =
        ["OAI-RESP-PREVIOUS", "ANT-THINK-SAME", "ANT-VERSION", "ANT-SAMPLING", "ANT-NO-DOCUMENT", "ANT-NO-CITATIONS"];
    // Of what no writer here writes, the faults stand in `provider_forms`.
    let is_written = |rule: &ProviderRule| matches!(rule.api, RequestForm::Api(api) if api != Api::Gemini);
    let judged: Vec<&str> =
        provider_rules().filter(is_written).map(|rule| rule.id).filter(|id| !others.contains(id)).collect();
    assert_eq!(broken, judged, "each rule is broken once");
}
