//! Maps paths to their meaning.

use threadspec::oracle::Api;

/// The meaning of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    /// An answer of the model.
    Answer(Api),
    /// How many tokens a request has.
    Count(Api),
    /// All models, or one.
    Models(Option<String>),
    /// A stored response.
    Stored(String),
    /// A run of a session begins.
    Run(usize),
    /// The root, which is asked whether anybody is there.
    Root,
    /// Nothing.
    Nothing,
}

impl Route {
    /// The endpoint of a target: any number of `/v1` before it, empty segments, the query and the host do not matter.
    pub(crate) fn of(target: &str) -> Self {
        let path = path(target);
        let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
        let behind = segments.iter().take_while(|segment| **segment == "v1").count();
        match segments[behind..] {
            [] if behind == 0 => Self::Root,
            ["chat", "completions"] => Self::Answer(Api::OpenAiChat),
            ["responses"] => Self::Answer(Api::OpenAiResponses),
            ["messages"] => Self::Answer(Api::Anthropic),
            ["responses", "input_tokens"] => Self::Count(Api::OpenAiResponses),
            ["messages", "count_tokens"] => Self::Count(Api::Anthropic),
            ["models"] => Self::Models(None),
            // Names of models have slashes at gateways.
            ["models", ref name @ ..] => Self::Models(Some(name.join("/"))),
            ["runs", number] => number.parse().map_or(Self::Nothing, Self::Run),
            ["responses", id] => Self::Stored(id.to_owned()),
            _ => Self::Nothing,
        }
    }

    /// The API that it belongs to, if it is that of one.
    pub(crate) fn api(&self) -> Option<Api> {
        match self {
            Self::Answer(api) | Self::Count(api) => Some(*api),
            Self::Stored(_) => Some(Api::OpenAiResponses),
            Self::Models(_) | Self::Run(_) | Self::Root | Self::Nothing => None,
        }
    }

    /// Returns whether it takes a method.
    pub(crate) fn takes(&self, method: &str) -> bool {
        match self {
            Self::Answer(_) | Self::Count(_) | Self::Run(_) => method == "POST",
            Self::Models(_) | Self::Stored(_) => method == "GET",
            Self::Root => matches!(method, "GET" | "HEAD"),
            Self::Nothing => false,
        }
    }
}

/// The path of a target, without host and query.
pub(crate) fn path(target: &str) -> &str {
    let target = target.split(['?', '#']).next().unwrap_or_default();
    match target.split_once("://") {
        Some((_, behind)) if !target.starts_with('/') => behind.find('/').map_or("/", |at| &behind[at..]),
        _ => target,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_of_a_client_is_known() {
        for (target, expected) in [
            ("/v1/chat/completions", Route::Answer(Api::OpenAiChat)),
            ("/chat/completions", Route::Answer(Api::OpenAiChat)),
            ("/v1/v1/responses", Route::Answer(Api::OpenAiResponses)),
            ("//v1//messages/?beta=true", Route::Answer(Api::Anthropic)),
            ("http://127.0.0.1:80/v1/messages", Route::Answer(Api::Anthropic)),
            ("/v1/messages/count_tokens?beta=true", Route::Count(Api::Anthropic)),
            ("/v1/responses/input_tokens", Route::Count(Api::OpenAiResponses)),
            ("/v1/responses/resp_1", Route::Stored("resp_1".into())),
            ("/v1/runs/2", Route::Run(2)),
            ("/v1/runs/x", Route::Nothing),
            ("/models", Route::Models(None)),
            ("/v1/models/meta/llama", Route::Models(Some("meta/llama".into()))),
            ("/", Route::Root),
            ("http://127.0.0.1", Route::Root),
            ("/?x=/v1/messages", Route::Root),
            ("/v1", Route::Nothing),
            ("/v1/completions", Route::Nothing),
            ("*", Route::Nothing),
        ] {
            assert_eq!(Route::of(target), expected, "{target}");
        }
    }
}
