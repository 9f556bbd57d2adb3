//! Readings of how a number is spelled in a text, and of the words that a run adds.

use super::{Planted, both, literal, neglect};
use crate::twin::Twin;
use crate::twin::text::{attribute, number, quoted, string, text};
use crate::twin::{context, document, input};
use serde_json::{Number, Value};
use threadspec::agent::ToolError;
use threadspec::{Event, EventKind, Message, is_xml_char};
use threadspec_golden::clause;
use threadspec_judge::json::tokens;

/// Precedes the digits of a number that is kept as a text.
const KEPT: char = '\u{10caff}';
/// From here on, a double cannot hold every integer.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// An input whose arguments and results have each integer beyond 2^53 as a text of its digits, as programs with integers of any length
/// read it.
fn with_digits_kept(raw: &str) -> String {
    let repaired = input::raw_input(raw);
    let (mut out, mut depth, mut data, mut before) = (String::new(), 0_usize, None, ["", ""]);
    for token in tokens(&repaired) {
        if data.is_none() && before[1] == ":" && matches!(before[0], "\"args\"" | "\"result\"" | "\"tools\"") {
            data = Some(depth);
        }
        // Without a text as its message, it is no failure.
        let is_kept = data.is_some() && before != ["\"error\"", ":"] && is_long(token);
        out += &if is_kept { format!("\"{KEPT}{token}\"") } else { token.to_owned() };
        match token {
            "{" | "[" => depth += 1,
            "}" | "]" => depth = depth.saturating_sub(1),
            _ => {}
        }
        data = data.filter(|&start| start != depth);
        before = [before[1], token];
    }
    out
}

/// The same with the digits of the double that is next to each, in arguments as in results.
fn with_doubles_kept(raw: &str) -> String {
    let kept = with_digits_kept(raw);
    let mut parts = kept.split(KEPT);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |out, part| match part.split_once('"').map(|(digits, rest)| (digits.parse::<f64>(), rest)) {
        Some((Ok(double), rest)) => format!("{out}{KEPT}{double}\"{rest}"),
        _ => format!("{out}{KEPT}{part}"),
    })
}

/// Whether a token is an integer with more digits than a double holds.
fn is_long(token: &str) -> bool {
    let digits = token.strip_prefix('-').unwrap_or(token);
    let is_integer = digits.len() > 15 && digits.bytes().all(|c| c.is_ascii_digit());
    is_integer && digits.parse::<f64>().is_ok_and(|double| double > EXACT && double.is_finite())
}

/// Turns kept numbers back into numbers where they stand alone, and shows the digits of the others.
fn as_numbers(value: &mut Value) {
    match value {
        Value::String(text) => {
            *value = match text.strip_prefix(KEPT).map(serde_json::from_str::<Number>) {
                Some(Ok(number)) => number.into(),
                _ => text.replace(KEPT, "").into(),
            };
        }
        Value::Array(elements) => elements.iter_mut().for_each(as_numbers),
        Value::Object(members) => members.values_mut().for_each(as_numbers),
        _ => {}
    }
}

/// The same in arguments only: everywhere else a text is a text, whatever it begins with.
fn as_shown(value: &mut Value) {
    match value {
        Value::String(text) => *text = text.replace(KEPT, ""),
        Value::Array(elements) => elements.iter_mut().for_each(as_shown),
        Value::Object(members) => {
            for (name, member) in members {
                if name == "args" { as_numbers(member) } else { as_shown(member) }
            }
        }
        _ => {}
    }
}

/// Rewords the error of each failed model call.
fn reworded(event: Event, words: impl Fn(String) -> String) -> Event {
    match event.kind {
        EventKind::Error { error, recoverable } => {
            Event { kind: EventKind::Error { error: words(error), recoverable }, ..event }
        }
        kind => Event { kind, ..event },
    }
}

/// The beginning of a text, in UTF-16 units or bytes as `length` counts, with `end` after it.
fn cut(text: &str, most: usize, length: fn(char) -> usize, end: &str) -> String {
    let mut left = most;
    let fits = |c: &char| {
        let fits = length(*c) <= left;
        left = left.saturating_sub(length(*c));
        fits
    };
    let kept: String = text.chars().take_while(fits).collect();
    if kept.len() < text.len() { kept + end } else { kept }
}

pub(super) const NUMBERS: &[Planted] = &[
    both("integers-of-any-length-exact", &["E13"], |twin| {
        twin.raw_input = with_digits_kept;
        twin.quoted = |raw| raw.strip_prefix(KEPT).map_or_else(|| quoted(raw), str::to_owned);
        twin.spellings.push(as_shown);
    }),
    both("large-integers-as-doubles-without-an-exponent", &["E13"], |twin| {
        twin.raw_input = with_doubles_kept;
        twin.quoted = |raw| raw.strip_prefix(KEPT).map_or_else(|| quoted(raw), str::to_owned);
        twin.spellings.push(as_shown);
    }),
    both("whole-doubles-with-all-their-digits", &["E13"], |twin| {
        twin.number = |raw| match raw.as_f64() {
            Some(double) if double.fract() == 0.0 && double.abs() > EXACT && double.abs() < 1e21 => {
                format!("{double:.0}")
            }
            _ => number(raw),
        };
    }),
    both("large-integers-beyond-64-bits-with-all-digits", &["E13"], |twin| {
        twin.number = |raw| match (raw.is_f64(), raw.as_f64()) {
            (false, Some(double)) if double.abs() > EXACT && raw.as_i64().is_none() => format!("{double:.0}"),
            _ => number(raw),
        };
    }),
    both("minus-zero-of-arguments-kept-in-replies", &["E19"], |twin| {
        twin.spellings.push(|output| {
            fn negative(value: &mut Value) {
                match value {
                    Value::Number(number) if number.as_f64() == Some(0.0) => *value = Value::from(-0.0),
                    Value::Array(elements) => elements.iter_mut().for_each(negative),
                    Value::Object(members) => members.values_mut().for_each(negative),
                    _ => {}
                }
            }
            negative(output);
        });
    }),
];

pub(super) const WORDS: &[Planted] = &[
    both("errors-with-their-class", &[clause::LOOP_ERROR, "E26"], |twin| {
        twin.failed = |events, event| events.push(reworded(event, |error| format!("ModelError: {error}")));
    }),
    both("errors-with-a-class-in-a-namespace", &[clause::LOOP_ERROR, "E26"], |twin| {
        twin.failed = |events, event| events.push(reworded(event, |error| format!("llm::api::Error[E_429]: {error}")));
    }),
    both("errors-cut-after-500-units", &[clause::LOOP_ERROR, "E26"], |twin| {
        twin.failed = |events, event| events.push(reworded(event, |error| cut(&error, 500, char::len_utf16, "")));
    }),
    literal("failed-tools-as-error-events-in-other-words", &["E21", "E26"], |twin| {
        twin.recorded = |events| {
            super::tables::as_errors(events, |text| {
                Some((format!("ToolError: {}", text.strip_prefix("Tool error: ")?), false))
            })
        };
    }),
    literal("cut-calls-answered-with-nothing", &["E16"], |twin| {
        twin.cut = |_, calls| calls.iter().map(|call| Message::tool(&call.id, "")).collect();
    }),
    literal("absent-results-in-words-in-messages", &["E7"], |twin| {
        twin.result_content = |twin, result| {
            result.map_or_else(|| "(no result) <&>".to_owned(), |result| context::result_content(twin, Some(result)))
        };
    }),
    literal("absent-results-empty-everywhere", &["E7"], |twin| {
        twin.result_content =
            |twin, result| result.map_or_else(String::new, |result| context::result_content(twin, Some(result)));
        twin.result_text =
            |twin, result| result.map_or_else(String::new, |result| document::result_text(twin, Some(result)));
    }),
    literal("forbidden-characters-as-pictures", &["E2"], |twin| {
        twin.text = |twin, raw| text(twin, &raw.replace(|c| !is_xml_char(c), "\u{2421}"));
        twin.attribute = |twin, raw| attribute(twin, &raw.replace(|c| !is_xml_char(c), "\u{2421}"));
    }),
    literal("forbidden-characters-as-escapes", &["E2"], |twin| {
        twin.text = |twin, raw| text(twin, &raw.replace(|c| !is_xml_char(c), "<\\x&>"));
    }),
    literal("white-space-of-attributes-in-hexadecimal", &["E3", "E19"], |twin| {
        twin.attribute =
            |twin, raw| attribute(twin, raw).replace('\t', "&#x9;").replace('\n', "&#xa;").replace('\r', "&#xd;");
    }),
    literal("carriage-return-in-small-letters", &["E3", "E19"], |twin| {
        twin.text = |twin, raw| text(twin, raw).replace('\r', "&#xd;");
    }),
    literal("inner-objects-with-a-to-string-as-json", &["E20"], |twin| {
        twin.string = |twin, value| match value {
            Value::Array(elements) => {
                let element = |element: &Value| match element {
                    Value::Object(members) if members.contains_key("toString") => twin.stringify(element),
                    Value::Null => String::new(),
                    _ => (twin.string)(twin, element),
                };
                elements.iter().map(element).collect::<Vec<_>>().join(",")
            }
            _ => string(twin, value),
        };
    }),
];

/// Readings whose words do not follow a `should` clause.
pub(super) const NEGLECT: &[Planted] = &[
    neglect("errors-with-their-class-cut-after-20-bytes", &[clause::LOOP_ERROR], |twin| {
        twin.failed = |events, event| {
            events.push(reworded(event, |error| cut(&format!("Error: {error}"), 20, char::len_utf8, " [truncated]")));
        };
    }),
    neglect("errors-in-other-words", &[clause::LOOP_ERROR], |twin| {
        twin.failed = |events, event| events.push(reworded(event, |_| "The model could not be reached.".to_owned()));
    }),
    neglect("errors-without-words", &[clause::LOOP_ERROR], |twin| {
        twin.failed = |events, event| events.push(reworded(event, |_| String::new()));
    }),
    neglect("errors-with-markup", &[clause::LOOP_ERROR], |twin| {
        twin.failed = |events, event| events.push(reworded(event, |error| format!("<error>{error}</error>\r\n\t")));
    }),
    neglect("tool-failures-with-their-class", &[clause::LOOP_TOOL_ERROR], |twin: &mut Twin| {
        twin.outcome = |twin, call, result| match result {
            Err(ToolError::Failed(message)) => format!("Tool error: ValueError: {message}"),
            Err(ToolError::NotFound) => format!("Tool not found: {:?}", call.name),
            result => crate::twin::rounds::outcome(twin, call, result),
        };
    }),
    neglect("iterations-from-ten", &[clause::LOOP_PROMPT], |twin| twin.first_iteration = 10),
    neglect("completion-in-other-words", &[clause::LOOP_VERIFY], |twin| {
        twin.completion = |iteration, _, verified| {
            let kind = EventKind::Completion { result: "Done.".to_owned(), verified: Some(verified) };
            Some(Event { iteration, kind })
        };
    }),
    neglect("one-round-less", &[clause::TOOLS_DEPTH, clause::TOOLS_CUT], |twin| {
        twin.is_too_deep = |_, rounds, depth| depth.is_some_and(|depth| rounds + 1 >= depth);
    }),
    neglect("summaries-in-capitals", &[clause::CTX_SUMMARIES], |twin| {
        twin.summaries = |summaries| context::summaries(summaries).replace("### Iteration(s)", "SUMMARY OF");
    }),
];

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn digits_are_kept_and_shown() {
        let kept = with_digits_kept(r#"{"args":{"a":[12345678901234567891234,-1,0.5]}}"#);
        let mut read: Value = serde_json::from_str(&kept).expect("JSON");
        assert_eq!(read["args"]["a"], json!([format!("{KEPT}12345678901234567891234"), -1, 0.5]));
        read["content"] = format!("{KEPT}1").into();
        as_shown(&mut read);
        assert_eq!(read, json!({"args": {"a": [12_345_678_901_234_567_891_234_f64, -1, 0.5]}, "content": "1"}));
    }

    #[test]
    fn a_text_is_cut_between_characters() {
        assert_eq!(cut("a😀b", 2, char::len_utf16, "…"), "a…");
        assert_eq!(cut("a😀b", 4, char::len_utf16, "…"), "a😀b");
        assert_eq!(cut("aéb", 3, char::len_utf8, ""), "aé");
    }
}
