//! The outcome of a run, as JSON, and what it comes to.

use crate::error::Error;
use crate::plan::LeftOutRule;
use crate::verdict::{ProbeVerdict, ProbedRule};
use serde::{Deserialize, Serialize};

/// The results of probing a server. It names the host, never a path, a query or a key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProbeReport {
    /// The version of threadspec.
    pub threadspec: String,
    /// `openai-chat`, `openai-responses` or `anthropic`.
    pub api: String,
    /// Who was asked: host and port.
    pub host: String,
    /// The model that was asked for.
    pub model: String,
    /// The header `anthropic-version`, if it was not the usual one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// True if the answers should be streams.
    pub stream: bool,
    /// The day, as `2026-12-01`.
    pub date: String,
    /// How many requests were sent.
    pub requests: usize,
    /// Why it ended before all was asked, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// The result of each rule.
    pub rules: Vec<ProbedRule>,
    /// The rules that were not asked.
    pub not_asked: Vec<LeftOutRule>,
    /// Allowed deviations that no longer occur.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub out_of_date: Vec<String>,
}

/// The conclusion of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeConclusion {
    /// Every rule that was asked agrees, or is allowed not to.
    AllAgree,
    /// Some do not, or it ended before all was asked.
    SomeDiffer,
    /// Nothing was learnt.
    NothingLearnt,
}

impl ProbeReport {
    /// Returns its conclusion.
    pub fn conclusion(&self) -> ProbeConclusion {
        if self.rules.iter().all(|one| one.verdict == ProbeVerdict::Unknown) {
            ProbeConclusion::NothingLearnt
        } else if self.rules.iter().all(ProbedRule::is_fine) && self.ended.is_none() && self.out_of_date.is_empty() {
            ProbeConclusion::AllAgree
        } else {
            ProbeConclusion::SomeDiffer
        }
    }

    /// How many rules have each verdict: `3 agree, 11 silent`.
    pub fn counts(&self) -> String {
        let of = |verdict: ProbeVerdict| self.rules.iter().filter(|one| one.verdict == verdict).count();
        let counts = ProbeVerdict::ALL.into_iter().map(|verdict| (of(verdict), verdict));
        let counts: Vec<String> =
            counts.filter(|(count, _)| *count > 0).map(|(count, verdict)| format!("{count} {verdict}")).collect();
        counts.join(", ")
    }

    /// As JSON, with a line for each rule.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// Reads what [`to_json`](Self::to_json) wrote.
    ///
    /// # Errors
    ///
    /// Says where it is not that.
    pub fn read(text: &str) -> Result<Self, Error> {
        serde_json::from_str(text).map_err(|error| Error::new(format_args!("no report of `probe`: {error}")))
    }
}
