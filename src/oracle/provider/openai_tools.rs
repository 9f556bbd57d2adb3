//! Checks declared tools by the rules of both APIs of OpenAI.

use super::breach::{BreachDetail, Breaches};
use super::{list, text};
use crate::MemberLookup;
use crate::surrogates::{has_marks, mark_surrogates, unmark_surrogates};
use serde::de::IgnoredAny;
use serde_json::{Map, Value};
use std::fmt::Arguments;

pub(super) const STRICT_SCHEMA: &str = "OAI-STRICT-SCHEMA";

/// Members of a schema that hold a schema each by a name, a list of schemas, one schema.
const BY_NAME: &[&str] = &["properties", "$defs", "definitions"];
const LISTS: &[&str] = &["anyOf"];
const SINGLE: &[&str] = &["items"];

/// Judges the text of a call's arguments, as a server does that parses it: OpenAI's own servers do not. `json` and `utf16` are the rules for a text
/// that is not the JSON text of an object, and for a lone surrogate in it.
pub(super) fn arguments(
    text: &str,
    json: &'static str,
    utf16: &'static str,
    place: Arguments<'_>,
    breaches: &mut Breaches,
) {
    // Lone surrogates of the outer text become escapes, which do not break the inner JSON.
    let inner = unmark_surrogates(text);
    let inner = mark_surrogates(&inner);
    if !inner.trim_start().starts_with('{') || serde_json::from_str::<IgnoredAny>(&inner).is_err() {
        let what = format!("{text:?} is not the JSON text of an object");
        breaches.add(json, place, what).certain_if(false);
    } else if has_marks(&inner)
        && let Ok(members) = serde_json::from_str(&inner)
    {
        breaches.surrogates(false, utf16, place, &members);
    }
}

/// Judges the schema of each tool that is to be strict; `function` has its name and parameters, and is at `place`.
pub(super) fn strict(function: &Value, place: Arguments<'_>, breaches: &mut Breaches) {
    if function.member("strict") != true {
        return;
    }
    let place = format_args!("{place}.parameters");
    if let Some(fault) = object_fault(function.member("parameters"), &mut Vec::new()) {
        let name = text(function, "name");
        // Without `type` it may not be meant as an object.
        let breach = breaches.add(STRICT_SCHEMA, place, fault.what());
        breach.certain_if(fault.is_object).name(name).with(BreachDetail::Context(fault.context));
        if let Some(property) = fault.missing {
            breach.variant("required").with(BreachDetail::Value(property));
        }
    }
}

/// The first object of a schema that is not strict.
struct ObjectFault {
    context: String,
    is_object: bool,
    /// The property that is not required; otherwise other members are allowed.
    missing: Option<String>,
}

impl ObjectFault {
    fn what(&self) -> String {
        let Self { context, missing, .. } = self;
        match missing {
            Some(property) => format!("{property:?} is not required, in context={context}"),
            None => format!("`additionalProperties` is not false, in context={context}"),
        }
    }
}

fn object_fault<'a>(schema: &'a Value, path: &mut Vec<&'a str>) -> Option<ObjectFault> {
    let members = schema.as_object()?;
    own_fault(members, path).or_else(|| {
        members.iter().find_map(|(name, member)| {
            path.push(name);
            let name = &**name;
            let fault = match member {
                Value::Object(schemas) if BY_NAME.contains(&name) => schemas.iter().find_map(|(name, schema)| {
                    path.push(name);
                    let fault = object_fault(schema, path);
                    path.pop();
                    fault
                }),
                Value::Array(schemas) if LISTS.contains(&name) => {
                    schemas.iter().find_map(|schema| object_fault(schema, path))
                }
                _ if SINGLE.contains(&name) => object_fault(member, path),
                _ => None,
            };
            path.pop();
            fault
        })
    })
}

fn own_fault(members: &Map<String, Value>, path: &[&str]) -> Option<ObjectFault> {
    let kind = members.get("type").unwrap_or(&Value::Null);
    let is_object = kind == "object" || kind.as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == "object"));
    let properties = members.get("properties").and_then(Value::as_object);
    if !is_object && properties.is_none() {
        return None;
    }
    let fault = |missing| Some(ObjectFault { context: tuple(path), is_object, missing });
    if members.get("additionalProperties") != Some(&Value::Bool(false)) {
        return fault(None);
    }
    let required = members.get("required").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let missing = properties.into_iter().flatten().find(|(name, _)| required.iter().all(|one| one != *name));
    missing.and_then(|(name, _)| fault(Some(name.clone())))
}

/// As Python writes a tuple of texts.
fn tuple(path: &[&str]) -> String {
    let texts: Vec<String> = path.iter().map(|name| format!("'{name}'")).collect();
    let end = if path.len() == 1 { "," } else { "" };
    format!("({}{end})", texts.join(", "))
}

/// Options that are about tools, in a request that has none.
pub(super) fn options(rule: &'static str, body: &Value, breaches: &mut Breaches) {
    if !body.member("tools").is_null() || !list(body, "functions").is_empty() {
        return;
    }
    for name in ["tool_choice", "parallel_tool_calls"] {
        if !body[name].is_null() {
            // `none` is what holds without tools anyway; no report has it.
            let is_certain = body[name] != "none";
            breaches.member(rule, name, "is sent without `tools`").certain_if(is_certain).name(name);
        }
    }
}
