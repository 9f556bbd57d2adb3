//! Reads the rules by which model APIs refuse requests (`provider-rules.json`), and those that only a log can break (`log-rules.json`).

use crate::Error;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The name of the file.
pub const PROVIDER_RULES: &str = "provider-rules.json";

/// A rule of a model API: how sure it is, what the API answers when it is broken, and a request that breaks it.
/// `provider-rules.md` describes each member.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleEntry {
    /// A name that never changes. Only a rule that two APIs have is there twice.
    pub id: String,
    /// Whose rule it is: `openai-chat`, `openai-responses`, `anthropic`, `gemini`, or the form that is only judged,
    /// `bedrock-converse`.
    pub api: String,
    /// The family of the rule, which is the same in every API, so that a rule is known again in another API.
    pub family: String,
    /// The requirement.
    pub text: String,
    /// How it is known, in words: `D`, `R2`, `R1`.
    pub sure: String,
    /// Where.
    pub seen: Vec<String>,
    /// Answers of servers to it in public recordings.
    pub recorded: Option<RecordedAnswers>,
    /// The answer of the API itself to somebody with a key.
    pub probed: Option<ProbedAnswer>,
    /// The day, month or year that it began to hold.
    pub since: Option<String>,
    /// The day, month or year that it ceased to hold.
    pub until: Option<String>,
    /// Where it holds, if not everywhere: at least one of these must be met.
    #[serde(default)]
    pub applies: Vec<RuleCondition>,
    /// The API's answer.
    pub answer: RefusalWords,
    /// Its answers to other forms of the fault.
    #[serde(default)]
    pub variants: BTreeMap<String, RefusalWords>,
    /// Words that were seen, too.
    #[serde(default)]
    pub others: Vec<OtherWords>,
    /// The headers of both requests, if the rule is about headers.
    pub headers: Option<HeaderPair>,
    /// The items that the server stored before, by name.
    pub stored: Option<Map<String, Value>>,
    /// The thinking blocks of each answer before.
    pub thinking: Option<Vec<Vec<Value>>>,
    broken: Option<Box<RawValue>>,
    broken_json: Option<String>,
    /// The place of the fault in the broken request.
    pub at: String,
    /// Other rules that the broken request breaks inevitably.
    #[serde(default)]
    pub also: Vec<String>,
    valid: Option<Box<RawValue>>,
    valid_json: Option<String>,
}

/// How often a recorded request that broke a rule was refused, and how often accepted.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedAnswers {
    /// By the servers of the API.
    pub refused: usize,
    /// Likewise.
    pub accepted: usize,
    /// Accepted by other servers that offer the API.
    pub elsewhere: usize,
    /// The models.
    pub models: Vec<String>,
    /// The month of the last one, if the recordings have it.
    pub last: Option<String>,
    /// The repositories with the recordings.
    pub repositories: Vec<String>,
}

/// An API's answer to the broken request of a rule, while it accepted the repaired one.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProbedAnswer {
    /// The day, as `2026-12-01`.
    pub on: String,
    /// The model that was asked for.
    pub model: String,
    /// The HTTP status; below 300 it was accepted.
    pub status: u16,
    /// `code` of OpenAI, or the type of Anthropic's error.
    pub code: Option<String>,
    /// The message of the refusal, or how the answer began.
    pub words: String,
}

impl ProbedAnswer {
    /// Returns whether the API refused.
    pub fn is_refusal(&self) -> bool {
        self.status >= 400
    }
}

/// A condition under which a rule holds; every member that it has must be met.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleCondition {
    /// The name of the model begins with one of these.
    #[serde(default)]
    pub models: Vec<String>,
    /// It begins with none of these.
    #[serde(default)]
    pub not_models: Vec<String>,
    /// The server is one of these, and not the one of the API's maker.
    #[serde(default)]
    pub servers: Vec<String>,
    /// The header `anthropic-version` is this one or a later one.
    pub version: Option<String>,
    /// The header `anthropic-beta` names none of these.
    #[serde(default)]
    pub without_betas: Vec<String>,
}

/// How an API refuses a request. `{name}` in a text is a placeholder.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RefusalWords {
    /// When it was first seen.
    pub since: Option<String>,
    /// The conditions on which the rule holds; empty if it always does.
    #[serde(default)]
    pub applies: Vec<RuleCondition>,
    /// The HTTP status.
    #[serde(default = "bad_request")]
    pub status: u16,
    /// The type of the error.
    #[serde(default = "invalid_request", rename = "type")]
    pub kind: String,
    /// `code` of OpenAI.
    pub code: Option<String>,
    /// `param` of OpenAI.
    pub param: Option<String>,
    /// The message.
    pub message: String,
    /// The words are ours, because nobody reported the API's.
    #[serde(default)]
    pub ours: bool,
}

/// Words in which the same refusal was seen elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OtherWords {
    /// The message, with the values of the report.
    pub message: String,
    /// The server that says so.
    pub server: Option<String>,
    /// When they were first seen.
    pub since: Option<String>,
    /// When they were last seen.
    pub until: Option<String>,
}

/// The headers of the request that breaks a rule, and of the one that does not.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeaderPair {
    /// The headers of the broken request.
    pub broken: BTreeMap<String, String>,
    /// The headers of the valid request.
    pub valid: BTreeMap<String, String>,
}

fn bad_request() -> u16 {
    400
}

fn invalid_request() -> String {
    "invalid_request_error".to_owned()
}

/// A request that is too long to be written out: the text `in`, with `times` copies of `repeat` instead of U+0000.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Long {
    repeat: String,
    times: usize,
    r#in: Value,
}

impl RuleEntry {
    /// Returns whether the evidence is enough to refuse a request: the provider documents the rule, two or more reports show it, or the API
    /// was asked and refused.
    pub fn is_sure(&self) -> bool {
        let was_refused = self.probed.as_ref().is_some_and(ProbedAnswer::is_refusal);
        was_refused || self.sure.split(' ').any(|sure| matches!(sure, "D" | "R2"))
    }

    /// How sure the rule is, in a few words: `documented, reported by several users`, `reported by one user; probed on 2026-12-01 (gpt-4.1): refused with 400`.
    ///
    /// ```
    /// let rules = threadspec_golden::provider_rules();
    /// let rule = rules.iter().find(|rule| rule.id == "OAI-CHAT-RESULT-ID").expect("a rule of OpenAI");
    /// assert!(rule.evidence().starts_with("documented, reported by several users"));
    /// ```
    pub fn evidence(&self) -> String {
        let words = self.sure.split(' ').map(|sure| match sure {
            "D" => "documented",
            "R2" => "reported by several users",
            _ => "reported by one user",
        });
        let mut words = words.collect::<Vec<_>>().join(", ");
        if let Some(until) = &self.until {
            words += &format!(", until {until}");
        }
        if let Some(ProbedAnswer { on, model, status, .. }) = &self.probed {
            let how = if *status >= 400 { "refused" } else { "accepted" };
            words += &format!("; probed on {on} ({model}): {how} with {status}");
        }
        words
    }

    /// The answer to a form of the fault; `None` if it is unknown.
    pub fn words(&self, variant: Option<&str>) -> Option<&RefusalWords> {
        variant.map_or(Some(&self.answer), |variant| self.variants.get(variant))
    }

    /// The body of the request that breaks the rule, as JSON text.
    pub fn broken(&self) -> String {
        body(self.broken.as_deref(), self.broken_json.as_deref())
    }

    /// The body of the request that does not break it, as JSON text.
    pub fn valid(&self) -> String {
        body(self.valid.as_deref(), self.valid_json.as_deref())
    }

    /// Both bodies as they are in the file, where long texts are in short: the broken one, the valid one.
    pub fn outlines(&self) -> (&str, &str) {
        (
            outline(self.broken.as_deref(), self.broken_json.as_deref()),
            outline(self.valid.as_deref(), self.valid_json.as_deref()),
        )
    }
}

fn outline<'a>(value: Option<&'a RawValue>, json: Option<&'a str>) -> &'a str {
    value.map(RawValue::get).or(json).unwrap_or_default()
}

fn body(value: Option<&RawValue>, json: Option<&str>) -> String {
    let text = outline(value, json);
    serde_json::from_str::<Long>(text).map_or_else(
        |_| text.to_owned(),
        |Long { repeat, times, r#in }| r#in.to_string().replace("\\u0000", &repeat.repeat(times)),
    )
}

/// Every rule of `provider-rules.json`.
///
/// ```
/// let rules = threadspec_golden::provider_rules();
/// let rule = rules.iter().find(|rule| rule.id == "ANT-VERSION").expect("a rule of Anthropic");
/// assert!(rule.is_sure());
/// assert_eq!(rule.answer.message, "anthropic-version: header is required");
/// ```
pub fn provider_rules() -> &'static [RuleEntry] {
    static RULES: LazyLock<Vec<RuleEntry>> = LazyLock::new(|| {
        // By itself: who needs the rules alone has no corpus to carry.
        read_provider_rules(include_str!("provider-rules.json")).expect("a test reads the rules")
    });
    &RULES
}

/// How sure the rule of this name is, as [`RuleEntry::evidence`] says it; `None` if there is no such rule.
///
/// ```
/// use threadspec_golden::how_sure;
///
/// assert_eq!(how_sure("ANT-VERSION").as_deref(), Some("documented, reported by several users"));
/// assert_eq!(how_sure("AGENT-VALID"), None);
/// ```
pub fn how_sure(rule: &str) -> Option<String> {
    provider_rules().iter().find(|known| known.id == rule).map(RuleEntry::evidence)
}

/// The rules in a file of the form of `provider-rules.json`.
///
/// # Errors
///
/// When it does not have that form; the error says where.
pub fn read_provider_rules(text: &str) -> Result<Vec<RuleEntry>, Error> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Rules {
        rules: Vec<RuleEntry>,
    }
    let Rules { rules } = serde_json::from_str(text).map_err(|error| Error::new(error.to_string()))?;
    for rule in &rules {
        let has_one = |value: bool, json: bool| value != json;
        if !has_one(rule.broken.is_some(), rule.broken_json.is_some())
            || !has_one(rule.valid.is_some(), rule.valid_json.is_some())
        {
            return Err(Error::new(format!("{}: one `broken` request and one `valid` one", rule.id)));
        }
    }
    Ok(rules)
}

// Reads `log-rules.json`, the rules that only a log can break, once into types.

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
