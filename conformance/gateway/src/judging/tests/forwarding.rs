//! Tests requests that are forwarded, refused, or invented.

use super::*;
use threadspec_golden::clause;
use threadspec_provider::{Stray, StrayReason, WireRecord};

fn done() -> Value {
    json!([{"content": "Done"}, {"content": "Done"}])
}

fn refused(status: u16, message: &str) -> Option<ClientResponse> {
    own(status, json!({"error": {"message": message}}))
}

#[test]
fn what_can_be_said_is_sent_on() {
    let sent = body(CHAT, &looked());
    for (told, expected) in [
        (refused(400, "I do not like it"), clause::GATE_FORWARD),
        (refused(500, "TypeError"), clause::GATE_FORWARD),
        (own(200, json!({"choices": [{"message": {"content": "from a cache"}}]})), clause::GATE_FORWARD),
        (refused(429, "No deployments available"), clause::GATE_INDEPENDENT),
        (None, clause::GATE_FORWARD),
    ] {
        assert_eq!(Wire::new(CHAT, ANTHROPIC, done()).exchange(&sent, |_| told).clauses(), [expected]);
    }
    // Odd names of members are no reason.
    let odd = vec![("", vec![("a", "look", json!({"__proto__": 1}))], vec!["ok"])];
    assert_eq!(
        Wire::new(ANTHROPIC, CHAT, done()).exchange(&body(ANTHROPIC, &odd), |_| refused(400, "unsafe key")).clauses(),
        [clause::GATE_FORWARD]
    );
}

#[test]
fn what_cannot_be_said_is_refused_with_a_reason() {
    let messages = |body: &Value, position: usize, message: Value| {
        changed(body, |body| body["messages"].as_array_mut().expect("messages").insert(position, message))
    };
    let chat = body(CHAT, &looked());
    let one = |id: &'static str| vec![("", vec![(id, "look", json!({}))], vec!["ok"])];
    for (name, sent) in [
        ("an orphan", messages(&chat, 2, json!({"role": "tool", "tool_call_id": "x", "content": ""}))),
        ("a system text in the middle", messages(&chat, 3, json!({"role": "system", "content": "S"}))),
        ("ids twice", body(CHAT, &[one("a"), one("a")].concat())),
        ("an odd id", body(CHAT, &one("a.b"))),
        ("half a pair", messages(&chat, 5, json!({"role": "user", "content": "\u{10d83d}"}))),
        (
            "an image",
            messages(
                &chat,
                5,
                json!({"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]}),
            ),
        ),
        (
            "a long name",
            changed(&chat, |body| body["tools"] = json!([{"type": "function", "function": {"name": "x".repeat(129)}}])),
        ),
        ("the model has the last word", messages(&chat, 5, json!({"role": "assistant", "content": "Well"}))),
    ] {
        let of = |told| Wire::new(CHAT, ANTHROPIC, done()).exchange(&sent, |_| told).clauses();
        assert_eq!(of(refused(400, "the API cannot say this")), [""; 0], "{name}");
        assert_eq!(of(refused(400, "")), [clause::GATE_FORWARD], "{name}");
        assert_eq!(of(refused(500, "TypeError")), [clause::GATE_FORWARD], "{name}");
    }
}

#[test]
fn a_request_is_asked_once_and_again_only_where_it_failed() {
    let (sent, arrived) = (body(CHAT, &looked()), body(ANTHROPIC, &looked()));
    let twice = |turns: Value, pause: u64| {
        Wire::new(CHAT, ANTHROPIC, turns)
            .exchange(&sent, |wire| {
                wire.ask(&arrived);
                wire.now += Duration::from_millis(pause);
                let response = wire.ask(&arrived)?;
                Some(translated(&response, ANTHROPIC, &ApiRequest::read(CHAT, &sent)))
            })
            .clauses()
    };
    assert_eq!(twice(done(), 500), [clause::GATE_FORWARD]);
    let failing = |fault: Value| json!([{"content": "Done", "attempts": [fault]}]);
    assert_eq!(twice(failing(json!({"status": 500})), 500), [""; 0]);
    assert_eq!(twice(failing(json!({"status": 429, "retryAfterMs": 5000})), 500), [clause::WIRE_WAIT]);
    assert_eq!(twice(failing(json!({"status": 400})), 500), [clause::WIRE_RETRY]);
    let other = body(ANTHROPIC, &[]);
    let found = Wire::new(CHAT, ANTHROPIC, failing(json!({"status": 500})))
        .exchange(&sent, |wire| {
            wire.ask(&arrived);
            let response = wire.ask(&other)?;
            Some(translated(&response, ANTHROPIC, &ApiRequest::read(CHAT, &sent)))
        })
        .clauses();
    assert_eq!(found, [clause::WIRE_RETRY]);
}

#[test]
fn nothing_arrives_that_nobody_asked() {
    let mut wire = Wire::new(CHAT, ANTHROPIC, done());
    wire.pass(&body(CHAT, &[]), &body(ANTHROPIC, &[]));
    wire.now += Duration::from_secs(1);
    wire.ask(&body(ANTHROPIC, &looked()));
    assert_eq!(wire.clauses(), [clause::GATE_FORWARD]);
}

#[test]
fn what_comes_astray_was_not_asked() {
    let plan = RunPlan::of_turns(ANTHROPIC, Vec::new());
    for (method, why, clause) in [
        ("POST", StrayReason::NoKey, Some(clause::GATE_FORWARD)),
        ("POST", StrayReason::OtherApi, Some(clause::GATE_FORWARD)),
        ("POST", StrayReason::Late, Some(clause::GATE_INDEPENDENT)),
        ("GET", StrayReason::Path, None),
    ] {
        let (method, target) = (method.to_owned(), "/v1/x".to_owned());
        let stray = Stray { at: Duration::ZERO, method, target, key: None, status: 404, why };
        let (attempts, runs, ended) = (Vec::new(), Vec::new(), Duration::from_secs(1));
        let record = WireRecord {
            api: ANTHROPIC,
            key: "k".to_owned(),
            began: Duration::ZERO,
            ended,
            attempts,
            strays: vec![stray],
            runs,
        };
        let run = GatewayRun { client: CHAT, plan: &plan, record: &record, exchanges: &[] };
        let found: Vec<&str> = judge(&run).iter().map(|finding| finding.clause).collect();
        assert_eq!(found, clause.into_iter().collect::<Vec<_>>(), "{why:?}");
    }
}

#[test]
fn a_request_with_the_mark_of_another_run_is_none_of_this_one() {
    let of = |api, mark: &str| {
        changed(&body(api, &looked()), |body| {
            let description = format!("Looks. threadspec run {mark}");
            body["tools"] = match api {
                CHAT => {
                    json!([{"type": "function", "function": {"name": "look", "description": description, "parameters": {"type": "object"}}}])
                }
                _ => json!([{"name": "look", "description": description, "input_schema": {"type": "object"}}]),
            };
        })
    };
    assert_eq!(of_request(CHAT, &of(CHAT, "q8Zr"), ANTHROPIC, &of(ANTHROPIC, "q8Zr")), [""; 0]);
    assert_eq!(of_request(CHAT, &of(CHAT, "q8Zr"), ANTHROPIC, &of(ANTHROPIC, "aaaa")), [clause::GATE_INDEPENDENT]);
}

#[test]
fn requests_at_the_same_time_are_told_apart() {
    let (one, other) = (body(CHAT, &looked()), body(CHAT, &[]));
    let mut wire = Wire::new(CHAT, ANTHROPIC, done());
    wire.pass(&one, &body(ANTHROPIC, &looked())).pass(&other, &body(ANTHROPIC, &[]));
    // Both were under way all the time, and the second one began first.
    let ended = wire.exchanges[1].ended;
    wire.exchanges.swap(0, 1);
    for exchange in &mut wire.exchanges {
        (exchange.began, exchange.ended) = (Duration::ZERO, ended);
    }
    assert_eq!(wire.clauses(), [""; 0]);
}

#[test]
fn old_messages_are_written_as_they_were() {
    let longer = [looked(), vec![("Well.", vec![], vec![])]].concat();
    let pass = |first: fn(&mut Value)| {
        let mut wire = Wire::new(CHAT, ANTHROPIC, done());
        wire.pass(&body(CHAT, &looked()), &changed(&body(ANTHROPIC, &looked()), first));
        wire.pass(&body(CHAT, &longer), &body(ANTHROPIC, &longer)).clauses()
    };
    assert_eq!(pass(|_| {}), [""; 0]);
    assert_eq!(
        pass(|body| body["system"] =
            json!([{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}])),
        [""; 0]
    );
    assert_eq!(pass(|body| body["messages"][2]["content"][0]["is_error"] = json!(false)), [clause::GATE_CACHE]);
}

/// Requests may follow one another within a millisecond. What then arrives belongs to the one during which it came, even if a gateway makes
/// something of it that is more like the one before.
#[test]
fn what_a_gateway_mangles_is_not_taken_for_the_request_before() {
    let (first, second) = (body(CHAT, &[]), body(CHAT, &looked()));
    let mangled = changed(&second, |body| {
        body["messages"].as_array_mut().expect("messages").truncate(first["messages"].as_array().map_or(0, Vec::len))
    });
    let mut wire = Wire::new(CHAT, CHAT, done());
    wire.pass(&first, &first).pass(&second, &mangled);
    let before = |time: Duration, millis| time.saturating_sub(Duration::from_millis(millis));
    let came = before(wire.now, 2);
    wire.exchanges[0].ended = before(came, 2);
    wire.exchanges[1].began = before(came, 1);
    let found = wire.found();
    assert!(found.iter().any(|finding| finding.clause == clause::GATE_MESSAGES), "{found:?}");
    assert!(found.iter().all(|finding| finding.clause != clause::GATE_FORWARD), "{found:?}");
}
