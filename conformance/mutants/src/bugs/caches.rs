//! Caches whose keys are only a part of the input: each answers with the first output for its key.

use crate::plants::prelude::*;
use crate::universal::operators::first;

/// How many characters of a text make its key.
const PART: usize = 24;

/// A clause for each operation.
const EVERY_OP: &[&str] = &[ESC_1, DOC_2, MSG_PURE, TOOLS_ACCUMULATE, LOOP_EVENTS];
const TEXTS: &[&str] = &[ESC_1, DOC_2, MSG_PURE];
const RUNS: &[&str] = &[TOOLS_ACCUMULATE, LOOP_EVENTS];
const PURE: &[&str] = &[DOC_2, MSG_PURE];

/// Caches without members of these names, at any depth: for each bug the clauses and the names.
#[rustfmt::skip]
const WITHOUT: &[(&str, &[&str], &[&str])] = &[
    ("answer-cached-without-results", &[DOC_2, MSG_PURE, TOOLS_RESULT, LOOP_EVENTS], &["result", "tools"]),
    ("answer-cached-without-arguments", &[DOC_2, MSG_PURE, TOOLS_ACCUMULATE, LOOP_EVENTS], &["args"]),
    ("answer-cached-without-ids", &[MSG_PURE, TOOLS_ID, LOOP_EVENTS], &["id", "toolCallId"]),
    ("answer-cached-without-tools", &[ATT_NAME, MSG_PURE, TOOLS_ID, LOOP_EVENTS], &["name", "toolName", "tools"]),
    ("answer-cached-without-roles", PURE, &["role"]),
    ("answer-cached-without-iterations", &[DOC_2], &["iteration"]),
    ("answer-cached-without-flags", PURE, &["recoverable"]),
    ("answer-cached-without-the-prefix", &[DOC_6], &["responsePrefix"]),
    ("answer-cached-without-instructions", &[CTX_SYSTEM], &["instructions"]),
    ("answer-cached-without-the-mode", &[CTX_DEFAULT, CTX_XML], &["contextMode"]),
];

/// Answers with the first output for a key; without a key, as is right.
fn cached(
    name: FaultName,
    terms: impl IntoTerms,
    key: impl Fn(Op, &Value, &Value) -> Option<String> + Lasting,
) -> Planted {
    on::after(name, terms, move |twin, op, input, output| {
        if let Some(key) = key(op, input, output) {
            recall(&mut twin.memory, &format!("{op} {key}"), output);
        }
    })
}

/// The same for one operation, by the input alone.
fn cached_for(
    name: FaultName,
    terms: impl IntoTerms,
    of: Op,
    key: impl Fn(&Value) -> Option<String> + Lasting,
) -> Planted {
    cached(name, terms, move |op, input, _| if op == of { key(input) } else { None })
}

/// Gives a value that was first for its key.
fn recall(memory: &mut Value, key: &str, value: &mut Value) {
    match memory.get(key) {
        Some(first) => *value = first.clone(),
        None => memory[key] = value.clone(),
    }
}

fn end(text: &str) -> String {
    text.chars().rev().take(PART).collect()
}

fn text(input: &Value) -> Option<&str> {
    input["text"].as_str()
}

/// The input without members of these names, at any depth.
fn without(input: &Value, names: &[&str]) -> String {
    let mut rest = input.clone();
    each(&mut rest, &|value| {
        if let Value::Object(members) = value {
            members.retain(|name, _| !names.contains(&&**name));
        }
    });
    rest.to_string()
}

/// The input with sorted members, at any depth.
fn sorted(input: &Value) -> String {
    let mut input = input.clone();
    input.sort_all_objects();
    input.to_string()
}

fn characters(input: &Value) -> String {
    let mut characters: Vec<char> = input.to_string().chars().collect();
    characters.sort_unstable();
    characters.into_iter().collect()
}

/// The members of these names, if there are events.
fn of_thread(input: &Value, names: &[&str]) -> Option<String> {
    let members: Vec<String> = names.iter().map(|name| input[name].to_string()).collect();
    (!listed(input, "events").is_empty()).then(|| members.join(" "))
}

pub(super) fn bugs() -> Vec<Planted> {
    let without =
        WITHOUT.iter().map(|&(name, clauses, names)| cached(name, clauses, |_, input, _| Some(without(input, names))));
    let others = [
        cached("answer-cached-by-both-ends-and-length", EVERY_OP, |_, input, _| {
            let text = input.to_string();
            Some(format!("{}{}{}", first(&text, PART), end(&text), text.len()))
        }),
        cached_for("answer-cached-by-its-beginning", ESC_1, Op::Escape, |input| Some(first(text(input)?, PART))),
        cached_for("answer-cached-by-its-end", ESC_1, Op::Escape, |input| Some(end(text(input)?))),
        cached("document-cached-by-its-first-1500-characters", DOC_2, |op, _, output| {
            let document = output.to_string();
            (op == Op::Serialize && document.chars().count() > 1_500).then(|| first(&document, 1_500))
        }),
        cached("messages-cached-by-their-first-30-texts", MSG_PURE, |_, input, _| {
            let (first, rest) = listed(input, "events").split_at_checked(30)?;
            (!rest.is_empty()).then(|| Value::from(first).to_string())
        }),
        cached("answer-cached-by-its-characters", TEXTS, |_, input, _| Some(characters(input))),
        cached("answer-cached-whatever-the-case", TEXTS, |_, input, _| Some(input.to_string().to_lowercase())),
        cached("answer-cached-whatever-the-white-space", TEXTS, |_, input, _| {
            Some(input.to_string().split_whitespace().collect::<Vec<_>>().join(" "))
        }),
        cached("answer-cached-whatever-the-accents", ESC_3, |_, input, _| {
            Some(input.to_string().replace("e\u{301}", "\u{e9}"))
        }),
        cached("answer-cached-by-sorted-members", [JSON_4, MSG_PURE], |_, input, _| Some(sorted(input))),
        cached("answer-cached-whatever-the-types", PURE, |_, input, _| Some(input.to_string().replace('"', ""))),
        cached("answer-cached-by-the-script", RUNS, |op, input, _| {
            matches!(op, Op::Tools | Op::Loop).then(|| input["model"].to_string())
        }),
        cached("answer-cached-by-the-question", RUNS, |op, input, _| {
            matches!(op, Op::Tools | Op::Loop).then(|| self::without(input, &["model", "tools"]))
        }),
        cached_for("escaped-texts-cached-by-length-and-ends", ESC_3, Op::Escape, |input| {
            let text: Vec<char> = text(input)?.chars().collect();
            let ends = || text[..8].iter().chain(&text[text.len() - 8..]).collect::<String>();
            (text.len() > 16).then(|| format!("{} {}", text.len(), ends()))
        }),
        cached_for("escaped-texts-cached-ignoring-case", ESC_3, Op::Escape, |input| {
            Some(input["text"].to_string().to_lowercase())
        }),
        cached_for("document-cached-by-count-and-last-event", DOC_2, Op::Serialize, |input| {
            let events = listed(input, "events");
            Some(format!("{} {} {}", events.len(), events.last()?, input["responsePrefix"]))
        }),
        cached_for("document-cached-by-texts-alone", ATT_ITERATION, Op::Serialize, |input| {
            let mut input = input.clone();
            each_event(&mut input).for_each(|event| event["iteration"] = Value::Null);
            Some(input.to_string())
        }),
        cached_for("document-cached-without-its-prefix", DOC_6, Op::Serialize, |input| of_thread(input, &["events"])),
        cached_for("messages-cached-without-instructions", MSG_PURE, Op::Messages, |input| {
            of_thread(input, &["contextMode", "events"])
        }),
        cached_for("messages-cached-without-their-mode", MSG_PURE, Op::Messages, |input| {
            of_thread(input, &["instructions", "events"])
        }),
        cached_for("messages-cached-by-call-ids", MSG_PURE, Op::Messages, |input| {
            let ids: Vec<&Value> = listed(input, "events").iter().map(|event| &event["toolCallId"]).collect();
            let key = || json!([input["contextMode"], input["instructions"], ids]).to_string();
            ids.iter().any(|id| !id.is_null()).then(key)
        }),
        on::before_serialize("arguments-cached-by-call-id", EVT_CALL, |twin, input| {
            for event in events_of(input, "tool_call").filter(|event| event["args"].is_object()) {
                let id = event["toolCallId"].to_string();
                recall(&mut twin.memory, &id, &mut event["args"]);
            }
        }),
    ];
    without.chain(others).collect()
}
