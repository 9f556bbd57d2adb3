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
        "OAI-CHAT-CALL-TYPE",
        "Missing required parameter: 'messages[1].tool_calls[0].type'.",
        &[("param", "messages[1].tool_calls[0].type"), ("code", "missing_required_parameter")],
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
    (
        "OAI-CHAT-ROLE",
        "Invalid value: 'human'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.",
        &[("param", "messages[0].role"), ("code", "invalid_value")],
    ),
    (
        "OAI-CHAT-CONTENT-TYPE",
        "Invalid type for 'messages[2].content': expected one of a string or array of objects, but got an object instead.",
        &[("param", "messages[2].content"), ("code", "invalid_type")],
    ),
    (
        "OAI-CHAT-PART-TYPE",
        "Invalid value: 'image'. Supported values are: 'text', 'image_url', 'input_audio', 'refusal', 'audio', and 'file'.",
        &[("param", "messages[0].content[1].type")],
    ),
    (
        "OAI-CHAT-IMAGE",
        "Invalid 'messages[2]'. Image URLs are only allowed for messages with role 'user', but this message with role 'tool' contains an image URL.",
        &[("param", "messages[2]"), ("code", "invalid_value")],
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
    (
        "OAI-RESP-ITEM-TYPE",
        "Invalid value: 'output_text'. Supported values are: 'additional_tools', 'agent_message', 'apply_patch_call', 'apply_patch_call_output', 'code_interpreter_call', 'compaction', 'compaction_trigger', 'computer_call', 'computer_call_output', 'custom_tool_call', 'custom_tool_call_output', 'file_search_call', 'function_call', 'function_call_output', 'image_generation_call', 'item_reference', 'local_shell_call', 'local_shell_call_output', 'mcp_approval_request', 'mcp_approval_response', 'mcp_call', 'mcp_list_tools', 'message', 'multi_agent_call', 'multi_agent_call_output', 'program', 'program_output', 'reasoning', 'shell_call', 'shell_call_output', 'tool_search_call', 'tool_search_output', and 'web_search_call'.",
        &[("param", "input[1]"), ("code", "invalid_value")],
    ),
    (
        "OAI-RESP-ROLE",
        "Invalid value: 'tool'. Supported values are: 'assistant', 'system', 'developer', and 'user'.",
        &[("param", "input[3]"), ("code", "invalid_value")],
    ),
    ("OAI-RESP-CHAT-CALLS", "Unknown parameter: 'input[1].tool_calls'.", &[("code", "unknown_parameter")]),
    (
        "OAI-RESP-CONTENT-TYPE",
        "Invalid type for 'input[0].content': expected one of an array of objects or string, but got an object instead.",
        &[("param", "input[0].content"), ("code", "invalid_type")],
    ),
    (
        "OAI-RESP-ITEM-PREFIX",
        "Invalid 'input[1].id': 'call_a'. Expected an ID that begins with 'fc'.",
        &[("param", "input[1].id"), ("code", "invalid_id_prefix")],
    ),
    (
        "OAI-RESP-ARGS-STRING",
        "Invalid type for 'input[1].arguments': expected a string, but got an object instead.",
        &[("param", "input[1].arguments"), ("code", "invalid_type")],
    ),
    ("OAI-RESP-ARGS-JSON", "Responses function_call arguments are invalid JSON: Expecting ',' delimiter", &[]),
    (
        "OAI-RESP-NAME-PATTERN",
        "Invalid 'input[1].name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
        &[],
    ),
    ("OAI-RESP-NAME-LEN", "Missing required parameter: 'tools[0].name'.", &[("code", "missing_required_parameter")]),
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
    ("ANT-CONTENT-TYPE", "messages.0.content: Input should be a valid array", &[]),
    (
        "ANT-BLOCK-TYPE",
        "messages.0.content.1: Input tag 'image_url' found using 'type' does not match any of the expected tags",
        &[],
    ),
    ("ANT-IMAGE", "messages.1.content: 'image' blocks are not permitted within assistant turns", &[]),
    ("ANT-ROLE", "messages: Unexpected role \"tool\". Allowed roles are \"user\" or \"assistant\".", &[]),
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
    ("ANT-MAX-TOKENS", "max_tokens: Field required", &[]),
    ("ANT-VERSION", "anthropic-version: header is required", &[]),
    ("ANT-SAMPLING", "temperature: Extra inputs are not permitted", &[]),
];

/// What Gemini says.
pub(super) const GEMINI: &[ExpectedAnswer] = &[
    (
        "GEM-SIGNATURE",
        "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance.",
        &[],
    ),
    (
        "GEM-COUNT",
        "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
        &[],
    ),
    (
        "GEM-CALL-TURN",
        "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
        &[],
    ),
    (
        "GEM-NAME",
        "Invalid function name. Must start with a letter or an underscore. Must be alphameric (a-z, A-Z, 0-9), underscores (_), dots (.) or dashes (-), with a maximum length of 64.",
        &[],
    ),
];

/// What Bedrock says.
pub(super) const BEDROCK: &[ExpectedAnswer] = &[
    ("BED-ANSWERED", "Expected toolResult blocks at messages.2.content for the following Ids: b", &[]),
    (
        "BED-COUNT",
        "The number of toolResult blocks at messages.2.content exceeds the number of toolUse blocks of previous turn.",
        &[],
    ),
    ("BED-TOOLCONFIG", "The toolConfig field must be defined when using toolUse and toolResult content blocks.", &[]),
    (
        "BED-BLANK",
        "The text field in the ContentBlock object at messages.0.content.1 is blank. Add text to the text field, and try again.",
        &[],
    ),
    (
        "BED-ERROR-CONTENT",
        "The content field at messages.2.content.0.toolResult cannot be empty when status value is error.",
        &[],
    ),
    (
        "BED-ALTERNATE",
        "A conversation must alternate between user and assistant roles. Make sure the conversation alternates between user and assistant roles and try again.",
        &[],
    ),
    (
        "BED-NAME",
        "Value 'mcp.t' at 'messages.1.content.0.toolUse.name' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_-]+",
        &[],
    ),
];

/// Rules whose words nobody reported.
pub(super) const UNKNOWN_WORDS: [&str; 3] = ["OAI-RESP-UTF16", "ANT-NO-DOCUMENT", "ANT-NO-CITATIONS"];

/// Rules that no request to the provider itself breaks for certain: seen once, seen at other servers only, or no longer enforced.
pub(super) const WARNINGS: [&str; 9] = [
    "OAI-CHAT-ID-UNIQUE",
    "OAI-CHAT-ARGS-JSON",
    "OAI-CHAT-MSG-NAME",
    "OAI-RESP-ONE-OUTPUT",
    "OAI-RESP-INPUT-NONEMPTY",
    "OAI-RESP-ARGS-JSON",
    "OAI-RESP-UTF16",
    "ANT-RESULT-TOGETHER",
    "BED-ERROR-CONTENT",
];
