//! Responses with a history that the provider keeps: what a run sends then.

use super::write;
use crate::agent::RunState;
use serde_json::{Value, json};
use threadspec_judge::json::text;

/// The body of an ask that goes on from the answer before: only what is new stands in it. Where that cannot be said, it is the whole history.
pub(crate) fn from_the_answer_before(run: &RunState, body: &mut Value) {
    body["store"] = true.into();
    // Renamed calls are not those that the provider knows.
    let Some((id, length)) = run.wire.answers.last().filter(|_| run.renamed.is_empty()) else { return };
    let news = run.list.get(length + 1..).unwrap_or_default();
    if id.is_empty() || news.is_empty() || news.iter().any(|message| message["type"] != "tool") {
        return;
    }
    body["input"] = news.iter().flat_map(write::items).collect();
    body["previous_response_id"] = (&**id).into();
}

/// The body of an ask in a conversation that the provider keeps.
pub(crate) fn in_a_conversation(run: &RunState, body: &mut Value) {
    from_the_answer_before(run, body);
    super::without(body, "previous_response_id");
    // Where the whole history stands in it, it begins another conversation.
    let is_whole = run.wire.answers.is_empty() || !run.renamed.is_empty();
    let name = if is_whole { run.turn } else { 1 };
    body["conversation"] =
        json!({"id": format!("conv_{}_{name}", text(&Value::from(&*run.wire.endpoint.api_key)).len())});
}
