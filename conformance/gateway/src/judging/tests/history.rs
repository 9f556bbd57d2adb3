//! Tests the changes that must not happen to a history on its way to the provider.

use super::*;
use threadspec_golden::clause;

/// The messages or items of a body.
pub(super) fn list(body: &mut Value) -> &mut Vec<Value> {
    let name = if body["messages"].is_array() { "messages" } else { "input" };
    body[name].as_array_mut().expect("a list")
}

#[test]
fn a_history_that_arrives_is_right_in_every_pair() {
    for (client, api) in SPOKEN.into_iter().flat_map(|client| SPOKEN.map(|api| (client, api))) {
        let rounds =
            [looked(), vec![("Well.", vec![], vec![]), ("", vec![("call_c", "look", json!({}))], vec![""])]].concat();
        assert_eq!(of_request(client, &body(client, &rounds), api, &body(api, &rounds)), [""; 0], "{client} {api}");
    }
}

/// Covers the blocks and messages that a gateway from chat completions to Anthropic's messages makes.
#[test]
fn each_fault_of_a_translating_gateway_has_its_name() {
    let (sent, right) = (body(CHAT, &looked()), body(ANTHROPIC, &looked()));
    let cases: [(&str, &str, fn(&mut Value)); 22] = [
        ("the first message is lost", clause::GATE_MESSAGES, |body| drop(list(body).remove(0))),
        ("the text of the model is lost", clause::GATE_MESSAGES, |body| {
            drop(list(&mut *body)[1]["content"].as_array_mut().expect("blocks").remove(0))
        }),
        ("a message is doubled", clause::GATE_MESSAGES, |body| {
            list(body).insert(1, json!({"role": "user", "content": "Go"}))
        }),
        ("the first message is moved", clause::GATE_MESSAGES, |body| {
            let first = list(body).remove(0);
            list(body).push(first);
        }),
        ("a result is lost", clause::GATE_MESSAGES, |body| {
            drop(list(body)[2]["content"].as_array_mut().expect("blocks").remove(1))
        }),
        ("a result comes twice", clause::GATE_MESSAGES, |body| {
            let again = list(body)[2]["content"][0].clone();
            list(body)[2]["content"].as_array_mut().expect("blocks").push(again);
        }),
        ("the system text is the user's", clause::GATE_MESSAGES, |body| {
            body["system"] = Value::Null;
            list(body).insert(0, json!({"role": "user", "content": "Be brief."}));
        }),
        ("a round is lost", clause::GATE_MESSAGES, |body| {
            list(body).truncate(1);
        }),
        ("the calls change places", clause::GATE_MESSAGES, |body| {
            list(body)[1]["content"].as_array_mut().expect("blocks").swap(1, 2)
        }),
        ("an argument is lost", clause::GATE_CALLS, |body| list(body)[1]["content"][1]["input"] = json!({})),
        ("a number is a text", clause::GATE_CALLS, |body| list(body)[1]["content"][2]["input"] = json!({"n": "2"})),
        ("a name is changed", clause::GATE_CALLS, |body| list(body)[1]["content"][1]["name"] = json!("look_up")),
        ("a call and its result are lost", clause::GATE_CALLS, |body| {
            list(body)[1]["content"].as_array_mut().expect("blocks").remove(2);
            list(body)[2]["content"].as_array_mut().expect("blocks").remove(1);
        }),
        ("two ids are equal", clause::GATE_IDS, |body| {
            list(body)[1]["content"][2]["id"] = json!("call_a");
            list(body)[2]["content"][1]["tool_use_id"] = json!("call_a");
        }),
        ("a result has another id", clause::GATE_IDS, |body| {
            list(body)[2]["content"][1]["tool_use_id"] = json!("call_x")
        }),
        ("the results change their ids", clause::GATE_IDS, |body| {
            list(body)[2]["content"][0]["tool_use_id"] = json!("call_b");
            list(body)[2]["content"][1]["tool_use_id"] = json!("call_a");
        }),
        ("a result is trimmed", clause::GATE_RESULT, |body| list(body)[2]["content"][0]["content"] = json!("r")),
        ("a result is quoted", clause::GATE_RESULT, |body| list(body)[2]["content"][0]["content"] = json!("\"r1\"")),
        ("a text is changed", clause::GATE_TEXT, |body| list(body)[0]["content"] = json!("Gо")),
        ("the system text is cut", clause::GATE_TEXT, |body| body["system"] = json!("Be")),
        ("the user is told to go on", clause::GATE_INVENTED, |body| {
            list(body).push(json!({"role": "user", "content": "Please continue."}))
        }),
        ("the model says something more", clause::GATE_INVENTED, |body| {
            list(body)[1]["content"][0]["text"] = json!("I look. (translated)")
        }),
    ];
    for (name, clause, fault) in cases {
        let arrived = changed(&right, fault);
        assert_eq!(of_request(CHAT, &sent, ANTHROPIC, &arrived), [clause], "{name}: {arrived}");
    }
}

/// Covers a gateway from Anthropic's messages to chat completions.
#[test]
fn each_fault_on_the_way_to_chat_has_its_name() {
    let (sent, right) = (body(ANTHROPIC, &looked()), body(CHAT, &looked()));
    let sent = changed(&sent, |body| list(body)[2]["content"][1]["content"] = Value::Null);
    let right = changed(&right, |body| list(body)[4]["content"] = json!(""));
    assert_eq!(of_request(ANTHROPIC, &sent, CHAT, &right), [""; 0]);
    let cases: [(&str, &str, fn(&mut Value)); 8] = [
        ("an empty result is null", clause::GATE_RESULT, |body| list(body)[4]["content"] = Value::Null),
        ("an empty result is told", clause::GATE_RESULT, |body| list(body)[4]["content"] = json!("(no output)")),
        ("the parts are written as JSON", clause::GATE_RESULT, |body| {
            list(body)[3]["content"] = json!("[{\"type\":\"text\",\"text\":\"r1\"}]")
        }),
        ("a result is the user's text", clause::GATE_MESSAGES, |body| {
            list(body)[3] = json!({"role": "user", "content": "r1"})
        }),
        ("an id is empty", clause::GATE_IDS, |body| list(body)[2]["tool_calls"][0]["id"] = json!("")),
        ("arguments are written twice", clause::GATE_CALLS, |body| {
            list(body)[2]["tool_calls"][0]["function"]["arguments"] = json!("\"{\\\"n\\\":1}\"")
        }),
        ("an empty text is replaced", clause::GATE_INVENTED, |body| {
            list(body).push(json!({"role": "assistant", "content": "[empty]"}))
        }),
        ("the model's text is the user's", clause::GATE_MESSAGES, |body| {
            list(body)[2]["content"] = Value::Null;
            list(body).push(json!({"role": "user", "content": "I look."}));
        }),
    ];
    for (name, clause, fault) in cases {
        let arrived = changed(&right, fault);
        assert_eq!(of_request(ANTHROPIC, &sent, CHAT, &arrived), [clause], "{name}: {arrived}");
    }
}

#[test]
fn ids_stay_as_they_are_mapped_in_every_request() {
    let rounds = |id: &'static str| vec![("", vec![(id, "look", json!({}))], vec!["ok"])];
    let mut wire = Wire::new(CHAT, ANTHROPIC, json!([{"content": "Done"}, {"content": "Done"}]));
    wire.pass(&body(CHAT, &rounds("c.1")), &body(ANTHROPIC, &rounds("c_1")));
    wire.pass(&body(CHAT, &rounds("c.1")), &body(ANTHROPIC, &rounds("c-1")));
    assert_eq!(wire.clauses(), [clause::GATE_IDS]);
    // Two that differ become equal, and the second call is dropped.
    let two = vec![("", vec![("c.1", "look", json!({"n": 1})), ("c_1", "look", json!({"n": 2}))], vec!["r1", "r2"])];
    let one = vec![("", vec![("c_1", "look", json!({"n": 1}))], vec!["r1"])];
    assert_eq!(of_request(CHAT, &body(CHAT, &two), ANTHROPIC, &body(ANTHROPIC, &one)), [clause::GATE_IDS]);
    let both = vec![("", vec![("c_1", "look", json!({"n": 1})), ("c_1", "look", json!({"n": 2}))], vec!["r1", "r2"])];
    assert_eq!(of_request(CHAT, &body(CHAT, &two), ANTHROPIC, &body(ANTHROPIC, &both)), [clause::GATE_IDS]);
}

#[test]
fn integers_beyond_the_doubles_are_a_matter_of_their_own() {
    let rounds = |number: u64| vec![("", vec![("a", "look", json!({"n": number}))], vec!["ok"])];
    let [exact, round] = [9_007_199_254_740_993, 9_007_199_254_740_992].map(rounds);
    for (client, api) in [(CHAT, ANTHROPIC), (ANTHROPIC, CHAT), (RESPONSES, RESPONSES)] {
        assert_eq!(of_request(client, &body(client, &exact), api, &body(api, &round)), [clause::GATE_CALLS_EXACT]);
    }
}

#[test]
fn images_are_images_with_their_bytes() {
    let data = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ";
    let url = |data: &str| json!({"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{data}")}});
    let image =
        |data: &str| json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}});
    let of_user = |part: Value| {
        changed(&body(CHAT, &[]), |body| list(body)[1]["content"] = json!([{"type": "text", "text": "Look"}, part]))
    };
    let theirs = |part: Value| {
        changed(&body(ANTHROPIC, &[]), |body| {
            list(body)[0]["content"] = json!([{"type": "text", "text": "Look"}, part])
        })
    };
    let sent = of_user(url(data));
    assert_eq!(of_request(CHAT, &sent, ANTHROPIC, &theirs(image(data))), [""; 0]);
    for (part, name) in [
        (json!({"type": "text", "text": "[image]"}), "a text stands for it"),
        (json!({"type": "text", "text": format!("data:image/png;base64,{data}")}), "its base64 is a text"),
        (image("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAAAAAA"), "it has other bytes"),
    ] {
        assert_eq!(of_request(CHAT, &sent, ANTHROPIC, &theirs(part)), [clause::GATE_MEDIA], "{name}");
    }
    let pair = |one: &Value, two: &Value, role: fn(Value) -> Value| [role(one.clone()), role(two.clone())];
    let (other, of_message) =
        ("iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAYAAAB", |part: Value| json!({"role": "user", "content": [part]}));
    let two = |api, parts: [Value; 2]| changed(&body(api, &[]), |body| list(body).extend(parts));
    let sent = two(CHAT, pair(&url(data), &url(other), of_message));
    assert_eq!(
        of_request(CHAT, &sent, ANTHROPIC, &two(ANTHROPIC, pair(&image(data), &image(other), of_message))),
        [""; 0]
    );
    assert_eq!(
        of_request(CHAT, &sent, ANTHROPIC, &two(ANTHROPIC, pair(&image(other), &image(data), of_message))),
        [clause::GATE_MEDIA]
    );
    // In a result, on the way to an API whose results have none.
    let sent = changed(&body(ANTHROPIC, &looked()), |body| {
        list(body)[2]["content"][1]["content"] = json!([{"type": "text", "text": "r2"}, image(data)])
    });
    let right =
        changed(&body(CHAT, &looked()), |body| list(body).push(json!({"role": "user", "content": [url(data)]})));
    assert_eq!(of_request(ANTHROPIC, &sent, CHAT, &right), [""; 0]);
    let wrong: [fn(&mut Value); 3] = [
        |body| drop(list(body).pop()),
        |body| {
            let last = list(body).pop().expect("a message");
            list(body).insert(1, last);
        },
        |body| {
            let last = list(body).last().cloned().expect("a message");
            list(body).push(last);
        },
    ];
    for fault in wrong {
        let arrived = changed(&right, fault);
        assert_eq!(of_request(ANTHROPIC, &sent, CHAT, &arrived), [clause::GATE_MEDIA], "{arrived}");
    }
    // A result that was an image alone may say where it went.
    let alone = changed(&sent, |body| list(body)[2]["content"][1]["content"] = json!([image(data)]));
    for (text, expected) in [("", None), ("[An image: see below]", None), ("[]", Some(clause::GATE_RESULT))] {
        let arrived = changed(&right, |body| {
            let result = list(body).iter_mut().find(|message| message["content"] == "r2").expect("a result");
            result["content"] = text.into();
        });
        let found = of_request(ANTHROPIC, &alone, CHAT, &arrived);
        assert_eq!(found, expected.into_iter().collect::<Vec<_>>(), "{text}");
    }
}

#[test]
fn thinking_comes_back_as_it_was() {
    let thought = |text: &str, signature: &str| json!({"type": "thinking", "thinking": text, "signature": signature});
    let with = |blocks: Vec<Value>| {
        changed(&body(ANTHROPIC, &looked()), |body| {
            let content = list(body)[1]["content"].as_array_mut().expect("blocks");
            content.splice(0..0, blocks);
        })
    };
    let redacted = json!({"type": "redacted_thinking", "data": "x"});
    let sent = with(vec![thought("Hm", "s1"), redacted.clone()]);
    assert_eq!(of_request(ANTHROPIC, &sent, ANTHROPIC, &sent), [""; 0]);
    for arrived in [
        with(vec![]),
        with(vec![thought("Hm", "s1")]),
        with(vec![thought("Hm", "s2"), redacted.clone()]),
        with(vec![thought("Hm!", "s1"), redacted.clone()]),
        with(vec![redacted.clone(), thought("Hm", "s1")]),
    ] {
        assert_eq!(of_request(ANTHROPIC, &sent, ANTHROPIC, &arrived), [clause::GATE_OPAQUE], "{arrived}");
    }
    // From another API it is left out; without a signature it never comes.
    let chat = changed(&body(CHAT, &looked()), |body| list(body)[2]["reasoning_content"] = json!("Hm"));
    assert_eq!(of_request(CHAT, &chat, ANTHROPIC, &body(ANTHROPIC, &looked())), [""; 0]);
    assert_eq!(of_request(CHAT, &chat, ANTHROPIC, &with(vec![thought("Hm", "")])), [clause::GATE_OPAQUE]);
}

#[test]
fn what_arrives_breaks_no_rule_that_the_client_kept() {
    let sent = changed(&body(CHAT, &looked()), |body| {
        list(body)[1]["content"] = json!([{"type": "text", "text": "Go"}, {"type": "text", "text": ""}])
    });
    let right = body(ANTHROPIC, &looked());
    assert_eq!(of_request(CHAT, &sent, ANTHROPIC, &right), [""; 0]);
    let empty = changed(&right, |body| {
        list(body)[0]["content"] = json!([{"type": "text", "text": "Go"}, {"type": "text", "text": ""}])
    });
    assert_eq!(of_request(CHAT, &sent, ANTHROPIC, &empty), [clause::GATE_VALID]);
    let unlimited = changed(&sent, |body| body["max_completion_tokens"] = Value::Null);
    let limitless = changed(&right, |body| body["max_tokens"] = Value::Null);
    assert_eq!(of_request(CHAT, &unlimited, ANTHROPIC, &limitless), [clause::GATE_VALID]);
    // Whoever sends what its own API refuses is told so by the provider.
    let orphan = |api| {
        changed(&body(api, &looked()), |body| {
            let at = if api == CHAT { 2 } else { 1 };
            drop(list(body).remove(at));
        })
    };
    assert_eq!(of_request(CHAT, &orphan(CHAT), ANTHROPIC, &orphan(ANTHROPIC)), [""; 0]);
}

#[test]
fn a_fault_is_told_once_and_in_its_own_request() {
    let rounds = [looked(), vec![("Well.", vec![], vec![])]].concat();
    let fault = |body: Value| changed(&body, |body| list(body)[2]["content"][0]["content"] = json!("R1"));
    let mut wire = Wire::new(CHAT, ANTHROPIC, json!([{"content": "Well."}, {"content": "Done"}]));
    wire.pass(&body(CHAT, &looked()), &fault(body(ANTHROPIC, &looked())));
    wire.pass(&body(CHAT, &rounds), &fault(body(ANTHROPIC, &rounds)));
    let found = wire.found();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].clause, found[0].exchange, found[0].attempt), (clause::GATE_RESULT, 0, Some(0)));
    assert_eq!(
        found[0].what,
        "request 1: the result of the call `call_a` (messages[3]) was `r1`, and arrives (messages[2].content[0]) as `R1`"
    );
    let sides = found[0].sides.as_ref().expect("both bodies");
    assert!(sides.before.starts_with("messages[3]: {") && sides.behind.contains(r#""content":"R1""#), "{sides:?}");
    assert!(sides.curl.starts_with("curl -sS \"$GATEWAY/v1/chat/completions\"") && !sides.curl.contains("secret"));
}

#[test]
fn long_histories_and_texts_show_where_they_differ() {
    let texts: Vec<String> = (0..400).map(|number| format!("number {number} ") + &"é".repeat(500)).collect();
    let rounds: Vec<Round<'_>> = texts.iter().map(|text| (&**text, Vec::new(), Vec::new())).collect();
    let (sent, right) = (body(CHAT, &rounds), body(RESPONSES, &rounds));
    assert_eq!(of_request(CHAT, &sent, RESPONSES, &right), [""; 0]);
    let arrived = changed(&right, |body| {
        let text = &mut list(body)[401]["content"][0]["text"];
        *text = text.as_str().expect("a text").replacen("ééé", "éeé", 50).into();
    });
    let found = Wire::new(CHAT, RESPONSES, json!([{"content": "Done"}])).pass(&sent, &arrived).found();
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].what.len() < 400 && found[0].what.contains('e'), "{}", found[0].what);
}
