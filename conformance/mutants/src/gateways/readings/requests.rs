//! Requests that say the same in another way.

use crate::gateways::prelude::*;
use crate::universal::operators::sorted;
use std::fmt::Write as _;
use threadspec::surrogates::has_marks;

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
    [ids(), texts(), results_and_calls(), tools_and_options(), forms()].into_iter().flatten().flatten().collect()
}

fn ids() -> Vec<Vec<Planted>> {
    vec![
        FREE.bodies("ids-shortened-with-a-hash", |body| on_ids(body, |id| format!("call_{}", digest(id)))),
        FREE.at(TRANSLATING).bodies("ids-with-another-beginning", |body| {
            on_ids(body, |id| if id.len() < 30 { format!("x_{id}") } else { format!("x_{}", digest(id)) });
        }),
        FREE.refusal("repeated-ids-of-a-response-refused", |course, refusal| {
            let request = ApiRequest::read(course.client, &course.asked);
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
        FREE.refusal("lone-surrogates-refused-on-the-way", |course, refusal| {
            if has_marks(&course.asked.to_string()) {
                *refusal = Some(ApiError::invalid("The request holds half of a surrogate pair."));
            }
        }),
    ]
}

fn texts() -> Vec<Vec<Planted>> {
    vec![
        FREE.at(ALL.to(ANTHROPIC)).bodies("system-texts-joined-with-an-empty-line", |body| {
            if let Some(text) = joined(&body["system"], "\n\n") {
                body["system"] = text.into();
            }
        }),
        FREE.at(ALL.to(OPENAI)).said_by("system-texts-of-the-role-developer", "system", |message| {
            message["role"] = "developer".into();
        }),
        FREE.at(TRANSLATING.to(RESPONSES)).bodies("first-system-text-as-instructions", |body| {
            if let Some(text) =
                history(body).first().filter(|first| first["role"] == "system").map(|first| first["content"].clone())
            {
                history(body).remove(0);
                body["instructions"] = text;
            }
        }),
        FREE.at(TRANSLATING.to(CHAT)).bodies("leading-system-texts-joined", |body| {
            while let [first, second, ..] = &history(body)[..] {
                if first["role"] != "system" || second["role"] != "system" {
                    break;
                }
                let both = format!("{}\n{}", text(&first["content"]), text(&second["content"]));
                history(body).remove(1);
                history(body)[0]["content"] = both.into();
            }
        }),
        FREE.at(TRANSLATING.to(ANTHROPIC)).inside("system-texts-of-the-middle-in-other-tags", |value| {
            if let Some(inner) =
                value.as_str().and_then(|text| text.strip_prefix("<system>")?.strip_suffix("</system>"))
            {
                *value = format!("<system-reminder>\n{inner}\n</system-reminder>").into();
            }
        }),
        FREE.at(TRANSLATING).bodies("neighbouring-user-texts-joined", join_users),
        FREE.at(ALL.to(CHAT)).said_by("user-texts-as-parts", "user", |message| {
            if let Some(text) = message["content"].as_str().map(str::to_owned) {
                message["content"] = json!([{"type": "text", "text": text}]);
            }
        }),
        FREE.at(TRANSLATING.to(ANTHROPIC)).said_by("user-texts-as-one-text", "user", |message| {
            if let Some(text) = joined(&message["content"], "") {
                message["content"] = text.into();
            }
        }),
        FREE.at(TRANSLATING).joining("parts-joined-with-line-ends", "\n"),
        FREE.at(TRANSLATING).joining("parts-joined-with-spaces", " "),
        FREE.at(ALL.to(CHAT)).bodies("texts-beside-calls-empty-instead-of-null", |body| {
            for message in history(body).iter_mut().filter(|message| message["tool_calls"].is_array()) {
                if message["content"].is_null() {
                    message["content"] = "".into();
                }
            }
        }),
        FREE.at(ALL.to(CHAT)).bodies("texts-beside-calls-absent", |body| {
            for message in history(body).iter_mut().filter(|message| message["tool_calls"].is_array()) {
                if message["content"].is_null() || message["content"] == "" {
                    drop_member(message, "content");
                }
            }
        }),
        FREE.at(ALL.to(OPENAI)).bodies("empty-messages-left-out", |body| {
            history(body).retain(|message| {
                let is_said = matches!(text(&message["role"]), "user" | "assistant");
                !is_said
                    || message["tool_calls"].is_array()
                    || joined(&message["content"], "").is_none_or(|text| !text.trim().is_empty())
            });
        }),
        FREE.at(TRANSLATING).bodies("white-space-at-the-ends-of-texts-trimmed", |body| {
            use {Who, on_texts};
            on_texts(body, &[Who::System, Who::User, Who::Model], |text| text.trim().to_owned());
        }),
    ]
}

impl GatewayGroup {
    /// Joins texts of several parts with something between them.
    fn joining(self, name: &'static str, between: &'static str) -> Vec<Planted> {
        self.request(name, move |_, request| {
            for message in request.messages.iter_mut().filter(|message| message.images.is_empty()) {
                if !message.seams.is_empty() {
                    message.content = message.parts().collect::<Vec<_>>().join(between);
                    message.seams.clear();
                }
            }
        })
    }
}

fn results_and_calls() -> Vec<Vec<Planted>> {
    vec![
        FREE.at(TRANSLATING.to(OPENAI)).bodies("results-of-a-group-in-the-other-order", |body| {
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
        FREE.at(ALL.to(ANTHROPIC)).said_by("results-of-a-message-in-the-other-order", "user", |message| {
            if let Some(blocks) = message.get_mut("content").and_then(Value::as_array_mut)
                && blocks.iter().all(|block| block["type"] == "tool_result")
                && blocks
                    .iter()
                    .enumerate()
                    .all(|(at, block)| blocks[..at].iter().all(|before| before["tool_use_id"] != block["tool_use_id"]))
            {
                blocks.reverse();
            }
        }),
        FREE.at(TRANSLATING.to(ANTHROPIC)).bodies("results-of-parallel-calls-in-messages-of-their-own", |body| {
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
        FREE.at(TRANSLATING.to(ANTHROPIC)).bodies("results-as-parts-on-the-way", |body| {
            for result in results(body) {
                if let Some(text) = result.content.as_str().filter(|text| !text.is_empty()).map(str::to_owned) {
                    *result.content = json!([{"type": "text", "text": text}]);
                }
            }
        }),
        FREE.at(TRANSLATING.from(ANTHROPIC).to(OPENAI)).request("failed-results-told-with-a-prefix", |_, request| {
            for message in request.messages.iter_mut().filter(|message| message.is_error && message.images.is_empty()) {
                message.content.insert_str(0, "Error: ");
                message.seams.clear();
            }
        }),
        FREE.at(TRANSLATING.from(RESPONSES_OR_ANTHROPIC).to(CHAT)).history(
            "texts-of-images-named-beside-them",
            |history| {
                for at in 1..history.len() {
                    let is_behind_results = history[at - 1]["role"] == "tool";
                    if let Some(parts) = history[at].get_mut("content").and_then(Value::as_array_mut)
                        && is_behind_results
                        && parts.iter().all(is_image)
                    {
                        parts.insert(0, json!({"type": "text", "text": "[Image of the tool's result]"}));
                    }
                }
            },
        ),
        FREE.at(ALL.to(OPENAI)).bodies("arguments-written-with-spaces", |body| {
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
        FREE.bodies("members-of-arguments-sorted", |body| {
            calls(body).into_iter().for_each(|call| edit_args(call.args, &|args| *args = sorted(args)));
        }),
    ]
}

fn tools_and_options() -> Vec<Vec<Planted>> {
    vec![
        FREE.bodies("types-of-null-written-as-a-choice", |body| {
            on_schemas(body, |schema| {
                if let [one, other] = list(&schema["type"]) {
                    let choices = json!([{"type": one}, {"type": other}]);
                    drop_member(schema, "type");
                    schema["anyOf"] = choices;
                }
            });
        }),
        FREE.bodies("empty-definitions-in-schemas", |body| {
            for tool in tools(body) {
                for name in ["parameters", "input_schema"] {
                    if tool[name].is_object() && tool[name]["$defs"].is_null() {
                        tool[name]["$defs"] = json!({});
                    }
                }
            }
        }),
        FREE.bodies("schemas-with-titles-and-their-dialect-on-the-way", |body| {
            for tool in tools(body) {
                for name in ["parameters", "input_schema"] {
                    if tool[name].is_object() {
                        tool[name]["$schema"] = "http://json-schema.org/draft-07/schema#".into();
                        tool[name]["title"] = "Arguments".into();
                    }
                }
            }
        }),
        neglecting(&[clause::GATE_TOOLS_FULL]).bodies("schemas-without-their-small-print", |body| {
            on_schemas(body, |schema| {
                for name in ["additionalProperties", "minimum", "maximum", "minLength", "maxLength", "pattern"] {
                    if !schema[name].is_object() && !schema[name].is_null() {
                        drop_member(schema, name);
                    }
                }
            });
        }),
        FREE.at(ALL.to(ANTHROPIC)).bodies("tools-of-type-custom", |body| {
            tools(body).into_iter().for_each(|tool| tool["type"] = "custom".into());
        }),
        FREE.at(TRANSLATING.to(ANTHROPIC)).bodies("cache-marks-on-system-and-tools-on-the-way", |body| {
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
        FREE.at(TRANSLATING.from(OPENAI).to(ANTHROPIC)).body("limit-of-tokens-where-there-is-none", |course, body| {
            let request = ApiRequest::read(course.client, &course.asked);
            if !request.has_max_tokens {
                body["max_tokens"] = 16_000.into();
            }
        }),
        FREE.at(TRANSLATING.to(OPENAI)).body("parallel-calls-allowed-where-nothing-is-said", |course, body| {
            let request = ApiRequest::read(course.client, &course.asked);
            if request.parallel.is_none() && !body["tools"].is_null() {
                body["parallel_tool_calls"] = true.into();
            }
        }),
        FREE.at(TRANSLATING).body("choice-of-tools-left-to-the-model-in-words", |course, body| {
            if !body["tools"].is_null() && body["tool_choice"].is_null() {
                let is_anthropic = course.upstream == Api::Anthropic;
                body["tool_choice"] = if is_anthropic { json!({"type": "auto"}) } else { "auto".into() };
            }
        }),
        FREE.at(ALL.to(CHAT)).bodies("older-name-of-the-limit-of-tokens", |body| {
            let limit = body["max_completion_tokens"].clone();
            if !limit.is_null() {
                drop_member(body, "max_completion_tokens");
                body["max_tokens"] = limit;
            }
        }),
        FREE.at(ALL.to(OPENAI)).bodies("user-and-metadata-named-on-the-way", |body| body["user"] = "gateway".into()),
        FREE.at(ALL.to(ANTHROPIC))
            .bodies("user-named-in-metadata-on-the-way", |body| body["metadata"] = json!({"user_id": "gateway"})),
        FREE.at(ALL.to(CHAT)).bodies("one-stop-sequence-as-a-text", |body| {
            if let [one] = list(&body["stop"]) {
                body["stop"] = one.clone();
            }
        }),
        FREE.at(ALL.to(CHAT)).inside("images-with-their-detail", |value| {
            if value["type"] == "image_url" && value["image_url"].is_object() {
                value["image_url"]["detail"] = "auto".into();
            }
        }),
    ]
}

fn forms() -> Vec<Vec<Planted>> {
    vec![
        FREE.sent("body-in-ascii-on-the-way", |_, request| {
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
        FREE.sent("headers-of-the-gateway", |_, request| {
            request.headers.push(("x-request-id".to_owned(), "gateway".to_owned()));
            request.headers.push(("user-agent".to_owned(), "gateway/1".to_owned()));
        }),
        FREE.bodies("members-of-the-body-sorted", |body| {
            if let Some(members) = body.as_object_mut() {
                let mut own: Vec<_> = std::mem::take(members).into_iter().collect();
                own.sort_by(|one, other| one.0.cmp(&other.0));
                *members = own.into_iter().collect();
            }
        }),
        FREE.refusal("broken-histories-refused", |course, refusal| {
            let request = ApiRequest::read(course.client, &course.asked);
            let calls = request.messages.iter().map(|message| message.calls.len()).sum::<usize>();
            let results = request.messages.iter().filter(|message| message.speaker == Speaker::Tool).count();
            if calls != results {
                *refusal = Some(ApiError::invalid("Each call needs one result."));
            }
        }),
    ]
}
