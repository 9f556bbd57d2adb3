//! What model APIs accept: each rule has a request that breaks it and one that does not; a writer with one planted fault breaks
//! it, and our writers break none.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use threadspec::oracle::{Api, provider_breaches, provider_rules};
use threadspec::{Error, Message, ToolCall, wire};

#[derive(Deserialize)]
struct Rules {
    rules: Vec<Rule>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    id: String,
    api: String,
    text: String,
    sure: String,
    seen: Vec<String>,
    broken: Option<Box<RawValue>>,
    /// As JSON text, because parsers refuse it.
    broken_json: Option<String>,
    at: String,
    /// Other rules that the broken request breaks inevitably.
    #[serde(default)]
    also: Vec<String>,
    valid: Option<Box<RawValue>>,
    valid_json: Option<String>,
}

/// A request that is too long to be written out: the text `in`, with `times` copies of `repeat` in the place of U+0000.
#[derive(Deserialize)]
struct Long {
    repeat: String,
    times: usize,
    r#in: Value,
}

fn rules() -> Vec<Rule> {
    let rules: Rules = serde_json::from_str(include_str!("../golden/provider-rules.json")).expect("the rules");
    rules.rules
}

fn api(name: &str) -> Api {
    Api::ALL.into_iter().find(|api| api.to_string() == name).expect("an API")
}

fn body(value: Option<&RawValue>, json: Option<&String>) -> String {
    let text = value.map(RawValue::get).or(json.map(String::as_str)).expect("a request");
    serde_json::from_str::<Long>(text).map_or_else(
        |_| text.to_owned(),
        |Long { repeat, times, r#in }| r#in.to_string().replace("\\u0000", &repeat.repeat(times)),
    )
}

#[test]
fn the_rules_are_those_that_are_judged() {
    let judged: Vec<_> = provider_rules().map(|rule| (rule.id.to_owned(), rule.api, rule.text.to_owned())).collect();
    let written: Vec<_> = rules().into_iter().map(|rule| (rule.id, api(&rule.api), rule.text)).collect();
    assert_eq!(judged, written);
    for rule in rules() {
        assert!(rule.sure.split(' ').all(|sure| sure == "D" || sure == "R2"), "{}: {}", rule.id, rule.sure);
        assert!(!rule.seen.is_empty(), "{}", rule.id);
    }
}

#[test]
fn each_rule_is_named_where_it_is_broken_and_only_there() {
    for rule in rules() {
        let api = api(&rule.api);
        let valid = body(rule.valid.as_deref(), rule.valid_json.as_ref());
        assert_eq!(provider_breaches(api, &valid), Ok(vec![]), "{}: {valid}", rule.id);
        let broken = body(rule.broken.as_deref(), rule.broken_json.as_ref());
        let breaches = provider_breaches(api, &broken).expect("a body");
        let here = breaches.iter().find(|breach| breach.rule == rule.id);
        assert_eq!(here.map(|breach| &*breach.place), Some(&*rule.at), "{}: {breaches:?}", rule.id);
        for breach in breaches {
            assert!(breach.rule == rule.id || rule.also.iter().any(|id| id == breach.rule), "{}: {breach}", rule.id);
        }
    }
}

/// What a writer writes of a list, as the body of a request.
fn written(api: Api, messages: &[Message]) -> Result<Value, Error> {
    Ok(match api {
        Api::OpenAiChat => json!({"messages": wire::to_openai(messages)?}),
        Api::OpenAiResponses => json!({"input": wire::to_openai_responses(messages)?}),
        Api::Anthropic => wire::to_anthropic(messages)?,
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
    ("OAI-CHAT-NAME-PATTERN", |body| body["messages"][6]["tool_calls"][0]["function"]["name"] = json!("mcp.t")),
    ("OAI-CHAT-NAME-LEN", |body| body["messages"][6]["tool_calls"][0]["function"]["name"] = json!("")),
    ("OAI-CHAT-ARGS-STRING", |body| body["messages"][6]["tool_calls"][0]["function"]["arguments"] = json!({})),
    ("OAI-CHAT-ARGS-JSON", |body| body["messages"][6]["tool_calls"][0]["function"]["arguments"] = json!("")),
    ("OAI-CHAT-CALLS-NONEMPTY", |body| body["messages"][1]["tool_calls"] = json!([])),
    ("OAI-CHAT-MESSAGES-NONEMPTY", |body| body["messages"] = json!([])),
    ("OAI-CHAT-TOOLS-NONEMPTY", |body| body["tools"] = json!([])),
    ("OAI-CHAT-TOOLS-MAX", |body| {
        body["tools"] = (0..200).map(|n| json!({"function": {"name": format!("t{n}")}})).collect();
    }),
    ("OAI-CHAT-CONTENT-NULL", |body| body["messages"][4]["content"] = Value::Null),
    ("OAI-CHAT-CONTENT-MAX", |body| body["messages"][3]["content"] = json!("x".repeat(10_485_761))),
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
    ("OAI-RESP-CALLID-LEN", |body| {
        body["input"][9]["call_id"] = json!("");
        body["input"][10]["call_id"] = json!("");
    }),
    ("OAI-RESP-ITEM-UNIQUE", |body| list(&mut body["input"]).iter_mut().for_each(|item| item["id"] = json!("item_0"))),
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
    ("ANT-THINK-SIGN", |body| {
        list(&mut body["messages"][1]["content"])
            .insert(0, json!({"type": "thinking", "thinking": "Hm.", "signature": ""}));
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
];

fn list(value: &mut Value) -> &mut Vec<Value> {
    value.as_array_mut().expect("an array")
}

fn remove(value: &mut Value, name: &str) {
    value.as_object_mut().expect("an object").remove(name);
}

#[test]
fn a_writer_with_one_fault_is_caught_by_its_rule() {
    let mut planted = Vec::new();
    for (api, faults) in [(Api::OpenAiChat, CHAT), (Api::OpenAiResponses, RESPONSES), (Api::Anthropic, ANTHROPIC)] {
        let right = written(api, &conversation()).expect("there is something to send");
        assert_eq!(provider_breaches(api, &right.to_string()), Ok(vec![]));
        for (rule, fault) in faults {
            let mut wrong = right.clone();
            fault(&mut wrong);
            // A lone surrogate, which no string can hold, was planted as its mark.
            let wrong = threadspec::surrogates::unmark_surrogates(&wrong.to_string()).into_owned();
            let breaches = provider_breaches(api, &wrong).expect("a body");
            assert!(breaches.iter().any(|breach| breach.rule == *rule), "{rule}: {breaches:?}");
            planted.push(*rule);
        }
    }
    assert_eq!(planted, provider_rules().map(|rule| rule.id).collect::<Vec<_>>(), "each rule is broken once");
}
