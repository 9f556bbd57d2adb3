//! Lists the requests that a gateway may refuse: those that the client's API does not allow, or the provider's cannot express.

use crate::sent::SentByClient;
use std::collections::HashSet;
use threadspec::oracle::{Api, RequestContext, provider_breaches_with};
use threadspec::surrogates::has_marks;
use threadspec_judge::json::is_extreme;
use threadspec_judge::protocol::Speaker;
use threadspec_judge::universal::can_be_declared;

/// The least limit of output tokens that Responses takes.
const LEAST_OUTPUT: u64 = 16;

/// Why a gateway to an API may refuse a request; `None` if it has to send it on.
pub(super) fn reason_to_refuse(sent: Option<&SentByClient<'_>>, text: &str, to: Api) -> Option<&'static str> {
    let Some(sent) = sent else { return Some("it is no JSON object") };
    let (body, request) = (sent.body(), &*sent.request);
    let breaches = provider_breaches_with(request.api, &RequestContext::default(), body);
    let messages = &request.messages;
    let calls = || messages.iter().flat_map(|message| &message.calls);
    let is_first = |speaker: Speaker| messages.iter().position(|message| message.speaker != speaker);
    let names = || calls().map(|call| &*call.name).chain(request.tools.iter().filter_map(|tool| tool.name.as_deref()));
    let mut ids = HashSet::new();
    let speaks = |speaker: Speaker| {
        messages.iter().any(|message| message.speaker == speaker && !message.content.trim().is_empty())
    };
    let is_elsewhere =
        request.previous_response_id.is_some() || request.conversation.is_some() || !request.references.is_empty();
    let reasons = [
        (!breaches.is_empty() || !request.lacks.is_empty(), "it breaks a rule of its API"),
        (crate::judging::request::is_broken(request), "its calls and results do not fit together"),
        (
            is_first(Speaker::System)
                .is_some_and(|first| messages[first..].iter().any(|message| message.speaker == Speaker::System)),
            "it has a system text in the middle",
        ),
        (calls().any(|call| !ids.insert(&*call.id)), "an id comes twice"),
        (has_marks(&body.to_string()), "it has half a surrogate pair"),
        (
            is_extreme(text) || calls().any(|call| call.raw.as_deref().is_some_and(is_extreme)),
            "it has a number that is no double",
        ),
        (messages.iter().any(|message| message.parts().any(|part| part == "\u{fffc}")), "it has an image or a file"),
        (calls().any(|call| !call.args.is_object()), "arguments in it are no object"),
        (names().any(|name| !can_be_declared(to, name)), "the API cannot declare the name of a tool"),
        (calls().any(|call| !is_takable(to, &call.id)), "the API does not take the id of a call"),
        (
            request.tools.iter().any(|tool| !tool.is_function()) && request.api != to,
            "it has a tool of the provider's own",
        ),
        (is_elsewhere && request.api != to, "it refers to what the provider keeps"),
        (
            !request.stop.is_empty() && to == Api::OpenAiResponses || request.stop.len() > 4,
            "the API does not stop at texts",
        ),
        (
            to == Api::OpenAiResponses && request.max_tokens.is_some_and(|most| most < LEAST_OUTPUT),
            "the limit is too low for the API",
        ),
        (to == Api::Anthropic && !(speaks(Speaker::Human) || calls().next().is_some()), "the user says nothing"),
        (
            to == Api::Anthropic && messages.last().is_some_and(|last| last.speaker == Speaker::Ai),
            "the model had the last word",
        ),
    ];
    reasons.into_iter().find(|(holds, _)| *holds).map(|(_, reason)| reason)
}

/// Returns whether an API takes an id as it is.
fn is_takable(api: Api, id: &str) -> bool {
    let is_plain = || id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    match api {
        Api::Anthropic => is_plain() && !id.is_empty(),
        Api::OpenAiChat => id.chars().count() <= 40,
        Api::OpenAiResponses => (1..=64).contains(&id.chars().count()),
    }
}
