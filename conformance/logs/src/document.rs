//! Checks `<thread>` documents.

use super::finding::{Element, FindingOutput, Place};
use super::rules::finding;
use memchr::memmem;
use threadspec::oracle::Violation;
use threadspec::{Profile, oracle, split_response_prefix};

const ORACLES: [&str; 3] = ["well-formed", "well-shaped", "well-escaped"];

pub(super) fn check(text: &str, profile: Profile, output: &mut FindingOutput<'_>) {
    output.recognized(&format!("a document, profile {profile}"), 1);
    let without_mark = text.strip_prefix('\u{feff}').unwrap_or(text);
    if without_mark.len() < text.len() {
        let what = "a byte order mark (U+FEFF) before the document, which a model would be shown, too";
        output.found(finding("LOG-MARK", Place::line(1), what));
    }
    let start = without_mark.trim_start();
    let blank_lines = without_mark[..without_mark.len() - start.len()].matches('\n').count();
    let (document, behind) = split_response_prefix(start);
    let lines = lines_of_events(document);
    output.summary.judge("event", lines.len());
    let mut holds = ORACLES.to_vec();
    for (oracle, violation) in oracle::form_violations(document, profile) {
        holds.retain(|name| *name != oracle);
        let what = format!("{oracle}: {}", violation.reason());
        output.found(finding("LOG-DOCUMENT", placed(&violation, &lines, blank_lines), what));
    }
    output.summary.holds = holds;
    // White space at the end is what an editor or a terminal adds.
    if !behind.trim().is_empty() {
        let line = blank_lines + document.matches('\n').count() + 1;
        let length = behind.chars().count();
        let what = format!("{length} characters of response prefix behind the document");
        output.found(finding("LOG-BEHIND", Place::line(line), what));
    }
}

fn placed(violation: &Violation, lines: &[usize], blank_lines: usize) -> Place {
    let event = violation.event();
    let line = event.map_or(violation.line(), |event| lines.get(event).copied()).map(|line| line + blank_lines);
    let element = event.map(|number| Element { kind: "event", number });
    Place { line, element, ..Place::default() }
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

/// Returns whether a file begins as a document does.
pub(super) fn is_markup(head: &[u8]) -> bool {
    head.strip_prefix("\u{feff}".as_bytes()).unwrap_or(head).trim_ascii_start().starts_with(b"<")
}

/// Returns whether it has the element of our documents.
pub(super) fn is_so(head: &[u8]) -> bool {
    memmem::find(head, b"<thread").is_some()
}
