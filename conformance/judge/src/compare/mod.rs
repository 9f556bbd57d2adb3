//! Compares a reply with the reference's, or with one that the profile accepts in its place, and finds the broken clause.
//!
//! Besides what [`crate::tolerance`] lists, the following is accepted, as cases accept it by their expectations:
//!
//! | output | accepted in its place |
//! |---|---|
//! | every text | for a lone surrogate its JSON escape inside JSON text, in literal anything (INP-SURROGATE); for an integer beyond 2^53 its exact digits or all digits of its double, however the input spells it (JSON-LARGE) |
//! | names, ids and keys that differ only in lone surrogates | as one or as several |
//! | document, literal | forbidden characters dropped or replaced, either name of a repeated id, an absent result empty |
//! | response prefix | an empty one as nothing or one LF |
//! | tools, literal | calls that a limit cuts off answered in any words |
//! | tools, loop | the words of errors, of the model and of tools |
//! | loop, literal | a text beside calls recorded as an event or not, and a limit of zero as the default |
//! | a refusal | for what `tolerance::may_refuse` says |
//!
//! A document in which nothing is found must still pass the oracles of the library.

mod agent;
mod document;
mod fault;
mod faults;
mod messages;
mod spelling;
mod texts;

pub use fault::{FaultKey, FaultKind, OutputFault};
pub use faults::faults;

use crate::corpus::mismatch::{Mismatch, Side, Sides};
use crate::protocol::{ChatMessage, Implementation, Input, Op, Output, Part, RejectKind, Reply, Request, Shape};
use crate::reference::Reference;
use crate::tolerance::{self, Asked};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt::Display;
use texts::Texts;
use threadspec::Event;
use threadspec_golden::clause;

/// The clauses whose error texts only their own cases demand: the wording of a framework tells nothing about an input.
const WORDS_OF_ERRORS: [&str; 2] = [clause::LOOP_ERROR, clause::LOOP_TOOL_ERROR];

/// How a reply departs from what is accepted.
#[derive(Clone, Debug)]
pub struct Difference {
    /// The clause that decides it.
    pub clause: &'static str,
    /// A description of the fault, in words; empty where the mismatch shows it.
    pub note: String,
    /// Where the reply departs from the reference's.
    pub mismatch: Option<Mismatch>,
}

impl Difference {
    pub(super) fn new(clause: &'static str, mismatch: Mismatch) -> Self {
        Self { clause, note: String::new(), mismatch: Some(mismatch) }
    }

    /// Makes a difference that words describe.
    pub fn note(clause: &'static str, note: impl Into<String>) -> Self {
        Self { clause, note: note.into(), mismatch: None }
    }

    fn values(clause: &'static str, path: &str, expected: Side, actual: Side) -> Self {
        Self::new(clause, Mismatch { path: path.to_owned(), sides: Sides::Values { expected, actual } })
    }
}

/// The clause that is broken when a valid input gets no proper answer.
pub fn answering_clause(op: Op) -> &'static str {
    match op {
        Op::Escape => clause::ESC_3,
        Op::Serialize => clause::DOC_4,
        Op::Messages => clause::EQ_1,
        Op::Tools => clause::TOOLS_STOP,
        Op::Loop => clause::LOOP_EVENTS,
        Op::Session => clause::SESSION_CUT,
    }
}

/// The reference's answer, and how the actual one departs from all that is accepted.
pub fn compare(request: &Request, actual: &Reply) -> (Reply, Option<Difference>) {
    let expected = Reference.answer(request);
    let difference = match (&expected, actual) {
        (Reply::Ok(output), Reply::Ok(actual)) if output == actual => None,
        (Reply::Ok(output), Reply::Ok(actual)) => {
            let output = Output::read(request.op, output.clone());
            // What `must` clauses say comes first, then what `should` clauses shape.
            let departs = |held: bool| settled_difference(request, &output, actual, held);
            let must = departs(false).map(|found| shaped(request, &output, actual, found));
            must.or_else(|| departs(true).map(|found| observed(request.op, found)))
        }
        (Reply::Reject { kind, .. }, Reply::Reject { kind: actual, .. }) if kind == actual => None,
        (Reply::Reject { kind, message }, Reply::Ok(_)) => {
            Some(Difference::note(clause::INP_1, format!("a rejection ({kind}) was expected: {message}")))
        }
        (Reply::Reject { kind, .. }, Reply::Reject { kind: actual, message }) => {
            Some(Difference::note(clause::INP_1, format!("rejected as {actual}, but {kind} was expected: {message}")))
        }
        (Reply::Ok(_), Reply::Reject { .. })
            if tolerance::may_refuse(request.op, request.profile.rendering(), &request.input) =>
        {
            None
        }
        (Reply::Ok(_), Reply::Reject { kind, message }) => {
            let is_odd = *kind == RejectKind::InvalidEvent && tolerance::has_odd_iterations(&request.input);
            let clause = if is_odd { clause::INP_1 } else { answering_clause(request.op) };
            Some(Difference::note(clause, format!("a valid input is rejected ({kind}): {message}")))
        }
        (_, Reply::Unsupported(_) | Reply::Cut { .. }) | (Reply::Unsupported(_) | Reply::Cut { .. }, _) => None,
    };
    (expected, difference)
}

/// A difference that only a `should` clause makes; in messages that is CTX-SUMMARIES.
fn observed(op: Op, difference: Difference) -> Difference {
    if op == Op::Messages { Difference { clause: clause::CTX_SUMMARIES, ..difference } } else { difference }
}

/// A difference, blamed on the `should` clause that is not followed where all else is as it should be: such a run has other requests.
fn shaped(request: &Request, expected: &Output, actual: &Value, difference: Difference) -> Difference {
    let clause = neglected(request, expected, actual).unwrap_or(difference.clause);
    Difference { clause, ..difference }
}

/// The `should` clause without which a run is as it should be.
fn neglected(request: &Request, expected: &Output, actual: &Value) -> Option<&'static str> {
    let Output::Run(expected_run) = expected else { return None };
    let is_answer =
        |request: &Request, expected: &Output| settled_difference(request, expected, actual, false).is_none();
    let other = tolerance::neglectful_inputs(&request.input).into_iter().find(|(_, input)| {
        let other = Request { input: input.as_str().into(), ..request.clone() };
        reference_output(&other).is_some_and(|expected| is_answer(&other, &expected))
    });
    if let Some((clause, _)) = other {
        return Some(clause);
    }
    let input = Input::read(&request.input).ok()?;
    let asked =
        Asked { op: request.op, profile: request.profile.rendering(), input: &request.input, holds: &|_| false };
    let Output::Run(settled) = tolerance::settled(&asked, Cow::Borrowed(actual)) else { return None };
    if let Some(early) = agent::ended_with(&input, expected_run, &settled) {
        return is_answer(request, &early.run).then_some(early.clause);
    }
    let late = agent::ended_with(&input, &settled, expected_run)?;
    settled_difference(request, expected, &late.run.into_json(), false).is_none().then_some(late.clause)
}

/// How an output departs from the expected one; `held` says whether `should` clauses must hold exactly.
fn settled_difference(request: &Request, expected: &Output, actual: &Value, held: bool) -> Option<Difference> {
    let actual = settled(request, actual, held);
    if *expected == actual {
        return None;
    }
    let difference = outputs(request, expected, &actual)?;
    let profile = request.profile.rendering();
    if texts::halves_collide(&request.input, profile) {
        return None;
    }
    match tolerance::other_input(request.op, profile, &request.input) {
        Some(input) => {
            let other = Request { input: input.into(), ..request.clone() };
            let Some(expected) = reference_output(&other) else { return Some(difference) };
            outputs(&other, &expected, &actual).map(|_| difference)
        }
        None => Some(difference),
    }
}

/// An output in which what is tolerated is settled.
fn settled(request: &Request, actual: &Value, held: bool) -> Output {
    let holds = |clause: &str| held && !WORDS_OF_ERRORS.contains(&clause);
    let asked = Asked { op: request.op, profile: request.profile.rendering(), input: &request.input, holds: &holds };
    tolerance::settled(&asked, Cow::Borrowed(actual))
}

/// Returns the reference's output, if it accepts the request.
fn reference_output(request: &Request) -> Option<Output> {
    match Reference.answer(request) {
        Reply::Ok(output) => Some(Output::read(request.op, output)),
        Reply::Reject { .. } | Reply::Unsupported(_) | Reply::Cut { .. } => None,
    }
}

/// Two outputs, and what they are compared by.
struct Compared<'a> {
    request: &'a Request,
    input: Input,
    events: Vec<Event>,
    expected: &'a Output,
    actual: &'a Output,
    texts: Texts,
}

/// Compares two outputs. The error says why the input cannot be read again.
fn compared<T>(
    request: &Request,
    expected: &Output,
    actual: &Output,
    compare: &dyn Fn(Compared<'_>) -> T,
) -> Result<T, String> {
    let texts = Texts::of(&request.input, request.profile.rendering());
    let marked = texts.input(&request.input);
    let other = match &marked {
        Cow::Borrowed(_) => None,
        Cow::Owned(input) => reference_output(&Request { input: input.as_str().into(), ..request.clone() }),
    };
    let expected = other.as_ref().unwrap_or(expected);
    let input = Input::read(&marked).map_err(|error| error.to_string())?;
    let events = match request.op {
        Op::Serialize | Op::Messages => input.events().map_err(|error| error.to_string())?,
        Op::Escape | Op::Tools | Op::Loop | Op::Session => Vec::new(),
    };
    Ok(compare(Compared { request, input, events, expected, actual, texts }))
}

fn outputs(request: &Request, expected: &Output, actual: &Output) -> Option<Difference> {
    let unreadable = |error: &dyn Display| {
        let note = format!("the input cannot be read again: {error}");
        Some(Difference::note(answering_clause(request.op), note))
    };
    let first = |Compared { input, events, expected, actual, texts, .. }: Compared<'_>| match (expected, actual) {
        (Output::Text(expected), Output::Text(actual)) if request.op == Op::Escape => match input.text.text() {
            Some(text) => document::escaped(text, expected, actual, &texts),
            None => unreadable(&"its `text` is no string"),
        },
        (Output::Text(expected), Output::Text(actual)) => {
            document::with_prefix(&events, input.response_prefix.text(), expected, actual, &texts)
        }
        (Output::Messages(expected), Output::Messages(actual)) => {
            let context = messages::Context { events: &events, xml: input.is_in_xml_mode() };
            messages::messages(&context, expected, actual, &texts)
        }
        (Output::Rounds(expected), Output::Rounds(actual)) => agent::tools(&input, expected, actual, &texts),
        (Output::Run(expected), Output::Run(actual)) => agent::outer_loop(&input, expected, actual, &texts),
        _ => {
            let [expected, actual] = [expected, actual].map(|output| Side::of(&output.clone().into_json()));
            Some(Difference::values(answering_clause(request.op), "", expected, actual))
        }
    };
    compared(request, expected, actual, &first).unwrap_or_else(|error| unreadable(&error))
}

/// The first departure of a part of an output from the expected one.
fn departure<T: Shape + PartialEq>(
    expected: &Part<T>,
    actual: &Part<T>,
    path: &str,
    texts: &Texts,
) -> Option<Mismatch> {
    // Nearly everything is the same, and need not be written as JSON.
    if expected == actual { None } else { texts.mismatch(&expected.to_json(), &actual.to_json(), path) }
}

fn side<T: Shape>(part: &Part<T>) -> Side {
    Side::of(&part.to_json())
}

/// An element of a list as a message, without anything if it is none: used only to name the clause of a difference already found.
fn as_message(element: Option<&Part<ChatMessage>>) -> &ChatMessage {
    static NO_MESSAGE: ChatMessage =
        ChatMessage { speaker: Part::Missing, content: Part::Missing, calls: Part::Missing, call_id: Part::Missing };
    element.and_then(Part::proper).unwrap_or(&NO_MESSAGE)
}

/// A text, empty if there is none: used only to name the clause of a difference already found.
fn text(text: &Part<String>) -> &str {
    text.text().unwrap_or_default()
}
