//! Names and arguments of calls, and the names of declared tools.

use super::super::breach::Breaches;
use super::{has, is_plain, text};
use crate::MemberLookup;
use crate::surrogates::{mark_surrogates, unmark_surrogates};
use serde_json::{Map, Value};
use std::fmt::Arguments;

pub(super) const STRING: &str = "OAI-RESP-ARGS-STRING";
pub(super) const JSON: &str = "OAI-RESP-ARGS-JSON";
pub(super) const PATTERN: &str = "OAI-RESP-NAME-PATTERN";
pub(super) const LENGTH: &str = "OAI-RESP-NAME-LEN";

const LONGEST_NAME: usize = 128;

pub(super) fn judge(item: &Value, place: Arguments<'_>, breaches: &mut Breaches) {
    if !matches!(text(item, "type"), "function_call" | "custom_tool_call") {
        return;
    }
    name(item, place, breaches);
    if item.member("type") == "function_call" {
        arguments(item.member("arguments"), format_args!("{place}.arguments"), breaches);
    }
}

pub(super) fn declared(tool: &Value, place: Arguments<'_>, breaches: &mut Breaches) {
    if matches!(text(tool, "type"), "function" | "custom") {
        name(tool, place, breaches);
    }
}

fn name(holder: &Value, place: Arguments<'_>, breaches: &mut Breaches) {
    let place = format_args!("{place}.name");
    let name = text(holder, "name");
    if !has(holder, "name") {
        breaches.add(LENGTH, place, "there is none").variant("missing");
    } else if name.is_empty() {
        breaches.add(LENGTH, place, "0 characters").variant("empty");
    } else {
        breaches.not_longer(LONGEST_NAME, LENGTH, place, name);
        if !is_plain(name) {
            breaches.add(PATTERN, place, format!("{name:?}")).name(name);
        }
    }
}

fn arguments(arguments: &Value, place: Arguments<'_>, breaches: &mut Breaches) {
    let Some(text) = arguments.as_str() else {
        let breach = breaches.add(STRING, place, "not a string").kind(arguments);
        if arguments.is_null() {
            breach.variant("missing");
        }
        return;
    };
    // As a server parses the text. Lone surrogates of the outer text become escapes, which do not break the inner JSON.
    let inner = mark_surrogates(&unmark_surrogates(text)).into_owned();
    if let Ok(members) = serde_json::from_str::<Map<String, Value>>(&inner) {
        breaches.surrogates(false, "OAI-RESP-UTF16", place, &Value::Object(members));
    } else {
        // OpenAI's own server does not parse it.
        let what = format!("{text:?} is not the JSON text of an object");
        breaches.add(JSON, place, what).certain_if(false);
    }
}
