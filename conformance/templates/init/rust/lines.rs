//! The lines of the protocol, which both adapters speak.

use serde_json::Value;
use std::io::{self, BufRead, Write};

/// Answers requests until standard input ends.
pub fn serve(answer: impl Fn(&Value) -> Value) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let request = serde_json::from_str(&without_halves(&line?))?;
        writeln!(stdout, "{}", answer(&request))?;
        stdout.flush()?;
    }
    Ok(())
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
    fn only_halves_are_replaced() {
        assert_eq!(without_halves(r#""\ud83d \ud83d\ude00 \\ud83d é""#), r#""\ufffd \ud83d\ude00 \\ud83d é""#);
    }
}
