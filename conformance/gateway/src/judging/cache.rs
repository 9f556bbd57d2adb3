//! GATE-CACHE: where the client repeats its request before it goes on, the gateway does.

use super::{At, GateJudging};
use threadspec_golden::clause;
use threadspec_provider::{WireLevel, cache_loss};

/// Judges two requests that follow each other, if nothing else is wrong with either.
pub(super) fn judge(judging: &mut GateJudging<'_>) {
    let run = judging.run;
    for next in 1..run.exchanges.len() {
        let attempt = |exchange: usize| run.attempt(*judging.pairs.of_exchanges[exchange].first()?);
        let (Some(before), Some(after)) = (attempt(next - 1), attempt(next)) else { continue };
        let is_wrong = judging.findings.iter().any(|finding| {
            finding.level == WireLevel::Must && (finding.exchange == next || finding.exchange == next - 1)
        });
        let body = |exchange: usize| String::from_utf8_lossy(&run.exchanges[exchange].request.body).into_owned();
        if is_wrong || cache_loss(run.client, &body(next - 1), &body(next)).is_some() {
            continue;
        }
        if let Some(what) = cache_loss(after.api, &before.body, &after.body) {
            let position = judging.pairs.of_exchanges[next][0];
            judging.add(At::attempt(next, position), clause::GATE_CACHE, WireLevel::Should, what, None);
        }
    }
}
