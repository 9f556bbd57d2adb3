//! Runs through a gateway: what it did is named once, and a run of a client that is no agent is judged by nothing else.

use super::finding::{Finding, Findings};
use super::wire::{CONTENTS, ProviderView, is_of_wire, is_rule};
use super::{AgentReply, Ruling, WireState};
use crate::Error;
use crate::json;
use crate::shape::{AgentRun, Part};
use threadspec_golden::clause;

/// The clauses about what a gateway makes of requests.
const GATE_REQUESTS: [&str; 13] = [
    clause::GATE_FORWARD,
    clause::GATE_MESSAGES,
    clause::GATE_CALLS,
    clause::GATE_IDS,
    clause::GATE_RESULT,
    clause::GATE_TEXT,
    clause::GATE_INVENTED,
    clause::GATE_MEDIA,
    clause::GATE_TOOLS,
    clause::GATE_CHOICE,
    clause::GATE_OPAQUE,
    clause::GATE_VALID,
    clause::GATE_INDEPENDENT,
];
/// Those about what it makes of answers, on which an agent acts: all that it does afterwards may come of it.
const GATE_ANSWERS: [&str; 10] = [
    clause::GATE_FORWARD,
    clause::GATE_IDS,
    clause::GATE_INVENTED,
    clause::GATE_VALID,
    clause::GATE_SAID,
    clause::GATE_STREAM,
    clause::GATE_CUT,
    clause::GATE_STOP,
    clause::GATE_STATUS,
    clause::GATE_INDEPENDENT,
];
/// The properties that a change by a gateway also seems to break, beside [`CONTENTS`].
const GATE_ECHOES: [&str; 5] = [
    clause::AGENT_NUMBERS,
    clause::AGENT_ORDER,
    clause::AGENT_RESULT_COMPACT,
    clause::AGENT_FAILURE_TOLD,
    clause::AGENT_END,
];

/// Returns whether an input is that of a case about gateways: what a client sends, and what the model answers.
pub(super) fn is_case(input: &str) -> bool {
    json::member(input, "sends").is_some()
}

/// Judges a run of a client that is no agent: by what the provider and the client saw of the gateway.
///
/// # Errors
///
/// Says why the output shows no run through a gateway.
pub(super) fn judge(answer: AgentReply<'_>) -> Result<Ruling, Error> {
    let AgentReply::Output(output) = answer else { return Err(Error::new("a case about gateways is not refused")) };
    let Part::Proper(report) = AgentRun::read(output).wire else {
        return Err(Error::new("it has no `wire`: only `verify --through` plays a case about gateways"));
    };
    let view = ProviderView::through(report).map_err(Error::new)?;
    let mut findings = Findings::default();
    let over_wire = WireState { is_through: view.is_through, unsupported: view.settle(&mut findings) };
    findings.deduplicate();
    Ok(Ruling { findings, over_wire: Some(over_wire), has_requests: true, pairs_up: true, ..Ruling::default() })
}

/// Names what a gateway did by the clause about gateways alone: neither the agent behind it nor the rules of the API name it again. Says
/// whether an early end of the run was named so.
pub(super) fn settle(must: &mut Vec<Finding>, should: &mut Vec<Finding>, findings: &mut Findings) -> bool {
    let has_any = |clauses: &[&str]| must.iter().any(|finding| clauses.contains(&finding.clause));
    let (of_requests, of_answers) = (has_any(&GATE_REQUESTS), has_any(&GATE_ANSWERS));
    let is_echo = |finding: &Finding| {
        let is_content = CONTENTS.contains(&finding.clause) || GATE_ECHOES.contains(&finding.clause);
        !is_of_wire(finding) && (of_answers || of_requests && is_content)
    };
    findings.found.retain(|finding| !is_echo(finding));
    let explained: Vec<&str> = [
        (clause::GATE_FORWARD, &[clause::WIRE_REQUEST, clause::WIRE_KEY][..]),
        (clause::GATE_INDEPENDENT, &[clause::WIRE_REQUEST, clause::WIRE_KEY]),
        (clause::GATE_TOOLS, &[clause::WIRE_TOOLS, clause::WIRE_TOOLS_SAME]),
        (clause::GATE_OPAQUE, &[clause::WIRE_OPAQUE, clause::WIRE_OPAQUE_BACK]),
        (clause::GATE_CUT, &[clause::WIRE_PARTIAL]),
        (clause::GATE_SAID, &[clause::WIRE_PARTIAL]),
        (clause::GATE_CACHE, &[clause::WIRE_CACHE]),
    ]
    .into_iter()
    .filter(|(gate, _)| must.iter().chain(should.iter()).any(|finding| finding.clause == *gate))
    .flat_map(|(_, wire)| wire.iter().copied())
    .collect();
    let has_rule = must.iter().any(|finding| finding.clause == clause::GATE_VALID);
    let is_explained = |name: &str| explained.contains(&name) || (has_rule && is_rule(name));
    must.retain(|finding| !is_explained(finding.clause));
    should.retain(|finding| !explained.contains(&finding.clause));
    of_answers
}
