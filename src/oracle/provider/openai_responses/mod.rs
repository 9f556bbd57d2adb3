//! Checks input items by the rules of OpenAI Responses.

mod items;

use super::breach::Breaches;
use super::{RequestContext, StoredItems, has, is_plain, list, model, not_plain, openai_tools, text};
use crate::MemberLookup;
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::fmt::Arguments;

pub(super) const RULES: &[&str] = &[
    "OAI-RESP-ANSWERED",
    "OAI-RESP-ORPHAN",
    "OAI-RESP-ONE-OUTPUT",
    "OAI-RESP-PREVIOUS",
    "OAI-RESP-INPUT-NONEMPTY",
    "OAI-RESP-CALLID-LEN",
    "OAI-RESP-ITEM-UNIQUE",
    items::TYPE,
    items::ROLE,
    items::CHAT,
    items::CONTENT,
    items::PREFIX,
    STRING,
    JSON,
    PATTERN,
    LENGTH,
    "OAI-RESP-REASON-NEXT",
    "OAI-RESP-STORE",
    "OAI-RESP-EXTRA",
    items::PART,
    "OAI-RESP-OUTPUT-FORM",
    "OAI-RESP-CONTENT-MAX",
    openai_tools::STRICT_SCHEMA,
    "OAI-RESP-UTF16",
];

/// Models that reason, by how their names begin.
const REASONING: &[&str] = &["o1", "o3", "o4", "gpt-5"];

const LONGEST_ID: usize = 64;
const LONGEST_TEXT: usize = 10_485_760;

pub(super) fn judge(body: &Value, context: &RequestContext<'_>, breaches: &mut Breaches) {
    let items = list(body, "input");
    whole(body, context, breaches);
    let mut pairs = Pairs::of(body, context);
    pairs.stored_calls(context, breaches);
    let mut ids = HashSet::new();
    for (position, item) in items.iter().enumerate() {
        let place = format_args!("input[{position}]");
        items::form(item, place, breaches);
        pairs.item(item, position, place, breaches);
        judge_calls(item, place, breaches);
        if item.member("type") == "function_call_output" {
            output(item.member("output"), format_args!("{place}.output"), breaches);
        }
        if let Some(id) = item.member("id").as_str() {
            let at = format_args!("{place}.id");
            if item.member("type") != "item_reference" && !ids.insert(id) {
                breaches.add("OAI-RESP-ITEM-UNIQUE", at, format!("the id {id:?} is repeated")).id(id);
            }
            items::own_id(item, id, at, breaches);
        }
        if item.member("type") == "reasoning" {
            reasoning(item, place, breaches);
            followed(body, position, place, breaches);
        }
        stored(item, body, context, place, breaches);
        items::parts(item, format_args!("{place}.content"), breaches);
    }
    for (position, tool) in list(body, "tools").iter().enumerate() {
        let place = format_args!("tools[{position}]");
        declared(tool, place, breaches);
        if tool.member("type") == "function" {
            openai_tools::strict(tool, place, breaches);
        }
    }
    // It was reported once whether OpenAI refuses it.
    breaches.surrogates(false, "OAI-RESP-UTF16", format_args!(""), body);
}

/// Checks the request as a whole.
fn whole(body: &Value, context: &RequestContext<'_>, breaches: &mut Breaches) {
    if let (Some(id), StoredItems::Missing) = (body.member("previous_response_id").as_str(), context.stored) {
        let what = format!("no response {id:?} is stored");
        breaches.add("OAI-RESP-PREVIOUS", "previous_response_id", what).id(id);
    }
    let is_empty = match body.member("input") {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    };
    if is_empty && ["previous_response_id", "conversation", "prompt"].iter().all(|name| body.member(name).is_null()) {
        // Known from comments in one client.
        breaches.add("OAI-RESP-INPUT-NONEMPTY", "input", "the request has no input").certain_if(false);
    }
}

/// Calls and their outputs.
struct Pairs<'a> {
    /// True if every call and output is known: what is stored may hold others.
    is_closed: bool,
    last_outputs: HashMap<&'a str, usize>,
    called: HashSet<&'a str>,
    answered: HashSet<&'a str>,
}

impl<'a> Pairs<'a> {
    /// Before the first item of the input; calls and outputs that are stored are before it.
    fn of(body: &'a Value, context: &RequestContext<'a>) -> Self {
        let items = list(body, "input");
        let refers =
            |item: &Value| matches!(text(item, "type"), "item_reference" | "compaction" | "compaction_summary");
        let names_history = !body.member("previous_response_id").is_null() || !body.member("conversation").is_null();
        let knows_history = !names_history || matches!(context.stored, StoredItems::Items(_));
        let outputs = items.iter().enumerate();
        let last_outputs =
            outputs.filter_map(|(position, item)| Some((call_id(item, "function_call_output")?, position))).collect();
        let mut pairs = Self {
            is_closed: knows_history && !items.iter().any(refers),
            last_outputs,
            called: HashSet::new(),
            answered: HashSet::new(),
        };
        for item in context.stored.items() {
            if text(item, "type").ends_with("_call") {
                pairs.called.insert(text(item, "call_id"));
            }
            if let Some(id) = call_id(item, "function_call_output") {
                pairs.answered.insert(id);
            }
        }
        pairs
    }

    /// Calls that were stored without an output, and get none.
    fn stored_calls(&self, context: &RequestContext<'_>, breaches: &mut Breaches) {
        for id in context.stored.items().iter().filter_map(|item| call_id(item, "function_call")) {
            if !self.answered.contains(id) && !self.last_outputs.contains_key(id) {
                breaches.add("OAI-RESP-ANSWERED", "input", format!("the stored call {id:?} has no output")).id(id);
            }
        }
    }

    fn item(&mut self, item: &'a Value, position: usize, place: Arguments<'_>, breaches: &mut Breaches) {
        let at_id = format_args!("{place}.call_id");
        if let Some(id) = call_id(item, "function_call") {
            length_of_id(id, at_id, breaches);
            if !self.called.insert(id) {
                // In a later round only gateways were seen to refuse it.
                let is_open = !self.answered.remove(id);
                let breach = breaches.add("OAI-RESP-ONE-OUTPUT", at_id, format!("the `call_id` {id:?} is repeated"));
                breach.certain_if(is_open).id(id);
            }
            let has_output = self.last_outputs.get(id).is_some_and(|&last| last > position);
            if self.is_closed && !has_output {
                breaches.add("OAI-RESP-ANSWERED", at_id, format!("the call {id:?} has no output")).id(id);
            }
        }
        // Calls of other types, such as `local_shell_call`, are answered in the same way.
        if item.member("type") != "function_call" && text(item, "type").ends_with("_call") {
            self.called.insert(text(item, "call_id"));
        }
        if let Some(id) = call_id(item, "function_call_output") {
            length_of_id(id, at_id, breaches);
            if !self.called.contains(id) && self.is_closed {
                breaches.add("OAI-RESP-ORPHAN", at_id, format!("no call {id:?} is before its output")).id(id);
            } else if !self.answered.insert(id) {
                breaches.add("OAI-RESP-ONE-OUTPUT", at_id, format!("the call {id:?} has an output already")).id(id);
            }
        }
    }
}

fn call_id<'a>(item: &'a Value, kind: &str) -> Option<&'a str> {
    (item.member("type") == kind).then(|| text(item, "call_id"))
}

fn length_of_id(id: &str, place: Arguments<'_>, breaches: &mut Breaches) {
    if id.is_empty() {
        breaches.member("OAI-RESP-CALLID-LEN", place, "is empty").variant("empty");
    }
    breaches.not_longer(LONGEST_ID, "OAI-RESP-CALLID-LEN", place, id);
}

fn output(output: &Value, place: Arguments<'_>, breaches: &mut Breaches) {
    let parts = ["input_text", "input_image", "input_file"];
    match output {
        Value::String(text) if text.len() > LONGEST_TEXT => {
            let length = text.chars().count();
            if length > LONGEST_TEXT {
                breaches.too_long("OAI-RESP-OUTPUT-FORM", place, [length, LONGEST_TEXT]).variant("long");
            }
        }
        Value::String(_) => {}
        Value::Array(list) if list.iter().all(|part| parts.contains(&text(part, "type"))) => {}
        _ => {
            let wanted = "a string or an array of `input_text`, `input_image` and `input_file`";
            breaches.not_a(wanted, "OAI-RESP-OUTPUT-FORM", place, output);
        }
    }
}

/// Checks that the result of a `reasoning` item follows it.
fn followed(body: &Value, position: usize, place: Arguments<'_>, breaches: &mut Breaches) {
    // It was not demanded where nothing is stored.
    if body.member("store") == false {
        return;
    }
    let next = list(body, "input")[position + 1..].iter().find(|item| item.member("type") != "reasoning");
    let is_of_model = next.is_some_and(|item| match text(item, "type") {
        "" | "message" => item.member("role") == "assistant",
        kind => !kind.ends_with("_output"),
    });
    // Refused where the server has the item: a message without its own id is another one.
    let own = list(body, "input")[position].member("id");
    let is_other = next.is_some_and(|item| {
        matches!(text(item, "type"), "" | "message")
            && item.member("id").is_null()
            && item.member("role") == "assistant"
    });
    if is_of_model && is_other && own.is_string() && body.member("store").is_null() {
        breaches
            .add("OAI-RESP-REASON-NEXT", place, "the next message is not the item that the reasoning led to")
            .certain_if(false)
            .id(text(&list(body, "input")[position], "id"));
    }
    if !is_of_model {
        let is_certain = REASONING.iter().any(|known| model(body).starts_with(known));
        let breach = breaches.add("OAI-RESP-REASON-NEXT", place, "no item of the model follows the reasoning");
        breach.certain_if(is_certain).id(text(&list(body, "input")[position], "id"));
    }
}

/// An item that the server is to look up.
fn stored(item: &Value, body: &Value, context: &RequestContext<'_>, place: Arguments<'_>, breaches: &mut Breaches) {
    let is_reasoning =
        item.member("type") == "reasoning" && item.member("encrypted_content").as_str().is_none_or(str::is_empty);
    let is_reference = item.member("type") == "item_reference";
    // Whoever knows what is stored replaces references by items.
    let is_lost = is_reference && !matches!(context.stored, StoredItems::Unknown);
    if is_lost || (body.member("store") == false && (is_reference || is_reasoning)) {
        // Without an id there is nothing to look up.
        let breach = breaches.add("OAI-RESP-STORE", place, "the item refers to one that is not stored");
        breach.certain_if(item.member("id").is_string()).id(text(item, "id"));
    }
}

fn reasoning(item: &Value, place: Arguments<'_>, breaches: &mut Breaches) {
    for (name, member) in item.as_object().into_iter().flatten() {
        // The vendor's own coding agent sends `content` as null.
        if name == "status" || member.is_null() && name != "content" {
            // The schema lets `encrypted_content` be null.
            let is_certain = name != "encrypted_content";
            let fault = format_args!("is {member}, but a `reasoning` item is sent without it");
            breaches.member("OAI-RESP-EXTRA", format_args!("{place}.{name}"), fault).certain_if(is_certain);
        }
    }
}

// Names and arguments of calls, and the names of declared tools.

const STRING: &str = "OAI-RESP-ARGS-STRING";
const JSON: &str = "OAI-RESP-ARGS-JSON";
const PATTERN: &str = "OAI-RESP-NAME-PATTERN";
const LENGTH: &str = "OAI-RESP-NAME-LEN";

const LONGEST_NAME: usize = 128;

fn judge_calls(item: &Value, place: Arguments<'_>, breaches: &mut Breaches) {
    if !matches!(text(item, "type"), "function_call" | "custom_tool_call") {
        return;
    }
    name(item, place, breaches);
    if item.member("type") == "function_call" {
        arguments(item.member("arguments"), format_args!("{place}.arguments"), breaches);
    }
}

fn declared(tool: &Value, place: Arguments<'_>, breaches: &mut Breaches) {
    if matches!(text(tool, "type"), "function" | "custom") {
        name(tool, place, breaches);
    }
}

fn name(holder: &Value, place: Arguments<'_>, breaches: &mut Breaches) {
    let place = format_args!("{place}.name");
    let name = text(holder, "name");
    if !has(holder, "name") {
        breaches.member(LENGTH, place, "is missing").variant("missing");
    } else if name.is_empty() {
        breaches.member(LENGTH, place, "is empty").variant("empty");
    } else {
        breaches.not_longer(LONGEST_NAME, LENGTH, place, name);
        if !is_plain(name) {
            breaches.member(PATTERN, place, not_plain(name)).name(name);
        }
    }
}

fn arguments(arguments: &Value, place: Arguments<'_>, breaches: &mut Breaches) {
    let Some(text) = arguments.as_str() else {
        let breach = breaches.not_a("a string", STRING, place, arguments);
        if arguments.is_null() {
            breach.variant("missing");
        }
        return;
    };
    openai_tools::arguments(text, JSON, "OAI-RESP-UTF16", place, breaches);
}
