//! GATE-FORWARD: what the client asks is asked once, and nothing else is. GATE-INDEPENDENT as far as one run shows it: nothing of another run
//! arrives, and no refusal has its reason in one.

use super::{At, GateJudging, sayable};
use crate::finding::Way;
use crate::sent::SentByClient;
use crate::shown::{self, quoted};
use serde_json::Value;
use threadspec_apis::ApiError;
use threadspec_golden::clause;
use threadspec_judge::universal::value;
use threadspec_provider::client::ClientResponse;
use threadspec_provider::{Attempt, Stray, StrayReason, WireLevel, WireRecord, judge_retries};

const CLAUSE: &str = clause::GATE_FORWARD;

pub(super) fn judge(judging: &mut GateJudging<'_>) {
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
pub(super) fn judge_silence(judging: &mut GateJudging<'_>, exchange: usize, sent: Option<&SentByClient<'_>>) {
    let run = judging.run;
    let own = &run.exchanges[exchange];
    // What went astray meanwhile has been named.
    if run.record.strays.iter().any(|stray| stray.method == "POST" && own.began <= stray.at && stray.at <= own.ended) {
        return;
    }
    let text = String::from_utf8_lossy(&own.request.body);
    let why = sayable::reason_to_refuse(sent, &text, run.record.api);
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
    let before = sent.map_or_else(|| shown::near(&text, ""), |sent| shown::body(sent.body(), None, ""));
    let sides = shown::sides(Way::Request, before, "nothing", own);
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
pub(super) fn judge_retries_of(judging: &mut GateJudging<'_>, exchange: usize) {
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
