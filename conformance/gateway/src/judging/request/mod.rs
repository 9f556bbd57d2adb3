//! Compares each request of a client with the one that arrives: one request, one pair.
//!
//! | module | what it compares |
//! |---|---|
//! | `pieces` | texts in a row |
//! | `texts` | GATE-TEXT, GATE-INVENTED, GATE-MESSAGES, GATE-OPAQUE on the way to the provider |
//! | `calls` | GATE-CALLS, GATE-IDS |
//! | `results` | GATE-RESULT, GATE-MEDIA |
//! | `tools`, `schema` | GATE-TOOLS, GATE-TOOLS-FULL, GATE-CHOICE |
//! | this one | both requests in the form in which they are compared, and the order of messages: GATE-MESSAGES |

mod calls;
mod pieces;
mod results;
mod schema;
mod texts;
mod tools;

pub(super) use calls::KnownIds;
pub(super) use pieces::{TextChange, common_row, compare, is_same};
pub(super) use tools::{KnownNames, marks_of};

use super::{At, GateJudging};
use crate::finding;
use crate::finding::Way;
use crate::run::SentByClient;
use calls::CallPairs;
use results::ResultPairs;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use texts::TextPairs;
use threadspec::oracle::Api;
use threadspec_apis::{ApiRequest, OpaquePart, WireCall, WireMessage};
use threadspec_golden::clause;
use threadspec_judge::protocol::Speaker;
use threadspec_judge::universal::value;
use threadspec_provider::{Attempt, WireLevel};

/// A request on both sides.
struct RequestPair<'j, 'a> {
    judging: &'j mut GateJudging<'a>,
    at: At,
    sent: &'j SentByClient<'a>,
    arrived: &'j ApiRequest,
    body: &'j Value,
    /// The API in which it arrived.
    api: Api,
}

/// Where a difference is in a body, and the text that is there.
#[derive(Clone, Copy, Debug, Default)]
struct Spot<'s> {
    place: Option<&'s str>,
    text: &'s str,
}

impl<'s> Spot<'s> {
    fn new(place: &'s str, text: &'s str) -> Self {
        Self { place: Some(place), text }
    }

    /// Nothing is there.
    fn none() -> Self {
        Self::default()
    }
}

/// Compares the request of an exchange with the attempt that was made of it.
pub(super) fn judge<'a>(judging: &mut GateJudging<'a>, at: At, sent: &SentByClient<'a>, attempt: &Attempt) {
    // What the client only refers to is in neither body.
    let body = if sent.request.previous_response_id.is_some() {
        &attempt.body
    } else {
        attempt.resolved.as_ref().unwrap_or(&attempt.body)
    };
    let Some(body) = value::read(body).ok().filter(Value::is_object) else { return };
    let arrived = ApiRequest::read(attempt.api, &body);
    if is_elsewhere(&sent.request) && attempt.api != sent.request.api {
        return;
    }
    let mut pair = RequestPair { judging, at, sent, arrived: &arrived, body: &body, api: attempt.api };
    let (ours, theirs) = (ComparedThread::of(&sent.request), ComparedThread::of(&arrived));
    let begun = pair.judging.findings.len();
    tools::judge_tools(&mut pair);
    tools::judge_choice(&mut pair);
    texts::judge_opaque(&mut pair, &ours, &theirs);
    let calls = calls::pair(&ours.calls, &theirs.calls, &pair.judging.names);
    let equal = calls::judge_ids(&mut pair, &ours, &theirs, &calls);
    let results = results::judge_results(&mut pair, &ours, &theirs, &calls, &equal);
    let images = results::judge_media(&mut pair, &ours, &theirs, &results);
    calls::judge_calls(&mut pair, &ours, &theirs, &calls, &equal);
    let texts = texts::judge_texts(&mut pair, &ours, &theirs, &results);
    let is_wrong =
        images.is_wrong || results::judge_places(&mut pair, &ours, &theirs, &calls, &results, &texts, &images);
    judge_order(&mut pair, &ours, &theirs, &calls, &results, &texts, begun);
    // What is instead of an image that is lost is no other fault.
    if is_wrong {
        let is_echo = |clause| [clause::GATE_RESULT, clause::GATE_TEXT, clause::GATE_INVENTED].contains(&clause);
        let mut position = 0;
        pair.judging.findings.retain(|finding| {
            position += 1;
            position <= begun || !is_echo(finding.clause)
        });
    }
}

/// Returns whether a part of the history is kept by the provider.
fn is_elsewhere(request: &ApiRequest) -> bool {
    request.previous_response_id.is_some() || request.conversation.is_some() || !request.references.is_empty()
}

/// Returns whether calls and results of a request do not fit together.
pub(super) fn is_broken(request: &ApiRequest) -> bool {
    ComparedThread::of(request).is_broken
}

impl RequestPair<'_, '_> {
    fn must(&mut self, clause: &'static str, what: impl AsRef<str>, sent: Spot<'_>, arrived: Spot<'_>) {
        self.add(clause, WireLevel::Must, what, sent, arrived);
    }

    fn should(&mut self, clause: &'static str, what: impl AsRef<str>, sent: Spot<'_>, arrived: Spot<'_>) {
        self.add(clause, WireLevel::Should, what, sent, arrived);
    }

    fn add(
        &mut self,
        clause: &'static str,
        level: WireLevel,
        what: impl AsRef<str>,
        sent: Spot<'_>,
        arrived: Spot<'_>,
    ) {
        let before = finding::body(self.sent.body(), sent.place, sent.text);
        let behind = finding::body(self.body, arrived.place, arrived.text);
        let exchange = &self.judging.run.exchanges[self.at.exchange];
        let sides = finding::sides(Way::Request, before, behind, exchange);
        self.judging.add(self.at, clause, level, what, Some(sides));
    }
}

// A request in the form in which both sides are compared: texts by who speaks, calls, results and images, each with its message.

/// The character that represents an image in a text.
const OBJECT: &str = "\u{fffc}";

/// A request, taken apart.
#[derive(Debug, Default)]
struct ComparedThread<'a> {
    systems: Vec<TextPiece<'a>>,
    humans: Vec<TextPiece<'a>>,
    ais: Vec<TextPiece<'a>>,
    calls: Vec<ComparedCall<'a>>,
    results: Vec<ComparedResult<'a>>,
    images: Vec<ComparedImage<'a>>,
    /// The images and files that are not in the request itself.
    others: usize,
    opaque: Vec<&'a OpaquePart>,
    /// Calls without a result, results without a call, or with a second one, and results that are elsewhere.
    is_broken: bool,
}

/// A part of a text.
#[derive(Clone, Copy, Debug)]
struct TextPiece<'a> {
    text: &'a str,
    /// The position of its message.
    message: usize,
    place: &'a str,
    /// True if a message that is no system text is before it.
    is_in_middle: bool,
}

/// A call of the model.
#[derive(Clone, Copy, Debug)]
struct ComparedCall<'a> {
    call: &'a WireCall,
    message: usize,
    /// How many calls before it have its id.
    occurrence: usize,
    /// True if its message says or calls nothing else.
    is_alone: bool,
}

/// An answer to a call.
#[derive(Clone, Copy, Debug)]
struct ComparedResult<'a> {
    answer: &'a WireMessage,
    message: usize,
    /// The first message of the answers that touch this one.
    group: usize,
    /// The call that it answers, by its position.
    call: Option<usize>,
}

/// An image, in base64.
#[derive(Clone, Copy, Debug)]
struct ComparedImage<'a> {
    data: &'a str,
    message: usize,
    place: &'a str,
    /// The result that it is in, by its position.
    result: Option<usize>,
}

impl<'a> ComparedThread<'a> {
    fn of(request: &'a ApiRequest) -> Self {
        let mut thread = Self::default();
        let mut open: HashMap<&str, Vec<usize>> = HashMap::new();
        let mut seen: HashMap<&str, usize> = HashMap::new();
        let (mut group, mut calling, mut is_in_middle) = (0, None, false);
        for (message, one) in request.messages.iter().enumerate() {
            let objects = one.parts().filter(|part| *part == OBJECT).count();
            thread.others += objects.saturating_sub(one.images.len());
            thread.opaque.extend(&one.opaque);
            let result = (one.speaker == Speaker::Tool).then_some(thread.results.len());
            let image = |data: &'a String| ComparedImage { data, message, place: &one.place, result };
            thread.images.extend(one.images.iter().map(image));
            let pieces = one.parts().filter(|part| *part != OBJECT && !part.trim().is_empty());
            let pieces = pieces.map(|text| TextPiece { text, message, place: &one.place, is_in_middle });
            match one.speaker {
                Speaker::System => thread.systems.extend(pieces),
                Speaker::Human => thread.humans.extend(pieces),
                Speaker::Ai => thread.ais.extend(pieces),
                Speaker::Tool => {
                    let is_first =
                        message.checked_sub(1).is_none_or(|before| request.messages[before].speaker != Speaker::Tool);
                    if is_first {
                        group = message;
                        thread.is_broken |= message.checked_sub(1) != calling;
                    }
                    let id = one.call_id.as_deref().unwrap_or_default();
                    let call = thread.answered(id, open.get_mut(id));
                    thread.is_broken |= call.is_none();
                    thread.results.push(ComparedResult { answer: one, message, group, call });
                }
            }
            is_in_middle |= one.speaker != Speaker::System;
            let is_alone = one.calls.len() == 1 && one.content.trim().is_empty();
            for call in &one.calls {
                let occurrence = seen.entry(&call.id).or_default();
                open.entry(&call.id).or_default().push(thread.calls.len());
                thread.calls.push(ComparedCall { call, message, occurrence: *occurrence, is_alone });
                *occurrence += 1;
            }
            if !one.calls.is_empty() {
                calling = Some(message);
            }
        }
        thread.opaque.extend(&request.loose);
        thread.is_broken |= open.values().any(|calls| !calls.is_empty());
        thread
    }

    /// The call that the next answer to an id answers: of those that are open, the first one of the last message; else one that was answered.
    fn answered(&mut self, id: &str, open: Option<&mut Vec<usize>>) -> Option<usize> {
        let latest = open.and_then(|open| {
            let last = self.calls[*open.last()?].message;
            let at = open.iter().position(|call| self.calls[*call].message == last)?;
            Some(open.remove(at))
        });
        if latest.is_none() {
            self.is_broken = true;
        }
        latest.or_else(|| self.calls.iter().rposition(|known| known.call.id == id))
    }
}

impl<'a> ComparedCall<'a> {
    fn id(&self) -> &'a str {
        &self.call.id
    }
}

impl<'a> ComparedResult<'a> {
    fn id(&self) -> &'a str {
        self.answer.call_id.as_deref().unwrap_or_default()
    }

    /// The parts of its text.
    fn texts(&self) -> Vec<&'a str> {
        self.answer.parts().filter(|part| *part != OBJECT).collect()
    }
}

// GATE-MESSAGES: the messages are in the order in which they were sent.

/// Judges the order where nothing else is wrong with the messages; `begun` is how many findings there were before.
fn judge_order(
    pair: &mut RequestPair<'_, '_>,
    ours: &ComparedThread<'_>,
    theirs: &ComparedThread<'_>,
    calls: &CallPairs,
    results: &ResultPairs,
    texts: &TextPairs,
    begun: usize,
) {
    let is_known = pair.judging.findings[begun..]
        .iter()
        .any(|finding| [clause::GATE_MESSAGES, clause::GATE_IDS, clause::GATE_MEDIA].contains(&finding.clause));
    if is_known || ours.is_broken {
        return;
    }
    // For each message that was sent the first and the last one that came of it. The answers of a group have no order.
    let mut became: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
    let mut put = |one: usize, other: usize| {
        let range = became.entry(one).or_insert((other, other));
        *range = (range.0.min(other), range.1.max(other));
    };
    for (one, other) in calls.arrived() {
        put(ours.calls[one].message, theirs.calls[other].message);
    }
    for &(one, other) in &results.same {
        put(ours.results[one].group, theirs.results[other].group);
    }
    for &(one, other) in &texts.0 {
        put(one, other);
    }
    let mut latest: Option<(usize, usize)> = None;
    for (one, (first, last)) in became {
        if let Some((before, _)) = latest.filter(|(_, end)| first < *end) {
            let place = |message: usize| pair.sent.request.messages[message].place.clone();
            let (here, there) = (place(one), pair.arrived.messages[first].place.clone());
            let what = format!("{here} was sent behind {}, and arrives ({there}) before it", place(before));
            pair.must(clause::GATE_MESSAGES, what, Spot::new(&here, ""), Spot::new(&there, ""));
            return;
        }
        if latest.is_none_or(|(_, end)| end <= last) {
            latest = Some((one, last));
        }
    }
    calls_in_order(pair, ours, theirs, calls);
}

/// The calls of one message are in their order.
fn calls_in_order(
    pair: &mut RequestPair<'_, '_>,
    ours: &ComparedThread<'_>,
    theirs: &ComparedThread<'_>,
    calls: &CallPairs,
) {
    let became: Vec<(usize, usize)> = calls.arrived().collect();
    let swapped = became.windows(2).find(|two| two[0].1 > two[1].1);
    let Some([(first, _), (second, other)]) = swapped.and_then(|two| <[(usize, usize); 2]>::try_from(two).ok()) else {
        return;
    };
    let [first, second] = [first, second].map(|at| ours.calls[at].call);
    let there = &theirs.calls[other].call.place;
    let what = format!(
        "the call at {} was made behind that at {}, and arrives ({there}) before it",
        second.place, first.place
    );
    pair.must(clause::GATE_MESSAGES, what, Spot::new(&second.place, ""), Spot::new(there, ""));
}
