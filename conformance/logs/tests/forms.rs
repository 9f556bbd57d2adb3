//! Checks every form of log as the real program wrote it: the clean one is silent, and in each copy with a fault that fault is found
//! in its place, and nothing else.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::{fs, io};
use threadspec_golden::provider_rules;
use threadspec_logs::{CheckOptions, Finding, Level, Report, check_bytes, check_folder};

/// The files of a form whose names begin so.
fn files(folder: &Path, start: &str) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let is_so = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(start));
        found.extend(is_so.then_some(path));
    }
    found.sort();
    Ok(found)
}

/// The folders of the forms.
fn forms() -> io::Result<Vec<PathBuf>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/forms");
    let mut found = Vec::new();
    for entry in fs::read_dir(root).into_iter().flatten() {
        let path = entry?.path();
        found.extend(path.join("source.toml").is_file().then_some(path));
    }
    found.sort();
    Ok(found)
}

fn report(path: &Path) -> io::Result<Report> {
    // Where each message is a file of its own, the log is a folder.
    if path.is_dir() {
        let mut report = Report::default();
        report.summary = check_folder(path, &CheckOptions::default(), &mut report)?;
        return Ok(report);
    }
    Ok(check_bytes(&fs::read(path)?, &CheckOptions::default()))
}

/// Lists the findings, a line for each.
fn told(path: &Path, report: &Report) -> String {
    let found: Vec<String> = report.findings.iter().map(|found| format!("{} {found}", found.level)).collect();
    format!("{}: {:?}\n  {}", path.display(), report.summary, found.join("\n  "))
}

#[test]
fn right_logs_cause_no_finding() -> io::Result<()> {
    let mut wrong = Vec::new();
    for path in forms()?.iter().map(|form| files(form, "clean")).collect::<io::Result<Vec<_>>>()?.concat() {
        let report = report(&path)?;
        let is_silent = report.findings.iter().all(|found| found.level == Level::Note);
        if !is_silent || report.summary.total().is_empty() {
            wrong.push(told(&path, &report));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}

/// The entry of `expected.json` for a file: the broken rules, that of the added fault first, and its place.
struct ExpectedFault {
    rules: Vec<String>,
    line: Option<usize>,
    /// The file of a folder.
    file: String,
    /// The position of the message in its list.
    position: Option<usize>,
}

/// The position of a message by its JSON pointer.
fn position(pointer: &str) -> Option<usize> {
    let steps: Vec<&str> = pointer.split('/').collect();
    let lists = ["", "messages", "input", "contents", "history", "query", "events"];
    let number = |pair: &[&str]| if lists.contains(&pair[0]) { pair[1].parse().ok() } else { None };
    steps.windows(2).rev().find_map(number)
}

fn faults(form: &Path) -> io::Result<Vec<(PathBuf, ExpectedFault)>> {
    let expected: Value = serde_json::from_slice(&fs::read(form.join("expected.json"))?)?;
    let of = |value: &Value| ExpectedFault {
        rules: value["rules"].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect(),
        line: value["line"].as_u64().and_then(|line| usize::try_from(line).ok()),
        file: value["file"].as_str().unwrap_or_default().to_owned(),
        position: value["path"].as_str().and_then(position),
    };
    Ok(expected.as_object().into_iter().flatten().map(|(file, value)| (form.join(file), of(value))).collect())
}

/// Names the kind of a rule in the words of `expected.json`.
fn kind(rule: &str) -> &str {
    let family = provider_rules().iter().find(|known| known.id == rule).map_or(rule, |known| &*known.family);
    match family {
        "once" | "LOG-ONCE" => "repeated",
        "LOG-ANSWERED" => "answered",
        "LOG-ORPHAN" => "orphan",
        "LOG-PREFIX" => "prefix",
        "LOG-CALL-LOST" => "lost",
        "LOG-ARGUMENTS" => "arguments",
        other => other,
    }
}

/// Returns whether a finding is of this rule, or of this kind.
fn is_of(found: &Finding, rule: &str) -> bool {
    found.rule == rule || kind(found.rule) == rule
}

/// Returns whether the first of the expected rules is found in its place.
fn is_there(found: &Finding, expected: &ExpectedFault) -> bool {
    let rule = &*expected.rules[0];
    // A call without result is reported at the call, before the missing result, and a lost one at its answer, or at the request without it.
    let is_before = matches!(rule, "answered" | "lost");
    let is_line = match (expected.line, found.place.line) {
        (Some(line), Some(told)) => told == line || (is_before && told < line),
        _ => true,
    };
    // Of two the second is the repeated one.
    let is_element = match (expected.position, found.place.element) {
        (Some(position), Some(element)) if rule != "lost" => {
            let number = element.number;
            number == position + 1 || number == position + 2 || (is_before && number <= position)
        }
        _ => true,
    };
    let is_file = found.place.entry.as_deref().unwrap_or_default().contains(&expected.file) || is_before;
    is_file && is_line && is_element
}

#[test]
fn each_added_fault_is_found_and_nothing_else() -> io::Result<()> {
    let mut wrong = Vec::new();
    for form in forms()? {
        let faults = faults(&form)?;
        let expected: Vec<&PathBuf> = faults.iter().map(|(path, _)| path).collect();
        assert_eq!(expected, files(&form, "fault")?.iter().collect::<Vec<_>>(), "expected.json of {}", form.display());
        for (path, expected) in faults {
            let report = report(&path)?;
            let found: Vec<&Finding> = report.findings.iter().filter(|found| found.level != Level::Note).collect();
            let count = |rule: &str| found.iter().filter(|found| is_of(found, rule)).count();
            let is_so = found.len() == expected.rules.len()
                && expected
                    .rules
                    .iter()
                    .all(|rule| count(rule) == expected.rules.iter().filter(|one| *one == rule).count())
                && found.iter().any(|found| is_of(found, &expected.rules[0]) && is_there(found, &expected));
            if !is_so {
                wrong.push(format!("{:?} {}", expected.rules, told(&path, &report)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}: {}", wrong.len(), wrong.join("\n"));
    Ok(())
}

#[test]
fn every_form_has_a_clean_log_and_four_faults() -> io::Result<()> {
    for form in forms()? {
        let (clean, faults) = (files(&form, "clean")?.len(), files(&form, "fault")?.len());
        assert!(clean >= 1 && faults >= 4, "{}: {clean} clean logs, {faults} faults", form.display());
    }
    Ok(())
}
