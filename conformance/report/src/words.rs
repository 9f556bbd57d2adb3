//! What several reports say in the same words.

use threadspec_judge::corpus::{Level, Severity};
use threadspec_judge::text::{cut, visible};

/// A level, and a severity if there is one, in words.
pub(super) fn gravity(level: Level, severity: Option<Severity>) -> String {
    severity.map_or_else(|| level.to_string(), |severity| format!("{level}, severity {severity}"))
}

/// Text on one line, every character visible; if it is long, the rest is only counted.
pub(super) fn shortened(text: &str, longest: usize) -> String {
    let text = visible(text);
    match cut(&text, longest) {
        (_, "") => text,
        (head, rest) => format!("{head}…⟨{} more⟩", rest.chars().count()),
    }
}
