//! Names and arguments of calls, and the names of declared tools.

use super::super::breach::Breaches;
use super::super::openai_tools;
use super::{has, is_plain, text};
use crate::MemberLookup;
use serde_json::Value;
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
    openai_tools::arguments(text, JSON, "OAI-RESP-UTF16", place, breaches);
}
