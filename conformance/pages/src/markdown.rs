//! A run as Markdown, for the summary of a CI job.

use std::collections::BTreeMap;
use std::fmt::Write;
use threadspec_judge::text::count;
use threadspec_judge::verdict::Verdict;
use threadspec_report::Conclusion;
use threadspec_report::causes::{by_severity, causes_of};
use threadspec_report::record::{CaseRecord, RunRecord};
use threadspec_report::tally::CaseTally;
use threadspec_report::words::{names, rule_line, shortened};
use threadspec_report::worst::worst_of;

/// More causes than this are counted, not shown.
const CAUSES: usize = 25;
/// More cases than this are counted, not listed: CI systems refuse long summaries.
const IDS: usize = 500;

/// The report.
pub(super) fn markdown(runs: &[RunRecord]) -> String {
    let conclusion = Conclusion::of_all(runs);
    let mut out = format!("## threadspec: {} {conclusion}\n\n", sign(conclusion));
    for (run, name) in runs.iter().zip(names(runs)) {
        if let Some(worst) = worst_of(run) {
            let _ = writeln!(out, "**{}**: {}\n", escaped(&name), code(&worst));
        }
    }
    out += "| implementation | profile | passed | applicable | count against it | warnings | not applicable |\n";
    out += "|---|---|---:|---:|---:|---:|---:|\n";
    for run in runs {
        let summary = &run.summary;
        let _ = writeln!(
            out,
            "| {} {} | {} | {} | {} | {} | {} | {} |",
            sign(run.conclusion()),
            escaped(&run.name()),
            run.options.terms(),
            summary.passed(),
            summary.applicable,
            summary.against(),
            summary.warnings,
            summary.total.saturating_sub(summary.applicable),
        );
    }
    if let Some(together) = CaseTally::sentence(runs) {
        let _ = writeln!(out, "\n{together}");
    }
    for run in runs {
        out += &failures(run);
    }
    out
}

/// A sign that shows from afar.
fn sign(conclusion: Conclusion) -> &'static str {
    match conclusion {
        Conclusion::Conformant => "✅",
        Conclusion::OutOfDate | Conclusion::Incomplete => "⚠️",
        Conclusion::NotConformant => "❌",
    }
}

fn failures(run: &RunRecord) -> String {
    let beside = run.beside();
    let failed = by_severity(run.cases.iter().chain(&beside), |case| case.verdict.is_news());
    let mut out = String::new();
    for limit in run.limits() {
        let _ = writeln!(out, "\n{}: {}", escaped(&run.name()), escaped(&limit));
    }
    if let Some(reason) = &run.stopped {
        let _ = writeln!(out, "\n⚠️ {} stopped early: {}", escaped(&run.name()), code(reason));
    }
    for what in &run.shutdown {
        let _ = writeln!(out, "\n⚠️ {}, at its end: {}", escaped(&run.name()), code(what));
    }
    for what in &run.remarks {
        let _ = writeln!(out, "\nℹ️ {}: {}", escaped(&run.name()), code(what));
    }
    for what in &run.against {
        let _ = writeln!(out, "\n⚠️ {}: {}", escaped(&run.name()), code(what));
    }
    if run.summary.excused > 0 {
        let excused = count(run.summary.excused, "failed case");
        let _ = writeln!(out, "\n{}: {excused} of severity C, which does not count", escaped(&run.name()));
    }
    let known = run.cases.iter().filter(|case| case.verdict == Verdict::KnownFailure).count();
    if known > 0 {
        let _ = writeln!(out, "\n{}: {}", escaped(&run.name()), count(known, "known failure"));
    }
    let passed = run.cases.iter().filter(|case| case.verdict == Verdict::UnexpectedPass);
    let passed = passed.map(|case| format!("{} is known to fail, and passes", case.id));
    for what in passed.chain(run.out_of_date.iter().cloned()) {
        let _ = writeln!(out, "\n⚠️ Known failures: {}", code(&what));
    }
    if failed.is_empty() {
        return out;
    }
    let causes = causes_of(&failed);
    let _ = writeln!(out, "\n### What failed in {}, {}\n", escaped(&run.name()), run.options.terms());
    out += "| cases | what they share | clauses | the clearest case |\n|---:|---|---|---|\n";
    for cause in causes.iter().take(CAUSES) {
        let mut broken: BTreeMap<&str, usize> = BTreeMap::new();
        for clause in cause.members.iter().filter_map(|&index| failed[index].charged()) {
            *broken.entry(clause).or_default() += 1;
        }
        let mut broken: Vec<(&str, usize)> = broken.into_iter().collect();
        broken.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
        let broken: Vec<&str> = broken.iter().take(3).map(|&(clause, _)| clause).collect();
        let clearest = failed[cause.members[0]];
        let _ = writeln!(
            out,
            "| {}{} | {} | {} | {} |",
            cause.members.len(),
            weight(clearest),
            code(&cause.sign),
            broken.join(", "),
            code(&clearest.id)
        );
    }
    if causes.len() > CAUSES {
        let _ = writeln!(out, "\n… and {}", count(causes.len() - CAUSES, "more cause"));
    }
    out += &rules_of(&failed);
    let _ = writeln!(out, "\n<details><summary>{}</summary>\n", count(failed.len(), "case"));
    for case in failed.iter().take(IDS) {
        let note = if case.counts { "" } else { ", does not count" };
        let _ = writeln!(out, "- {} ({}, {}{note})", code(&case.id), case.verdict, case.gravity());
    }
    if failed.len() > IDS {
        let _ = writeln!(out, "- … and {} more", failed.len() - IDS);
    }
    out + "\n</details>\n"
}

/// Each rule of a model API that the cases name, once, with how sure it is.
fn rules_of(failed: &[&CaseRecord]) -> String {
    let details = failed.iter().filter_map(|case| case.details.as_ref());
    let rules: BTreeMap<_, _> = details.flat_map(|details| &details.rules).collect();
    let lines: Vec<String> = rules.into_iter().map(|rule| format!("- {}\n", escaped(&rule_line(rule)))).collect();
    if lines.is_empty() { String::new() } else { format!("\n{}", lines.concat()) }
}

/// How much the clearest case of a cause weighs.
fn weight(case: &CaseRecord) -> String {
    let severity = case.severity.map(|severity| format!(", severity {severity}")).unwrap_or_default();
    match case.counts {
        true => severity,
        false if case.is_excused() => format!("{severity}, does not count"),
        false => format!("{severity}, warning"),
    }
}

/// Text in which nothing is markup.
fn escaped(text: &str) -> String {
    shortened(text, 200).chars().fold(String::new(), |mut out, c| {
        if c.is_ascii_punctuation() {
            out.push('\\');
        }
        out.push(c);
        out
    })
}

/// Text as code, safe in a table, too.
fn code(text: &str) -> String {
    let text = shortened(text, 600).replace('|', "\\|");
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest + 1);
    let space = if longest > 0 || text.starts_with(' ') { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use threadspec_report::words::rules_in;

    #[test]
    fn nothing_that_a_testee_says_is_markup() {
        assert_eq!(escaped("<b>[x](y)"), "\\<b\\>\\[x\\]\\(y\\)");
        assert_eq!(code("a|b"), "`a\\|b`");
        assert_eq!(code("a``b\n# c"), "``` a``b⏎# c ```");
    }

    #[test]
    fn each_rule_is_named_once_with_how_sure_it_is() {
        let case = |id: &str, note: &str| -> CaseRecord {
            let value = json!({"id": id, "hash": "", "op": "tools", "clauses": ["GATE-VALID"], "level": "must", "profile": "universal",
                "verdict": "fail", "counts": true, "note": note, "why": "", "input": "", "expect": "", "repeat": "", "rules": rules_in(note)});
            serde_json::from_value(value).expect("a case")
        };
        let cases =
            [case("a/b/c", "breaks OAI-CHAT-ANSWERED"), case("a/b/d", "breaks OAI-CHAT-ANSWERED"), case("a/b/e", "")];
        let told = rules_of(&cases.iter().collect::<Vec<_>>());
        assert!(told.starts_with("\n- OAI\\-CHAT\\-ANSWERED is a rule of the API\\: "), "{told}");
        assert_eq!(told.lines().count(), 2, "{told}");
        assert_eq!(rules_of(&[&cases[2]]), "");
    }
}
