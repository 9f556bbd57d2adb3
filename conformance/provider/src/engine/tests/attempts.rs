//! Asks and attempts: which request gets which turn.

use super::*;

/// The text that a plain chat answer has.
fn said(answered: &Answered) -> Value {
    answered.json()["choices"][0]["message"]["content"].take()
}

#[test]
fn a_retry_gets_the_next_fault_or_the_turn_whatever_it_sends() {
    let api = Api::OpenAiChat;
    let turns = json!([{"content": "one", "attempts": [{"status": 429, "retryAfterMs": 30}, {"status": 500}]}, {"content": "two"}]);
    let mut wire = Wire::of(api, turns);
    let first = body(api, false);
    assert_eq!([wire.ask(&first).answer.status, wire.ask(&first).answer.status], [429, 500]);
    // Another model, other limits, another history: it is the same ask.
    let mut changed = first.clone();
    (changed["model"], changed["max_tokens"]) = ("gpt-4.1-mini".into(), 5.into());
    changed["messages"][1]["content"] = "Go on".into();
    assert_eq!(said(&wire.ask(&changed)), "one");
    assert_eq!(said(&wire.ask(&next(api, first, "one", &[], &[]))), "two");
    let record = wire.over().record;
    let asks: Vec<usize> = record.attempts.iter().map(|attempt| attempt.ask).collect();
    assert_eq!((asks, record.asks()), (vec![0, 0, 0, 1], 2));
    let failed: Vec<bool> = record.attempts.iter().map(crate::Attempt::failed).collect();
    assert_eq!(failed, [true, true, false, false]);
    let fault = record.attempts[0].fault.as_ref().expect("a fault");
    assert_eq!((&*fault.kind, fault.retry_after), ("status", Some(Duration::from_millis(30))));
    assert!(record.attempts[0].ended.is_some_and(|ended| ended > record.attempts[0].at));
}

#[test]
fn two_attempts_at_the_same_time_are_two_asks() {
    let api = Api::OpenAiChat;
    let mut wire = Wire::of(
        api,
        json!([{"content": "one"}, {"content": "two", "attempts": [{"cut": "text"}]}, {"content": "three"}]),
    );
    let (first, _) = wire.begin(&body(api, true));
    let (second, _) = wire.begin(&body(api, true));
    wire.end(second, false);
    // The one that failed comes again while the other is still being answered.
    let (third, _) = wire.begin(&body(api, true));
    wire.end(first, true);
    wire.end(third, true);
    let record = wire.over().record;
    let asks: Vec<usize> = record.attempts.iter().map(|attempt| attempt.ask).collect();
    assert_eq!(asks, [0, 1, 1]);
    assert_eq!(record.attempts[2].said.as_ref().expect("said").text, "two");
}

#[test]
fn a_client_may_be_faster_than_the_end_of_its_failed_answer() {
    let api = Api::Anthropic;
    let mut wire =
        Wire::of(api, json!([{"content": "one", "attempts": [{"cut": "start", "how": "reset"}]}, {"content": "two"}]));
    let (first, _) = wire.begin(&body(api, true));
    let (second, _) = wire.begin(&body(api, true));
    wire.end(first, false);
    wire.end(second, true);
    let record = wire.over().record;
    assert_eq!((record.asks(), &*record.attempts[1].said.as_ref().expect("said").text), (1, "one"));
    assert!(!record.attempts[1].failed());
}

#[test]
fn a_client_that_leaves_gets_its_turn_again() {
    let api = Api::OpenAiChat;
    let mut wire = Wire::of(api, json!([{"content": "one"}, {"content": "two"}]));
    let (first, _) = wire.begin(&body(api, false));
    wire.end(first, false);
    assert_eq!(said(&wire.ask(&body(api, false))), "one");
    assert_eq!(said(&wire.ask(&body(api, false))), "two");
}

#[test]
fn who_goes_on_with_what_came_whole_gets_the_next_turn() {
    for api in Api::ALL {
        let mut turn = look();
        turn["attempts"] = json!([{"cut": "call"}]);
        let mut wire = Wire::of(api, json!([turn, {"content": "Done"}]));
        let first = body(api, true);
        wire.ask(&first);
        let went_on = next(api, first.clone(), "I look.", &looked()[..1], &["r1"]);
        wire.ask(&went_on);
        let record = wire.over().record;
        assert_eq!(record.asks(), 2, "{api}");
        assert_eq!(record.attempts[1].said.as_ref().expect("said").text, "Done");
    }
}

#[test]
fn who_goes_on_with_what_did_not_come_is_a_retry() {
    for api in Api::ALL {
        let mut turn = look();
        turn["attempts"] = json!([{"cut": "call"}]);
        let mut wire = Wire::of(api, json!([turn, {"content": "Done"}]));
        let first = body(api, true);
        wire.ask(&first);
        wire.ask(&next(api, first.clone(), "I look.", &looked(), &["r1", "r2"]));
        let record = wire.over().record;
        assert_eq!((record.asks(), &*record.attempts[1].said.as_ref().expect("said").text), (1, "I look."), "{api}");
    }
}

#[test]
fn a_model_that_fails_fails_for_good() {
    for api in Api::ALL {
        let mut wire = Wire::of(api, json!([{"error": "context length exceeded"}]));
        for _ in 0..2 {
            let answered = wire.ask(&body(api, true));
            assert_eq!(
                (answered.answer.status, &answered.json()["error"]["message"]),
                (400, &json!("context length exceeded"))
            );
        }
        assert_eq!(wire.over().record.asks(), 1);
        let answered = Wire::of(api, json!([])).ask(&body(api, false));
        assert_eq!((answered.answer.status, &answered.json()["error"]["message"]), (400, &json!("script exhausted")));
    }
}

#[test]
fn a_refused_request_takes_no_fault_and_no_turn() {
    let api = Api::Anthropic;
    let mut wire = Wire::of(api, json!([{"content": "one", "attempts": [{"status": 529}]}]));
    let mut wrong = body(api, false);
    wrong["messages"] = json!([]);
    let statuses = [&wrong, &body(api, false), &body(api, false)].map(|body| wire.ask(body).answer.status);
    assert_eq!(statuses, [400, 529, 200]);
    assert_eq!(wire.over().record.asks(), 1);
}

#[test]
fn runs_do_not_know_each_other() {
    let mut wire = Wire::of(Api::OpenAiChat, json!([{"content": "one"}]));
    let turns = WireTurn::read_all(r#"[{"content": "other"}]"#, "model").expect("turns");
    wire.engine.begin(wire.now, "other", RunPlan::of_turns(Api::Anthropic, turns));
    let headers = [("x-api-key", "other"), ("anthropic-version", "2023-06-01")];
    let (_, reaction) = wire.send("POST", "/v1/messages?beta=true", &headers, &body(Api::Anthropic, false).to_string());
    assert!(matches!(reaction, Reaction::Answer(answer) if answer.status == 200));
    assert_eq!(said(&wire.ask(&body(Api::OpenAiChat, false))), "one");
    let other = wire.engine.end(wire.now, "other").expect("the run is known");
    assert_eq!((other.record.attempts.len(), other.record.key.as_str()), (1, "sha256:d9298a10"));
    assert_eq!(wire.over().record.attempts.len(), 1);
}
