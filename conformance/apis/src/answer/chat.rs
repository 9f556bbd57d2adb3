//! Answers of OpenAI's chat completions.

use super::output::{EventList, in_order};
use super::shape::{EventPart, StreamEvent, StreamShape};
use super::{ModelAnswer, SaidCall};
use crate::request::ApiRequest;
use crate::usage::Usage;
use serde::Serialize;
use serde_json::Value;
use threadspec::oracle::Api;

const SERVICE_TIER: &str = "default";
const FINGERPRINT: &str = "fp_threadspec";

#[derive(Serialize)]
struct Completion<'a, C, U> {
    id: &'a str,
    object: &'a str,
    created: u64,
    model: &'a str,
    service_tier: &'a str,
    system_fingerprint: &'a str,
    choices: Vec<C>,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<U>,
}

#[derive(Serialize)]
struct PlainChoice<'a> {
    index: u64,
    message: Message<'a>,
    logprobs: (),
    finish_reason: &'a str,
}

#[derive(Serialize)]
struct Message<'a> {
    role: &'a str,
    content: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<String>,
    refusal: Option<&'a str>,
    annotations: [(); 0],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<ToolCallForm<'a>>,
}

#[derive(Serialize)]
struct ToolCallForm<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    kind: Option<&'a str>,
    function: FunctionForm<'a>,
}

#[derive(Serialize)]
struct FunctionForm<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    arguments: &'a str,
}

#[derive(Serialize)]
struct ChunkChoice<'a> {
    index: u64,
    delta: Delta<'a>,
    logprobs: (),
    finish_reason: Option<&'a str>,
}

#[derive(Default, Serialize)]
struct Delta<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<Option<&'a str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refusal: Option<Option<&'a str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_calls: Option<[ToolCallForm<'a>; 1]>,
}

#[derive(Serialize)]
struct UsageForm {
    prompt_tokens: u64,
    completion_tokens: u64,
    total_tokens: u64,
    prompt_tokens_details: PromptDetails,
    completion_tokens_details: CompletionDetails,
}

#[derive(Serialize)]
struct PromptDetails {
    cached_tokens: u64,
    audio_tokens: u64,
}

#[derive(Serialize)]
struct CompletionDetails {
    reasoning_tokens: u64,
    audio_tokens: u64,
    accepted_prediction_tokens: u64,
    rejected_prediction_tokens: u64,
}

impl UsageForm {
    fn of(usage: &Usage) -> Self {
        Self {
            prompt_tokens: usage.input,
            completion_tokens: usage.output,
            total_tokens: usage.input + usage.output,
            prompt_tokens_details: PromptDetails { cached_tokens: usage.cached, audio_tokens: 0 },
            completion_tokens_details: CompletionDetails {
                reasoning_tokens: usage.reasoning,
                audio_tokens: 0,
                accepted_prediction_tokens: 0,
                rejected_prediction_tokens: 0,
            },
        }
    }
}

fn completion<'a, C, U>(
    answer: &'a ModelAnswer,
    object: &'a str,
    choices: Vec<C>,
    usage: Option<U>,
) -> Completion<'a, C, U> {
    Completion {
        id: &answer.id,
        object,
        created: answer.created,
        model: &answer.model,
        service_tier: SERVICE_TIER,
        system_fingerprint: FINGERPRINT,
        choices,
        usage,
    }
}

fn beginning<'a>(index: Option<usize>, call: &'a SaidCall, arguments: &'a str) -> ToolCallForm<'a> {
    let function = FunctionForm { name: Some(&call.name), arguments };
    ToolCallForm { index, id: Some(&call.id), kind: Some("function"), function }
}

/// What the model thought, as servers show it that are like OpenAI's.
fn thoughts(answer: &ModelAnswer) -> String {
    answer.thinking.iter().map(|thought| &*thought.text).collect()
}

/// The reason that the API gives: calls are none of a message that refuses.
fn finish(answer: &ModelAnswer) -> &str {
    answer.finish.name(Api::OpenAiChat)
}

pub(super) fn plain(answer: &ModelAnswer) -> Value {
    let message = Message {
        role: "assistant",
        content: answer.has_text().then_some(&answer.text),
        reasoning_content: Some(thoughts(answer)).filter(|thoughts| !thoughts.is_empty()),
        refusal: answer.refusal.as_deref(),
        annotations: [],
        tool_calls: answer.calls.iter().map(|call| beginning(None, call, &call.arguments)).collect(),
    };
    let choice = PlainChoice { index: 0, message, logprobs: (), finish_reason: finish(answer) };
    let usage = Some(UsageForm::of(&answer.usage));
    serde_json::to_value(completion(answer, "chat.completion", vec![choice], usage)).unwrap_or_default()
}

pub(super) fn events(answer: &ModelAnswer, request: &ApiRequest, shape: &StreamShape) -> Vec<StreamEvent> {
    const OBJECT: &str = "chat.completion.chunk";
    let mut list = EventList::new(shape, None);
    // Every chunk says that the usage comes later, if it comes.
    let later = request.include_usage.then_some(None::<UsageForm>);
    let mut push = |delta: Delta<'_>, finish_reason: Option<&str>, part: EventPart, ends_call: bool| {
        let choice = ChunkChoice { index: 0, delta, logprobs: (), finish_reason };
        let later = later.as_ref().map(|_| None::<UsageForm>);
        list.push_as(None, &completion(answer, OBJECT, vec![choice], later), part, ends_call);
    };
    let content = answer.has_text().then_some("");
    let first = Delta { role: Some("assistant"), content: Some(content), refusal: Some(None), ..Delta::default() };
    push(first, None, EventPart::Start, false);
    let thoughts = thoughts(answer);
    for fragment in shape.fragments(&thoughts) {
        push(Delta { reasoning_content: Some(fragment), ..Delta::default() }, None, EventPart::Thinking, false);
    }
    let say = |push: &mut dyn FnMut(Delta<'_>, Option<&str>, EventPart, bool)| {
        for fragment in shape.fragments(&answer.text) {
            push(Delta { content: Some(Some(fragment)), ..Delta::default() }, None, EventPart::Text, false);
        }
        for fragment in shape.fragments(answer.refusal.as_deref().unwrap_or_default()) {
            push(Delta { refusal: Some(Some(fragment)), ..Delta::default() }, None, EventPart::Refusal, false);
        }
    };
    if !shape.text_last {
        say(&mut push);
    }
    let fragments: Vec<Vec<&str>> = answer.calls.iter().map(|call| shape.fragments(&call.arguments)).collect();
    let groups: Vec<std::ops::Range<usize>> = if shape.interleave {
        std::iter::once(0..fragments.len()).collect()
    } else {
        (0..fragments.len()).map(|call| call..call + 1).collect()
    };
    for group in groups {
        let mut left: Vec<usize> = fragments.iter().map(Vec::len).collect();
        for index in group.clone() {
            let call = beginning(Some(index), &answer.calls[index], "");
            push(Delta { tool_calls: Some([call]), ..Delta::default() }, None, EventPart::Call, left[index] == 0);
        }
        for (number, fragment) in in_order(&fragments[group.clone()], true) {
            let index = group.start + number;
            left[index] -= 1;
            let function = FunctionForm { name: None, arguments: fragment };
            let call = ToolCallForm { index: Some(index), id: None, kind: None, function };
            push(Delta { tool_calls: Some([call]), ..Delta::default() }, None, EventPart::Arguments, left[index] == 0);
        }
    }
    if shape.text_last {
        say(&mut push);
    }
    push(Delta::default(), Some(finish(answer)), EventPart::Stop, false);
    if request.include_usage {
        let usage = Some(Some(UsageForm::of(&answer.usage)));
        list.push(None, &completion(answer, OBJECT, Vec::<ChunkChoice<'_>>::new(), usage), EventPart::Stop);
    }
    list.push_text("[DONE]", EventPart::Stop);
    list.finish()
}
