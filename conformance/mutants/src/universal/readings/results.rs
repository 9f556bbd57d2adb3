//! Readings of how results and failures are told.

use crate::agent::{Agent, ToolOutcome, content, text};
use crate::planted::Planted;
use crate::universal::bugs::{on_failure, on_structured};
use crate::universal::reading;
use serde_json::{Number, Value, json};
use threadspec::surrogates::{is_mark, unmark_surrogates};
use threadspec_judge::json::tokens;
use threadspec_judge::universal::{Abilities, halves};

/// Writes numbers of structured results in another way. Integers of any size go through a double.
fn rewritten(agent: &mut Agent, write: fn(&Number) -> Option<String>) {
    agent.abilities = Abilities { exact_integers: false, ..agent.abilities };
    on_structured(agent, move |value| {
        let other = |token: &str| {
            let number = serde_json::from_str::<Number>(token).ok();
            number.and_then(|number| write(&number)).unwrap_or_else(|| token.to_owned())
        };
        tokens(&halves::escaped(&value.to_string())).map(other).collect::<String>().into()
    });
}

/// Puts each result into a declared wrapper, with a word for each.
pub(in crate::universal) fn wrap(agent: &mut Agent, word: fn(usize) -> String) {
    agent.abilities = Abilities { wraps_results: true, ..agent.abilities };
    agent.answers = Box::new(move |run, answers| {
        for (number, answer) in answers.iter_mut().enumerate() {
            let word = word((run.turn << 16) + number);
            answer["content"] =
                format!("<untrusted0 {word}>\n{}\n</untrusted0 {word}>", text(&answer["content"])).into();
        }
    });
}

pub(super) fn readings() -> Vec<Planted> {
    vec![
        reading("results-in-wrappers-with-a-random-word", |agent| {
            wrap(agent, |number| format!("9{:016x}", number * 40_503));
        }),
        reading("answers-to-failures-in-other-words", |agent| {
            on_failure(agent, |error| format!("⚠ {error} (try something else)"))
        }),
        reading("failures-as-json", |agent| {
            on_failure(agent, |error| json!({"status": "error", "error": error}).to_string())
        }),
        reading("failures-in-string-notation", |agent| {
            on_failure(agent, |error| format!("ToolError({:?})", unmark_surrogates(error)));
        }),
        reading("failures-as-they-are", |agent| on_failure(agent, str::to_owned)),
        reading("unknown-tools-as-json", |agent| {
            agent.content = Box::new(|_, outcome| match outcome {
                ToolOutcome::Unknown(name) => json!({"error": "unknown_tool", "tool": name}).to_string().into(),
                _ => content(outcome),
            });
        }),
        reading("results-as-indented-json", |agent| {
            on_structured(agent, |value| {
                halves::escaped(&serde_json::to_string_pretty(value).unwrap_or_default()).into()
            });
        }),
        reading("results-with-members-sorted", |agent| {
            on_structured(agent, |value| {
                fn sorted(value: &Value) -> Value {
                    match value {
                        Value::Array(elements) => elements.iter().map(sorted).collect(),
                        Value::Object(members) => {
                            let mut members: Vec<_> =
                                members.iter().map(|(name, member)| (name.clone(), sorted(member))).collect();
                            members.sort_by(|one, other| one.0.cmp(&other.0));
                            members.into_iter().collect()
                        }
                        other => other.clone(),
                    }
                }
                halves::escaped(&sorted(value).to_string()).into()
            });
        }),
        reading("c1-controls-and-line-separators-escaped", |agent| {
            on_structured(agent, |value| {
                let escape = |c: char| match c {
                    '\u{80}'..='\u{9f}' | '\u{2028}' | '\u{2029}' => format!("\\u{:04x}", u32::from(c)),
                    c => c.to_string(),
                };
                halves::escaped(&value.to_string()).chars().map(escape).collect::<String>().into()
            });
        }),
        reading("halves-of-structured-results-as-u-fffd", |agent| {
            on_structured(agent, |value| halves::repaired(&value.to_string()).into())
        }),
        reading("halves-as-escapes-in-text", |agent| {
            agent.content = Box::new(|_, outcome| match outcome {
                ToolOutcome::Result(Value::String(text)) => halves::escaped(text).into(),
                _ => content(outcome),
            });
        }),
        reading("halves-left-out", |agent| {
            agent.content = Box::new(|_, outcome| match outcome {
                ToolOutcome::Result(Value::String(text)) if halves::escaped(text) != *text => {
                    text.replace(is_mark, "").into()
                }
                _ => content(outcome),
            });
        }),
        reading("whole-numbers-with-a-point", |agent| {
            on_structured(agent, |value| match value.as_i64() {
                Some(number) if number.abs() < 1 << 53 => format!("{number}.0").into(),
                _ => halves::escaped(&value.to_string()).into(),
            });
        }),
        reading("numbers-of-results-in-exponential-form", |agent| {
            rewritten(agent, |number| number.as_f64().map(|double| format!("{double:e}")));
        }),
        reading("numbers-of-results-with-seventeen-digits", |agent| {
            rewritten(agent, |number| number.as_f64().map(|double| format!("{double:.16E}")));
        }),
        reading("numbers-of-results-in-full", |agent| {
            rewritten(agent, |number| {
                number.as_f64().filter(|double| double.abs() >= 1e-300).map(|double| format!("{double}"))
            });
        }),
        reading("minus-zero-of-results-kept", |agent| {
            rewritten(agent, |number| (number.as_f64() == Some(0.0)).then(|| "-0.0".to_owned()));
        }),
        reading("results-with-spaces-between-tokens", |agent| {
            on_structured(agent, |value| {
                tokens(&halves::escaped(&value.to_string()))
                    .map(|token| format!(" {token} "))
                    .collect::<String>()
                    .into()
            });
        }),
        reading("results-safe-for-html", |agent| {
            on_structured(agent, |value| {
                let escaped = |c: char| {
                    if matches!(c, '<' | '>' | '&' | '\'' | '\u{7f}') {
                        format!("\\u{:04X}", u32::from(c))
                    } else {
                        c.to_string()
                    }
                };
                halves::escaped(&value.to_string()).chars().map(escaped).collect::<String>().into()
            });
        }),
        reading("slashes-of-results-escaped", |agent| {
            on_structured(agent, |value| halves::escaped(&value.to_string()).replace('/', "\\/").into());
        }),
        reading("failures-with-their-class", |agent| on_failure(agent, |error| format!("ToolException: {error}"))),
        reading("failures-between-lines", |agent| {
            on_failure(agent, |error| format!("<error>\n{error}\n</error>\nPlease fix your mistakes."));
        }),
    ]
}
