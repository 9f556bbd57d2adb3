//! How a request that breaks a rule is refused, held against words that do not come from the data that the code reads.

use crate::provider_rules::{api, breaches};
use crate::provider_words::{ANTHROPIC, BEDROCK, CHAT, GEMINI, RESPONSES, UNKNOWN_WORDS, WARNINGS};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use threadspec::oracle::{
    Api, Breach, RequestContext, RequestForm, RequestHeaders, provider_breaches, provider_breaches_with,
};
use threadspec::read_json;
use threadspec_apis::{ApiError, is_refused, rule_answer, rule_context};
use threadspec_golden::{RuleEntry, provider_rules as rules};

fn members(error: &ApiError, api: RequestForm) -> Value {
    let RequestForm::Api(api) = api else {
        // Nobody plays these providers.
        return json!({"message": error.message, "status": error.status.to_string()});
    };
    let body = error.body(api, "req_1");
    assert_eq!(body.get("request_id").is_some(), api == Api::Anthropic);
    let mut members = body["error"].clone();
    members["status"] = error.status.to_string().into();
    members
}

fn has_words(error: &ApiError, api: RequestForm, message: &str, others: &[(&str, &str)]) -> bool {
    let members = members(error, api);
    let default = |name, value| others.iter().find(|(other, _)| *other == name).map_or(value, |(_, value)| *value);
    let kind = match api {
        RequestForm::Api(Api::Gemini) => "INVALID_ARGUMENT",
        RequestForm::Api(_) => "invalid_request_error",
        RequestForm::BedrockConverse => "ValidationException",
    };
    members["message"] == message
        && members["status"] == default("status", "400")
        && error.kind == default("type", kind)
        && others.iter().all(|(name, value)| members[*name] == *value)
}

#[test]
fn each_broken_request_is_refused_in_the_words_of_the_api() {
    let mut told = Vec::new();
    let all = [CHAT, RESPONSES, ANTHROPIC, GEMINI, BEDROCK];
    for (api_of, expected) in RequestForm::ALL.into_iter().zip(all) {
        for (id, message, others) in expected {
            let rule = rules().iter().find(|rule| rule.id == *id && api(&rule.api) == api_of).expect("a rule");
            let text = rule.broken();
            let breaches = breaches(rule, &text, true);
            let breach = breaches.iter().find(|breach| breach.rule == *id).expect("the breach");
            let error = rule_answer(breach, api_of, &text);
            assert!(has_words(&error, api_of, message, others), "{id}: {error:#?}");
            told.push((*id, api_of));
        }
    }
    let unknown = |rule: &&RuleEntry| !UNKNOWN_WORDS.contains(&&*rule.id);
    let all: Vec<(&str, RequestForm)> =
        rules().iter().filter(unknown).map(|rule| (&*rule.id, api(&rule.api))).collect();
    assert_eq!(told, all);
    assert!(rules().iter().filter(|rule| UNKNOWN_WORDS.contains(&&*rule.id)).all(|rule| rule.answer.ours));
}

#[test]
fn a_broken_request_is_refused_and_a_valid_one_is_not() {
    for rule in rules() {
        let (text, api) = (rule.broken(), api(&rule.api));
        let body = read_json(&text).expect("a body");
        let model = body["model"].as_str().unwrap_or_default();
        let headers = rule_context(rule, true, &body).headers.unwrap_or_default();
        let breaches = |text: &str, is_broken| breaches(rule, text, is_broken);
        let refused: Vec<Breach> =
            breaches(&text, true).into_iter().filter(|breach| is_refused(breach, api, model, &headers)).collect();
        let is_warning = WARNINGS.contains(&&*rule.id);
        assert_eq!(refused.first().map(|breach| breach.rule), (!is_warning).then_some(&*rule.id), "{}", rule.id);
        assert_eq!(breaches(&rule.valid(), false), []);
    }
}

/// Other forms of a fault: the body, the rule, the message.
fn others() -> Vec<(RequestForm, Value, &'static str, &'static str)> {
    let hi = json!({"role": "user", "content": "Hi"});
    let call = |name: &str, arguments: Value| json!({"role": "assistant", "tool_calls": [{"id": "a", "type": "function", "function": {"name": name, "arguments": arguments}}]});
    let answer = json!({"role": "tool", "tool_call_id": "a", "content": "4"});
    let chat = |messages: Value| json!({"messages": messages});
    let tool_use = |input: Value| json!({"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "t", "input": input}]});
    let result = |id: &str, content: Value| json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": content}]});
    let function_call = |id: &str| json!({"type": "function_call", "call_id": id, "name": "t", "arguments": "{}"});
    let output = |id: &str, output: Value| json!({"type": "function_call_output", "call_id": id, "output": output});
    let strict = json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": false});
    vec![
        (
            Api::OpenAiChat.into(),
            chat(json!([hi, call("t", json!("{}"))])),
            "OAI-CHAT-ANSWERED",
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: a",
        ),
        (
            Api::OpenAiChat.into(),
            json!({"tools": [{"type": "function", "function": {"name": "t".repeat(81)}}], "messages": [hi]}),
            "OAI-CHAT-NAME-LEN",
            "Invalid 'tools[0].function.name': string too long. Expected a string with maximum length 64, but got a string with length 81 instead.",
        ),
        (
            Api::OpenAiChat.into(),
            chat(json!([hi, call("t", Value::Null), answer])),
            "OAI-CHAT-ARGS-STRING",
            "Missing required parameter: 'messages[1].tool_calls[0].function.arguments'.",
        ),
        (
            Api::OpenAiChat.into(),
            json!({"model": "gpt-4.1"}),
            "OAI-CHAT-MESSAGES-NONEMPTY",
            "Missing required parameter: 'messages'.",
        ),
        (
            Api::OpenAiChat.into(),
            json!({"tools": [{"type": "function", "function": {"name": "t", "strict": true, "parameters": strict}}], "messages": [hi]}),
            "OAI-STRICT-SCHEMA",
            "Invalid schema for function 't': In context=(), 'required' is required to be supplied and to be an array including every key in properties. Missing 'a'.",
        ),
        (
            Api::OpenAiChat.into(),
            json!({"parallel_tool_calls": true, "messages": [hi]}),
            "OAI-CHAT-TOOL-OPTIONS",
            "Invalid value for 'parallel_tool_calls': 'parallel_tool_calls' is only allowed when 'tools' are specified.",
        ),
        (
            Api::OpenAiResponses.into(),
            json!({"input": [hi, function_call(""), output("", json!("4"))]}),
            "OAI-RESP-CALLID-LEN",
            "Invalid 'input[1].call_id': empty string. Expected a string with minimum length 1, but got an empty string instead.",
        ),
        (
            Api::OpenAiResponses.into(),
            json!({"input": [{"type": "reasoning", "id": "r".repeat(394), "summary": []}, function_call("a"), output("a", json!("4"))]}),
            "OAI-RESP-ITEM-PREFIX",
            "Invalid 'input[0].id': string too long. Expected a string with maximum length 64, but got a string with length 394 instead.",
        ),
        (
            Api::OpenAiResponses.into(),
            json!({"input": [{"type": "message", "role": "user", "content": [{"type": "output_text", "text": "Hi"}]}]}),
            "OAI-RESP-TEXT-TYPE",
            "Invalid value: 'output_text'. Supported values are: 'input_text', 'input_image', and 'input_file'.",
        ),
        (
            Api::OpenAiResponses.into(),
            json!({"input": [hi, function_call("a"), output("a", json!([{"type": "text", "text": "4"}]))]}),
            "OAI-RESP-OUTPUT-FORM",
            "Invalid type for function_call_output.output: expected string, received list.",
        ),
        (
            Api::OpenAiResponses.into(),
            json!({"input": [hi, function_call("a"), output("a", json!("x".repeat(10_485_761)))]}),
            "OAI-RESP-OUTPUT-FORM",
            "Invalid 'input[2].output': string too long. Expected a string with maximum length 10485760, but got a string with length 10485761 instead.",
        ),
        (
            Api::OpenAiResponses.into(),
            json!({"tools": [{"type": "function", "name": "t", "strict": true, "parameters": {"type": "object", "properties": {}}}], "input": "Hi"}),
            "OAI-STRICT-SCHEMA",
            "Invalid schema for function 't': In context=(), 'additionalProperties' is required to be supplied and to be false.",
        ),
        (
            Api::Anthropic.into(),
            chat(json!([hi, tool_use(json!({})), {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "a"}, {"type": "tool_result", "tool_use_id": "t:0"}]}])),
            "ANT-ID-PATTERN",
            "messages.2.content.1.tool_result.tool_use_id: String should match pattern '^[a-zA-Z0-9_-]+$'",
        ),
        (
            Api::Anthropic.into(),
            chat(
                json!([hi, {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "t"}]}, result("a", json!("4"))]),
            ),
            "ANT-INPUT-OBJECT",
            "messages.1.content.0.tool_use.input: Field required",
        ),
        (
            Api::Anthropic.into(),
            chat(json!([hi, tool_use(json!({})), result("a", json!(4))])),
            "ANT-RESULT-CONTENT",
            "messages.2.content.0.tool_result.content: Input should be a valid list",
        ),
        (
            Api::Anthropic.into(),
            chat(json!([{"role": "user", "content": ""}])),
            "ANT-MSG-NONEMPTY",
            "messages.0: user messages must have non-empty content",
        ),
        (Api::Anthropic.into(), json!({"system": "S"}), "ANT-MESSAGES-NONEMPTY", "messages: Field required"),
        (
            Api::Anthropic.into(),
            json!({"model": "claude-opus-5", "max_tokens": 9, "messages": [{"role": "system", "content": "S"}, hi]}),
            "ANT-SYSTEM",
            "messages.0: use the top-level 'system' parameter for the initial system prompt",
        ),
        (
            Api::Anthropic.into(),
            json!({"model": "claude-sonnet-5", "max_tokens": 9, "messages": [hi, {"role": "system", "content": "S"}]}),
            "ANT-SYSTEM",
            "role 'system' is not supported on this model",
        ),
        (
            Api::Anthropic.into(),
            chat(
                json!([hi, {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "t".repeat(201), "input": {}}]}, result("a", json!("4"))]),
            ),
            "ANT-TOOL-NAME",
            "messages.1.content.0.tool_use.name: String should have at most 200 characters",
        ),
        (
            Api::Anthropic.into(),
            chat(
                json!([{"role": "user", "content": [{"type": "text", "text": "Hi"}, {"type": "text", "text": "", "cache_control": {"type": "ephemeral"}}]}]),
            ),
            "ANT-CACHE-MARKS",
            "messages.0.content.1.text: cache_control cannot be set for empty text blocks",
        ),
        (
            Api::OpenAiChat.into(),
            chat(
                json!([hi, {"role": "assistant", "tool_calls": [{"id": "a", "type": null, "function": {"name": "t", "arguments": "{}"}}]}, answer]),
            ),
            "OAI-CHAT-CALL-TYPE",
            "Invalid type for 'messages[1].tool_calls[0].type': expected one of 'function', 'all...ols', or 'custom', but got null instead.",
        ),
        (
            Api::OpenAiChat.into(),
            chat(
                json!([hi, {"role": "assistant", "tool_calls": [{"id": "a", "type": "tool", "function": {"name": "t", "arguments": "{}"}}]}, answer]),
            ),
            "OAI-CHAT-CALL-TYPE",
            "Invalid value: 'tool'. Supported values are: 'function', 'allowed_tools', and 'custom'.",
        ),
        (
            Api::OpenAiChat.into(),
            chat(json!([{"content": "Hi"}])),
            "OAI-CHAT-ROLE",
            "Missing required parameter: 'messages[0].role'.",
        ),
        (
            Api::OpenAiChat.into(),
            chat(json!([{"role": "user", "content": ["Hi"]}])),
            "OAI-CHAT-CONTENT-TYPE",
            "Invalid type for 'messages[0].content[0]': expected an object, but got a string instead.",
        ),
        (
            Api::OpenAiChat.into(),
            chat(
                json!([hi, call("t", json!("{}")), {"role": "tool", "tool_call_id": "a", "content": [{"name": "x"}]}]),
            ),
            "OAI-CHAT-CONTENT-TYPE",
            "Missing required parameter: 'messages[2].content[0].type'.",
        ),
        (
            Api::OpenAiResponses.into(),
            json!({"input": [{"role": "user"}]}),
            "OAI-RESP-CONTENT-TYPE",
            "Missing required parameter: 'input[0].content'.",
        ),
        (
            Api::OpenAiResponses.into(),
            json!({"input": [{"role": "user", "content": ["Hi"]}]}),
            "OAI-RESP-CONTENT-TYPE",
            "Invalid type for 'input[0].content[0]': expected an object, but got a string instead.",
        ),
        (
            Api::OpenAiResponses.into(),
            json!({"input": [{"role": "user", "content": [{"text": "Hi"}]}]}),
            "OAI-RESP-CONTENT-TYPE",
            "Missing required parameter: 'input[0].content[0].type'.",
        ),
        (
            Api::OpenAiResponses.into(),
            json!({"input": [hi, {"type": "function_call", "id": "", "call_id": "a", "name": "t", "arguments": "{}"}, output("a", json!("4"))]}),
            "OAI-RESP-ITEM-PREFIX",
            "Invalid 'input[1].id': ''. Expected an ID that contains letters, numbers, underscores, or dashes, but this value contained additional characters.",
        ),
        (
            Api::OpenAiResponses.into(),
            json!({"input": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]}),
            "OAI-RESP-TEXT-TYPE",
            "Invalid value: 'image_url'. Supported values are: 'input_text', 'input_image', 'output_text', 'refusal', 'input_file', 'computer_screenshot', 'summary_text', and 'encrypted_content'.",
        ),
        (
            Api::OpenAiResponses.into(),
            json!({"input": [hi, {"type": "function_call", "call_id": "a", "name": "t"}, output("a", json!("4"))]}),
            "OAI-RESP-ARGS-STRING",
            "Missing required parameter: 'input[1].arguments'.",
        ),
        (
            Api::OpenAiResponses.into(),
            json!({"input": [hi, {"type": "function_call", "call_id": "a", "name": "", "arguments": "{}"}, output("a", json!("4"))]}),
            "OAI-RESP-NAME-LEN",
            "Invalid 'input[1].name': empty string. Expected a string with minimum length 1, but got an empty string instead.",
        ),
        (
            Api::OpenAiResponses.into(),
            json!({"tools": [{"type": "function", "name": "t".repeat(130)}], "input": "Hi"}),
            "OAI-RESP-NAME-LEN",
            "Invalid 'tools[0].name': string too long. Expected a string with maximum length 128, but got a string with length 130 instead.",
        ),
        (
            Api::Anthropic.into(),
            chat(json!([{"role": "user"}])),
            "ANT-CONTENT-TYPE",
            "messages.0.content: Field required",
        ),
        (
            Api::Anthropic.into(),
            chat(json!([{"role": "user", "content": [7]}])),
            "ANT-CONTENT-TYPE",
            "messages.0.content.0: Input should be an object",
        ),
        (
            Api::Anthropic.into(),
            chat(json!([{"role": "user", "content": [{"text": "Hi"}]}])),
            "ANT-CONTENT-TYPE",
            "messages.0.content.0.type: Field required",
        ),
        (Api::Anthropic.into(), chat(json!([{"content": "Hi"}])), "ANT-ROLE", "messages.0.role: Field required"),
        (
            Api::Anthropic.into(),
            json!({"model": "claude-sonnet-5", "max_tokens": "9", "messages": [hi]}),
            "ANT-MAX-TOKENS",
            "max_tokens: Input should be a valid integer",
        ),
        (
            Api::Anthropic.into(),
            chat(
                json!([hi, {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "", "input": {}}]}, result("a", json!("4"))]),
            ),
            "ANT-TOOL-NAME",
            "messages.1.content.0.tool_use.name: String should have at least 1 character",
        ),
        (
            Api::Anthropic.into(),
            chat(
                json!([hi, {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "get weather", "input": {}}]}, result("a", json!("4"))]),
            ),
            "ANT-TOOL-NAME",
            "messages.1.content.0.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
        ),
        (
            Api::Gemini.into(),
            json!({"contents": [{"role": "user", "parts": [{"functionResponse": {"name": "t", "response": {}}}]}]}),
            "GEM-COUNT",
            "Please ensure that function response turn comes immediately after a function call turn.",
        ),
        (
            RequestForm::BedrockConverse,
            chat(json!([{"role": "user", "content": []}])),
            "BED-BLANK",
            "The content field in the Message object at messages.0 is empty. Add a ContentBlock object to the content field and try again.",
        ),
        (
            RequestForm::BedrockConverse,
            chat(json!([{"role": "assistant", "content": [{"text": "Yes"}]}])),
            "BED-ALTERNATE",
            "A conversation must start with a user message. Try again with a conversation that starts with a user message.",
        ),
        (
            RequestForm::BedrockConverse,
            json!({"messages": [], "toolConfig": {"tools": [{"toolSpec": {"name": "t"}}, {"toolSpec": {"name": "tttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttt"}}]}}),
            "BED-NAME",
            "Value 'tttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttt' at 'toolConfig.tools.1.toolSpec.name' failed to satisfy constraint: Member must have length less than or equal to 64",
        ),
        (
            Api::Anthropic.into(),
            chat(json!([hi, {"role": "assistant", "content": [
                {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}]}, {"role": "user", "content": "And?"}])),
            "ANT-ANSWERED",
            "messages.1: `web_search` tool use with id `srvtoolu_1` was found without a corresponding `web_search_tool_result` block",
        ),
        (
            Api::Anthropic.into(),
            chat(json!([{"role": "user", "content": "Hi", "name": "Init"}])),
            "ANT-EXTRA",
            "messages.0.name: Extra inputs are not permitted",
        ),
        (
            Api::Anthropic.into(),
            chat(json!([hi, {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": "x", "cache_control": {"type": "ephemeral"}}, {"type": "text", "text": "Yes"}]}, hi])),
            "ANT-EXTRA",
            "messages.1.content.0.thinking.cache_control: Extra inputs are not permitted",
        ),
        (
            Api::Anthropic.into(),
            json!({"messages": vec![hi.clone(); 100_001]}),
            "ANT-SIZE",
            "messages: List should have at most 100000 items, not 100001",
        ),
    ]
}

#[test]
fn other_forms_of_a_fault_have_words_of_their_own() {
    let shown = |api: RequestForm, breach: &Breach| format!("{api} {} {}", breach.rule, breach.variant.unwrap_or("-"));
    let mut seen = BTreeSet::new();
    let mut refused = |api: RequestForm, breach: &Breach, text: &str, message: &str| {
        seen.insert(shown(api, breach));
        assert_eq!(rule_answer(breach, api, text).message, message, "{breach:?}");
    };
    for (api, body, rule, message) in others() {
        let text = body.to_string();
        let breaches = provider_breaches(api, &text).expect("a body");
        let breach = breaches.iter().find(|breach| breach.rule == rule).expect(rule);
        refused(api, breach, &text, message);
    }
    // A signature that nobody sent.
    let thinking = json!({"type": "thinking", "thinking": "Hm.", "signature": "forged"});
    let body = json!({"model": "claude-sonnet-5", "max_tokens": 9, "messages": [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": [thinking, {"type": "text", "text": "Yes"}]},
        {"role": "user", "content": "Hi"}]});
    let said = [vec![json!({"type": "thinking", "thinking": "Hm.", "signature": "x"})]];
    let context = RequestContext { thinking: Some(&said), ..RequestContext::default() };
    let found = provider_breaches_with(Api::Anthropic, &context, &body);
    refused(Api::Anthropic.into(), &found[0], "", "messages.1.content.0: Invalid `signature` in `thinking` block");
    for rule in rules() {
        let found = breaches(rule, &rule.broken(), true);
        seen.extend(found.iter().filter(|breach| breach.rule == rule.id).map(|breach| shown(api(&rule.api), breach)));
    }
    let all: BTreeSet<String> = rules()
        .iter()
        .flat_map(|rule| {
            let variants = rule.variants.keys().map(String::as_str);
            ["-"]
                .into_iter()
                .chain(variants)
                .map(|variant| format!("{} {} {variant}", rule.api, rule.id))
                .collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(seen, all, "every answer in the data is given to some request");
}

/// The parser stops where the other half is missing.
#[test]
fn half_a_surrogate_pair_is_shown_to_the_character() {
    let said = |text: &str| {
        let breaches = provider_breaches(Api::Anthropic, text).expect("a body");
        rule_answer(&breaches[0], Api::Anthropic, text).message
    };
    let body = |half: &str| format!(r#"{{"messages": [{{"role": "user", "content": "é{half}"}}]}}"#);
    let words = "The request body is not valid JSON:";
    assert_eq!(said(&body("\\ud83d.")), format!("{words} no low surrogate in string: line 1 column 51 (char 50)"));
    assert_eq!(said(&body("\\udE00")), format!("{words} invalid high surrogate in string: line 1 column 45 (char 44)"));
    assert_eq!(
        said(&body("\\ud83d\\u0041").replace(", ", ",\n")),
        format!("{words} invalid low surrogate in string: line 2 column 20 (char 50)")
    );
}

/// A rule that only some versions, betas or models have is not answered elsewhere.
#[test]
fn what_does_not_apply_is_not_refused() {
    let version = |version| RequestHeaders { anthropic_version: Some(version), anthropic_beta: "" };
    let found = |body: &Value, headers: RequestHeaders<'_>| {
        let context = RequestContext { headers: Some(headers), ..RequestContext::default() };
        provider_breaches_with(Api::Anthropic, &context, body)
    };
    let sampling = json!({"top_k": 1, "messages": [{"role": "user", "content": "Hi"}]});
    assert_eq!(found(&sampling, version("2023-06-01")), []);
    let breach = &found(&sampling, version("2026-10-21"))[0];
    assert!(is_refused(breach, Api::Anthropic, "claude-sonnet-5", &version("2026-10-21")));
    assert!(!is_refused(breach, Api::Anthropic, "claude-sonnet-5", &version("2023-06-01")));

    let inside = |model: &str| json!({"model": model, "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}, {"role": "system", "content": "S"}]});
    let beta = RequestHeaders { anthropic_beta: "mid-conversation-system-2026-04-07", ..version("2023-06-01") };
    for (model, headers, broken, refused) in [
        ("claude-opus-5", version("2023-06-01"), false, false),
        ("claude-sonnet-5", version("2023-06-01"), true, true),
        ("claude-sonnet-5", beta, true, true),
        ("claude-haiku-6", beta, false, false),
        ("claude-haiku-6", version("2023-06-01"), true, false),
        ("us.anthropic.claude-3-haiku", beta, true, true),
    ] {
        let breaches = found(&inside(model), headers);
        assert_eq!(breaches.len(), usize::from(broken), "{model}: {breaches:?}");
        assert_eq!(
            breaches.iter().any(|breach| is_refused(breach, Api::Anthropic, model, &headers)),
            refused,
            "{model}"
        );
    }

    let cut = r#"{"messages": [{"role": "user", "content": "cut \ud83d"}]}"#;
    let breach = &provider_breaches(Api::OpenAiChat, cut).expect("a body")[0];
    assert!(!is_refused(breach, Api::OpenAiChat, "gpt-4.1", &RequestHeaders::default()));
}
