//! Finds the properties that a session can show. A property that nothing in it can break would hold of every agent.

use super::naming::image;
use super::script::{JudgedScript, PlannedTurn};
use super::thread::JudgedThread;
use crate::Error;
use crate::universal::Property;
use crate::universal::script::CallOutcome;
use threadspec::session::{Approval, Beginning};

/// The properties that an agent can break in a session.
///
/// # Errors
///
/// Says why the input is no session.
pub fn subjects(input: &str) -> Result<Vec<Property>, Error> {
    let session = JudgedScript::read(input)?;
    let mut thread = JudgedThread::new(&session);
    for (run, plan) in session.runs.iter().enumerate() {
        for turn in &plan.turns {
            if let PlannedTurn::Response(said) = turn {
                thread.say(run, said);
            }
        }
    }
    let any = |test: &dyn Fn(&super::thread::ResponseFate<'_>) -> bool| {
        thread.responses().any(|(_, response)| test(response))
    };
    let has_calls = any(&|response| !response.calls.is_empty());
    let decides = |is: fn(&Approval) -> bool| {
        session.runs.iter().any(|run| match &run.beginning {
            Beginning::Decisions(decisions) => decisions.values().any(is),
            Beginning::Message(_) | Beginning::Resume => false,
        })
    };
    let is_cut = session.runs.iter().any(|run| {
        run.cut.is_some() || run.limit.is_some() || run.turns.iter().any(|turn| matches!(turn, PlannedTurn::Failure))
    });
    let fails = thread.calls().any(|(_, call)| !matches!(thread.outcome(call), CallOutcome::Result(_)));
    let goes_on = session.runs.len() > 1;
    let compacts = session.runs.iter().any(|run| run.compacts);
    let can_break = |property: &Property| match property {
        Property::AgentStart
        | Property::AgentGoesOn
        | Property::AgentStops
        | Property::AgentValid
        | Property::AgentEncodable
        | Property::AgentIndependent => true,
        Property::AgentPrefix
        | Property::AgentResponse
        | Property::AgentIds
        | Property::AgentAnswered
        | Property::AgentResult
        | Property::AgentResultCompact
        | Property::AgentText
        | Property::AgentNumbers
        | Property::AgentOrdinary
        | Property::SessionOnce => has_calls,
        Property::AgentFailure | Property::AgentFailureTold => fails,
        Property::AgentLimit => session.runs.iter().any(|run| run.limit.is_some()),
        Property::AgentModelFailure | Property::AgentModelFailureReported => {
            session.runs.iter().any(|run| run.turns.iter().any(|turn| matches!(turn, PlannedTurn::Failure)))
        }
        Property::SessionValid | Property::SessionSaidOnce | Property::SessionPrefix => goes_on,
        Property::SessionCut => is_cut && goes_on,
        Property::SessionAnswered | Property::SessionKept | Property::SessionWhole => is_cut && has_calls && goes_on,
        Property::SessionApproved => any(&|response| response.waits()),
        Property::SessionDenied => decides(|ruling| matches!(ruling, Approval::Denied { .. })),
        Property::SessionDeniedReason => decides(|ruling| matches!(ruling, Approval::Denied { reason: Some(_) })),
        Property::SessionSiblings => any(&|response| response.waits() && response.calls.len() > 1),
        Property::SessionPending => any(&|response| response.waits()) && goes_on,
        Property::SessionCompact | Property::SessionCompactWhole => compacts,
        Property::SessionOpaque => any(&|response| !response.said.opaque.is_empty()),
        Property::SessionRaw => any(&|response| response.has_raw()),
        Property::SessionHandoff => any(&|response| response.has_hand_over()),
        Property::SessionRewind => session.runs.iter().any(|run| run.at.is_some()),
        Property::SessionSteer => session.runs.iter().any(|run| run.say.is_some()),
        Property::SessionImage => thread.calls().any(|(place, _)| image(&thread, place).is_some()),
        _ => false,
    };
    Ok(Property::all().filter(can_break).collect())
}
