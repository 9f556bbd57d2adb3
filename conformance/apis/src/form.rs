//! Tells requests to models by their form, and for which API they are.

use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::HashMap;
use threadspec::MemberLookup;
use threadspec::oracle::{Api, RequestForm};

/// The members of a JSON object, the values as they are written.
pub type RawMembers<'a> = HashMap<Cow<'a, str>, &'a RawValue>;

/// The members of a JSON object; `None` for anything else.
pub fn members(json: &str) -> Option<RawMembers<'_>> {
    json.trim_start().starts_with('{').then(|| serde_json::from_str(json).ok()).flatten()
}

/// Returns whether an object is an element of a request's list: a message or an item.
pub fn is_message(json: &str) -> bool {
    members(json).is_some_and(|members| members.contains_key("role") || members.contains_key("type"))
}

/// The form that the body of a request has, by what only this form has; `None` if it could be one of several [`Api`]s.
///
/// ```
/// use serde_json::json;
/// use threadspec::oracle::RequestForm;
/// use threadspec_apis::form;
/// let body = json!({"messages": [{"role": "user", "content": [{"text": "Hi"}]}]});
/// assert_eq!(form::form_of(&body), Some(RequestForm::BedrockConverse));
/// ```
pub fn form_of(body: &Value) -> Option<RequestForm> {
    if body.member("contents").is_array() && body.get("messages").is_none() {
        return Some(RequestForm::Api(Api::Gemini));
    }
    let has_setting = has_any(body, &SETTINGS_OF_BEDROCK);
    if (has_setting && api_of_messages(body).is_none())
        || is_bedrock(body.member("messages").as_array().map(Vec::as_slice).unwrap_or_default())
    {
        return Some(RequestForm::BedrockConverse);
    }
    api_of(body).map(RequestForm::Api)
}

/// Blocks of Bedrock's `Converse` that nothing else has.
const BEDROCK: &[&str] = &["toolUse", "toolResult", "reasoningContent", "cachePoint", "guardContent"];

/// Members that the bodies of `Converse` have and those of the APIs have not.
const SETTINGS_OF_BEDROCK: [&str; 4] = ["modelId", "toolConfig", "inferenceConfig", "additionalModelRequestFields"];

/// The API that the messages of a body tell.
fn api_of_messages(body: &Value) -> Option<Api> {
    body.member("messages")
        .as_array()
        .map_or(Some(Api::OpenAiResponses), |messages| messages.iter().find_map(of_message))
}

/// Returns whether messages are in the words of Bedrock's `Converse`: their blocks have no `type`, but one member by its name.
fn is_bedrock(messages: &[Value]) -> bool {
    let mut blocks =
        messages.iter().flat_map(|message| message.member("content").as_array().into_iter().flatten()).peekable();
    let has_blocks = blocks.peek().is_some();
    let (mut is_sure, mut could_be) = (false, true);
    for block in blocks {
        let is_known = BEDROCK.iter().any(|name| block.member(name).is_object());
        let is_text = block.member("text").is_string() && block.as_object().is_some_and(|members| members.len() == 1);
        is_sure |= is_known && block.member("type").is_null();
        // Others have texts without a `type`, too, beside roles that it has not, or beside an image that is its address.
        could_be &=
            is_text || is_known || ["image", "document", "video"].iter().any(|name| block.member(name).is_object());
    }
    could_be &= messages.iter().all(|message| matches!(message.member("role").as_str(), Some("user" | "assistant")));
    is_sure || (has_blocks && could_be)
}

/// The API that the body of a request is for; `None` if it could be for several.
pub fn api_of(body: &Value) -> Option<Api> {
    let messages = body.member("messages").as_array().map(Vec::as_slice).unwrap_or_default();
    let tools = body.member("tools").as_array().map(Vec::as_slice).unwrap_or_default();
    let has = |names: &[&str]| has_any(body, names);
    let of_tool = |tool: &Value| match tool {
        _ if tool.get("function").is_some() || tool.get("custom").is_some() => Some(Api::OpenAiChat),
        _ if tool.get("input_schema").is_some() => Some(Api::Anthropic),
        _ => None,
    };
    let of_messages = || messages.iter().find_map(of_message);
    api_of_settings(body).or_else(of_messages).or_else(|| tools.iter().find_map(of_tool)).or_else(|| {
        if has(&["system", "anthropic_version", "anthropic_beta", "stop_sequences"]) {
            Some(Api::Anthropic)
        } else if has(&["max_completion_tokens", "response_format", "stream_options", "functions", "n", "seed", "stop"])
            || messages.iter().any(|message| message.member("role") == "system")
        {
            Some(Api::OpenAiChat)
        } else {
            body.member("model").as_str().is_some_and(|model| model.starts_with("claude")).then_some(Api::Anthropic)
        }
    })
}

/// The API that the members beside the messages tell, in whatever words the messages are; `None` if they tell none.
///
/// ```
/// use serde_json::json;
/// use threadspec::oracle::Api;
/// use threadspec_apis::form::api_of_settings;
/// let body = json!({"model": "claude-opus-5", "system": "S", "messages": [{"role": "tool", "content": "4"}]});
/// assert_eq!(api_of_settings(&body), Some(Api::Anthropic));
/// ```
pub fn api_of_settings(body: &Value) -> Option<Api> {
    let begins = |names: &[&str]| {
        body.member("model").as_str().is_some_and(|model| names.iter().any(|name| model.starts_with(name)))
    };
    match () {
        () if body.get("messages").is_none() => Some(Api::OpenAiResponses),
        // Gateways take the words of chat completions for models of Anthropic, and the other way round.
        () if begins(&["claude"]) && has_any(body, &["system", "anthropic_version"]) => Some(Api::Anthropic),
        () if begins(&["gpt-", "chatgpt-", "o1", "o3", "o4"]) && !has_any(body, &["max_tokens", "system"]) => {
            Some(Api::OpenAiChat)
        }
        () => None,
    }
}

fn has_any(body: &Value, names: &[&str]) -> bool {
    names.iter().any(|name| !body.member(name).is_null())
}

fn of_message(message: &Value) -> Option<Api> {
    let has = |name: &str| !message.member(name).is_null();
    if matches!(message.member("role").as_str(), Some("developer" | "tool" | "function"))
        || ["tool_calls", "function_call", "tool_call_id"].iter().any(|name| has(name))
    {
        return Some(Api::OpenAiChat);
    }
    message.member("content").as_array().into_iter().flatten().find_map(|part| match part.member("type").as_str()? {
        "tool_use" | "tool_result" | "thinking" | "redacted_thinking" | "server_tool_use" | "image" | "document" => {
            Some(Api::Anthropic)
        }
        "image_url" | "input_audio" | "refusal" | "file" => Some(Api::OpenAiChat),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_api_is_told_by_what_only_it_has() {
        let user = json!({"role": "user", "content": "Hi"});
        for (body, expected) in [
            (json!({"messages": [user]}), None),
            (json!({"messages": [user], "model": "gpt-5"}), Some(Api::OpenAiChat)),
            (json!({"messages": [user], "model": "gpt-5", "max_tokens": 9}), None),
            (
                json!({"messages": [{"role": "user", "content": [{"type": "image"}]}], "model": "gpt-5"}),
                Some(Api::OpenAiChat),
            ),
            (json!({"messages": [user], "model": "claude-opus-5"}), Some(Api::Anthropic)),
            (json!({"messages": [user], "system": "S"}), Some(Api::Anthropic)),
            (
                json!({"messages": [{"role": "system", "content": "S"}, user], "model": "claude-x"}),
                Some(Api::OpenAiChat),
            ),
            (
                json!({"messages": [{"role": "system", "content": "S"}, user], "model": "claude-x", "system": "S"}),
                Some(Api::Anthropic),
            ),
            (json!({"messages": [{"role": "developer", "content": "S"}]}), Some(Api::OpenAiChat)),
            (json!({"messages": [{"role": "assistant", "tool_calls": [{}]}]}), Some(Api::OpenAiChat)),
            (json!({"messages": [{"role": "user", "content": [{"type": "tool_result"}]}]}), Some(Api::Anthropic)),
            (
                json!({"messages": [{"role": "user", "content": [{"type": "text"}, {"type": "image_url"}]}]}),
                Some(Api::OpenAiChat),
            ),
            (json!({"messages": [user], "tools": [{"type": "function", "function": {}}]}), Some(Api::OpenAiChat)),
            (json!({"messages": [user], "tools": [{"name": "t", "input_schema": {}}]}), Some(Api::Anthropic)),
            (json!({"input": "Hi"}), Some(Api::OpenAiResponses)),
        ] {
            assert_eq!(api_of(&body), expected, "{body}");
            assert_eq!(form_of(&body), expected.map(RequestForm::Api), "{body}");
        }
    }

    #[test]
    fn forms_that_no_api_here_has_are_told_apart() {
        let block = |block: Value| json!({"messages": [{"role": "user", "content": [block]}]});
        for (body, expected) in [
            (json!({"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]}), Some(RequestForm::Api(Api::Gemini))),
            (json!({"contents": []}), Some(RequestForm::Api(Api::Gemini))),
            (block(json!({"toolResult": {"toolUseId": "a", "content": []}})), Some(RequestForm::BedrockConverse)),
            (block(json!({"toolUse": {"toolUseId": "a"}})), Some(RequestForm::BedrockConverse)),
            (block(json!({"cachePoint": {"type": "default"}})), Some(RequestForm::BedrockConverse)),
            (block(json!({"text": "Hi"})), Some(RequestForm::BedrockConverse)),
            (json!({"messages": [{"role": "user", "content": [{"text": "Hi"}, {"image": "https://a/b.png"}]}]}), None),
            (json!({"messages": [{"role": "user", "content": []}, {"role": "user", "content": "Hi"}]}), None),
            (
                json!({"messages": [{"role": "user", "content": []}], "toolConfig": {}}),
                Some(RequestForm::BedrockConverse),
            ),
            (block(json!({"type": "text", "text": "Hi"})), None),
            (block(json!({"type": "tool_result"})), Some(RequestForm::Api(Api::Anthropic))),
        ] {
            assert_eq!(form_of(&body), expected, "{body}");
        }
    }
}
