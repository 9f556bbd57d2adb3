//! Gives each rule a level and an advice.

use super::bodies::UNSURE;
use super::finding::{Finding, Level, Place};
use std::collections::HashMap;
use std::sync::LazyLock;
use threadspec::oracle::Breach;
use threadspec_golden::{LogRuleEntry, log_rules, provider_rules};

/// The rule that a result is no JavaScript's text of an object.
pub(super) const LOST_RESULT: &str = "LOG-RESULT";

/// Returns the demand of a rule, in one sentence; `None` for an id that no rule has.
///
/// ```
/// assert!(threadspec_logs::rule_text("OAI-CHAT-ANSWERED").is_some_and(|text| text.starts_with("Directly after")));
/// assert_eq!(threadspec_logs::rule_text("LOG-NOTHING"), None);
/// ```
pub fn rule_text(rule: &str) -> Option<&'static str> {
    let of_api = provider_rules().iter().find(|known| known.id == rule).map(|known| &*known.text);
    of_api.or_else(|| log_rules().iter().find(|known| known.id == rule).map(|known| &*known.text))
}

/// A finding by a rule of `log-rules.json`, which says how bad it is and what to do.
pub(super) fn finding(rule: &str, place: Place, text: impl Into<String>) -> Finding {
    let LogRuleEntry { id, level, advice, .. } =
        log_rules().iter().find(|known| known.id == rule).expect("a test finds every rule that is named here");
    let level = match &**level {
        "error" => Level::Error,
        "warning" => Level::Warning,
        _ => Level::Note,
    };
    Finding { rule: id, level, place, text: text.into(), advice }
}

/// A finding by a rule of an API. Where only some servers refuse the request, it is a warning.
pub(super) fn of_breach(breach: &Breach, place: Place) -> Finding {
    let level = if breach.is_certain { Level::Error } else { Level::Warning };
    let text = if breach.is_certain { breach.what.clone() } else { format!("{}{UNSURE}", breach.what) };
    Finding { rule: breach.rule, level, place, text, advice: advice_of(breach.rule) }
}

/// The family of a rule of an API; empty for others.
pub(super) fn family(rule: &str) -> &'static str {
    provider_rules().iter().find(|known| known.id == rule).map_or("", |known| &known.family)
}

/// Returns the advice for a broken rule of an API; a rule has the advice of its family.
fn advice_of(rule: &str) -> &'static str {
    /// By the family.
    static ADVICE: LazyLock<HashMap<String, String>> =
        LazyLock::new(|| serde_json::from_str(include_str!("advice.json")).expect("a test reads the advice"));
    ADVICE.get(family(rule)).map_or("", |advice| advice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_of_an_api_says_what_to_do() {
        for rule in provider_rules() {
            let advice = advice_of(&rule.id);
            assert!(advice.ends_with('.'), "{}: no advice for the family {:?}", rule.id, rule.family);
        }
    }

    #[test]
    fn every_rule_of_logs_is_complete() {
        for rule in log_rules() {
            assert!(matches!(&*rule.level, "error" | "warning" | "note"), "{}: {}", rule.id, rule.level);
            for sentence in [&rule.text, &rule.advice, &rule.evidence] {
                assert!(sentence.ends_with('.'), "{}: {sentence}", rule.id);
            }
        }
    }
}
