//! Which properties of profile `universal` a reply breaks: no reference is needed.

use threadspec_golden::clause;
use threadspec_judge::compare::Difference;
use threadspec_judge::protocol::Reply;
use threadspec_judge::universal::{self, Abilities, AgentReply, Finding, Others};

/// The clause that is broken when a valid input gets no proper answer.
pub(super) const ANSWERING: &str = clause::AGENT_GOES_ON;

/// The clauses that a reply breaks, each with the first finding.
pub(super) fn broken(input: &str, earlier: Option<&str>, abilities: Abilities, reply: &Reply) -> Vec<Difference> {
    let answer = match reply {
        Reply::Ok(output) => AgentReply::Output(output.clone()),
        Reply::Reject { message, .. } => AgentReply::Refusal(message),
        Reply::Unsupported(_) | Reply::Cut { .. } => return Vec::new(),
    };
    match universal::judge(input, &Others::of(earlier), abilities, answer) {
        Err(why) => vec![Difference::note(ANSWERING, format!("this is not an output of `tools`: {why}"))],
        Ok(ruling) => {
            let mut broken: Vec<Difference> = Vec::new();
            for Finding { clause, what } in ruling.findings() {
                if broken.iter().all(|known| known.clause != *clause) {
                    broken.push(Difference::note(clause, what.clone()));
                }
            }
            broken
        }
    }
}
