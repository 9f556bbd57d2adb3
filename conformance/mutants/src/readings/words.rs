//! Readings of how a number is spelled in a text, and of the words that a run adds.

use super::tables::{absent, as_errors, cut_with, failing, forbidden};
use super::{both, literal};
use crate::plants::TwinSite::{Attribute, Escaped, Raw, Summaries};
use crate::plants::prelude::*;
use crate::plants::terms::FaultTerms;
use crate::twin::rounds::completion;
use crate::twin::text::{item, quoted};
use crate::twin::{context, document, input};
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

/// Returns whether a token is an integer with more digits than a double holds.
fn is_long(token: &str) -> bool {
    let digits = token.strip_prefix('-').unwrap_or(token);
    let is_integer = digits.len() > 15 && digits.bytes().all(|c| c.is_ascii_digit());
    is_integer && digits.parse::<f64>().is_ok_and(|double| double > EXACT && double.is_finite())
}

/// Turns kept numbers back into numbers where they are alone, and shows the digits of the others.
fn as_numbers(value: &mut Value) {
    each(value, &|value| {
        if let Value::String(text) = value {
            *value = match text.strip_prefix(KEPT).map(serde_json::from_str::<Number>) {
                Some(Ok(number)) => number.into(),
                _ => text.replace(KEPT, "").into(),
            };
        }
    });
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
fn reworded(name: FaultName, terms: FaultTerms, words: fn(&str) -> String) -> Planted {
    on::failed(name, terms, move |events, mut event| {
        if let EventKind::Error { error, .. } = &mut event.kind {
            *error = words(error);
        }
        events.push(event);
    })
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

/// Reads long integers as texts of their digits, and shows these.
fn digits_kept(name: FaultName, read: fn(&str) -> String) -> Planted {
    let read = &*Box::leak(Box::new(read));
    on::several(name, both("E13"), move |twin| {
        twin.raw_input = read;
        twin.quoted = &|raw| raw.strip_prefix(KEPT).map_or_else(|| quoted(raw), str::to_owned);
        twin.spellings.push(as_shown);
    })
}

pub(super) fn numbers() -> Vec<Planted> {
    vec![
        digits_kept("integers-of-any-length-exact", with_digits_kept),
        digits_kept("large-integers-as-doubles-without-an-exponent", with_doubles_kept),
        odd_number("whole-doubles-with-all-their-digits", both("E13"), |_, double| {
            (double.fract() == 0.0 && double.abs() > EXACT && double.abs() < 1e21).then(|| format!("{double:.0}"))
        }),
        odd_number("large-integers-beyond-64-bits-with-all-digits", both("E13"), |raw, double| {
            (!raw.is_f64() && double.abs() > EXACT && raw.as_i64().is_none()).then(|| format!("{double:.0}"))
        }),
        spelling("minus-zero-of-arguments-kept-in-replies", both("E19"), |output| {
            each(output, &|value| {
                if value.as_f64() == Some(0.0) {
                    *value = Value::from(-0.0);
                }
            });
        }),
    ]
}

pub(super) fn words() -> Vec<Planted> {
    let class = || both([LOOP_ERROR, "E26"]);
    vec![
        reworded("errors-with-their-class", class(), |error| format!("ModelError: {error}")),
        reworded("errors-with-a-class-in-a-namespace", class(), |error| format!("llm::api::Error[E_429]: {error}")),
        reworded("errors-cut-after-500-units", class(), |error| cut(error, 500, char::len_utf16, "")),
        as_errors("failed-tools-as-error-events-in-other-words", literal(["E21", "E26"]), |text| {
            Some((format!("ToolError: {}", text.strip_prefix("Tool error: ")?), false))
        }),
        cut_with("cut-calls-answered-with-nothing", ""),
        absent("absent-results-in-words-in-messages", "(no result) <&>"),
        on::several("absent-results-empty-everywhere", literal("E7"), |twin| {
            twin.result_content =
                &|twin, result| result.map_or_else(String::new, |result| context::result_content(twin, Some(result)));
            twin.result_text =
                &|twin, result| result.map_or_else(String::new, |result| document::result_text(twin, Some(result)));
        }),
        forbidden("forbidden-characters-as-pictures", |_| "\u{2421}".to_owned()),
        edit("forbidden-characters-as-escapes", literal("E2"), Raw, |text| text.replace(|c| !is_xml_char(c), "<\\x&>")),
        swap(
            "white-space-of-attributes-in-hexadecimal",
            literal(["E3", "E19"]),
            Attribute,
            &[("\t", "&#x9;"), ("\n", "&#xa;"), ("\r", "&#xd;")],
        ),
        swap("carriage-return-in-small-letters", literal(["E3", "E19"]), Escaped, &[("\r", "&#xd;")]),
        on::item("inner-objects-with-a-to-string-as-json", literal("E20"), |twin, element| {
            if element.get("toString").is_some() { Some(twin.stringify(element)) } else { item(twin, element) }
        }),
    ]
}

/// Readings whose words do not follow a `should` clause.
pub(super) fn neglects() -> Vec<Planted> {
    let errors = || neglect(LOOP_ERROR);
    vec![
        reworded("errors-with-their-class-cut-after-20-bytes", errors(), |error| {
            cut(&format!("Error: {error}"), 20, char::len_utf8, " [truncated]")
        }),
        reworded("errors-in-other-words", errors(), |_| "The model could not be reached.".to_owned()),
        reworded("errors-without-words", errors(), |_| String::new()),
        reworded("errors-with-markup", errors(), |error| format!("<error>{error}</error>\r\n\t")),
        failing("tool-failures-with-their-class", |name, error| match error {
            ToolError::Failed(message) => format!("Tool error: ValueError: {message}"),
            ToolError::NotFound => format!("Tool not found: {name:?}"),
        }),
        on::first_iteration("iterations-from-ten", neglect(LOOP_PROMPT), 10),
        on::completion("completion-in-other-words", neglect(LOOP_VERIFY), |iteration, _, verified| {
            completion(iteration, "Done.", verified)
        }),
        on::is_too_deep("one-round-less", neglect([TOOLS_DEPTH, TOOLS_CUT]), |_, rounds, depth| {
            depth.is_some_and(|depth| rounds + 1 >= depth)
        }),
        swap("summaries-in-capitals", neglect(CTX_SUMMARIES), Summaries, &[("### Iteration(s)", "SUMMARY OF")]),
    ]
}

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
