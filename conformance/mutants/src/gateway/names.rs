//! Ids and names that the other API would refuse, made anew: one to one, and the same way in every request.

use std::collections::HashMap;
use threadspec::oracle::Api;
use threadspec_apis::{ApiRequest, WireMessage};
use threadspec_judge::protocol::Speaker;

/// The names that were made anew, with those of the client.
pub(crate) type GivenBackNames = HashMap<String, String>;

/// Gives every call of a request an id and a name that the other API takes, and every result the id of its call.
pub(crate) fn fit(request: &mut ApiRequest, api: Api) -> GivenBackNames {
    let declared: Vec<String> = request.tools.iter().filter_map(|tool| tool.name.clone()).collect();
    fit_ids(&mut request.messages, api);
    let mut renamed = GivenBackNames::new();
    let mut fitting = |name: &mut String| {
        let is_declared = declared.contains(name);
        let fitted = fit_name(name, api, is_declared);
        if fitted != *name {
            renamed.insert(fitted.clone(), std::mem::replace(name, fitted));
        }
    };
    request.tools.iter_mut().filter_map(|tool| tool.name.as_mut()).for_each(&mut fitting);
    request.messages.iter_mut().flat_map(|message| &mut message.calls).for_each(|call| fitting(&mut call.name));
    if let threadspec_apis::ToolChoice::Named(name) = &mut request.choice {
        fitting(name);
    }
    renamed
}

/// Puts results that stand elsewhere right behind the message with their calls, where the other API wants them; nothing else moves.
pub(crate) fn group_results(messages: &mut Vec<WireMessage>) {
    let mut at = 0;
    while at < messages.len() {
        let is_behind = |at: usize| at > 0 && matches!(messages[at - 1].speaker, Speaker::Tool | Speaker::Ai);
        let is_astray = messages[at].speaker == Speaker::Tool && !is_behind(at);
        let caller = is_astray
            .then(|| {
                messages[..at]
                    .iter()
                    .rposition(|one| one.calls.iter().any(|call| Some(&call.id) == messages[at].call_id.as_ref()))
            })
            .flatten();
        if let Some(caller) = caller {
            let group = messages[caller + 1..].iter().take_while(|one| one.speaker == Speaker::Tool).count();
            let result = messages.remove(at);
            messages.insert(caller + 1 + group, result);
        }
        at += 1;
    }
}

/// A call whose result may still come.
struct AwaitedCall {
    group: usize,
    id: String,
    fitted: String,
}

fn fit_ids(messages: &mut [WireMessage], api: Api) {
    let (mut seen, mut open, mut latest) = (HashMap::new(), Vec::<AwaitedCall>::new(), HashMap::new());
    for (group, message) in messages.iter_mut().enumerate() {
        if message.speaker == Speaker::Ai && api == Api::OpenAiChat {
            // It wants ids to be different inside one message alone.
            seen.clear();
        }
        for call in &mut message.calls {
            let times = seen.entry(call.id.clone()).or_insert(0_usize);
            let fitted = fit_id(&call.id, api, *times);
            *times += 1;
            latest.insert(call.id.clone(), fitted.clone());
            open.push(AwaitedCall { group, id: std::mem::replace(&mut call.id, fitted.clone()), fitted });
        }
        if let Some(id) = &mut message.call_id {
            // Of calls of the same id the last ones are answered, in their order.
            let newest = open.iter().filter(|call| call.id == *id).map(|call| call.group).max();
            let place = open.iter().position(|call| call.id == *id && Some(call.group) == newest);
            *id = match place {
                Some(place) => open.remove(place).fitted,
                None => latest.get(id).cloned().unwrap_or_else(|| fit_id(id, api, 0)),
            };
        }
    }
}

fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

/// An id that the API takes. `times` says how often the same one stood in a call before.
fn fit_id(id: &str, api: Api, times: usize) -> String {
    let length = id.chars().count();
    let (fits, prefix) = match api {
        Api::OpenAiChat => ((1..=40).contains(&length), "call_"),
        Api::OpenAiResponses => ((1..=64).contains(&length), "call_"),
        Api::Anthropic | Api::Gemini => (is_plain(id), "toolu_"),
    };
    if fits && times == 0 { id.to_owned() } else { format!("{prefix}{}", digest(&format!("{id}\0{times}"))) }
}

fn fit_name(name: &str, api: Api, is_declared: bool) -> String {
    let fits = match api {
        Api::OpenAiChat | Api::OpenAiResponses => is_plain(name) && name.len() <= 64,
        Api::Anthropic | Api::Gemini if is_declared => is_plain(name) && name.len() <= 128,
        Api::Anthropic | Api::Gemini => (1..=200).contains(&name.chars().count()),
    };
    if fits {
        return name.to_owned();
    }
    let start = name.chars().filter(char::is_ascii).map(|c| if c.is_ascii_alphanumeric() { c } else { '_' });
    format!("{}_{}", start.take(30).collect::<String>(), digest(name))
}

/// Twenty-four hexadecimal digits that stand for a text.
pub(crate) fn digest(text: &str) -> String {
    let hash = hmac_sha256::Hash::hash(text.as_bytes());
    hash[..12].iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn ids_that_differ_stay_different_and_results_follow_their_calls() {
        let call = |id: &str| json!({"id": id, "type": "function", "function": {"name": "look", "arguments": "{}"}});
        let result = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": id});
        let body = json!({"messages": [
            {"role": "assistant", "content": null, "tool_calls": [call("c.1"), call("c_1"), call("c.1")]}, result("c.1"), result("c_1"), result("c.1"),
            {"role": "assistant", "content": null, "tool_calls": [call("c_1")]}, result("c_1")]});
        let mut request = ApiRequest::read(Api::OpenAiChat, &body);
        fit(&mut request, Api::Anthropic);
        let calls: Vec<String> =
            request.messages.iter().flat_map(|message| &message.calls).map(|call| call.id.clone()).collect();
        let results: Vec<String> = request.messages.iter().filter_map(|message| message.call_id.clone()).collect();
        assert_eq!(calls, results);
        assert_eq!(calls[1], "c_1");
        assert!(calls.iter().all(|id| is_plain(id)), "{calls:?}");
        let different: std::collections::HashSet<&String> = calls.iter().collect();
        assert_eq!(different.len(), 4);
    }

    #[test]
    fn a_long_name_is_shortened_one_to_one() {
        let (one, other) = ("a".repeat(90), "a".repeat(91));
        let fitted = fit_name(&one, Api::OpenAiChat, true);
        assert!(is_plain(&fitted) && fitted.len() <= 64, "{fitted}");
        assert_ne!(fitted, fit_name(&other, Api::OpenAiChat, true));
        assert_eq!(fit_name(&one, Api::Anthropic, true), one);
    }
}
