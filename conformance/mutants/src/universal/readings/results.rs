//! Readings of how results and failures are told.

use crate::universal::prelude::*;
use serde_json::Number;
use threadspec::surrogates::{is_mark, unmark_surrogates};
use threadspec_judge::json::tokens;
use threadspec_judge::universal::Abilities;

/// Writes numbers of structured results in another way. Integers of any size go through a double.
fn rewritten(name: &str, breaks: Clauses, write: fn(&Number) -> Option<String>) -> Planted {
    bug(name, breaks, move |agent| {
        agent.abilities = Abilities { exact_integers: false, ..agent.abilities };
        agent.content = Box::new(move |_, outcome| {
            let ToolOutcome::Result(value) = outcome else { return content(outcome) };
            if value.is_string() {
                return content(outcome);
            }
            let other = |token: &str| {
                let number = serde_json::from_str::<Number>(token).ok();
                number.and_then(|number| write(&number)).unwrap_or_else(|| token.to_owned())
            };
            tokens(&halves::escaped(&value.to_string())).map(other).collect::<String>().into()
        });
    })
}

/// Puts each result into a declared wrapper, with a word for each.
pub(in crate::universal) fn wrap(name: &str, breaks: Clauses, word: fn(usize) -> String) -> Planted {
    bug(name, breaks, move |agent| {
        agent.abilities = Abilities { wraps_results: true, ..agent.abilities };
        agent.answers = Box::new(move |run, answers| {
            for (number, answer) in answers.iter_mut().enumerate() {
                let word = word((run.turn << 16) + number);
                answer["content"] = format!("<untrusted0 {word}>\n{}\n</untrusted0 {word}>", words(answer)).into();
            }
        });
    })
}

pub(super) fn readings() -> Vec<Planted> {
    vec![
        wrap("results-in-wrappers-with-a-random-word", PERMITTED, |number| format!("9{:016x}", number * 40_503)),
        on_failure("answers-to-failures-in-other-words", PERMITTED, |error| format!("⚠ {error} (try something else)")),
        on_failure("failures-as-json", PERMITTED, |error| json!({"status": "error", "error": error}).to_string()),
        on_failure("failures-in-string-notation", PERMITTED, |error| {
            format!("ToolError({:?})", unmark_surrogates(error))
        }),
        on_failure("failures-as-they-are", PERMITTED, str::to_owned),
        seam::content("unknown-tools-as-json", PERMITTED, |_, outcome| match outcome {
            ToolOutcome::Unknown(name) => json!({"error": "unknown_tool", "tool": name}).to_string().into(),
            _ => content(outcome),
        }),
        on_structured("results-as-indented-json", PERMITTED, |value| {
            halves::escaped(&serde_json::to_string_pretty(value).unwrap_or_default()).into()
        }),
        on_structured("results-with-members-sorted", PERMITTED, |value| {
            halves::escaped(&op::sorted(value).to_string()).into()
        }),
        on_structured("c1-controls-and-line-separators-escaped", PERMITTED, |value| {
            let escape = |c: char| match c {
                '\u{80}'..='\u{9f}' | '\u{2028}' | '\u{2029}' => format!("\\u{:04x}", u32::from(c)),
                c => c.to_string(),
            };
            halves::escaped(&value.to_string()).chars().map(escape).collect::<String>().into()
        }),
        on_structured("halves-of-structured-results-as-u-fffd", PERMITTED, |value| {
            halves::repaired(&value.to_string()).into()
        }),
        seam::content("halves-as-escapes-in-text", PERMITTED, |_, outcome| match outcome {
            ToolOutcome::Result(Value::String(text)) => halves::escaped(text).into(),
            _ => content(outcome),
        }),
        seam::content("halves-left-out", PERMITTED, |_, outcome| match outcome {
            ToolOutcome::Result(Value::String(text)) if halves::escaped(text) != *text => {
                text.replace(is_mark, "").into()
            }
            _ => content(outcome),
        }),
        on_structured("whole-numbers-with-a-point", PERMITTED, |value| match value.as_i64() {
            Some(number) if number.abs() < 1 << 53 => format!("{number}.0").into(),
            _ => halves::escaped(&value.to_string()).into(),
        }),
        rewritten("numbers-of-results-in-exponential-form", PERMITTED, |number| {
            number.as_f64().map(|double| format!("{double:e}"))
        }),
        rewritten("numbers-of-results-with-seventeen-digits", PERMITTED, |number| {
            number.as_f64().map(|double| format!("{double:.16E}"))
        }),
        rewritten("numbers-of-results-in-full", PERMITTED, |number| {
            number.as_f64().filter(|double| double.abs() >= 1e-300).map(|double| format!("{double}"))
        }),
        rewritten("minus-zero-of-results-kept", PERMITTED, |number| {
            (number.as_f64() == Some(0.0)).then(|| "-0.0".to_owned())
        }),
        on_structured("results-with-spaces-between-tokens", PERMITTED, |value| {
            tokens(&halves::escaped(&value.to_string())).map(|token| format!(" {token} ")).collect::<String>().into()
        }),
        on_structured("results-safe-for-html", PERMITTED, |value| {
            let escaped = |c: char| {
                if matches!(c, '<' | '>' | '&' | '\'' | '\u{7f}') {
                    format!("\\u{:04X}", u32::from(c))
                } else {
                    c.to_string()
                }
            };
            halves::escaped(&value.to_string()).chars().map(escaped).collect::<String>().into()
        }),
        on_structured("slashes-of-results-escaped", PERMITTED, |value| {
            halves::escaped(&value.to_string()).replace('/', "\\/").into()
        }),
        on_failure("failures-with-their-class", PERMITTED, |error| format!("ToolException: {error}")),
        on_failure("failures-between-lines", PERMITTED, |error| {
            format!("<error>\n{error}\n</error>\nPlease fix your mistakes.")
        }),
    ]
}
