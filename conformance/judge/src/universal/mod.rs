//! The judge of profile `universal`: whether a run of any tool-calling agent follows the clauses AGENT-*. It sees the input of op `tools`
//! and the requests that the agent made.
//!
//! It knows no implementation and expects no output: it lays the requests beside the script (`course`), asks one oracle
//! for each clause (`oracle`), and names each fault once, by the clause that it breaks. Texts keep lone surrogates
//! visible (`halves`); values are compared as JSON (`value`).

pub(crate) mod course;
pub(crate) mod finding;
mod gateway;
pub mod halves;
pub(crate) mod message;
pub(crate) mod oracle;
pub(crate) mod others;
mod property;
pub(crate) mod record;
mod refusal;
mod sameness;
pub(crate) mod script;
mod subjects;
pub(crate) mod systems;
pub(crate) mod valid;
pub mod value;
pub(crate) mod wire;

#[cfg(test)]
mod tests;

use crate::Error;
use crate::feature::SessionAbilities;
use crate::shape::AgentRun;
use course::Course;
use finding::Findings;
use others::SessionState;
use record::Record;
use script::RunScript;
use serde_json::Value;
use threadspec_golden::clause;
use wire::ProviderView;

pub use finding::Finding;
pub use others::Others;
pub use property::Property;
pub use refusal::Refusable;
pub use subjects::subjects;
pub use wire::can_be_declared;

/// The abilities that a testee's hello declares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Abilities {
    /// Integers up to 2^64 stay exact.
    pub exact_integers: bool,
    /// It takes several requests at once.
    pub concurrent: bool,
    /// Each result that it sends is in a wrapper that no result can close.
    pub wraps_results: bool,
    /// Its abilities for sessions.
    pub session: SessionAbilities,
}

/// The reply of a testee to an input.
#[derive(Clone, Debug)]
pub enum AgentReply<'a> {
    /// The output of op `tools`, read with `value::read`.
    Output(Value),
    /// A refusal, with its message.
    Refusal(&'a str),
}

/// Tells whether a property holds of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Holding<'a> {
    /// It holds.
    Yes,
    /// It does not.
    No(Vec<&'a Finding>),
    /// Another fault is in the way of judging it.
    Blocked(&'a Finding),
    /// It cannot be seen through this adapter.
    Unsupported(&'a str),
}

/// The judgement of a run.
#[derive(Clone, Debug, Default)]
pub struct Ruling {
    findings: Findings,
    has_requests: bool,
    pairs_up: bool,
    looks_shared: bool,
    /// The state over the wire of the run as a whole; `None` of another run.
    over_wire: Option<WireState>,
    /// The state of several runs; `None` of a single one.
    session: Option<SessionState>,
}

/// The state of a run over the wire.
#[derive(Clone, Debug, Default)]
pub(crate) struct WireState {
    /// Why it shows nothing, if so.
    pub(crate) unsupported: Option<String>,
    /// True if a gateway was between agent and provider.
    pub(crate) is_through: bool,
}

/// Judges a run by every clause. `others` are the runs before it in the same process.
///
/// # Errors
///
/// Says why the input is not a script, or the output not one of op `tools`.
pub fn judge(input: &str, others: &Others, abilities: Abilities, answer: AgentReply<'_>) -> Result<Ruling, Error> {
    judge_in(input, others, usize::MAX, abilities, answer)
}

/// Judges likewise, where only the first `step` of the others ran before.
fn judge_in(
    input: &str,
    others: &Others,
    step: usize,
    abilities: Abilities,
    answer: AgentReply<'_>,
) -> Result<Ruling, Error> {
    if gateway::is_case(input) {
        return gateway::judge(answer);
    }
    let mut script = RunScript::read(input).map_err(Error::new)?;
    let (record, seen) = match answer {
        AgentReply::Output(output) => Record::read(AgentRun::read(output)).map_err(Error::new)?,
        AgentReply::Refusal(message) => (Record::rejected(message), None),
    };
    let mut record = record;
    if abilities.wraps_results {
        record.unwrap_answers();
    }
    let (record, wire) = match seen {
        None => (record.unshared(&script).unwrap_or(record), None),
        Some(seen) => {
            let wire = ProviderView::read(seen, &mut script).map_err(Error::new)?;
            (record.aligned(&script, wire.api), Some(wire))
        }
    };
    let course = Course::of(&script, &record, abilities.exact_integers);
    let mut findings = Findings::default();
    for oracle in oracle::ALL {
        oracle(&course, &mut findings);
    }
    if step > 0 && !others.is_empty() {
        oracle::independent(&course, &others.strangers(input, step), &mut findings);
    }
    let over_wire = wire.map(|wire| WireState { is_through: wire.is_through, unsupported: wire.settle(&mut findings) });
    findings.deduplicate();
    Ok(Ruling {
        findings,
        over_wire,
        session: None,
        has_requests: !course.requests.is_empty(),
        pairs_up: course.pairs_up(),
        looks_shared: record.looks_shared,
    })
}

/// The breaches of `must` clauses in a run, before which the first `step` of the others were in the same process.
///
/// # Errors
///
/// As for [`judge`].
pub fn judge_earlier(
    input: &str,
    others: &Others,
    step: usize,
    abilities: Abilities,
    answer: AgentReply<'_>,
) -> Result<Vec<Finding>, Error> {
    Ok(judge_in(input, others, step, abilities, answer)?.of_musts().cloned().collect())
}

impl Ruling {
    /// The judgement of a session.
    pub(crate) fn of_session(
        findings: Findings,
        session: SessionState,
        over_wire: Option<WireState>,
        has_requests: bool,
    ) -> Self {
        let pairs_up = session.pairing.is_empty();
        Self { findings, has_requests, pairs_up, over_wire, session: Some(session), ..Self::default() }
    }

    /// The judgement of a session that is refused as a whole.
    pub(crate) fn of_refused_session(what: String) -> Self {
        let mut findings = Findings::default();
        findings.add_end(clause::AGENT_GOES_ON, what);
        Self { findings, session: Some(SessionState::default()), ..Self::default() }
    }

    /// Every breach.
    pub fn findings(&self) -> &[Finding] {
        &self.findings.found
    }

    /// Returns whether anything is wrong, a recommendation included.
    pub fn finds_anything(&self) -> bool {
        let reasons = self.session.as_ref().is_some_and(|session| !session.reasons.is_empty());
        !self.findings.found.is_empty() || !self.findings.recommended.is_empty() || reasons
    }

    /// The breaches of `must` clauses.
    pub(crate) fn of_musts(&self) -> impl Iterator<Item = &Finding> {
        let is_must = |finding: &&Finding| {
            wire::is_of_wire(finding) || Property::all().any(|own| own.clause() == finding.clause && own.is_must())
        };
        self.findings().iter().filter(is_must)
    }

    /// The breaches of what HTTP and the API demand, and those for which a request was refused. No case of any clause passes with one, since a
    /// provider saw them.
    pub fn breaches_of_wire(&self) -> impl Iterator<Item = &Finding> {
        self.findings().iter().filter(|finding| wire::is_of_wire(finding) || self.findings.refused.contains(finding))
    }

    /// Why the run shows nothing, if so.
    pub fn unsupported(&self) -> Option<&str> {
        let of_session = self.session.as_ref().and_then(|session| session.unsupported.as_deref());
        of_session.or_else(|| self.over_wire.as_ref()?.unsupported.as_deref())
    }

    /// Returns the notes, whatever the verdict.
    pub fn notes(&self) -> impl Iterator<Item = String> {
        let shared = self.looks_shared.then(|| record::LOOKS_SHARED.to_owned());
        shared.into_iter().chain(self.findings.notes.iter().cloned())
    }

    /// Returns whether a property holds.
    pub fn holds(&self, property: Property) -> Holding<'_> {
        let is_own = |finding: &&Finding| match property {
            Property::WireRules => wire::is_rule(finding.clause),
            _ => finding.clause == property.clause(),
        };
        if let (Property::SessionDeniedReason, Some(session)) = (property, &self.session) {
            let own: Vec<&Finding> = session.reasons.iter().collect();
            return if own.is_empty() { self.unless_blocked(property) } else { Holding::No(own) };
        }
        let own: Vec<&Finding> = self.findings().iter().chain(&self.findings.recommended).filter(is_own).collect();
        if !own.is_empty() {
            return Holding::No(own);
        }
        if property.is_of_wire() {
            // They are judged whatever else is wrong.
            let unseen = "the run did not go over the wire (`--provider`)";
            return if self.over_wire.is_some() { Holding::Yes } else { Holding::Unsupported(unseen) };
        }
        if property.is_of_gateway() {
            let is_through = self.over_wire.as_ref().is_some_and(|wire| wire.is_through);
            let unseen = "the run did not go through a gateway (`--through`)";
            return if is_through { Holding::Yes } else { Holding::Unsupported(unseen) };
        }
        self.unless_blocked(property)
    }

    /// Returns whether a property holds that no finding breaks.
    fn unless_blocked(&self, property: Property) -> Holding<'_> {
        let in_the_way = match &self.session {
            Some(session) if property.is_of_session() && !self.findings.cut_short => {
                session.in_the_way(property, self.findings())
            }
            _ => self.in_the_way(property.clause()),
        };
        if let Some(finding) = in_the_way {
            return Holding::Blocked(finding);
        }
        match self.findings.unobserved.iter().find(|(unobserved, _)| *unobserved == property) {
            Some((_, why)) => Holding::Unsupported(why),
            None => Holding::Yes,
        }
    }

    /// A breach that keeps a clause from being judged, so that nothing holds merely because it was never seen.
    fn in_the_way(&self, clause: &str) -> Option<&Finding> {
        let first = |clauses: &[&str]| self.findings().iter().find(|finding| clauses.contains(&finding.clause));
        if self.findings.cut_short
            && !(self.has_requests
                && matches!(clause, clause::AGENT_START | clause::AGENT_HISTORY | clause::AGENT_CALLER))
        {
            return self.findings().first();
        }
        match clause {
            clause::AGENT_END => {
                first(&[clause::AGENT_PREFIX, clause::AGENT_STOPS, clause::AGENT_LIMIT, clause::AGENT_MODEL_FAILURE])
            }
            clause::AGENT_IDS | clause::AGENT_ANSWERED | clause::AGENT_FAILURE if !self.pairs_up => {
                first(&[clause::AGENT_RESPONSE, clause::AGENT_PREFIX])
            }
            clause::AGENT_RESPONSE if !self.pairs_up => first(&[clause::AGENT_PREFIX]),
            clause::AGENT_ORDER
            | clause::AGENT_RESULT
            | clause::AGENT_RESULT_COMPACT
            | clause::AGENT_FAILURE_TOLD
            | clause::AGENT_TEXT
            | clause::AGENT_NUMBERS
            | clause::AGENT_ORDINARY
                if !self.pairs_up =>
            {
                first(&[
                    clause::AGENT_RESPONSE,
                    clause::AGENT_PREFIX,
                    clause::AGENT_ANSWERED,
                    clause::AGENT_FAILURE,
                    clause::AGENT_IDS,
                    clause::AGENT_VALID,
                ])
            }
            _ => None,
        }
    }
}
