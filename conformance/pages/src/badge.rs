//! A run as a badge: in the endpoint format of shields.io, or as a picture.

use crate::templates;
use minijinja::context;
use serde_json::json;
use std::time::{Duration, SystemTime};
use threadspec_report::tally::CaseTally;
use threadspec_report::worst::worst_in_short;
use threadspec_report::{Conclusion, RunRecord};
use threadspec_runner::date;

struct Badge {
    label: String,
    message: String,
    conclusion: Conclusion,
}

impl Badge {
    /// Returns the subject, the month, how many cases passed (in all runs, if there are several), and the worst clause.
    fn of(runs: &[RunRecord]) -> Self {
        let CaseTally { passed, applicable } = CaseTally::of(runs);
        let mut terms: Vec<String> = runs.iter().map(|run| run.options.terms()).collect();
        terms.dedup();
        // To name six modes of one profile would take a line of its own.
        let terms = match &terms[..] {
            [first, _, ..] => match first.split_once(" over ") {
                Some((profile, _)) if terms.iter().all(|terms| terms.starts_with(&format!("{profile} over "))) => {
                    format!("{profile}, over the wire in {} modes", terms.len())
                }
                _ => terms.join("+"),
            },
            _ => terms.concat(),
        };
        let month = runs.iter().map(|run| month(run.started)).max().unwrap_or_default();
        let conclusion = Conclusion::of_all(runs);
        let is_part = runs.iter().any(|run| !run.limits().is_empty());
        let worst = worst_in_short(runs).map(|worst| format!("worst: {worst}"));
        let said = match conclusion {
            Conclusion::Conformant if is_part => "in part".to_owned(),
            Conclusion::OutOfDate => "known failures out of date".to_owned(),
            Conclusion::Conformant | Conclusion::Incomplete => conclusion.to_string(),
            Conclusion::NotConformant => worst.unwrap_or_else(|| conclusion.to_string()),
        };
        Self {
            label: format!("threadspec {terms}, {month}"),
            message: format!("{passed} of {applicable}, {said}"),
            conclusion,
        }
    }
}

/// The month of a time in seconds since 1970, as `2026-11`.
fn month(seconds: u64) -> String {
    date(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)).chars().take(7).collect()
}

/// The endpoint format of shields.io.
pub(super) fn endpoint(runs: &[RunRecord]) -> String {
    let Badge { label, message, conclusion } = Badge::of(runs);
    let color = match conclusion {
        Conclusion::Conformant => "brightgreen",
        Conclusion::OutOfDate => "yellow",
        Conclusion::Incomplete => "lightgrey",
        Conclusion::NotConformant => "red",
    };
    let badge = json!({"schemaVersion": 1, "label": label, "message": message, "color": color}).to_string();
    // Output of a testee is part of the message. Whoever puts this JSON into a page meets no markup.
    badge.replace('<', "\\u003c") + "\n"
}

/// Describes the badge for readers who do not see it.
pub(super) fn text(runs: &[RunRecord]) -> String {
    let Badge { label, message, .. } = Badge::of(runs);
    format!("{label}: {message}")
}

/// A picture.
pub(super) fn svg(runs: &[RunRecord]) -> String {
    let Badge { label, message, conclusion } = Badge::of(runs);
    let width = |text: &str| text.chars().count() * 7 + 10;
    let fill = match conclusion {
        Conclusion::Conformant => "#2a7d2e",
        Conclusion::OutOfDate => "#8a5a00",
        Conclusion::Incomplete => "#5f6368",
        Conclusion::NotConformant => "#b3261e",
    };
    templates::render("badge.xml", &context! { left => width(&label), right => width(&message), label, message, fill })
}
