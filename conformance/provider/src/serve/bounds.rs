//! How deep a JSON text is nested and how many values it has, found without reading it.

use super::ServerLimits;
use crate::received::Unreadable;

/// Refuses a text that would cost too much to read, whether it is JSON or not.
pub(super) fn check(text: &[u8], limits: &ServerLimits) -> Result<(), Unreadable> {
    // Each value but the first one of a list or an object has a comma before it, so that a short text cannot have too many.
    if text.len() <= limits.depth.min(limits.values) {
        return Ok(());
    }
    let (mut depth, mut values, mut is_string, mut is_escaped) = (0_usize, 1_usize, false, false);
    for &byte in text {
        if is_string {
            (is_string, is_escaped) = (is_escaped || byte != b'"', !is_escaped && byte == b'\\');
            continue;
        }
        match byte {
            b'"' => is_string = true,
            b'[' | b'{' => {
                depth += 1;
                values += 1;
                if depth > limits.depth {
                    return Err(Unreadable::TooDeep(limits.depth));
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            b',' => values += 1,
            _ => continue,
        }
        if values > limits.values {
            return Err(Unreadable::TooMany(limits.values));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(text: &str) -> Result<(), Unreadable> {
        check(text.as_bytes(), &ServerLimits { depth: 3, values: 5, ..ServerLimits::default() })
    }

    #[test]
    fn depth_and_values_are_bounded() {
        for (text, expected) in [
            ("", Ok(())),
            ("[[[]]]", Ok(())),
            ("[[[[]]]]", Err(Unreadable::TooDeep(3))),
            ("[1,2,3,4]", Ok(())),
            ("[1,2,3,4,5]", Err(Unreadable::TooMany(5))),
            (r#"{"a":{"b":{}},"c":1}"#, Ok(())),
            (r#"["[[[[[[,,,,,,,\"[[[[[[,,,,,,,\\"]"#, Ok(())),
            ("]]]]]]]]]]", Ok(())),
            ("not JSON, but, commas, count, all, the, same", Err(Unreadable::TooMany(5))),
        ] {
            assert_eq!(checked(text), expected, "{text}");
        }
    }
}
