//! The clauses GATE-*: what is wrong with a run through a gateway.
//!
//! | module | clauses |
//! |---|---|
//! | `forward` | GATE-FORWARD, GATE-INDEPENDENT as far as one run shows it, and retries of the gateway's own |
//! | `sayable` | what a gateway may refuse |
//! | `request` | what was sent beside what arrived |
//! | `valid` | GATE-VALID |
//! | `answer` | the answer as it was sent, compared with what the client read |
//! | `cache` | GATE-CACHE |

mod answer;
mod cache;
mod forward;
mod request;
mod sayable;
#[cfg(test)]
mod tests;
mod valid;

use crate::finding::{BothSides, GateFinding};
use crate::run::{GatewayAttempts, GatewayRun};
use crate::sent::SentByClient;
use request::{KnownIds, KnownNames};
use threadspec_golden::clause;
use threadspec_provider::WireLevel;

/// Everything that a gateway changed in a run, in the order of the exchanges.
///
/// One fault has one name: of several clauses that could name a difference, the most particular one does, and a difference that comes again
/// in later requests is reported once. Faults of the client itself are not reported here, nor permitted changes.
pub fn judge(run: &GatewayRun<'_>) -> Vec<GateFinding> {
    let mut judging = GateJudging::of(*run);
    let sent: Vec<_> = (0..run.exchanges.len()).map(|exchange| judging.sent(exchange)).collect();
    forward::judge(&mut judging);
    for (exchange, sent) in sent.iter().enumerate() {
        judging.exchange(exchange, sent.as_ref());
    }
    if !judging.is_verbatim {
        cache::judge(&mut judging);
    }
    let mut findings = judging.findings;
    findings.sort_by_key(|finding| finding.exchange);
    findings
}

/// A run that is being judged.
struct GateJudging<'a> {
    run: GatewayRun<'a>,
    pairs: GatewayAttempts,
    /// True if every request arrived as it was sent, so that there is nothing to compare. Of ids that are mapped later on, the first
    /// request tells what they were.
    is_verbatim: bool,
    ids: KnownIds,
    names: KnownNames,
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

impl<'a> GateJudging<'a> {
    fn of(run: GatewayRun<'a>) -> Self {
        let (pairs, ids, names) = (run.attempts(), KnownIds::default(), KnownNames::new(run.record.api));
        let mut firsts = pairs.of_exchanges.iter().enumerate();
        let is_verbatim =
            firsts.all(|(exchange, of)| of.first().is_none_or(|first| run.as_sent(exchange, *first).is_some()));
        Self { run, pairs, is_verbatim, ids, names, findings: Vec::new() }
    }

    /// Returns the client's request, read once where it arrived unchanged.
    fn sent(&self, exchange: usize) -> Option<SentByClient<'a>> {
        let first = self.pairs.of_exchanges[exchange].first();
        match first.and_then(|first| self.run.as_sent(exchange, *first)) {
            Some(attempt) => SentByClient::as_arrived(&self.run.exchanges[exchange], attempt),
            None => SentByClient::read(&self.run.exchanges[exchange]),
        }
    }

    /// Judges an exchange: its request, then its answer.
    fn exchange(&mut self, exchange: usize, sent: Option<&SentByClient<'a>>) {
        let run = self.run;
        let positions = self.pairs.of_exchanges[exchange].clone();
        let (Some(&first), Some(&last)) = (positions.first(), positions.last()) else {
            return forward::judge_silence(self, exchange, sent);
        };
        let (Some(asked), Some(answered)) = (run.attempt(first), run.attempt(last)) else { return };
        let at = At::attempt(exchange, first);
        // What another run declared has no place here.
        let own = sent.and_then(|sent| request::marks_of(&sent.request.tools).next());
        let arrived = asked.request.iter().flat_map(|request| request::marks_of(&request.tools));
        if let Some((own, other)) = own.and_then(|own| Some((own, arrived.into_iter().find(|mark| *mark != own)?))) {
            let what = format!("a tool of the run `{other}` arrives in the run `{own}`");
            return self.must(at, clause::GATE_INDEPENDENT, what);
        }
        if let Some(sent) = sent.filter(|_| !self.is_verbatim) {
            request::judge(self, at, sent, asked);
        }
        valid::judge(self, at, sent, asked, first);
        if positions.len() > 1 {
            forward::judge_retries_of(self, exchange);
        }
        if let Some(sent) = sent {
            answer::judge(self, At::attempt(exchange, last), sent, answered);
        }
    }

    fn add(&mut self, at: At, clause: &'static str, level: WireLevel, what: impl AsRef<str>, sides: Option<BothSides>) {
        let what = what.as_ref();
        // The same difference in a later request is the same fault.
        let is_known = |known: &GateFinding| {
            let same = known.what.split_once(": ").is_some_and(|(_, known)| known == what);
            known.clause == clause && same
        };
        if !self.findings.iter().any(is_known) {
            let what = format!("request {}: {what}", at.exchange + 1);
            self.findings.push(GateFinding { clause, level, what, exchange: at.exchange, attempt: at.attempt, sides });
        }
    }

    fn must(&mut self, at: At, clause: &'static str, what: impl AsRef<str>) {
        self.add(at, clause, WireLevel::Must, what, None);
    }
}
