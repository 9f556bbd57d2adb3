//! Each clause on histories that are right, and on histories that are wrong in one way.

use super::cache::Prefix;
use super::*;
use crate::record::{
    BreachOutcome, CallPart, Came, JudgedBreach, PlayedFault, RequestProblem, Said, SaidByModel, SaidThought, Stray,
    StrayReason,
};
use std::time::Duration;
use threadspec::oracle::Api;
use threadspec_apis::ApiRequest;
use threadspec_golden::clause;
use threadspec_judge::universal::value;

const MS: Duration = Duration::from_millis(1);

fn plan(api: Api) -> RunPlan {
    RunPlan { tools: vec!["look".into(), "read".into()], ..RunPlan::of_turns(api, Vec::new()) }
}

fn tool(name: &str) -> Value {
    json!({"type": "function", "function": {"name": name, "parameters": {"type": "object"}}})
}

fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

fn calls(ids: &[&str]) -> Value {
    let call =
        |id: &&str| json!({"id": id, "type": "function", "function": {"name": "look", "arguments": "{\"n\":1}"}});
    json!({"role": "assistant", "content": null, "tool_calls": ids.iter().map(call).collect::<Vec<_>>()})
}

fn answer(id: &str) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": "r"})
}

/// A request of chat completions with these messages.
fn chat(messages: &[Value]) -> Value {
    json!({"model": "m", "messages": messages, "tools": [tool("look"), tool("read")]})
}

/// An attempt that was answered as a whole at once.
fn attempt(api: Api, ask: usize, at: u64, body: &Value) -> Attempt {
    let body = body.to_string();
    let request = value::read(&body).ok().map(|body| ApiRequest::read(api, &body));
    Attempt {
        at: MS * u32::try_from(at).expect("a time"),
        ended: Some(MS * u32::try_from(at).expect("a time")),
        api,
        target: "/v1".into(),
        beta: String::new(),
        ask,
        body,
        resolved: None,
        request,
        breaches: Vec::new(),
        problem: None,
        status: Some(200),
        error: None,
        fault: None,
        said: Some(Said::default()),
        came: Came { whole: true, ..Came::default() },
        streamed: false,
        delivered: Some(true),
    }
}

fn said(ids: &[&str]) -> Said {
    let call = |id: &&str| SaidByModel { id: (*id).into(), name: "look".into(), arguments: r#"{"n":1}"#.into() };
    Said { calls: ids.iter().map(call).collect(), ..Said::default() }
}

/// Returns the attempt with these calls as its answer.
fn saying(attempt: Attempt, ids: &[&str]) -> Attempt {
    let came = Came { whole: true, calls: (0..ids.len()).collect(), ..Came::default() };
    Attempt { said: Some(said(ids)), came, ..attempt }
}

/// Returns the attempt with an error as its answer.
fn failing(attempt: Attempt, status: u16, retry_after: Option<u64>) -> Attempt {
    let retry_after = retry_after.map(|time| MS * u32::try_from(time).expect("a time"));
    let fault = PlayedFault { kind: "status".into(), retry_after, should_retry: None };
    Attempt { status: Some(status), fault: Some(fault), said: None, came: Came::default(), ..attempt }
}

/// Returns the attempt with a broken stream: the first calls were closed and the next one was not.
fn broken(attempt: Attempt, ids: &[&str], whole: usize) -> Attempt {
    let parts = vec![CallPart { call: whole, arguments: "{".into() }];
    let came = Came { whole: false, calls: (0..whole).collect(), parts, ..Came::default() };
    let fault = PlayedFault { kind: "cut".into(), retry_after: None, should_retry: None };
    Attempt { said: Some(said(ids)), came, fault: Some(fault), streamed: true, ..attempt }
}

fn record(api: Api, attempts: Vec<Attempt>) -> WireRecord {
    WireRecord { api, key: String::new(), began: MS, ended: MS, attempts, strays: Vec::new(), runs: Vec::new() }
}

fn found(attempts: Vec<Attempt>) -> Vec<(&'static str, WireLevel)> {
    found_in(Api::OpenAiChat, attempts)
}

fn found_in(api: Api, attempts: Vec<Attempt>) -> Vec<(&'static str, WireLevel)> {
    judge(&plan(api), &record(api, attempts)).iter().map(|finding| (finding.clause, finding.level)).collect()
}

const CHAT: Api = Api::OpenAiChat;

fn first() -> Value {
    chat(&[user("Go")])
}

fn second() -> Value {
    chat(&[user("Go"), calls(&["c1", "c2"]), answer("c1"), answer("c2")])
}

fn sound() -> Vec<Attempt> {
    vec![saying(attempt(CHAT, 0, 0, &first()), &["c1", "c2"]), attempt(CHAT, 1, 10, &second())]
}

#[test]
fn a_sound_run_breaks_nothing() {
    assert_eq!(found(sound()), []);
    let failed = || failing(attempt(CHAT, 0, 0, &first()), 429, Some(30));
    let again = |at| saying(attempt(CHAT, 0, at, &first()), &["c1", "c2"]);
    assert_eq!(found(vec![failed(), again(30), attempt(CHAT, 1, 40, &second())]), []);
    assert_eq!(found(vec![failed()]), []);
}

#[test]
fn what_is_no_request_is_told() {
    let stray = |method: &str, why| Stray {
        at: MS,
        method: method.into(),
        target: "/v2/chat".into(),
        key: None,
        status: 404,
        why,
    };
    for (method, why, clause, level) in [
        ("POST", StrayReason::Path, clause::WIRE_REQUEST, WireLevel::Must),
        ("GET", StrayReason::Path, clause::WIRE_REQUEST, WireLevel::Note),
        ("POST", StrayReason::OtherApi, clause::WIRE_REQUEST, WireLevel::Must),
        ("POST", StrayReason::UnknownKey, clause::WIRE_KEY, WireLevel::Must),
        ("POST", StrayReason::NoKey, clause::WIRE_KEY, WireLevel::Must),
        ("POST", StrayReason::Late, clause::WIRE_KEY, WireLevel::Must),
    ] {
        let record = WireRecord { strays: vec![stray(method, why)], ..record(CHAT, sound()) };
        let findings = judge(&plan(CHAT), &record);
        let found: Vec<_> = findings.iter().map(|finding| (finding.clause, finding.level)).collect();
        assert_eq!(found, [(clause, level)], "{method} {why:?}");
    }
    let mut wrong = sound();
    wrong[1].problem = Some(RequestProblem::Lacks("model".into()));
    assert_eq!(found(wrong), [(clause::WIRE_REQUEST, WireLevel::Must)]);
}

#[test]
fn a_broken_rule_has_its_own_name() {
    let breach = |outcome| JudgedBreach {
        rule: "OAI-CHAT-ORPHAN".into(),
        place: "messages[1]".into(),
        what: "it answers nothing".into(),
        outcome,
    };
    for (outcome, level) in [
        (BreachOutcome::Refused, Some(WireLevel::Must)),
        (BreachOutcome::Certain, Some(WireLevel::Must)),
        (BreachOutcome::Possible, Some(WireLevel::Note)),
        (BreachOutcome::Excused, None),
    ] {
        let mut attempts = sound();
        attempts[1].breaches = vec![breach(outcome), breach(outcome)];
        assert_eq!(found(attempts), level.map(|level| ("OAI-CHAT-ORPHAN", level)).into_iter().collect::<Vec<_>>());
    }
    // What was refused once, and then sent in another way, harms nobody.
    let mut refused = failing(attempt(CHAT, 0, 0, &chat(&[user("Go"), answer("c9")])), 400, None);
    refused.breaches = vec![breach(BreachOutcome::Refused)];
    let mended = vec![refused, attempt(CHAT, 0, 0, &first())];
    assert_eq!(found(mended), [("OAI-CHAT-ORPHAN", WireLevel::Note)]);
}

#[test]
fn tools_are_declared_in_each_request() {
    let with = |tools: Value| {
        let mut attempts = sound();
        let mut body = second();
        body["tools"] = tools;
        attempts[1] = attempt(CHAT, 1, 10, &body);
        found(attempts)
    };
    let must = [(clause::WIRE_TOOLS, WireLevel::Must)];
    assert_eq!(with(json!([tool("look")])), must);
    assert_eq!(with(Value::Null), must);
    assert_eq!(with(json!([tool("look"), tool("read"), tool("write")])), must);
    assert_eq!(with(json!([tool("look"), tool("read"), tool("read")])), must);
    for schema in [json!({"type": 5}), json!({"properties": []}), json!("{}"), Value::Null] {
        let mut other = tool("read");
        other["function"]["parameters"] = schema;
        assert_eq!(with(json!([tool("look"), other])), must);
    }
    // The prompt cache is lost as well.
    let same = [(clause::WIRE_TOOLS_SAME, WireLevel::Should), (clause::WIRE_CACHE, WireLevel::Should)];
    assert_eq!(with(json!([tool("read"), tool("look")])), same);
    let odd = RunPlan { tools: vec!["look".into(), "odd name".into()], ..plan(CHAT) };
    assert_eq!(judge(&odd, &record(CHAT, sound())), []);
}

#[test]
fn a_retry_is_the_same_request() {
    let failed = |status| failing(attempt(CHAT, 0, 0, &first()), status, None);
    let next = |body: &Value| attempt(CHAT, 0, 500, body);
    let must = vec![(clause::WIRE_RETRY, WireLevel::Must)];
    assert_eq!(found(vec![failed(500), next(&chat(&[user("Go"), user("Try again")]))]), must);
    assert_eq!(found(vec![failed(500), next(&chat(&[]))]), must);
    let mut fewer = first();
    fewer["tools"] = json!([tool("look")]);
    assert_eq!(found(vec![failed(500), next(&fewer)]), must);
    let mut other = first();
    (other["model"], other["stream"], other["max_tokens"]) = (json!("n"), json!(true), json!(9));
    assert_eq!(found(vec![failed(503), next(&other)]), []);
    // What was refused may come changed.
    for status in [400, 401, 404, 422] {
        assert_eq!(found(vec![failed(status), next(&first())]), must, "{status}");
        assert_eq!(found(vec![failed(status), next(&chat(&[user("Go!")]))]), [], "{status}");
        let beta = Attempt { beta: "x".into(), ..failed(status) };
        assert_eq!(found(vec![beta, next(&first())]), [], "{status}");
    }
    for status in [408, 409, 429, 500, 529] {
        assert_eq!(found(vec![failed(status), next(&first())]), [], "{status}");
    }
    let many = |count: u64| {
        let one = |number: u64| failing(attempt(CHAT, 0, number * 100, &first()), 500, None);
        found((0..count).map(one).collect())
    };
    assert_eq!((many(10), many(11)), (vec![], must));
}

#[test]
fn a_retry_waits() {
    let times = |wait: Option<u64>, times: &[u64]| {
        let one = |at: &u64| failing(attempt(CHAT, 0, *at, &first()), 500, wait);
        found(times.iter().map(one).collect())
    };
    assert_eq!(times(Some(30), &[0, 25, 55]), []);
    assert_eq!(times(Some(30), &[0, 24]), [(clause::WIRE_WAIT, WireLevel::Must)]);
    let should = vec![(clause::WIRE_BACKOFF, WireLevel::Should)];
    assert_eq!(times(None, &[0, 50, 100, 200]), []);
    assert_eq!(times(None, &[0, 49]), should);
    assert_eq!(times(None, &[0, 400, 599]), should);
    assert_eq!(times(None, &[0, 400, 600]), []);
}

#[test]
fn a_call_that_broke_off_is_not_sent_back() {
    let must = vec![(clause::WIRE_PARTIAL, WireLevel::Must)];
    let start = || broken(attempt(CHAT, 0, 0, &first()), &["c1", "c2"], 1);
    // The agent goes on with the call that is whole.
    let goes_on = chat(&[user("Go"), calls(&["c1"]), answer("c1")]);
    assert_eq!(found(vec![start(), attempt(CHAT, 1, 500, &goes_on)]), []);
    assert_eq!(found(vec![start(), attempt(CHAT, 1, 500, &second())]), must);
    // It asks again, and the same ids come whole.
    let again = || saying(attempt(CHAT, 0, 500, &first()), &["c1", "c2"]);
    assert_eq!(found(vec![start(), again(), attempt(CHAT, 1, 600, &second())]), []);
    // The retry holds the half.
    assert_eq!(found(vec![start(), attempt(CHAT, 0, 500, &second())]), must);
    let limited = |stop: Option<&str>| {
        let mut attempts = sound();
        attempts[0].came.calls = vec![0];
        attempts[0].came.parts = vec![CallPart { call: 1, arguments: "{".into() }];
        attempts[0].said.as_mut().expect("an answer").stop = stop.map(str::to_owned);
        found(attempts)
    };
    assert_eq!(limited(Some("length")), must);
    assert_eq!(limited(Some("max_tokens")), must);
    // A whole answer whose arguments nobody can read is told so; whoever gives a result has run it.
    assert_eq!(limited(None), []);
    let run = RunPlan { results: vec!["r".into()], ..plan(CHAT) };
    let mut attempts = sound();
    attempts[0].came.calls = vec![0];
    attempts[0].came.parts = vec![CallPart { call: 1, arguments: "{".into() }];
    let levels =
        judge(&run, &record(CHAT, attempts)).iter().map(|found| (found.clause, found.level)).collect::<Vec<_>>();
    assert_eq!(levels, must);
}

const ANTHROPIC: Api = Api::Anthropic;

/// A second request of a run whose model thought before it called a tool.
fn thought(blocks: &Value, thinking: &str) -> Vec<(&'static str, WireLevel)> {
    let tools = json!([{"name": "look", "input_schema": {"type": "object"}}, {"name": "read", "input_schema": {"type": "object"}}]);
    let mut body = json!({"model": "m", "max_tokens": 9, "tools": tools, "messages": [user("Go")]});
    body["thinking"] = json!({"type": thinking});
    let mut start = saying(attempt(ANTHROPIC, 0, 0, &body), &["c1"]);
    let open =
        |text: &str, seal: &str| SaidThought { text: text.into(), opaque: Some(seal.into()), is_redacted: false };
    let redacted = SaidThought { text: String::new(), opaque: Some("data".into()), is_redacted: true };
    start.said.as_mut().expect("an answer").thoughts = vec![open("one", "s1"), redacted, open("two", "s2")];
    let mut content = blocks.as_array().expect("blocks").clone();
    content.push(json!({"type": "tool_use", "id": "c1", "name": "look", "input": {"n": 1}}));
    let result = json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "r"}]});
    body["messages"] = json!([user("Go"), {"role": "assistant", "content": content}, result]);
    found_in(ANTHROPIC, vec![start, attempt(ANTHROPIC, 1, 10, &body)])
}

#[test]
fn thoughts_come_back_as_they_were() {
    let open = |text: &str, seal: &str| json!({"type": "thinking", "thinking": text, "signature": seal});
    let hidden = |data: &str| json!({"type": "redacted_thinking", "data": data});
    assert_eq!(thought(&json!([open("one", "s1"), hidden("data"), open("two", "s2")]), "enabled"), []);
    let must = [(clause::WIRE_OPAQUE, WireLevel::Must)];
    for blocks in [
        json!([open("one", "s1"), hidden("other"), open("two", "s2")]),
        json!([open("one ", "s1"), hidden("data"), open("two", "s2")]),
        json!([open("one", "s2"), hidden("data"), open("two", "s1")]),
        json!([open("two", "s2"), hidden("data"), open("one", "s1")]),
        json!([{"type": "thinking", "thinking": "one"}, hidden("data"), open("two", "s2")]),
        json!([open("one", "s1"), open("one", "s1"), hidden("data"), open("two", "s2")]),
    ] {
        assert_eq!(thought(&blocks, "enabled"), must, "{blocks}");
    }
    // What the request asks for decides whether thoughts may be left out: all of a response, if the model thinks where it likes to.
    let part = json!([open("one", "s1"), hidden("data")]);
    for (asked, of_part, of_none) in
        [("enabled", &must[..], &must[..]), ("adaptive", &must, &[]), ("disabled", &[], &[])]
    {
        assert_eq!((&*thought(&part, asked), &*thought(&json!([]), asked)), (of_part, of_none), "{asked}");
    }
}

#[test]
fn encrypted_reasoning_comes_back_as_it_was() {
    let with = |item: Option<Value>| {
        let tools = json!([{"type": "function", "name": "look", "parameters": {"type": "object"}}, {"type": "function", "name": "read", "parameters": {}}]);
        let mut body = json!({"model": "m", "tools": tools, "input": [user("Go")]});
        let api = Api::OpenAiResponses;
        let mut start = saying(attempt(api, 0, 0, &body), &["c1"]);
        let thought = SaidThought { text: "Hm".into(), opaque: Some("sealed".into()), is_redacted: false };
        start.said.as_mut().expect("an answer").thoughts = vec![thought];
        let mut input = vec![user("Go")];
        input.extend(item);
        input.push(json!({"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{\"n\":1}"}));
        input.push(json!({"type": "function_call_output", "call_id": "c1", "output": "r"}));
        body["input"] = input.into();
        found_in(api, vec![start, attempt(api, 1, 10, &body)])
    };
    let item = |sealed: &str| json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": sealed});
    assert_eq!(with(Some(item("sealed"))), []);
    assert_eq!(with(Some(item("opened"))), [(clause::WIRE_OPAQUE, WireLevel::Must)]);
    assert_eq!(with(None), [(clause::WIRE_OPAQUE_BACK, WireLevel::Should)]);
}

#[test]
fn a_prompt_cache_is_kept() {
    let body = |system: Value, first: Value, n: &str| {
        format!(
            r#"{{"model":"m","max_tokens":9,"system":{system},"messages":[{{"role":"user","content":{first}}}{}]}}"#,
            if n.is_empty() {
                String::new()
            } else {
                format!(
                    r#",{{"role":"assistant","content":[{{"type":"tool_use","id":"c1","name":"look","input":{n}}}]}}"#
                )
            }
        )
    };
    let marked = |text: &str| json!([{"text": text, "type": "text", "cache_control": {"type": "ephemeral"}}]);
    let loss = |one: &str, other: &str| Prefix::of(ANTHROPIC, one, None).loss(&Prefix::of(ANTHROPIC, other, None));
    let one = body(json!("Be brief."), json!("Go"), "");
    // Marks may move, and texts become blocks for them.
    for other in [
        body(json!("Be brief."), json!("Go"), "{}"),
        body(marked("Be brief."), json!("Go"), "{}"),
        body(json!("Be brief."), marked("Go"), "{}"),
    ] {
        assert_eq!(loss(&one, &other), None, "{other}");
    }
    let changed = loss(&one, &body(json!("Be short."), json!("Go"), "{}")).expect("a loss");
    assert_eq!((&*changed.place, changed.byte), ("system", r#"{"type":"text","text":"Be "#.len()));
    assert_eq!((&*changed.was, &*changed.is), ("`brief.\"}`", "`short.\"}`"));
    assert!(changed.following > 100, "{changed:?}");
    let two = body(json!("Be brief."), json!("Go"), r#"{"a":1,"b":[1.0]}"#);
    for other in [r#"{"b":[1.0],"a":1}"#, r#"{"a":1,"b":[1]}"#] {
        let place = loss(&two, &body(json!("Be brief."), json!("Go"), other)).map(|loss| loss.place);
        assert_eq!(place.as_deref(), Some("messages[1]"), "{other}");
    }
    assert_eq!(loss(&two, &body(json!("Be brief."), json!("Go"), r#"{ "a": 1, "b": [1.0] }"#)), None);
    assert_eq!(loss(&two, &one).map(|loss| loss.is).as_deref(), Some("nothing"));
}
