//! Compares the answers of a log with what the next requests have of them: calls that are lost, texts that are changed.

use super::conversation::{AnswerCall, ConversationCalls, REACH, ids_in_order, missing};
use super::finding::{Place, excerpt};
use super::forms::places_in;
use foldhash::{HashMap, HashSet};
use serde_json::Value;
use std::collections::BTreeMap;
use std::iter::successors;
use threadspec::MemberLookup;
use threadspec::oracle::Api;
use threadspec_apis::follow::{Location, StoredPiece, hash};
use threadspec_judge::protocol::facts;

// Requests whose answers make calls, of which a later request must have one.

/// How many requests that are the same may wait for their answers at the same time.
const MOST_AT_ONCE: usize = 64;

/// A request with an answer that makes calls.
pub(super) struct AnsweredRequest {
    pub(super) place: Place,
    pub(super) calls: Vec<AnswerCall>,
    /// The text of the answer; empty if it has none.
    pub(super) text: String,
    /// How much of it is before each call, if the answer is a list of blocks.
    pub(super) places: Vec<usize>,
    pub(super) tokens: Option<(u64, u64)>,
    /// How many pieces the request has.
    pub(super) length: usize,
    /// A later request that begins with all of it.
    pub(super) next: Option<usize>,
    /// True if a later one goes on from it, and does not only ask something beside it, such as a title.
    pub(super) is_left: bool,
    /// If that is in a later file: its place, and what this one is called there.
    pub(super) elsewhere: Option<(Place, String)>,
    /// An earlier one that is the same, and a later one.
    pub(super) twin: Option<usize>,
    pub(super) again: Option<usize>,
    pub(super) conversation: usize,
}

impl AnsweredRequest {
    /// One from which none goes on yet.
    pub(super) fn new(place: Place, length: usize, conversation: usize) -> Self {
        let (calls, text, places, tokens) = (Vec::new(), String::new(), Vec::new(), None);
        let (next, is_left) = (None, false);
        let (elsewhere, twin, again) = (None, None, None);
        Self { place, calls, text, places, tokens, length, next, is_left, elsewhere, twin, again, conversation }
    }
}

/// All of them, by their numbers.
#[derive(Default)]
pub(super) struct AnsweredRequests {
    requests: BTreeMap<usize, AnsweredRequest>,
    /// The last requests that only ask something beside one of them, by their numbers.
    beside: HashMap<usize, usize>,
}

impl AnsweredRequests {
    pub(super) fn insert(&mut self, number: usize, request: AnsweredRequest) {
        self.requests.insert(number, request);
    }

    pub(super) fn get_mut(&mut self, number: usize) -> Option<&mut AnsweredRequest> {
        self.requests.get_mut(&number)
    }

    /// Request `number`, with so many pieces, begins with all of this one. If it has no reply of a model behind it, it may only ask something beside
    /// it, until another one goes on from it.
    pub(super) fn go_on(&mut self, number: usize, parent: usize, length: usize, has_new_reply: bool) {
        let asked = self.beside.get(&parent).copied();
        for one in [Some(parent), asked].into_iter().flatten() {
            match self.requests.get_mut(&one).filter(|request| request.length < length) {
                Some(request) if has_new_reply => request.is_left = true,
                Some(_) => _ = self.beside.insert(number, one),
                None => {}
            }
        }
        self.beside.remove(&number.saturating_sub(REACH));
    }

    /// Finds the request that another one continues, among equal ones: the one whose answer it has, with these calls.
    pub(super) fn taken(&self, parent: usize, length: usize, calls: &HashSet<u64>) -> usize {
        let answered = |number: &usize| self.requests.get(number).filter(|one| one.length < length);
        let same = || successors(Some(parent), |number| answered(number)?.twin).take(MOST_AT_ONCE);
        let has_id = |one: &AnsweredRequest| one.calls.iter().any(|(id, ..)| calls.contains(&hash(&&**id)));
        let has_name = |one: &AnsweredRequest| missing(calls, &one.calls).len() < one.calls.len();
        let by_id = same().find(|number| answered(number).is_some_and(has_id));
        let by_name = || same().find(|number| answered(number).is_some_and(has_name));
        by_id.or_else(by_name).unwrap_or(parent)
    }

    /// Those that others go on from without all of their calls, and the calls that are in no history of the conversation.
    pub(super) fn lost<'a>(
        &'a self,
        calls: &'a ConversationCalls,
    ) -> impl Iterator<Item = (&'a AnsweredRequest, Vec<&'a AnswerCall>)> {
        self.requests.iter().filter(|(_, one)| one.is_left).filter_map(|(number, one)| {
            let lost = missing(calls.of(one.conversation)?, &one.calls);
            let is_lost = !lost.is_empty() && (lost.len() < one.calls.len() || !self.is_other_taken(calls, *number));
            is_lost.then_some((one, lost))
        })
    }

    /// Returns whether the same request was waiting for another answer at the same time, and that was taken.
    fn is_other_taken(&self, calls: &ConversationCalls, number: usize) -> bool {
        let answered = &self.requests;
        let Some(one) = answered.get(&number) else { return false };
        let before = successors(one.twin, |other| answered.get(other)?.twin).take(MOST_AT_ONCE);
        let behind = successors(one.again, |other| answered.get(other)?.again).take(MOST_AT_ONCE);
        let is_before_next = |one: &AnsweredRequest, other: usize| one.next.is_some_and(|next| other < next);
        let is_taken = |other: &AnsweredRequest| {
            let known = calls.of(other.conversation);
            known.is_some_and(|known| missing(known, &other.calls).len() < other.calls.len())
        };
        let mut before = before.filter_map(|other| answered.get(&other));
        let behind = behind.take_while(|other| is_before_next(one, *other));
        before.any(|other| is_before_next(other, number) && is_taken(other))
            || behind.filter_map(|other| answered.get(&other)).any(is_taken)
    }

    /// The file has ended; what nobody went on from may go on in the next one.
    pub(super) fn forget_left(&mut self) {
        self.requests.retain(|_, one| !one.is_left);
    }
}

// Compares the text of an answer with what the next request has in its place.

/// So many equal characters at the beginning tell that a text is meant to be the other one.
const TELLING: usize = 16;

/// How the text of an answer came back.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ReturnedText {
    /// Unchanged.
    Same,
    /// Another answer to the same request may have been taken, so that nothing is known.
    Unknown,
    /// Otherwise, in these words.
    Changed(String),
}

/// The words of the model in the next request.
#[derive(Default)]
pub(super) struct SaidAgain {
    /// The text of each message of the model, `None` for what is between them.
    pub(super) texts: Vec<Option<String>>,
    /// The ids of its calls as hashes.
    pub(super) ids: Vec<u64>,
    /// How much text is before each call in its message, where that has several texts.
    places: Vec<(u64, usize)>,
}

impl SaidAgain {
    /// Reads the elements of a body that are new. The new pieces tell where these begin.
    pub(super) fn of(api: Api, body: &Value, new: &[StoredPiece]) -> Self {
        let elements = body.member(facts(api).list).as_array().map(Vec::as_slice).unwrap_or_default();
        let elements = &elements[first_of(new, elements.len())..];
        let places = elements.iter().flat_map(places_of).collect();
        Self { texts: elements.iter().map(text_of_model).collect(), ids: ids_in_order(elements), places }
    }

    /// Returns whether a call of an answer has not as much text before it as it had there.
    pub(super) fn is_moved(&self, calls: &[AnswerCall], places: &[usize]) -> bool {
        let of = |call: &AnswerCall| self.places.iter().find(|(id, _)| *id == hash(&&*call.0)).map(|(_, place)| place);
        calls.iter().zip(places).any(|(call, place)| of(call).is_some_and(|again| again != place))
    }
}

/// Returns how much text is before each call of a message. A client that joins all texts of an answer holds one, which has no place.
fn places_of(message: &Value) -> Vec<(u64, usize)> {
    let (places, texts) = places_in(message.member("content"));
    if texts > 1 { places.into_iter().map(|(id, place)| (hash(&id), place)).collect() } else { Vec::new() }
}

/// The position of the first new element among so many. A body that has the new elements alone begins with them.
pub(super) fn first_of(new: &[StoredPiece], elements: usize) -> usize {
    let first = new.iter().find_map(|piece| match piece.place() {
        Location::Message(index) | Location::Item(index) => Some(index),
        Location::Tool(_) | Location::System => None,
    });
    first.filter(|first| *first < elements).unwrap_or(0)
}

/// The text of a message of the model; nothing if it is something else.
pub(super) fn text_of_model(element: &Value) -> Option<String> {
    if element.member("role") != "assistant" {
        return None;
    }
    let parts = match element.member("content") {
        Value::String(text) => return Some(text.clone()),
        Value::Array(parts) => parts,
        _ => return Some(String::new()),
    };
    let is_text = |part: &&Value| matches!(part.member("type").as_str(), Some("text" | "output_text"));
    Some(parts.iter().filter(is_text).filter_map(|part| part.member("text").as_str()).collect())
}

/// Returns how the text of an answer came back among the texts of the model in the next request. `is_taken` says that its calls are there.
pub(super) fn returned(said: &str, texts: &[Option<String>], is_taken: bool) -> ReturnedText {
    let is_it = |text: &String| is_same(said, text);
    let first = texts.iter().position(|text| text.as_ref().is_some_and(|text| is_same(said, text)));
    if let Some(first) = first {
        let is_twice = texts[first + 1..].first().and_then(Option::as_ref).is_some_and(is_it);
        return if is_twice {
            ReturnedText::Changed(format!("the text {} of the answer is there twice", excerpt(said.trim())))
        } else {
            ReturnedText::Same
        };
    }
    let mut there = texts.iter().flatten().map(|text| text.trim()).filter(|text| !text.is_empty());
    let is_alike = |text: &&str| common(said.trim(), text) >= TELLING || text.contains(said.trim());
    match there.clone().find(is_alike).or_else(|| there.next().filter(|_| is_taken)) {
        Some(other) => {
            let [from, to] = [said.trim(), other].map(|text| behind(text, common(said.trim(), other)));
            ReturnedText::Changed(format!("the text of the answer goes on as {to} where the model said {from}"))
        }
        None if is_taken => ReturnedText::Changed(format!("the text {} of the answer is gone", excerpt(said.trim()))),
        None => ReturnedText::Unknown,
    }
}

/// Returns whether two texts are the same but for white space at their ends, line ends, a thought in tags before the answer, and the result
/// of a tool behind it.
fn is_same(said: &str, text: &str) -> bool {
    let [said, text] = [said, text].map(|text| own_words(text).replace("\r\n", "\n"));
    said == text
}

/// Returns what of a text is the model's answer. Clients take out the `<think>…</think>` at its beginning, or put it in for a thought that
/// was apart. In the text protocol `ReAct` they put the result of a tool behind `Observation:`, in the place of what the model made up.
fn own_words(text: &str) -> &str {
    let thought = text.trim_start().strip_prefix("<think>").and_then(|rest| rest.split_once("</think>"));
    let answer = thought.map_or(text, |(_, answer)| answer);
    answer.split_once("\nObservation:").map_or(answer, |(answer, _)| answer).trim()
}

/// How many characters two texts have in common at their beginning.
fn common(one: &str, other: &str) -> usize {
    one.chars().zip(other.chars()).take_while(|(one, other)| one == other).count()
}

/// A text from some characters before this place on, or a word for its end.
fn behind(text: &str, place: usize) -> String {
    const BEFORE: usize = 10;
    let rest: String = text.chars().skip(place.saturating_sub(BEFORE)).collect();
    if text.chars().count() == place { format!("{} and ends", excerpt(&rest)) } else { excerpt(&rest) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CheckOptions, check_bytes};
    use serde_json::json;

    fn texts(texts: &[&str]) -> Vec<Option<String>> {
        texts.iter().map(|text| (*text != "-").then(|| (*text).to_owned())).collect()
    }

    #[test]
    fn white_space_at_the_ends_a_thought_before_and_a_result_behind_are_no_difference() {
        let react = ("Action: look\nAction Input: {}", "Action: look\nAction Input: {}\nObservation: nothing");
        let cut = ("Action: look\n\nObservation: made up", "Action: look\nObservation: real");
        let thought = ("Hello.", "<think>\nHm.\n</think>\n\nHello.");
        for (said, there) in [
            ("Hello.", "Hello."),
            ("Hello.\n", " Hello."),
            ("<think>Hm.</think>\n\nHello.", "Hello."),
            react,
            cut,
            thought,
        ] {
            assert_eq!(returned(said, &texts(&["-", there, "-"]), false), ReturnedText::Same, "{said}");
        }
    }

    #[test]
    fn what_differs_is_shown() {
        let changed = |said: &str, there: &[&str], is_taken| match returned(said, &texts(there), is_taken) {
            ReturnedText::Changed(how) => how,
            other => panic!("{other:?}"),
        };
        let (long, cut) = ("I will look at the weather of Paris.", "I will look at the weather");
        assert_eq!(
            changed(long, &[cut], false),
            "the text of the answer goes on as \"he weather\" and ends where the model said \"he weather of Paris.\""
        );
        assert_eq!(
            changed("One.", &["Two."], true),
            "the text of the answer goes on as \"Two.\" where the model said \"One.\""
        );
        assert_eq!(changed("One.", &["", "-"], true), "the text \"One.\" of the answer is gone");
        assert_eq!(changed("One.", &["One.", "One."], false), "the text \"One.\" of the answer is there twice");
    }

    #[test]
    fn another_answer_may_have_been_taken() {
        assert_eq!(returned("One.", &texts(&["Two."]), false), ReturnedText::Unknown);
        assert_eq!(returned("One.", &texts(&["-"]), false), ReturnedText::Unknown);
        // The model says the same again after the next message.
        assert_eq!(returned("One.", &texts(&["One.", "-", "One."]), false), ReturnedText::Same);
    }

    #[test]
    fn calls_come_back_in_their_order() {
        let call = |id: &&str| json!({"id": id, "type": "function", "function": {"name": "t", "arguments": "{}"}});
        let said = |ids: [&str; 2]| json!({"role": "assistant", "content": null, "tool_calls": ids.iter().map(call).collect::<Vec<_>>()});
        let result = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": "r"});
        for (ids, expected) in [(["call-a", "call-b"], None), (["call-b", "call-a"], Some("LOG-SAID-CHANGED"))] {
            let asked = json!({"role": "user", "content": "Hi"});
            let first = json!({"model": "gpt-4.1", "messages": [asked]});
            let next = json!({"model": "gpt-4.1", "messages": [asked, said(ids), result("call-a"), result("call-b")]});
            let answer = json!({"choices": [{"index": 0, "message": said(["call-a", "call-b"]), "finish_reason": "tool_calls"}]});
            let log = [json!({"request": first, "response": answer}), json!({"request": next})]
                .map(|record| record.to_string());
            let report = check_bytes(log.join("\n").as_bytes(), &CheckOptions::default());
            assert_eq!(report.findings.iter().map(|found| found.rule).next(), expected, "{:?}", report.findings);
            assert_eq!(report.summary.compared, 1);
        }
    }

    /// Most clients hold one text and a list of calls, and no API refuses it. Whoever holds the blocks has their order.
    #[test]
    fn texts_that_come_back_apart_stay_among_the_calls() {
        let (text, call) = (
            |text: &str| json!({"type": "text", "text": text}),
            |id: &str| json!({"type": "tool_use", "id": id, "name": "t", "input": {}}),
        );
        let answered = [text("One."), call("a"), text("Two."), call("b")];
        let [one, a, two, b] = answered.clone();
        let result = |id: &str| json!({"type": "tool_result", "tool_use_id": id, "content": "r"});
        for (returned, expected) in [
            (json!(answered), None),
            (json!([text("One.Two."), a, b]), None),
            (json!([one, two, a, b]), Some("LOG-SAID-CHANGED")),
            (json!([one, a, b]), Some("LOG-SAID-CHANGED")),
            (json!([one, b, two, a]), Some("LOG-SAID-CHANGED")),
        ] {
            let asked = json!({"role": "user", "content": "Hi"});
            let request = |messages: Value| json!({"model": "claude-sonnet-5", "max_tokens": 9, "messages": messages});
            let results = json!({"role": "user", "content": [result("a"), result("b")]});
            let next = request(json!([asked, {"role": "assistant", "content": returned}, results]));
            let answer =
                json!({"type": "message", "role": "assistant", "content": answered, "stop_reason": "tool_use"});
            let log = [json!({"request": request(json!([asked])), "response": answer}), json!({"request": next})];
            let report =
                check_bytes(log.map(|record| record.to_string()).join("\n").as_bytes(), &CheckOptions::default());
            assert_eq!(report.findings.iter().map(|found| found.rule).next(), expected, "{:?}", report.findings);
            assert_eq!(report.summary.compared, 1);
        }
    }
}
