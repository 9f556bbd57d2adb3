//! Plans which rules are probed, and which are left out.

use crate::error::Error;
use crate::request::{ProbeOptions, ProbePair, pair};
use serde::{Deserialize, Serialize};
use threadspec::oracle::RequestHeaders;
use threadspec_apis::rule_applies;
use threadspec_golden::{RuleEntry, provider_rules};
use wildmatch::WildMatch;

/// A longer request is sent only on demand.
const LARGE: usize = 1_000_000;

/// The requests that will be sent, and the rules that are left out.
#[derive(Clone, Debug)]
pub struct ProbePlan {
    /// The rules with their requests, in the order of `provider-rules.json`, those with images last.
    pub pairs: Vec<ProbePair>,
    /// The rules of the API that are meant, and not asked.
    pub left_out: Vec<LeftOutRule>,
}

/// A rule that was not asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOutRule {
    /// Its id.
    pub rule: String,
    /// Why.
    pub why: String,
}

/// The rules to ask, with their requests.
///
/// ```
/// use threadspec::oracle::Api;
/// use threadspec_probe::{ProbeOptions, probe_plan};
/// let plan = probe_plan(&ProbeOptions::new(Api::Anthropic, "claude-sonnet-4-5"))?;
/// assert!(plan.pairs.iter().any(|pair| pair.rule.id == "ANT-ORPHAN"));
/// assert!(plan.left_out.iter().any(|left| left.rule == "ANT-PREFILL" && left.why.contains("claude-sonnet-4-5")));
/// # Ok::<(), threadspec_probe::Error>(())
/// ```
///
/// # Errors
///
/// When the globs name no rule of the API, or nothing is left to ask.
pub fn probe_plan(options: &ProbeOptions) -> Result<ProbePlan, Error> {
    let name = options.api.to_string();
    let of_api = || provider_rules().iter().filter(|rule| rule.api == name);
    let is_named = |glob: &str, rule: &RuleEntry| WildMatch::new_case_insensitive(glob).matches(&rule.id);
    if let Some(glob) = options.rules.iter().find(|glob| !of_api().any(|rule| is_named(glob, rule))) {
        return Err(Error::new(format_args!(
            "no rule of {name} is called `{glob}`; `threadspec explain RULE` knows them"
        )));
    }
    let mut plan = ProbePlan { pairs: Vec::new(), left_out: Vec::new() };
    for rule in of_api() {
        let named: Vec<&str> = options.rules.iter().map(|glob| &**glob).filter(|glob| is_named(glob, rule)).collect();
        if !options.rules.is_empty() && named.is_empty() {
            continue;
        }
        let left = |why: String| LeftOutRule { rule: rule.id.clone(), why };
        if let Some(why) = not_meant(rule, options, &named) {
            plan.left_out.push(left(why));
            continue;
        }
        // Before anything is made of it.
        let bytes = rule.broken().len().max(rule.valid().len());
        if bytes > LARGE && !options.large {
            plan.left_out.push(left(format!("a request of {bytes} bytes; --large sends it")));
            continue;
        }
        match pair(rule, options) {
            Some(pair) => plan.pairs.push(pair),
            None => plan.left_out.push(left("its requests cannot be made for this model".to_owned())),
        }
    }
    // A server of texts alone refuses the twins of these. They come last, so that two in a row keep no other rule from being asked.
    plan.pairs.sort_by_key(|pair| pair.rule.valid().contains("image"));
    if plan.pairs.is_empty() {
        let why: Vec<String> = plan.left_out.iter().map(|left| format!("{}: {}", left.rule, left.why)).collect();
        return Err(Error::new(format_args!("nothing is left to ask: {}", why.join("; "))));
    }
    Ok(plan)
}

/// Why a rule is not asked, if it is not.
fn not_meant(rule: &RuleEntry, options: &ProbeOptions, named: &[&str]) -> Option<String> {
    let is_literal = named.iter().any(|glob| glob.eq_ignore_ascii_case(&rule.id));
    let maker = ["OAI-", "ANT-"];
    let begins = |glob: &&str| !glob.starts_with('*') && !glob.starts_with('?');
    if !maker.iter().any(|prefix| rule.id.starts_with(prefix)) && !named.iter().any(begins) {
        return Some("a rule of another server; --rule names it".to_owned());
    }
    if rule.thinking.is_some() {
        return Some(
            "it needs a thinking block with the server's own signature, which no request of the corpus has".to_owned(),
        );
    }
    if rule.outlines().0.contains("\"type\": \"reasoning\"") {
        return Some("it needs a reasoning item of the server's own, which no request of the corpus has".to_owned());
    }
    if options.all || is_literal {
        return None;
    }
    if let Some(until) = &rule.until {
        return Some(format!("it held until {until}; --all asks it"));
    }
    let headers = RequestHeaders { anthropic_version: options.version.as_deref(), anthropic_beta: "" };
    let applies = rule_applies(rule, &options.model, &headers);
    (!applies).then(|| format!("it is for other models, versions or servers than {}; --all asks it", options.model))
}
