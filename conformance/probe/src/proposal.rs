//! Writes the patch for `provider-rules.json`: the API's own answers, with a date.

use crate::report::ProbeReport;
use crate::verdict::{ProbeVerdict, ProbedRule};
use serde_json::{Value, json};
use similar::algorithms::{Capture, Replace, myers};
use similar::{DiffTag, group_diff_ops};
use threadspec_golden::{PROVIDER_RULES, files};

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
