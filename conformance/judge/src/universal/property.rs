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
    #[strum(message = "each call is answered exactly once, before any other message")]
    AgentAnswered,
    /// AGENT-ORDER.
    #[strum(message = "answers are in call order")]
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
    #[strum(message = "a broken history is fixed or refused, never sent as it is")]
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
    #[strum(message = "the list at the end holds everything shown and answered, and is valid")]
    AgentEnd,
    /// AGENT-MODEL-FAILURE.
    #[strum(message = "a failing model call ends the run, and nothing is written in the model's name")]
    AgentModelFailure,
    /// A part of AGENT-MODEL-FAILURE.
    #[strum(message = "the run says that the model failed; unsupported without `failure`")]
    AgentModelFailureReported,
    /// WIRE-REQUEST.
    #[strum(message = "each request is a POST to the API's path, with a JSON object that has what the API requires")]
    WireRequest,
    /// WIRE-KEY.
    #[strum(message = "each attempt carries the key of its run, and none comes after the reply")]
    WireKey,
    /// WIRE-RULES.
    #[strum(message = "no request breaks a rule of its API that is certain")]
    WireRules,
    /// WIRE-TOOLS.
    #[strum(message = "each request declares the same tools, with different names and a JSON Schema each")]
    WireTools,
    /// WIRE-TOOLS-SAME.
    #[strum(message = "tools are declared in the same order and words each time")]
    WireToolsSame,
    /// WIRE-RETRY.
    #[strum(message = "after a failed attempt comes the same request, one that goes on with what came whole, or none")]
    WireRetry,
    /// WIRE-WAIT.
    #[strum(message = "a retry waits as long as `retry-after` says")]
    WireWait,
    /// WIRE-BACKOFF.
    #[strum(message = "pauses between attempts are not short, and do not get much shorter")]
    WireBackoff,
    /// WIRE-PARTIAL.
    #[strum(message = "no call that had not come whole is sent back or run")]
    WirePartial,
    /// WIRE-OPAQUE.
    #[strum(message = "signatures and encrypted contents come back as they were")]
    WireOpaque,
    /// WIRE-OPAQUE-BACK.
    #[strum(message = "reasoning items come back")]
    WireOpaqueBack,
    /// WIRE-CACHE.
    #[strum(message = "tools, system and old messages are byte for byte those of the request before")]
    WireCache,
    /// SESSION-VALID.
    #[strum(message = "every request of every run is valid, whatever run came before")]
    SessionValid,
    /// SESSION-CUT.
    #[strum(message = "after a cut the next run asks the model, or is refused with words and a run behind it asks")]
    SessionCut,
    /// SESSION-ANSWERED.
    #[strum(message = "before the next user message each cut call is answered once, or gone")]
    SessionAnswered,
    /// SESSION-KEPT.
    #[strum(message = "results that had returned before a cut, and earlier rounds, are in the next request")]
    SessionKept,
    /// SESSION-WHOLE.
    #[strum(message = "a cut response of which anything is kept keeps its text and its returned calls")]
    SessionWhole,
    /// SESSION-ONCE.
    #[strum(
        message = "a call that had returned or was answered is not executed again, unless a later response asks for it"
    )]
    SessionOnce,
    /// SESSION-SAID-ONCE.
    #[strum(message = "no message is twice in a request, and none is missing, changed or out of its order")]
    SessionSaidOnce,
    /// SESSION-PREFIX.
    #[strum(message = "request 1 of a run begins with the last request of the run before")]
    SessionPrefix,
    /// SESSION-APPROVED.
    #[strum(message = "a pending call is executed once, when it is approved, with exactly the approved arguments")]
    SessionApproved,
    /// SESSION-DENIED.
    #[strum(message = "a denied call is never executed, and is answered")]
    SessionDenied,
    /// A part of SESSION-DENIED.
    #[strum(message = "the answer to a denied call holds the reason, if one is given")]
    SessionDeniedReason,
    /// SESSION-SIBLINGS.
    #[strum(message = "calls beside a pending one are executed once, and keep their own results")]
    SessionSiblings,
    /// SESSION-PENDING.
    #[strum(
        message = "a user message past a pending call is refused, or the call is answered or gone; a late decision executes nothing"
    )]
    SessionPending,
    /// SESSION-COMPACT.
    #[strum(message = "after compaction the request is valid, and has the system message and the open round")]
    SessionCompact,
    /// SESSION-COMPACT-WHOLE.
    #[strum(
        message = "compaction takes whole responses with their answers, and leaves the user message that begins the run"
    )]
    SessionCompactWhole,
    /// SESSION-OPAQUE.
    #[strum(message = "opaque parts come back byte for byte, once, at their place")]
    SessionOpaque,
    /// SESSION-RAW.
    #[strum(message = "a call whose arguments are no JSON object is answered, not executed, and the thread goes on")]
    SessionRaw,
    /// SESSION-HANDOFF.
    #[strum(message = "after a hand-over the request is valid, and has the new agent's system message")]
    SessionHandoff,
    /// SESSION-IMAGE.
    #[strum(
        message = "the image of a result is in the next request and the later ones, or the answer says that it was left out"
    )]
    SessionImage,
    /// SESSION-REWIND.
    #[strum(
        message = "where an earlier message is replaced, it and what was behind it are gone, and come back as they were"
    )]
    SessionRewind,
    /// SESSION-STEER.
    #[strum(
        message = "the user's words while a tool works come once, behind the answers of that round or behind the run"
    )]
    SessionSteer,
    /// GATE-FORWARD.
    #[strum(
        message = "what the client's API allows and the provider's can say is sent on, once; nothing arrives that was not asked"
    )]
    GateForward,
    /// GATE-MESSAGES.
    #[strum(message = "the same messages arrive in the same order")]
    GateMessages,
    /// GATE-CALLS.
    #[strum(message = "each call of the history arrives with its name and equal arguments")]
    GateCalls,
    /// GATE-CALLS-EXACT.
    #[strum(message = "integers up to 2^64 stay exact")]
    GateCallsExact,
    /// GATE-IDS.
    #[strum(message = "ids are kept or mapped one to one, the same way in every request of a run")]
    GateIds,
    /// GATE-RESULT.
    #[strum(message = "the text of a result arrives verbatim")]
    GateResult,
    /// GATE-TEXT.
    #[strum(message = "texts of system, human and assistant arrive verbatim")]
    GateText,
    /// GATE-INVENTED.
    #[strum(message = "nothing is on either side that nobody sent")]
    GateInvented,
    /// GATE-MEDIA.
    #[strum(message = "images arrive with their bytes, or the request is refused")]
    GateMedia,
    /// GATE-TOOLS.
    #[strum(message = "tools arrive with their names, required members, types and enumerations")]
    GateTools,
    /// GATE-TOOLS-FULL.
    #[strum(message = "tools keep descriptions, bounds and `additionalProperties`")]
    GateToolsFull,
    /// GATE-CHOICE.
    #[strum(message = "`tool_choice`, limit, stop sequences and one call at a time arrive")]
    GateChoice,
    /// GATE-OPAQUE.
    #[strum(message = "what only the provider reads comes through unchanged, or not at all")]
    GateOpaque,
    /// GATE-VALID.
    #[strum(message = "what arrives breaks no rule of the provider's API that the client's request did not break")]
    GateValid,
    /// GATE-SAID.
    #[strum(message = "the client reads the text and the calls that were sent")]
    GateSaid,
    /// GATE-STREAM.
    #[strum(message = "the client's stream is one of its API, however the provider's is cut")]
    GateStream,
    /// GATE-CUT.
    #[strum(message = "an answer that broke off does not end as a whole one")]
    GateCut,
    /// GATE-STOP.
    #[strum(message = "an answer that was cut off at the limit is reported as such")]
    GateStop,
    /// GATE-STOP-CALLS.
    #[strum(message = "an answer that ends with calls is reported as one that calls tools")]
    GateStopCalls,
    /// GATE-STATUS.
    #[strum(message = "final refusals stay final, what may be tried again stays so, 401 and 429 stay themselves")]
    GateStatus,
    /// GATE-WORDS.
    #[strum(message = "the provider's message is in the gateway's")]
    GateWords,
    /// GATE-WAIT.
    #[strum(message = "`retry-after` comes through with 429")]
    GateWait,
    /// GATE-THINKING.
    #[strum(message = "thinking is shown where the client's API can show it")]
    GateThinking,
    /// GATE-CACHE.
    #[strum(message = "what arrives begins byte for byte as the request before")]
    GateCache,
    /// GATE-INDEPENDENT.
    #[strum(message = "runs do not influence each other's requests and answers at the gateway")]
    GateIndependent,
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
            Self::WireRequest => clause::WIRE_REQUEST,
            Self::WireKey => clause::WIRE_KEY,
            Self::WireRules => clause::WIRE_RULES,
            Self::WireTools => clause::WIRE_TOOLS,
            Self::WireToolsSame => clause::WIRE_TOOLS_SAME,
            Self::WireRetry => clause::WIRE_RETRY,
            Self::WireWait => clause::WIRE_WAIT,
            Self::WireBackoff => clause::WIRE_BACKOFF,
            Self::WirePartial => clause::WIRE_PARTIAL,
            Self::WireOpaque => clause::WIRE_OPAQUE,
            Self::WireOpaqueBack => clause::WIRE_OPAQUE_BACK,
            Self::WireCache => clause::WIRE_CACHE,
            Self::SessionValid => clause::SESSION_VALID,
            Self::SessionCut => clause::SESSION_CUT,
            Self::SessionAnswered => clause::SESSION_ANSWERED,
            Self::SessionKept => clause::SESSION_KEPT,
            Self::SessionWhole => clause::SESSION_WHOLE,
            Self::SessionOnce => clause::SESSION_ONCE,
            Self::SessionSaidOnce => clause::SESSION_SAID_ONCE,
            Self::SessionPrefix => clause::SESSION_PREFIX,
            Self::SessionApproved => clause::SESSION_APPROVED,
            Self::SessionDenied | Self::SessionDeniedReason => clause::SESSION_DENIED,
            Self::SessionSiblings => clause::SESSION_SIBLINGS,
            Self::SessionPending => clause::SESSION_PENDING,
            Self::SessionCompact => clause::SESSION_COMPACT,
            Self::SessionCompactWhole => clause::SESSION_COMPACT_WHOLE,
            Self::SessionOpaque => clause::SESSION_OPAQUE,
            Self::SessionRaw => clause::SESSION_RAW,
            Self::SessionHandoff => clause::SESSION_HANDOFF,
            Self::SessionImage => clause::SESSION_IMAGE,
            Self::SessionRewind => clause::SESSION_REWIND,
            Self::SessionSteer => clause::SESSION_STEER,
            Self::GateForward => clause::GATE_FORWARD,
            Self::GateMessages => clause::GATE_MESSAGES,
            Self::GateCalls => clause::GATE_CALLS,
            Self::GateCallsExact => clause::GATE_CALLS_EXACT,
            Self::GateIds => clause::GATE_IDS,
            Self::GateResult => clause::GATE_RESULT,
            Self::GateText => clause::GATE_TEXT,
            Self::GateInvented => clause::GATE_INVENTED,
            Self::GateMedia => clause::GATE_MEDIA,
            Self::GateTools => clause::GATE_TOOLS,
            Self::GateToolsFull => clause::GATE_TOOLS_FULL,
            Self::GateChoice => clause::GATE_CHOICE,
            Self::GateOpaque => clause::GATE_OPAQUE,
            Self::GateValid => clause::GATE_VALID,
            Self::GateSaid => clause::GATE_SAID,
            Self::GateStream => clause::GATE_STREAM,
            Self::GateCut => clause::GATE_CUT,
            Self::GateStop => clause::GATE_STOP,
            Self::GateStopCalls => clause::GATE_STOP_CALLS,
            Self::GateStatus => clause::GATE_STATUS,
            Self::GateWords => clause::GATE_WORDS,
            Self::GateWait => clause::GATE_WAIT,
            Self::GateThinking => clause::GATE_THINKING,
            Self::GateCache => clause::GATE_CACHE,
            Self::GateIndependent => clause::GATE_INDEPENDENT,
        }
    }

    /// Returns whether its clause is a `must`, as `clauses.json` says, too.
    pub fn is_must(self) -> bool {
        !matches!(
            self,
            Self::AgentOrder
                | Self::AgentResultCompact
                | Self::AgentFailureTold
                | Self::AgentShared
                | Self::AgentCaller
                | Self::AgentEnd
                | Self::WireToolsSame
                | Self::WireBackoff
                | Self::WireOpaqueBack
                | Self::WireCache
                | Self::SessionKept
                | Self::SessionWhole
                | Self::SessionPrefix
                | Self::SessionDeniedReason
                | Self::SessionCompactWhole
                | Self::GateCallsExact
                | Self::GateToolsFull
                | Self::GateStopCalls
                | Self::GateWords
                | Self::GateWait
                | Self::GateThinking
                | Self::GateCache
        )
    }

    /// Returns whether it is about HTTP, so that only a provider can see it.
    pub fn is_of_wire(self) -> bool {
        self.clause().starts_with("WIRE-")
    }

    /// Returns whether it is about several runs on one thread (op `session`).
    pub fn is_of_session(self) -> bool {
        self.clause().starts_with("SESSION-")
    }

    /// Returns whether it is about a gateway between agent and provider, so that only a run through one shows it.
    pub fn is_of_gateway(self) -> bool {
        self.clause().starts_with("GATE-")
    }

    /// Returns its demand, in a few words.
    pub fn about(self) -> &'static str {
        self.get_message().unwrap_or_default()
    }
}
