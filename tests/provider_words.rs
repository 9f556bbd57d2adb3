//! The words in which real providers refuse what breaks a rule, typed from the reports in which clients met them, not taken from the data that
//! the code reads.

/// A rule, the message with which its broken request is refused, and what else is known of the error.
pub(super) type ExpectedAnswer = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

pub(super) const CHAT: &[ExpectedAnswer] = &[
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

pub(super) const RESPONSES: &[ExpectedAnswer] = &[
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

pub(super) const ANTHROPIC: &[ExpectedAnswer] = &[
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
pub(super) const UNKNOWN_WORDS: [&str; 2] = ["ANT-NO-DOCUMENT", "ANT-NO-CITATIONS"];

/// Rules that no request to the provider itself breaks for certain: seen once, seen at other servers only, or no longer enforced.
pub(super) const WARNINGS: [&str; 7] = [
    "OAI-CHAT-ID-UNIQUE",
    "OAI-CHAT-ARGS-JSON",
    "OAI-CHAT-MSG-NAME",
    "OAI-RESP-ONE-OUTPUT",
    "OAI-RESP-INPUT-NONEMPTY",
    "OAI-RESP-ITEM-PREFIX",
    "ANT-RESULT-TOGETHER",
];
