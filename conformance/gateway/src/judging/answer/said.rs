//! Judges what the client reads of an answer: GATE-SAID, GATE-INVENTED, GATE-IDS, GATE-THINKING, GATE-OPAQUE.

use super::Answer;
use crate::finding::{differing, differing_json, quoted};
use crate::judging::request::{TextChange, common_row, compare, is_same};
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use threadspec::oracle::Api;
use threadspec::surrogates::{has_marks, unmark_surrogates, without_marks};
use threadspec_apis::sse::SseEvent;
use threadspec_apis::{ReadAnswer, SaidCall};
use threadspec_golden::clause;
use threadspec_judge::json::{is_extreme, list};
use threadspec_judge::universal::value;
use threadspec_provider::{Said, SaidByModel, SaidThought, WireLevel};

const CLAUSE: &str = clause::GATE_SAID;

/// Returns whether a gateway may refuse to pass an answer on: no other API could say it, or nobody could use it.
pub(super) fn may_be_refused(said: &Said) -> bool {
    let mut ids = HashSet::new();
    let is_odd = |call: &SaidByModel| {
        has_marks(&call.arguments)
            || is_extreme(&call.arguments)
            || args_of(&call.arguments).is_none()
            || call.name.is_empty()
    };
    has_marks(&said.text) || said.calls.iter().any(|call| is_odd(call) || !ids.insert(&call.id))
}

pub(super) fn judge_said(answer: &mut Answer<'_, '_>, said: &Said, read: &ReadAnswer) {
    judge_text(answer, said, read);
    judge_calls(answer, said, read);
}

fn judge_text(answer: &mut Answer<'_, '_>, said: &Said, read: &ReadAnswer) {
    // A refusal may be reported as a text.
    let expected = said.refusal.as_ref().filter(|_| said.text.is_empty()).unwrap_or(&said.text);
    let refusal = read.answer.refusal.clone().unwrap_or_default();
    let got = if read.answer.text.trim().is_empty() { &refusal } else { &read.answer.text };
    for change in compare(&[expected], &[got]).changes {
        if let TextChange::Added(_, text) = change {
            let is_it = |thought: &str| !thought.is_empty() && text.contains(thought);
            let is_thought = said.thoughts.iter().any(|thought| is_it(thought.text.trim()));
            let level = if is_thought { WireLevel::Note } else { WireLevel::Must };
            let what = format!("the client reads the text {}, which the model did not say", quoted(&text));
            answer.add(clause::GATE_INVENTED, level, what, Some(said), &text);
        } else {
            let [was, is] = differing(&without_marks(expected), &without_marks(got));
            let what = format!("the model sent the text {was}, and the client reads {is}");
            answer.must(CLAUSE, what, Some(said), "");
        }
    }
}

fn judge_calls(answer: &mut Answer<'_, '_>, said: &Said, read: &ReadAnswer) {
    let (ours, theirs) = (&said.calls, &read.answer.calls);
    let names = &answer.judging.names;
    let wanted: Vec<String> = ours.iter().map(|call| names.back(&call.name).to_owned()).collect();
    let is_same =
        |one: usize, other: usize| wanted[one] == theirs[other].name && is_equal(&ours[one], &theirs[other], false);
    let mut pairs = common_row(ours.len(), theirs.len(), is_same);
    let mut lost: Vec<usize> = (0..ours.len()).filter(|at| pairs.iter().all(|(one, _)| one != at)).collect();
    let mut new: Vec<usize> = (0..theirs.len()).filter(|at| pairs.iter().all(|(_, other)| other != at)).collect();
    // In another place, or with the same id, or in the same place.
    let moved: Vec<(usize, usize)> = take_pairs(&mut lost, &mut new, is_same);
    let by_id = take_pairs(&mut lost, &mut new, |one, other| ours[one].id == theirs[other].id);
    pairs.extend(by_id);
    if lost.len() == new.len() {
        pairs.extend(lost.drain(..).zip(new.drain(..)));
    }
    for &(one, other) in &moved {
        let what = format!(
            "the call `{}` was number {}, and the client reads it as number {}",
            shown(&ours[one].id),
            one + 1,
            other + 1
        );
        answer.must(CLAUSE, what, Some(said), &theirs[other].name);
    }
    for &(one, other) in &pairs {
        compare_call(answer, said, &wanted[one], &ours[one], &theirs[other]);
    }
    pairs.extend(moved);
    for one in lost {
        let what = format!(
            "the call `{}` of `{}` was sent, and the client does not read it",
            shown(&ours[one].id),
            ours[one].name
        );
        answer.must(CLAUSE, what, Some(said), "");
    }
    for other in new {
        let call = &theirs[other];
        let is_known = (0..ours.len()).any(|one| is_same(one, other));
        let (id, args) = (shown(&call.id), quoted(&call.arguments));
        if is_known {
            answer.must(
                CLAUSE,
                format!("the client reads the call `{id}` of `{}` twice", call.name),
                Some(said),
                &call.name,
            );
        } else {
            let what =
                format!("the client reads a call `{id}` of `{}` with {args} that the model did not make", call.name);
            answer.must(clause::GATE_INVENTED, what, Some(said), &call.name);
        }
    }
    judge_ids(answer, said, &read.answer.calls, &pairs);
}

fn take_pairs(lost: &mut Vec<usize>, new: &mut Vec<usize>, fits: impl Fn(usize, usize) -> bool) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    lost.retain(|&one| {
        let found = new.iter().position(|&other| fits(one, other));
        pairs.extend(found.map(|found| (one, new.remove(found))));
        found.is_none()
    });
    pairs
}

fn compare_call(answer: &mut Answer<'_, '_>, said: &Said, name: &str, one: &SaidByModel, other: &SaidCall) {
    let id = shown(&one.id);
    if name != other.name {
        let what = format!("the call `{id}` was of `{name}`, and the client reads it as one of `{}`", other.name);
        return answer.must(CLAUSE, what, Some(said), &other.name);
    }
    // What is no object may be refused, repaired or passed on.
    let Some(args) = args_of(&one.arguments) else { return };
    let read = args_of(&other.arguments);
    let [was, is] = match &read {
        Some(read) => differing_json(&args, read),
        None => differing(&unmark_surrogates(&one.arguments), &unmark_surrogates(&other.arguments)),
    };
    let what = format!("the arguments of the call `{id}` were sent as {was}, and the client reads {is}");
    if !is_equal(one, other, false) {
        answer.must(CLAUSE, what, Some(said), "");
    } else if !is_equal(one, other, true) {
        answer.should(clause::GATE_CALLS_EXACT, what, Some(said), "");
    }
}

fn is_equal(one: &SaidByModel, other: &SaidCall, exact: bool) -> bool {
    match (args_of(&one.arguments), args_of(&other.arguments)) {
        (Some(one), Some(other)) => value::equal(&one, &other, exact),
        (one, _) => one.is_none(),
    }
}

/// The arguments that a text says; nothing is no arguments.
fn args_of(text: &str) -> Option<Value> {
    if text.trim().is_empty() {
        return Some(Value::Object(serde_json::Map::new()));
    }
    value::read(&unmark_surrogates(text)).ok().filter(Value::is_object)
}

fn judge_ids(answer: &mut Answer<'_, '_>, said: &Said, read: &[SaidCall], pairs: &[(usize, usize)]) {
    let mut known: HashMap<&str, &str> = HashMap::new();
    for &(one, other) in pairs {
        let (id, as_what) = (&*said.calls[one].id, &*read[other].id);
        if as_what.is_empty() && !id.is_empty() {
            answer.must(
                clause::GATE_IDS,
                format!("the client reads the call `{}` without an id", shown(id)),
                Some(said),
                "",
            );
            continue;
        }
        match known.insert(as_what, id) {
            Some(before) if before != id => {
                let what = format!(
                    "the client reads the ids `{}` and `{}` both as `{}`",
                    shown(before),
                    shown(id),
                    shown(as_what)
                );
                answer.must(clause::GATE_IDS, what, Some(said), as_what);
            }
            _ => {}
        }
    }
}

fn shown(id: &str) -> String {
    without_marks(id).into_owned()
}

pub(super) fn judge_blocks(answer: &mut Answer<'_, '_>, said: &Said, kinds: Vec<String>) {
    for kind in kinds {
        let what = format!("the answer has a block `{kind}`, which the model did not say");
        answer.must(clause::GATE_INVENTED, what, Some(said), &kind);
    }
}

/// The kinds of the blocks of a plain answer that no turn of a script says.
pub(super) fn odd_blocks(api: Api, body: &Value) -> Vec<String> {
    match api {
        Api::OpenAiChat => odd_of_chat(&body["choices"][0]["message"]),
        Api::OpenAiResponses => odd_kinds(api, list(&body["output"])),
        Api::Anthropic => odd_kinds(api, list(&body["content"])),
        Api::Gemini => Vec::new(),
    }
}

/// Lists the odd items of a streamed answer.
pub(super) fn odd_items(api: Api, events: &[SseEvent]) -> Vec<String> {
    let mut found = Vec::new();
    for event in events {
        let Ok(data) = value::read(&event.data) else { continue };
        let kinds = match (api, data["type"].as_str()) {
            (Api::OpenAiChat, _) => odd_of_chat(&data["choices"][0]["delta"]),
            (Api::OpenAiResponses, Some("response.output_item.added")) => {
                odd_kinds(api, std::slice::from_ref(&data["item"]))
            }
            (Api::Anthropic, Some("content_block_start")) => {
                odd_kinds(api, std::slice::from_ref(&data["content_block"]))
            }
            _ => Vec::new(),
        };
        found.extend(kinds);
    }
    found.dedup();
    found
}

fn odd_of_chat(message: &Value) -> Vec<String> {
    let says = |name: &&str| match &message[*name] {
        Value::Null => false,
        Value::Array(elements) => !elements.is_empty(),
        _ => true,
    };
    ["annotations", "audio", "function_call", "images"]
        .iter()
        .filter(|name| says(name))
        .map(|name| (*name).to_owned())
        .collect()
}

fn odd_kinds(api: Api, blocks: &[Value]) -> Vec<String> {
    let usual: &[&str] = match api {
        Api::OpenAiResponses => &["message", "function_call", "custom_tool_call", "reasoning"],
        _ => &["text", "tool_use", "thinking", "redacted_thinking"],
    };
    let kinds = blocks.iter().map(|block| block["type"].as_str().unwrap_or_default().to_owned());
    kinds.filter(|kind| !usual.contains(&kind.as_str())).collect()
}

// GATE-THINKING: what the model thought is shown. GATE-OPAQUE in answers: where both APIs are the same, the client gets what only the provider
// reads as it was.

pub(super) fn judge_thoughts(answer: &mut Answer<'_, '_>, said: &Said, read: &ReadAnswer) {
    let is_proxy = answer.judging.run.is_plain_proxy();
    let got = &read.answer.thinking;
    if is_proxy {
        let mut next = got.iter();
        let is_kept = |thought: &SaidThought| {
            next.any(|read| {
                read.seal == thought.opaque && (thought.is_redacted || is_same(thought.text.trim(), read.text.trim()))
            })
        };
        let sealed: Vec<&SaidThought> = said.thoughts.iter().filter(|thought| thought.opaque.is_some()).collect();
        if let Some(lost) = sealed.into_iter().find({
            let mut is_kept = is_kept;
            move |thought| !is_kept(thought)
        }) {
            let shown = quoted(if lost.is_redacted { lost.opaque.as_deref().unwrap_or_default() } else { &lost.text });
            let what = format!(
                "the thought {shown} was sent with a part that only the provider reads, and the client does not get it so"
            );
            return answer.must(clause::GATE_OPAQUE, what, Some(said), "");
        }
    }
    let open = said.thoughts.iter().map(|thought| thought.text.trim()).filter(|text| !text.is_empty());
    let told: String = got.iter().map(|thought| thought.text.as_str()).collect();
    let is_told = |text: &str| told.contains(text) || is_same(text, told.trim()) || read.answer.text.contains(text);
    let hidden = open.into_iter().find(|text| !is_told(text));
    if let Some(text) = hidden {
        let what = format!("the model thought {}, and the client is not shown it", quoted(text));
        answer.should(clause::GATE_THINKING, what, Some(said), "");
    }
}
