//! The list of models, in the form of either provider.

use crate::exchange::Reaction;
use crate::http::Head;
use serde::Serialize;
use threadspec::oracle::Api;
use threadspec_apis::{ApiError, rfc3339};

/// When every model was made, in seconds since 1970.
const MADE: u64 = 1_750_000_000;

#[derive(Serialize)]
struct OpenAiModel<'a> {
    id: &'a str,
    object: &'static str,
    created: u64,
    owned_by: &'static str,
}

#[derive(Serialize)]
struct OpenAiModels<'a> {
    object: &'static str,
    data: Vec<OpenAiModel<'a>>,
}

#[derive(Serialize)]
struct AnthropicModel<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    id: &'a str,
    display_name: &'a str,
    created_at: String,
}

#[derive(Serialize)]
struct AnthropicModels<'a> {
    data: Vec<AnthropicModel<'a>>,
    has_more: bool,
    first_id: Option<&'a str>,
    last_id: Option<&'a str>,
}

/// The model that a run has, or the usual one of the API.
pub fn usual_model(api: Api) -> &'static str {
    if api == Api::Anthropic { "claude-sonnet-5" } else { "gpt-4.1" }
}

/// Answers who asks for all models, or for one.
pub(crate) fn models(head: &Head, model: &str, wanted: Option<&str>) -> Reaction {
    let text = match (head.api, wanted) {
        (api, Some(wanted)) if wanted != model => return head.error(&ApiError::unknown_model(api, wanted)),
        (Api::Anthropic, Some(_)) => serde_json::to_string(&of_anthropic(model)),
        (Api::Anthropic, None) => serde_json::to_string(&AnthropicModels {
            data: vec![of_anthropic(model)],
            has_more: false,
            first_id: Some(model),
            last_id: Some(model),
        }),
        (_, Some(_)) => serde_json::to_string(&of_open_ai(model)),
        (_, None) => serde_json::to_string(&OpenAiModels { object: "list", data: vec![of_open_ai(model)] }),
    };
    // Texts and numbers are always written.
    Reaction::Answer(head.json(200, text.unwrap_or_default()))
}

fn of_open_ai(id: &str) -> OpenAiModel<'_> {
    OpenAiModel { id, object: "model", created: MADE, owned_by: "threadspec" }
}

fn of_anthropic(id: &str) -> AnthropicModel<'_> {
    AnthropicModel { kind: "model", id, display_name: id, created_at: rfc3339(MADE) }
}
