//! Reads `log-rules.json`, the rules that only a log can break, once into types.

use crate::Error;
use serde::Deserialize;
use std::sync::LazyLock;

/// The name of the file.
pub const LOG_RULES: &str = "log-rules.json";

/// A rule for logs: what must hold, what to do if it does not, and a log of each kind.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogRuleEntry {
    /// A name that never changes.
    pub id: String,
    /// `error`, `warning` or `note`.
    pub level: String,
    /// The requirement.
    pub text: String,
    /// The advice where it is broken.
    pub advice: String,
    /// Why it matters, or where it was seen.
    pub evidence: String,
    /// A log that breaks it, line by line.
    pub broken: Vec<String>,
    /// One that does not.
    pub valid: Vec<String>,
}

/// Every rule of `log-rules.json`.
///
/// ```
/// let rules = threadspec_golden::log_rules();
/// assert!(rules.iter().any(|rule| rule.id == "LOG-PREFIX" && rule.level == "warning"));
/// ```
pub fn log_rules() -> &'static [LogRuleEntry] {
    static RULES: LazyLock<Vec<LogRuleEntry>> = LazyLock::new(|| {
        // By itself, as the rules of providers.
        read_log_rules(include_str!("log-rules.json")).expect("a test reads the rules")
    });
    &RULES
}

/// The rules in a file of the form of `log-rules.json`.
///
/// # Errors
///
/// When it does not have that form; the error says where.
pub fn read_log_rules(text: &str) -> Result<Vec<LogRuleEntry>, Error> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct LogRules {
        rules: Vec<LogRuleEntry>,
    }
    let LogRules { rules } = serde_json::from_str(text).map_err(|error| Error::new(error.to_string()))?;
    Ok(rules)
}
