//! Lists everything that an agent may refuse with a reason. `golden/README.md` shows it to people, in the same words.

use super::script::RunScript;
use super::valid::faults;
use strum::{EnumIter, EnumMessage, IntoEnumIterator};

/// Something that entitles an agent to end a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, EnumMessage)]
pub enum Refusable {
    /// It may also be sent, or answered without a request.
    #[strum(message = "an empty list of messages", detailed_message = "before the model is asked")]
    NoMessages,
    /// AGENT-HISTORY.
    #[strum(message = "a given history that no provider accepts", detailed_message = "before the model is asked")]
    History,
    /// Those that the model or a tool says are a matter of AGENT-ENCODABLE.
    #[strum(message = "lone surrogates in the given list", detailed_message = "before the model is asked")]
    GivenHalves,
    /// AGENT-IDS.
    #[strum(message = "an id twice in one response", detailed_message = "after this response")]
    RepeatedId,
    /// AGENT-IDS.
    #[strum(
        message = "an empty id",
        detailed_message = "before the model is asked if it is given, else after its response"
    )]
    EmptyId,
    /// Over the wire only.
    #[strum(
        message = "a response that was cut off at a limit, filtered or refused by the model",
        detailed_message = "after this response"
    )]
    CutOff,
    /// INP-3.
    #[strum(message = "nesting deeper than 50 levels, anywhere in the input", detailed_message = "at any time")]
    Depth,
    /// INP-3.
    #[strum(message = "numbers beyond the doubles, anywhere in the input", detailed_message = "at any time")]
    Numbers,
}

impl Refusable {
    /// Everything that may be refused.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::iter()
    }

    /// Names it in a few words.
    pub fn about(self) -> &'static str {
        self.get_message().unwrap_or_default()
    }

    /// When the run may end for it.
    pub fn when(self) -> &'static str {
        self.get_detailed_message().unwrap_or_default()
    }

    /// Returns whether the run may end for it after the response to request `after`, or before the first request.
    fn entitles(self, script: &RunScript, after: Option<usize>) -> bool {
        match (self, after) {
            (Self::NoMessages, None) => script.given.is_empty(),
            (Self::History, None) => !faults(&script.given).is_empty(),
            (Self::GivenHalves, None) => script.gives_halves(),
            (Self::EmptyId, None) => script.given.iter().any(|message| {
                message.call_id.as_deref() == Some("") || message.calls.iter().any(|call| call.id().is_empty())
            }),
            (Self::RepeatedId, Some(turn)) => script.repeats_an_id(turn),
            (Self::EmptyId, Some(turn)) => script.calls(turn).iter().any(|call| call.id().is_empty()),
            (Self::CutOff, Some(turn)) => script.is_cut_off(turn),
            (Self::NoMessages | Self::History | Self::GivenHalves, Some(_))
            | (Self::RepeatedId | Self::CutOff, None) => false,
            (Self::Depth, _) => script.is_deep,
            (Self::Numbers, _) => script.has_huge_numbers,
        }
    }
}

/// Returns whether an agent may end a run of the script after the response to request `after`, or before the first request.
pub(super) fn may_refuse(script: &RunScript, after: Option<usize>) -> bool {
    Refusable::all().any(|refusable| refusable.entitles(script, after))
}
