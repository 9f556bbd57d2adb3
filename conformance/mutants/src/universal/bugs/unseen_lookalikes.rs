//! Ids, names, texts and arguments that look like something else: numbers, blanks, markers, control words. Written from the clauses,
//! and from memory of real frameworks, before there was a case for any of them.

use super::unseen::rename;
use crate::universal::prelude::*;

/// Gives calls other ids, and still finds their results.
fn renamed(name: &str, breaks: Clauses, other: fn(&str) -> Option<String>) -> Planted {
    on_response(name, breaks, move |run, message| rename(run, message, &|_, id| other(id)))
}

/// Finds no tool with such a name.
fn not_found(name: &str, breaks: Clauses, is_odd: fn(&str) -> bool) -> Planted {
    seam::outcome(name, breaks, move |run, call| match text(&call["name"]) {
        name if is_odd(name) => ToolOutcome::Unknown(name.to_owned()),
        _ => outcome(run, call),
    })
}

/// Repeats calls with other tool names, and still runs them.
fn named(name: &str, breaks: Clauses, other: fn(&str) -> &str) -> Planted {
    seam::after_round(name, breaks, move |run| {
        let last = run.list.iter_mut().rfind(|message| is(message, "ai"));
        for call in last.into_iter().flat_map(calls_mut) {
            let name = other(text(&call["name"])).to_owned();
            call.insert("name".into(), name.into());
        }
    })
}

/// Ends the run after a round in which the model or a tool said something.
fn ends_at(name: &str, breaks: Clauses, of: &'static str, ends: fn(&str) -> bool) -> Planted {
    ends_when(name, breaks, move |run| {
        let last = run.list.iter().rfind(|message| is(message, of));
        last.is_some_and(|message| ends(words(message)))
    })
}

/// Changes the values inside arguments.
fn in_arguments(name: &str, breaks: Clauses, change: fn(&mut Value)) -> Planted {
    on_arguments(name, breaks, move |args| {
        args.as_object_mut().into_iter().flat_map(|args| args.values_mut()).for_each(|value| each(value, &change));
    })
}

fn empty_object_as_list(value: &mut Value) {
    if *value == json!({}) {
        *value = json!([]);
    }
}

fn keys_of_a_list(value: &mut Value) {
    if let Value::Object(members) = value
        && !members.is_empty()
        && members.keys().enumerate().all(|(index, key)| *key == index.to_string())
    {
        *value = members.values().cloned().collect();
    }
}

fn date_written_anew(value: &mut Value) {
    if let Value::String(text) = value
        && text.len() > 19
        && text.as_bytes()[4] == b'-'
        && text.as_bytes()[10] == b'T'
    {
        *text = text.replace(".000Z", "Z").replace("+00:00", "Z");
    }
}

pub(super) fn bugs() -> Vec<Planted> {
    vec![
        renamed("ids-of-digits-read-as-numbers", IDS, |id| {
            id.parse::<u64>().ok().map(|number| number.to_string()).filter(|new| new != id)
        }),
        renamed("ids-trimmed", IDS, |id| Some(id.trim().to_owned()).filter(|new| new != id)),
        renamed("ids-that-say-null-made-up", IDS, |id| {
            matches!(id, "null" | "None" | "undefined" | "nil").then(|| "call_made_up".to_owned())
        }),
        renamed("ids-that-count-as-false-made-up", IDS, |id| {
            matches!(id, "0" | "false").then(|| "call_made_up".to_owned())
        }),
        renamed("ids-composed", IDS, |id| {
            Some(id.replace("e\u{301}", "é").replace("a\u{308}", "ä")).filter(|new| new != id)
        }),
        renamed("ids-with-percent-codes-decoded", IDS, |id| {
            Some(id.replace("%20", " ").replace("%2F", "/").replace('+', " ")).filter(|new| new != id)
        }),
        ends_when("tools-called-finish-end-the-run", GOES_ON, |run| {
            let last = run.list.iter().rfind(|message| is(message, "ai")).map(calls).unwrap_or_default();
            last.iter().any(|call| matches!(text(&call["name"]), "finish" | "final_answer" | "done" | "end" | "stop"))
        }),
        not_found("tools-called-null-not-found", RESULT, |name| matches!(name, "null" | "None" | "undefined" | "nil")),
        not_found("tools-called-like-numbers-not-found", RESULT, |name| name.parse::<f64>().is_ok()),
        not_found("tools-called-with-a-namespace-not-found", RESULT, |name| name.contains(['.', '/', ':'])),
        not_found("tools-called-like-keywords-not-found", RESULT, |name| {
            matches!(name, "class" | "default" | "self" | "import" | "lambda")
        }),
        named("namespace-of-tool-names-left-out", RESPONSE, |name| name.strip_prefix("functions.").unwrap_or(name)),
        said_edited("texts-that-count-as-false-dropped", RESPONSE, |text| {
            if text == "0" || text == "false" { String::new() } else { text.to_owned() }
        }),
        said_edited("texts-that-say-null-dropped", RESPONSE, |text| {
            if matches!(text, "null" | "None" | "undefined") { String::new() } else { text.to_owned() }
        }),
        on_text_result("results-that-say-null-emptied", RESULT, |text| {
            if matches!(text, "null" | "None" | "undefined") { String::new() } else { text.to_owned() }
        }),
        on_text_result("results-that-say-true-in-capitals", RESULT, |text| match text {
            "true" => "True".to_owned(),
            "false" => "False".to_owned(),
            _ => text.to_owned(),
        }),
        on_text_result("results-that-say-error-as-failures", RESULT, |text| {
            text.strip_prefix("Error: ").map_or_else(|| text.to_owned(), |error| format!("The tool failed: {error}"))
        }),
        on_text_result("results-that-are-images-replaced", RESULT, |text| {
            if text.starts_with("data:image/") { "[image]".to_owned() } else { text.to_owned() }
        }),
        on_text_result("results-of-content-blocks-unpacked", TEXT, |given| {
            match serde_json::from_str::<Value>(given) {
                Ok(Value::Array(blocks)) if blocks.first().is_some_and(|block| block["type"] == "text") => {
                    blocks.iter().map(|block| text(&block["text"])).collect()
                }
                _ => given.to_owned(),
            }
        }),
        on_text_result("results-in-quotes-unquoted", RESULT, |text| {
            serde_json::from_str::<String>(text).unwrap_or_else(|_| text.to_owned())
        }),
        ends_at("results-that-say-terminate-end-the-run", GOES_ON, "tool", |text| text.contains("TERMINATE")),
        ends_at("results-that-look-final-end-the-run", GOES_ON, "tool", |text| {
            text.contains("FINAL ANSWER") || text.contains("__end__")
        }),
        ends_at("terminate-beside-calls-ends-the-run", GOES_ON, "ai", |text| text.contains("TERMINATE")),
        said_edited("done-beside-calls-ends-the-text", RESPONSE, |text| {
            text.split("[DONE]").next().unwrap_or_default().to_owned()
        }),
        given_kept("questions-that-are-commands-dropped", START, |message| {
            !is(message, "human") || !matches!(words(message), "exit" | "quit" | "/clear" | "/reset" | "q")
        }),
        given_kept("blank-questions-dropped", START, |message| {
            !is(message, "human") || !words(message).trim().is_empty()
        }),
        given_kept("empty-answers-of-the-history-dropped", START, |message| {
            !is(message, "ai") || !words(message).is_empty() || has_calls(message)
        }),
        given_kept("empty-system-message-dropped", START, |message| {
            !is(message, "system") || !words(message).is_empty()
        }),
        on_arguments("arguments-called-self-dropped", RESPONSE, |args| {
            args.as_object_mut().into_iter().for_each(|args| {
                args.retain(|name, _| !matches!(&**name, "self" | "cls" | "kwargs" | "config" | "callbacks"))
            });
        }),
        on_arguments("lone-argument-unwrapped", RESPONSE, |args| {
            for wrapper in ["arguments", "parameters", "input", "kwargs"] {
                if args.as_object().is_some_and(|members| members.len() == 1) && args[wrapper].is_object() {
                    *args = args[wrapper].clone();
                }
            }
        }),
        arguments_dropped("metadata-in-arguments-dropped", RESPONSE, |name, _| {
            matches!(name, "$ref" | "$id" | "$type" | "$schema")
        }),
        in_arguments("digits-in-arguments-as-numbers", RESPONSE, |value| {
            if let Some(number) = value.as_str().and_then(|text| text.parse::<i64>().ok()) {
                *value = number.into();
            }
        }),
        in_arguments("words-of-yaml-in-arguments-as-truth", RESPONSE, |value| {
            *value = match value.as_str() {
                Some("yes" | "on" | "true") => true.into(),
                Some("no" | "off" | "false") => false.into(),
                _ => return,
            }
        }),
        in_arguments("dates-in-arguments-in-another-form", RESPONSE, date_written_anew),
        inside_results("dates-in-results-in-another-form", RESULT, date_written_anew),
        in_arguments("empty-objects-in-arguments-as-empty-lists", RESPONSE, empty_object_as_list),
        inside_results("empty-objects-in-results-as-empty-lists", RESULT, empty_object_as_list),
        in_arguments("arguments-with-the-keys-of-a-list-as-lists", RESPONSE, keys_of_a_list),
        inside_results("results-with-the-keys-of-a-list-as-lists", RESULT, keys_of_a_list),
        in_arguments("nulls-in-lists-of-arguments-dropped", RESPONSE, |value| {
            value.as_array_mut().into_iter().for_each(|list| list.retain(|element| !element.is_null()))
        }),
        inside_results("equal-elements-of-results-merged", RESULT, |value| {
            value.as_array_mut().into_iter().for_each(Vec::dedup)
        }),
    ]
}
