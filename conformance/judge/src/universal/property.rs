//! The properties that a case can demand of a run.

use strum::{Display, EnumIter, EnumMessage, EnumString, IntoEnumIterator, IntoStaticStr};
use threadspec_golden::clause;

/// A property of a run; cases name it in kebab-case: its clause, or a part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, EnumIter, EnumMessage, EnumString, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Property {
    /// AGENT-START.
    #[strum(message = "request 1 is the given list")]
    AgentStart,
    /// AGENT-PREFIX.
    #[strum(message = "request n+1 begins with request n")]
    AgentPrefix,
    /// AGENT-RESPONSE.
    #[strum(message = "request n is followed by the response, its text and each call")]
    AgentResponse,
    /// AGENT-IDS.
    #[strum(message = "ids are kept, or renamed where the model repeats one")]
    AgentIds,
    /// AGENT-ANSWERED.
    #[strum(message = "each call is answered exactly once, before anything else is said")]
    AgentAnswered,
    /// AGENT-ORDER.
    #[strum(message = "answers stand in call order")]
    AgentOrder,
    /// AGENT-RESULT.
    #[strum(message = "a text arrives verbatim, any other result as JSON text with an equal value")]
    AgentResult,
    /// AGENT-RESULT-COMPACT.
    #[strum(message = "characters from U+0080 up inside a structured result are not escaped")]
    AgentResultCompact,
    /// AGENT-FAILURE.
    #[strum(message = "failing and unknown tools are answered, their siblings keep their results, the run goes on")]
    AgentFailure,
    /// AGENT-FAILURE-TOLD.
    #[strum(message = "the answer names the error or the unknown tool")]
    AgentFailureTold,
    /// AGENT-GOES-ON.
    #[strum(message = "after the answers the model is asked again")]
    AgentGoesOn,
    /// AGENT-STOPS.
    #[strum(message = "after a response without calls it is not asked again")]
    AgentStops,
    /// AGENT-LIMIT.
    #[strum(message = "with the limit d reached there are max(1, d) to d+1 requests")]
    AgentLimit,
    /// AGENT-VALID.
    #[strum(message = "every request is a list that providers accept")]
    AgentValid,
    /// AGENT-ENCODABLE.
    #[strum(message = "no lone surrogate reaches a request, except as an escape inside JSON text")]
    AgentEncodable,
    /// AGENT-TEXT.
    #[strum(message = "odd and long texts arrive unchanged")]
    AgentText,
    /// AGENT-NUMBERS.
    #[strum(message = "numbers keep their values")]
    AgentNumbers,
    /// AGENT-ORDINARY.
    #[strum(message = "tools, ids and members with odd names are ordinary")]
    AgentOrdinary,
    /// AGENT-HISTORY.
    #[strum(message = "a broken history is mended or refused, never sent as it is")]
    AgentHistory,
    /// AGENT-SHARED.
    #[strum(message = "a request is not changed after it was sent; unsupported without `requestsAtEnd`")]
    AgentShared,
    /// AGENT-CALLER.
    #[strum(message = "the caller's list is not changed; unsupported without `given`")]
    AgentCaller,
    /// AGENT-INDEPENDENT.
    #[strum(message = "runs do not influence each other")]
    AgentIndependent,
    /// AGENT-END.
    #[strum(message = "the list at the end holds all that was shown and said, and is valid")]
    AgentEnd,
    /// AGENT-MODEL-FAILURE.
    #[strum(message = "a failing model call ends the run, and nothing is said in the model's name")]
    AgentModelFailure,
    /// A part of AGENT-MODEL-FAILURE.
    #[strum(message = "the run says that the model failed; unsupported without `failure`")]
    AgentModelFailureReported,
}

impl Property {
    /// Every property.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::iter()
    }

    /// The clause that it belongs to.
    pub fn clause(self) -> &'static str {
        match self {
            Self::AgentStart => clause::AGENT_START,
            Self::AgentPrefix => clause::AGENT_PREFIX,
            Self::AgentResponse => clause::AGENT_RESPONSE,
            Self::AgentIds => clause::AGENT_IDS,
            Self::AgentAnswered => clause::AGENT_ANSWERED,
            Self::AgentOrder => clause::AGENT_ORDER,
            Self::AgentResult => clause::AGENT_RESULT,
            Self::AgentResultCompact => clause::AGENT_RESULT_COMPACT,
            Self::AgentFailure => clause::AGENT_FAILURE,
            Self::AgentFailureTold => clause::AGENT_FAILURE_TOLD,
            Self::AgentGoesOn => clause::AGENT_GOES_ON,
            Self::AgentStops => clause::AGENT_STOPS,
            Self::AgentLimit => clause::AGENT_LIMIT,
            Self::AgentValid => clause::AGENT_VALID,
            Self::AgentEncodable => clause::AGENT_ENCODABLE,
            Self::AgentText => clause::AGENT_TEXT,
            Self::AgentNumbers => clause::AGENT_NUMBERS,
            Self::AgentOrdinary => clause::AGENT_ORDINARY,
            Self::AgentHistory => clause::AGENT_HISTORY,
            Self::AgentShared => clause::AGENT_SHARED,
            Self::AgentCaller => clause::AGENT_CALLER,
            Self::AgentIndependent => clause::AGENT_INDEPENDENT,
            Self::AgentEnd => clause::AGENT_END,
            Self::AgentModelFailure | Self::AgentModelFailureReported => clause::AGENT_MODEL_FAILURE,
        }
    }

    /// Whether its clause is a `must`, as `clauses.json` says, too.
    pub fn is_must(self) -> bool {
        !matches!(
            self,
            Self::AgentOrder
                | Self::AgentResultCompact
                | Self::AgentFailureTold
                | Self::AgentShared
                | Self::AgentCaller
                | Self::AgentEnd
        )
    }

    /// What it demands, in a few words.
    pub fn about(self) -> &'static str {
        self.get_message().unwrap_or_default()
    }
}
