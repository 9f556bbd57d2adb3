//! Tests the changes that must not happen to an answer on its way to the client.

use super::*;
use crate::compose;
use threadspec_golden::clause;
use threadspec_judge::protocol::Reply;

fn look() -> Value {
    json!([{"content": "I look.", "tool_calls": [{"id": "call_a", "name": "look", "args": {"n": 1}}, {"id": "call_b", "name": "look", "args": {"n": 2}}]}])
}

fn ask(api: Api, stream: bool) -> Value {
    changed(&body(api, &[]), |body| {
        if stream {
            body["stream"] = true.into();
        }
        body["tools"] = match api {
            Api::OpenAiChat => {
                json!([{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}])
            }
            Api::OpenAiResponses => {
                json!([{"type": "function", "name": "look", "parameters": {"type": "object"}, "strict": false}])
            }
            Api::Anthropic | Api::Gemini => json!([{"name": "look", "input_schema": {"type": "object"}}]),
        };
    })
}

/// Returns the findings where the answer of a faultless gateway is changed.
fn of_answer(
    client: Api,
    api: Api,
    stream: bool,
    turns: Value,
    change: impl FnOnce(ClientResponse) -> Option<ClientResponse>,
) -> Vec<&'static str> {
    Wire::new(client, api, turns).pass_with(&ask(client, stream), &ask(api, stream), change).clauses()
}

fn plain(client: Api, api: Api, turns: Value, change: fn(&mut Value)) -> Vec<&'static str> {
    of_answer(client, api, false, turns, |response| with_json(response, change))
}

/// An answer that the gateway has read, changed and written again.
fn rewritten(client: Api, api: Api, stream: bool, change: fn(&mut ModelAnswer)) -> Vec<&'static str> {
    of_answer(client, api, stream, look(), |response| {
        let request = ApiRequest::read(client, &ask(client, stream));
        let mut answer = response.read(client).expect("an answer").answer;
        change(&mut answer);
        Some(ClientResponse { pieces: vec![written(&answer, &request)], ..response })
    })
}

#[test]
fn an_answer_that_comes_through_is_right_in_every_pair_and_mode() {
    let turns = [
        look(),
        json!([{"content": " Spaces \n"}]),
        json!([{"refusal": "I cannot."}]),
        json!([{"content": "half", "stop": "length"}]),
        json!([{"content": "", "tool_calls": [{"name": "look", "args": {}}]}]),
        json!([{"content": "é😀\u{0}", "thinking": [{"text": "Hm"}]}]),
        json!([{"content": ""}]),
        json!([{"tool_calls": [{"id": "", "name": "look", "args": {"n": 1}}]}]),
    ];
    for (client, api) in SPOKEN.into_iter().flat_map(|client| SPOKEN.map(|api| (client, api))) {
        for (turn, stream) in turns.iter().flat_map(|turn| [(turn, false), (turn, true)]) {
            assert_eq!(of_answer(client, api, stream, turn.clone(), Some), [""; 0], "{client} {api} {stream} {turn}");
        }
    }
}

#[test]
fn each_fault_of_an_answer_has_its_name_in_both_modes() {
    let cases: [(&str, &str, fn(&mut ModelAnswer)); 14] = [
        ("the last call is lost", clause::GATE_SAID, |answer| drop(answer.calls.pop())),
        ("only the last call is left", clause::GATE_SAID, |answer| drop(answer.calls.remove(0))),
        ("the calls change places", clause::GATE_SAID, |answer| answer.calls.swap(0, 1)),
        ("arguments are lost", clause::GATE_SAID, |answer| answer.calls[0].arguments = "{}".into()),
        ("a name is changed", clause::GATE_SAID, |answer| answer.calls[1].name = "proxy_look".into()),
        ("the text is lost", clause::GATE_SAID, |answer| answer.text = String::new()),
        ("the text is cut", clause::GATE_SAID, |answer| answer.text = "I lo".into()),
        ("a call comes twice", clause::GATE_SAID, |answer| answer.calls.push(answer.calls[1].clone())),
        ("ids become equal", clause::GATE_IDS, |answer| answer.calls[1].id = answer.calls[0].id.clone()),
        ("a call is made up", clause::GATE_INVENTED, |answer| {
            answer.calls.push(answer.calls[1].clone());
            answer.calls[2].name = "search".into();
        }),
        ("a text is added", clause::GATE_INVENTED, |answer| answer.text += "\n\n(by your gateway)"),
        ("the limit is told", clause::GATE_STOP, |answer| answer.finish = threadspec_apis::Finish::Length),
        ("the calls are no reason", clause::GATE_STOP_CALLS, |answer| answer.finish = threadspec_apis::Finish::End),
        ("a number is rounded", clause::GATE_SAID, |answer| answer.calls[0].arguments = "{\"n\":1.5}".into()),
    ];
    for (name, clause, fault) in cases {
        for (client, api) in [(CHAT, CHAT), (CHAT, ANTHROPIC), (ANTHROPIC, CHAT)] {
            for stream in [false, true] {
                assert_eq!(rewritten(client, api, stream, fault), [clause], "{name}: {client} {api} {stream}");
            }
        }
    }
}

#[test]
fn blocks_that_nobody_said_are_made_up() {
    for (client, fault) in [
        (
            ANTHROPIC,
            (|body| {
                body["content"]
                    .as_array_mut()
                    .expect("blocks")
                    .push(json!({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}))
            }) as fn(&mut Value),
        ),
        (CHAT, |body| body["choices"][0]["message"]["annotations"] = json!([{"type": "url_citation"}])),
        (RESPONSES, |body| {
            body["output"]
                .as_array_mut()
                .expect("items")
                .push(json!({"type": "web_search_call", "id": "ws_1", "status": "completed"}))
        }),
    ] {
        assert_eq!(plain(client, ANTHROPIC, look(), fault), [clause::GATE_INVENTED], "{client}");
    }
    let in_stream = of_answer(ANTHROPIC, CHAT, true, json!([{"content": "Hi"}]), |response| {
        with_events(response, |events| {
            let at = events.iter().position(|event| event.data.contains("message_delta")).expect("an end");
            let block = |kind: &str, data: Value| SseEvent { name: Some(kind.into()), data: data.to_string() };
            events.insert(at, block("content_block_stop", json!({"type": "content_block_stop", "index": 1})));
            events.insert(at, block("content_block_start", json!({"type": "content_block_start", "index": 1, "content_block": {"type": "web_search_tool_result", "tool_use_id": "s", "content": []}})));
        })
    });
    assert_eq!(in_stream, [clause::GATE_INVENTED]);
}

#[test]
fn a_limit_is_told_as_one() {
    let cut = || json!([{"content": "half", "stop": "length"}]);
    assert_eq!(
        plain(CHAT, ANTHROPIC, cut(), |body| body["choices"][0]["finish_reason"] = json!("stop")),
        [clause::GATE_STOP]
    );
    assert_eq!(plain(ANTHROPIC, CHAT, cut(), |body| body["stop_reason"] = json!("end_turn")), [clause::GATE_STOP]);
    let no_reason = |response| {
        with_events(response, |events| events.retain(|event| !event.data.contains("\"finish_reason\":\"length\"")))
    };
    assert_eq!(of_answer(CHAT, RESPONSES, true, cut(), no_reason), [clause::GATE_STOP]);
}

#[test]
fn a_stream_is_a_stream_of_the_api_of_the_client() {
    let faults: [(&str, fn(ClientResponse) -> Option<ClientResponse>); 4] = [
        ("one index for all blocks", |response| {
            with_events(response, |events| {
                events.iter_mut().for_each(|event| event.data = event.data.replace("\"index\":2", "\"index\":1"))
            })
        }),
        ("no end", |response| with_events(response, |events| drop(events.pop()))),
        ("a keep-alive as data", |response| {
            with_events(response, |events| events.insert(1, SseEvent { name: None, data: ": keep-alive".into() }))
        }),
        ("no names", |response| with_events(response, |events| events.iter_mut().for_each(|event| event.name = None))),
    ];
    for (name, fault) in faults {
        assert_eq!(of_answer(ANTHROPIC, CHAT, true, look(), fault), [clause::GATE_STREAM], "{name}");
    }
    let sent = ask(CHAT, true);
    let plain = Wire::new(CHAT, ANTHROPIC, look())
        .exchange(&sent, |wire| {
            let response = wire.ask(&ask(ANTHROPIC, false))?;
            Some(translated(&response, ANTHROPIC, &ApiRequest::read(CHAT, &ask(CHAT, false))))
        })
        .clauses();
    assert_eq!(plain, [clause::GATE_STREAM]);
}

#[test]
fn a_client_misses_the_stream_that_its_gateway_asked_nobody_for() {
    let sent = ask(CHAT, true);
    for is_streamed in [false, true] {
        let mut wire = Wire::new(CHAT, ANTHROPIC, look());
        wire.exchange(&sent, |wire| {
            let response = wire.ask(&ask(ANTHROPIC, false))?;
            Some(translated(&response, ANTHROPIC, &ApiRequest::read(CHAT, &ask(CHAT, is_streamed))))
        });
        let ended = wire.engine.end(wire.now, KEY).expect("the run is known");
        let plan = RunPlan { stream: true, ..ended.plan };
        let run = GatewayRun { client: CHAT, plan: &plan, record: &ended.record, exchanges: &wire.exchanges };
        let Reply::Ok(output) = compose(&run, "plain", Reply::Ok(json!({"messages": []}))) else { panic!("an output") };
        // Whoever makes the stream himself plays the case another way.
        assert_eq!(output["wire"].get("unsupported").is_some(), is_streamed, "{output}");
    }
}

#[test]
fn what_was_thought_is_shown_and_sealed() {
    let turns = || json!([{"content": "Done", "thinking": [{"text": "Hm", "signature": "s1"}, {"redacted": "r1"}]}]);
    let hidden =
        |body: &mut Value| body["content"].as_array_mut().expect("blocks").retain(|block| block["type"] == "text");
    assert_eq!(plain(ANTHROPIC, ANTHROPIC, turns(), hidden), [clause::GATE_OPAQUE]);
    assert_eq!(
        plain(ANTHROPIC, ANTHROPIC, turns(), |body| body["content"][0]["signature"] = json!("")),
        [clause::GATE_OPAQUE]
    );
    assert_eq!(
        plain(CHAT, ANTHROPIC, turns(), |body| body["choices"][0]["message"]["reasoning_content"] = Value::Null),
        [clause::GATE_THINKING]
    );
    let unsealed =
        |response| with_events(response, |events| events.retain(|event| !event.data.contains("signature_delta")));
    assert_eq!(of_answer(ANTHROPIC, ANTHROPIC, true, turns(), unsealed), [clause::GATE_OPAQUE]);
}

#[test]
fn an_answer_that_is_served_is_heard() {
    for stream in [false, true] {
        assert_eq!(
            of_answer(CHAT, ANTHROPIC, stream, look(), |_| own(
                500,
                json!({"error": {"message": "Something went wrong"}})
            )),
            [clause::GATE_STATUS]
        );
        assert_eq!(of_answer(CHAT, ANTHROPIC, stream, look(), |_| None), [clause::GATE_SAID]);
        let broken = |response: ClientResponse| Some(ClientResponse { is_whole: false, ..response });
        assert_eq!(of_answer(CHAT, ANTHROPIC, stream, look(), broken), [clause::GATE_SAID]);
    }
    let garbage = |response: ClientResponse| Some(ClientResponse { pieces: vec![b"<html>".to_vec()], ..response });
    assert_eq!(of_answer(CHAT, ANTHROPIC, false, look(), garbage), [clause::GATE_SAID]);
}

#[test]
fn integers_beyond_the_doubles_come_exactly() {
    let turns = || json!([{"tool_calls": [{"id": "a", "name": "look", "args": {"n": 9_007_199_254_740_993_u64}}]}]);
    let fault = |body: &mut Value| {
        body["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"] = json!("{\"n\":9007199254740992}")
    };
    assert_eq!(plain(CHAT, ANTHROPIC, turns(), fault), [clause::GATE_CALLS_EXACT]);
}
