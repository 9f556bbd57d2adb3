//! Findings for people.

use super::CheckRecord;
use threadspec_judge::text::{count, visible};
use threadspec_logs::{Finding, FormCount, Level, Skipped, Summary};
use threadspec_report::terminal::{BAD, FAINT, GOOD, STRONG, WARNING, styled};

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

/// Describes the properties of a file, the skipped parts, and the numbers.
pub fn conclusion(summary: &Summary, width: Option<usize>) -> String {
    let mut text = String::new();
    if !summary.holds.is_empty() {
        text.push_str(&format!("  {} {}\n", styled(GOOD, "holds"), wrapped(&summary.holds.join(", "), 8, width)));
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
        let unread = if unread == 0 { String::new() } else { format!(", {unread} not read") };
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
