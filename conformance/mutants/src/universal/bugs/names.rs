//! What libraries and frameworks do with names that they reserve, in arguments, in results and of tools.

use crate::universal::prelude::*;

fn without(value: &mut Value, names: &[&str]) {
    drop_members(value, |name, _| names.contains(&name));
}

/// Changes each object inside a value.
fn objects(value: &mut Value, change: impl Fn(&mut Map<String, Value>)) {
    each(value, &|value| {
        if let Value::Object(members) = value {
            change(members);
        }
    });
}

/// Replaces each object for which `other` returns something.
fn replaced(value: &mut Value, other: impl Fn(&Map<String, Value>) -> Option<Value>) {
    each(value, &|value| {
        if let Some(other) = value.as_object().and_then(&other) {
            *value = other;
        }
    });
}

/// Renames the members of each object; where two get the same name, the last one wins.
fn renamed(value: &mut Value, name: impl Fn(&str) -> String) {
    objects(value, |members| {
        *members = std::mem::take(members).into_iter().map(|(own, value)| (name(&own), value)).collect();
    });
}

fn snake_case(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() && !out.is_empty() && !out.ends_with('_') {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

/// The content of an object that LangChain's serializer wrote.
fn revived(members: &Map<String, Value>) -> Option<Value> {
    let kind = members.get("lc").and_then(|_| members.get("type")?.as_str())?;
    (kind == "constructor").then(|| members.get("kwargs").cloned().unwrap_or_default())
}

fn secret(members: &Map<String, Value>) -> Option<Value> {
    (members.get("lc").is_some() && members.get("type").is_some_and(|kind| kind == "secret")).then_some(Value::Null)
}

/// An object with a length as a list.
fn list_of_length(members: &Map<String, Value>) -> Option<Value> {
    let length = members.get("length")?.as_u64()?;
    Some((0..length).map(|index| members.get(&index.to_string()).cloned().unwrap_or_default()).collect())
}

fn list_of_indices(members: &Map<String, Value>) -> Option<Value> {
    let has = |index: usize| members.contains_key(&index.to_string());
    (!members.is_empty() && (0..members.len()).all(has))
        .then(|| (0..members.len()).map(|index| members[&index.to_string()].clone()).collect())
}

fn unfolded(members: &mut Map<String, Value>) {
    let paths: Vec<String> = members
        .keys()
        .filter(|name| name.split('.').all(|part| !part.is_empty()) && name.contains('.'))
        .cloned()
        .collect();
    for path in paths {
        let value = members.shift_remove(&path).unwrap_or_default();
        if let Some((first, rest)) = path.split_once('.') {
            members.insert(first.to_owned(), json!({rest: value}));
        }
    }
}

/// An object with a single member whose name says nothing.
fn unwrapped(members: &Map<String, Value>) -> Option<Value> {
    const NAMES: [&str; 5] = ["value", "text", "data", "items", "answer"];
    members
        .iter()
        .next()
        .filter(|(name, _)| members.len() == 1 && NAMES.contains(&&***name))
        .map(|(_, value)| value.clone())
}

fn pairs_as_members(value: &mut Value) {
    each(value, &|value| {
        let pair = |pair: &Value| {
            Some((pair.get(0)?.as_str()?.to_owned(), pair.get(1).filter(|_| pair.get(2).is_none())?.clone()))
        };
        let pairs: Option<Map<String, Value>> =
            value.as_array().filter(|pairs| !pairs.is_empty()).and_then(|pairs| pairs.iter().map(pair).collect());
        if let Some(members) = pairs {
            *value = Value::Object(members);
        }
    });
}

/// Looks tools up by a part of their name.
fn looked_up(name: &str, breaks: Clauses, key: fn(&str) -> String) -> Planted {
    seam::outcome(name, breaks, move |run, call| {
        let wanted = key(text(&call["name"]));
        let found =
            run.input["tools"].as_object().and_then(|tools| tools.keys().find(|name| key(name) == wanted)).cloned();
        let mut call = call.clone();
        if let Some(found) = found {
            call["name"] = found.into();
        }
        outcome(run, &call)
    })
}

/// Finds no tool with such a name.
fn not_found(name: &str, breaks: Clauses, is_lost: fn(&str) -> bool) -> Planted {
    seam::outcome(name, breaks, move |run, call| {
        let name = text(&call["name"]);
        if is_lost(name) { ToolOutcome::Unknown(name.to_owned()) } else { outcome(run, call) }
    })
}

const OF_MAPS: [&str; 8] = ["keys", "get", "items", "size", "map", "length", "then", "name"];

pub(super) fn bugs() -> Vec<Planted> {
    let mut bugs = in_arguments_and_results();
    bugs.extend(tools());
    bugs.extend([
        in_arguments("self", |args| without(args, &["self", "cls"])),
        in_arguments("framework", |args| without(args, &["agent", "team", "run_context", "session_state"])),
        in_arguments("wrapper", |args| without(args, &["version", "instance", "span", "endpoint"])),
        in_arguments("javascript-words", |args| without(args, &["function", "arguments", "caller", "this"])),
        in_arguments("python-words-underscored", |args| {
            renamed(args, |name| {
                if matches!(name, "from" | "class" | "import" | "lambda") {
                    format!("{name}_")
                } else {
                    name.to_owned()
                }
            });
        }),
        in_arguments("keyword-arguments-unpacked", |args| {
            objects(args, |members| {
                if let Some(Value::Object(more)) = members.shift_remove("kwargs") {
                    members.extend(more);
                }
            });
        }),
        on_response("name-among-arguments-overwritten", RESPONSE, |_, message| {
            for call in calls_mut(message) {
                let name = call["name"].clone();
                if let Some(own) = call.get_mut("args").and_then(|args| args.get_mut("server_name")) {
                    *own = name;
                }
            }
        }),
        in_arguments("message-members", |args| without(args, &["role", "tool_calls", "function_call"])),
        in_arguments("names-like-values", |args| without(args, &["null", "undefined", "NaN"])),
        in_arguments("canonical-names", |args| {
            renamed(args, |name| name.parse::<f64>().map_or_else(|_| name.to_owned(), |number| number.to_string()))
        }),
        seam::outcome("results-that-tell-of-an-error-as-failures", RESULT, |run, call| match outcome(run, call) {
            ToolOutcome::Result(value) if value["status"] == "error" || value["success"] == false => {
                ToolOutcome::Failure("error".into())
            }
            other => other,
        }),
        in_results("promises-awaited", |value| replaced(value, |members| members.get("then").map(|_| Value::Null))),
        in_results("single-members-unwrapped", |value| replaced(value, unwrapped)),
        in_results("single-elements-unwrapped-inside", |value| {
            each(value, &|value| {
                if let Some([one]) = value
                    .as_array()
                    .map(Vec::as_slice)
                    .filter(|list| list.iter().all(|one| one.is_array() || one.is_null()))
                {
                    *value = one.clone();
                }
            });
        }),
        in_results("secrets-resolved", |value| replaced(value, secret)),
    ]);
    bugs
}

/// What happens to arguments and results alike.
fn in_arguments_and_results() -> Vec<Planted> {
    let changes: [(&str, fn(&mut Value)); 12] = [
        ("written-by-to-json", |value| replaced(value, |members| members.get("toJSON").cloned())),
        ("array-like-as-lists", |value| replaced(value, list_of_length)),
        ("references-dropped", |value| without(value, &["$ref", "$defs", "$id"])),
        ("schemas-stripped", |value| without(value, &["title", "default", "additionalProperties"])),
        ("type-tags-dropped", |value| without(value, &["@type", "@class", "$type", "__class__", "__type__"])),
        ("serialized-objects-revived", |value| replaced(value, revived)),
        ("names-in-snake-case", |value| renamed(value, snake_case)),
        ("names-in-lower-case", |value| renamed(value, str::to_lowercase)),
        ("paths-unfolded", |value| objects(value, unfolded)),
        ("indices-as-lists", |value| replaced(value, list_of_indices)),
        ("names-trimmed", |value| renamed(value, |name| name.trim().to_owned())),
        ("private-names-dropped", |value| drop_members(value, |name, _| name.starts_with(['_', '$']))),
    ];
    let mut bugs: Vec<Planted> =
        changes.into_iter().flat_map(|(name, change)| [in_arguments(name, change), in_results(name, change)]).collect();
    bugs.extend([
        in_arguments("names-composed", |args| renamed(args, |name| name.replace("e\u{301}", "\u{e9}"))),
        in_arguments("pairs-as-members", pairs_as_members),
        in_results("pairs-as-members", pairs_as_members),
        in_results("names-like-values", |value| without(value, &["null", "None"])),
    ]);
    bugs
}

fn tools() -> Vec<Planted> {
    vec![
        not_found("tools-called-like-python-words-not-found", RESULT, |name| {
            matches!(name, "self" | "class" | "None" | "print")
        }),
        not_found("tools-whose-names-are-numbers-not-found", RESULT, |name| name.parse::<f64>().is_ok()),
        not_found("tools-called-like-values-not-found", RESULT, |name| matches!(name, "null" | "undefined" | "false")),
        not_found("tools-called-like-those-of-providers-not-found", RESULT, |name| {
            matches!(name, "python" | "computer")
        }),
        not_found("tools-called-like-members-of-a-map-not-found", RESULT, |name| OF_MAPS.contains(&name)),
        seam::answers("members-of-a-map-found-as-tools", FAILURE, |run, answers| {
            let asked = run.list.last().map(calls).unwrap_or_default();
            let mut names = asked.iter().map(|call| text(&call["name"]));
            let tools = run.input["tools"].clone();
            answers.retain(|_| names.next().is_none_or(|name| !OF_MAPS.contains(&name) || tools.get(name).is_some()));
        }),
        ends_when("tools-called-like-an-end-end-the-run", GOES_ON, |run| {
            let said = run.scripted(0);
            calls(&said).iter().any(|call| matches!(text(&call["name"]), "finish" | "stop" | "done" | "terminate"))
        }),
        looked_up("tools-looked-up-without-case", RESULT, str::to_lowercase),
        looked_up("tools-looked-up-without-punctuation", RESULT, |name| name.replace(['_', '-'], "")),
        looked_up("tools-looked-up-by-their-first-word", RESULT, |name| {
            name.split('_').next().unwrap_or_default().to_owned()
        }),
        looked_up("tools-looked-up-by-60-characters", RESULT, |name| cut(name, 60)),
    ]
}
