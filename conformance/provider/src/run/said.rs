//! From a turn to an answer of the API, and to what the record says of it.

use crate::record::{CallPart, Came, Said, SaidByModel, SaidThought};
use crate::script::{PlayedThought, WireTurn};
use serde_json::Value;
use threadspec::oracle::Api;
use threadspec_apis::{ApiRequest, EventPart, Finish, IdSource, ModelAnswer, SaidCall, StreamEvent, Thinking};
use threadspec_judge::json;
use threadspec_judge::universal::value;

/// The answer that says a turn to a request, with new ids where the script has none.
pub(super) fn answer_of(turn: &WireTurn, request: &ApiRequest, created: u64, ids: &mut IdSource) -> ModelAnswer {
    let calls = turn.calls.iter().map(|call| {
        let id = call.id.clone().unwrap_or_else(|| ids.call(request.api));
        SaidCall::with_text(id, &*call.name, &call.arguments)
    });
    let calls = calls.collect();
    let thinking = turn.thinking.iter().map(|thought| match thought {
        PlayedThought::Open { text, signature } => {
            Thinking { text: text.clone(), seal: signature.clone(), ..Thinking::default() }
        }
        PlayedThought::Redacted(data) => {
            Thinking { seal: Some(data.clone()), is_redacted: true, ..Thinking::default() }
        }
    });
    let mut answer = ModelAnswer {
        model: request.model.clone().unwrap_or_default(),
        created,
        thinking: thinking.collect(),
        text: turn.content.clone().unwrap_or_default(),
        refusal: turn.refusal.clone(),
        calls,
        ..ModelAnswer::default()
    };
    answer.finish = turn.stop.as_deref().map_or_else(|| answer.usual_finish(), Finish::of_name);
    answer.with_ids(request.api, ids)
}

/// What the record says of an answer.
pub(super) fn said_of(answer: &ModelAnswer, turn: &WireTurn, request: &ApiRequest) -> Said {
    let is_sealed = match request.api {
        Api::OpenAiChat => false,
        Api::OpenAiResponses => request.wants_encrypted_reasoning(),
        Api::Anthropic => true,
    };
    let call = |call: &SaidCall| SaidByModel {
        id: call.id.clone(),
        name: call.name.clone(),
        arguments: call.arguments.clone(),
    };
    let thought = |thought: &Thinking| SaidThought {
        text: thought.text.clone(),
        opaque: thought.seal.clone().filter(|_| is_sealed),
        is_redacted: thought.is_redacted,
    };
    Said {
        id: answer.id.clone(),
        text: answer.text.clone(),
        calls: answer.calls.iter().map(call).collect(),
        thoughts: answer.thinking.iter().map(thought).collect(),
        refusal: answer.refusal.clone(),
        stop: turn.stop.clone(),
    }
}

impl Came {
    /// All of an answer.
    pub(super) fn all(answer: &ModelAnswer) -> Self {
        let calls = (0..answer.calls.len()).collect();
        Self { whole: true, text: answer.text.clone(), calls, parts: Vec::new() }
    }
}

/// What came of an answer whose stream broke off behind these events.
pub(super) fn came_of(api: Api, answer: &ModelAnswer, events: &[StreamEvent]) -> Came {
    let [text, arguments, index] = match api {
        Api::OpenAiChat => {
            let call = "/choices/0/delta/tool_calls/0";
            ["/choices/0/delta/content".to_owned(), format!("{call}/function/arguments"), format!("{call}/index")]
        }
        Api::OpenAiResponses => ["/delta", "/delta", "/output_index"].map(str::to_owned),
        Api::Anthropic => ["/delta/text", "/delta/partial_json", "/index"].map(str::to_owned),
    };
    let (mut came, mut begun) = (Came::default(), Vec::new());
    for event in events {
        let Ok(data) = value::read(&event.data) else { continue };
        let piece = |pointer: &str| data.pointer(pointer).map(json::text).unwrap_or_default();
        let number = data.pointer(&index).and_then(Value::as_u64);
        let call = begun.iter().position(|known| *known == number);
        match event.part {
            EventPart::Text => came.text.push_str(piece(&text)),
            EventPart::Call => {
                came.parts.push(CallPart { call: begun.len(), arguments: piece(&arguments).to_owned() });
                begun.push(number);
            }
            EventPart::Arguments => {
                let part = came.parts.iter_mut().find(|part| Some(part.call) == call);
                if let Some(part) = part {
                    part.arguments.push_str(piece(&arguments));
                }
            }
            _ => {}
        }
        if event.ends_call {
            came.calls.extend(call.or(begun.len().checked_sub(1)).filter(|call| *call < answer.calls.len()));
        }
    }
    came.parts.retain(|part| !came.calls.contains(&part.call));
    came
}
