//! Reports the outcome of a run: as JSON, as a table, for CI systems, and as a patch for `provider-rules.json`.

use crate::error::Error;
use crate::plan::LeftOutRule;
use crate::reply::ProbeAnswer;
use crate::run::{ProbeVerdict, ProbedRule};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use similar::algorithms::{Capture, Replace, myers};
use similar::{DiffTag, group_diff_ops};
use threadspec_golden::{PROVIDER_RULES, files};

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

// The outcome for people: a table, on a terminal and as Markdown.

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

// The outcome for CI systems.

/// As `JUnit` XML: a test case for each rule; what was not asked is skipped.
pub fn junit(report: &ProbeReport) -> String {
    let suite = escaped(&format!("probe {} at {}", report.api, report.host));
    let failures = report.rules.iter().filter(|one| !one.is_fine()).count();
    let (tests, errors) = (report.rules.len() + report.not_asked.len(), report.out_of_date.len());
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"{suite}\" tests=\"{}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{}\">\n",
        tests + errors,
        report.not_asked.len()
    );
    for one in &report.rules {
        out += &case(&suite, one);
    }
    for left in &report.not_asked {
        out += &format!(
            "    <testcase classname=\"{suite}\" name=\"{}\"><skipped message=\"{}\"/></testcase>\n",
            escaped(&left.rule),
            escaped(&left.why)
        );
    }
    for (number, line) in report.out_of_date.iter().enumerate() {
        out += &format!(
            "    <testcase classname=\"{suite}\" name=\"out-of-date-{}\"><error message=\"{}\"/></testcase>\n",
            number + 1,
            escaped(line)
        );
    }
    out + "  </testsuite>\n</testsuites>\n"
}

fn case(suite: &str, one: &ProbedRule) -> String {
    let rule = escaped(&one.rule);
    if one.is_fine() {
        return format!("    <testcase classname=\"{suite}\" name=\"{rule}\"/>\n");
    }
    format!(
        "    <testcase classname=\"{suite}\" name=\"{rule}\">\n      <failure type=\"{}\" message=\"{}\"/>\n    </testcase>\n",
        one.verdict,
        escaped(&what(one))
    )
}

/// A text as the value of an attribute. Characters that XML has not become U+FFFD.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for character in text.chars() {
        match character {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            _ if character.is_control() => out.push('\u{fffd}'),
            _ => out.push(character),
        }
    }
    out
}

// Writes the patch for `provider-rules.json`: the API's own answers, with a date.

/// A patch that writes down what was learnt: `patch -p1` or `git apply` in a checkout takes it. Empty if nothing was, or all of it is there.
///
/// Rules that agree and those that are silent are written down; of the others nobody knows whose fault it is.
pub fn proposal(report: &ProbeReport) -> String {
    let (_, before) = files().iter().find(|(path, _)| *path == PROVIDER_RULES).copied().unwrap_or_default();
    let after = with_probes(before, report);
    if after == before {
        return String::new();
    }
    let path = format!("golden/{PROVIDER_RULES}");
    format!("--- a/{path}\n+++ b/{path}\n{}", hunks(before, &after))
}

/// Returns the hunks of a unified diff, with three lines around each change.
///
/// `similar::TextDiff` can do so too, but brings each of its algorithms in a dozen instances: half a megabyte.
fn hunks(before: &str, after: &str) -> String {
    let [old, new]: [Vec<&str>; 2] = [before, after].map(|text| text.split_inclusive('\n').collect());
    let mut found = Replace::new(Capture::new());
    let Ok(()) = myers::diff(&mut found, &old[..], 0..old.len(), &new[..], 0..new.len());
    let mut out = String::new();
    for hunk in group_diff_ops(found.into_inner().into_ops(), 3) {
        let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else { continue };
        let lines = |start: usize, end: usize| format!("{},{}", start + usize::from(end > start), end - start);
        let was = lines(first.old_range().start, last.old_range().end);
        let is = lines(first.new_range().start, last.new_range().end);
        out.push_str(&format!("@@ -{was} +{is} @@\n"));
        for operation in &hunk {
            let is_equal = operation.tag() == DiffTag::Equal;
            let (gone, come) = if is_equal { (" ", 0) } else { ("-", operation.new_range().len()) };
            old[operation.old_range()].iter().for_each(|line| out.extend([gone, line]));
            new[operation.new_range()][..come].iter().for_each(|line| out.extend(["+", line]));
        }
    }
    out
}

/// The text of the file, which has a member of a rule in each line, with the line `probed` behind `seen`.
pub(crate) fn with_probes(text: &str, report: &ProbeReport) -> String {
    let (mut out, mut rule, mut new) = (String::new(), None, None);
    let mut is_written = false;
    for line in text.split_inclusive('\n') {
        let member = |name: &str| line.trim_start().strip_prefix(&*format!("\"{name}\": "));
        if let Some(id) = member("id") {
            rule = Some(id.trim_end().trim_end_matches(',').trim_matches('"').to_owned());
            (new, is_written) = (None, false);
        }
        if let (Some(api), Some(rule)) = (member("api"), &rule) {
            let is_ours = api.trim_end().trim_end_matches(',').trim_matches('"') == report.api;
            let found = report.rules.iter().find(|one| one.rule == *rule).filter(|_| is_ours);
            new = found.and_then(|one| probed(one, report));
        }
        if member("probed").is_some() && is_written {
            // An older one.
            continue;
        }
        out += line;
        if member("seen").is_some()
            && let Some(new) = new.take()
        {
            out += &format!("      \"probed\": {new},\n");
            is_written = true;
        }
    }
    out
}

fn probed(one: &ProbedRule, report: &ProbeReport) -> Option<String> {
    let broken = one.broken.as_ref()?;
    if !matches!(one.verdict, ProbeVerdict::Agrees | ProbeVerdict::Silent) {
        return None;
    }
    // A refusal inside a stream has no status of its own.
    let status = if broken.in_stream { Some(one.expected.status) } else { broken.status };
    let members = [
        ("on", json!(report.date)),
        ("model", json!(report.model)),
        ("status", json!(status?)),
        ("code", json!(broken.code)),
        ("words", json!(broken.words)),
    ];
    let members = members.iter().filter(|(_, value)| *value != Value::Null);
    let members: Vec<String> = members.map(|(name, value)| format!("\"{name}\": {value}")).collect();
    Some(format!("{{{}}}", members.join(", ")))
}
