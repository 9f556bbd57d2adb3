//! Files of no known form, read by their structure: objects that name a call, and objects that repeat its id.
//!
//! Nothing is claimed unless the places agree: ids are given once, most results repeat the id of a call, and a link is from a call to what is behind it
//! at another place. Ids of sessions and traces are in many objects, and name none.

use super::finding::{Finding, Level, Place};
use super::proposal::{FileShape, under};
use super::rules::finding;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use threadspec_judge::text::count;

/// Names of a call's members.
pub(super) const NAMES: [&str; 8] =
    ["name", "tool_name", "toolName", "function_name", "functionName", "tool", "function", "title"];
pub(super) const ARGUMENTS: [&str; 9] =
    ["arguments", "args", "input", "parameters", "params", "rawInput", "tool_input", "toolInput", "tool_args"];
/// Deeper values are passed over.
const DEEPEST: usize = 24;
/// Fewer links are none.
const FEWEST: usize = 2;

/// A place in the records: the path with `[]` for each list, and the name of the member with the id.
pub(super) type IdPlace = (String, String);

/// An object that may name a call, or repeat the id of one.
struct Seen {
    place: IdPlace,
    id: String,
    is_call: bool,
    line: Option<usize>,
    order: usize,
}

/// Collects what may be calls and results.
#[derive(Default)]
pub(super) struct Structure {
    seen: Vec<Seen>,
    shapes: FileShape,
}

/// The form of a file by its structure, and its faults.
pub(super) struct ReadByStructure {
    pub(super) form: String,
    /// A row for files of this form, if one would tell them from others.
    pub(super) row: Option<String>,
    pub(super) calls: usize,
    pub(super) found: Vec<Finding>,
}

impl Structure {
    /// So many objects are kept.
    const MOST: usize = 1 << 18;

    /// Takes the next record of no known form.
    pub(super) fn push(&mut self, record: &Value, line: Option<usize>) {
        self.walk(record, "", 0, line);
    }

    fn walk(&mut self, value: &Value, path: &str, depth: usize, line: Option<usize>) {
        if depth > DEEPEST || self.seen.len() > Self::MOST {
            return;
        }
        match value {
            Value::Array(elements) => {
                let path = format!("{path}[]");
                for element in elements {
                    self.walk(element, &path, depth + 1, line);
                }
            }
            Value::Object(members) => {
                self.shapes.push(path, members);
                let is_call = is_call(value);
                for (name, member) in members {
                    if let Value::String(id) = member
                        && is_id(name)
                        && (4..=128).contains(&id.len())
                    {
                        let (place, id) = ((path.to_owned(), name.clone()), id.clone());
                        let order = self.seen.len();
                        self.seen.push(Seen { place, id, is_call, line, order });
                    }
                }
                for (name, member) in members.iter().filter(|(_, member)| member.is_array() || member.is_object()) {
                    self.walk(member, &under(path, name), depth + 1, line);
                }
            }
            _ => {}
        }
    }

    /// Reads the form of the file; nothing where the places do not agree.
    pub(super) fn read(&self) -> Option<ReadByStructure> {
        let mut by_place: BTreeMap<&IdPlace, Vec<&Seen>> = BTreeMap::new();
        for seen in &self.seen {
            by_place.entry(&seen.place).or_default().push(seen);
        }
        // The id of a call is given once.
        let is_distinct = |all: &[&Seen]| {
            let ids: HashMap<&str, usize> = all.iter().map(|seen| (&*seen.id, 1)).collect();
            ids.len() >= FEWEST && 10 * ids.len() >= 9 * all.len()
        };
        let calls = by_place.iter().filter(|(_, all)| all.iter().all(|seen| seen.is_call) && is_distinct(all));
        let mut links: Vec<(usize, &IdPlace, &IdPlace)> = Vec::new();
        for (call, all) in calls {
            let ids: HashMap<&str, usize> = all.iter().map(|seen| (&*seen.id, seen.order)).collect();
            for (result, others) in by_place.iter().filter(|(other, _)| *other != call) {
                // What names a call of its own is no result.
                let is_result = others.iter().all(|seen| !seen.is_call) && is_distinct(others);
                let linked =
                    others.iter().filter(|seen| ids.get(&*seen.id).is_some_and(|call| *call < seen.order)).count();
                if is_result && linked >= FEWEST && 10 * linked >= 8 * others.len() && 2 * linked >= all.len() {
                    links.push((linked, call, result));
                }
            }
        }
        links.sort_by(|one, other| other.0.cmp(&one.0).then(other.2.0.len().cmp(&one.2.0.len())));
        let &(linked, call, result) = links.first()?;
        // Where other places link as well, nobody knows which of them are calls.
        if links[1..].iter().any(|(others, other, _)| *other != call && 2 * others >= linked) {
            return None;
        }
        let (calls, results) = (&by_place[call], &by_place[result]);
        let form = format!(
            "not a known form; read by its structure: calls at `{}`, results at `{}`; {}, {}",
            under(&call.0, &call.1),
            under(&result.0, &result.1),
            count(calls.len(), "call"),
            count(results.len(), "result")
        );
        let row = self.shapes.row(call, result);
        Some(ReadByStructure { form, row, calls: calls.len(), found: Self::found(calls, results) })
    }

    fn found(calls: &[&Seen], results: &[&Seen]) -> Vec<Finding> {
        let mut answered: HashMap<&str, usize> = HashMap::new();
        for seen in results {
            *answered.entry(&*seen.id).or_default() += 1;
        }
        let known: HashMap<&str, usize> = calls.iter().map(|seen| (&*seen.id, seen.order)).collect();
        let last = results.last().map_or(0, |seen| seen.order);
        let first = calls.first().map_or(0, |seen| seen.order);
        let told = |rule: &str, seen: &Seen, text: String| {
            let (path, name) = &seen.place;
            let place = Place { line: seen.line, path: under(path, name), ..Place::default() };
            let found = finding(rule, place, text);
            Finding { level: found.level.min(Level::Warning), ..found }
        };
        let mut found = Vec::new();
        for call in calls.iter().filter(|call| !answered.contains_key(&*call.id)) {
            let id = &call.id;
            found.push(if call.order > last {
                told("LOG-OPEN", call, format!("the log ends before the result of the call {id:?}"))
            } else {
                told("LOG-ANSWERED", call, format!("the call {id:?} has no result"))
            });
        }
        for result in results {
            let id = &result.id;
            if !known.contains_key(&**id) && result.order > first {
                found.push(told("LOG-ORPHAN", result, format!("a result for {id:?}, but no call has this id")));
            }
        }
        let mut seen: HashMap<&str, usize> = HashMap::new();
        for result in results.iter().filter(|result| known.contains_key(&*result.id)) {
            let times = seen.entry(&*result.id).or_default();
            *times += 1;
            if *times > 1 {
                found.push(told("LOG-ONCE", result, format!("a second result for {:?}", result.id)));
            }
        }
        found
    }
}

/// Returns whether the name of a member is that of an id: of its object, or of a call.
fn is_id(name: &str) -> bool {
    name == "id" || name.ends_with("_id") || name.ends_with("Id") || name.ends_with("ID")
}

/// Returns whether an object names a call: it has a name and arguments, or an inner function with both.
fn is_call(value: &Value) -> bool {
    let has_name = NAMES.iter().any(|name| value[*name].as_str().is_some_and(is_name));
    let has_arguments = ARGUMENTS.iter().any(|name| is_arguments(&value[*name]));
    let inner = ["function", "tool_call", "call"].iter().map(|name| &value[*name]).filter(|inner| inner.is_object());
    let mut inner = inner.map(|inner| {
        NAMES.iter().any(|name| inner[*name].as_str().is_some_and(is_name))
            && ARGUMENTS.iter().any(|name| is_arguments(&inner[*name]))
    });
    (has_name && has_arguments) || inner.any(|is_call| is_call)
}

/// Returns whether a text may be the name of a tool.
fn is_name(text: &str) -> bool {
    let is_of_name = |one: char| one.is_alphanumeric() || matches!(one, '_' | '-' | '.' | ':' | '/' | '\\');
    !text.is_empty() && text.len() <= 128 && text.chars().all(is_of_name)
}

/// Returns whether a value may be arguments: an object, or the JSON text of one.
fn is_arguments(value: &Value) -> bool {
    value.is_object() || value.as_str().is_some_and(|text| text.trim_start().starts_with('{'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CheckOptions, FormRow, check_bytes};
    use serde_json::json;

    fn read(records: &[Value]) -> Option<ReadByStructure> {
        let mut structure = Structure::default();
        records.iter().enumerate().for_each(|(number, record)| structure.push(record, Some(number + 1)));
        structure.read()
    }

    fn step(id: &str, answered: Option<&str>) -> Value {
        let calls = json!([{"call_id": id, "tool": "ls", "input": {"path": "/"}, "trace_id": "trace-1"}]);
        let results: Vec<Value> = answered.iter().map(|id| json!({"for_id": id, "output": "x"})).collect();
        json!({"step": {"trace_id": "trace-1", "actions": calls, "outcome": results}})
    }

    #[test]
    fn calls_and_results_are_told_by_the_ids_that_they_share() {
        let steps = [step("call-1", Some("call-1")), step("call-2", None), step("call-3", Some("call-3"))];
        let read = read(&steps).expect("two links");
        assert!(
            read.form.contains("`step.actions[].call_id`, results at `step.outcome[].for_id`; 3 calls, 2 results"),
            "{}",
            read.form
        );
        let told: Vec<_> = read.found.iter().map(|found| (found.rule, found.level, found.place.line)).collect();
        assert_eq!(told, [("LOG-ANSWERED", Level::Warning, Some(2))]);
    }

    #[test]
    fn a_row_is_proposed_that_reads_the_same_calls_and_results() {
        let said = |role: &str, id: &str| match role {
            "agent" => json!({"who": 1, "source": role, "calls": [{"id": id, "fn": {}, "tool": "ls", "args": {}}]}),
            _ => json!({"who": 1, "source": role, "for": {"call_id": id, "output": "x"}}),
        };
        let turns = json!([
            said("agent", "c-001"),
            said("tool_result", "c-001"),
            said("agent", "c-002"),
            said("tool_result", "c-002")
        ]);
        let whole = json!({"made_by": "x", "run": [{"turns": turns}]});
        for (records, messages) in [(vec![whole], true), (turns.as_array().cloned().unwrap_or_default(), false)] {
            let row = read(&records).and_then(|read| read.row).expect("a row");
            assert_eq!(row.contains("\nmessages = \"run[].turns\"\n"), messages, "{row}");
            let forms = FormRow::read_all(&row).expect("a row that can be read");
            let text = records.iter().map(Value::to_string).collect::<Vec<_>>().join("\n");
            let options = CheckOptions { forms, ..CheckOptions::default() };
            for (text, found) in
                [(text.clone(), 0), (text.replace("\"call_id\":\"c-001\"", "\"call_id\":\"c-009\""), 2)]
            {
                let report = check_bytes(text.as_bytes(), &options);
                assert_eq!(report.summary.forms[0].form, "a log of my program", "{row}");
                assert_eq!(report.findings.len(), found, "{row}{text}{:?}", report.findings);
            }
        }
    }

    #[test]
    fn calls_and_results_may_be_in_one_list() {
        let said = |block: Value| json!({"at": 1, "who": "x", "blocks": [{"kind": "words", "text": "a"}, block]});
        let call = |id: &str| said(json!({"kind": "use", "use_id": id, "tool": "ls", "args": {}}));
        let result = |id: &str| said(json!({"kind": "came", "for_id": id, "output": "x"}));
        let records = [call("c-001"), result("c-001"), call("c-002"), result("c-002"), call("c-003"), result("c-003")];
        let read = read(&records).expect("three links");
        assert!(
            read.form.contains("`blocks[].use_id`, results at `blocks[].for_id`; 3 calls, 3 results"),
            "{}",
            read.form
        );
        let row = read.row.expect("a row");
        let options = CheckOptions { forms: FormRow::read_all(&row).expect("a row"), ..CheckOptions::default() };
        for (lost, found) in [(usize::MAX, 0), (1, 1)] {
            let kept = records.iter().enumerate().filter(|(number, _)| *number != lost);
            let text = kept.map(|(_, record)| record.to_string()).collect::<Vec<_>>().join("\n");
            let report = check_bytes(text.as_bytes(), &options);
            assert_eq!(report.findings.len(), found, "{row}{:?}", report.findings);
        }
    }

    #[test]
    fn what_is_no_log_of_an_agent_is_not_taken_for_one() {
        for record in [
            json!({"packages": [{"id": "pkg-1", "name": "a", "version": "1"}], "resolve": [{"package_id": "pkg-1"}]}),
            json!([{"traceId": "t-000", "spanId": "s-001"}, {"traceId": "t-000", "spanId": "s-002", "parentSpanId": "s-001"}]),
            json!({"features": [{"id": "f-01", "geometry": {"type": "Point"}}, {"id": "f-02"}], "shown": [{"feature_id": "f-01"}]}),
        ] {
            assert!(read(std::slice::from_ref(&record)).is_none(), "{record}");
        }
    }
}
