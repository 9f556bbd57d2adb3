//! Checks `contents` by the rules of Gemini.
//!
//! Its JSON is that of Protocol Buffers, which takes `functionCall` and `function_call` for the same member.

use super::breach::{BreachDetail, Breaches};
use super::{has, list, model, text};
use serde_json::Value;
use std::fmt::Arguments;

pub(super) const RULES: &[&str] = &["GEM-SIGNATURE", "GEM-COUNT", "GEM-CALL-TURN", "GEM-NAME"];

const LONGEST_NAME: usize = 64;
/// In newer versions, which also take colons.
const LONGEST_NAME_NOW: usize = 128;
/// Models that demand signatures, by how their names begin. Older ones think without them, or sign some calls only.
const SIGNED: &[&str] = &["gemini-3"];

pub(super) fn judge(body: &Value, breaches: &mut Breaches) {
    let contents = list(body, "contents");
    for (position, content) in contents.iter().enumerate() {
        pairs(contents, position, breaches);
        for (number, part) in list(content, "parts").iter().enumerate() {
            for (camel, snake) in [CALL, RESPONSE] {
                if let Some(function) = member(part, camel, snake) {
                    let place = format_args!("contents[{position}].parts[{number}].{camel}.name");
                    // Refusals were reported of declared names only.
                    name(text(function, "name"), place, false, breaches);
                }
            }
        }
    }
    if let Some(last) = contents.last() {
        let open = count(last, CALL);
        if open > 0 {
            // What the API says of a request that ends so was not reported.
            let what = format!("{open} calls are at the end, and no responses behind them");
            breaches.add("GEM-COUNT", format!("contents[{}].parts", contents.len() - 1), what).certain_if(false);
        }
    }
    signatures(body, contents, breaches);
    declared(body, breaches);
}

const CALL: (&str, &str) = ("functionCall", "function_call");
const RESPONSE: (&str, &str) = ("functionResponse", "function_response");

fn member<'a>(value: &'a Value, camel: &str, snake: &str) -> Option<&'a Value> {
    [camel, snake].into_iter().find(|name| has(value, name)).map(|name| &value[name])
}

/// How many parts are calls, or responses.
fn count(content: &Value, (camel, snake): (&str, &str)) -> usize {
    list(content, "parts").iter().filter(|part| member(part, camel, snake).is_some()).count()
}

/// Returns whether the model's contents here and those behind them have as many calls as responses. Neighbours of one role were accepted
/// as one content.
fn is_even(contents: &[Value], position: usize) -> bool {
    let is_model = |content: &Value| content["role"] == "model";
    let runs = || contents.chunk_by(|one, next| is_model(one) == is_model(next));
    let (mut end, mut calls) = (0, 0);
    for (run, next) in runs().zip(runs().skip(1).map(Some).chain([None])) {
        end += run.len();
        let all = |run: &[Value], kind| run.iter().map(|content| count(content, kind)).sum::<usize>();
        if position < end {
            let responses = if is_model(&run[0]) { next.unwrap_or_default() } else { run };
            let calls = if is_model(&run[0]) { all(run, CALL) } else { calls };
            return calls == all(responses, RESPONSE);
        }
        calls = all(run, CALL);
    }
    false
}

fn pairs(contents: &[Value], position: usize, breaches: &mut Breaches) {
    let (before, content) = (position.checked_sub(1).map(|before| &contents[before]), &contents[position]);
    let place = format_args!("contents[{position}].parts");
    let open = before.map_or(0, |before| count(before, CALL));
    let responses = count(content, RESPONSE);
    if responses != open {
        let what = format!("{responses} responses are behind a content with {open} calls");
        let breach = breaches.add("GEM-COUNT", place, what);
        breach
            .with(BreachDetail::Length(responses))
            .with(BreachDetail::Max(open))
            .certain_if(!is_even(contents, position));
        if open == 0 {
            breach.variant("orphan");
        }
    }
    if count(content, CALL) == 0 {
        return;
    }
    match before {
        None => {
            breaches.add("GEM-CALL-TURN", place, "the history begins with calls");
        }
        // A stream that is kept in pieces has a text of the model before; the reports are of histories that were cut.
        Some(before) if before["role"] == "model" => {
            breaches.add("GEM-CALL-TURN", place, "the content before the calls is the model's, too").certain_if(false);
        }
        Some(_) => {}
    }
}

/// The signatures of the turn that the model has begun and not ended: behind the last words of the user.
fn signatures(body: &Value, contents: &[Value], breaches: &mut Breaches) {
    let name = model(body);
    if !SIGNED.iter().any(|known| name.starts_with(known)) {
        return;
    }
    let speaks = |content: &Value| content["role"] != "model" && count(content, RESPONSE) == 0;
    let start = contents.iter().rposition(speaks).map_or(0, |last| last + 1);
    let mut is_answer = false;
    for (position, content) in contents.iter().enumerate().skip(start) {
        if content["role"] != "model" {
            is_answer = false;
            continue;
        }
        let mut parts = list(content, "parts").iter().enumerate();
        let first = parts.find_map(|(number, part)| Some((number, part, member(part, CALL.0, CALL.1)?)));
        let Some((number, part, call)) = first else { continue };
        // The calls of one answer, of which the first is signed, may be in several contents.
        let is_first = !std::mem::replace(&mut is_answer, true);
        let signature = member(part, "thoughtSignature", "thought_signature");
        if is_first && signature.is_none_or(|signature| signature == "") {
            let place = format_args!("contents[{position}].parts[{number}].thoughtSignature");
            breaches.member("GEM-SIGNATURE", place, "is missing").name(text(call, "name"));
        }
    }
}

fn declared(body: &Value, breaches: &mut Breaches) {
    // A client library has them in its `config`.
    let of_config = list(&body["config"], "tools");
    let tools = list(body, "tools").iter().map(|tool| ("", tool)).enumerate();
    for (position, (prefix, tool)) in tools.chain(of_config.iter().map(|tool| ("config.", tool)).enumerate()) {
        let functions = member(tool, "functionDeclarations", "function_declarations").and_then(Value::as_array);
        for (number, function) in functions.into_iter().flatten().enumerate() {
            let place = format_args!("{prefix}tools[{position}].functionDeclarations[{number}].name");
            name(text(function, "name"), place, true, breaches);
        }
    }
}

fn name(name: &str, place: Arguments<'_>, is_declared: bool, breaches: &mut Breaches) {
    let begins = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    if begins && name.bytes().all(is_plain) && name.len() <= LONGEST_NAME {
        return;
    }
    let is_newer = begins && name.bytes().all(|byte| is_plain(byte) || byte == b':') && name.len() <= LONGEST_NAME_NOW;
    let fault = format_args!("is not a letter or `_` and up to 63 letters, digits, `_`, `.` and `-`: {name:?}");
    breaches.member("GEM-NAME", place, fault).certain_if(is_declared && !is_newer).name(name);
}
