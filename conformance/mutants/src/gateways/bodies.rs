//! What bugs and readings change in the body for the upstream, whatever its API.

pub(super) use crate::agent::taps::each as deep;
pub(super) use crate::wire::{history, without as drop_member};
use serde_json::Value;
use threadspec_apis::argument_text;
use threadspec_judge::json::{list, text};
use threadspec_judge::universal::value;

/// Who says a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Who {
    System,
    User,
    Model,
}

/// A call of the history.
pub(super) struct CallOf<'a> {
    pub(super) id: &'a mut Value,
    pub(super) name: &'a mut Value,
    /// A text, or with Anthropic the value.
    pub(super) args: &'a mut Value,
}

/// The result of a call.
pub(super) struct ResultOf<'a> {
    pub(super) id: &'a mut Value,
    pub(super) content: &'a mut Value,
}

fn elements<'a>(value: &'a mut Value, name: &str) -> impl Iterator<Item = &'a mut Value> {
    value.get_mut(name).and_then(Value::as_array_mut).into_iter().flatten()
}

/// Every message, item or block that can be a call or a result.
fn holders(body: &mut Value) -> Vec<&mut Value> {
    let mut holders = Vec::new();
    for message in history(body) {
        if message["tool_calls"].is_array() {
            holders.extend(elements(message, "tool_calls"));
        } else if list(&message["content"])
            .iter()
            .any(|block| matches!(text(&block["type"]), "tool_use" | "tool_result"))
        {
            holders.extend(elements(message, "content"));
        } else {
            holders.push(message);
        }
    }
    holders
}

/// The calls of the history.
pub(super) fn calls(body: &mut Value) -> Vec<CallOf<'_>> {
    let call = |holder: &'_ Value| matches!(text(&holder["type"]), "function" | "function_call" | "tool_use");
    holders(body).into_iter().filter(|holder| call(holder)).filter_map(call_of).collect()
}

fn call_of(holder: &mut Value) -> Option<CallOf<'_>> {
    let (mut id, mut name, mut args) = (None, None, None);
    let has_call_id = !holder["call_id"].is_null();
    for (member, value) in holder.as_object_mut()? {
        match &**member {
            "call_id" => id = Some(value),
            "id" if !has_call_id => id = Some(value),
            "name" => name = Some(value),
            "arguments" | "input" => args = Some(value),
            "function" => {
                for (member, value) in value.as_object_mut()? {
                    match &**member {
                        "name" => name = Some(value),
                        "arguments" => args = Some(value),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    Some(CallOf { id: id?, name: name?, args: args? })
}

/// The results of the history.
pub(super) fn results(body: &mut Value) -> Vec<ResultOf<'_>> {
    let is_one = |holder: &Value| {
        holder["role"] == "tool" || matches!(text(&holder["type"]), "function_call_output" | "tool_result")
    };
    holders(body).into_iter().filter(|holder| is_one(holder)).filter_map(result_of).collect()
}

fn result_of(holder: &mut Value) -> Option<ResultOf<'_>> {
    let (mut id, mut content) = (None, None);
    for (member, value) in holder.as_object_mut()? {
        match &**member {
            "tool_call_id" | "call_id" | "tool_use_id" => id = Some(value),
            "content" | "output" => content = Some(value),
            _ => {}
        }
    }
    Some(ResultOf { id: id?, content: content? })
}

/// The ids of results, those without a content, too.
pub(super) fn result_ids(body: &mut Value) -> Vec<&mut Value> {
    let id_of = |holder: &mut Value| -> Option<&'static str> {
        ["tool_call_id", "tool_use_id", "call_id"].into_iter().find(|name| holder[*name].is_string())
    };
    let is_call = |holder: &Value| holder["type"] == "function_call";
    let holders = holders(body).into_iter().filter(|holder| !is_call(holder));
    holders
        .filter_map(|holder| {
            let name = id_of(holder)?;
            holder.get_mut(name)
        })
        .collect()
}

/// Changes the texts of results, those of parts, too.
pub(super) fn on_results(body: &mut Value, change: impl Fn(&str) -> String) {
    for ResultOf { content, .. } in results(body) {
        on_content(content, &change);
    }
}

/// Changes every id, of calls and of their results, the same way.
pub(super) fn on_ids(body: &mut Value, change: impl Fn(&str) -> String) {
    calls(body).into_iter().for_each(|call| *call.id = change(text(call.id)).into());
    result_ids(body).into_iter().for_each(|id| *id = change(text(id)).into());
}

/// Changes the texts of a content.
pub(super) fn on_content(content: &mut Value, change: &dyn Fn(&str) -> String) {
    match content {
        Value::String(text) => *text = change(text),
        Value::Array(parts) => {
            for text in parts.iter_mut().filter_map(|part| part.get_mut("text")) {
                on_content(text, change);
            }
        }
        _ => {}
    }
}

/// Changes the arguments of calls.
pub(super) fn on_args(body: &mut Value, change: impl Fn(&mut Value)) {
    calls(body).into_iter().for_each(|call| edit_args(call.args, &change));
}

/// Changes arguments, whether they are a text or a value.
pub(super) fn edit_args(args: &mut Value, change: &dyn Fn(&mut Value)) {
    match args {
        Value::String(text) => {
            let Ok(mut read) = value::read(text) else { return };
            let before = read.clone();
            change(&mut read);
            if read != before {
                *text = argument_text(&read);
            }
        }
        other => change(other),
    }
}

/// The texts of the history that are no results, each with who says it.
pub(super) fn texts(body: &mut Value) -> Vec<(Who, &mut Value)> {
    let mut texts = Vec::new();
    let name = if body["input"].is_null() { "messages" } else { "input" };
    for (member, value) in body.as_object_mut().into_iter().flatten() {
        match &**member {
            "system" | "instructions" => texts.extend(of_content(value).into_iter().map(|text| (Who::System, text))),
            member if member == name => {
                for message in value.as_array_mut().into_iter().flatten() {
                    let who = match text(&message["role"]) {
                        "system" | "developer" => Who::System,
                        "user" => Who::User,
                        "assistant" => Who::Model,
                        _ => continue,
                    };
                    let content = message.get_mut("content").into_iter().flat_map(of_content);
                    texts.extend(content.map(|text| (who, text)));
                }
            }
            _ => {}
        }
    }
    texts
}

fn of_content(content: &mut Value) -> Vec<&mut Value> {
    match content {
        Value::String(_) => vec![content],
        Value::Array(parts) => parts.iter_mut().filter_map(|part| part.get_mut("text")).collect(),
        _ => Vec::new(),
    }
}

/// Changes the texts of those who are meant.
pub(super) fn on_texts(body: &mut Value, meant: &[Who], change: impl Fn(&str) -> String) {
    for (_, said) in texts(body).into_iter().filter(|(who, _)| meant.contains(who)) {
        *said = change(text(said)).into();
    }
}

/// The declarations of the tools of a body.
pub(super) fn tools(body: &mut Value) -> Vec<&mut Value> {
    elements(body, "tools")
        .map(|tool| if tool["function"].is_object() { &mut tool["function"] } else { tool })
        .collect()
}

/// Changes the schemas of the tools.
pub(super) fn on_schemas(body: &mut Value, change: impl Fn(&mut Value)) {
    for tool in tools(body) {
        let name = if tool["input_schema"].is_object() { "input_schema" } else { "parameters" };
        if let Some(schema) = tool.get_mut(name) {
            deep(schema, &change);
        }
    }
}

/// Where images stand in a content or an output, as the parts that hold them.
pub(super) fn is_image(part: &Value) -> bool {
    matches!(text(&part["type"]), "image" | "image_url" | "input_image")
}

/// Changes every list of parts that has an image.
pub(super) fn on_images(body: &mut Value, change: impl Fn(&mut Vec<Value>)) {
    deep(body, &|value| {
        if let Some(parts) = value.as_array_mut().filter(|parts| parts.iter().any(is_image)) {
            change(parts);
        }
    });
}
