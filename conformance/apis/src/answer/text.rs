//! JSON text as it goes over the wire.

use serde_json::Value;
use std::borrow::Cow;
use threadspec::surrogates::{marked, unmark_surrogates};

/// A value of marked data as JSON text. `ascii` writes what is not ASCII as escapes.
///
/// ```
/// use serde_json::json;
/// use threadspec_apis::json_text;
/// let value = json!({"cut": "\u{10d83d}", "whole": "😀"});
/// assert_eq!(json_text(&value, false), r#"{"cut":"\ud83d","whole":"😀"}"#);
/// assert_eq!(json_text(&value, true), r#"{"cut":"\ud83d","whole":"\ud83d\ude00"}"#);
/// ```
pub fn json_text(value: &Value, ascii: bool) -> String {
    on_the_wire(value.to_string(), ascii)
}

/// Arguments as the JSON text in which they are sent: half a pair is an escape inside it.
///
/// ```
/// use serde_json::json;
/// assert_eq!(threadspec_apis::argument_text(&json!({"a": "\u{10d83d}"})), r#"{"a":"\ud83d"}"#);
/// ```
pub fn argument_text(args: &Value) -> String {
    marked(&unmark_surrogates(&args.to_string())).into_owned()
}

/// JSON text of marked data as bytes have it.
pub(super) fn on_the_wire(json: String, ascii: bool) -> String {
    let json = match unmark_surrogates(&json) {
        Cow::Borrowed(_) => json,
        Cow::Owned(unmarked) => unmarked,
    };
    if !ascii || json.is_ascii() {
        return json;
    }
    let mut escaped = String::with_capacity(2 * json.len());
    for character in json.chars() {
        if character.is_ascii() {
            escaped.push(character);
        } else {
            // Only inside strings is a character other than ASCII.
            let mut units = [0; 2];
            character.encode_utf16(&mut units).iter().for_each(|unit| escaped += &format!("\\u{unit:04x}"));
        }
    }
    escaped
}
