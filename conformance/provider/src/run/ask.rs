//! Asks: which attempts want the same answer.

use crate::record::{Attempt, Said, SaidByModel};
use crate::script::WireTurn;
use threadspec_apis::{ApiRequest, WireCall, WireMessage};
use threadspec_judge::protocol::Speaker;
use threadspec_judge::universal::value;

/// One answer that the agent wants.
#[derive(Debug)]
pub(crate) struct Ask {
    /// The model's answer; `None` as long as every attempt was refused.
    pub(crate) turn: Option<WireTurn>,
    /// How many of the turn's faults were played.
    pub(crate) played: usize,
    /// The last attempt, by its position in the record.
    pub(crate) last: usize,
    pub(crate) state: AskState,
}

/// How far an ask is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AskState {
    /// The last attempt is being answered.
    Answering,
    /// The last attempt is being answered, and will fail.
    Failing,
    /// The last attempt failed.
    Failed,
    /// It has its answer, or the agent went on with a part of one.
    Over,
}

/// The ask that a request is another attempt of; `None` if it is a new one. Asks that the agent goes on from with what came whole are
/// over.
///
/// An attempt that failed is followed by another one, whatever the agent sends. Two attempts at the same time are two asks; but a client that
/// has seen its attempt fail may be faster than whoever tells that the answer was over.
pub(crate) fn ask_of(asks: &mut [Ask], attempts: &[Attempt], request: Option<&ApiRequest>) -> Option<usize> {
    let mut other = None;
    for (number, ask) in asks.iter_mut().enumerate() {
        if !matches!(ask.state, AskState::Failed | AskState::Failing) {
            continue;
        }
        let before = attempts.get(ask.last);
        if let (Some(before), Some(request)) = (before, request) {
            if goes_on(before, request) {
                ask.state = AskState::Over;
                continue;
            }
            if before.request.as_ref().is_some_and(|before| is_same(&before.messages, &request.messages)) {
                return Some(number);
            }
        }
        if ask.state == AskState::Failed {
            other.get_or_insert(number);
        }
    }
    other
}

/// Returns whether two lists say the same.
fn is_same(ones: &[WireMessage], others: &[WireMessage]) -> bool {
    ones.len() == others.len() && ones.iter().zip(others).all(|(one, other)| says_same(one, other))
}

fn says_same(one: &WireMessage, other: &WireMessage) -> bool {
    let call =
        |(one, other): (&WireCall, &WireCall)| one.id == other.id && one.name == other.name && one.args == other.args;
    one.speaker == other.speaker
        && one.content == other.content
        && one.call_id == other.call_id
        && one.calls.len() == other.calls.len()
        && one.calls.iter().zip(&other.calls).all(call)
}

/// Returns whether a request goes on with what came whole of an answer that broke off: behind the messages of its request are the text so
/// far, or a part of it, with calls that are closed.
fn goes_on(before: &Attempt, request: &ApiRequest) -> bool {
    let (Some(said), Some(earlier)) = (&before.said, &before.request) else { return false };
    let earlier = &earlier.messages;
    let Some(message) = request.messages.get(earlier.len()) else { return false };
    message.speaker == Speaker::Ai
        && is_same(earlier, &request.messages[..earlier.len()])
        && before.came.text.starts_with(&message.content)
        && !(message.calls.is_empty() && message.content.is_empty())
        && calls_came(said, before, message)
}

/// Returns whether all calls of a message came whole, in their order. They may have other ids now.
fn calls_came(said: &Said, before: &Attempt, message: &WireMessage) -> bool {
    let mut whole = said.whole_calls(&before.came);
    message.calls.iter().all(|call| whole.any(|said| said.name == call.name && is_sent(said, call)))
}

fn is_sent(said: &SaidByModel, call: &WireCall) -> bool {
    said.id == call.id || value::read(&said.arguments).is_ok_and(|args| args == call.args)
}
