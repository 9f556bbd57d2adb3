//! Decides what to send next, when to wait, and when to end.

use crate::options::ProbeOptions;
use crate::plan::LeftOutRule;
use crate::reply::{ProbeAnswer, ProbeReply};
use crate::request::{ProbePair, ProbeRequest};
use crate::secrets::Secrets;
use crate::verdict::{ProbeVerdict, ProbedRule};
use std::mem;
use std::time::Duration;
use threadspec::oracle::Api;

/// How often a request is sent again after 429.
const AGAIN: u32 = 3;
/// Who asks for more patience than this is not asked again.
const LONGEST_WAIT: Duration = Duration::from_secs(300);
/// How long to wait after the first 429 that does not say how long.
const USUAL_WAIT: Duration = Duration::from_secs(1);

/// The most that a run may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProbeLimits {
    /// How many requests it sends at most.
    pub requests: usize,
    /// How long it waits between two of them.
    pub pause: Duration,
}

impl Default for ProbeLimits {
    fn default() -> Self {
        Self { requests: 120, pause: Duration::from_millis(200) }
    }
}

/// The next step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProbeStep {
    /// Send this, and [report](ProbeRun::heard) what comes.
    Send(ProbeRequest),
    /// Let so much time pass.
    Wait(Duration),
    /// It is over.
    End,
}

/// A run: requests go out one after the other, and nothing is sent twice but what was answered with 429.
#[derive(Debug)]
pub struct ProbeRun {
    api: Api,
    pairs: Vec<ProbePair>,
    limits: ProbeLimits,
    secrets: Secrets,
    sent: usize,
    /// How often the request under way was sent.
    tries: u32,
    /// How long to wait before the next request.
    wait: Duration,
    twin: Option<ProbeAnswer>,
    results: Vec<ProbedRule>,
    ended: Option<String>,
}

impl ProbeRun {
    /// A run that has sent nothing yet. `pairs` are those of a [`ProbePlan`](crate::ProbePlan).
    pub fn new(options: &ProbeOptions, pairs: Vec<ProbePair>, limits: ProbeLimits, secrets: Secrets) -> Self {
        Self {
            api: options.api,
            pairs,
            limits,
            secrets,
            sent: 0,
            tries: 0,
            wait: Duration::ZERO,
            twin: None,
            results: Vec::new(),
            ended: None,
        }
    }

    /// Returns the next step.
    #[allow(clippy::should_implement_trait, reason = "the caller reports answers between two steps")]
    pub fn next(&mut self) -> ProbeStep {
        if self.ended.is_some() {
            return ProbeStep::End;
        }
        let Some(pair) = self.pairs.get(self.results.len()) else { return ProbeStep::End };
        // A request without the fault teaches nothing alone.
        let needed = if self.twin.is_none() && self.tries == 0 { 2 } else { 1 };
        if self.sent + needed > self.limits.requests {
            self.end(format!("--max-requests {} is reached", self.limits.requests));
            return ProbeStep::End;
        }
        let wait = mem::take(&mut self.wait);
        if !wait.is_zero() {
            return ProbeStep::Wait(wait);
        }
        self.sent += 1;
        self.tries += 1;
        ProbeStep::Send(if self.twin.is_none() { pair.twin.clone() } else { pair.broken.clone() })
    }

    /// Takes the outcome of the request: a reply, or the reason why there is none.
    pub fn heard(&mut self, reply: Result<ProbeReply, String>) {
        self.wait = self.limits.pause;
        if let Ok(reply) = &reply
            && reply.status == 429
            && self.tries <= AGAIN
        {
            let wait = reply.retry_after().unwrap_or(USUAL_WAIT * 2_u32.pow(self.tries - 1));
            if wait <= LONGEST_WAIT {
                self.wait = wait.max(self.limits.pause);
                return;
            }
        }
        self.tries = 0;
        let answer = match reply {
            Ok(reply) => ProbeAnswer::read(self.api, &reply, &self.secrets),
            Err(why) => ProbeAnswer::nothing(&why, &self.secrets),
        };
        match self.twin.take() {
            // Nothing would be learnt of the other one.
            None if answer.is_no_verdict() => self.conclude(answer, None),
            None => self.twin = Some(answer),
            Some(twin) => self.conclude(twin, Some(answer)),
        }
    }

    fn conclude(&mut self, twin: ProbeAnswer, broken: Option<ProbeAnswer>) {
        let Some(pair) = self.pairs.get(self.results.len()) else { return };
        self.results.push(ProbedRule::new(pair, twin, broken));
        let last: Vec<&ProbedRule> = self.results.iter().rev().take(2).collect();
        let are_unknown = last.len() == 2 && last.iter().all(|one| one.verdict == ProbeVerdict::Unknown);
        if are_unknown && self.results.len() < self.pairs.len() {
            let answer = last[0].broken.as_ref().unwrap_or(&last[0].twin);
            let status = answer.status.map(|status| format!("{status}: ")).unwrap_or_default();
            self.end(format!(
                "nothing was learnt of two rules in a row; the server answered: {status}{}",
                answer.words
            ));
        }
    }

    /// Ends the run here.
    pub fn end(&mut self, why: impl Into<String>) {
        self.ended.get_or_insert(why.into());
    }

    /// Returns the results so far.
    pub fn results(&self) -> &[ProbedRule] {
        &self.results
    }

    /// How many requests were sent.
    pub fn requests(&self) -> usize {
        self.sent
    }

    /// Why it ended before all was asked, if it did.
    pub fn ended(&self) -> Option<&str> {
        self.ended.as_deref()
    }

    /// The rules that it did not come to.
    pub fn not_asked(&self) -> Vec<LeftOutRule> {
        let why = self.ended.as_deref().unwrap_or("the run is not over").to_owned();
        let rest = self.pairs.iter().skip(self.results.len());
        rest.map(|pair| LeftOutRule { rule: pair.rule.id.clone(), why: why.clone() }).collect()
    }
}
