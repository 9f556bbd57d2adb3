//! Explains a rule of a model API, for `threadspec explain`.

use std::fmt::Write;
use threadspec_golden::{
    HeaderPair, LogRuleEntry, ProbedAnswer, RecordedAnswers, RefusalWords, RuleCondition, RuleEntry, log_rules,
    provider_rules,
};
use threadspec_judge::text::{beginning, visible};
use threadspec_report::terminal::{STRONG, styled};

/// So many characters of a request are shown.
const SHOWN: usize = 600;

/// The rule of this id, for each API that has it.
pub(crate) fn rule_text(id: &str) -> Option<String> {
    let of_id = provider_rules().iter().filter(|rule| rule.id.eq_ignore_ascii_case(id));
    let of_logs = log_rules().iter().filter(|rule| rule.id.eq_ignore_ascii_case(id)).map(log_rule_text);
    let texts: Vec<String> = of_id.map(text).chain(of_logs).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

fn log_rule_text(LogRuleEntry { id, level, text, advice, evidence, broken, valid }: &LogRuleEntry) -> String {
    let mut out = format!("{} (logs; {level})\n  {text}\n\n{evidence}\n{advice}\n", styled(STRONG, id));
    for (what, lines) in [("breaks it", broken), ("does not", valid)] {
        if !lines.is_empty() {
            let lines: Vec<String> = lines.iter().map(|line| beginning(line, SHOWN)).collect();
            let _ = writeln!(out, "\n{what}:\n  {}", lines.join("\n  "));
        }
    }
    out
}

fn text(rule: &RuleEntry) -> String {
    let dates = [("since", &rule.since), ("until", &rule.until)];
    let dates: String = dates.iter().filter_map(|(word, date)| Some(format!("; {word} {}", date.as_ref()?))).collect();
    let mut out = format!("{} ({}{dates})\n  {}\n\n", styled(STRONG, &rule.id), rule.api, rule.text);
    let _ = writeln!(out, "{}", evidence(rule));
    if let Some(ProbedAnswer { on, model, status, code, words }) = &rule.probed {
        let how = if *status >= 400 { "refused" } else { "accepted" };
        let code = code.as_ref().map(|code| format!(" {code}")).unwrap_or_default();
        let _ = writeln!(
            out,
            "The API was asked on {on} (model {model}), and {how} it: {status}{code}\n  {}",
            visible(words)
        );
    }
    if !rule.applies.is_empty() {
        let _ = writeln!(out, "It holds for {}.", conditions(&rule.applies));
    }
    let _ = writeln!(out, "\nanswer:\n{}", words(&rule.answer));
    for (variant, other) in &rule.variants {
        let _ = writeln!(out, "another answer, `{variant}`:\n{}", words(other));
    }
    for other in &rule.others {
        let notes = [("from", &other.server), ("since", &other.since), ("until", &other.until)];
        let notes: String =
            notes.iter().filter_map(|(word, note)| Some(format!(", {word} {}", note.as_ref()?))).collect();
        let _ = writeln!(out, "also seen{notes}:\n  {}", other.message);
    }
    let (broken, valid) = rule.outlines();
    let headers = |of: fn(&HeaderPair) -> String| rule.headers.as_ref().map(of).unwrap_or_default();
    let at = if rule.at.is_empty() { String::new() } else { format!(", at {}", rule.at) };
    let broken_headers = headers(|pair| header_lines(&pair.broken));
    let valid_headers = headers(|pair| header_lines(&pair.valid));
    let _ = writeln!(out, "\nbreaks it{at}:\n{broken_headers}  {}", beginning(broken, SHOWN));
    let _ = writeln!(out, "does not:\n{valid_headers}  {}", beginning(valid, SHOWN));
    for (what, is_needed) in [("responses", rule.stored.is_some()), ("thinking", rule.thinking.is_some())] {
        if is_needed {
            let _ = writeln!(out, "One request does not show it: the {what} before it must be known.");
        }
    }
    let _ = writeln!(out, "\nseen:\n  {}", rule.seen.join("\n  "));
    if let Some(RecordedAnswers { refused, accepted, elsewhere, models, last, repositories }) = &rule.recorded {
        let last = last.as_ref().map(|month| format!(", the last in {month}")).unwrap_or_default();
        let _ = writeln!(
            out,
            "\nin recordings of {}:\n  refused {refused}, accepted {accepted}, accepted by other servers {elsewhere} ({}){last}",
            repositories.join(", "),
            models.join(", ")
        );
    }
    out
}

fn evidence(rule: &RuleEntry) -> &'static str {
    let has = |word| rule.sure.split(' ').any(|sure| sure == word);
    match (has("D"), has("R2")) {
        _ if rule.until.is_some() => "It is no longer enforced, so it is a warning.",
        (true, true) => "The provider documents it, and several users have met the error.",
        (true, false) => "The provider documents it.",
        (false, true) => "Several users have met the error.",
        (false, false) if rule.is_sure() => "One user has met the error.",
        (false, false) => "One user has met the error, so it is a warning.",
    }
}

fn conditions(conditions: &[RuleCondition]) -> String {
    conditions.iter().map(condition).collect::<Vec<_>>().join("; or for ")
}

fn condition(condition: &RuleCondition) -> String {
    let RuleCondition { models, not_models, servers, version, without_betas } = condition;
    let version: Vec<String> = version.iter().cloned().collect();
    let parts = [
        ("models", models),
        ("models other than", not_models),
        ("servers", servers),
        ("`anthropic-version` from", &version),
        ("requests without the beta", without_betas),
    ];
    let parts = parts.into_iter().filter(|(_, names)| !names.is_empty());
    parts.map(|(what, names)| format!("{what} {}", names.join(", "))).collect::<Vec<_>>().join("; ")
}

fn words(words: &RefusalWords) -> String {
    let named = [("param", &words.param), ("code", &words.code)];
    let named: String =
        named.iter().filter_map(|(name, value)| Some(format!(", {name} {}", value.as_ref()?))).collect();
    let since = words.since.as_ref().map(|date| format!(", since {date}")).unwrap_or_default();
    let ours = if words.ours { "\n  (these words are ours: nobody reported the provider's)" } else { "" };
    let applies =
        if words.applies.is_empty() { String::new() } else { format!("\n  (for {})", conditions(&words.applies)) };
    format!("  {} {}{named}{since}\n  {}{ours}{applies}", words.status, words.kind, words.message)
}

fn header_lines<'a>(headers: impl IntoIterator<Item = (&'a String, &'a String)>) -> String {
    headers.into_iter().fold(String::new(), |lines, (name, value)| lines + "  " + name + ": " + value + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rule_is_explained() {
        for rule in provider_rules() {
            let said = rule_text(&rule.id.to_lowercase()).expect("a rule");
            let (broken, _) = rule.outlines();
            for part in [&*rule.text, &rule.answer.message, &rule.at, &rule.seen[0], &broken[..12]] {
                assert!(said.contains(part), "{part}: {said}");
            }
            assert!(said.contains("is a warning") != (rule.is_sure() && rule.until.is_none()), "{said}");
            assert!(said.len() < 6000, "{}: {}", rule.id, said.len());
        }
        for rule in log_rules() {
            let said = rule_text(&rule.id).expect("a rule");
            assert!(said.contains(&rule.text) && said.contains(&rule.advice), "{said}");
        }
        assert_eq!(rule_text("ANT-NOTHING"), None);
    }

    #[test]
    fn what_a_rule_depends_on_is_told() {
        let said = rule_text("ANT-SAMPLING").expect("a rule");
        for part in [
            " (anthropic; since 2026-10-21)",
            "It holds for `anthropic-version` from 2026-10-21.",
            "breaks it, at temperature:\n  anthropic-version: 2026-10-21\n  {\"temperature\": 1",
        ] {
            assert!(said.contains(part), "{part}: {said}");
        }
        let said = rule_text("OAI-RESP-PREVIOUS").expect("a rule");
        assert!(said.contains("One request does not show it: the responses before it must be known."), "{said}");
        assert_eq!(rule_text("OAI-STRICT-SCHEMA").map(|said| said.matches("\nbreaks it").count()), Some(2));
    }
}
