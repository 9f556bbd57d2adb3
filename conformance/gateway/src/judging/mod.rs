//! The clauses GATE-*: what is wrong with a run through a gateway.
//!
//! | module | clauses |
//! |---|---|
//! | `forward` | GATE-FORWARD, GATE-INDEPENDENT as far as one run shows it, and retries of the gateway's own |

mod forward;
#[cfg(test)]
mod tests;

use crate::finding::{GateFinding, Sides};
use crate::run::{GatewayAttempts, GatewayRun};
use crate::sent::SentRequest;
use threadspec_provider::WireLevel;

/// Everything that a gateway changed in a run, in the order of the exchanges.
///
/// One fault has one name: of several clauses that could name a difference, the most particular one does. What the client did wrong itself
/// is not said here, nor is what a gateway may do: see the table of permitted differences in the documentation.
pub fn judge(run: &GatewayRun<'_>) -> Vec<GateFinding> {
    let mut judging = Judging::of(*run);
    forward::judge(&mut judging);
    let mut findings = judging.findings;
    findings.sort_by_key(|finding| finding.exchange);
    findings
}

/// A run that is being judged.
struct Judging<'a> {
    run: GatewayRun<'a>,
    pairs: GatewayAttempts,
    /// The requests of the client.
    sent: Vec<Option<SentRequest>>,
    findings: Vec<GateFinding>,
}

/// Where a finding belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct At {
    exchange: usize,
    attempt: Option<usize>,
}

impl At {
    fn exchange(exchange: usize) -> Self {
        Self { exchange, attempt: None }
    }

    fn attempt(exchange: usize, attempt: usize) -> Self {
        Self { exchange, attempt: Some(attempt) }
    }
}

impl<'a> Judging<'a> {
    fn of(run: GatewayRun<'a>) -> Self {
        let sent = run.exchanges.iter().map(SentRequest::read).collect();
        Self { run, pairs: run.attempts(), sent, findings: Vec::new() }
    }

    fn add(&mut self, at: At, clause: &'static str, level: WireLevel, what: impl AsRef<str>, sides: Option<Sides>) {
        let what = format!("request {}: {}", at.exchange + 1, what.as_ref());
        let finding = GateFinding { clause, level, what, exchange: at.exchange, attempt: at.attempt, sides };
        if !self.findings.iter().any(|known| known.clause == clause && known.what == finding.what) {
            self.findings.push(finding);
        }
    }

    fn must(&mut self, at: At, clause: &'static str, what: impl AsRef<str>) {
        self.add(at, clause, WireLevel::Must, what, None);
    }
}
