//! How a request that breaks a rule is refused: the words are typed here from the reports in which clients met them, not taken from the
//! data that the code reads.

use crate::provider_rules::{api, breaches};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use threadspec::oracle::{Api, Breach, RequestContext, RequestHeaders, provider_breaches, provider_breaches_with};
use threadspec::read_json;
use threadspec_apis::{ApiError, is_refused, rule_answer, rule_context};
use threadspec_golden::{RuleEntry, provider_rules as rules};

/// A rule, the message with which its broken request is refused, and what else is known of the error.
type ExpectedAnswer = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

const CHAT: &[ExpectedAnswer] = &[
    (
        "OAI-CHAT-ANSWERED",
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: b",
        &[("param", "messages.[3].role")],
    ),
    (
        "OAI-CHAT-ORPHAN",
        "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
        &[("param", "messages.[4].role")],
    ),
    (
        "OAI-CHAT-ONE-ANSWER",
        "Invalid parameter: Duplicate value for 'tool_call_id' of 'a', in messages[2] and messages[3].",
        &[("param", "messages.[3].tool_call_id")],
    ),
    (
        "OAI-CHAT-RESULT-ID",
        "Missing parameter 'tool_call_id': messages with role 'tool' must have a 'tool_call_id'.",
        &[],
    ),
    (
        "OAI-CHAT-ID-LEN",
        "Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 64, but got a string with length 65 instead.",
        &[("code", "string_above_max_length")],
    ),
    ("OAI-CHAT-ID-UNIQUE", "Duplicate value for 'tool_call_id' of a in message[1]", &[]),
    (
        "OAI-CHAT-NAME-PATTERN",
        "Invalid 'messages[1].tool_calls[0].function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
        &[("code", "invalid_value")],
    ),
    (
        "OAI-CHAT-NAME-LEN",
        "Invalid 'messages[1].tool_calls[0].function.name': empty string. Expected a string with minimum length 1, but got an empty string instead.",
        &[],
    ),
    (
        "OAI-CHAT-ARGS-STRING",
        "Invalid type for 'messages[1].tool_calls[0].function.arguments': expected a string, but got an object instead.",
        &[("code", "invalid_type")],
    ),
    (
        "OAI-CHAT-ARGS-JSON",
        "messages.1.tool_calls.0.function.arguments: arguments must be a valid JSON object string",
        &[],
    ),
    (
        "OAI-CHAT-CALLS-NONEMPTY",
        "Invalid 'messages[1].tool_calls': empty array. Expected an array with minimum length 1, but got an empty array instead.",
        &[("code", "empty_array")],
    ),
    (
        "OAI-CHAT-MESSAGES-NONEMPTY",
        "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.",
        &[],
    ),
    (
        "OAI-CHAT-TOOLS-NONEMPTY",
        "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead.",
        &[],
    ),
    (
        "OAI-CHAT-TOOLS-MAX",
        "Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 129 instead.",
        &[("code", "array_above_max_length")],
    ),
    (
        "OAI-CHAT-TOOL-OPTIONS",
        "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.",
        &[("param", "tool_choice")],
    ),
    (
        "OAI-STRICT-SCHEMA",
        "Invalid schema for function 't': In context=('properties', 'where'), 'additionalProperties' is required to be supplied and to be false.",
        &[("param", "tools[0].function.parameters"), ("code", "invalid_function_parameters")],
    ),
    ("OAI-CHAT-CONTENT-NULL", "Invalid value for 'content': expected a string, got null.", &[]),
    (
        "OAI-CHAT-CONTENT-MAX",
        "Invalid 'messages[0].content': string too long. Expected a string with maximum length 10485760, but got a string with length 10485761 instead.",
        &[],
    ),
    (
        "OAI-CHAT-MSG-NAME",
        "Invalid 'messages[0].name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
        &[],
    ),
    (
        "DS-UTF16",
        "Failed to parse the request body as JSON: messages[0].content: lone leading surrogate in hex escape at line 1 column 80",
        &[],
    ),
];

const RESPONSES: &[ExpectedAnswer] = &[
    ("OAI-RESP-ANSWERED", "No tool output found for function call b.", &[("param", "input")]),
    ("OAI-RESP-ORPHAN", "No tool call found for function call output with call_id a.", &[("param", "input")]),
    (
        "OAI-RESP-ONE-OUTPUT",
        "Duplicate function_call_output for call_id 'a'. Each function_call must have exactly one matching function_call_output",
        &[],
    ),
    (
        "OAI-RESP-PREVIOUS",
        "Previous response with id 'resp_2' not found.",
        &[("param", "previous_response_id"), ("code", "previous_response_not_found")],
    ),
    ("OAI-RESP-INPUT-NONEMPTY", "One of 'input' or 'previous_response_id' … must be provided", &[]),
    (
        "OAI-RESP-CALLID-LEN",
        "Invalid 'input[1].call_id': string too long. Expected a string with maximum length 64, but got a string with length 65 instead.",
        &[("code", "string_above_max_length")],
    ),
    (
        "OAI-RESP-ITEM-UNIQUE",
        "Duplicate item found with id fc_1. Remove duplicate items from your input and try again.",
        &[],
    ),
    ("OAI-RESP-ITEM-PREFIX", "Invalid 'input[1].id': 'item_1'. Expected an ID that begins with 'rs'.", &[]),
    (
        "OAI-RESP-REASON-NEXT",
        "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
        &[("param", "input")],
    ),
    (
        "OAI-RESP-STORE",
        "Item with id 'msg_1' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.",
        &[("status", "404")],
    ),
    ("OAI-RESP-EXTRA", "Unknown parameter: 'input[1].status'.", &[("code", "unknown_parameter")]),
    (
        "OAI-RESP-TEXT-TYPE",
        "Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'.",
        &[("param", "input[1].content[0]")],
    ),
    ("OAI-RESP-OUTPUT-FORM", "Invalid type for function_call_output.output: expected string, received object.", &[]),
    (
        "OAI-RESP-CONTENT-MAX",
        "Invalid 'input[0].content': string too long. Expected a string with maximum length 10485760, but got a string with length 10485761 instead.",
        &[],
    ),
    (
        "OAI-STRICT-SCHEMA",
        "Invalid schema for function 't': In context=(), 'required' is required to be supplied and to be an array including every key in properties. Missing 'n'.",
        &[("param", "tools[0].parameters"), ("code", "invalid_function_parameters")],
    ),
];

const ANTHROPIC: &[ExpectedAnswer] = &[
    (
        "ANT-ANSWERED",
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: a. Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
        &[],
    ),
    (
        "ANT-ORPHAN",
        "messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: a. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.",
        &[],
    ),
    ("ANT-ONE-RESULT", "each tool_use must have a single result. Found multiple `tool_result` blocks with id: a", &[]),
    ("ANT-ID-UNIQUE", "messages.1.content.1: `tool_use` ids must be unique", &[]),
    ("ANT-ID-PATTERN", "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'", &[]),
    ("ANT-INPUT-OBJECT", "messages.1.content.0.tool_use.input: Input should be a valid dictionary", &[]),
    (
        "ANT-RESULT-FIRST",
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: a. Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
        &[],
    ),
    (
        "ANT-RESULT-TOGETHER",
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: b. Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
        &[],
    ),
    ("ANT-RESULT-CONTENT", "messages: text content blocks must be non-empty", &[]),
    ("ANT-TEXT-NONEMPTY", "messages: text content blocks must be non-empty", &[]),
    ("ANT-TEXT-WHITESPACE", "messages: text content blocks must contain non-whitespace text", &[]),
    (
        "ANT-MSG-NONEMPTY",
        "messages.1: all messages must have non-empty content except for the optional final assistant message",
        &[],
    ),
    ("ANT-TRAILING", "messages: final assistant content cannot end with trailing whitespace", &[]),
    (
        "ANT-PREFILL",
        "This model does not support assistant message prefill. The conversation must end with a user message.",
        &[],
    ),
    ("ANT-MESSAGES-NONEMPTY", "messages: at least one message is required", &[]),
    (
        "ANT-SYSTEM",
        "messages: Unexpected role \"system\". The Messages API accepts a top-level `system` parameter, not \"system\" as an input message role.",
        &[],
    ),
    (
        "ANT-THINK-FIRST",
        "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks). We recommend you include thinking blocks from previous turns. To avoid this requirement, disable `thinking`. Please consult our documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking",
        &[],
    ),
    (
        "ANT-THINK-SAME",
        "messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.",
        &[],
    ),
    ("ANT-THINK-SIGN", "messages.1.content.0.thinking.signature: Field required", &[]),
    ("ANT-THINK-CHOICE", "Thinking may not be enabled when tool_choice forces tool use.", &[]),
    (
        "ANT-UTF16",
        "The request body is not valid JSON: invalid high surrogate in string: line 1 column 147 (char 146)",
        &[],
    ),
    ("ANT-TOOL-NAME", "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'", &[]),
    ("ANT-TOOLS-UNIQUE", "tools: Tool names must be unique.", &[]),
    ("ANT-EXTRA", "messages.1.content.0.tool_use.index: Extra inputs are not permitted", &[]),
    ("ANT-CACHE-MARKS", "A maximum of 4 blocks with cache_control may be provided. Found 5.", &[]),
    ("ANT-SIZE", "Request exceeds the maximum size", &[("status", "413"), ("type", "request_too_large")]),
    ("ANT-VERSION", "anthropic-version: header is required", &[]),
    ("ANT-SAMPLING", "temperature: Extra inputs are not permitted", &[]),
];

/// Rules whose words nobody reported.
const UNKNOWN_WORDS: [&str; 2] = ["ANT-NO-DOCUMENT", "ANT-NO-CITATIONS"];

/// Rules that no request to the provider itself breaks for certain: seen once, seen at other servers only, or no longer enforced.
const WARNINGS: [&str; 7] = [
    "OAI-CHAT-ID-UNIQUE",
    "OAI-CHAT-ARGS-JSON",
    "OAI-CHAT-MSG-NAME",
    "OAI-RESP-ONE-OUTPUT",
    "OAI-RESP-INPUT-NONEMPTY",
    "OAI-RESP-ITEM-PREFIX",
    "ANT-RESULT-TOGETHER",
];

fn members(error: &ApiError, api: Api) -> Value {
    let body = error.body(api, "req_1");
    assert_eq!(body.get("request_id").is_some(), api == Api::Anthropic);
    let mut members = body["error"].clone();
    members["status"] = error.status.to_string().into();
    members
}

fn has_words(error: &ApiError, api: Api, message: &str, others: &[(&str, &str)]) -> bool {
    let members = members(error, api);
    let default = |name, value| others.iter().find(|(other, _)| *other == name).map_or(value, |(_, value)| *value);
    members["message"] == message
        && members["status"] == default("status", "400")
        && members["type"] == default("type", "invalid_request_error")
        && others.iter().all(|(name, value)| members[*name] == *value)
}

#[test]
fn each_broken_request_is_refused_in_the_words_of_the_api() {
    let mut told = Vec::new();
    for (api_of, expected) in [(Api::OpenAiChat, CHAT), (Api::OpenAiResponses, RESPONSES), (Api::Anthropic, ANTHROPIC)]
    {
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
    let all: Vec<(&str, Api)> = rules().iter().filter(unknown).map(|rule| (&*rule.id, api(&rule.api))).collect();
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
fn others() -> Vec<(Api, Value, &'static str, &'static str)> {
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
            Api::OpenAiChat,
            chat(json!([hi, call("t", json!("{}"))])),
            "OAI-CHAT-ANSWERED",
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: a",
        ),
        (
            Api::OpenAiChat,
            json!({"tools": [{"type": "function", "function": {"name": "t".repeat(81)}}], "messages": [hi]}),
            "OAI-CHAT-NAME-LEN",
            "Invalid 'tools[0].function.name': string too long. Expected a string with maximum length 64, but got a string with length 81 instead.",
        ),
        (
            Api::OpenAiChat,
            chat(json!([hi, call("t", Value::Null), answer])),
            "OAI-CHAT-ARGS-STRING",
            "Missing required parameter: 'messages[1].tool_calls[0].function.arguments'.",
        ),
        (
            Api::OpenAiChat,
            json!({"model": "gpt-4.1"}),
            "OAI-CHAT-MESSAGES-NONEMPTY",
            "Missing required parameter: 'messages'.",
        ),
        (
            Api::OpenAiChat,
            json!({"tools": [{"type": "function", "function": {"name": "t", "strict": true, "parameters": strict}}], "messages": [hi]}),
            "OAI-STRICT-SCHEMA",
            "Invalid schema for function 't': In context=(), 'required' is required to be supplied and to be an array including every key in properties. Missing 'a'.",
        ),
        (
            Api::OpenAiChat,
            json!({"parallel_tool_calls": true, "messages": [hi]}),
            "OAI-CHAT-TOOL-OPTIONS",
            "Invalid value for 'parallel_tool_calls': 'parallel_tool_calls' is only allowed when 'tools' are specified.",
        ),
        (
            Api::OpenAiResponses,
            json!({"input": [hi, function_call(""), output("", json!("4"))]}),
            "OAI-RESP-CALLID-LEN",
            "Invalid 'input[1].call_id': empty string. Expected a string with minimum length 1, but got an empty string instead.",
        ),
        (
            Api::OpenAiResponses,
            json!({"input": [{"type": "reasoning", "id": "r".repeat(394), "summary": []}, function_call("a"), output("a", json!("4"))]}),
            "OAI-RESP-ITEM-PREFIX",
            "Invalid 'input[0].id': string too long. Expected a string with maximum length 64, but got a string with length 394 instead.",
        ),
        (
            Api::OpenAiResponses,
            json!({"input": [{"type": "message", "role": "user", "content": [{"type": "output_text", "text": "Hi"}]}]}),
            "OAI-RESP-TEXT-TYPE",
            "Invalid value: 'output_text'. Supported values are: 'input_text', 'input_image', and 'input_file'.",
        ),
        (
            Api::OpenAiResponses,
            json!({"input": [hi, function_call("a"), output("a", json!([{"type": "text", "text": "4"}]))]}),
            "OAI-RESP-OUTPUT-FORM",
            "Invalid type for function_call_output.output: expected string, received list.",
        ),
        (
            Api::OpenAiResponses,
            json!({"input": [hi, function_call("a"), output("a", json!("x".repeat(10_485_761)))]}),
            "OAI-RESP-OUTPUT-FORM",
            "Invalid 'input[2].output': string too long. Expected a string with maximum length 10485760, but got a string with length 10485761 instead.",
        ),
        (
            Api::OpenAiResponses,
            json!({"tools": [{"type": "function", "name": "t", "strict": true, "parameters": {"type": "object", "properties": {}}}], "input": "Hi"}),
            "OAI-STRICT-SCHEMA",
            "Invalid schema for function 't': In context=(), 'additionalProperties' is required to be supplied and to be false.",
        ),
        (
            Api::Anthropic,
            chat(json!([hi, tool_use(json!({})), {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "a"}, {"type": "tool_result", "tool_use_id": "t:0"}]}])),
            "ANT-ID-PATTERN",
            "messages.2.content.1.tool_result.tool_use_id: String should match pattern '^[a-zA-Z0-9_-]+$'",
        ),
        (
            Api::Anthropic,
            chat(
                json!([hi, {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "t"}]}, result("a", json!("4"))]),
            ),
            "ANT-INPUT-OBJECT",
            "messages.1.content.0.tool_use.input: Field required",
        ),
        (
            Api::Anthropic,
            chat(json!([hi, tool_use(json!({})), result("a", json!(4))])),
            "ANT-RESULT-CONTENT",
            "messages.2.content.0.tool_result.content: Input should be a valid list",
        ),
        (
            Api::Anthropic,
            chat(json!([{"role": "user", "content": ""}])),
            "ANT-MSG-NONEMPTY",
            "messages.0: user messages must have non-empty content",
        ),
        (Api::Anthropic, json!({"system": "S"}), "ANT-MESSAGES-NONEMPTY", "messages: Field required"),
        (
            Api::Anthropic,
            json!({"model": "claude-opus-5", "messages": [{"role": "system", "content": "S"}, hi]}),
            "ANT-SYSTEM",
            "messages.0: use the top-level 'system' parameter for the initial system prompt",
        ),
        (
            Api::Anthropic,
            json!({"model": "claude-sonnet-5", "messages": [hi, {"role": "system", "content": "S"}]}),
            "ANT-SYSTEM",
            "role 'system' is not supported on this model",
        ),
        (
            Api::Anthropic,
            chat(
                json!([hi, {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "t".repeat(201), "input": {}}]}, result("a", json!("4"))]),
            ),
            "ANT-TOOL-NAME",
            "messages.1.content.0.tool_use.name: String should have at most 200 characters",
        ),
        (
            Api::Anthropic,
            chat(
                json!([{"role": "user", "content": [{"type": "text", "text": "Hi"}, {"type": "text", "text": "", "cache_control": {"type": "ephemeral"}}]}]),
            ),
            "ANT-CACHE-MARKS",
            "messages.0.content.1.text: cache_control cannot be set for empty text blocks",
        ),
        (
            Api::Anthropic,
            json!({"messages": vec![hi.clone(); 100_001]}),
            "ANT-SIZE",
            "messages: List should have at most 100000 items, not 100001",
        ),
    ]
}

#[test]
fn other_forms_of_a_fault_have_words_of_their_own() {
    let shown = |api: Api, breach: &Breach| format!("{api} {} {}", breach.rule, breach.variant.unwrap_or("-"));
    let mut seen = BTreeSet::new();
    let mut refused = |api: Api, breach: &Breach, text: &str, message: &str| {
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
    let body = json!({"model": "claude-sonnet-5", "messages": [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": [thinking, {"type": "text", "text": "Yes"}]},
        {"role": "user", "content": "Hi"}]});
    let said = [vec![json!({"type": "thinking", "thinking": "Hm.", "signature": "x"})]];
    let context = RequestContext { thinking: Some(&said), ..RequestContext::default() };
    let found = provider_breaches_with(Api::Anthropic, &context, &body);
    refused(Api::Anthropic, &found[0], "", "messages.1.content.0: Invalid `signature` in `thinking` block");
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

    let inside = |model: &str| json!({"model": model, "messages": [{"role": "user", "content": "Hi"}, {"role": "system", "content": "S"}]});
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
