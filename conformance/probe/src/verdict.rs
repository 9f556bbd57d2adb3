//! Judges the two answers to a rule.

use crate::reply::{ProbeAnswer, Taken};
use crate::request::{ExpectedRefusal, ProbePair};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Rules about what was asked and answered: who accepts their breach answers about a result that nobody ever saw.
const ABOUT_RESULTS: [&str; 3] = ["-ANSWERED", "-ORPHAN", "-ONE-"];

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
    type Err = crate::Error;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|verdict| verdict.name() == name);
        found.ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.into_iter().map(Self::name).collect();
            crate::Error::new(format_args!("there is no verdict `{name}`; they are {}", names.join(", ")))
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
    /// True if the model answers about a result that it never saw.
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
