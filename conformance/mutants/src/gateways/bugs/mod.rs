//! Planted bugs of gateways, by what goes wrong.

mod answers;
mod calls;
mod failures;
mod forwarding;
mod options;
mod proxies;
mod retries;
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

/// It always shows.
const ALWAYS: &[ShowsWhen] = &[ShowsWhen::Always];
/// It shows always, or only under a condition.
const SOMETIMES: &[ShowsWhen] = &[ShowsWhen::Always, ShowsWhen::SecondRequest, ShowsWhen::SecondRun];
/// The same for what is about calls.
const WITH_CALLS: &[ShowsWhen] =
    &[ShowsWhen::Always, ShowsWhen::SecondRequest, ShowsWhen::ThreeCalls, ShowsWhen::ParallelInStreams];

/// Every bug.
pub(super) fn all() -> Vec<Planted> {
    let tables = [
        texts::bugs(),
        calls::bugs(),
        options::bugs(),
        forwarding::bugs(),
        answers::bugs(),
        proxies::bugs(),
        retries::bugs(),
        streams::bugs(),
        failures::bugs(),
    ];
    tables.into_iter().flatten().collect()
}
