//! Defines a clause, the oracles that judge it, and how much a failed case hurts.

use serde::{Deserialize, Serialize};
use strum::{Display, EnumMessage, EnumString, VariantArray};

// A clause: one sentence of the specification.

/// A sentence of the specification that a case can test.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clause {
    /// Its id, as cases name it.
    pub id: String,
    /// How binding it is.
    pub level: super::Level,
    /// Where it comes from.
    pub source: String,
    /// The text.
    pub text: String,
}

impl Clause {
    /// The entries of the errata that it comes from, which its source names (`errata E8, E11`).
    pub fn errata(&self) -> impl Iterator<Item = &str> {
        let (_, entries) = self.source.split_once("errata ").unwrap_or_default();
        entries.split(", ").filter(|entry| !entry.is_empty())
    }
}

// The properties that `holds` can demand.

/// A property of an output, given the input; its name in cases is in kebab-case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, EnumMessage, EnumString, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum Oracle {
    /// DOC-4.
    #[strum(message = "the output parses as strict XML 1.0")]
    WellFormed,
    /// DOC-5.
    #[strum(message = "a parser sees exactly one event element per input event, with exactly the right attributes")]
    NoForgery,
    /// DOC-2, ESC-*, EVT-*.
    #[strum(
        message = "each text comes back from a parser: exactly in hardened, forbidden characters as U+FFFD; in literal \
                       up to XML line-end normalization and with forbidden characters dropped or replaced"
    )]
    RoundTrip,
    /// ESC-FORBIDDEN.
    #[strum(message = "every permitted character of each text is there, in order; others may be between")]
    PermittedKept,
    /// EQ-1, EQ-2.
    #[strum(message = "the facts of the events can be recovered from the messages (EQ-1, EQ-2)")]
    Equivalent,
    /// PROVIDER-1.
    #[strum(message = "every message list in the output is one that model providers accept (PROVIDER-1)")]
    ProviderValid,
    /// TOOLS-ACCUMULATE, TOOLS-SNAPSHOT.
    #[strum(
        message = "each request inside an iteration is the one before it, its assistant message and its tool messages"
    )]
    Snapshots,
    /// INP-3.
    #[strum(message = "the testee answers or refuses; anything but a crash, a timeout or garbage")]
    AcceptedOrRefused,
}

// How much a failed case hurts, and the reports that show it.

/// How much whoever fails a case of profile `universal` hurts its users; the worst comes first.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize, strum::Display, strum::EnumString,
)]
pub enum Severity {
    /// A thread is lost or wrong on ordinary input.
    A,
    /// Odd input that users have reported.
    B,
    /// Contrived input.
    C,
}

impl Severity {
    /// Returns its meaning, in words.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::A => "a thread is lost or wrong on ordinary input",
            Self::B => "odd input that users have reported",
            Self::C => "contrived",
        }
    }
}

/// Returns whether a text names a public report or page: `owner/repo#1`, or an address that begins with `https://`.
pub(super) fn is_evidence(text: &str) -> bool {
    text.strip_prefix("https://").map_or_else(|| is_thread(text), is_address)
}

fn is_address(rest: &str) -> bool {
    let is_host = |(name, domain): (&str, &str)| !name.is_empty() && !name.contains('/') && !domain.is_empty();
    rest.split_once('.').is_some_and(is_host) && rest.bytes().all(|byte| byte.is_ascii_graphic())
}

fn is_thread(text: &str) -> bool {
    let is_name = |name: &str| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
    };
    let is_number = |text: &str| !text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit());
    text.split_once('#').is_some_and(|(repository, number)| {
        let is_repository = |(owner, name)| is_name(owner) && is_name(name);
        !number.is_empty() && is_number(number) && repository.split_once('/').is_some_and(is_repository)
    })
}

/// Checks the severity of a case and its evidence.
pub(super) fn problems(severity: Option<Severity>, evidence: Option<&[String]>) -> Vec<String> {
    let mut problems = Vec::new();
    match (severity, evidence) {
        (None, Some(_)) => problems.push("`evidence` goes with `severity` only".into()),
        (Some(severity @ (Severity::A | Severity::B)), None) => {
            problems.push(format!("severity {severity} needs `evidence`"));
        }
        (Some(_), Some([])) => problems.push("`evidence` names nothing".into()),
        _ => {}
    }
    let evidence = evidence.unwrap_or_default();
    for (index, text) in evidence.iter().enumerate() {
        if !is_evidence(text) {
            problems.push(format!("evidence `{text}` is neither `owner/repo#1` nor an https address"));
        } else if evidence[..index].contains(text) {
            problems.push(format!("evidence `{text}` is named twice"));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_is_a_thread_or_an_address() {
        for good in ["a/b#1", "BerriAI/litellm#10083", "o.w-n_er/re.po#7", "https://a.example/b?c=d#e"] {
            assert!(is_evidence(good), "{good}");
        }
        for bad in [
            "",
            "a/b",
            "a/b#",
            "a/b#0",
            "a/b#01",
            "a/b#+1",
            "a/b#x",
            "a#1",
            "/b#1",
            "a/b/c#1",
            "a b/c#1",
            "http://a.example/b",
            "https://",
            "https://a",
            "https://.a",
            "https://a.",
            "https://a/b.c",
            "https://a.b/\u{e4}",
            "https://a.example/b c",
        ] {
            assert!(!is_evidence(bad), "{bad}");
        }
    }
}
