//! Compares a report with an earlier one, and with the list of a server's known deviations.

use crate::error::Error;
use crate::report::ProbeReport;
use crate::run::{ProbeVerdict, ProbedRule};
use wildmatch::WildMatch;

/// Lists each rule whose verdict differs now, with both verdicts.
///
/// # Errors
///
/// When the reports are about different APIs.
pub fn changes_since(then: &ProbeReport, now: &ProbeReport) -> Result<Vec<String>, Error> {
    if then.api != now.api {
        return Err(Error::new(format_args!("the earlier report is about {}, not {}", then.api, now.api)));
    }
    let mut changes = Vec::new();
    for (what, old, new) in [("host", &then.host, &now.host), ("model", &then.model, &now.model)] {
        if old != new {
            changes.push(format!("another {what}: {new}, before {old}"));
        }
    }
    if then.stream != now.stream {
        changes.push(format!("{}, before not", if now.stream { "streaming" } else { "plain" }));
    }
    let of = |report: &'_ ProbeReport, rule: &str| report.rules.iter().find(|one| one.rule == rule).cloned();
    for new in &now.rules {
        match of(then, &new.rule) {
            None => changes.push(format!("{}: {}, not asked before", new.rule, new.verdict)),
            Some(old) => changes.extend(change(&old, new).map(|change| format!("{}: {change}", new.rule))),
        }
    }
    let is_gone = |old: &&ProbedRule| of(now, &old.rule).is_none();
    changes.extend(
        then.rules.iter().filter(is_gone).map(|old| format!("{}: not asked now, before {}", old.rule, old.verdict)),
    );
    Ok(changes)
}

fn change(old: &ProbedRule, new: &ProbedRule) -> Option<String> {
    let mut parts = Vec::new();
    if old.verdict != new.verdict {
        parts.push(format!("{}, before {}", new.verdict, old.verdict));
    }
    // What a model says differs each time; what it refuses does not.
    if let (Some(before), Some(after)) = (refusal(old), refusal(new)) {
        let members = [
            ("status", before.0, after.0),
            ("code", before.1, after.1),
            ("param", before.2, after.2),
            ("words", before.3, after.3),
        ];
        let differ = members.into_iter().filter(|(_, before, after)| before != after);
        parts.extend(differ.map(|(name, before, after)| format!("{name} {after:?}, before {before:?}")));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Status, code, param and words of a refusal.
fn refusal(one: &ProbedRule) -> Option<(String, String, String, String)> {
    let broken = one.broken.as_ref().filter(|broken| broken.is_refusal())?;
    let text = |member: Option<&str>| member.unwrap_or_default().to_owned();
    let status = broken.status.map(|status| status.to_string()).unwrap_or_default();
    Some((status, text(broken.code.as_deref()), text(broken.param.as_deref()), broken.words.clone()))
}

// Reads the list of known deviations of a server: each entry must still hold.

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
