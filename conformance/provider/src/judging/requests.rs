//! Judges each request by itself: WIRE-REQUEST, WIRE-KEY, WIRE-RULES, and the tools that it declares: WIRE-TOOLS, WIRE-TOOLS-SAME.

use super::cache::declarations;
use super::{Numbered, WireFindings, WireLevel, all, numbered};
use crate::plan::{RunPlan, SessionAgentPlan, SessionPlan};
use crate::record::{BreachOutcome, JudgedBreach, RequestProblem, Stray, StrayReason, WireRecord};
use serde_json::Value;
use std::collections::BTreeSet;
use threadspec::oracle::{Api, place_and_fault, provider_rules};
use threadspec_apis::{ApiRequest, DeclaredTool};
use threadspec_golden::clause;
use threadspec_judge::json::list;
use threadspec_judge::universal::can_be_declared;

pub(super) fn judge_requests(record: &WireRecord, findings: &mut WireFindings) {
    for stray in &record.strays {
        judge_stray(stray, findings);
    }
    for one in all(record) {
        if let Some(problem) = &one.attempt.problem {
            findings.must(clause::WIRE_REQUEST, format!("{one}: {}", of_problem(problem)));
        }
        for breach in &one.attempt.breaches {
            judge_breach(record, one, breach, findings);
        }
    }
}

fn judge_stray(stray: &Stray, findings: &mut WireFindings) {
    let Stray { method, target, status, .. } = stray;
    let what = |why: &str| format!("{method} {target} {why}; it was answered with {status}");
    match stray.why {
        StrayReason::NoKey => findings.must(clause::WIRE_KEY, what("has no key")),
        StrayReason::UnknownKey => findings.must(clause::WIRE_KEY, what("has a key that nobody gave out")),
        StrayReason::Late => findings.must(clause::WIRE_KEY, what("came after the reply")),
        StrayReason::Unasked => findings.must(clause::WIRE_KEY, what("belongs to no run")),
        // Programs look around before they ask.
        StrayReason::Path | StrayReason::Method if method != "POST" => {
            findings.add(clause::WIRE_REQUEST, WireLevel::Note, what("is no request of the API"));
        }
        StrayReason::Path => findings.must(clause::WIRE_REQUEST, what("has a path with nothing behind it")),
        StrayReason::Method => findings.must(clause::WIRE_REQUEST, what("has a method that the path does not take")),
        StrayReason::OtherApi => findings.must(clause::WIRE_REQUEST, what("is a request of another API")),
        StrayReason::Unreadable => findings.must(clause::WIRE_REQUEST, what("could not be read")),
    }
}

fn of_problem(problem: &RequestProblem) -> String {
    match problem {
        RequestProblem::Unreadable(why, status) => format!("the body cannot be read: {why}; answered with {status}"),
        RequestProblem::NotJson(why) => format!("the body is no JSON object: {why}; answered with 400"),
        RequestProblem::Lacks(member) => format!("`{member}` is missing, which the API requires; answered with 400"),
        RequestProblem::Model(model) => format!("the model `{model}` is not that of the endpoint; answered with 404"),
    }
}

fn judge_breach(record: &WireRecord, one: Numbered<'_>, breach: &JudgedBreach, findings: &mut WireFindings) {
    let JudgedBreach { rule, place, what, outcome } = breach;
    let Some(rule) = provider_rules().map(|known| known.id).find(|known| known == rule) else { return };
    // Later requests repeat what is wrong.
    if *outcome == BreachOutcome::Excused || findings.0.iter().any(|finding| finding.clause == rule) {
        return;
    }
    let answered = one.attempt.status.map(|status| format!("; answered with {status}"));
    let answered = answered.filter(|_| is_certain(*outcome)).unwrap_or_default();
    let what = format!("{one}: {}{answered}", place_and_fault(place, what));
    let level = match outcome {
        // A client may find out what a server takes: what was refused once, and then sent in another way, harms nobody.
        BreachOutcome::Refused | BreachOutcome::Certain if is_mended(record, one, rule) => WireLevel::Note,
        BreachOutcome::Refused | BreachOutcome::Certain => WireLevel::Must,
        BreachOutcome::Possible | BreachOutcome::Excused => WireLevel::Note,
    };
    findings.add(rule, level, what);
}

fn is_certain(outcome: BreachOutcome) -> bool {
    matches!(outcome, BreachOutcome::Refused | BreachOutcome::Certain)
}

/// Returns whether a later attempt of the same ask no longer breaks the rule.
fn is_mended(record: &WireRecord, one: Numbered<'_>, rule: &str) -> bool {
    let last = record.attempts_of(one.attempt.ask).next_back();
    last.is_some_and(|last| last.request.is_some() && last.breaches.iter().all(|breach| breach.rule != rule))
}

// WIRE-TOOLS: each request declares the tools of the case, with different names and a schema each. WIRE-TOOLS-SAME: in the same order and
// words.

/// The rules that say the same of the tools of a request.
const RULES: [&str; 2] = ["ANT-TOOLS-UNIQUE", "ANT-TOOL-NAME"];

pub(super) fn judge_tools(plan: &RunPlan, record: &WireRecord, findings: &mut WireFindings) {
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
    const TYPES: &[&str] = &["object", "array", "string", "number", "integer", "boolean", "null"];
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

// WIRE-TOOLS in a session: each request declares the tools of one of its agents, and may declare those that hand over beside them.

pub(super) fn judge_session_tools(api: Api, session: &SessionPlan, record: &WireRecord, findings: &mut WireFindings) {
    for ask in 0..record.asks() {
        let Some(one) = numbered(record, ask).find(|one| one.attempt.request.is_some()) else { continue };
        let Some(request) = &one.attempt.request else { continue };
        let run = record.run_of(ask);
        let is_first = record.runs.get(run).is_none_or(|first| *first == ask);
        let declared = names(request);
        let found = wrong_by_itself(request)
            .or_else(|| lost(api, session, &declared).filter(|_| !session.is_for_summary(run, is_first, request)));
        if let Some(what) = found {
            findings.must(clause::WIRE_TOOLS, format!("{one}: {what}"));
            return;
        }
    }
}

/// A tool that is not declared; `None` if all tools of one of the agents are.
fn lost(api: Api, session: &SessionPlan, declared: &BTreeSet<&str>) -> Option<String> {
    let lost = |agent: &SessionAgentPlan| {
        agent.tools.iter().find(|name| can_be_declared(api, name) && !declared.contains(name.as_str())).cloned()
    };
    let lost: Option<Vec<String>> = session.agents.iter().map(lost).collect();
    let name = lost?.into_iter().next()?;
    Some(format!("the tool `{name}` is not declared, but {}", shown(declared)))
}
