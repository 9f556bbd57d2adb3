//! Writes a run for CI systems: as Markdown for a job's summary, as `JUnit` XML, and as a badge.

use crate::templates;
use minijinja::{Value, context};
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::{Duration, SystemTime};
use strum::IntoEnumIterator;
use threadspec_judge::protocol::Op;
use threadspec_judge::text::{count, visible};
use threadspec_judge::verdict::Verdict;
use threadspec_report::causes::{by_severity, causes_beside, causes_of};
use threadspec_report::record::CaseRecord;
use threadspec_report::summary::{worst_in_short, worst_of};
use threadspec_report::tally::CaseTally;
use threadspec_report::words::{names, rule_line, shortened};
use threadspec_report::{Conclusion, RunRecord};
use threadspec_runner::date;

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

// A run as `JUnit` XML, as Jenkins, GitLab and most other CI systems read it.

/// More mismatches than this are counted, not shown.
const MISMATCHES: usize = 8;

/// The report: a test suite for each operation of each run, and one for the causes that only findings beside cases show.
pub(super) fn junit(runs: &[RunRecord]) -> String {
    let suites: Vec<Value> = runs.iter().flat_map(suites).collect();
    templates::render("junit.xml", &context! { suites })
}

fn suites(run: &RunRecord) -> Vec<Value> {
    let name = format!("{}, {}", run.name(), run.options.terms());
    let of_op = |op: Op| {
        let mut of_it: Vec<&CaseRecord> = run.cases.iter().filter(|case| case.op == op).collect();
        of_it.sort_by_key(|case| case.severity);
        let cases: Vec<Value> = of_it.into_iter().map(case).collect();
        let sessions = run.summary.sessions.as_ref().filter(|_| op == Op::Session);
        let property = sessions.map(|sessions| context! { name => "sessions", value => sessions.to_string() });
        (!cases.is_empty()).then(|| suite(&format!("{name}: {op}"), cases, property))
    };
    let mut suites: Vec<Value> = Op::iter().filter_map(of_op).collect();
    let beside: Vec<Value> = causes_beside(run).iter().map(case).collect();
    suites.extend((!beside.is_empty()).then(|| suite(&format!("{name}: beside"), beside, None)));
    let stopped: Vec<String> = run.stopped.iter().cloned().collect();
    for (class, troubles) in [
        ("stopped", &stopped),
        ("shutdown", &run.shutdown),
        ("against", &run.against),
        ("known-failures", &run.out_of_date),
    ] {
        let trouble = |(number, what): (usize, &String)| {
            let message = shortened_for_junit(what.lines().next().unwrap_or_default());
            context! { name => format!("{class}-{number}"), class, kind => "error", type => class, message, text => lines(what) }
        };
        if !troubles.is_empty() {
            suites.push(suite(&format!("{name}: {class}"), troubles.iter().enumerate().map(trouble).collect(), None));
        }
    }
    suites
}

fn suite(name: &str, cases: Vec<Value>, property: Option<Value>) -> Value {
    let count = |kind: &str| {
        cases.iter().filter(|case| case.get_attr("kind").is_ok_and(|is| is.as_str() == Some(kind))).count()
    };
    let (failures, errors, skipped) = (count("failure"), count("error"), count("skipped"));
    context! { name, failures, errors, skipped, cases, property }
}

fn case(case: &CaseRecord) -> Value {
    let (topic, name) = case.id.rsplit_once('/').unwrap_or(("", &case.id));
    let kind = match case.verdict {
        Verdict::Pass if !case.counts => "",
        Verdict::UnexpectedPass => "failure",
        Verdict::NotRun => "skipped",
        _ if !case.counts => "skipped",
        Verdict::Crash | Verdict::Timeout | Verdict::Garbage => "error",
        _ => "failure",
    };
    let mut text = vec![format!("{} ({})", case.charged().unwrap_or_default(), case.gravity())];
    text.extend((!case.touched.is_empty()).then(|| format!("also about: {}", case.touched.join(", "))));
    text.extend(case.details.iter().map(|details| format!("why: {}", visible(&details.why))));
    text.push(lines(&case.note));
    text.extend(case.details.iter().flat_map(|details| details.rules.iter().map(rule_line)));
    for mismatch in case.mismatches.iter().take(MISMATCHES) {
        let [expected, actual] = mismatch.sides();
        text.push(format!("at {}\n  expected  {expected}\n  actual    {actual}", shortened_for_junit(&mismatch.path)));
    }
    let more = case.more_mismatches + case.mismatches.len().saturating_sub(MISMATCHES);
    text.extend((more > 0).then(|| format!("… and {}", count(more, "more difference"))));
    text.extend(case.details.iter().map(|details| format!("repeat: {}", visible(&details.repeat))));
    text.retain(|line| !line.is_empty());
    let text = if kind.is_empty() { String::new() } else { text.join("\n") };
    let first = Some(case.finding()).filter(|found| !found.is_empty());
    let message = case.failed().then(|| match case.verdict {
        Verdict::Fail => case.finding(),
        other => format!("{other}: {}", case.finding()),
    });
    let reason = if case.is_excused() {
        Some(format!("{}, does not count: {}", case.gravity(), first.unwrap_or_default()))
    } else {
        first
    };
    context! { name, reason, message, class => topic.replace('/', "."), kind, type => case.verdict.to_string(), text }
}

fn lines(text: &str) -> String {
    text.lines().map(shortened_for_junit).collect::<Vec<_>>().join("\n")
}

fn shortened_for_junit(text: &str) -> String {
    shortened(text, 1000)
}

// A run as a badge: in the endpoint format of shields.io, or as a picture.

struct Badge {
    label: String,
    message: String,
    conclusion: Conclusion,
}

impl Badge {
    /// Returns the subject, the month, how many cases passed (in all runs, if there are several), and the worst clause.
    fn of(runs: &[RunRecord]) -> Self {
        let CaseTally { passed, applicable } = CaseTally::of(runs);
        let mut terms: Vec<String> = runs.iter().map(|run| run.options.terms()).collect();
        terms.dedup();
        // To name six modes of one profile would take a line of its own.
        let terms = match &terms[..] {
            [first, _, ..] => match first.split_once(" over ") {
                Some((profile, _)) if terms.iter().all(|terms| terms.starts_with(&format!("{profile} over "))) => {
                    format!("{profile}, over the wire in {} modes", terms.len())
                }
                _ => terms.join("+"),
            },
            _ => terms.concat(),
        };
        let month = runs.iter().map(|run| month(run.started)).max().unwrap_or_default();
        let conclusion = Conclusion::of_all(runs);
        let is_part = runs.iter().any(|run| !run.limits().is_empty());
        let worst = worst_in_short(runs).map(|worst| format!("worst: {worst}"));
        let said = match conclusion {
            Conclusion::Conformant if is_part => "in part".to_owned(),
            Conclusion::OutOfDate => "known failures out of date".to_owned(),
            Conclusion::Conformant | Conclusion::Incomplete => conclusion.to_string(),
            Conclusion::NotConformant => worst.unwrap_or_else(|| conclusion.to_string()),
        };
        Self {
            label: format!("threadspec {terms}, {month}"),
            message: format!("{passed} of {applicable}, {said}"),
            conclusion,
        }
    }
}

/// The month of a time in seconds since 1970, as `2026-11`.
fn month(seconds: u64) -> String {
    date(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)).chars().take(7).collect()
}

/// The endpoint format of shields.io.
pub(super) fn endpoint(runs: &[RunRecord]) -> String {
    let Badge { label, message, conclusion } = Badge::of(runs);
    let color = match conclusion {
        Conclusion::Conformant => "brightgreen",
        Conclusion::OutOfDate => "yellow",
        Conclusion::Incomplete => "lightgrey",
        Conclusion::NotConformant => "red",
    };
    let badge = json!({"schemaVersion": 1, "label": label, "message": message, "color": color}).to_string();
    // Output of a testee is part of the message. Whoever puts this JSON into a page meets no markup.
    badge.replace('<', "\\u003c") + "\n"
}

/// Describes the badge of runs for readers who do not see it.
pub fn badge_text(runs: &[RunRecord]) -> String {
    let Badge { label, message, .. } = Badge::of(runs);
    format!("{label}: {message}")
}

/// Writes the badge of runs as a picture, in SVG.
pub fn badge_picture(runs: &[RunRecord]) -> String {
    let Badge { label, message, conclusion } = Badge::of(runs);
    let width = |text: &str| text.chars().count() * 7 + 10;
    let fill = match conclusion {
        Conclusion::Conformant => "#2a7d2e",
        Conclusion::OutOfDate => "#8a5a00",
        Conclusion::Incomplete => "#5f6368",
        Conclusion::NotConformant => "#b3261e",
    };
    templates::render("badge.xml", &context! { left => width(&label), right => width(&message), label, message, fill })
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
