//! AGENT-RESULT, AGENT-RESULT-COMPACT and AGENT-NUMBERS: how results are written, and numbers everywhere.
//! AGENT-ENCODABLE: what becomes of lone surrogates. What happens to other texts are rows.

use crate::universal::prelude::*;
use threadspec::surrogates::unmark_surrogates;

fn json_text(value: &Value) -> Value {
    halves::escaped(&value.to_string()).into()
}

/// As Python's `str` writes it.
fn python(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => format!("'{}'", halves::repaired(text)),
        Value::Array(elements) => format!("[{}]", elements.iter().map(python).collect::<Vec<_>>().join(", ")),
        Value::Object(members) => {
            let members =
                members.iter().map(|(name, value)| format!("'{}': {}", halves::repaired(name), python(value)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
        }
    }
}

/// As Go's `%v` writes it.
fn go(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::String(text) => halves::repaired(text).into_owned(),
        Value::Array(elements) => format!("[{}]", elements.iter().map(go).collect::<Vec<_>>().join(" ")),
        Value::Object(members) => {
            format!(
                "map[{}]",
                members
                    .iter()
                    .map(|(name, value)| format!("{}:{}", halves::repaired(name), go(value)))
                    .collect::<Vec<_>>()
                    .join(" ")
            )
        }
        other => other.to_string(),
    }
}

/// As JavaScript's `String` writes it.
fn javascript(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => halves::repaired(text).into_owned(),
        Value::Array(elements) => elements.iter().map(javascript).collect::<Vec<_>>().join(","),
        Value::Object(_) => "[object Object]".to_owned(),
        other => other.to_string(),
    }
}

/// JSON text in which these characters are escaped.
fn with_escapes(value: &Value, escapes: fn(char) -> bool) -> String {
    let mut out = String::new();
    for c in unmark_surrogates(&value.to_string()).chars() {
        if escapes(c) {
            c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| out += &format!("\\u{unit:04x}"));
        } else {
            out.push(c);
        }
    }
    out
}

/// Writes results of some kind in another way.
fn where_it_is(name: &str, breaks: Clauses, is: fn(&Value) -> bool, write: fn(&Value) -> String) -> Planted {
    on_structured(name, breaks, move |value| if is(value) { write(value).into() } else { json_text(value) })
}

fn double(value: &Value) -> Option<f64> {
    if value.is_number() { value.as_f64() } else { None }
}

pub(super) fn bugs() -> Vec<Planted> {
    let mut bugs = vec![
        on_structured("results-in-pythons-notation", RESULT, |value| python(value).into()),
        on_structured("results-as-javascripts-strings", RESULT, |value| javascript(value).into()),
        on_structured("results-in-gos-notation", RESULT, |value| go(value).into()),
        where_it_is("null-as-none", RESULT, Value::is_null, |_| "None".into()),
        where_it_is("null-as-nothing", RESULT, Value::is_null, |_| String::new()),
        where_it_is("null-as-a-message", RESULT, Value::is_null, |_| "The tool ran without output.".into()),
        where_it_is("null-as-undefined", RESULT, Value::is_null, |_| "undefined".into()),
        where_it_is("truth-in-capitals", RESULT, Value::is_boolean, python),
        where_it_is("numbers-as-json-strings", NUMBERS, Value::is_number, |value| format!("\"{value}\"")),
        where_it_is("lists-in-pythons-notation", RESULT, Value::is_array, python),
        where_it_is("lists-as-lines", RESULT, Value::is_array, |value| {
            value.as_array().into_iter().flatten().map(Value::to_string).collect::<Vec<_>>().join("\n")
        }),
        where_it_is(
            "first-element-of-a-list",
            RESULT,
            |value| value.as_array().is_some_and(|list| list.len() == 1),
            |value| value[0].to_string(),
        ),
        where_it_is(
            "empty-results-as-no-text",
            RESULT,
            |value| *value == json!([]) || *value == json!({}),
            |_| String::new(),
        ),
        on_structured("content-blocks-unpacked", RESULT, |value| {
            let block = |value: &Value| (value["type"] == "text").then(|| value["text"].as_str().map(str::to_owned))?;
            let all = value.as_array().map(|list| list.iter().map(block).collect::<Option<Vec<_>>>());
            match (block(value), all) {
                (Some(text), _) => text.into(),
                (None, Some(Some(texts))) if !texts.is_empty() => texts.join("").into(),
                _ => json_text(value),
            }
        }),
        on_structured("content-member-unpacked", RESULT, |value| {
            if value["content"].is_string() { value["content"].clone() } else { json_text(value) }
        }),
        on_structured("error-member-as-a-failure", RESULT, |value| match value.get("error") {
            Some(error) => format!("The tool failed: {error}").into(),
            None => json_text(value),
        }),
        on_structured("results-in-a-wrapper", RESULT, |value| json_text(&json!({"result": value}))),
        on_structured("results-in-a-fence", RESULT, |value| format!("```json\n{value}\n```").into()),
        on_text_result("results-with-a-prefix", RESULT, |text| format!("Result: {text}")),
        on_text_result("texts-as-json-strings", RESULT, |text| {
            json_text(&text.into()).as_str().unwrap_or_default().to_owned()
        }),
        on_text_result("json-texts-written-anew", TEXT, |text| match serde_json::from_str::<Value>(text) {
            Ok(value) => format!("{value:#}"),
            Err(_) => text.to_owned(),
        }),
        on_text_result("texts-of-digits-as-numbers", RESULT, |text| {
            text.parse::<f64>().map_or_else(|_| text.to_owned(), |number| number.to_string())
        }),
        on_text_result("empty-text-as-a-message", RESULT, |text| {
            if text.is_empty() { "(no output)".to_owned() } else { text.to_owned() }
        }),
        results_changed("null-members-of-results-dropped", RESULT, |value| {
            drop_members(value, |_, member| member.is_null());
        }),
        seam::answers("results-of-parallel-calls-swapped", RESULT, |_, answers| {
            let mut contents: Vec<Value> = answers.iter().map(|answer| answer["content"].clone()).collect();
            contents.rotate_left(1);
            answers.iter_mut().zip(contents).for_each(|(answer, content)| answer["content"] = content);
        }),
        seam::answers("results-kept-by-tool", RESULT, |run, answers| {
            let calls = run.list.last().map(calls).unwrap_or_default();
            let last = |call: &Value| calls.iter().rposition(|other| other["name"] == call["name"]);
            let contents: Vec<Value> =
                calls.iter().filter_map(|call| Some(answers.get(last(call)?)?["content"].clone())).collect();
            answers.iter_mut().zip(contents).for_each(|(answer, content)| answer["content"] = content);
        }),
        seam::outcome("first-result-of-a-tool-remembered", RESULT, |run, call| {
            let earlier = run.list.iter().flat_map(calls).find(|other| other["name"] == call["name"]);
            outcome(run, &earlier.unwrap_or_else(|| call.clone()))
        }),
        seam::answers("results-of-equal-ids-remembered", RESULT, |run, answers| {
            for answer in answers {
                let known = run
                    .list
                    .iter()
                    .find(|message| message["type"] == "tool" && message["tool_call_id"] == answer["tool_call_id"]);
                if let Some(known) = known {
                    answer["content"] = known["content"].clone();
                }
            }
        }),
        on_structured("results-in-ascii", COMPACT, |value| with_escapes(value, |c| !c.is_ascii()).into()),
        on_structured("results-with-astral-characters-escaped", COMPACT, |value| {
            with_escapes(value, |c| u32::from(c) > 0xffff).into()
        }),
        on_structured("results-with-latin-letters-escaped", COMPACT, |value| {
            with_escapes(value, |c| matches!(c, '\u{c0}'..='\u{ff}')).into()
        }),
        results_become("fractions-with-six-digits", NUMBERS, |value| {
            double(value)
                .filter(|double| double.fract() != 0.0)
                .map(|double| format!("{double:.6}").parse::<f64>().map(Value::from).unwrap_or_default())
        }),
        inside_arguments("numbers-of-single-precision", NUMBERS, |value| {
            if let Some(double) = double(value).filter(|double| double.fract() != 0.0) {
                #[allow(clippy::cast_possible_truncation, reason = "that is the bug")]
                let single = double as f32;
                *value = json!(f64::from(single));
            }
        }),
        inside_arguments("whole-numbers-of-32-bits", NUMBERS, |value| {
            if let Some(number) = value.as_i64() {
                #[allow(clippy::cast_possible_truncation, reason = "that is the bug")]
                let wrapped = number as i32;
                *value = json!(wrapped);
            }
        }),
        results_become("long-integers-of-results-through-doubles", NUMBERS, |value| {
            double(value).filter(|double| double.abs() > 9_007_199_254_740_992.0).map(|double| json!(double))
        }),
        arguments_become("long-integers-of-arguments-through-doubles", NUMBERS, |value| {
            double(value).filter(|double| double.abs() >= 9_007_199_254_740_992.0).map(|double| json!(double))
        }),
        arguments_become("integers-beyond-63-bits-lost", NUMBERS, |value| {
            (value.is_u64() && !value.is_i64()).then(|| json!(i64::MAX))
        }),
        results_become("long-integers-as-text", NUMBERS, |value| {
            (double(value).is_some_and(|double| double.abs() > 9_007_199_254_740_991.0))
                .then(|| value.to_string().into())
        }),
        arguments_become("fractions-of-arguments-as-text", NUMBERS, |value| {
            value.is_f64().then(|| value.to_string().into())
        }),
        arguments_become("small-numbers-as-zero", NUMBERS, |value| {
            (double(value).is_some_and(|double| double.abs() < 1e-300)).then(|| json!(0))
        }),
        inside_results("fractions-cut-off", NUMBERS, |value| {
            if let Some(double) = double(value).filter(|double| double.abs() < 1e15) {
                #[allow(clippy::cast_possible_truncation, reason = "that is the bug")]
                let whole = double as i64;
                *value = json!(whole);
            }
        }),
        results_become("truth-as-numbers", RESULT, |value| value.as_bool().map(|truth| json!(u8::from(truth)))),
        arguments_become("truth-in-arguments-as-numbers", RESPONSE, |value| {
            value.as_bool().map(|truth| json!(u8::from(truth)))
        }),
    ];
    bugs.extend(family("results-swapped-from-call-{n}-on", &[1, 9, 64, 250], |name, size| {
        seam::answers(name, RESULT, move |_, answers| {
            let mut contents: Vec<Value> = answers.iter().skip(size).map(|answer| answer["content"].clone()).collect();
            contents.reverse();
            answers.iter_mut().skip(size).zip(contents).for_each(|(answer, content)| answer["content"] = content);
        })
    }));
    bugs.extend(family("structured-results-in-pythons-notation-from-round-{n}-on", &[2, 20, 100], |name, size| {
        seam::content(name, RESULT, move |run, outcome| match outcome {
            ToolOutcome::Result(value) if !value.is_string() && run.turn >= size => python(value).into(),
            _ => content(outcome),
        })
    }));
    bugs
}

/// Lets lone surrogates of results pass as they are.
fn halves_pass(name: &str, breaks: Clauses, passes: fn(&ToolOutcome) -> Option<Value>) -> Planted {
    seam::content(name, breaks, move |_, outcome| passes(outcome).unwrap_or_else(|| content(outcome)))
}

pub(super) fn texts() -> Vec<Planted> {
    let mut bugs = vec![
        on_later_requests("texts-written-again-in-each-round", PREFIX, |run, request| {
            let end = run.requests.last().map_or(0, Vec::len);
            request
                .iter_mut()
                .take(end)
                .for_each(|message| change_text(message, |text| text.replace("{{", "{").replace("}}", "}")));
        }),
        halves_pass("halves-of-results-pass", ENCODABLE, |outcome| match outcome {
            ToolOutcome::Result(Value::String(text)) => Some(text.clone().into()),
            _ => None,
        }),
        halves_pass("halves-in-structured-results-pass", ENCODABLE, |outcome| match outcome {
            ToolOutcome::Result(value) if !value.is_string() => Some(value.to_string().into()),
            _ => None,
        }),
        seam::outcome("halves-of-errors-pass", ENCODABLE, |run, call| {
            let error = run.input["tools"][text(&call["name"])]["byId"][text(&call["id"])]["error"].clone();
            match (outcome(run, call), error) {
                (ToolOutcome::Failure(_), Value::String(error)) => ToolOutcome::Failure(error),
                (outcome, _) => outcome,
            }
        }),
        on_response("halves-of-responses-pass", ENCODABLE, |run, message| {
            message["content"] = run.scripted(0)["content"].as_str().unwrap_or_default().into()
        }),
        begun("halves-of-questions-pass", ENCODABLE, |run| {
            let given = run.input["messages"].as_array().cloned().unwrap_or_default();
            if given.len() == run.list.len() {
                run.list
                    .iter_mut()
                    .zip(given)
                    .for_each(|(message, given)| message["content"] = given["content"].clone());
            }
        }),
        seam::content("halves-end-the-run", ENCODABLE, |run, outcome| {
            if matches!(outcome, ToolOutcome::Result(Value::String(text)) if halves::escaped(text) != *text) {
                run.stop = Some("surrogates not allowed".to_owned());
            }
            content(outcome)
        }),
    ];
    let lost: [(&str, fn(&str) -> String); 2] = [
        ("replacement-characters-left-out-with-halves", |text| halves::repaired(text).replace('\u{fffd}', "")),
        ("text-around-a-half-lost", |_| "?".into()),
    ];
    bugs.extend(lost.map(|(name, edit)| {
        seam::content(name, TEXT, move |_, outcome| match outcome {
            ToolOutcome::Result(Value::String(text)) if halves::escaped(text) != *text => edit(text).into(),
            _ => content(outcome),
        })
    }));
    bugs.push(on_response("halves-of-ids-pass", ENCODABLE, |run, message| {
        for (call, said) in calls_mut(message).zip(calls(&run.scripted(0))) {
            call.insert("id".into(), said["id"].clone());
        }
    }));
    bugs
}
