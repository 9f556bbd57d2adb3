//! WIRE-TOOLS: each request declares the tools of the case, with different names and a schema each. WIRE-TOOLS-SAME: in the same order and
//! words.

use super::prefix::declarations;
use super::{WireFindings, numbered};
use crate::plan::RunPlan;
use crate::record::WireRecord;
use serde_json::Value;
use std::collections::BTreeSet;
use threadspec_apis::{ApiRequest, DeclaredTool};
use threadspec_golden::clause;
use threadspec_judge::json::list;
use threadspec_judge::universal::can_be_declared;

/// The rules that say the same of the tools of a request.
const RULES: [&str; 2] = ["ANT-TOOLS-UNIQUE", "ANT-TOOL-NAME"];

pub(super) fn judge(plan: &RunPlan, record: &WireRecord, findings: &mut WireFindings) {
    let mut first: Option<(BTreeSet<&str>, Vec<String>)> = None;
    for ask in 0..record.asks() {
        // What a retry changes is a matter of WIRE-RETRY.
        let Some(one) = numbered(record, ask).find(|one| one.attempt.request.is_some()) else { continue };
        let Some(request) = &one.attempt.request else { continue };
        let names = names(request);
        if let Some(what) = wrong(plan, request, &names).filter(|_| !RULES.iter().any(|rule| findings.breaks(rule))) {
            findings.must(clause::WIRE_TOOLS, format!("{one}: {what}"));
            return;
        }
        let declared = declarations(&one.attempt.body);
        let Some((known, words)) = &first else {
            first = Some((names, declared));
            continue;
        };
        if *known != names {
            let what = format!("request 1 declares {}, and this one {}", shown(known), shown(&names));
            if plan.tools.is_empty() {
                // A program may have reasons: nobody gave it its tools.
                findings.should(clause::WIRE_TOOLS_SAME, format!("{one}: {what}"));
            } else {
                findings.must(clause::WIRE_TOOLS, format!("{one}: {what}"));
            }
            return;
        }
        if *words != declared {
            let at = words.iter().zip(&declared).position(|(one, other)| one != other).unwrap_or_default();
            let what = format!("the declaration at position {} is not that of request 1", at + 1);
            findings.should(clause::WIRE_TOOLS_SAME, format!("{one}: {what}"));
            return;
        }
    }
}

pub(super) fn names(request: &ApiRequest) -> BTreeSet<&str> {
    request.tools.iter().filter(|tool| tool.is_function()).filter_map(|tool| tool.name.as_deref()).collect()
}

/// Finds a fault of the tools of a request, whoever gave them.
pub(super) fn wrong_by_itself(request: &ApiRequest) -> Option<String> {
    let functions = || request.tools.iter().filter(|tool| tool.is_function());
    let mut seen = BTreeSet::new();
    if let Some(twice) = functions().filter_map(|tool| tool.name.as_deref()).find(|name| !seen.insert(*name)) {
        return Some(format!("two tools are called `{twice}`"));
    }
    let tool = functions().find(|tool| !has_schema(tool))?;
    Some(format!("`{}` has no JSON Schema", tool.name.as_deref().unwrap_or_default()))
}

/// Finds a fault of the tools of a request by itself.
fn wrong(plan: &RunPlan, request: &ApiRequest, names: &BTreeSet<&str>) -> Option<String> {
    if let Some(what) = wrong_by_itself(request) {
        return Some(what);
    }
    if plan.tools.is_empty() {
        return None;
    }
    let (wanted, others): (Vec<&String>, Vec<&String>) =
        plan.tools.iter().partition(|name| can_be_declared(plan.api, name));
    if let Some(lost) = wanted.iter().find(|name| !names.contains(name.as_str())) {
        return Some(format!("the tool `{lost}` is not declared, but {}", shown(names)));
    }
    // A name that the API does not take may have been replaced.
    let own = |name: &&&str| !wanted.iter().any(|wanted| wanted.as_str() == **name);
    let new: Vec<&&str> = names.iter().filter(own).collect();
    (new.len() > others.len()).then(|| format!("nobody gave the tool `{}`", new[0]))
}

/// Returns whether a tool has a schema that is one, as far as its form goes.
fn has_schema(tool: &DeclaredTool) -> bool {
    tool.schema.as_ref().is_some_and(is_schema)
}

fn is_schema(schema: &Value) -> bool {
    const TYPES: [&str; 7] = ["object", "array", "string", "number", "integer", "boolean", "null"];
    let is_type = |kind: &Value| kind.as_str().is_some_and(|kind| TYPES.contains(&kind));
    match schema {
        Value::Bool(_) => true,
        Value::Object(members) => {
            members
                .get("type")
                .is_none_or(|kind| is_type(kind) || !list(kind).is_empty() && list(kind).iter().all(is_type))
                && members
                    .get("properties")
                    .is_none_or(|own| own.as_object().is_some_and(|properties| properties.values().all(is_schema)))
                && members
                    .get("required")
                    .is_none_or(|names| names.is_array() && list(names).iter().all(Value::is_string))
        }
        _ => false,
    }
}

pub(super) fn shown(names: &BTreeSet<&str>) -> String {
    const MOST: usize = 12;
    let mut list: Vec<String> = names.iter().take(MOST).map(|name| format!("`{name}`")).collect();
    if names.len() > MOST {
        list.push(format!("{} more", names.len() - MOST));
    }
    if list.is_empty() { "none".to_owned() } else { list.join(", ") }
}
