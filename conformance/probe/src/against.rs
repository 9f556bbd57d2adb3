//! Compares a report with an earlier one: changes come from the provider, not from us.

use crate::error::Error;
use crate::report::ProbeReport;
use crate::verdict::ProbedRule;

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
