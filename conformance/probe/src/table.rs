//! The outcome for people: a table, on a terminal and as Markdown.

use crate::reply::ProbeAnswer;
use crate::report::ProbeReport;
use crate::verdict::{ProbeVerdict, ProbedRule};

/// The table, a line for each rule, and what is known of it below where words differ.
pub fn table(report: &ProbeReport) -> String {
    let mut out = heading(report) + "\n\n";
    let width = report.rules.iter().map(|one| one.rule.len()).max().unwrap_or_default();
    for one in &report.rules {
        let allowed = if one.allowed { " (allowed)" } else { "" };
        out += &format!("  {:<10} {:<width$}  {}{allowed}\n", one.verdict, one.rule, what(one));
        if let Some(line) = ours(one) {
            out += &format!("  {:<10} {:<width$}  {line}\n", "", "");
        }
    }
    if !report.not_asked.is_empty() {
        out += "\nnot asked:\n";
        for left in &report.not_asked {
            out += &format!("  {}: {}\n", left.rule, left.why);
        }
    }
    for line in &report.out_of_date {
        out += &format!("\nout of date: {line}\n");
    }
    if let Some(why) = &report.ended {
        out += &format!("\nended early: {why}\n");
    }
    out + &format!("\n{}\n", sum(report))
}

/// Writes the table for a page.
pub fn markdown(report: &ProbeReport) -> String {
    let mut out = format!("### {}\n\n{}\n\n", cell(&heading(report)), cell(&sum(report)));
    out += "| rule | verdict | what came | how sure the rule is |\n|---|---|---|---|\n";
    for one in &report.rules {
        let allowed = if one.allowed { ", allowed" } else { "" };
        let said = [what(one)].into_iter().chain(ours(one)).collect::<Vec<_>>().join("; ");
        out += &format!("| {} | {}{allowed} | {} | {} |\n", one.rule, one.verdict, cell(&said), cell(&one.evidence));
    }
    for left in &report.not_asked {
        out += &format!("| {} | not asked | {} | |\n", left.rule, cell(&left.why));
    }
    for line in report.out_of_date.iter().map(|line| format!("out of date: {line}")).chain(report.ended.clone()) {
        out += &format!("\n{}\n", cell(&line));
    }
    out
}

fn heading(report: &ProbeReport) -> String {
    let stream = if report.stream { ", streaming" } else { "" };
    let version = report.version.as_ref().map(|version| format!(", anthropic-version {version}")).unwrap_or_default();
    format!("{}{stream} at {}, model {}{version}, {}", report.api, report.host, report.model, report.date)
}

fn sum(report: &ProbeReport) -> String {
    let fabricates = report.rules.iter().filter(|one| one.fabricates).count();
    let fabricates = if fabricates > 0 { format!(" ({fabricates} fabricates)") } else { String::new() };
    let (rules, requests) = (report.rules.len(), report.requests);
    let counts = report.counts();
    let counts = if counts.is_empty() { String::new() } else { format!(": {counts}{fabricates}") };
    let plural = |count: usize| if count == 1 { "" } else { "s" };
    format!("{rules} rule{} asked{counts}. {requests} request{}.", plural(rules), plural(requests))
}

/// Describes the server's answer in a line.
pub(crate) fn what(one: &ProbedRule) -> String {
    let twin = &one.twin;
    match (one.verdict, &one.broken) {
        (ProbeVerdict::Agrees, Some(broken)) => match one.differences().as_slice() {
            [] => format!("{}, in our words", status(broken)),
            differences => format!("{}; other {}: {}", status(broken), differences.join(", "), told(broken)),
        },
        (ProbeVerdict::Silent, Some(broken)) => {
            let mark = if one.fabricates { "fabricates; " } else { "" };
            format!("{mark}{}: \"{}\"", status(broken), broken.words)
        }
        (ProbeVerdict::Crashes, Some(broken)) => format!("{}: {}", status(broken), told(broken)),
        (_, Some(broken)) if twin.is_accepted() => format!("{}: {}", status(broken), told(broken)),
        (_, Some(broken)) => {
            format!(
                "the valid request: {}: {}; the broken one: {}: {}",
                status(twin),
                told(twin),
                status(broken),
                told(broken)
            )
        }
        (_, None) => format!("the valid request: {}: {}", status(twin), told(twin)),
    }
}

/// Returns the words of our data, where the server agrees in other words.
fn ours(one: &ProbedRule) -> Option<String> {
    let expected = &one.expected;
    let named = [("code", &expected.code), ("param", &expected.param)];
    let named: String =
        named.iter().filter_map(|(name, value)| Some(format!(", {name} {}", value.as_ref()?))).collect();
    (!one.differences().is_empty()).then(|| format!("ours: {}{named}: {}", expected.status, expected.words))
}

fn status(answer: &ProbeAnswer) -> String {
    match (answer.status, answer.in_stream) {
        (Some(status), false) => status.to_string(),
        (Some(status), true) => format!("{status}, refused in the stream"),
        (None, _) => "no answer".to_owned(),
    }
}

fn told(answer: &ProbeAnswer) -> String {
    let named = [("code", &answer.code), ("param", &answer.param)];
    let named: Vec<String> =
        named.iter().filter_map(|(name, value)| Some(format!("{name} {}", value.as_ref()?))).collect();
    let named = if named.is_empty() { String::new() } else { format!(" ({})", named.join(", ")) };
    format!("\"{}\"{named}", answer.words)
}

/// A text inside a cell of a table: whoever wrote it, it is shown as it is.
fn cell(text: &str) -> String {
    let mut out = String::new();
    for character in text.chars() {
        match character {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '|' | '\\' | '`' | '*' | '_' | '[' | ']' => {
                out.push('\\');
                out.push(character);
            }
            _ if character.is_control() => out.push(' '),
            _ => out.push(character),
        }
    }
    out
}
