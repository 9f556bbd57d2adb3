//! Finds the properties that a script can show. A property that no run of it can break would hold of every agent.

use super::message::AgentCall;
use super::property::Property;
use super::script::{CallOutcome, ModelTurn, RunScript};
use super::valid::faults;
use super::value::{is_listed_text, is_odd_name};
use crate::Error;
use serde_json::Value;
use threadspec::surrogates::has_marks;

/// The properties that a run of the script can break.
///
/// # Errors
///
/// Says why the input is no script.
pub fn subjects(input: &str) -> Result<Vec<Property>, Error> {
    let script = RunScript::read(input).map_err(Error::new)?;
    let value = super::value::read(input)?;
    let calls: Vec<&AgentCall> = (0..script.turns.len()).flat_map(|turn| script.calls(turn)).collect();
    let results: Vec<CallOutcome<'_>> = calls.iter().map(|call| script.outcome(call)).collect();
    let structured = |outcome: &CallOutcome<'_>| matches!(outcome, CallOutcome::Result(value) if !value.is_string());
    let is_broken = faults(&script.given).iter().any(|fault| fault.pairing);
    let names = |test: fn(&str) -> bool| any_text(&value, &|text, is_name| is_name && test(text));
    let texts = |test: fn(&str) -> bool| any_text(&value, &|text, _| test(text));
    let ids = |call: &&AgentCall| is_odd_name(call.id()) || is_odd_name(call.name());
    let can_break = |property: &Property| match property {
        Property::AgentStart
        | Property::AgentShared
        | Property::AgentGoesOn
        | Property::AgentValid
        | Property::AgentEnd
        | Property::AgentIndependent
        | Property::AgentCaller
        | Property::WireRequest
        | Property::WireKey
        | Property::WireRules
        | Property::WireTools => true,
        Property::AgentPrefix
        | Property::AgentResponse
        | Property::AgentIds
        | Property::AgentAnswered
        | Property::WireToolsSame
        | Property::WirePartial
        | Property::WireCache => !calls.is_empty(),
        Property::AgentOrder => (0..script.turns.len()).any(|turn| script.calls(turn).len() > 1),
        Property::AgentResult => results.iter().any(|outcome| !outcome.is_failure()),
        Property::AgentResultCompact => results.iter().any(|outcome| {
            structured(outcome) && matches!(outcome, CallOutcome::Result(value) if !value.to_string().is_ascii())
        }),
        Property::AgentFailure => results.iter().any(CallOutcome::is_failure),
        Property::AgentFailureTold => results.iter().any(|outcome| {
            matches!(outcome, CallOutcome::Unknown) || matches!(outcome, CallOutcome::Failure(text) if !text.is_empty())
        }),
        Property::AgentStops => {
            script.turns.iter().any(|turn| matches!(turn, ModelTurn::Response { calls, .. } if calls.is_empty()))
        }
        Property::AgentLimit => script.limit.is_some(),
        Property::AgentEncodable => {
            has_marks(&value.to_string()) || texts(|text| text.chars().any(|c| u32::from(c) > 0xffff))
        }
        Property::AgentText => texts(is_listed_text),
        Property::AgentNumbers => any_number(&value) || script.has_huge_numbers,
        Property::AgentOrdinary => calls.iter().any(ids) || names(is_odd_name),
        Property::AgentHistory => is_broken,
        Property::AgentModelFailure | Property::AgentModelFailureReported => {
            // A script that runs out fails, too.
            !script.turns.iter().any(|turn| matches!(turn, ModelTurn::Response { calls, .. } if calls.is_empty()))
                || script.turns.iter().any(|turn| matches!(turn, ModelTurn::Failure))
                || script.events.fails
                || script.events.says_when
        }
        Property::WireRetry => script.events.fails || script.events.says_when,
        Property::WireWait => script.events.says_when,
        Property::WireBackoff => script.events.fails,
        Property::WireOpaque | Property::WireOpaqueBack => script.events.thinks,
        // One run cannot break what holds between several, and the cases of a gateway have a form of their own.
        Property::SessionValid
        | Property::SessionCut
        | Property::SessionAnswered
        | Property::SessionKept
        | Property::SessionWhole
        | Property::SessionOnce
        | Property::SessionSaidOnce
        | Property::SessionPrefix
        | Property::SessionApproved
        | Property::SessionDenied
        | Property::SessionDeniedReason
        | Property::SessionSiblings
        | Property::SessionPending
        | Property::SessionCompact
        | Property::SessionCompactWhole
        | Property::SessionOpaque
        | Property::SessionRaw
        | Property::SessionHandoff
        | Property::SessionImage
        | Property::SessionRewind
        | Property::SessionSteer
        | Property::GateForward
        | Property::GateMessages
        | Property::GateCalls
        | Property::GateCallsExact
        | Property::GateIds
        | Property::GateResult
        | Property::GateText
        | Property::GateInvented
        | Property::GateMedia
        | Property::GateTools
        | Property::GateToolsFull
        | Property::GateChoice
        | Property::GateOpaque
        | Property::GateValid
        | Property::GateSaid
        | Property::GateStream
        | Property::GateCut
        | Property::GateStop
        | Property::GateStopCalls
        | Property::GateStatus
        | Property::GateWords
        | Property::GateWait
        | Property::GateThinking
        | Property::GateCache
        | Property::GateIndependent => false,
    };
    Ok(Property::all().filter(can_break).collect())
}

/// Returns whether a text of the input passes; the second argument says whether it is the name of a member.
fn any_text(value: &Value, passes: &dyn Fn(&str, bool) -> bool) -> bool {
    match value {
        Value::String(text) => passes(text, false),
        Value::Array(elements) => elements.iter().any(|element| any_text(element, passes)),
        Value::Object(members) => members.iter().any(|(name, member)| passes(name, true) || any_text(member, passes)),
        _ => false,
    }
}

fn any_number(value: &Value) -> bool {
    match value {
        Value::Number(_) => true,
        Value::Array(elements) => elements.iter().any(any_number),
        Value::Object(members) => members.values().any(any_number),
        _ => false,
    }
}
