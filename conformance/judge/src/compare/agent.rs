//! Compares tool rounds and runs of the outer loop.
//!
//! The events are judged first, and then the first request of each iteration against the testee's own events so far. So requests must have
//! what the events have where there is a choice: a text beside calls, which the literal profile may record or lose (LOOP-TEXT).

use super::messages::{self, Context, tool_text_clause};
use super::texts::Texts;
use super::{Difference, departure, reference_output, side, text};
use crate::corpus::mismatch::Side;
use crate::protocol::{
    Call, ChatMessage, EventBody, Input, LoopOutput, Op, Output, Part, Parts, Request, ScriptedTurn, Shape, Speaker,
    ThreadEvent, ToolsOutput,
};
use crate::tolerance::input::{beginnings, request_limit};
use serde_json::{Number, Value, json};
use std::borrow::Cow;
use threadspec::agent::StopReason;
use threadspec::{Profile, Role, read_events};
use threadspec_golden::clause;

/// The hardened answer to a call that a limit cuts off (TOOLS-CUT).
const NOT_EXECUTED: &str = "[Not executed: limit reached]";

/// Reports a value in an output where a list should be.
fn no_list<T: Shape>(
    path: &str,
    clause: &'static str,
    expected: &Part<Parts<T>>,
    actual: &Part<Parts<T>>,
) -> Option<Difference> {
    let differs = || Difference::values(clause, path, side(expected), side(actual));
    actual.proper().is_none().then(differs)
}

/// Compares outputs of `tools`.
pub(super) fn tools(input: &Input, expected: &ToolsOutput, actual: &ToolsOutput, texts: &Texts) -> Option<Difference> {
    let missing = no_list("/requests", clause::TOOLS_STOP, &expected.requests, &actual.requests)
        .or_else(|| no_list("/messages", clause::TOOLS_STOP, &expected.messages, &actual.messages));
    if missing.is_some() {
        return missing;
    }
    let (expected_requests, actual_requests) = (expected.requests.list(), actual.requests.list());
    let rounds = expected_requests
        .iter()
        .zip(actual_requests)
        .enumerate()
        .find_map(|(number, (expected, actual))| live(expected, actual, &format!("/requests/{number}"), texts));
    let limited = if is_count(&input.max_recursion_depth) { clause::TOOLS_DEPTH } else { clause::TOOLS_STOP };
    let messages = without_answers_to_cut_calls(&expected.messages, &actual.messages, texts.profile);
    rounds.or_else(|| another_count(limited, expected_requests.len(), actual_requests.len())).or_else(|| {
        let difference = live(&expected.messages, &messages, "/messages", texts)?;
        let clause = match expected.messages.list().last().and_then(Part::proper) {
            Some(last) if last.calls.proper().is_some() => clause::TOOLS_DEPTH,
            Some(last) if last.content.is(NOT_EXECUTED) && difference.clause != clause::TOOLS_DISTINCT => {
                clause::TOOLS_CUT
            }
            _ => difference.clause,
        };
        Some(Difference { clause, ..difference })
    })
}

/// Returns whether a limit is written as a count.
fn is_count(limit: &Part<Number>) -> bool {
    limit.proper().is_some_and(Number::is_u64)
}

/// The list at the end without answers to calls that a limit cuts off, which the literal profile permits.
fn without_answers_to_cut_calls<'a>(
    expected: &Part<Parts<ChatMessage>>,
    actual: &'a Part<Parts<ChatMessage>>,
    profile: Profile,
) -> Cow<'a, Part<Parts<ChatMessage>>> {
    let (expected, messages) = (expected.list(), actual.list());
    let cut = expected.last().and_then(Part::proper).map(|last| last.calls.list()).unwrap_or_default();
    let answers = messages.get(expected.len()..).unwrap_or_default();
    let answers_call = |(answer, call): (&Part<ChatMessage>, &Part<Call>)| match (answer, call) {
        (Part::Proper(answer), Part::Proper(call)) => answer.call_id == call.id,
        _ => false,
    };
    if profile == Profile::Literal
        && !cut.is_empty()
        && answers.len() == cut.len()
        && answers.iter().zip(cut).all(answers_call)
    {
        Cow::Owned(messages[..expected.len()].to_vec().into())
    } else {
        Cow::Borrowed(actual)
    }
}

fn another_count(clause: &'static str, expected: usize, actual: usize) -> Option<Difference> {
    let requests = |count: usize| Side::words(format!("{count} requests"));
    (expected != actual).then(|| Difference::values(clause, "/requests", requests(expected), requests(actual)))
}

/// Compares lists of messages to which rounds have appended.
fn live(
    expected: &Part<Parts<ChatMessage>>,
    actual: &Part<Parts<ChatMessage>>,
    path: &str,
    texts: &Texts,
) -> Option<Difference> {
    let mismatch = departure(expected, actual, path, texts)?;
    let (Part::Proper(expected), Part::Proper(actual)) = (expected, actual) else {
        return Some(Difference::new(clause::TOOLS_ACCUMULATE, mismatch));
    };
    let mut pairs = expected.iter().zip(actual);
    let differing = pairs.find(|(expected, actual)| departure(expected, actual, "", texts).is_some());
    let clause = match differing {
        None if actual.len() > expected.len() => clause::TOOLS_SNAPSHOT,
        Some((Part::Proper(expected), Part::Proper(actual))) => appended_clause(expected, actual, texts),
        _ => clause::TOOLS_ACCUMULATE,
    };
    Some(Difference::new(clause, mismatch))
}

/// The clause of a message that a round has appended.
fn appended_clause(expected: &ChatMessage, actual: &ChatMessage, texts: &Texts) -> &'static str {
    match expected.speaker.proper().filter(|_| expected.speaker == actual.speaker) {
        Some(Speaker::Ai) if departure(&expected.content, &actual.content, "", texts).is_some() => {
            clause::TOOLS_CONTENT
        }
        Some(Speaker::Ai) if repeats_are_renamed_otherwise(expected, actual) => clause::TOOLS_DISTINCT,
        Some(Speaker::Tool) if departure(&expected.call_id, &actual.call_id, "", texts).is_some() => clause::TOOLS_ID,
        Some(Speaker::Tool) => result_clause(text(&expected.content), text(&actual.content), texts),
        _ => clause::TOOLS_ACCUMULATE,
    }
}

/// Returns whether two AI messages have the same calls, but for the ids of some.
fn repeats_are_renamed_otherwise(expected: &ChatMessage, actual: &ChatMessage) -> bool {
    let (expected, actual) = (expected.calls.list(), actual.calls.list());
    let calls = || expected.iter().zip(actual).map(|(expected, actual)| (expected.proper(), actual.proper()));
    let differs =
        |part: fn(&Call) -> &Part<String>| calls().any(|(expected, actual)| expected.map(part) != actual.map(part));
    expected.len() == actual.len() && !differs(|call| &call.name) && differs(|call| &call.id)
}

/// The clause that a wrong tool result breaks.
fn result_clause(expected: &str, actual: &str, texts: &Texts) -> &'static str {
    if expected.starts_with("Tool error: ") || expected.starts_with("Tool not found: ") {
        clause::LOOP_TOOL_ERROR
    } else {
        tool_text_clause(expected, actual, texts)
    }
}

/// Compares outputs of `loop`.
pub(super) fn outer_loop(
    input: &Input,
    expected: &LoopOutput,
    actual: &LoopOutput,
    texts: &Texts,
) -> Option<Difference> {
    let missing = no_list("/requests", clause::LOOP_EVENTS, &expected.requests, &actual.requests)
        .or_else(|| no_list("/events", clause::LOOP_EVENTS, &expected.events, &actual.events));
    if missing.is_some() {
        return missing;
    }
    let recordable = if texts.profile == Profile::Literal { texts_beside_calls(input) } else { Vec::new() };
    let stopped = [expected, actual].map(|run| run.stop_reason.is(&StopReason::StopCondition));
    if stopped[0] != stopped[1] {
        let mismatch = departure(&expected.stop_reason, &actual.stop_reason, "/stopReason", texts)?;
        return Some(Difference::new(clause::LOOP_MAX, mismatch));
    }
    let limited = limited_iterations(input, expected.requests.list().len());
    let another_response = || departure(&expected.response, &actual.response, "/response", texts);
    events_of_run(expected.events.list(), actual.events.list(), &recordable, texts)
        .map(|(event, difference)| {
            let number = event.and_then(|event| event.iteration.proper()?.as_u64());
            let at_limit = number.is_some_and(|iteration| limited.contains(&iteration));
            // A completion repeats the response of the run.
            let is_response = || {
                matches!(event.map(|event| &event.body), Some(EventBody::Completion { result, .. }) if *result == expected.response)
                    && another_response().is_some()
            };
            let clause = match difference.clause {
                clause::LOOP_EVENTS if at_limit => clause::LOOP_LIMIT,
                clause::LOOP_VERIFY if is_response() => clause::LOOP_RESPONSE,
                clause => clause,
            };
            Difference { clause, ..difference }
        })
        .or_else(|| requests_of_run(input, expected, actual, texts))
        .or_else(|| {
            let by_reason = match expected.stop_reason.proper() {
                Some(StopReason::StopCondition) => clause::LOOP_MAX,
                Some(StopReason::MaxErrors) => clause::LOOP_ERROR,
                Some(StopReason::Completed) | None => clause::LOOP_VERIFY,
            };
            let count = || departure(&expected.iterations, &actual.iterations, "/iterations", texts);
            departure(&expected.stop_reason, &actual.stop_reason, "/stopReason", texts)
                .map(|mismatch| Difference::new(by_reason, mismatch))
                .or_else(|| Some(Difference::new(clause::LOOP_PROMPT, count()?)))
                .or_else(|| Some(Difference::new(clause::LOOP_RESPONSE, another_response()?)))
        })
}

/// A run that ended earlier, and the clause that says when it ends.
pub(super) struct Ended {
    pub(super) run: Output,
    pub(super) clause: &'static str,
}

/// A run, ended with the last iteration of a shorter one, and as that one.
pub(super) fn ended_with(input: &Input, longer: &LoopOutput, shorter: &LoopOutput) -> Option<Ended> {
    let count = shorter.requests.list().len();
    let all = longer.requests.list().len();
    let iterations = beginnings(input, all).iter().position(|&beginning| beginning == count)?;
    // A model call beyond the script fails, too.
    let is_failure = input.turn(count.checked_sub(1)?).is_none_or(|turn| turn.error.proper().is_some());
    let clause = match shorter.stop_reason.proper() {
        _ if is_failure => clause::LOOP_ERROR,
        Some(StopReason::StopCondition) => clause::LOOP_MAX,
        _ => clause::LOOP_VERIFY,
    };
    let mut run = longer.clone();
    run.requests.proper_mut()?.truncate(count);
    let events = run.events.proper_mut()?;
    events.retain(|event| {
        let number = event.proper().and_then(|event| event.iteration.proper()?.as_u64());
        number.is_some_and(|number| number <= iterations as u64)
    });
    // What ends a run is not followed by feedback, perhaps by a completion, and called final or not.
    let mut end = shorter.events.list().iter().rev().peekable();
    let completion = end.next_if(|event| matches!(body(event), Some(EventBody::Completion { .. })));
    let is_said = |event: &Part<ThreadEvent>| body(event).is_some_and(|body| body.said_by(Role::User).is_some());
    if end.peek().is_some_and(|last| !is_said(last)) {
        events.pop_if(|last| is_said(last));
    }
    if let (Some(last), Some(error), true) = (events.last_mut().and_then(Part::proper_mut), end.next(), is_failure)
        && let (EventBody::Error { recoverable, .. }, Some(EventBody::Error { recoverable: other, .. })) =
            (&mut last.body, body(error))
    {
        recoverable.clone_from(other);
    }
    events.extend(completion.cloned());
    let LoopOutput { response, iterations, stop_reason, .. } = shorter.clone();
    let run = LoopOutput { response, iterations, stop_reason, ..run };
    Some(Ended { run: Output::Run(Box::new(run)), clause })
}

fn body(event: &Part<ThreadEvent>) -> Option<&EventBody> {
    event.proper().map(|event| &event.body)
}

/// The texts beside calls, each of which the literal profile may record.
fn texts_beside_calls(input: &Input) -> Vec<&str> {
    let turns = input.turns().filter(|turn| turn.has_calls());
    turns.filter_map(|turn| turn.content.text()).filter(|text| !text.is_empty()).collect()
}

/// Compares the events in order. Texts beside calls may be between the expected events, and a text that was before its calls need not
/// come again when a limit ends the iteration. Returns the first event that differs, if it is one, and how.
fn events_of_run<'a>(
    expected: &'a [Part<ThreadEvent>],
    actual: &'a [Part<ThreadEvent>],
    recordable: &[&str],
    texts: &Texts,
) -> Option<(Option<&'a ThreadEvent>, Difference)> {
    let is_recorded = |event: &Part<ThreadEvent>| {
        let content = body(event).and_then(|body| body.said_by(Role::Assistant)?.text());
        content.is_some_and(|content| recordable.iter().any(|text| texts.same(text, content)))
    };
    let is_completion = |event: &Part<ThreadEvent>| matches!(body(event), Some(EventBody::Completion { .. }));
    let missing = |position, event: &'a Part<ThreadEvent>, path: &str| {
        let clause = event_clause(position, event.proper(), None, texts);
        (event.proper(), Difference::values(clause, path, side(event), Side::nothing()))
    };
    let (mut expected_at, mut actual_at) = (0, 0);
    loop {
        let path = format!("/events/{actual_at}");
        match (expected.get(expected_at), actual.get(actual_at)) {
            (None, None) => return None,
            (Some(event), Some(other)) => match departure(event, other, &path, texts) {
                None => (expected_at, actual_at) = (expected_at + 1, actual_at + 1),
                Some(_) if is_recorded(other) => actual_at += 1,
                Some(_) if is_recorded(event) => expected_at += 1,
                // The run ended without it, whether the completion was sent or is tolerated to be missing.
                Some(_) if is_completion(other) && !is_completion(event) => {
                    return Some(missing(expected_at, event, &path));
                }
                Some(mismatch) => {
                    let clause = event_clause(expected_at, event.proper(), other.proper(), texts);
                    return Some((event.proper(), Difference::new(clause, mismatch)));
                }
            },
            (Some(event), None) if is_recorded(event) => expected_at += 1,
            (None, Some(other)) if is_recorded(other) => actual_at += 1,
            (Some(event), None) => return Some(missing(expected_at, event, &path)),
            (None, Some(other)) => {
                let clause = event_clause(expected_at, other.proper(), None, texts);
                return Some((other.proper(), Difference::values(clause, &path, Side::nothing(), side(other))));
            }
        }
    }
}

fn event_clause(
    position: usize,
    expected: Option<&ThreadEvent>,
    actual: Option<&ThreadEvent>,
    texts: &Texts,
) -> &'static str {
    let is_renumbered = |expected: &ThreadEvent, actual: &ThreadEvent| {
        expected.body.is_like(&actual.body) && departure(&expected.iteration, &actual.iteration, "", texts).is_some()
    };
    if position == 0 || expected.zip(actual).is_some_and(|(expected, actual)| is_renumbered(expected, actual)) {
        return clause::LOOP_PROMPT;
    }
    let bodies = [expected, actual].map(|event| event.map(|event| &event.body));
    match bodies {
        [Some(EventBody::Completion { .. }), _] => clause::LOOP_VERIFY,
        _ if bodies.into_iter().flatten().any(|body| body.said_by(Role::User).is_some()) => clause::LOOP_VERIFY,
        [Some(EventBody::Error { .. }), _] => clause::LOOP_ERROR,
        [Some(EventBody::Message { .. }), Some(EventBody::ToolCall { .. })] if texts.profile == Profile::Hardened => {
            clause::LOOP_TEXT
        }
        [Some(EventBody::ToolResult { result: expected, .. }), Some(EventBody::ToolResult { result: actual, .. })]
            if departure(expected, actual, "", texts).is_some() =>
        {
            let [expected, actual] = [expected, actual].map(|result| result.proper().and_then(Value::as_str));
            match result_clause(expected.unwrap_or_default(), actual.unwrap_or_default(), texts) {
                clause::MSG_RESULT => clause::LOOP_EVENTS,
                clause => clause,
            }
        }
        _ => clause::LOOP_EVENTS,
    }
}

/// Compares the requests: in each iteration the thread so far, then what its rounds appended.
fn requests_of_run(input: &Input, expected: &LoopOutput, actual: &LoopOutput, texts: &Texts) -> Option<Difference> {
    let (expected_requests, actual_requests) = (expected.requests.list(), actual.requests.list());
    let (mut current, mut heads): (_, [&[Part<ChatMessage>]; 2]) = (0, [&[], &[]]);
    let beginnings = beginnings(input, expected_requests.len());
    for (number, (expected_request, actual_request)) in expected_requests.iter().zip(actual_requests).enumerate() {
        let path = format!("/requests/{number}");
        let (expected_list, actual_list) = (expected_request.list(), actual_request.list());
        if let Some(iteration) = beginnings.iter().position(|&beginning| beginning == number) {
            let before = heads[1];
            // In standard mode a fresh list begins with the one before, too.
            if input.is_in_xml_mode()
                && iteration > 0
                && actual_list.len() > before.len()
                && actual_list.starts_with(before)
            {
                let note = format!("iteration {} goes on with the messages of the one before", iteration + 1);
                return Some(Difference::note(clause::CTX_FRESH, note));
            }
            current = iteration;
            heads = [expected_list, actual_list];
            if let Some(difference) = head(input, iteration + 1, actual, actual_request, texts) {
                return Some(at(difference, &path));
            }
            continue;
        }
        if expected_request.proper().is_none() || actual_request.proper().is_none() {
            let [expected, actual] = [expected_request, actual_request].map(side);
            return Some(Difference::values(clause::TOOLS_ACCUMULATE, &path, expected, actual));
        }
        let Some(appended) = actual_list.strip_prefix(heads[1]) else {
            let note = format!("request {number} does not begin with the first request of iteration {}", current + 1);
            return Some(Difference::note(clause::CTX_FRESH, note));
        };
        let [expected, actual] = [&expected_list[heads[0].len()..], appended].map(|list| list.to_vec().into());
        if let Some(difference) = live(&expected, &actual, "", texts) {
            return Some(at(difference, &path));
        }
    }
    let limited = if is_count(&input.max_tool_calls_per_iteration) { clause::LOOP_LIMIT } else { clause::TOOLS_STOP };
    another_count(limited, expected_requests.len(), actual_requests.len())
}

fn at(difference: Difference, path: &str) -> Difference {
    let mismatch = difference.mismatch.map(|mut mismatch| {
        mismatch.path.insert_str(0, path);
        mismatch
    });
    Difference { mismatch, ..difference }
}

/// Compares the first request of an iteration with what the reference builds from the testee's own events so far.
fn head(
    input: &Input,
    iteration: usize,
    actual: &LoopOutput,
    request: &Part<Parts<ChatMessage>>,
    texts: &Texts,
) -> Option<Difference> {
    let current = u32::try_from(iteration).map_or(f64::INFINITY, f64::from);
    let before = |event: &&Part<ThreadEvent>| {
        let number = event.proper().and_then(|event| event.iteration.double());
        number.is_some_and(|number| number < current)
    };
    let so_far: Parts<ThreadEvent> = actual.events.list().iter().take_while(before).cloned().collect();
    let so_far = so_far.into_json();
    let question = json!({
        "events": so_far,
        "contextMode": input.context_mode.to_json(),
        "instructions": input.instructions.to_json(),
    });
    let question = Request::new(0, Op::Messages, texts.profile, question.to_string());
    let Some(Output::Messages(expected)) = reference_output(&question) else {
        return Some(Difference::note(clause::LOOP_EVENTS, "its events cannot be read as events"));
    };
    let Some(request) = request.proper() else {
        let expected = Side::of(&expected.into_json());
        return Some(Difference::values(clause::LOOP_RETAIN, "", expected, side(request)));
    };
    let events = match read_events(&so_far.to_string()) {
        Ok(events) => events,
        Err(error) => {
            return Some(Difference::note(clause::LOOP_EVENTS, format!("its events cannot be read: {error}")));
        }
    };
    let context = Context { events: &events, xml: input.is_in_xml_mode() };
    let difference = messages::messages(&context, &expected, request, texts)?;
    // What should be carried over and is missing altogether is the loop's fault, not that of how messages are built.
    let lost = expected.len() > request.len() || difference.clause == clause::DOC_2;
    let clause = if iteration > 1 && lost { clause::LOOP_RETAIN } else { difference.clause };
    Some(Difference { clause, ..difference })
}

/// The iterations that end because of the limit, counted from 1.
fn limited_iterations(input: &Input, requests: usize) -> Vec<u64> {
    let mut begins = beginnings(input, requests);
    begins.push(requests);
    let ends = (1..).zip(begins.windows(2));
    let limited = |begin: usize, end: usize| {
        (end - begin) as u64 == request_limit(input) && input.turn(end - 1).is_some_and(ScriptedTurn::has_calls)
    };
    ends.filter(|(_, pair)| limited(pair[0], pair[1])).map(|(iteration, _)| iteration).collect()
}
