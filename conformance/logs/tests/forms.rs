//! Every form of log as the real program wrote it: the clean one is silent, and each planted fault is found.

use std::path::{Path, PathBuf};
use std::{fs, io};
use threadspec_logs::{CheckOptions, Level, Report, check_bytes, check_folder};

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
        found.extend(path.join("SOURCE.md").is_file().then_some(path));
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

/// What was found, a line for each.
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

#[test]
fn planted_faults_are_found() -> io::Result<()> {
    let mut missed = Vec::new();
    for path in forms()?.iter().map(|form| files(form, "fault")).collect::<io::Result<Vec<_>>>()?.concat() {
        let report = report(&path)?;
        if report.findings.iter().all(|found| found.level == Level::Note) {
            missed.push(told(&path, &report));
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
    Ok(())
}
