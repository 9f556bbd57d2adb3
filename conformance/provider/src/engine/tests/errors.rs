//! Requests that nobody could answer.

use super::*;
use crate::http::Unreadable;
use crate::record::RequestProblem;

fn of_model(api: Api) -> Wire {
    let mut plan = RunPlan::of_turns(api, WireTurn::read_all(r#"[{"content": "Done"}]"#, "model").expect("turns"));
    plan.model = body(api, false)["model"].as_str().map(str::to_owned);
    Wire::of_plan(plan)
}

/// The status, and the error as it is in the body.
fn refused(api: Api, text: &str) -> (u16, Value, Option<RequestProblem>) {
    let mut wire = of_model(api);
    let path = path(api, &serde_json::from_str(text).unwrap_or_default());
    let headers = [("x-api-key", KEY), ("anthropic-version", "2023-06-01")];
    let (id, reaction) = wire.send("POST", &path, &headers, text);
    let Reaction::Answer(answer) = reaction else { panic!("no answer: {reaction:?}") };
    wire.end(id, true);
    let error = TakenAnswer { answer: answer.clone() }.json()["error"].take();
    (answer.status, error, wire.over().record.attempts[0].problem.clone())
}

#[test]
fn members_that_the_api_requires_are_missed() {
    for (api, text, expected) in [
        (
            Api::OpenAiChat,
            r#"{"model": "gpt-4.1"}"#,
            json!({"message": "Missing required parameter: 'messages'.", "type": "invalid_request_error", "param": "messages", "code": "missing_required_parameter"}),
        ),
        (
            Api::OpenAiChat,
            r#"{"messages": []}"#,
            json!({"message": "you must provide a model parameter", "type": "invalid_request_error", "param": null, "code": null}),
        ),
        (
            Api::OpenAiResponses,
            r#"{"model": "gpt-4.1"}"#,
            json!({"message": "Missing required parameter: 'input'.", "type": "invalid_request_error", "param": "input", "code": "missing_required_parameter"}),
        ),
        (
            Api::Anthropic,
            r#"{"model": "claude-sonnet-5", "max_tokens": 9}"#,
            json!({"type": "invalid_request_error", "message": "messages: Field required"}),
        ),
        (
            Api::Gemini,
            r#"{"model": "gemini-2.5-pro"}"#,
            json!({"code": 400, "message": "* GenerateContentRequest.contents: contents is not specified\n", "status": "INVALID_ARGUMENT"}),
        ),
    ] {
        let (status, error, problem) = refused(api, text);
        assert_eq!((status, error), (400, expected), "{text}");
        assert!(matches!(problem, Some(RequestProblem::Lacks(_))));
    }
}

#[test]
fn what_is_no_json_is_not_parsed() {
    for text in ["", "{", "[]", "\"a\"", "{\"model\": \"gpt-4.1\",}", "{} {}"] {
        let (status, error, problem) = refused(Api::OpenAiChat, text);
        let message = error["message"].as_str().unwrap_or_default();
        assert!(message.starts_with("We could not parse the JSON body of your request. (HINT: "), "{text}: {message}");
        assert_eq!((status, &error["type"]), (400, &json!("invalid_request_error")));
        assert!(matches!(problem, Some(RequestProblem::NotJson(_))), "{text}");
        let (status, error, _) = refused(Api::Anthropic, text);
        assert!(
            status == 400
                && error["message"]
                    .as_str()
                    .is_some_and(|text| text.starts_with("The request body is not valid JSON: "))
        );
    }
    let mut wire = of_model(Api::OpenAiChat);
    let received = Received {
        method: "POST".into(),
        target: "/chat/completions".into(),
        headers: vec![("x-api-key".into(), KEY.into())],
        body: Ok(b"{\"model\": \"\xff\"}".to_vec()),
    };
    let (_, reaction) = wire.engine.receive(wire.now, received);
    assert!(matches!(reaction, Reaction::Answer(answer) if answer.status == 400));
    assert_eq!(wire.over().record.attempts[0].body, "{\"model\": \"\u{fffd}\"}");
}

#[test]
fn another_model_does_not_exist_but_a_retry_may_name_one() {
    for api in Api::ALL {
        let mut wrong = body(api, false);
        wrong["model"] = "m".into();
        let (status, error, problem) = refused(api, &wrong.to_string());
        let message = match api {
            Api::Anthropic => "model: m",
            Api::Gemini => "models/m is not found for API version v1beta, or is not supported for generateContent.",
            Api::OpenAiChat | Api::OpenAiResponses => "The model `m` does not exist or you do not have access to it.",
        };
        assert!(error["message"].as_str().is_some_and(|text| text.starts_with(message)), "{error}");
        assert_eq!((status, problem), (404, Some(RequestProblem::Model("m".into()))));
        let mut wire = of_model(api);
        let mut turn = WireTurn::read(r#"{"content": "Done", "attempts": [{"status": 529}]}"#).expect("a turn");
        turn.attempts.truncate(1);
        wire.engine.end(wire.now, KEY);
        let mut plan = RunPlan::of_turns(api, vec![turn]);
        plan.model = body(api, false)["model"].as_str().map(str::to_owned);
        wire.engine.begin(wire.now, KEY, plan);
        assert_eq!([wire.ask(&body(api, false)).answer.status, wire.ask(&wrong).answer.status], [529, 200]);
    }
}

#[test]
fn a_body_that_could_not_be_read_is_answered_in_the_form_of_the_api() {
    for (api, why, status, kind) in [
        (Api::Anthropic, Unreadable::TooLong(1), 413, "request_too_large"),
        (Api::OpenAiChat, Unreadable::TooLong(1), 413, "invalid_request_error"),
        (Api::OpenAiChat, Unreadable::Encoding("br".into()), 415, "invalid_request_error"),
        (Api::OpenAiChat, Unreadable::Stopped, 408, "invalid_request_error"),
    ] {
        let mut wire = of_model(api);
        let target = if api == Api::Anthropic { "/messages" } else { "/chat/completions" };
        let headers = vec![("x-api-key".to_owned(), KEY.to_owned())];
        let received = Received { method: "POST".into(), target: target.into(), headers, body: Err(why) };
        let (_, reaction) = wire.engine.receive(wire.now, received);
        let Reaction::Answer(answer) = reaction else { panic!("no answer: {reaction:?}") };
        assert_eq!((answer.status, &TakenAnswer { answer }.json()["error"]["type"]), (status, &json!(kind)));
        assert!(matches!(wire.over().record.attempts[0].problem, Some(RequestProblem::Unreadable(..))));
    }
    let mut wire = of_model(Api::OpenAiChat);
    let received =
        Received { method: "GET".into(), target: "/".into(), headers: Vec::new(), body: Err(Unreadable::ForeignHost) };
    let (_, reaction) = wire.engine.receive(wire.now, received);
    assert!(matches!(reaction, Reaction::Answer(answer) if answer.status == 403));
    let record = wire.over().record;
    assert!(record.attempts.is_empty() && record.strays.is_empty());
}
