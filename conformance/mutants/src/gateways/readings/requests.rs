//! Requests that say the same in another way.

use super::super::bodies::{calls, deep, edit_args, history, result_ids, results, tools};
use super::super::bugs::{ANTHROPIC, CHAT, OPENAI, RESPONSES};
use super::super::plant::{self, Plant, neglecting};
use crate::gateway::names::digest;
use crate::gateway::places::{ALL, Places, TRANSLATING};
use crate::planted::Planted;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use threadspec::oracle::Api;
use threadspec::surrogates::has_marks;
use threadspec_apis::ApiError;
use threadspec_golden::clause;
use threadspec_judge::json::{list, text};
use threadspec_judge::protocol::Speaker;

/// A reading that changes the body for the upstream.
fn body(name: &'static str, places: Places, change: fn(&mut Value)) -> Planted {
    planted(name, places, plant::body(move |_, body| change(body)))
}

fn planted(name: &'static str, places: Places, plant: Plant) -> Planted {
    plant::reading(name, places, plant)
}

/// Changes every id, of calls and of their results, the same way.
fn on_ids(body: &mut Value, change: fn(&str) -> String) {
    calls(body).into_iter().for_each(|call| *call.id = change(text(call.id)).into());
    result_ids(body).into_iter().for_each(|id| *id = change(text(id)).into());
}

/// The texts of a content as one.
fn joined(content: &Value, between: &str) -> Option<String> {
    match content {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) if parts.iter().all(|part| part["text"].is_string()) => {
            Some(parts.iter().map(|part| text(&part["text"])).collect::<Vec<_>>().join(between))
        }
        _ => None,
    }
}

/// A value with the members of its objects in the order of their names.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().map(|(name, value)| (name.clone(), sorted(value))).collect();
            members.sort_by(|one, other| one.0.cmp(&other.0));
            members.into_iter().collect::<Map<_, _>>().into()
        }
        Value::Array(elements) => elements.iter().map(sorted).collect(),
        other => other.clone(),
    }
}

/// The last user texts of a history joined with those before them.
fn join_users(body: &mut Value) {
    let mut joined_list: Vec<Value> = Vec::new();
    let is_text = |message: &Value| {
        message["role"] == "user" && list(&message["content"]).iter().all(|part| part["text"].is_string())
    };
    for message in std::mem::take(history(body)) {
        match joined_list.last_mut().filter(|last| is_text(last) && is_text(&message)) {
            Some(last) => {
                let both = [joined(&last["content"], "\n"), joined(&message["content"], "\n")];
                let both = both.map(Option::unwrap_or_default);
                last["content"] = both.join("\n").into();
            }
            None => joined_list.push(message),
        }
    }
    *history(body) = joined_list;
}

pub(super) fn readings() -> Vec<Planted> {
    [ids(), texts(), results_and_calls(), tools_and_options(), forms()].into_iter().flatten().collect()
}

fn ids() -> Vec<Planted> {
    vec![
        body("ids-shortened-with-a-hash", ALL, |body| on_ids(body, |id| format!("call_{}", digest(id)))),
        body("ids-with-another-beginning", TRANSLATING, |body| {
            on_ids(body, |id| if id.len() < 30 { format!("x_{id}") } else { format!("x_{}", digest(id)) });
        }),
        planted(
            "repeated-ids-of-a-response-refused",
            ALL,
            plant::refusing(|course, refusal| {
                let request = threadspec_apis::ApiRequest::read(course.client, &course.asked);
                for message in &request.messages {
                    let mut ids: Vec<&String> = message.calls.iter().map(|call| &call.id).collect();
                    let count = ids.len();
                    ids.sort();
                    ids.dedup();
                    if ids.len() < count {
                        *refusal = Some(ApiError::invalid("Two calls of a message have the same id."));
                    }
                }
            }),
        ),
        planted(
            "lone-surrogates-refused-on-the-way",
            ALL,
            plant::refusing(|course, refusal| {
                if has_marks(&course.asked.to_string()) {
                    *refusal = Some(ApiError::invalid("The request holds half of a surrogate pair."));
                }
            }),
        ),
    ]
}

fn texts() -> Vec<Planted> {
    vec![
        body("system-texts-joined-with-an-empty-line", ALL.to(ANTHROPIC), |body| {
            if let Some(text) = joined(&body["system"], "\n\n") {
                body["system"] = text.into();
            }
        }),
        body("system-texts-of-the-role-developer", ALL.to(OPENAI), |body| {
            for message in history(body).iter_mut().filter(|message| message["role"] == "system") {
                message["role"] = "developer".into();
            }
        }),
        body("first-system-text-as-instructions", TRANSLATING.to(RESPONSES), |body| {
            if let Some(text) =
                history(body).first().filter(|first| first["role"] == "system").map(|first| first["content"].clone())
            {
                history(body).remove(0);
                body["instructions"] = text;
            }
        }),
        body("leading-system-texts-joined", TRANSLATING.to(CHAT), |body| {
            while let [first, second, ..] = &history(body)[..] {
                if first["role"] != "system" || second["role"] != "system" {
                    break;
                }
                let both = format!("{}\n{}", text(&first["content"]), text(&second["content"]));
                history(body).remove(1);
                history(body)[0]["content"] = both.into();
            }
        }),
        body("system-texts-of-the-middle-in-other-tags", TRANSLATING.to(ANTHROPIC), |body| {
            deep(body, &|value| {
                if let Some(inner) =
                    value.as_str().and_then(|text| text.strip_prefix("<system>")?.strip_suffix("</system>"))
                {
                    *value = format!("<system-reminder>\n{inner}\n</system-reminder>").into();
                }
            });
        }),
        body("neighbouring-user-texts-joined", TRANSLATING, join_users),
        body("user-texts-as-parts", ALL.to(CHAT), |body| {
            for message in history(body).iter_mut().filter(|message| message["role"] == "user") {
                if let Some(text) = message["content"].as_str().map(str::to_owned) {
                    message["content"] = json!([{"type": "text", "text": text}]);
                }
            }
        }),
        body("user-texts-as-one-text", TRANSLATING.to(ANTHROPIC), |body| {
            for message in history(body).iter_mut().filter(|message| message["role"] == "user") {
                if let Some(text) = joined(&message["content"], "") {
                    message["content"] = text.into();
                }
            }
        }),
        planted("parts-joined-with-line-ends", TRANSLATING, joining("\n")),
        planted("parts-joined-with-spaces", TRANSLATING, joining(" ")),
        body("texts-beside-calls-empty-instead-of-null", ALL.to(CHAT), |body| {
            for message in history(body).iter_mut().filter(|message| message["tool_calls"].is_array()) {
                if message["content"].is_null() {
                    message["content"] = "".into();
                }
            }
        }),
        body("texts-beside-calls-absent", ALL.to(CHAT), |body| {
            for message in history(body).iter_mut().filter(|message| message["tool_calls"].is_array()) {
                if message["content"].is_null() || message["content"] == "" {
                    super::super::bodies::drop_member(message, "content");
                }
            }
        }),
        body("empty-messages-left-out", ALL.to(OPENAI), |body| {
            history(body).retain(|message| {
                let is_said = matches!(text(&message["role"]), "user" | "assistant");
                !is_said
                    || message["tool_calls"].is_array()
                    || joined(&message["content"], "").is_none_or(|text| !text.trim().is_empty())
            });
        }),
        body("white-space-at-the-ends-of-texts-trimmed", TRANSLATING, |body| {
            use super::super::bodies::{Who, on_texts};
            on_texts(body, &[Who::System, Who::User, Who::Model], |text| text.trim().to_owned());
        }),
    ]
}

/// Texts of several parts joined with something between them.
fn joining(between: &'static str) -> Plant {
    plant::request(move |_, request| {
        for message in request.messages.iter_mut().filter(|message| message.images.is_empty()) {
            if !message.seams.is_empty() {
                message.content = message.parts().collect::<Vec<_>>().join(between);
                message.seams.clear();
            }
        }
    })
}

fn results_and_calls() -> Vec<Planted> {
    vec![
        body("results-of-a-group-in-the-other-order", TRANSLATING.to(OPENAI), |body| {
            let is_result = |message: &Value| message["role"] == "tool" || message["type"] == "function_call_output";
            let history = history(body);
            let mut at = 0;
            while at < history.len() {
                let end = at + history[at..].iter().take_while(|message| is_result(message)).count();
                // Two answers to one call keep their order.
                let mut ids: Vec<String> = history[at..end]
                    .iter()
                    .map(|message| format!("{}{}", message["tool_call_id"], message["call_id"]))
                    .collect();
                ids.sort();
                ids.dedup();
                if ids.len() == end - at {
                    history[at..end].reverse();
                }
                at = end + 1;
            }
        }),
        body("results-of-a-message-in-the-other-order", ALL.to(ANTHROPIC), |body| {
            for message in history(body).iter_mut().filter(|message| message["role"] == "user") {
                if let Some(blocks) = message.get_mut("content").and_then(Value::as_array_mut)
                    && blocks.iter().all(|block| block["type"] == "tool_result")
                    && blocks.iter().enumerate().all(|(at, block)| {
                        blocks[..at].iter().all(|before| before["tool_use_id"] != block["tool_use_id"])
                    })
                {
                    blocks.reverse();
                }
            }
        }),
        body("results-of-parallel-calls-in-messages-of-their-own", TRANSLATING.to(ANTHROPIC), |body| {
            let divided = std::mem::take(history(body)).into_iter().flat_map(|message| {
                let is_results = message["content"][0]["type"] == "tool_result";
                match message["content"].as_array().filter(|_| is_results) {
                    Some(results) => results.iter().map(|block| json!({"role": "user", "content": [block]})).collect(),
                    None => vec![message],
                }
            });
            let divided: Vec<Value> = divided.collect();
            *history(body) = divided;
        }),
        body("results-as-parts-on-the-way", TRANSLATING.to(ANTHROPIC), |body| {
            for result in results(body) {
                if let Some(text) = result.content.as_str().filter(|text| !text.is_empty()).map(str::to_owned) {
                    *result.content = json!([{"type": "text", "text": text}]);
                }
            }
        }),
        planted(
            "failed-results-told-with-a-prefix",
            TRANSLATING.from(ANTHROPIC).to(OPENAI),
            plant::request(|_, request| {
                for message in
                    request.messages.iter_mut().filter(|message| message.is_error && message.images.is_empty())
                {
                    message.content.insert_str(0, "Error: ");
                    message.seams.clear();
                }
            }),
        ),
        planted(
            "texts-of-images-named-beside-them",
            TRANSLATING.from(&[Api::OpenAiResponses, Api::Anthropic]).to(CHAT),
            plant::body(|_, body| {
                let history = history(body);
                for at in 1..history.len() {
                    let is_behind_results = history[at - 1]["role"] == "tool";
                    if let Some(parts) = history[at].get_mut("content").and_then(Value::as_array_mut)
                        && is_behind_results
                        && parts.iter().all(super::super::bodies::is_image)
                    {
                        parts.insert(0, json!({"type": "text", "text": "[Image of the tool's result]"}));
                    }
                }
            }),
        ),
        body("arguments-written-with-spaces", ALL.to(OPENAI), |body| {
            for call in calls(body) {
                let read = serde_json::from_str::<Value>(text(call.args));
                if let Ok(pretty) = read.and_then(|read| serde_json::to_string_pretty(&read)) {
                    // What no double holds is left as it is.
                    if serde_json::from_str::<Value>(&pretty).is_ok_and(|value| value.is_object()) {
                        *call.args = pretty.into();
                    }
                }
            }
        }),
        body("members-of-arguments-sorted", ALL, |body| {
            calls(body).into_iter().for_each(|call| edit_args(call.args, &|args| *args = sorted(args)));
        }),
    ]
}

fn tools_and_options() -> Vec<Planted> {
    vec![
        body("types-of-null-written-as-a-choice", ALL, |body| {
            super::super::bodies::on_schemas(body, |schema| {
                if let [one, other] = list(&schema["type"]) {
                    let choices = json!([{"type": one}, {"type": other}]);
                    super::super::bodies::drop_member(schema, "type");
                    schema["anyOf"] = choices;
                }
            });
        }),
        body("empty-definitions-in-schemas", ALL, |body| {
            for tool in tools(body) {
                for name in ["parameters", "input_schema"] {
                    if tool[name].is_object() && tool[name]["$defs"].is_null() {
                        tool[name]["$defs"] = json!({});
                    }
                }
            }
        }),
        body("schemas-with-titles-and-their-dialect-on-the-way", ALL, |body| {
            for tool in tools(body) {
                for name in ["parameters", "input_schema"] {
                    if tool[name].is_object() {
                        tool[name]["$schema"] = "http://json-schema.org/draft-07/schema#".into();
                        tool[name]["title"] = "Arguments".into();
                    }
                }
            }
        }),
        neglecting(
            "schemas-without-their-small-print",
            &[clause::GATE_TOOLS_FULL],
            ALL,
            plant::body(|_, body| {
                super::super::bodies::on_schemas(body, |schema| {
                    for name in ["additionalProperties", "minimum", "maximum", "minLength", "maxLength", "pattern"] {
                        if !schema[name].is_object() && !schema[name].is_null() {
                            super::super::bodies::drop_member(schema, name);
                        }
                    }
                });
            }),
        ),
        body("tools-of-type-custom", ALL.to(ANTHROPIC), |body| {
            tools(body).into_iter().for_each(|tool| tool["type"] = "custom".into());
        }),
        body("cache-marks-on-system-and-tools-on-the-way", TRANSLATING.to(ANTHROPIC), |body| {
            let mark = json!({"type": "ephemeral"});
            if let Some(block) =
                body.get_mut("system").and_then(Value::as_array_mut).and_then(|blocks| blocks.last_mut())
            {
                block["cache_control"] = mark.clone();
            }
            if let Some(tool) = tools(body).pop() {
                tool["cache_control"] = mark;
            }
        }),
        planted(
            "limit-of-tokens-where-there-is-none",
            TRANSLATING.from(OPENAI).to(ANTHROPIC),
            plant::body(|course, body| {
                let request = threadspec_apis::ApiRequest::read(course.client, &course.asked);
                if !request.has_max_tokens {
                    body["max_tokens"] = 16_000.into();
                }
            }),
        ),
        planted(
            "parallel-calls-allowed-where-nothing-is-said",
            TRANSLATING.to(OPENAI),
            plant::body(|course, body| {
                let request = threadspec_apis::ApiRequest::read(course.client, &course.asked);
                if request.parallel.is_none() && !body["tools"].is_null() {
                    body["parallel_tool_calls"] = true.into();
                }
            }),
        ),
        planted(
            "choice-of-tools-left-to-the-model-in-words",
            TRANSLATING,
            plant::body(|course, body| {
                if !body["tools"].is_null() && body["tool_choice"].is_null() {
                    let is_anthropic = course.upstream == Api::Anthropic;
                    body["tool_choice"] = if is_anthropic { json!({"type": "auto"}) } else { "auto".into() };
                }
            }),
        ),
        body("older-name-of-the-limit-of-tokens", ALL.to(CHAT), |body| {
            let limit = body["max_completion_tokens"].clone();
            if !limit.is_null() {
                super::super::bodies::drop_member(body, "max_completion_tokens");
                body["max_tokens"] = limit;
            }
        }),
        body("user-and-metadata-named-on-the-way", ALL.to(OPENAI), |body| body["user"] = "gateway".into()),
        body("user-named-in-metadata-on-the-way", ALL.to(ANTHROPIC), |body| {
            body["metadata"] = json!({"user_id": "gateway"})
        }),
        body("one-stop-sequence-as-a-text", ALL.to(CHAT), |body| {
            if let [one] = list(&body["stop"]) {
                body["stop"] = one.clone();
            }
        }),
        body("images-with-their-detail", ALL.to(CHAT), |body| {
            deep(body, &|value| {
                if value["type"] == "image_url" && value["image_url"].is_object() {
                    value["image_url"]["detail"] = "auto".into();
                }
            });
        }),
    ]
}

fn forms() -> Vec<Planted> {
    vec![
        planted(
            "body-in-ascii-on-the-way",
            ALL,
            plant::sent(|_, request| {
                let mut ascii = String::new();
                for character in String::from_utf8_lossy(&request.body).chars() {
                    if character.is_ascii() {
                        ascii.push(character);
                    } else {
                        for unit in character.encode_utf16(&mut [0; 2]) {
                            let _ = write!(ascii, "\\u{unit:04x}");
                        }
                    }
                }
                request.body = ascii.into_bytes();
            }),
        ),
        planted(
            "headers-of-the-gateway",
            ALL,
            plant::sent(|_, request| {
                request.headers.push(("x-request-id".to_owned(), "gateway".to_owned()));
                request.headers.push(("user-agent".to_owned(), "gateway/1".to_owned()));
            }),
        ),
        planted(
            "members-of-the-body-sorted",
            ALL,
            plant::body(|_, body| {
                if let Some(members) = body.as_object_mut() {
                    let mut own: Vec<_> = std::mem::take(members).into_iter().collect();
                    own.sort_by(|one, other| one.0.cmp(&other.0));
                    *members = own.into_iter().collect();
                }
            }),
        ),
        planted(
            "broken-histories-refused",
            ALL,
            plant::refusing(|course, refusal| {
                let request = threadspec_apis::ApiRequest::read(course.client, &course.asked);
                let calls = request.messages.iter().map(|message| message.calls.len()).sum::<usize>();
                let results = request.messages.iter().filter(|message| message.speaker == Speaker::Tool).count();
                if calls != results {
                    *refusal = Some(ApiError::invalid("Each call needs one result."));
                }
            }),
        ),
    ]
}
