//! Findings as `JUnit` XML: a test suite for each file, a test case for each finding and one for reading the file.

use super::{CheckRecord, CheckedFile};
use crate::templates;
use minijinja::{Value, context};
use threadspec_judge::text::visible;
use threadspec_logs::Finding;

pub(super) fn junit(record: &CheckRecord) -> String {
    let suites: Vec<Value> = record.files.iter().map(|file| suite(record, file)).collect();
    templates::render("junit.xml", &context! { suites })
}

fn suite(record: &CheckRecord, file: &CheckedFile) -> Value {
    let findings = &file.report.findings;
    let counting = findings.iter().filter(|finding| record.counts(finding.level)).count();
    let (failures, errors, skipped) = (counting, usize::from(file.unread.is_some()), findings.len() - counting);
    let mut cases = vec![reading(file)];
    cases.extend(findings.iter().map(|finding| case(finding, record.counts(finding.level))));
    context! { name => visible(&file.name), failures, errors, skipped, cases, property => () }
}

fn reading(file: &CheckedFile) -> Value {
    let kind = if file.unread.is_some() { "error" } else { "" };
    let text = visible(file.unread.as_deref().unwrap_or_default());
    let total = file.report.summary.total();
    let name = if total.is_empty() { "nothing that can be judged".to_owned() } else { total };
    context! { name, class => "read", kind, type => "unread", message => text.clone(), text }
}

/// Writes a finding; one that does not count is shown as skipped, since CI systems know no warning.
fn case(finding: &Finding, counts: bool) -> Value {
    let place = visible(&finding.place.to_string());
    let name = if place.is_empty() { "the file".to_owned() } else { place };
    let kind = if counts { "failure" } else { "skipped" };
    let text = format!("{}\n{}", visible(&finding.to_string()), finding.advice);
    let (message, reason) = (visible(&finding.text), visible(&finding.to_string()));
    context! { name, class => finding.rule, kind, type => finding.level.to_string(), text, message, reason }
}
