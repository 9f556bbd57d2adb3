//! Rules that one body does not show: what the server stored, and which thinking it sent before.

use serde_json::{Value, json};
use threadspec::oracle::{Api, RequestContext, StoredItems, provider_breaches_in, provider_breaches_with};

/// The rules that a body breaks, each with whether it is certain.
fn broken(api: Api, context: &RequestContext<'_>, body: &Value) -> Vec<(&'static str, bool)> {
    let breaches = provider_breaches_with(api, context, body);
    breaches.into_iter().map(|breach| (breach.rule, breach.is_certain)).collect()
}

#[test]
fn stored_items_stand_before_the_input() {
    let call = json!({"type": "function_call", "call_id": "a", "name": "t", "arguments": "{}"});
    let output = |id: &str| json!({"type": "function_call_output", "call_id": id, "output": "4"});
    let user = json!({"role": "user", "content": "Hi"});
    let stored = [user.clone(), call.clone()];
    let answered = [user.clone(), call.clone(), output("a")];
    let goes_on = |input: &[&Value]| json!({"previous_response_id": "resp_1", "input": input});
    for (stored, body, expected) in [
        (StoredItems::Items(&stored), goes_on(&[&output("a")]), vec![]),
        (StoredItems::Items(&stored), goes_on(&[&user]), vec![("OAI-RESP-ANSWERED", true)]),
        (StoredItems::Items(&stored), goes_on(&[&output("a"), &output("b")]), vec![("OAI-RESP-ORPHAN", true)]),
        (StoredItems::Items(&answered), goes_on(&[&user]), vec![]),
        (StoredItems::Items(&answered), goes_on(&[&output("a")]), vec![("OAI-RESP-ONE-OUTPUT", true)]),
        // In a later round an id comes again, which only gateways refuse.
        (StoredItems::Items(&answered), goes_on(&[&call, &output("a")]), vec![("OAI-RESP-ONE-OUTPUT", false)]),
        (StoredItems::Missing, goes_on(&[&user]), vec![("OAI-RESP-PREVIOUS", true)]),
        (StoredItems::Unknown, goes_on(&[&output("z")]), vec![]),
        (
            StoredItems::Items(&[]),
            json!({"input": [{"type": "item_reference", "id": "msg_1"}]}),
            vec![("OAI-RESP-STORE", true)],
        ),
        (StoredItems::Unknown, json!({"input": [{"type": "item_reference", "id": "msg_1"}]}), vec![]),
    ] {
        let context = RequestContext { stored, ..RequestContext::default() };
        assert_eq!(broken(Api::OpenAiResponses, &context, &body), expected, "{stored:?}: {body}");
    }
}

fn thought(text: &str, signature: &str) -> Value {
    json!({"type": "thinking", "thinking": text, "signature": signature})
}

fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

fn round(id: &str, before: &[Value]) -> [Value; 2] {
    let call = json!({"type": "tool_use", "id": id, "name": "t", "input": {}});
    let blocks: Vec<&Value> = before.iter().chain([&call]).collect();
    let result = json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": "4"}]});
    [json!({"role": "assistant", "content": blocks}), result]
}

fn thinking(kind: &str, messages: &[Value]) -> Value {
    json!({"model": "claude-sonnet-5", "max_tokens": 2048, "thinking": {"type": kind}, "messages": messages})
}

#[test]
fn thinking_comes_back_as_it_was() {
    let (a, b) = (thought("One.", "sig-a"), thought("Two.", "sig-b"));
    let redacted = json!({"type": "redacted_thinking", "data": "secret"});
    let said = [vec![a.clone(), redacted.clone()], vec![b.clone()]];
    let context = RequestContext { thinking: Some(&said), ..RequestContext::default() };
    let with = |before: &[Value]| thinking("enabled", &[vec![user("Hi")], round("a", before).to_vec()].concat());
    for (blocks, expected) in [
        (vec![a.clone(), redacted.clone()], vec![]),
        (vec![b.clone()], vec![]),
        // Two answers in a row became one message.
        (vec![a.clone(), redacted.clone(), b.clone()], vec![]),
        (vec![a.clone()], vec![("ANT-THINK-SAME", true)]),
        (vec![redacted.clone(), a.clone()], vec![("ANT-THINK-SAME", true)]),
        (vec![thought("One", "sig-a"), redacted.clone()], vec![("ANT-THINK-SAME", true)]),
        (vec![a.clone(), json!({"type": "redacted_thinking", "data": "Secret"})], vec![("ANT-THINK-SAME", true)]),
        (vec![thought("One.", "sig-z"), redacted.clone()], vec![("ANT-THINK-SIGN", true)]),
        (vec![json!({"type": "text", "text": "So:"}), a.clone(), redacted.clone()], vec![("ANT-THINK-FIRST", true)]),
        (vec![], vec![("ANT-THINK-FIRST", true)]),
    ] {
        assert_eq!(broken(Api::Anthropic, &context, &with(&blocks)), expected, "{blocks:?}");
    }
    // Without thinking in the request the blocks may stay away, and only their signatures are looked at.
    let off = |messages: &[Value]| json!({"model": "claude-sonnet-5", "max_tokens": 2048, "messages": messages});
    let messages = [vec![user("Hi")], round("a", &[thought("One", "sig-a")]).to_vec()].concat();
    assert_eq!(broken(Api::Anthropic, &context, &off(&messages)), []);
}

/// The model thinks at the beginning of its turn; what answers results goes on without.
#[test]
fn the_turn_begins_with_thinking() {
    let a = thought("One.", "sig-a");
    let first = |kind: &str, messages: &[Value], said: Option<&[Vec<Value>]>| {
        let context = RequestContext { thinking: said, ..RequestContext::default() };
        broken(Api::Anthropic, &context, &thinking(kind, messages))
    };
    let started = [vec![user("Hi")], round("a", std::slice::from_ref(&a)).to_vec(), round("b", &[]).to_vec()].concat();
    let said = [vec![a.clone()], vec![]];
    assert_eq!(first("enabled", &started, Some(&said)), []);
    assert_eq!(first("enabled", &started, None), []);
    let dropped = [vec![user("Hi")], round("a", &[]).to_vec(), round("b", &[]).to_vec()].concat();
    assert_eq!(first("enabled", &dropped, Some(&said)), [("ANT-THINK-FIRST", true)]);
    // It is not known whether there was thinking, or there was none in this turn.
    assert_eq!(first("enabled", &dropped, None), [("ANT-THINK-FIRST", false)]);
    let later = [vec![user("Hi")], vec![json!({"role": "assistant", "content": [a, {"type": "text", "text": "Yes"}]})]];
    let next = [later.concat(), vec![user("And?")], round("a", &[]).to_vec()].concat();
    assert_eq!(first("enabled", &next, Some(&said)), [("ANT-THINK-FIRST", false)]);
    // A turn that has ended needs no thinking any more, and an adaptive model need not think.
    assert_eq!(first("enabled", &[dropped.clone(), vec![user("And?")]].concat(), Some(&said)), []);
    assert_eq!(first("adaptive", &dropped, Some(&said)), []);
}

#[test]
fn strict_schemas_are_searched_to_the_bottom() {
    let object = |properties: Value, required: Value| json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false});
    let open = json!({"type": "object", "properties": {}});
    let context = |schema: Value| {
        let body = json!({"messages": [{"role": "user", "content": "Hi"}],
            "tools": [{"type": "function", "function": {"name": "t", "strict": true, "parameters": schema}}]});
        let breaches = provider_breaches_in(Api::OpenAiChat, &body);
        breaches.first().map(|breach| (breach.what.clone(), breach.is_certain))
    };
    let at = |place: &str| Some((format!("`additionalProperties` is not false, in context={place}"), true));
    assert_eq!(context(object(json!({}), json!([]))), None);
    assert_eq!(context(object(json!({"a": {"type": "string"}}), json!(["a"]))), None);
    assert_eq!(context(object(json!({"properties": {"type": "string"}}), json!(["properties"]))), None);
    assert_eq!(context(object(json!({"a": open}), json!(["a"]))), at("('properties', 'a')"));
    assert_eq!(
        context(object(json!({"a": {"type": "array", "items": open}}), json!(["a"]))),
        at("('properties', 'a', 'items')")
    );
    let either = object(json!({"a": {"anyOf": [{"type": "null"}, open]}}), json!(["a"]));
    assert_eq!(context(either), at("('properties', 'a', 'anyOf')"));
    let mut defined = object(json!({"a": {"$ref": "#/$defs/b"}}), json!(["a"]));
    defined["$defs"] = json!({"b": open});
    assert_eq!(context(defined), at("('$defs', 'b')"));
    // Without `type` it may not be meant as an object.
    let maybe = context(json!({"properties": {}}));
    assert_eq!(maybe.map(|(_, is_certain)| is_certain), Some(false));
}
