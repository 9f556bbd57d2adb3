//! Planted bugs of gateways, by what goes wrong.

mod answers;
mod calls;
mod forwarding;
mod options;
mod streams;
mod texts;

use crate::gateway::places::ShowsWhen;
use crate::planted::Planted;
use threadspec::oracle::Api;

/// OpenAI's chat completions alone.
pub(super) const CHAT: &[Api] = &[Api::OpenAiChat];
/// OpenAI's Responses alone.
pub(super) const RESPONSES: &[Api] = &[Api::OpenAiResponses];
/// Anthropic's messages alone.
pub(super) const ANTHROPIC: &[Api] = &[Api::Anthropic];
/// Both APIs of OpenAI's.
pub(super) const OPENAI: &[Api] = &[Api::OpenAiChat, Api::OpenAiResponses];

/// The APIs that say why an answer ends in a member of their own.
pub(super) const CHAT_OR_ANTHROPIC: &[Api] = &[Api::OpenAiChat, Api::Anthropic];
/// The APIs whose streams are events of more than one type.
pub(super) const RESPONSES_OR_ANTHROPIC: &[Api] = &[Api::OpenAiResponses, Api::Anthropic];

/// It shows always, or only under a condition.
pub(super) const SOMETIMES: &[ShowsWhen] = &[ShowsWhen::Always, ShowsWhen::SecondRequest, ShowsWhen::SecondRun];
/// The same for what is about calls.
pub(super) const WITH_CALLS: &[ShowsWhen] =
    &[ShowsWhen::Always, ShowsWhen::SecondRequest, ShowsWhen::ThreeCalls, ShowsWhen::ParallelInStreams];

/// Every bug.
pub(super) fn all() -> Vec<Planted> {
    let tables = [
        texts::bugs(),
        calls::bugs(),
        options::bugs(),
        forwarding::bugs(),
        answers::bugs(),
        answers::proxies(),
        forwarding::retries(),
        streams::bugs(),
        forwarding::failures(),
    ];
    tables.into_iter().flatten().collect()
}
