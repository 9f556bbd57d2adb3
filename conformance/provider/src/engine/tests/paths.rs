//! Paths, methods and keys.

use super::*;
use crate::record::StrayReason;

const OF_RUN: (&str, &str) = ("x-api-key", KEY);
const VERSION: (&str, &str) = ("anthropic-version", "2026-10-21");

fn answered(reaction: Reaction) -> TakenAnswer {
    let Reaction::Answer(answer) = reaction else { panic!("no answer: {reaction:?}") };
    TakenAnswer { answer }
}

fn get(api: Api, method: &str, target: &str, headers: &[(&str, &str)]) -> TakenAnswer {
    let mut wire = Wire::of(api, json!([{"content": "Done"}]));
    let (_, reaction) = wire.send(method, target, headers, &body(api, false).to_string());
    answered(reaction)
}

#[test]
fn every_path_of_an_api_answers() {
    for (api, path) in
        [(Api::OpenAiChat, "chat/completions"), (Api::OpenAiResponses, "responses"), (Api::Anthropic, "messages")]
    {
        for before in ["/", "/v1/", "/v1/v1/", "//v1//"] {
            for behind in ["", "/", "?beta=true"] {
                let target = format!("{before}{path}{behind}");
                assert_eq!(get(api, "POST", &target, &[OF_RUN, VERSION]).answer.status, 200, "{target}");
            }
        }
    }
}

#[test]
fn the_root_answers_whoever_asks() {
    for method in ["GET", "HEAD"] {
        let answered = get(Api::Anthropic, method, "/", &[]);
        assert_eq!((answered.answer.status, answered.text().as_str()), (200, ""));
    }
}

#[test]
fn tokens_are_counted() {
    let counted = get(Api::Anthropic, "POST", "/v1/messages/count_tokens?beta=true", &[OF_RUN, VERSION]).json();
    assert!(
        counted["input_tokens"].as_u64().is_some_and(|count| count >= 8)
            && counted.as_object().is_some_and(|it| it.len() == 1)
    );
    let counted = get(Api::OpenAiResponses, "POST", "/responses/input_tokens", &[OF_RUN]).json();
    assert_eq!(counted["object"], "response.input_tokens");
    assert!(counted["input_tokens"].as_u64().is_some_and(|count| count >= 8));
}

#[test]
fn models_are_listed_in_the_form_of_either_provider() {
    let list = get(Api::OpenAiChat, "GET", "/v1/models", &[OF_RUN]).json();
    assert_eq!(
        (&list["object"], &list["data"][0]["id"], &list["data"][0]["object"]),
        (&json!("list"), &json!("gpt-4.1"), &json!("model"))
    );
    let list = get(Api::Anthropic, "GET", "/v1/models", &[OF_RUN, VERSION]).json();
    assert_eq!(
        list,
        json!({"data": [{"type": "model", "id": "claude-sonnet-5", "display_name": "claude-sonnet-5", "created_at": "2025-06-15T15:06:40Z"}],
            "has_more": false, "first_id": "claude-sonnet-5", "last_id": "claude-sonnet-5"})
    );
    assert_eq!(get(Api::OpenAiChat, "GET", "/models/gpt-4.1", &[OF_RUN]).json()["id"], "gpt-4.1");
    let unknown = get(Api::OpenAiChat, "GET", "/v1/models/gpt-2", &[OF_RUN]);
    assert_eq!((unknown.answer.status, &unknown.json()["error"]["code"]), (404, &json!("model_not_found")));
    let unknown = get(Api::Anthropic, "GET", "/v1/models/gpt-2", &[OF_RUN, VERSION]);
    assert_eq!(unknown.json()["error"], json!({"type": "not_found_error", "message": "model: gpt-2"}));
}

#[test]
fn what_is_not_there_is_said_in_the_words_of_the_api() {
    for (api, method, target, headers, status, message) in [
        (Api::OpenAiChat, "POST", "/v1/x?y", &[OF_RUN][..], 404, "Invalid URL (POST /v1/x)"),
        (Api::OpenAiChat, "GET", "/v1/chat/completions", &[OF_RUN], 405, "Invalid URL (GET /v1/chat/completions)"),
        (Api::Anthropic, "POST", "/v1/x", &[OF_RUN, VERSION], 404, "Not Found"),
        (Api::Anthropic, "PUT", "/v1/messages", &[OF_RUN], 405, "Method Not Allowed"),
        // Another API than the run's, in the words of that of the path.
        (Api::OpenAiChat, "POST", "/v1/messages", &[OF_RUN], 404, "Not Found"),
        (Api::Anthropic, "POST", "/v1/responses", &[OF_RUN, VERSION], 404, "Invalid URL (POST /v1/responses)"),
    ] {
        let answered = get(api, method, target, headers);
        assert_eq!(
            (answered.answer.status, &answered.json()["error"]["message"]),
            (status, &json!(message)),
            "{target}"
        );
    }
}

#[test]
fn either_header_has_the_key() {
    let bearer = format!("Bearer {KEY}");
    for headers in [
        &[("x-api-key", KEY)][..],
        &[("authorization", &bearer)],
        &[("authorization", "Bearer other"), ("x-api-key", KEY)],
        &[("authorization", &bearer), ("x-api-key", "other")],
    ] {
        let headers: Vec<(&str, &str)> = headers.iter().copied().chain([VERSION]).collect();
        for api in Api::ALL {
            assert_eq!(get(api, "POST", &path(api, &Value::Null), &headers).answer.status, 200, "{headers:?}");
        }
    }
}

#[test]
fn a_key_that_is_none_is_refused_and_counts_against_the_only_run() {
    let mut wire = Wire::of(Api::OpenAiChat, json!([{"content": "Done"}]));
    let text = body(Api::OpenAiChat, false).to_string();
    let mut refused = |headers: &[(&str, &str)], path: &str| {
        let (_, reaction) = wire.send("POST", path, headers, &text);
        let answered = answered(reaction);
        (answered.answer.status, answered.json()["error"].take())
    };
    let wrong = "sk-threadspec-wrong-cdef";
    let openai = refused(&[("authorization", "Bearer sk-threadspec-wrong-cdef")], "/v1/chat/completions");
    assert_eq!(
        openai,
        (
            401,
            json!({"message": "Incorrect API key provided: sk-thre****cdef. You can find your API key at https://platform.openai.com/account/api-keys.",
            "type": "invalid_request_error", "param": null, "code": "invalid_api_key"})
        )
    );
    let (_, none) = refused(&[], "/v1/chat/completions?key=secret");
    assert!(
        none["message"].as_str().is_some_and(|text| text.starts_with("You didn't provide an API key. "))
            && none["code"].is_null()
    );
    assert_eq!(
        refused(&[("x-api-key", wrong)], "/v1/messages").1,
        json!({"type": "authentication_error", "message": "invalid x-api-key"})
    );
    assert_eq!(refused(&[], "/v1/messages").1["message"], "x-api-key header is required");
    let record = wire.over().record;
    let reasons: Vec<StrayReason> = record.strays.iter().map(|stray| stray.why).collect();
    assert_eq!(reasons, [StrayReason::UnknownKey, StrayReason::NoKey, StrayReason::UnknownKey, StrayReason::NoKey]);
    let told = format!("{:?} {}", record, serde_json::to_string(&record).expect("JSON"));
    assert!(!told.contains(KEY) && !told.contains(wrong) && !told.contains("secret"), "{told}");
}

#[test]
fn what_comes_after_the_end_is_late() {
    let mut wire = Wire::of(Api::OpenAiChat, json!([{"content": "Done"}]));
    wire.engine.end(wire.now, KEY).expect("the run is known");
    assert_eq!(wire.ask(&body(Api::OpenAiChat, false)).answer.status, 401);
    let strays = wire.engine.take_strays();
    assert_eq!((strays.len(), strays[0].why), (1, StrayReason::Late));
    // printf %s KEY | sha256sum
    assert_eq!(strays[0].key.as_deref(), Some("sha256:abe37559"));
    assert!(wire.engine.take_strays().is_empty());
    // With several runs under way nobody knows whose it is.
    for key in ["a", "b"] {
        wire.engine.begin(wire.now, key, RunPlan::of_turns(Api::OpenAiChat, Vec::new()));
    }
    wire.send("POST", "/v1/chat/completions", &[("x-api-key", "c")], "{}");
    assert_eq!(wire.engine.take_strays()[0].why, StrayReason::UnknownKey);
}

#[test]
fn what_comes_from_an_agent_that_was_ended_is_nobodys_fault() {
    let mut wire = Wire::of(Api::OpenAiChat, json!([{"content": "Done"}]));
    wire.engine.abandon(KEY);
    assert!(wire.engine.record(KEY).is_none());
    // It was on its way when its agent ended.
    assert_eq!(wire.ask(&body(Api::OpenAiChat, false)).answer.status, 401);
    assert!(wire.engine.take_strays().is_empty());
}
