//! The judge of op `session`: whether several runs on one thread follow the clauses SESSION-*, and each run by itself the clauses
//! AGENT-*.
//!
//! It knows no framework and expects no output. The script and the reports say how the thread went (`thread`); each request is laid
//! beside it (`layout`), and what is missing, changed or sent twice is named once, by the clause that it breaks (`naming`).
//!
//! ```
//! use serde_json::json;
//! use threadspec_judge::session;
//! use threadspec_judge::universal::{Abilities, AgentReply, Others};
//!
//! let input = json!({"runs": [
//!     {"message": "Go", "model": [{"tool_calls": [{"id": "a", "name": "look"}]}], "cut": {"during": "a", "how": "cancel"}},
//!     {"message": "Well?", "model": [{"content": "Done."}]},
//! ], "tools": {"look": {"byId": {"a": "ra"}}}});
//! let (go, well) = (json!({"type": "human", "content": "Go"}), json!({"type": "human", "content": "Well?"}));
//! let call = json!({"type": "ai", "content": "", "tool_calls": [{"id": "a", "name": "look", "args": {}}]});
//! let output = json!({"runs": [
//!     {"requests": [[go]], "executed": [{"id": "a", "name": "look", "args": {}, "returned": false}]},
//!     {"requests": [[go, call, well]], "executed": []},
//! ]});
//! let answer = AgentReply::Output(output);
//! let ruling = session::judge(&input.to_string(), &Others::default(), Abilities::default(), answer)?;
//! let what = "SESSION-ANSWERED: run 2, request 1, message 2: the call `a` is not answered, which was cut";
//! assert_eq!(ruling.findings()[0].to_string(), what);
//! # Ok::<(), threadspec_judge::Error>(())
//! ```

mod answers;
mod execution;
mod images;
mod judging;
mod layout;
mod naming;
mod opaque;
mod prefix;
mod report;
mod request;
mod script;
mod steer;
mod stuck;
mod subjects;
mod systems;
mod thread;
mod within;

#[cfg(test)]
mod tests;

use crate::Error;
use crate::shape::SessionWireReport;
use crate::universal::others::SessionState;
use crate::universal::record::unwrap_answers;
use crate::universal::wire::{ProviderView, is_of_wire};
use crate::universal::{Abilities, AgentReply, Finding, Others, Ruling, WireState};
use judging::Judging;
use script::JudgedScript;
use threadspec_golden::clause;

pub use images::image_digest;
pub use subjects::subjects;

/// Judges a session by every clause. `others` are the sessions before it in the same process.
///
/// # Errors
///
/// Says why the input is not a script, or the output not one of op `session`.
pub fn judge(input: &str, others: &Others, abilities: Abilities, answer: AgentReply<'_>) -> Result<Ruling, Error> {
    judge_in(input, others, usize::MAX, abilities, answer)
}

/// The breaches of `must` clauses in a session, before which the first `step` of the others were in the same process.
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

fn judge_in(
    input: &str,
    others: &Others,
    step: usize,
    abilities: Abilities,
    answer: AgentReply<'_>,
) -> Result<Ruling, Error> {
    let mut session = JudgedScript::read(input)?;
    let output = match answer {
        AgentReply::Output(output) => output,
        AgentReply::Refusal(message) => {
            let what = format!("the whole session is rejected: {message}; a run that is refused says so in `refused`");
            return Ok(Ruling::of_refused_session(what));
        }
    };
    let (mut records, seen) = report::read(output, session.runs.len()).map_err(Error::new)?;
    if abilities.wraps_results {
        let requests = records.iter_mut().flat_map(|record| &mut record.requests);
        requests.for_each(|request| unwrap_answers(&mut request.messages));
    }
    let mut thinks_freely = false;
    let wire = match seen {
        None => None,
        Some(SessionWireReport { api, said, findings, adaptive, unsupported, .. }) => {
            session.hear(said)?;
            thinks_freely = adaptive.is(&true);
            Some(ProviderView::of(&api, findings, unsupported).map_err(Error::new)?)
        }
    };
    let mut judging = Judging { thinks_freely, ..Judging::new(&session, &records, abilities) };
    judging.judge();
    if step > 0 && !others.is_empty() {
        judging.judge_strangers(&others.strangers(input, step));
    }
    let Judging { mut findings, pairing, executed, reasons, unsupported, .. } = judging;
    let over_wire = wire.map(|wire| WireState { is_through: false, unsupported: wire.settle_session(&mut findings) });
    findings.deduplicate();
    debug_assert!(findings.found.iter().all(|found| is_of_wire(found) || clause::ALL.contains(&found.clause)));
    let asks = records.iter().any(report::RunAccount::asks);
    Ok(Ruling::of_session(findings, SessionState { pairing, executed, reasons, unsupported }, over_wire, asks))
}
