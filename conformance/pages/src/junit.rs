//! A run as `JUnit` XML, as Jenkins, GitLab and most other CI systems read it.

use crate::templates;
use minijinja::{Value, context};
use strum::IntoEnumIterator;
use threadspec_judge::protocol::Op;
use threadspec_judge::text::{count, visible};
use threadspec_judge::verdict::Verdict;
use threadspec_report::causes::causes_beside;
use threadspec_report::record::{CaseRecord, RunRecord};
use threadspec_report::words;

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
            let message = shortened(what.lines().next().unwrap_or_default());
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
    text.extend(case.details.iter().flat_map(|details| details.rules.iter().map(words::rule_line)));
    for mismatch in case.mismatches.iter().take(MISMATCHES) {
        let [expected, actual] = mismatch.sides();
        text.push(format!("at {}\n  expected  {expected}\n  actual    {actual}", shortened(&mismatch.path)));
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
    text.lines().map(shortened).collect::<Vec<_>>().join("\n")
}

fn shortened(text: &str) -> String {
    words::shortened(text, 1000)
}
