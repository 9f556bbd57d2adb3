//! GATE-CHOICE: which tool is called, how long the answer may be, where it stops, and one call at a time.

use super::{RequestPair, Spot};
use crate::shown::json;
use serde_json::Value;
use threadspec::oracle::Api;
use threadspec::surrogates::without_marks;
use threadspec_apis::{ApiRequest, ToolChoice};
use threadspec_golden::clause;
use threadspec_provider::WireLevel;

const CLAUSE: &str = clause::GATE_CHOICE;
/// The least limit that Responses takes.
const LEAST_OUTPUT: u64 = 16;
/// How many texts to stop at chat completions take.
const MOST_STOPS: usize = 4;

pub(super) fn judge(pair: &mut RequestPair<'_, '_>) {
    if !pair.sent.request.tools.is_empty() && !pair.arrived.tools.is_empty() {
        judge_choice(pair);
        judge_parallel(pair);
    }
    judge_limit(pair);
    judge_stop(pair);
}

fn judge_choice(pair: &mut RequestPair<'_, '_>) {
    let (sent, arrived) = (&pair.sent.request, pair.arrived);
    let given = &pair.sent.body()["tool_choice"];
    let is = json(&pair.body["tool_choice"]);
    let (here, there) = (Spot::new("tool_choice", ""), Spot::new("tool_choice", ""));
    if !arrived.is_choice_proper {
        if sent.is_choice_proper {
            let what =
                format!("`tool_choice` was {}, and arrives as {is}, which {} does not know", json(given), pair.api);
            pair.must(CLAUSE, what, here, there);
        }
        return;
    }
    let is_same = match (&sent.choice, &arrived.choice) {
        (ToolChoice::Named(one), ToolChoice::Named(other)) => pair.judging.names.is_same(one, other),
        // What is not known here exists in one API only.
        (ToolChoice::Other, _) => sent.api != pair.api || *given == pair.body["tool_choice"],
        (one, other) => one == other,
    };
    if !is_same {
        pair.must(CLAUSE, format!("`tool_choice` was {}, and arrives as {is}", json(given)), here, there);
    }
}

fn judge_parallel(pair: &mut RequestPair<'_, '_>) {
    let (sent, arrived) = (&pair.sent.request, pair.arrived);
    // Where no tool is called, none is called beside another.
    if sent.choice == ToolChoice::None {
        return;
    }
    let is_single = |request: &ApiRequest| request.parallel == Some(false);
    let place = |api| if api == Api::Anthropic { "tool_choice" } else { "parallel_tool_calls" };
    let what = match (is_single(sent), is_single(arrived)) {
        (true, false) => "one call at a time was asked for, and that does not arrive",
        (false, true) => "one call at a time was not asked for, and arrives",
        _ => return,
    };
    let spots = (Spot::new(place(sent.api), ""), Spot::new(place(pair.api), ""));
    pair.must(CLAUSE, what, spots.0, spots.1);
}

fn judge_limit(pair: &mut RequestPair<'_, '_>) {
    let (sent, arrived) = (pair.sent.request.max_tokens, pair.arrived.max_tokens);
    let Some(limit) = sent else { return };
    let is_least = pair.api == Api::OpenAiResponses && limit < LEAST_OUTPUT && arrived == Some(LEAST_OUTPUT);
    if arrived == sent || is_least {
        return;
    }
    let is = arrived.map_or_else(|| "without one".to_owned(), |arrived| format!("with {arrived}"));
    let what = format!("the limit of output tokens was {limit}, and the request arrives {is}");
    let spots = (limit_of(pair.sent.body()), limit_of(pair.body));
    pair.must(CLAUSE, what, Spot { place: spots.0, text: "" }, Spot { place: spots.1, text: "" });
}

fn limit_of(body: &Value) -> Option<&'static str> {
    ["max_completion_tokens", "max_tokens", "max_output_tokens"].into_iter().find(|name| !body[*name].is_null())
}

fn judge_stop(pair: &mut RequestPair<'_, '_>) {
    let (mut sent, mut arrived) = (pair.sent.request.stop.clone(), pair.arrived.stop.clone());
    // Anthropic refuses those of white space.
    if pair.api == Api::Anthropic && pair.sent.request.api != pair.api {
        sent.retain(|text| !text.trim().is_empty());
    }
    sent.sort();
    arrived.sort();
    if sent == arrived {
        return;
    }
    let list =
        |texts: &[String]| texts.iter().map(|text| format!("{:?}", without_marks(text))).collect::<Vec<_>>().join(", ");
    let is = if arrived.is_empty() { "without any".to_owned() } else { format!("with {}", list(&arrived)) };
    let was = if sent.is_empty() { "none".to_owned() } else { list(&sent) };
    let what = format!("the texts at which the answer stops were {was}, and the request arrives {is}");
    // Responses has none.
    let cannot_say = match pair.api {
        Api::OpenAiResponses => true,
        Api::OpenAiChat => sent.len() > MOST_STOPS,
        Api::Anthropic => false,
    };
    let level = if cannot_say && !sent.is_empty() { WireLevel::Note } else { WireLevel::Must };
    let place = |api| if api == Api::Anthropic { "stop_sequences" } else { "stop" };
    let (here, there) = (place(pair.sent.request.api), place(pair.api));
    pair.add(CLAUSE, level, what, Spot::new(here, ""), Spot::new(there, ""));
}
