//! The tables of statuses and errors (section 3 of the specification of the provider), row by row.

use super::*;

const CHAT: Api = Api::OpenAiChat;
const ANT: Api = Api::Anthropic;

#[test]
fn openai_errors_are_those_of_the_table() {
    for (error, status, kind, code, param, message) in [
        (
            ApiError::missing(CHAT, "messages"),
            400,
            "invalid_request_error",
            Some("missing_required_parameter"),
            Some("messages"),
            "Missing required parameter: 'messages'.",
        ),
        (
            ApiError::missing(CHAT, "model"),
            400,
            "invalid_request_error",
            None,
            None,
            "you must provide a model parameter",
        ),
        (
            ApiError::wrong_key(CHAT, Some("sk-threadspec-abcdefghijklmnopqrstcdef")),
            401,
            "invalid_request_error",
            Some("invalid_api_key"),
            None,
            "Incorrect API key provided: sk-thre****cdef. You can find your API key at https://platform.openai.com/account/api-keys.",
        ),
        (
            ApiError::unknown_model(CHAT, "m"),
            404,
            "invalid_request_error",
            Some("model_not_found"),
            None,
            "The model `m` does not exist or you do not have access to it.",
        ),
        (
            ApiError::unknown_path(CHAT, "POST", "/v1/x"),
            404,
            "invalid_request_error",
            None,
            None,
            "Invalid URL (POST /v1/x)",
        ),
        (
            ApiError::wrong_method(CHAT, "PUT", "/v1/responses"),
            405,
            "invalid_request_error",
            None,
            None,
            "Invalid URL (PUT /v1/responses)",
        ),
        (
            ApiError::server_error(CHAT),
            500,
            "server_error",
            None,
            None,
            "The server had an error while processing your request. Sorry about that!",
        ),
    ] {
        assert_eq!(
            (error.status, &*error.kind, error.code.as_deref(), error.param.as_deref(), &*error.message),
            (status, kind, code, param, message)
        );
    }
    let limited = ApiError::rate_limited(CHAT, "gpt-4.1");
    assert_eq!(
        (limited.status, &*limited.kind, limited.code.as_deref()),
        (429, "requests", Some("rate_limit_exceeded"))
    );
    assert!(limited.message.starts_with("Rate limit reached for gpt-4.1 in organization org-threadspec on requests per min (RPM): Limit 500, Used 500, Requested 1. Please try again in 50ms. Visit "));
    let overloaded = ApiError::overloaded(CHAT);
    assert_eq!((overloaded.status, &*overloaded.kind), (503, "server_error"));
    assert!(
        overloaded.message.starts_with("The server is currently overloaded with other requests. Sorry about that! ")
    );
    assert!(
        ApiError::not_json(CHAT, "why")
            .message
            .starts_with("We could not parse the JSON body of your request. (HINT: ")
    );
    assert!(ApiError::wrong_key(CHAT, None).message.starts_with("You didn't provide an API key. "));
}

#[test]
fn anthropic_errors_are_those_of_the_table() {
    for (error, status, kind, message) in [
        (ApiError::missing(ANT, "max_tokens"), 400, "invalid_request_error", "max_tokens: Field required"),
        (ApiError::not_json(ANT, "why"), 400, "invalid_request_error", "The request body is not valid JSON: why"),
        (ApiError::wrong_key(ANT, Some("k")), 401, "authentication_error", "invalid x-api-key"),
        (ApiError::wrong_key(ANT, None), 401, "authentication_error", "x-api-key header is required"),
        (ApiError::unknown_model(ANT, "m"), 404, "not_found_error", "model: m"),
        (ApiError::unknown_path(ANT, "POST", "/x"), 404, "not_found_error", "Not Found"),
        (ApiError::wrong_method(ANT, "GET", "/v1/messages"), 405, "invalid_request_error", "Method Not Allowed"),
        (ApiError::too_large(ANT), 413, "request_too_large", "Request exceeds the maximum size"),
        (
            ApiError::rate_limited(ANT, "m"),
            429,
            "rate_limit_error",
            "This request would exceed your account's rate limit. Please try again later.",
        ),
        (ApiError::server_error(ANT), 500, "api_error", "Internal server error"),
        (ApiError::overloaded(ANT), 529, "overloaded_error", "Overloaded"),
    ] {
        assert_eq!((error.status, &*error.kind, &*error.message), (status, kind, message));
    }
}

#[test]
fn bodies_are_written_and_read() {
    let error = ApiError::invalid("m").with_code("c").with_param("p");
    let body = error.body(CHAT, "req_1");
    assert_eq!(body.to_string(), r#"{"error":{"message":"m","type":"invalid_request_error","param":"p","code":"c"}}"#);
    assert_eq!(ApiError::read(400, &body), error);
    let bare = ApiError::server_error(CHAT);
    let bare = bare.body(CHAT, "req_1").to_string();
    assert!(bare.ends_with(r#""type":"server_error","param":null,"code":null}}"#), "{bare}");
    let overloaded = ApiError::overloaded(ANT);
    assert_eq!(ApiError::read(529, &overloaded.body(ANT, "req_1")), overloaded);
    for (body, message) in
        [(json!({"error": "m"}), "m"), (json!({"message": "m"}), "m"), (json!("x"), "x"), (json!(null), "")]
    {
        assert_eq!(ApiError::read(400, &body).message, message, "{body}");
    }
}

#[test]
fn a_status_has_its_error() {
    for api in Api::ALL {
        for status in [400, 401, 403, 404, 408, 409, 413, 429, 500, 502, 503, 529] {
            let error = ApiError::of_status(api, status, "m");
            assert_eq!((error.status, error.is_passing()), (status, matches!(status, 408 | 409 | 429 | 500..)));
        }
    }
    let waits = ApiError::rate_limited(ANT, "m").with_retry_after(2001).with_should_retry(false);
    let expected = [("retry-after", "3"), ("retry-after-ms", "2001"), ("x-should-retry", "false")];
    assert!(waits.headers.iter().map(|(name, value)| (*name, &**value)).eq(expected));
}
