//! Reads the output of op `tools` for the judge.

use super::message::{AgentMessage, Conversation, Speaker};
use super::script::{ModelTurn, RunScript};
use super::{sameness, valid};
use crate::shape::{AgentRun, ChatMessage, Part, Parts, WireReport};
use threadspec::oracle::Api;

/// The note on a record whose requests are no copies.
pub(crate) const LOOKS_SHARED: &str = "request 1 holds the response to it, so the adapter seems to have described the requests after the \
                                       run: it has to copy each when the model gets it";

/// The record of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Record {
    /// As the model got them.
    pub(crate) requests: Vec<Vec<AgentMessage>>,
    /// The requests as objects after the run, if they can be seen.
    pub(crate) requests_at_end: Option<Vec<Vec<AgentMessage>>>,
    /// True if the requests were all one list that grew on, so that they had to be distinguished.
    pub(crate) looks_shared: bool,
    /// True if the reply was a `reject`.
    pub(crate) is_rejected: bool,
    /// The list at the end, if the run hands one back.
    pub(crate) messages: Option<Vec<AgentMessage>>,
    /// The caller's list after the run, if it can be seen.
    pub(crate) given: Option<Vec<AgentMessage>>,
    /// How the run reported a failure, if it can be seen.
    pub(crate) failure: Option<String>,
    /// True if a provider wrote the requests down.
    pub(crate) is_over_wire: bool,
}

impl Record {
    /// Reads the output of op `tools`, with what a provider saw of it.
    ///
    /// # Errors
    ///
    /// Says why it is not one.
    pub(crate) fn read(output: AgentRun) -> Result<(Self, Option<WireReport>), String> {
        let Part::Proper(requests) = output.requests else { return Err("it has no list of `requests`".into()) };
        let at_end = "its `requestsAtEnd` is not a list of as many requests as `requests`";
        let requests_at_end = match output.requests_at_end.optional(|| at_end)? {
            None => None,
            Some(list) if list.len() == requests.len() => Some(read_requests(list, " at the end")?),
            Some(_) => return Err(at_end.into()),
        };
        let wire = output.wire.optional(|| "its `wire` is not an object")?;
        let record = Self {
            requests: read_requests(requests, "")?,
            requests_at_end,
            messages: optional_list(output.messages, "messages")?,
            given: optional_list(output.given, "given")?,
            failure: output.failure.optional(|| "its `failure` is not a string")?,
            is_over_wire: wire.is_some(),
            ..Self::default()
        };
        Ok((record, wire))
    }

    /// The record with requests in the form in which the script has its messages, where the API leaves the choice.
    pub(crate) fn aligned(self, script: &RunScript, api: Api) -> Self {
        let mut requests = self.requests;
        for request in &mut requests {
            sameness::align(request, script, api);
        }
        Self { requests, ..self }
    }

    /// The record of a run that was rejected with this message.
    pub(crate) fn rejected(message: &str) -> Self {
        Self { failure: Some(message.to_owned()), is_rejected: true, ..Self::default() }
    }

    /// Takes the declared wrappers off all answers.
    pub(crate) fn unwrap_answers(&mut self) {
        let lists = self.requests.iter_mut().chain(self.requests_at_end.iter_mut().flatten()).chain(&mut self.messages);
        lists.for_each(|list| unwrap_answers(list));
    }

    /// Returns whether the run says that it was refused or failed.
    pub(crate) fn says_why(&self) -> bool {
        self.failure.as_ref().is_some_and(|failure| !failure.is_empty())
    }

    /// The record with requests as they were when they were sent, if they are all one list that grew later; `None` if they are not. Such a
    /// list shows in request 1, which then holds the response to it.
    pub(crate) fn unshared(&self, script: &RunScript) -> Option<Self> {
        let first = Conversation::of(self.requests.first()?);
        let own = script.given.iter().filter(|message| message.speaker != Speaker::System).count();
        let start = if valid::faults(&script.given).is_empty() {
            own
        } else {
            // A fixed history may have any length: only if all requests have the same, they may be one list.
            let same = |request: &Vec<AgentMessage>| request.len() == first.length;
            if self.requests.len() < 2 || !self.requests.iter().all(same) {
                return None;
            }
            let given = Conversation::of(&script.given);
            let is_as_given = first.rest.len() > own
                && given.rest.iter().zip(&first.rest).all(|(one, other)| one.message.is(other.message));
            if is_as_given {
                own
            } else {
                // A fixed history keeps every question, so the response is behind the last one.
                let asked = first.rest.iter().rposition(|placed| placed.message.speaker == Speaker::Human);
                let behind = asked.map_or(0, |asked| asked + 1);
                let found = first.rest[behind..].iter().position(|placed| is_response(placed.message, script, 0))?;
                behind + found
            }
        };
        if !first.rest.get(start).is_some_and(|placed| is_response(placed.message, script, 0)) {
            return None;
        }
        let longest = self.requests.iter().max_by_key(|request| request.len())?;
        let mut requests = Vec::new();
        let mut begin = Conversation::of(longest).rest.get(start)?.index;
        for turn in 0..self.requests.len() {
            requests.push(longest[..begin].to_vec());
            let behind = longest.iter().enumerate().skip(begin + 1).find(|(_, message)| message.speaker == Speaker::Ai);
            begin = match (behind, script.turn(turn)) {
                (_, ModelTurn::Failure) => begin,
                (Some((index, _)), _) => index,
                (None, _) => longest.len(),
            };
        }
        Some(Self { requests, looks_shared: true, ..self.clone() })
    }
}

/// How long a random word is at least.
const RANDOM: usize = 8;

/// Takes the declared wrapper off each answer: a first and a last line with the same random word, which the result does not have, nor the
/// wrapper of any other answer. A result could close every other wrapper by itself.
pub(crate) fn unwrap_answers(messages: &mut [AgentMessage]) {
    let lines = |message: &AgentMessage| message.text().lines().next().unwrap_or_default().to_owned();
    let first: Vec<String> = messages.iter().map(lines).collect();
    for index in 0..messages.len() {
        let is_used = |word: &str| {
            first
                .iter()
                .enumerate()
                .any(|(other, line)| other != index && messages[other].speaker == Speaker::Tool && line.contains(word))
        };
        if let Some(inner) = wrapped(&messages[index], is_used) {
            messages[index].content = Some(inner);
        }
    }
}

/// The text in the wrapper of an answer, if it has one whose random word is no other's.
fn wrapped(message: &AgentMessage, is_used: impl Fn(&str) -> bool) -> Option<String> {
    let (first, rest) = message.text().split_once('\n').filter(|_| message.speaker == Speaker::Tool)?;
    let (inner, last) = rest.rsplit_once('\n')?;
    let is_random = |word: &&str| word.len() >= RANDOM && word.bytes().any(|byte| byte.is_ascii_digit());
    let mut words = first.split(|c: char| !c.is_ascii_alphanumeric()).filter(is_random);
    words.find(|word| last.contains(word) && !inner.contains(word) && !is_used(word)).map(|_| inner.to_owned())
}

fn read_requests(requests: Parts<Parts<ChatMessage>>, when: &str) -> Result<Vec<Vec<AgentMessage>>, String> {
    let read = |(index, request)| {
        AgentMessage::read_all(request).map_err(|error| format!("request {}{when}: {error}", index + 1))
    };
    requests.into_iter().enumerate().map(read).collect()
}

fn optional_list(messages: Part<Parts<ChatMessage>>, name: &str) -> Result<Option<Vec<AgentMessage>>, String> {
    if messages == Part::Missing {
        return Ok(None);
    }
    AgentMessage::read_all(messages).map(Some).map_err(|error| format!("`{name}`: {error}"))
}

/// Returns whether the message is what the model answered to request `turn`.
fn is_response(message: &AgentMessage, script: &RunScript, turn: usize) -> bool {
    let ModelTurn::Response { content, calls } = script.turn(turn) else { return false };
    let names =
        |calls: &[super::message::AgentCall]| calls.iter().map(|call| call.name().to_owned()).collect::<Vec<_>>();
    message.speaker == Speaker::Ai
        && names(&message.calls) == names(&calls)
        && (!calls.is_empty() || super::halves::arrived(&content, message.text()))
}
