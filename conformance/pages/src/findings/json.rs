//! Findings as one JSON object.

use super::{CheckRecord, CheckedFile};
use serde_json::{Value, json};
use threadspec_logs::{Finding, FormCount, Place, Skipped};

/// The schema of the object.
pub const FINDINGS_SCHEMA: &str = include_str!("../../findings.schema.json");

pub(super) fn json(record: &CheckRecord) -> String {
    let sum = |count: fn(&CheckedFile) -> usize| record.files.iter().map(count).sum::<usize>();
    let mut files: Vec<&CheckedFile> = record.files.iter().collect();
    files.sort_by_key(|file| &file.name);
    let mut findings: Vec<(&str, &Finding)> =
        files.iter().flat_map(|file| file.report.findings.iter().map(|finding| (&*file.name, finding))).collect();
    findings.sort_by(|one, other| (one.0, key(one.1)).cmp(&(other.0, key(other.1))));
    let object = json!({
        "format": 1,
        "threadspec": env!("CARGO_PKG_VERSION"),
        "strict": record.strict,
        "exitCode": record.exit().code(),
        "errors": sum(|file| file.report.summary.errors),
        "warnings": sum(|file| file.report.summary.warnings),
        "notes": sum(|file| file.report.summary.notes),
        "files": files.into_iter().map(file).collect::<Vec<_>>(),
        "findings": findings.into_iter().map(|(name, found)| placed(name, found)).collect::<Vec<_>>(),
    });
    format!("{object:#}\n")
}

/// Returns the key that sorts the findings of one file.
fn key(finding: &Finding) -> impl Ord + '_ {
    let Finding { rule, text, place: Place { entry, line, request, path, .. }, .. } = finding;
    (entry, line, request, path, *rule, text)
}

fn placed(name: &str, finding: &Finding) -> Value {
    let mut object = json!({ "file": name });
    if let (Value::Object(object), Value::Object(members)) = (&mut object, finding.to_json()) {
        object.extend(members);
    }
    object
}

fn file(CheckedFile { name, report, unread, .. }: &CheckedFile) -> Value {
    let summary = &report.summary;
    let recognized =
        summary.forms.iter().map(|FormCount { form, records, .. }| json!({"form": form, "records": records}));
    let skipped = summary.skipped.iter();
    let skipped =
        skipped.map(|Skipped { why, records, line, .. }| json!({"why": why, "records": records, "line": line}));
    let judged = summary.judged.iter().map(|(noun, number)| ((*noun).to_owned(), json!(number)));
    let mut object = json!({
        "file": name,
        "recognized": recognized.collect::<Vec<_>>(),
        "skipped": skipped.collect::<Vec<_>>(),
        "judged": Value::Object(judged.collect()),
        "apis": summary.apis,
        "holds": summary.holds,
        "errors": summary.errors,
        "warnings": summary.warnings,
        "notes": summary.notes,
    });
    if let Some(why) = unread {
        object["unread"] = json!(why);
    }
    object
}
