//! The two ECMAScript conversions that the document format names, over JSON values (clauses JSON-* and STR-*).

use crate::surrogates::{may_be_marked, unmark_surrogates, without_marks};
use serde_json::{Map, Number, Value};

/// `JSON.stringify(value)` (JSON-1 to JSON-4). A marked lone surrogate becomes its escape
/// ([`surrogates`](crate::surrogates)).
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

/// A target for JSON text.
pub(crate) trait JsonSink {
    /// Appends punctuation, literals and numbers.
    fn push_plain(&mut self, text: &str);
    /// Appends a string and its quotes.
    fn push_quoted(&mut self, text: &str);
    /// Appends JSON text.
    fn push_json(&mut self, json: &str);
}

impl JsonSink for String {
    fn push_plain(&mut self, text: &str) {
        self.push_str(text);
    }

    fn push_quoted(&mut self, text: &str) {
        self.push('"');
        let mut copied = 0;
        for (at, byte) in text.bytes().enumerate() {
            // All that is escaped is ASCII, so that these are positions between characters.
            let escape = match byte {
                b'"' => "\\\"",
                b'\\' => "\\\\",
                0x08 => "\\b",
                b'\t' => "\\t",
                b'\n' => "\\n",
                0x0c => "\\f",
                b'\r' => "\\r",
                0..0x20 => "",
                _ => continue,
            };
            self.push_str(&text[copied..at]);
            if escape.is_empty() {
                self.push_str(&format!("\\u{byte:04x}"));
            } else {
                self.push_str(escape);
            }
            copied = at + 1;
        }
        self.push_str(&text[copied..]);
        self.push('"');
    }

    fn push_json(&mut self, json: &str) {
        self.push_str(json);
    }
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
        Value::Number(number) => ryu_js::Buffer::new().format(double(number)).to_owned(),
        Value::String(text) => text.clone(),
        Value::Object(_) => "[object Object]".to_owned(),
        Value::Array(elements) => {
            let elements: Vec<String> = elements
                .iter()
                .map(|element| match element {
                    Value::Null => String::new(),
                    Value::String(text) => without_marks(text).into_owned(),
                    other => ecma_string(other),
                })
                .collect();
            elements.join(",")
        }
    }
}

fn write_string(out: &mut impl JsonSink, text: &str) {
    if may_be_marked(text) {
        let mut json = String::new();
        json.push_quoted(text);
        out.push_json(&unmark_surrogates(&json));
    } else {
        out.push_quoted(text);
    }
}

pub(crate) fn write_json(out: &mut impl JsonSink, value: &Value) {
    match value {
        Value::Null => out.push_plain("null"),
        Value::Bool(true) => out.push_plain("true"),
        Value::Bool(false) => out.push_plain("false"),
        Value::Number(number) => out.push_plain(ryu_js::Buffer::new().format(double(number))),
        Value::String(text) => write_string(out, text),
        Value::Array(elements) => {
            out.push_plain("[");
            for (position, element) in elements.iter().enumerate() {
                if position > 0 {
                    out.push_plain(",");
                }
                write_json(out, element);
            }
            out.push_plain("]");
        }
        Value::Object(members) => write_object(out, members),
    }
}

pub(crate) fn write_object(out: &mut impl JsonSink, members: &Map<String, Value>) {
    let mut indexed: Vec<(u32, &String, &Value)> =
        members.iter().filter_map(|(key, value)| Some((array_index(key)?, key, value))).collect();
    indexed.sort_unstable_by_key(|&(index, ..)| index);
    let some_are_indexed = !indexed.is_empty();
    let named = members.iter().filter(|(key, _)| !(some_are_indexed && array_index(key).is_some()));

    out.push_plain("{");
    for (position, (key, value)) in indexed.into_iter().map(|(_, key, value)| (key, value)).chain(named).enumerate() {
        if position > 0 {
            out.push_plain(",");
        }
        write_string(out, key);
        out.push_plain(":");
        write_json(out, value);
    }
    out.push_plain("}");
}

/// The array index, if a property key is one: canonical decimal, 0 to 2^32 - 2.
fn array_index(key: &str) -> Option<u32> {
    let canonical = key == "0" || (key.bytes().all(|byte| byte.is_ascii_digit()) && !key.starts_with('0'));
    if !canonical {
        return None;
    }
    key.parse().ok().filter(|&index| index != u32::MAX)
}

/// The double that an ECMAScript parser reads for the number (JSON-3, JSON-LARGE); `ryu_js` writes it as `Number::toString`
/// does.
fn double(number: &Number) -> f64 {
    // Without arbitrary precision every number of serde_json is a u64, an i64 or a finite f64, so this is never None.
    number.as_f64().unwrap_or(f64::NAN)
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
