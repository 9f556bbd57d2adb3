//! Decides what to send next, when to wait and when to end, estimates what it costs, and judges the two answers to a rule.

use crate::plan::{LeftOutRule, ProbePlan};
use crate::reply::{ProbeAnswer, ProbeReply, Secrets, Taken};
use crate::request::{ExpectedRefusal, ProbeOptions, ProbePair, ProbeRequest};
use serde::{Deserialize, Serialize};
use std::str::FromStr;
use std::time::Duration;
use std::{fmt, mem};
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
            let said =
                answer.status.map_or("no answer came".to_owned(), |status| format!("the server answered {status}"));
            self.end(format!("nothing was learnt of two rules in a row; {said}: {}", answer.words));
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
        let why = if self.ended.is_some() { "the run ended before it" } else { "the run is not over" }.to_owned();
        let rest = self.pairs.iter().skip(self.results.len());
        rest.map(|pair| LeftOutRule { rule: pair.rule.id.clone(), why: why.clone() }).collect()
    }
}

// Judges the two answers to a rule.

/// Rules about calls and results: who accepts their breach answers although the two do not match.
const ABOUT_RESULTS: &[&str] = &["-ANSWERED", "-ORPHAN", "-ONE-"];

/// The verdict on a server and a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProbeVerdict {
    /// It refuses the broken request, and answers the valid one: the rule holds there.
    Agrees,
    /// It answers both: a mistake is taken as if it were none.
    Silent,
    /// It refuses both: another rule of that server, or a fault of our valid request.
    Stricter,
    /// It refuses the valid request, and answers the broken one.
    Backwards,
    /// It fails on the broken request, so that clients send it again.
    Crashes,
    /// Nothing is learnt.
    Unknown,
}

impl ProbeVerdict {
    /// Every verdict, the best first.
    pub const ALL: [Self; 6] =
        [Self::Agrees, Self::Silent, Self::Stricter, Self::Backwards, Self::Crashes, Self::Unknown];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Agrees => "agrees",
            Self::Silent => "silent",
            Self::Stricter => "stricter",
            Self::Backwards => "backwards",
            Self::Crashes => "crashes",
            Self::Unknown => "unknown",
        }
    }

    /// Judges a pair of answers; the second one may be missing.
    pub(crate) fn of(twin: &ProbeAnswer, broken: Option<&ProbeAnswer>, pair: &ProbePair) -> Self {
        let Some(broken) = broken else { return Self::Unknown };
        let is_refusal = |answer: &ProbeAnswer| match (answer.taken, answer.status) {
            (Taken::Refused, _) if answer.in_stream => true,
            (Taken::Refused, Some(status)) => {
                status == pair.expected.status || matches!(status, 400..=422) && !matches!(status, 401..=403 | 408)
            }
            _ => false,
        };
        match (twin.taken, broken.taken) {
            (Taken::Accepted, Taken::Accepted) => Self::Silent,
            (Taken::Accepted, Taken::Refused) if is_refusal(broken) => Self::Agrees,
            (Taken::Accepted, Taken::Failed) => Self::Crashes,
            (Taken::Refused, Taken::Accepted) => Self::Backwards,
            (Taken::Refused, Taken::Refused) if is_refusal(broken) => Self::Stricter,
            _ => Self::Unknown,
        }
    }
}

impl fmt::Display for ProbeVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for ProbeVerdict {
    type Err = super::Error;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|verdict| verdict.name() == name);
        found.ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.into_iter().map(Self::name).collect();
            super::Error::new(format_args!("there is no verdict `{name}`; they are {}", names.join(", ")))
        })
    }
}

/// The result of a rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProbedRule {
    /// Its id.
    pub rule: String,
    /// How sure it is, in words.
    pub evidence: String,
    /// The verdict on the server.
    pub verdict: ProbeVerdict,
    /// True if the model answers although calls and results do not match.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fabricates: bool,
    /// True if this verdict is allowed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub allowed: bool,
    /// How it would refuse, as far as is known.
    pub expected: ExpectedRefusal,
    /// The answer to the request that keeps the rule.
    pub twin: ProbeAnswer,
    /// The answer to the one that breaks it, if it was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub broken: Option<ProbeAnswer>,
}

impl ProbedRule {
    pub(crate) fn new(pair: &ProbePair, twin: ProbeAnswer, broken: Option<ProbeAnswer>) -> Self {
        let verdict = ProbeVerdict::of(&twin, broken.as_ref(), pair);
        Self {
            rule: pair.rule.id.clone(),
            evidence: pair.rule.evidence(),
            verdict,
            fabricates: verdict == ProbeVerdict::Silent && ABOUT_RESULTS.iter().any(|part| pair.rule.id.contains(part)),
            allowed: false,
            expected: pair.expected.clone(),
            twin,
            broken,
        }
    }

    /// Returns whether it is as it should be.
    pub fn is_fine(&self) -> bool {
        self.verdict == ProbeVerdict::Agrees || self.allowed
    }

    /// The members of the refusal that are not as expected: `status`, `code`, `param`, `words`.
    ///
    /// In a stream there is no status.
    pub fn differences(&self) -> Vec<&'static str> {
        let (Some(broken), ProbeVerdict::Agrees) = (&self.broken, self.verdict) else { return Vec::new() };
        let ExpectedRefusal { status, code, param, words } = &self.expected;
        let members = [
            ("status", broken.in_stream || broken.status == Some(*status)),
            ("code", broken.code == *code),
            ("param", broken.param == *param),
            ("words", broken.words == *words),
        ];
        members.into_iter().filter(|(_, is_same)| !is_same).map(|(name, _)| name).collect()
    }
}

// Estimates the most that a run sends and costs.

/// A token has three bytes or more: JSON is dense.
const BYTES_OF_TOKEN: usize = 3;

/// The most that a run will send.
///
/// ```
/// use threadspec::oracle::Api;
/// use threadspec_probe::{ProbeEstimate, ProbeLimits, ProbeOptions, probe_plan};
/// let options = ProbeOptions { rules: vec!["ANT-ORPHAN".into()], ..ProbeOptions::new(Api::Anthropic, "m") };
/// let estimate = ProbeEstimate::of(&probe_plan(&options)?, &options, ProbeLimits::default());
/// assert_eq!((estimate.requests, estimate.tokens_out), (2, 32));
/// assert!((estimate.cost(1e6, 1e6) - (estimate.tokens_in + 32) as f64).abs() < 1e-6);
/// # Ok::<(), threadspec_probe::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProbeEstimate {
    /// How many rules are asked about.
    pub rules: usize,
    /// How many requests, without those that are sent again after 429.
    pub requests: usize,
    /// The bytes of their bodies.
    pub bytes: usize,
    /// At most so many tokens go in.
    pub tokens_in: usize,
    /// At most so many come out: a server that refuses sends none.
    pub tokens_out: usize,
}

impl ProbeEstimate {
    /// The figures of a plan.
    pub fn of(plan: &ProbePlan, options: &ProbeOptions, limits: ProbeLimits) -> Self {
        let bodies = plan.pairs.iter().flat_map(|pair| [&pair.twin, &pair.broken]);
        // Pairs are not divided.
        let bodies: Vec<usize> = bodies.take(limits.requests / 2 * 2).map(ProbeRequest::bytes).collect();
        let tokens_out = bodies.len().saturating_mul(usize::try_from(options.max_tokens).unwrap_or(usize::MAX));
        let thinking = plan.pairs.iter().filter(|pair| pair.twin.body.contains("\"budget_tokens\"")).count();
        Self {
            rules: bodies.len() / 2,
            requests: bodies.len(),
            bytes: bodies.iter().sum(),
            tokens_in: bodies.iter().map(|bytes| bytes.div_ceil(BYTES_OF_TOKEN)).sum(),
            // The smallest budget that the API takes.
            tokens_out: tokens_out.saturating_add(thinking * 2 * 1024),
        }
    }

    /// Returns its cost at most, at prices for a million tokens in and out.
    #[allow(clippy::cast_precision_loss, reason = "nobody pays for that many")]
    pub fn cost(&self, price_in: f64, price_out: f64) -> f64 {
        (self.tokens_in as f64 * price_in + self.tokens_out as f64 * price_out) / 1e6
    }
}

impl fmt::Display for ProbeEstimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rules, requests, bytes, tokens_in, tokens_out } = self;
        write!(
            f,
            "{requests} requests for {rules} rules, {bytes} bytes; at most {tokens_in} tokens in and {tokens_out} out"
        )
    }
}
