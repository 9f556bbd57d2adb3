//! The lines of the protocol, which both adapters speak.

use serde_json::{json, Value};
use std::io::{self, BufRead, Write};

/// Answers requests until standard input ends.
pub fn serve(answer: impl Fn(&Value) -> Value) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let line = line?;
        let reply = match serde_json::from_str(&without_halves(&line)) {
            Ok(request) => answer(&request),
            Err(error) => refused(&line, &error.to_string()),
        };
        writeln!(stdout, "{reply}")?;
        stdout.flush()?;
    }
    Ok(())
}

/// The reply to a line that is no JSON for serde_json, such as one that is nested too deeply. The id is first.
fn refused(line: &str, why: &str) -> Value {
    let rest = line.strip_prefix(r#"{"id":"#).unwrap_or_default();
    let id: Option<i64> = rest.split(',').next().and_then(|id| id.parse().ok());
    json!({"id": id, "reject": {"kind": "invalid-input", "message": why}})
}

/// JSON can hold a lone surrogate, a Rust string cannot: `\ud83d` alone is read as U+FFFD.
fn without_halves(line: &str) -> String {
    let half = |at: usize| -> Option<u16> {
        let escape = line.get(at..at + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(escape, 16).ok().filter(|unit| (0xd800..0xe000).contains(unit))
    };
    let (mut whole, mut at) = (String::new(), 0);
    while let Some(found) = line[at..].find('\\') {
        whole.push_str(&line[at..at + found]);
        at += found;
        let length = match (half(at), half(at + 6)) {
            (Some(high), Some(low)) if high < 0xdc00 && low >= 0xdc00 => 12,
            (Some(_), _) => 6,
            // Any other escape, and what it escapes.
            (None, _) => 1 + line[at + 1..].chars().next().map_or(0, char::len_utf8),
        };
        whole.push_str(if length == 6 { "\\ufffd" } else { &line[at..at + length] });
        at += length;
    }
    whole + &line[at..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_cannot_be_read_is_refused() {
        let reply = refused(r#"{"id":7,"op":"escape","input":{"n":1e400}}"#, "number out of range");
        assert_eq!(reply, json!({"id": 7, "reject": {"kind": "invalid-input", "message": "number out of range"}}));
    }

    #[test]
    fn only_halves_are_replaced() {
        assert_eq!(without_halves(r#""\ud83d \ud83d\ude00 \\ud83d é""#), r#""\ufffd \ud83d\ude00 \\ud83d é""#);
    }
}
