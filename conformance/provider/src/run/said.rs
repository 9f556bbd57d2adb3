//! From a turn to an answer of the API, and to what the record says of it.

use crate::record::{CallPart, Came, Said, SaidByModel, SaidThought};
use crate::script::{PlayedThought, WireTurn};
use threadspec::oracle::Api;
use threadspec_apis::sse::SseEvent;
use threadspec_apis::{
    AnswerReader, ApiRequest, EventPart, Finish, IdSource, ModelAnswer, SaidCall, StreamEvent, Thinking,
};

/// The answer that says a turn to a request, with new ids where the script has none.
pub(super) fn answer_of(turn: &WireTurn, request: &ApiRequest, created: u64, ids: &mut IdSource) -> ModelAnswer {
    let calls = turn.calls.iter().map(|call| {
        let id = call.id.clone().unwrap_or_else(|| ids.call(request.api));
        SaidCall::with_text(id, &*call.name, &call.arguments)
    });
    let calls = calls.collect();
    let thinking = turn.thinking.iter().map(|thought| match thought {
        PlayedThought::Open { text, signature } => {
            let text = if request.omits_thinking { "" } else { text };
            Thinking { text: text.to_owned(), seal: signature.clone(), ..Thinking::default() }
        }
        PlayedThought::Redacted(data) => {
            Thinking { seal: Some(data.clone()), is_redacted: true, ..Thinking::default() }
        }
        PlayedThought::Sealed { id, data } => {
            Thinking { seal: Some(data.clone()), item_id: Some(id.clone()), ..Thinking::default() }
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

/// Returns the record of an answer.
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

/// Returns the record of a complete answer.
pub(super) fn came_all(answer: &ModelAnswer) -> Came {
    // A call that the limit may have cut off is the last one.
    let cut = answer.calls.len().checked_sub(1).filter(|_| answer.finish == Finish::Length);
    let is_whole = |position: usize, call: &SaidCall| call.args().is_some() && cut != Some(position);
    Came { whole: true, ..came(answer.text.clone(), &answer.calls, is_whole) }
}

/// Returns the record of an answer whose stream broke off behind these events.
pub(super) fn came_of(api: Api, answer: &ModelAnswer, events: &[StreamEvent]) -> Came {
    let mut reader = AnswerReader::new(api);
    for event in events.iter().filter(|event| event.part != EventPart::Comment) {
        let event = SseEvent { name: event.name.map(str::to_owned), data: event.data.clone() };
        if reader.push(&event).is_err() {
            break;
        }
    }
    let said = reader.said().answer;
    let closed = events.iter().filter(|event| event.ends_call).count();
    came(said.text, &said.calls, |position, call| {
        let whole = answer.calls.get(position);
        // Chat closes no call, and may have their fragments in any order.
        let is_closed = if api == Api::OpenAiChat { whole == Some(call) } else { position < closed };
        is_closed && whole.is_some_and(|call| call.args().is_some())
    })
}

fn came(text: String, calls: &[SaidCall], is_whole: impl Fn(usize, &SaidCall) -> bool) -> Came {
    let mut came = Came { text, ..Came::default() };
    for (position, call) in calls.iter().enumerate() {
        if is_whole(position, call) {
            came.calls.push(position);
        } else {
            came.parts.push(CallPart { call: position, arguments: call.arguments.clone() });
        }
    }
    came
}
