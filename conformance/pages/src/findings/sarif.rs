//! Findings as SARIF 2.1.0: <https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html>.

use super::{CheckRecord, CheckedFile};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Component, Path};
use threadspec_judge::text::visible;
use threadspec_logs::{Finding, rule_text};

const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

pub(super) fn sarif(record: &CheckRecord) -> String {
    let findings = record.files.iter().flat_map(|file| &file.report.findings);
    let mut rules: BTreeMap<&str, &Finding> = BTreeMap::new();
    for finding in findings {
        rules.entry(finding.rule).or_insert(finding);
    }
    let index: BTreeMap<&str, usize> = rules.keys().enumerate().map(|(index, rule)| (*rule, index)).collect();
    let results = record.files.iter().flat_map(|file| {
        let index = &index;
        file.report.findings.iter().map(move |finding| result(file, finding, index[finding.rule]))
    });
    let unread = record.files.iter().filter_map(|file| {
        let why = message(file.unread.as_ref()?);
        Some(json!({"level": "error", "message": why, "locations": [location(&file.name, None)]}))
    });
    let exit = record.exit();
    let object = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "threadspec",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "informationUri": env!("CARGO_PKG_REPOSITORY"),
                "rules": rules.into_values().map(rule).collect::<Vec<_>>(),
            }},
            "columnKind": "unicodeCodePoints",
            "invocations": [{
                "executionSuccessful": record.files.iter().all(|file| file.unread.is_none()) && !record.interrupted,
                "exitCode": exit.code(),
                "toolExecutionNotifications": unread.collect::<Vec<_>>(),
            }],
            "results": results.collect::<Vec<_>>(),
        }],
    });
    format!("{object:#}\n")
}

fn rule(finding: &Finding) -> Value {
    let Finding { rule, level, advice, .. } = finding;
    let text = rule_text(rule).unwrap_or_default();
    json!({
        "id": rule,
        "shortDescription": {"text": text},
        "help": {"text": format!("{text} {advice} `threadspec explain {rule}` says more.")},
        "defaultConfiguration": {"level": level.to_string()},
    })
}

fn result(file: &CheckedFile, finding: &Finding, index: usize) -> Value {
    let text = format!("{finding} {}", finding.advice);
    let mut location = location(&file.name, finding.place.line);
    let place = finding.place.to_string();
    if !place.is_empty() {
        location["logicalLocations"] = json!([{"fullyQualifiedName": place, "kind": "element"}]);
    }
    json!({
        "ruleId": finding.rule,
        "ruleIndex": index,
        "level": finding.level.to_string(),
        "message": message(text.trim_end()),
        "locations": [location],
    })
}

/// Escapes placeholders and links, which a log may contain.
fn message(text: &str) -> Value {
    json!({"text": visible(text).replace('{', "{{").replace('}', "}}").replace("](", "] (")})
}

fn location(name: &str, line: Option<usize>) -> Value {
    let mut location = json!({"physicalLocation": {"artifactLocation": {"uri": uri(name)}}});
    if let Some(line) = line.filter(|&line| line > 0) {
        location["physicalLocation"]["region"] = json!({ "startLine": line });
    }
    location
}

/// A path as a reference to a file, relative if the path is.
fn uri(name: &str) -> String {
    if name == "-" {
        return "stdin".to_owned();
    }
    let path = Path::new(name);
    let parts = path.components().filter_map(|part| match part {
        Component::Prefix(prefix) => Some(prefix.as_os_str().to_string_lossy().replace('\\', "/")),
        Component::RootDir | Component::CurDir => None,
        Component::ParentDir => Some("..".to_owned()),
        Component::Normal(part) => Some(escaped(&part.to_string_lossy())),
    });
    let path_text = parts.collect::<Vec<_>>().join("/");
    if path.has_root() { format!("file:///{path_text}") } else { path_text }
}

/// Every byte but those that need no escape in any part of a reference.
fn escaped(part: &str) -> String {
    let byte = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    part.bytes().map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::uri;

    #[test]
    fn paths_are_references() {
        for (path, reference) in [
            ("a/b.jsonl", "a/b.jsonl"),
            ("./a b/c#1?.json", "a%20b/c%231%3F.json"),
            ("../é:1", "../%C3%A9%3A1"),
            ("-", "stdin"),
            ("./-", "-"),
        ] {
            assert_eq!(uri(path), reference);
        }
        #[cfg(unix)]
        assert_eq!(uri("/tmp/a b"), "file:///tmp/a%20b");
    }
}
