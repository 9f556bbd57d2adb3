//! How much a failed case hurts, and the reports that show it.

use serde::{Deserialize, Serialize};

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
