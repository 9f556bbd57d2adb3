//! Checks `<thread>` documents.

use super::diagnostics::Diagnostics;
use threadspec::oracle::Violation;
use threadspec::{Profile, oracle, split_response_prefix};
use threadspec_judge::text::count;

const ORACLES: [&str; 3] = ["well-formed", "well-shaped", "well-escaped"];

pub(super) fn check(text: &str, profile: Profile, diagnostics: &mut Diagnostics<'_>) {
    diagnostics.about(&format!("a document, profile {profile}"));
    let without_mark = text.strip_prefix('\u{feff}').unwrap_or(text);
    if without_mark.len() < text.len() {
        diagnostics.error("line 1: a byte order mark (U+FEFF) before the document, which a model would be shown, too");
    }
    let start = without_mark.trim_start();
    let blank_lines = without_mark[..without_mark.len() - start.len()].matches('\n').count();
    let (document, behind) = split_response_prefix(start);
    let lines = lines_of_events(document);
    diagnostics.total = count(lines.len(), "event");
    let mut holds = ORACLES.to_vec();
    for (oracle, violation) in oracle::form_violations(document, profile) {
        holds.retain(|name| *name != oracle);
        diagnostics.error(placed(oracle, &violation, &lines, blank_lines));
    }
    diagnostics.holds = holds;
    // White space at the end is what an editor or a terminal adds.
    if !behind.trim().is_empty() {
        let line = blank_lines + document.matches('\n').count() + 1;
        let length = behind.chars().count();
        diagnostics.warning(format!("line {line}: {length} characters of response prefix behind the document"));
    }
}

fn placed(oracle: &str, violation: &Violation, lines: &[usize], blank_lines: usize) -> String {
    let reason = violation.reason();
    match (violation.event().map(|event| (event, lines.get(event))), violation.line()) {
        (Some((event, Some(line))), _) => format!("event {event} (line {}): {oracle}: {reason}", line + blank_lines),
        (Some((event, None)), _) => format!("event {event}: {oracle}: {reason}"),
        (None, Some(line)) => format!("line {}: {oracle}: {reason}", line + blank_lines),
        (None, None) => format!("{oracle}: {reason}"),
    }
}

/// The line in which each event begins.
fn lines_of_events(document: &str) -> Vec<usize> {
    let (mut line, mut counted) = (1, 0);
    let starts = document.match_indices("<event").map(|(at, _)| {
        line += document[counted..at].matches('\n').count();
        counted = at;
        line
    });
    starts.collect()
}
