//! The two ECMAScript conversions that the document format names, over JSON values (clauses JSON-* and STR-*).

use serde_json::{Map, Number, Value};

/// `JSON.stringify(value)` (JSON-1 to JSON-4).
///
/// ```
/// use serde_json::json;
/// let value = json!({"b": 1.0, "10": "a/b\u{1}", "9": 1e21});
/// assert_eq!(threadspec::json_stringify(&value), r#"{"9":1e+21,"10":"a/b\u0001","b":1}"#);
/// ```
pub fn json_stringify(value: &Value) -> String {
    let mut out = String::new();
    write_json(&mut out, value);
    out
}

/// `JSON.stringify` of an object that is given by its members.
pub(crate) fn json_stringify_object(members: &Map<String, Value>) -> String {
    let mut out = String::new();
    write_object(&mut out, members);
    out
}

/// `String(value)` (STR-1, STR-2). An object gives `[object Object]`, also one with a member `toString`, where JavaScript
/// throws.
///
/// ```
/// use serde_json::json;
/// assert_eq!(threadspec::ecma_string(&json!([1, [null, "x"], {"y": 2}])), "1,,x,[object Object]");
/// assert_eq!(threadspec::ecma_string(&json!(null)), "null");
/// ```
pub fn ecma_string(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => number_to_string(number),
        Value::String(text) => text.clone(),
        Value::Object(_) => "[object Object]".to_owned(),
        Value::Array(elements) => {
            let elements: Vec<String> = elements
                .iter()
                .map(|element| if element.is_null() { String::new() } else { ecma_string(element) })
                .collect();
            elements.join(",")
        }
    }
}

fn write_json(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Number(number) => out.push_str(&number_to_string(number)),
        Value::String(text) => write_quoted(out, text),
        Value::Array(elements) => {
            out.push('[');
            for (position, element) in elements.iter().enumerate() {
                if position > 0 {
                    out.push(',');
                }
                write_json(out, element);
            }
            out.push(']');
        }
        Value::Object(members) => write_object(out, members),
    }
}

fn write_object(out: &mut String, members: &Map<String, Value>) {
    let mut indices: Vec<(u32, &String, &Value)> =
        members.iter().filter_map(|(key, value)| Some((array_index(key)?, key, value))).collect();
    indices.sort_unstable_by_key(|&(index, ..)| index);
    let indexed = indices.into_iter().map(|(_, key, value)| (key, value));
    let named = members.iter().filter(|(key, _)| array_index(key).is_none());

    out.push('{');
    for (position, (key, value)) in indexed.chain(named).enumerate() {
        if position > 0 {
            out.push(',');
        }
        write_quoted(out, key);
        out.push(':');
        write_json(out, value);
    }
    out.push('}');
}

/// The array index that a property key is: canonical decimal, 0 to 2^32 - 2.
fn array_index(key: &str) -> Option<u32> {
    let canonical = key == "0" || (key.bytes().all(|byte| byte.is_ascii_digit()) && !key.starts_with('0'));
    if !canonical {
        return None;
    }
    key.parse().ok().filter(|&index| index != u32::MAX)
}

fn write_quoted(out: &mut String, text: &str) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\u{c}' => out.push_str("\\f"),
            '\r' => out.push_str("\\r"),
            '\0'..='\u{1f}' => out.push_str(&format!("\\u{:04x}", u32::from(character))),
            _ => out.push(character),
        }
    }
    out.push('"');
}

/// `Number::toString` of the double that an ECMAScript parser reads for the number (JSON-3, JSON-LARGE).
fn number_to_string(number: &Number) -> String {
    // Without arbitrary precision every number of serde_json is a u64, an i64 or a finite f64, so this is never None.
    let double = number.as_f64().unwrap_or(f64::NAN);
    ryu_js::Buffer::new().format(double).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stringify(json: &str) -> String {
        json_stringify(&serde_json::from_str(json).expect("a test's JSON parses"))
    }

    #[test]
    fn numbers_are_written_as_number_to_string_does() {
        for (json, text) in [
            ("1.0", "1"),
            ("-0", "0"),
            ("-0.0", "0"),
            ("1e21", "1e+21"),
            ("1e20", "100000000000000000000"),
            ("1e-6", "0.000001"),
            ("1e-7", "1e-7"),
            ("123456789.125", "123456789.125"),
            ("5e-324", "5e-324"),
            ("1.7976931348623157e308", "1.7976931348623157e+308"),
            ("9007199254740993", "9007199254740992"),
            ("18446744073709551615", "18446744073709552000"),
            ("-9223372036854775808", "-9223372036854776000"),
            ("0.1", "0.1"),
        ] {
            assert_eq!(stringify(json), text, "{json}");
        }
    }

    #[test]
    fn members_stand_in_property_order() {
        assert_eq!(
            stringify(
                r#"{"b":1,"2":2,"a":3,"1":4,"01":5,"4294967294":6,"4294967295":7,"-1":8,"":9,"__proto__":10,"b":11}"#
            ),
            r#"{"1":4,"2":2,"4294967294":6,"b":11,"a":3,"01":5,"4294967295":7,"-1":8,"":9,"__proto__":10}"#
        );
    }

    #[test]
    fn strings_are_quoted_as_quote_json_string_does() {
        assert_eq!(
            json_stringify(&Value::from("\"\\/\u{8}\t\n\u{b}\u{c}\r\u{1f}\u{7f}\u{2028}é😀")),
            "\"\\\"\\\\/\\b\\t\\n\\u000b\\f\\r\\u001f\u{7f}\u{2028}é😀\""
        );
    }

    #[test]
    fn string_of_a_value() {
        for (json, text) in [
            ("true", "true"),
            ("1e21", "1e+21"),
            ("[]", ""),
            ("[null]", ""),
            ("[[],[1,[2,null]],null]", ",1,2,,"),
            (r#"{"toString":1}"#, "[object Object]"),
        ] {
            let value = serde_json::from_str(json).expect("a test's JSON parses");
            assert_eq!(ecma_string(&value), text, "{json}");
        }
    }
}
