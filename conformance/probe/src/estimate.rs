//! Estimates the most that a run sends and costs.

use crate::options::ProbeOptions;
use crate::plan::ProbePlan;
use crate::request::ProbeRequest;
use crate::run::ProbeLimits;
use std::fmt;

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
