//! A run as a badge: in the endpoint format of shields.io, or as a picture.

use super::record::RunRecord;
use super::{Conclusion, pages};
use minijinja::context;
use serde_json::json;

struct Badge {
    label: String,
    message: String,
    conclusion: Conclusion,
}

impl Badge {
    fn of(runs: &[RunRecord]) -> Self {
        let passed: usize = runs.iter().filter_map(|run| run.summary.verdicts.get("pass")).sum();
        let applicable: usize = runs.iter().map(|run| run.summary.applicable).sum();
        let mut profiles: Vec<String> = runs.iter().map(|run| run.options.terms()).collect();
        profiles.dedup();
        let conclusion = Conclusion::of_all(runs);
        let is_part = runs.iter().any(|run| !run.limits().is_empty());
        let message = match conclusion {
            Conclusion::Conformant if is_part => format!("{passed}/{applicable}, in part"),
            Conclusion::Conformant => format!("{passed}/{applicable}"),
            Conclusion::OutOfDate => format!("{passed}/{applicable}, known failures out of date"),
            Conclusion::Incomplete | Conclusion::NotConformant => format!("{passed}/{applicable}, {conclusion}"),
        };
        Self { label: format!("threadspec {}", profiles.join("+")), message, conclusion }
    }
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
    json!({"schemaVersion": 1, "label": label, "message": message, "color": color}).to_string() + "\n"
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
    pages::render("badge.svg", &context! { left => width(&label), right => width(&message), label, message, fill })
}
