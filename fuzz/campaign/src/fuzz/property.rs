//! Judges replies by the properties of profile `universal`, without a reference.

use threadspec_golden::clause;
use threadspec_judge::Error;
use threadspec_judge::compare::{Difference, answering_clause};
use threadspec_judge::protocol::{Op, Reply};
use threadspec_judge::universal::{Abilities, AgentReply, Finding, Holding, Others, Property, Ruling};
use threadspec_judge::{session, universal};

/// A part of SESSION-DENIED that is only a `should`, by the name that it has in cases.
pub(super) const DENIED_REASON: &str = "session-denied-reason";

/// The clause that is broken when a valid input gets no proper answer.
pub(super) fn answering(op: Op) -> &'static str {
    if op == Op::Session { answering_clause(op) } else { clause::AGENT_GOES_ON }
}

/// Judges a reply.
pub(super) enum JudgedReply {
    /// The clauses that it breaks, each with the first finding.
    Clauses(Vec<BrokenClause>),
    /// It shows nothing.
    Unsupported,
}

/// A clause that is broken.
pub(super) struct BrokenClause {
    pub(super) difference: Difference,
    /// The part of the clause, if it is not the clause as such.
    pub(super) part: &'static str,
}

/// Judges a reply.
pub(super) fn judged(op: Op, input: &str, earlier: Option<&str>, abilities: Abilities, reply: &Reply) -> JudgedReply {
    let answer = match reply {
        Reply::Ok(output) => AgentReply::Output(output.clone()),
        Reply::Reject { message, .. } => AgentReply::Refusal(message),
        Reply::Unsupported(_) | Reply::Cut { .. } => return JudgedReply::Unsupported,
    };
    match ruling(op, input, earlier, abilities, answer) {
        Err(why) => {
            let difference = Difference::note(answering(op), format!("this is not an output of `{op}`: {why}"));
            JudgedReply::Clauses(vec![BrokenClause { difference, part: "" }])
        }
        Ok(ruling) if ruling.unsupported().is_some() => JudgedReply::Unsupported,
        Ok(ruling) => JudgedReply::Clauses(broken(&ruling)),
    }
}

fn ruling(
    op: Op,
    input: &str,
    earlier: Option<&str>,
    abilities: Abilities,
    answer: AgentReply<'_>,
) -> Result<Ruling, Error> {
    let others = Others::of(earlier);
    match op {
        Op::Session => session::judge(input, &others, abilities, answer),
        _ => universal::judge(input, &others, abilities, answer),
    }
}

fn broken(ruling: &Ruling) -> Vec<BrokenClause> {
    let mut broken: Vec<BrokenClause> = Vec::new();
    for Finding { clause, what } in ruling.findings() {
        if broken.iter().all(|known| known.difference.clause != *clause) {
            broken.push(BrokenClause { difference: Difference::note(clause, what.clone()), part: "" });
        }
    }
    // It stands apart from the others, since its lack is not a breach of the clause as such.
    if let Holding::No(findings) = ruling.holds(Property::SessionDeniedReason)
        && let Some(Finding { clause, what }) = findings.first()
        && broken.iter().all(|known| known.difference.clause != *clause)
    {
        broken.push(BrokenClause { difference: Difference::note(clause, what.clone()), part: DENIED_REASON });
    }
    broken
}
