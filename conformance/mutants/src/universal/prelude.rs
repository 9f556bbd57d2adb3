//! Names that the tables of the agent share: clauses, ways to plant, and ways to look at messages.

pub(super) use super::bugs::{
    Edit, answers_kept, arguments_become, arguments_dropped, begun, calls_mut, change_text, cut, drop_members, each,
    ends_when, family, given_kept, has_calls, in_arguments, in_results, inside_arguments, inside_results, is,
    on_answers, on_arguments, on_failure, on_given, on_later_requests, on_response, on_structured, on_text_result,
    results_become, results_changed, said_edited, words,
};
pub(super) use super::{ChangesValue, Clauses, PERMITTED, Writes, bug, operators as op, seam};
pub(super) use crate::agent::{RunState, ToolOutcome, answer, calls, content, distinct, mend, outcome, text};
pub(super) use crate::planted::Planted;
pub(super) use serde_json::{Map, Value, json};
pub(super) use threadspec_golden::clause;
pub(super) use threadspec_judge::universal::halves;

pub(super) const ANSWERED: Clauses = &[clause::AGENT_ANSWERED];
pub(super) const CALLER: Clauses = &[clause::AGENT_CALLER];
pub(super) const COMPACT: Clauses = &[clause::AGENT_RESULT_COMPACT];
pub(super) const ENCODABLE: Clauses = &[clause::AGENT_ENCODABLE];
pub(super) const END: Clauses = &[clause::AGENT_END];
pub(super) const FAILURE: Clauses = &[clause::AGENT_FAILURE];
pub(super) const GOES_ON: Clauses = &[clause::AGENT_GOES_ON];
pub(super) const HISTORY: Clauses = &[clause::AGENT_HISTORY];
pub(super) const IDS: Clauses = &[clause::AGENT_IDS];
pub(super) const INDEPENDENT: Clauses = &[clause::AGENT_INDEPENDENT];
pub(super) const LIMIT: Clauses = &[clause::AGENT_LIMIT];
pub(super) const MODEL: Clauses = &[clause::AGENT_MODEL_FAILURE];
pub(super) const NUMBERS: Clauses = &[clause::AGENT_NUMBERS];
pub(super) const ORDER: Clauses = &[clause::AGENT_ORDER];
pub(super) const ORDINARY: Clauses = &[clause::AGENT_ORDINARY];
pub(super) const PREFIX: Clauses = &[clause::AGENT_PREFIX];
pub(super) const RESPONSE: Clauses = &[clause::AGENT_RESPONSE];
pub(super) const RESULT: Clauses = &[clause::AGENT_RESULT];
pub(super) const SHARED: Clauses = &[clause::AGENT_SHARED];
pub(super) const START: Clauses = &[clause::AGENT_START];
pub(super) const STOPS: Clauses = &[clause::AGENT_STOPS];
pub(super) const TEXT: Clauses = &[clause::AGENT_TEXT];
pub(super) const TOLD: Clauses = &[clause::AGENT_FAILURE_TOLD];
pub(super) const VALID: Clauses = &[clause::AGENT_VALID];
