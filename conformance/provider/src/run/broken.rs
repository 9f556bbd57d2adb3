//! Errors inside a stream that began well.

use serde_json::{Value, json};
use threadspec::oracle::Api;
use threadspec_apis::{ApiError, ApiRequest, EventPart, ModelAnswer, StreamEvent, json_text};

/// The event of an error behind so many others. `failed` makes it the end of a response (openai-responses).
pub(super) fn stream_error(answer: &ModelAnswer, request: &ApiRequest, number: usize, failed: bool) -> StreamEvent {
    let api = request.api;
    let error = ApiError::in_stream(api);
    let (name, data) = match api {
        Api::OpenAiChat => (None, error.body(api, "")),
        Api::Anthropic => {
            let error = json!({"type": error.kind, "message": error.message});
            (Some("error"), json!({"type": "error", "error": error}))
        }
        Api::OpenAiResponses if failed => {
            let mut response = answer.plain(request);
            response["status"] = "failed".into();
            response["output"] = json!([]);
            response["usage"] = Value::Null;
            response["error"] = json!({"code": error.code, "message": error.message});
            let data = json!({"type": "response.failed", "response": response, "sequence_number": number});
            (Some("response.failed"), data)
        }
        Api::OpenAiResponses => {
            let data = json!({
                "type": "error",
                "code": error.code,
                "message": error.message,
                "param": null,
                "sequence_number": number,
            });
            (Some("error"), data)
        }
    };
    StreamEvent { name, data: json_text(&data, true), part: EventPart::Stop, ends_call: false }
}
