//! Judges the clauses GATE-*: what is wrong with a run through a gateway.

mod answer;
mod request;
#[cfg(test)]
mod tests;
mod valid;

use crate::finding;
use crate::finding::{BothSides, GateFinding, Way, quoted};
use crate::run::{GatewayAttempts, GatewayRun, SentByClient};
use request::{KnownIds, KnownNames};
use serde_json::Value;
use threadspec_apis::ApiError;
use threadspec_golden::clause;
use threadspec_judge::universal::value;
use threadspec_provider::client::ClientResponse;
use threadspec_provider::{Attempt, Stray, StrayReason, WireLevel, WireRecord, cache_loss, judge_retries};

/// Everything that a gateway changed in a run, in the order of the exchanges.
///
/// One fault has one name: of several clauses that could name a difference, the most particular one does, and a difference that comes again
/// in later requests is reported once. Faults of the client itself are not reported here, nor permitted changes.
pub fn judge(run: &GatewayRun<'_>) -> Vec<GateFinding> {
    let mut judging = GateJudging::of(*run);
    let sent: Vec<_> = (0..run.exchanges.len()).map(|exchange| judging.sent(exchange)).collect();
    judge_forward(&mut judging);
    for (exchange, sent) in sent.iter().enumerate() {
        judging.exchange(exchange, sent.as_ref());
    }
    if !judging.is_verbatim {
        judge_cache(&mut judging);
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
            return judge_silence(self, exchange, sent);
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
            judge_retries_of(self, exchange);
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

// GATE-FORWARD: what the client asks is asked once, and nothing else is. GATE-INDEPENDENT as far as one run shows it: nothing of another run
// arrives, and no refusal has its reason in one.

const CLAUSE: &str = clause::GATE_FORWARD;

fn judge_forward(judging: &mut GateJudging<'_>) {
    let run = judging.run;
    for stray in &run.record.strays {
        judge_stray(judging, stray);
    }
    for position in judging.pairs.unasked.clone() {
        let Some(attempt) = run.attempt(position) else { continue };
        let before = run.exchanges.iter().rposition(|exchange| exchange.began <= attempt.at).unwrap_or_default();
        let what = format!("POST {} arrived while nobody asked; it was answered", attempt.target);
        judging.must(At::attempt(before, position), CLAUSE, what);
    }
}

/// Judges an exchange of which nothing arrived.
fn judge_silence(judging: &mut GateJudging<'_>, exchange: usize, sent: Option<&SentByClient<'_>>) {
    let run = judging.run;
    let own = &run.exchanges[exchange];
    // What went astray meanwhile has been named.
    if run.record.strays.iter().any(|stray| stray.method == "POST" && own.began <= stray.at && stray.at <= own.ended) {
        return;
    }
    let text = String::from_utf8_lossy(&own.request.body);
    let why = valid::reason_to_refuse(sent, &text, run.record.api);
    let sayable =
        why.map_or_else(|| format!("{} can say it", run.record.api), |why| format!("it may be refused, since {why}"));
    let (clause, what) = match &own.response {
        None => (CLAUSE, format!("nothing arrives, and the client receives nothing; {sayable}")),
        Some(response) => {
            let words = words_of(response);
            let status = response.status;
            match status {
                400..500 if why.is_some() && ![408, 409, 429].contains(&status) => {
                    if !words.is_empty() {
                        return;
                    }
                    (CLAUSE, format!("it is refused with {status}, without a reason"))
                }
                // Where nothing failed before, somebody else's failure is the reason.
                429 | 503 if !has_failed(run.record, own.began) => (
                    clause::GATE_INDEPENDENT,
                    format!(
                        "it is refused with {status} before anything is sent, though nothing failed in this run: {}",
                        quoted(&words)
                    ),
                ),
                _ => (
                    CLAUSE,
                    format!("nothing arrives, and the client receives {status}: {}; {sayable}", quoted(&words)),
                ),
            }
        }
    };
    let before = sent.map_or_else(|| finding::near(&text, ""), |sent| finding::body(sent.body(), None, ""));
    let sides = finding::sides(Way::Request, before, "nothing", own);
    judging.add(At::exchange(exchange), clause, WireLevel::Must, what, Some(sides));
}

/// The message of an error, or else what the body says.
fn words_of(response: &ClientResponse) -> String {
    let body = response.body();
    let text = String::from_utf8_lossy(&body);
    let read = value::read(&text).unwrap_or_else(|_| Value::from(&*text));
    let message = ApiError::read(response.status, &read).message;
    // An error whose message is empty says nothing, whatever is around it.
    if message.trim().is_empty() && read.get("error").is_none() { text.trim().to_owned() } else { message }
}

fn has_failed(record: &WireRecord, before: std::time::Duration) -> bool {
    record.attempts.iter().any(|attempt| attempt.at < before && attempt.failed())
}

/// Judges the attempts of an exchange of which there are several.
fn judge_retries_of(judging: &mut GateJudging<'_>, exchange: usize) {
    let run = judging.run;
    let positions = judging.pairs.of_exchanges[exchange].clone();
    let attempts: Vec<&Attempt> = positions.iter().filter_map(|position| run.attempt(*position)).collect();
    let served = attempts.iter().rev().skip(1).position(|attempt| !attempt.failed());
    if served.is_some() {
        let what = format!("it arrives {} times, though it was answered before", attempts.len());
        let last = positions.last().copied();
        return judging.must(At { exchange, attempt: last }, CLAUSE, what);
    }
    let own = attempts.into_iter().map(|attempt| Attempt { ask: 0, ..attempt.clone() }).collect();
    let record = WireRecord { attempts: own, strays: Vec::new(), runs: Vec::new(), ..run.record.clone() };
    for finding in judge_retries(&record) {
        let what = finding
            .what
            .strip_prefix("request 1")
            .unwrap_or(&finding.what)
            .trim_start_matches([',', ':', ' '])
            .to_owned();
        let last = positions.last().copied();
        judging.add(
            At { exchange, attempt: last },
            finding.clause,
            finding.level,
            format!("the gateway tries again: {what}"),
            None,
        );
    }
}

fn judge_stray(judging: &mut GateJudging<'_>, stray: &Stray) {
    let Stray { at, method, target, status, why, .. } = stray;
    // Programs look around before they ask.
    if method != "POST" {
        return;
    }
    let exchange = judging.run.exchanges.iter().rposition(|exchange| exchange.began <= *at).unwrap_or_default();
    let (clause, why) = match why {
        StrayReason::NoKey => (CLAUSE, "arrived without a key"),
        StrayReason::UnknownKey => (CLAUSE, "arrived with a key that nobody gave out"),
        StrayReason::Late => (clause::GATE_INDEPENDENT, "belongs to a run that was over"),
        StrayReason::Unasked => (CLAUSE, "arrived while nobody asked"),
        StrayReason::Path => (CLAUSE, "arrived, and nothing is behind that path"),
        StrayReason::Method => (CLAUSE, "arrived with a method that the path does not take"),
        StrayReason::OtherApi => (CLAUSE, "arrived, which is a request of another API"),
        StrayReason::Unreadable => (CLAUSE, "arrived, and could not be read"),
    };
    judging.must(At::exchange(exchange), clause, format!("{method} {target} {why}; it was answered with {status}"));
}

// GATE-CACHE: where the client repeats its request before it goes on, the gateway does.

/// Judges two requests that follow each other, if nothing else is wrong with either.
fn judge_cache(judging: &mut GateJudging<'_>) {
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
