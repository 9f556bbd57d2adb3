//! Reports of a run, for people and for programs: a run goes in; text, JSON, `JUnit`, Markdown, HTML and badges come out.
//!
//! | module | what it is |
//! |---|---|
//! | [`record`] | the canonical run file, from which every report is made |
//! | [`causes`] | failures by cause |
//! | [`comparison`] | two runs, an earlier and a later one |
//! | [`diff`] | how two texts differ |
//! | [`output`] | the forms of reports, and writing them to files |
//! | [`terminal`] | writing to a terminal |

mod badge;
mod case;
pub mod causes;
pub mod comparison;
mod conclusion;
pub mod diff;
mod failure;
mod html;
mod judged;
mod junit;
mod markdown;
mod merge;
pub mod output;
pub mod record;
mod summary;
mod template;
pub mod terminal;

pub use case::case;
pub use conclusion::Conclusion;
pub use failure::Failure;
pub use judged::Judged;
pub use merge::merge;
pub use summary::Summary;

use causes::{Cause, Shown};
use record::CaseRecord;
use threadspec_judge::corpus::mismatch::Mismatch;
use threadspec_judge::corpus::{Level, Severity};
use threadspec_judge::text::{cut, visible};

/// Failed cases by cause.
fn causes_of(failed: &[&CaseRecord]) -> Vec<Cause> {
    let mismatches: Vec<Vec<Mismatch>> =
        failed.iter().map(|case| case.mismatches.iter().take(1).map(Mismatch::from).collect()).collect();
    let shown: Vec<Shown<'_>> = failed
        .iter()
        .zip(&mismatches)
        .map(|(case, mismatches)| {
            // A large case is never the clearest.
            let size = |details: &record::Details| if details.expand { usize::MAX } else { details.input.len() };
            let size = case.details.as_ref().map_or(0, size);
            Shown {
                verdict: case.verdict,
                note: &case.note,
                mismatches,
                size,
                counts: case.counts,
                severity: case.severity,
            }
        })
        .collect();
    causes::causes(&shown)
}

/// The failed cases among these, those that hurt most first.
fn by_severity<'a>(
    cases: impl IntoIterator<Item = &'a CaseRecord>,
    failed: fn(&CaseRecord) -> bool,
) -> Vec<&'a CaseRecord> {
    let mut failed: Vec<&CaseRecord> = cases.into_iter().filter(|case| failed(case)).collect();
    failed.sort_by_key(|case| case.severity);
    failed
}

/// A level, and a severity if there is one, in words.
fn gravity(level: Level, severity: Option<Severity>) -> String {
    severity.map_or_else(|| level.to_string(), |severity| format!("{level}, severity {severity}"))
}

/// Text on one line, every character visible; if it is long, the rest is only counted.
fn shortened(text: &str, longest: usize) -> String {
    let text = visible(text);
    match cut(&text, longest) {
        (_, "") => text,
        (head, rest) => format!("{head}…⟨{} more⟩", rest.chars().count()),
    }
}
