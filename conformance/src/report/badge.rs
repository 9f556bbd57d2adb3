//! A run as a badge: in the endpoint format of shields.io, or as a picture.

use super::record::RunRecord;
use super::template;
use minijinja::context;
use serde_json::json;

struct Badge {
    label: String,
    message: String,
    conformant: bool,
}

impl Badge {
    fn of(runs: &[RunRecord]) -> Self {
        let passed: usize = runs.iter().filter_map(|run| run.summary.verdicts.get("pass")).sum();
        let applicable: usize = runs.iter().map(|run| run.summary.applicable).sum();
        let mut profiles: Vec<String> = runs.iter().map(|run| run.options.profile.to_string()).collect();
        profiles.dedup();
        let conformant = !runs.is_empty() && runs.iter().all(RunRecord::is_conformant);
        let is_part = runs.iter().any(|run| !run.limits().is_empty());
        let conclusion = match (conformant, is_part) {
            (false, _) => ", not conformant",
            (true, true) => ", in part",
            (true, false) => "",
        };
        let message = format!("{passed}/{applicable}{conclusion}");
        Self { label: format!("threadspec {}", profiles.join("+")), message, conformant }
    }
}

/// The endpoint format of shields.io.
pub(super) fn endpoint(runs: &[RunRecord]) -> String {
    let Badge { label, message, conformant } = Badge::of(runs);
    let color = if conformant { "brightgreen" } else { "red" };
    json!({"schemaVersion": 1, "label": label, "message": message, "color": color}).to_string() + "\n"
}

/// A picture.
pub(super) fn svg(runs: &[RunRecord]) -> String {
    let Badge { label, message, conformant } = Badge::of(runs);
    let width = |text: &str| text.chars().count() * 7 + 10;
    let fill = if conformant { "#2a7d2e" } else { "#b3261e" };
    template::render("badge.svg", &context! { left => width(&label), right => width(&message), label, message, fill })
}
