//! Reads the list of known deviations of a server: each entry must still hold.

use crate::error::Error;
use crate::verdict::{ProbeVerdict, ProbedRule};
use wildmatch::WildMatch;

/// A rule, or a glob of rules, and what a server makes of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// An id, or a glob of ids.
    pub rules: String,
    /// The verdict that is allowed.
    pub verdict: ProbeVerdict,
}

impl Allowance {
    fn read(text: &str) -> Result<Self, Error> {
        let (rules, verdict) = text
            .split_once('=')
            .filter(|(rules, _)| !rules.trim().is_empty())
            .ok_or_else(|| Error::new(format_args!("`{text}` is not RULE=VERDICT")))?;
        Ok(Self { rules: rules.trim().to_uppercase(), verdict: verdict.trim().parse()? })
    }

    fn matches(&self, rule: &str) -> bool {
        WildMatch::new(&self.rules).matches(rule)
    }

    fn is_about_one(&self) -> bool {
        !self.rules.contains(['*', '?'])
    }
}

/// All that is known of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Allowances(Vec<Allowance>);

impl Allowances {
    /// Reads `RULE=VERDICT,RULE=VERDICT`, or the lines of a file, in which `#` begins a comment.
    ///
    /// ```
    /// use threadspec_probe::Allowances;
    /// assert!(Allowances::read("ANT-ORPHAN=silent,ANT-UTF16=crashes").is_ok());
    /// assert!(Allowances::read("# what it does not check\nANT-* = silent  # nothing of a history\n").is_ok());
    /// assert!(Allowances::read("ANT-ORPHAN=shy").is_err_and(|error| error.to_string().contains("agrees, silent")));
    /// ```
    ///
    /// # Errors
    ///
    /// Says which entry is none.
    pub fn read(text: &str) -> Result<Self, Error> {
        let lines = text.lines().map(|line| line.split_once('#').map_or(line, |(entry, _)| entry));
        let entries = lines.flat_map(|line| line.split(',')).map(str::trim).filter(|entry| !entry.is_empty());
        Ok(Self(entries.map(Allowance::read).collect::<Result<_, _>>()?))
    }

    /// Adds others.
    pub fn extend(&mut self, others: Self) {
        self.0.extend(others.0);
    }

    /// Marks what is allowed, and says what is so no longer. Of a glob one rule must be so.
    pub fn apply(&self, results: &mut [ProbedRule]) -> Vec<String> {
        for result in results.iter_mut() {
            let is_allowed = |one: &Allowance| one.verdict == result.verdict && one.matches(&result.rule);
            result.allowed = result.verdict != ProbeVerdict::Agrees && self.0.iter().any(is_allowed);
        }
        let problem = |one: &Allowance| {
            let of_it: Vec<&ProbedRule> = results.iter().filter(|result| one.matches(&result.rule)).collect();
            match of_it.as_slice() {
                [] => Some(format!("{}={}: no rule of this name was probed", one.rules, one.verdict)),
                [result] if one.is_about_one() && result.verdict != one.verdict => {
                    Some(format!("{}={}: it is {} now", one.rules, one.verdict, result.verdict))
                }
                _ if of_it.iter().any(|result| result.verdict == one.verdict) => None,
                _ => Some(format!("{}={}: no rule is so any more", one.rules, one.verdict)),
            }
        };
        self.0.iter().filter_map(problem).collect()
    }
}
