//! Compares tool rounds and runs of the outer loop.
//!
//! The events are judged first, and then the first request of each iteration against the testee's own events so far. So requests must have
//! what the events have where there is a choice: a text beside calls, which the literal profile may record or lose (LOOP-TEXT).

use super::messages::{self, Context, tool_text_clause};
use super::texts::Texts;
use super::{Difference, events};
use crate::corpus::expectation::NOTHING;
use crate::json::{self, text};
use crate::protocol::{Implementation, Op, Reply, Request};
use crate::reference::Reference;
use crate::tolerance::iterations::{beginnings, request_limit};
use serde_json::{Value, json};
use threadspec::Profile;
use threadspec_golden::clause;

/// The hardened answer to a call that a limit cuts off (TOOLS-CUT).
const NOT_EXECUTED: &str = "[Not executed: limit reached]";

/// A member that is a list; empty if it is not one. For outputs, [`lists`] checks first that their lists are there.
fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    json::list(&value[name])
}

/// The first list that an output lacks.
fn lists(names: &[&str], clause: &'static str, expected: &Value, actual: &Value) -> Option<Difference> {
    let missing = names.iter().find(|&&name| !actual[name].is_array())?;
    Some(Difference::values(clause, &format!("/{missing}"), &expected[missing], &actual[missing]))
}

/// Compares outputs of `tools`.
pub(super) fn tools(input: &Value, expected: &Value, actual: &Value, texts: &Texts) -> Option<Difference> {
    if let Some(difference) = lists(&["requests", "messages"], clause::TOOLS_STOP, expected, actual) {
        return Some(difference);
    }
    let (expected_requests, actual_requests) = (list(expected, "requests"), list(actual, "requests"));
    let rounds = expected_requests
        .iter()
        .zip(actual_requests)
        .enumerate()
        .find_map(|(number, (expected, actual))| live(expected, actual, &format!("/requests/{number}"), texts));
    let actual = &without_answers_to_cut_calls(expected, actual, texts.profile);
    let limited = if input["maxRecursionDepth"].is_u64() { clause::TOOLS_DEPTH } else { clause::TOOLS_STOP };
    rounds
        .or_else(|| {
            let (expected, actual) = (expected_requests.len(), actual_requests.len());
            (expected != actual)
                .then(|| Difference::values(limited, "/requests", &requests(expected), &requests(actual)))
        })
        .or_else(|| {
            let difference = live(&expected["messages"], &actual["messages"], "/messages", texts)?;
            let clause = match list(expected, "messages").last() {
                Some(last) if last["tool_calls"].is_array() => clause::TOOLS_DEPTH,
                Some(last) if last["content"] == NOT_EXECUTED && difference.clause != clause::TOOLS_DISTINCT => {
                    clause::TOOLS_CUT
                }
                _ => difference.clause,
            };
            Some(Difference { clause, ..difference })
        })
        .or_else(|| unknown_rest(expected, actual, clause::TOOLS_STOP, texts))
}

/// An output of `tools` without answers to calls that a limit cuts off, which the literal profile permits.
fn without_answers_to_cut_calls(expected: &Value, actual: &Value, profile: Profile) -> Value {
    let mut actual = actual.clone();
    let cut = list(expected, "messages").last().map(|last| list(last, "tool_calls")).unwrap_or_default();
    let unanswered = list(expected, "messages").len();
    if let (Profile::Literal, Some(messages)) = (profile, actual["messages"].as_array_mut())
        && messages.len() == unanswered + cut.len()
        && messages[unanswered..].iter().zip(cut).all(|(answer, call)| answer["tool_call_id"] == call["id"])
    {
        messages.truncate(unanswered);
    }
    actual
}

fn requests(count: usize) -> String {
    format!("{count} requests")
}

/// Any difference that the more precise comparisons have not found.
fn unknown_rest(expected: &Value, actual: &Value, clause: &'static str, texts: &Texts) -> Option<Difference> {
    texts.mismatch(expected, actual, "").map(|mismatch| Difference::new(clause, mismatch))
}

/// Compares lists of messages to which rounds have appended.
fn live(expected: &Value, actual: &Value, path: &str, texts: &Texts) -> Option<Difference> {
    let mismatch = texts.mismatch(expected, actual, path)?;
    let (Value::Array(expected), Value::Array(actual)) = (expected, actual) else {
        return Some(Difference::new(clause::TOOLS_ACCUMULATE, mismatch));
    };
    let differing =
        expected.iter().zip(actual).find(|(expected, actual)| texts.mismatch(expected, actual, "").is_some());
    let clause = match differing {
        None if actual.len() > expected.len() => clause::TOOLS_SNAPSHOT,
        Some((expected, actual)) if expected["type"] == actual["type"] => match expected["type"].as_str() {
            Some("ai") if texts.mismatch(&expected["content"], &actual["content"], "").is_some() => {
                clause::TOOLS_CONTENT
            }
            Some("ai") if repeats_are_renamed_otherwise(expected, actual) => clause::TOOLS_DISTINCT,
            Some("tool") if texts.mismatch(&expected["tool_call_id"], &actual["tool_call_id"], "").is_some() => {
                clause::TOOLS_ID
            }
            Some("tool") => result_clause(&expected["content"], &actual["content"], texts),
            _ => clause::TOOLS_ACCUMULATE,
        },
        _ => clause::TOOLS_ACCUMULATE,
    };
    Some(Difference::new(clause, mismatch))
}

/// Whether two AI messages have the same calls, but for the ids of some.
fn repeats_are_renamed_otherwise(expected: &Value, actual: &Value) -> bool {
    let (expected, actual) = (list(expected, "tool_calls"), list(actual, "tool_calls"));
    expected.len() == actual.len()
        && expected.iter().zip(actual).all(|(expected, actual)| expected["name"] == actual["name"])
        && expected.iter().zip(actual).any(|(expected, actual)| expected["id"] != actual["id"])
}

/// The clause that a wrong tool result breaks.
fn result_clause(expected: &Value, actual: &Value, texts: &Texts) -> &'static str {
    let expected = text(expected);
    if expected.starts_with("Tool error: ") || expected.starts_with("Tool not found: ") {
        clause::LOOP_TOOL_ERROR
    } else {
        tool_text_clause(expected, text(actual), texts)
    }
}

/// Compares outputs of `loop`.
pub(super) fn outer_loop(input: &Value, expected: &Value, actual: &Value, texts: &Texts) -> Option<Difference> {
    if let Some(difference) = lists(&["requests", "events"], clause::LOOP_EVENTS, expected, actual) {
        return Some(difference);
    }
    let (expected_events, actual_events) = (list(expected, "events"), list(actual, "events"));
    let recordable = if texts.profile == Profile::Literal { texts_beside_calls(input) } else { Vec::new() };
    let stopped = [expected, actual].map(|run| run["stopReason"] == "stop_condition");
    if stopped[0] != stopped[1] {
        let mismatch = texts.mismatch(&expected["stopReason"], &actual["stopReason"], "/stopReason")?;
        return Some(Difference::new(clause::LOOP_MAX, mismatch));
    }
    let limited = limited_iterations(input, list(expected, "requests").len());
    events_of_run(expected_events, actual_events, &recordable, texts)
        .map(|(event, difference)| {
            let at_limit = event["iteration"].as_u64().is_some_and(|iteration| limited.contains(&iteration));
            // A completion repeats the response of the run.
            let is_response = event["type"] == "completion"
                && event["result"] == expected["response"]
                && texts.mismatch(&expected["response"], &actual["response"], "").is_some();
            let clause = match difference.clause {
                clause::LOOP_EVENTS if at_limit => clause::LOOP_LIMIT,
                clause::LOOP_VERIFY if is_response => clause::LOOP_RESPONSE,
                clause => clause,
            };
            Difference { clause, ..difference }
        })
        .or_else(|| requests_of_run(input, expected, actual, texts))
        .or_else(|| {
            let by_reason = match expected["stopReason"].as_str() {
                Some("stop_condition") => clause::LOOP_MAX,
                Some("max_errors") => clause::LOOP_ERROR,
                _ => clause::LOOP_VERIFY,
            };
            let members = [("stopReason", by_reason), ("iterations", by_reason), ("response", clause::LOOP_RESPONSE)];
            members.into_iter().find_map(|(name, clause)| {
                let mismatch = texts.mismatch(&expected[name], &actual[name], &format!("/{name}"))?;
                Some(Difference::new(clause, mismatch))
            })
        })
}

/// A run that ended earlier, and the clause that says when it ends.
pub(super) struct Ended {
    pub(super) run: Value,
    pub(super) clause: &'static str,
}

/// A run, ended with the last iteration of a shorter one, and as that one.
pub(super) fn ended_with(input: &Value, longer: &Value, shorter: &Value) -> Option<Ended> {
    let count = list(shorter, "requests").len();
    let all = list(longer, "requests").len();
    let iterations = beginnings(input, all).iter().position(|&beginning| beginning == count)?;
    // A model call beyond the script fails, too.
    let is_failure = input["model"].get(count.checked_sub(1)?).is_none_or(|turn| turn["error"].is_string());
    let clause = match shorter["stopReason"].as_str() {
        _ if is_failure => clause::LOOP_ERROR,
        Some("stop_condition") => clause::LOOP_MAX,
        _ => clause::LOOP_VERIFY,
    };
    let mut run = longer.clone();
    run.get_mut("requests").and_then(Value::as_array_mut)?.truncate(count);
    let events = run.get_mut("events").and_then(Value::as_array_mut)?;
    events.retain(|event| event["iteration"].as_u64().is_some_and(|number| number <= iterations as u64));
    // What ends a run is not followed by feedback, perhaps by a completion, and called final or not.
    let mut end = list(shorter, "events").iter().rev().peekable();
    let completion = end.next_if(|event| event["type"] == "completion");
    if end.peek().is_some_and(|last| last["role"] != "user") {
        events.pop_if(|last| last["role"] == "user");
    }
    if let (Some(last), Some(error), true) = (events.last_mut(), end.next(), is_failure) {
        last["recoverable"] = error["recoverable"].clone();
    }
    events.extend(completion.cloned());
    for name in ["response", "iterations", "stopReason"] {
        run[name] = shorter[name].clone();
    }
    Some(Ended { run, clause })
}

/// The texts beside calls, each of which the literal profile may record.
fn texts_beside_calls(input: &Value) -> Vec<&Value> {
    let turns = list(input, "model").iter();
    turns
        .filter(|turn| !list(turn, "tool_calls").is_empty() && turn["content"] != "")
        .map(|turn| &turn["content"])
        .collect()
}

/// Compares the events in order. Texts beside calls may stand between the expected events, and a text that stood before its calls need not
/// come again when a limit ends the iteration. Returns the first event that differs, and how.
fn events_of_run<'a>(
    expected: &'a [Value],
    actual: &'a [Value],
    recordable: &[&Value],
    texts: &Texts,
) -> Option<(&'a Value, Difference)> {
    let is_recorded = |event: &Value| {
        event["role"] == "assistant"
            && recordable.iter().any(|text| texts.mismatch(text, &event["content"], "").is_none())
    };
    let (mut expected_at, mut actual_at) = (0, 0);
    loop {
        let path = format!("/events/{actual_at}");
        match (expected.get(expected_at), actual.get(actual_at)) {
            (None, None) => return None,
            (Some(event), Some(other)) => match texts.mismatch(event, other, &path) {
                None => (expected_at, actual_at) = (expected_at + 1, actual_at + 1),
                Some(_) if is_recorded(other) => actual_at += 1,
                Some(_) if is_recorded(event) => expected_at += 1,
                Some(mismatch) => {
                    return Some((event, Difference::new(event_clause(expected_at, event, other, texts), mismatch)));
                }
            },
            (Some(event), None) if is_recorded(event) => expected_at += 1,
            (None, Some(other)) if is_recorded(other) => actual_at += 1,
            (Some(event), None) => {
                let clause = event_clause(expected_at, event, &Value::Null, texts);
                return Some((event, Difference::values(clause, &path, event, &NOTHING)));
            }
            (None, Some(other)) => {
                let clause = event_clause(expected_at, other, &Value::Null, texts);
                return Some((other, Difference::values(clause, &path, &NOTHING, other)));
            }
        }
    }
}

fn event_clause(position: usize, expected: &Value, actual: &Value, texts: &Texts) -> &'static str {
    let of_both = |name: &str| (&expected[name], &actual[name]);
    let differs = |name: &str| {
        let (expected, actual) = of_both(name);
        texts.mismatch(expected, actual, "").is_some()
    };
    match expected["type"].as_str() {
        _ if position == 0 => clause::LOOP_PROMPT,
        _ if !differs("type") && !differs("role") && differs("iteration") => clause::LOOP_PROMPT,
        Some("completion") => clause::LOOP_VERIFY,
        _ if expected["role"] == "user" || actual["role"] == "user" => clause::LOOP_VERIFY,
        Some("error") => clause::LOOP_ERROR,
        Some("message") if texts.profile == Profile::Hardened && actual["type"] == "tool_call" => clause::LOOP_TEXT,
        Some("tool_result") if actual["type"] == "tool_result" && differs("result") => {
            match result_clause(&expected["result"], &actual["result"], texts) {
                clause::MSG_RESULT => clause::LOOP_EVENTS,
                clause => clause,
            }
        }
        _ => clause::LOOP_EVENTS,
    }
}

/// Compares the requests: in each iteration the thread so far, then what its rounds appended.
fn requests_of_run(input: &Value, expected: &Value, actual: &Value, texts: &Texts) -> Option<Difference> {
    let (expected_requests, actual_requests) = (list(expected, "requests"), list(actual, "requests"));
    let (mut current, mut heads) = (0, (&Value::Null, &Value::Null));
    let beginnings = beginnings(input, expected_requests.len());
    let xml = input["contextMode"] == "xml";
    for (number, (expected_request, actual_request)) in expected_requests.iter().zip(actual_requests).enumerate() {
        let path = format!("/requests/{number}");
        if let Some(iteration) = beginnings.iter().position(|&beginning| beginning == number) {
            let (before, now) = (json::list(heads.1), json::list(actual_request));
            // In standard mode a fresh list begins with the one before, too.
            if xml && iteration > 0 && now.len() > before.len() && now.starts_with(before) {
                let note = format!("iteration {} goes on with the messages of the one before", iteration + 1);
                return Some(Difference::note(clause::CTX_FRESH, note));
            }
            current = iteration;
            heads = (expected_request, actual_request);
            if let Some(difference) = head(input, iteration + 1, actual, actual_request, texts) {
                return Some(at(difference, &path));
            }
            continue;
        }
        let [expected_head, actual_head] = [heads.0, heads.1].map(|head| json::list(head).len());
        let (Value::Array(expected_request), Value::Array(actual_request)) = (expected_request, actual_request) else {
            return Some(Difference::values(clause::TOOLS_ACCUMULATE, &path, expected_request, actual_request));
        };
        if !actual_request.starts_with(json::list(heads.1)) {
            let note = format!("request {number} does not begin with the first request of iteration {}", current + 1);
            return Some(Difference::note(clause::CTX_FRESH, note));
        }
        let [expected_request, actual_request] =
            [&expected_request[expected_head..], &actual_request[actual_head..]].map(|live| Value::from(live.to_vec()));
        if let Some(difference) = live(&expected_request, &actual_request, "", texts) {
            return Some(at(difference, &path));
        }
    }
    let limited = if input["maxToolCallsPerIteration"].is_u64() { clause::LOOP_LIMIT } else { clause::TOOLS_STOP };
    (expected_requests.len() != actual_requests.len()).then(|| {
        Difference::values(limited, "/requests", &requests(expected_requests.len()), &requests(actual_requests.len()))
    })
}

fn at(difference: Difference, path: &str) -> Difference {
    let mismatch = difference.mismatch.map(|mut mismatch| {
        mismatch.path.insert_str(0, path);
        mismatch
    });
    Difference { mismatch, ..difference }
}

/// Compares the first request of an iteration with what the reference builds from the testee's own events so far.
fn head(input: &Value, iteration: usize, actual: &Value, request: &Value, texts: &Texts) -> Option<Difference> {
    let current = u32::try_from(iteration).map_or(f64::INFINITY, f64::from);
    let before = |event: &&Value| event["iteration"].as_f64().is_some_and(|number| number < current);
    let so_far: Vec<Value> = list(actual, "events").iter().take_while(before).cloned().collect();
    let mut question = json!({"events": so_far});
    for name in ["contextMode", "instructions"] {
        question[name] = input[name].clone();
    }
    let question = Request { id: 0, op: Op::Messages, profile: texts.profile.into(), input: question.to_string() };
    let Reply::Ok(expected) = Reference.answer(&question) else {
        return Some(Difference::note(clause::LOOP_EVENTS, "its events cannot be read as events"));
    };
    let (Value::Array(expected), Value::Array(request)) = (&expected, request) else {
        return Some(Difference::values(clause::LOOP_RETAIN, "", &expected, request));
    };
    let events = match events(&Value::from(so_far)) {
        Ok(events) => events,
        Err(error) => {
            return Some(Difference::note(clause::LOOP_EVENTS, format!("its events cannot be read: {error}")));
        }
    };
    let context = Context { events: &events, xml: input["contextMode"] == "xml" };
    let difference = messages::messages(&context, expected, request, texts)?;
    // What should be carried over and is missing altogether is the loop's fault, not that of how messages are built.
    let lost = expected.len() > request.len() || difference.clause == clause::DOC_2;
    let clause = if iteration > 1 && lost { clause::LOOP_RETAIN } else { difference.clause };
    Some(Difference { clause, ..difference })
}

/// The iterations that end because of the limit, counted from 1.
fn limited_iterations(input: &Value, requests: usize) -> Vec<u64> {
    let mut begins = beginnings(input, requests);
    begins.push(requests);
    let ends = (1..).zip(begins.windows(2));
    let limited = |begin: usize, end: usize| {
        (end - begin) as u64 == request_limit(input) && !list(&input["model"][end - 1], "tool_calls").is_empty()
    };
    ends.filter(|(_, pair)| limited(pair[0], pair[1])).map(|(iteration, _)| iteration).collect()
}
