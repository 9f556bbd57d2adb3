//! Writes the findings of `threadspec check`: as text, and in the forms that other programs read.

mod sarif;

use crate::templates;
use minijinja::context;
use serde_json::{Value, json};
use std::path::Path;
use strum::{Display, EnumString, VariantNames};
use threadspec_judge::text::{count, visible};
use threadspec_logs::{Finding, FormCount, Level, Place, Report, Skipped, Summary};
use threadspec_report::Error;
use threadspec_report::terminal::{BAD, FAINT, GOOD, STRONG, WARNING, styled};
use threadspec_runner::Exit;

/// A form of the findings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Display, EnumString, VariantNames)]
#[strum(serialize_all = "kebab-case", parse_err_fn = unknown_form, parse_err_ty = Error)]
pub enum FindingsForm {
    /// For people, as soon as something is found.
    #[default]
    Text,
    /// One object, whose schema is [`FINDINGS_SCHEMA`].
    Json,
    /// SARIF 2.1.0, which code hosts and editors show beside the lines.
    Sarif,
    /// Annotations of GitHub Actions, as soon as something is found.
    Github,
    /// `JUnit` XML, a test suite for each file.
    Junit,
}

fn unknown_form(name: &str) -> Error {
    Error::new(format!("there is no form `{name}`; the forms are {}", FindingsForm::VARIANTS.join(", ")))
}

/// The result of one file.
#[derive(Clone, Debug, Default)]
pub struct CheckedFile {
    /// As it was named; `-` is stdin.
    pub name: String,
    /// The form and the findings of the file.
    pub report: Report,
    /// Why it could not be read to its end, or that nothing in it was recognized.
    pub unread: Option<String>,
    /// True if a fault of this program ended its reading.
    pub is_our_fault: bool,
}

/// The results of all files of a check.
#[derive(Clone, Debug)]
pub struct CheckRecord {
    /// Each file.
    pub files: Vec<CheckedFile>,
    /// True if a warning counts as an error does.
    pub strict: bool,
    /// True if somebody interrupted it, so that there may be more.
    pub interrupted: bool,
}

impl CheckRecord {
    /// Returns the exit code: interrupted before our own fault before unread before findings.
    pub fn exit(&self) -> Exit {
        match () {
            () if self.interrupted => Exit::Interrupted,
            () if self.files.iter().any(|file| file.is_our_fault) => Exit::Corpus,
            () if self.files.iter().any(|file| file.unread.is_some()) => Exit::Usage,
            () if self.files.iter().any(|file| self.is_at_fault(file)) => Exit::NotConformant,
            () => Exit::Ok,
        }
    }

    /// Returns whether something in a file counts against it.
    pub fn is_at_fault(&self, file: &CheckedFile) -> bool {
        file.report.summary.errors > 0 || self.strict && file.report.summary.warnings > 0
    }

    fn counts(&self, level: Level) -> bool {
        level == Level::Error || self.strict && level == Level::Warning
    }

    /// Writes the record in a form that is written as a whole; `None` for those that are written line by line.
    pub fn whole(&self, form: FindingsForm) -> Option<String> {
        match form {
            FindingsForm::Text | FindingsForm::Github => None,
            FindingsForm::Json => Some(json(self)),
            FindingsForm::Sarif => Some(sarif::sarif(self)),
            FindingsForm::Junit => Some(junit(self)),
        }
    }
}

// Findings for people.

/// A finding: how bad it is, where, what, and what to do, on one line each; on a terminal of that width on as many as it takes.
pub fn finding(finding: &Finding, width: Option<usize>) -> String {
    let style = match finding.level {
        Level::Error => BAD,
        Level::Warning => WARNING,
        Level::Note => STRONG,
    };
    let label = finding.level.to_string();
    let what = wrapped(&visible(&finding.to_string()), label.len() + 3, width);
    let mut text = format!("  {} {what}\n", styled(style, &label));
    if !finding.advice.is_empty() {
        text.push_str(&format!("    {} {}\n", styled(FAINT, "→"), wrapped(finding.advice, 6, width)));
    }
    text
}

/// Names the error to fix first, for a file with findings of less weight before it.
pub fn fix_first(error: &Finding, width: Option<usize>) -> String {
    format!("  {} {}\n", styled(BAD, "fix first:"), wrapped(&visible(&error.to_string()), 13, width))
}

/// Returns the properties that a file has, in words.
fn holds(summary: &Summary) -> Vec<&'static str> {
    let words = |&name: &&'static str| match name {
        "append-only" => "append-only (nothing sent was changed)",
        name => name,
    };
    summary.holds.iter().map(words).collect()
}

/// Describes the properties of a file, the skipped parts, and the numbers.
pub fn conclusion(summary: &Summary, width: Option<usize>) -> String {
    let mut text = String::new();
    if !summary.holds.is_empty() {
        text.push_str(&format!("  {} {}\n", styled(GOOD, "passed:"), wrapped(&holds(summary).join(", "), 10, width)));
    }
    for Skipped { why, records, line, .. } in &summary.skipped {
        let first = if *line > 0 { format!(" (the first in line {line})") } else { String::new() };
        let skipped = format!("{}: {why}{first}", count(*records, "record"));
        text.push_str(&format!("  {} {}\n", styled(FAINT, "skipped"), wrapped(&visible(&skipped), 10, width)));
    }
    let total = summary.total();
    if total.is_empty() && summary.has_recognized() {
        text.push_str("  nothing to judge\n");
    } else if !total.is_empty() {
        let numbers = numbers(summary.errors, summary.warnings, summary.notes);
        text.push_str(&format!("  {}\n", wrapped(&visible(&format!("{total}: {numbers}")), 2, width)));
    }
    if let Some(row) = &summary.proposed_row {
        text.push_str("  a row for this form, to change and to pass with `--form`:\n");
        visible_lines(row).lines().for_each(|line| text.push_str(&format!("    {line}\n")));
    }
    text
}

/// Returns the rows of the forms of a file, or the row that is proposed for it, as a file for `--form`.
pub fn rows(summary: &Summary) -> String {
    let row = |form: &FormCount| match &form.row {
        Some(row) => visible_lines(row),
        None => format!("# {}: read by code, not by a row\n", visible(&form.form)),
    };
    match &summary.proposed_row {
        Some(row) => {
            format!("# proposed from the structure of the file: change it as you need\n{}", visible_lines(row))
        }
        None => summary.forms.iter().map(row).collect(),
    }
}

fn visible_lines(text: &str) -> String {
    let mut shown = String::new();
    for line in text.lines() {
        shown.push_str(&visible(line));
        shown.push('\n');
    }
    shown
}

/// Sums up the files; empty for one file that was read to its end.
pub fn totals(record: &CheckRecord) -> String {
    let mut text = String::new();
    if record.files.len() > 1 {
        let at_fault = record.files.iter().filter(|file| file.unread.is_none() && record.is_at_fault(file)).count();
        let unread = record.files.iter().filter(|file| file.unread.is_some()).count();
        let unread = if unread == 0 { String::new() } else { format!(", {unread} not judged") };
        text.push_str(&format!("{} files, {at_fault} at fault{unread}\n", record.files.len()));
    }
    if record.interrupted {
        text.push_str("interrupted\n");
    }
    text
}

/// `1 error, 0 warnings`, and notes if there are any.
fn numbers(errors: usize, warnings: usize, notes: usize) -> String {
    let notes = if notes > 0 { format!(", {}", count(notes, "note")) } else { String::new() };
    format!("{}, {}{notes}", count(errors, "error"), count(warnings, "warning"))
}

/// Text that is behind so many characters, broken at spaces so that no line is longer than the width; a longer word is alone.
fn wrapped(text: &str, indent: usize, width: Option<usize>) -> String {
    /// A narrower column could not be read.
    const NARROWEST: usize = 20;
    let Some(width) = width else { return text.to_owned() };
    let most = width.saturating_sub(indent).max(NARROWEST);
    let (mut out, mut used) = (String::new(), 0);
    for word in text.split(' ') {
        let length = word.chars().count();
        if used > 0 && used + 1 + length > most {
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', indent));
            used = 0;
        } else if used > 0 {
            out.push(' ');
            used += 1;
        }
        out.push_str(word);
        used += length;
    }
    out
}

// Findings as one JSON object.

/// The schema of the object.
pub const FINDINGS_SCHEMA: &str = include_str!("../../findings.schema.json");

fn json(record: &CheckRecord) -> String {
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
        "files": files.into_iter().map(checked_file).collect::<Vec<_>>(),
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

fn checked_file(CheckedFile { name, report, unread, .. }: &CheckedFile) -> Value {
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

// Findings as `JUnit` XML: a test suite for each file, a test case for each finding and one for reading the file.

fn junit(record: &CheckRecord) -> String {
    let suites: Vec<minijinja::Value> = record.files.iter().map(|file| suite(record, file)).collect();
    templates::render("junit.xml", &context! { suites })
}

fn suite(record: &CheckRecord, file: &CheckedFile) -> minijinja::Value {
    let findings = &file.report.findings;
    let counting = findings.iter().filter(|finding| record.counts(finding.level)).count();
    let (failures, errors, skipped) = (counting, usize::from(file.unread.is_some()), findings.len() - counting);
    let mut cases = vec![reading(file)];
    cases.extend(findings.iter().map(|finding| case(finding, record.counts(finding.level))));
    context! { name => visible(&file.name), failures, errors, skipped, cases, property => () }
}

fn reading(file: &CheckedFile) -> minijinja::Value {
    let kind = if file.unread.is_some() { "error" } else { "" };
    let text = visible(file.unread.as_deref().unwrap_or_default());
    let total = file.report.summary.total();
    let name = if total.is_empty() { "nothing that can be judged".to_owned() } else { total };
    context! { name, class => "read", kind, type => "unread", message => text.clone(), text }
}

/// Writes a finding; one that does not count is shown as skipped, since CI systems know no warning.
fn case(finding: &Finding, counts: bool) -> minijinja::Value {
    let place = visible(&finding.place.to_string());
    let name = if place.is_empty() { "the file".to_owned() } else { place };
    let kind = if counts { "failure" } else { "skipped" };
    let text = format!("{}\n{}", visible(&finding.to_string()), finding.advice);
    let (message, reason) = (visible(&finding.text), visible(&finding.to_string()));
    context! { name, class => finding.rule, kind, type => finding.level.to_string(), text, message, reason }
}

// Findings as annotations of GitHub Actions: <https://docs.github.com/actions/reference/workflow-commands-for-github-actions>.

/// A finding in a file as a workflow command, on a line of its own. Nothing in it can begin another command.
///
/// The runner finds files from the root of the checkout, `workspace`, on.
pub fn annotation(name: &str, finding: &Finding, workspace: Option<&Path>) -> String {
    let line = finding.place.line.map(|line| format!(",line={line}")).unwrap_or_default();
    let text = format!("{finding} {}", finding.advice);
    let title = property(&format!("threadspec {}", finding.rule));
    format!(
        "::{} file={}{line},title={title}::{}\n",
        command(finding.level),
        property(&path_in_workspace(name, workspace)),
        data(text.trim_end())
    )
}

/// A file that could not be read, as a workflow command.
pub fn annotation_of_unread(name: &str, why: &str, workspace: Option<&Path>) -> String {
    format!("::error file={}::{}\n", property(&path_in_workspace(name, workspace)), data(&format!("{name}: {why}")))
}

fn command(level: Level) -> &'static str {
    match level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Note => "notice",
    }
}

/// The path of a file from the root of the checkout on, if it is in it.
fn path_in_workspace(name: &str, workspace: Option<&Path>) -> String {
    let path = std::path::absolute(name).ok();
    let inside = workspace.zip(path.as_deref()).and_then(|(root, path)| path.strip_prefix(root).ok());
    inside.map_or_else(|| name.to_owned(), |path| path.to_string_lossy().into_owned())
}

fn data(text: &str) -> String {
    visible(text).replace('%', "%25")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::wrapped;

    #[test]
    fn lines_break_at_spaces_and_are_indented() {
        let text = "one two three four five six seven eight";
        assert_eq!(wrapped(text, 4, None), text);
        assert_eq!(wrapped(text, 4, Some(200)), text);
        assert_eq!(wrapped(text, 4, Some(24)), "one two three four\n    five six seven eight");
        assert_eq!(wrapped(text, 30, Some(10)).lines().count(), 2, "never narrower than can be read");
        let long = "x".repeat(50);
        assert_eq!(wrapped(&format!("a {long} b"), 2, Some(30)), format!("a\n  {long}\n  b"));
    }
}
