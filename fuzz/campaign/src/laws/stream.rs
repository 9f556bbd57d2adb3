//! States the laws of the answers that a provider streams.

use crate::generate::StreamPlan;
use serde_json::json;
use threadspec_apis::sse::{self, SseParser};
use threadspec_apis::{AnswerEnd, AnswerReader, ApiRequest, EventPart, ModelAnswer, StreamEvent, read_answer};

/// Whatever is streamed, in whatever pieces and however it arrives, says what the plain answer says.
///
/// # Panics
/// When that does not hold.
pub fn provider_sse(plan: &StreamPlan) {
    let (api, answer, crlf) = (plan.api(), plan.answer(), plan.has_crlf());
    let body = json!({"model": "m", "stream": true, "include": ["reasoning.encrypted_content"]});
    let request = ApiRequest::read(api, &body);
    let write = |event: &StreamEvent| match event.part {
        EventPart::Comment => sse::comment(&event.data, crlf),
        _ => sse::event(event.name, &event.data, crlf),
    };
    let bytes: Vec<u8> = answer.events(&request, &plan.shape()).iter().flat_map(write).collect();
    let whole = SseParser::default().push(&bytes);
    let mut parser = SseParser::default();
    let parts: Vec<_> = plan.parts(&bytes).into_iter().flat_map(|part| parser.push(part)).collect();
    assert_eq!(parts, whole, "{plan:?}");
    assert!(parser.is_between_events(), "{plan:?}");

    let mut reader = AnswerReader::new(api);
    for event in &whole {
        let read = reader.push(event);
        assert!(read.is_ok(), "{read:?}: {event:?}: {plan:?}");
    }
    let streamed = reader.said();
    let expected = read_answer(api, &answer.plain(&request)).expect("a plain answer is read");
    assert_eq!(streamed.end, AnswerEnd::Whole, "{plan:?}");
    assert_eq!(streamed.answer.text, expected.answer.text, "{plan:?}");
    // A refusal without a word has no event.
    let refusal = |answer: &ModelAnswer| answer.refusal.clone().unwrap_or_default();
    assert_eq!(refusal(&streamed.answer), refusal(&expected.answer), "{plan:?}");
    assert_eq!(streamed.answer.calls, expected.answer.calls, "{plan:?}");
    assert_eq!(streamed.answer.finish, expected.answer.finish, "{plan:?}");
    assert_eq!(streamed.whole_calls, expected.whole_calls, "{plan:?}");
}
