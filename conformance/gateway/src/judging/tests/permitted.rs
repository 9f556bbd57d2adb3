//! Tests the changes that a gateway may make: each reading of the specification's list stays without a finding.

use super::history::list;
use super::*;
use threadspec_golden::clause;

fn is_right(client: Api, sent: &Value, api: Api, arrived: &Value, name: &str) {
    let found = Wire::new(client, api, json!([{"content": "Done"}])).pass(sent, arrived).found();
    let found: Vec<_> = found.into_iter().filter(|finding| finding.level != WireLevel::Note).collect();
    assert_eq!(found, [], "{name}: {arrived}");
}

fn messages(body: &Value, position: usize, message: Value) -> Value {
    changed(body, |body| list(body).insert(position, message))
}

#[test]
fn ids_are_mapped_one_to_one() {
    let rounds = |one: &'static str, two: &'static str| {
        vec![("", vec![(one, "look", json!({"n": 1})), (two, "look", json!({"n": 2}))], vec!["r1", "r2"])]
    };
    for (name, one, two) in [
        ("odd characters replaced", "c_1", "c_2"),
        ("hashed", "h4c1f", "h90aa"),
        ("numbered", "call_0", "call_1"),
        ("exchanged names", "c-2", "c-1"),
    ] {
        is_right(CHAT, &body(CHAT, &rounds("c.1", "c.2")), ANTHROPIC, &body(ANTHROPIC, &rounds(one, two)), name);
    }
    let again = [rounds("a", "b"), rounds("a", "b")].concat();
    let renamed = [rounds("a", "b"), rounds("a_2", "b_2")].concat();
    is_right(CHAT, &body(CHAT, &again), ANTHROPIC, &body(ANTHROPIC, &renamed), "ids that come again are told apart");
    is_right(CHAT, &body(CHAT, &again), RESPONSES, &body(RESPONSES, &again), "ids that come again are kept");
    is_right(
        CHAT,
        &body(CHAT, &rounds("a", "a")),
        ANTHROPIC,
        &body(ANTHROPIC, &rounds("a", "a_1")),
        "ids that come twice are told apart",
    );
}

#[test]
fn system_texts_may_stand_elsewhere() {
    let (chat, anthropic) = (body(CHAT, &looked()), body(ANTHROPIC, &looked()));
    let two = messages(&chat, 1, json!({"role": "developer", "content": "Be kind."}));
    for (name, system) in [
        ("joined", json!("Be brief.\n\nBe kind.")),
        ("blocks", json!([{"type": "text", "text": "Be brief."}, {"type": "text", "text": "Be kind."}])),
    ] {
        is_right(CHAT, &two, ANTHROPIC, &changed(&anthropic, |body| body["system"] = system), name);
    }
    is_right(
        ANTHROPIC,
        &anthropic,
        CHAT,
        &changed(&chat, |body| list(body)[0]["role"] = json!("developer")),
        "the role developer",
    );
    is_right(
        ANTHROPIC,
        &anthropic,
        RESPONSES,
        &changed(&body(RESPONSES, &looked()), |body| {
            body["instructions"] = Value::Null;
            list(body).insert(0, json!({"role": "developer", "content": "Be brief."}));
        }),
        "an item of the input",
    );
    let middle = messages(&chat, 5, json!({"role": "system", "content": "Hurry up."}));
    let in_tags = messages(&anthropic, 3, json!({"role": "user", "content": "<system>Hurry up.</system>"}));
    is_right(CHAT, &middle, ANTHROPIC, &in_tags, "in the middle, as a text of the user in tags");
    is_right(
        CHAT,
        &middle,
        ANTHROPIC,
        &changed(&anthropic, |body| body["system"] = json!("Be brief.\nHurry up.")),
        "in the middle, hoisted",
    );
    is_right(
        CHAT,
        &middle,
        CHAT,
        &messages(&chat, 2, json!({"role": "system", "content": "Hurry up."})),
        "in the middle, moved",
    );
}

#[test]
fn texts_are_joined_or_apart() {
    let chat = body(CHAT, &[]);
    let two = messages(&chat, 2, json!({"role": "user", "content": "On"}));
    for (name, content) in [
        ("joined by a line", json!("Go\nOn")),
        ("by a space", json!("Go On")),
        ("by nothing", json!("GoOn")),
        ("as blocks", json!([{"type": "text", "text": "Go"}, {"type": "text", "text": "On"}])),
    ] {
        is_right(
            CHAT,
            &two,
            ANTHROPIC,
            &changed(&body(ANTHROPIC, &[]), |body| list(body)[0]["content"] = content),
            name,
        );
    }
    let parts = changed(&chat, |body| {
        list(body)[1]["content"] = json!([{"type": "text", "text": "Go"}, {"type": "text", "text": "On"}])
    });
    is_right(
        CHAT,
        &parts,
        RESPONSES,
        &messages(&body(RESPONSES, &[]), 1, json!({"role": "user", "content": "On"})),
        "parts as messages",
    );
    let spaces = changed(&chat, |body| list(body)[1]["content"] = json!("  Go\n"));
    is_right(CHAT, &spaces, ANTHROPIC, &body(ANTHROPIC, &[]), "white space at the ends");
    let apart = |body: &Value| {
        changed(body, |body| {
            list(body)[3]["content"] = json!([{"type": "text", "text": "r"}, {"type": "text", "text": "1"}])
        })
    };
    for text in ["r1", "r 1", "r\n1"] {
        let right = changed(&body(ANTHROPIC, &looked()), |body| list(body)[2]["content"][0]["content"] = json!(text));
        is_right(CHAT, &apart(&body(CHAT, &looked())), ANTHROPIC, &right, "parts of a result joined");
    }
}

#[test]
fn what_says_nothing_may_be_left_out_or_written_otherwise() {
    let chat = body(CHAT, &looked());
    for content in [Value::Null, json!("")] {
        let sent = changed(&chat, |body| list(body)[2]["content"] = content);
        let right = changed(&body(ANTHROPIC, &looked()), |body| {
            drop(list(body)[1]["content"].as_array_mut().expect("blocks").remove(0))
        });
        is_right(CHAT, &sent, ANTHROPIC, &right, "no content beside calls");
        is_right(ANTHROPIC, &right, CHAT, &sent, "no content beside calls");
    }
    let empty = messages(
        &messages(&chat, 5, json!({"role": "assistant", "content": ""})),
        6,
        json!({"role": "user", "content": "And?"}),
    );
    is_right(
        CHAT,
        &empty,
        ANTHROPIC,
        &messages(&body(ANTHROPIC, &looked()), 3, json!({"role": "user", "content": "And?"})),
        "an empty message",
    );
    let nothing = vec![("", vec![("a", "look", json!({}))], vec![""])];
    let absent = changed(&body(ANTHROPIC, &nothing), |body| {
        drop(list(body)[2]["content"][0].as_object_mut().expect("a block").remove("content"))
    });
    is_right(CHAT, &body(CHAT, &nothing), ANTHROPIC, &absent, "an empty result without content");
    is_right(ANTHROPIC, &absent, CHAT, &body(CHAT, &nothing), "a result without content as an empty one");
    let no_arguments =
        changed(&body(CHAT, &nothing), |body| list(body)[2]["tool_calls"][0]["function"]["arguments"] = json!(""));
    is_right(CHAT, &no_arguments, ANTHROPIC, &body(ANTHROPIC, &nothing), "empty arguments");
}

#[test]
fn answers_stand_in_any_order_and_in_several_messages() {
    let anthropic = body(ANTHROPIC, &looked());
    is_right(
        CHAT,
        &body(CHAT, &looked()),
        ANTHROPIC,
        &changed(&anthropic, |body| list(body)[2]["content"].as_array_mut().expect("blocks").swap(0, 1)),
        "in another order",
    );
    let apart = changed(&anthropic, |body| {
        let last = list(body)[2]["content"].as_array_mut().expect("blocks").pop();
        list(body).push(json!({"role": "user", "content": [last]}));
    });
    // Anthropic joins them; whether it takes them is a matter of its rules.
    is_right(ANTHROPIC, &apart, CHAT, &body(CHAT, &looked()), "from several messages");
}

#[test]
fn failures_are_told_as_they_can_be() {
    let sent = changed(&body(ANTHROPIC, &looked()), |body| list(body)[2]["content"][0]["is_error"] = json!(true));
    for text in ["r1", "Error: r1", "[tool_error] r1"] {
        is_right(
            ANTHROPIC,
            &sent,
            CHAT,
            &changed(&body(CHAT, &looked()), |body| list(body)[3]["content"] = json!(text)),
            text,
        );
    }
    is_right(ANTHROPIC, &sent, ANTHROPIC, &sent, "kept");
    let told = |text: &str| changed(&body(CHAT, &looked()), |body| list(body)[3]["content"] = json!(text));
    assert_eq!(of_request(ANTHROPIC, &body(ANTHROPIC, &looked()), CHAT, &told("Error: r1")), [clause::GATE_RESULT]);
    assert_eq!(of_request(ANTHROPIC, &sent, ANTHROPIC, &body(ANTHROPIC, &looked())), [clause::GATE_RESULT]);
}

#[test]
fn members_that_change_nothing_may_be_added() {
    let (chat, anthropic) = (body(CHAT, &looked()), body(ANTHROPIC, &looked()));
    let marked = changed(&anthropic, |body| {
        list(body)[0]["content"] = json!([{"type": "text", "text": "Go", "cache_control": {"type": "ephemeral"}}]);
        body["metadata"] = json!({"user_id": "u"});
        body["temperature"] = json!(1);
    });
    is_right(CHAT, &chat, ANTHROPIC, &marked, "marks and metadata");
    let unlimited = changed(&chat, |body| drop(body.as_object_mut().expect("a body").remove("max_completion_tokens")));
    is_right(CHAT, &unlimited, ANTHROPIC, &anthropic, "a limit where there was none");
    is_right(
        ANTHROPIC,
        &anthropic,
        CHAT,
        &changed(&chat, |body| body["stream_options"] = json!({"include_usage": true})),
        "usage",
    );
}

#[test]
fn half_a_pair_may_be_replaced() {
    let sent = changed(&body(CHAT, &looked()), |body| {
        list(body)[1]["content"] = json!("cut \u{10d83d}!");
        list(body)[3]["content"] = json!("\u{10de00}r1");
        list(body)[2]["tool_calls"][0]["function"]["arguments"] = json!("{\"n\":\"\\ud83d\"}");
    });
    for with in ["\u{fffd}", "?", "", "\\ud83d"] {
        let right = changed(&body(ANTHROPIC, &looked()), |body| {
            list(body)[0]["content"] = json!(format!("cut {with}!"));
            list(body)[2]["content"][0]["content"] = json!(format!("{with}r1"));
            list(body)[1]["content"][1]["input"] = json!({"n": with});
        });
        is_right(CHAT, &sent, ANTHROPIC, &right, with);
    }
}

#[test]
fn a_broken_history_is_repaired_or_sent_on() {
    let unanswered = changed(&body(CHAT, &looked()), |body| drop(list(body).pop()));
    let anthropic = body(ANTHROPIC, &looked());
    let forwarded = changed(&anthropic, |body| drop(list(body)[2]["content"].as_array_mut().expect("blocks").pop()));
    is_right(CHAT, &unanswered, ANTHROPIC, &forwarded, "sent on");
    let made = changed(&anthropic, |body| list(body)[2]["content"][1]["content"] = json!("[no result]"));
    is_right(CHAT, &unanswered, ANTHROPIC, &made, "repaired with a result");
    let without = changed(&forwarded, |body| drop(list(body)[1]["content"].as_array_mut().expect("blocks").pop()));
    is_right(CHAT, &unanswered, ANTHROPIC, &without, "repaired without the call");
    let and_changed = changed(&made, |body| list(body)[0]["content"] = json!("Gone"));
    assert_eq!(of_request(CHAT, &unanswered, ANTHROPIC, &and_changed), [clause::GATE_TEXT]);
}

#[test]
fn answers_may_be_told_otherwise() {
    let ask = |api| body(api, &[]);
    let of = |turns: Value, change: fn(&mut Value)| {
        Wire::new(CHAT, ANTHROPIC, turns)
            .pass_with(&ask(CHAT), &ask(ANTHROPIC), |response| with_json(response, change))
            .clauses()
    };
    let calls = || json!([{"content": "I look.", "tool_calls": [{"id": "t.1", "name": "look", "args": {"n": 1}}, {"id": "t.1", "name": "look", "args": {"n": 2}}]}]);
    let rename: fn(&mut Value) = |body| {
        let calls = body["choices"][0]["message"]["tool_calls"].as_array_mut().expect("calls");
        for (number, call) in calls.iter_mut().enumerate() {
            call["id"] = json!(format!("call_{number}"));
        }
    };
    assert_eq!(of(calls(), rename), [""; 0], "ids of its own, and those that come twice told apart");
    let refuse: fn(&mut Value) = |body| {
        let said = body["choices"][0]["message"]["refusal"].take();
        body["choices"][0]["message"]["content"] = if said.is_null() { json!("I cannot.") } else { said };
    };
    assert_eq!(of(json!([{"refusal": "I cannot."}]), refuse), [""; 0], "a refusal as text");
    let usage: fn(&mut Value) = |body| {
        body["usage"] = json!({"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2});
        body["id"] = json!("own");
        body["created"] = json!(0);
    };
    assert_eq!(of(json!([{"content": "Hi"}]), usage), [""; 0], "usage and ids of its own");
    let trimmed: fn(&mut Value) = |body| body["choices"][0]["message"]["content"] = json!("Hi");
    assert_eq!(of(json!([{"content": " Hi\n"}]), trimmed), [""; 0], "white space at the ends");
    let refused = Wire::new(CHAT, ANTHROPIC, calls())
        .pass_with(&ask(CHAT), &ask(ANTHROPIC), |_| own(502, json!({"error": {"message": "duplicate ids"}})))
        .clauses();
    assert_eq!(refused, [""; 0], "an answer with ids that come twice is refused");
    let stopped: fn(&mut Value) = |body| body["choices"][0]["finish_reason"] = json!("tool_calls");
    let odd = json!([{"tool_calls": [{"id": "a", "name": "look", "args": {}}], "stop": "end_turn"}]);
    assert_eq!(of(odd, stopped), [""; 0], "a wrong reason is put right");
}
