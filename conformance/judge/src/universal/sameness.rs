//! Decides which forms are equal on the wire: an API leaves a client the choice how to write some lists down. A request is put into the
//! form in which the script has its messages before the oracles look, so that they need not know any API.
//!
//! Anthropic joins neighbouring messages of one role and refuses empty texts, so that clients join neighbouring texts and leave out empty
//! ones. A response of OpenAI's Responses is a list of items, so that messages of the assistant that touch are one.

use super::halves::{ends, repaired};
use super::message::{AgentMessage, Speaker};
use super::script::{ModelTurn, RunScript};
use crate::facts::facts;
use std::borrow::Cow;
use std::collections::BTreeSet;
use threadspec::oracle::Api;
use threadspec::surrogates::has_marks;

/// How many characters of white space may be between two joined texts.
const LONGEST_JOINT: usize = 2;

/// Puts a request into the form of the script.
pub(super) fn align(request: &mut Vec<AgentMessage>, script: &RunScript, api: Api) {
    if api == Api::OpenAiChat {
        return;
    }
    let mut alignment =
        Alignment { steps: steps(script), place: 0, takes_blanks: facts(api).joins, aligned: Vec::new() };
    for message in std::mem::take(request) {
        alignment.take(message);
    }
    let given = script.given.iter().filter(|message| message.speaker != Speaker::System).count();
    while alignment.place < given && alignment.restores_blank() {}
    *request = alignment.aligned;
    if facts(api).joins {
        restore_systems(request, &script.given);
    }
}

/// The next part of a request, system messages aside.
enum Step<'a> {
    Message(Cow<'a, AgentMessage>),
    /// Any number of answers to the calls of the message before.
    Answers,
}

/// The given list, then each response with its answers.
fn steps(script: &RunScript) -> Vec<Step<'_>> {
    let given = script.given.iter().filter(|message| message.speaker != Speaker::System);
    let mut steps: Vec<Step<'_>> = given.map(|message| Step::Message(Cow::Borrowed(message))).collect();
    for turn in &script.turns {
        if let ModelTurn::Response { content, calls } = turn {
            let (content, calls) = (Some(content.clone()), calls.clone());
            steps.push(Step::Message(Cow::Owned(AgentMessage { speaker: Speaker::Ai, content, calls, call_id: None })));
            steps.push(Step::Answers);
        }
    }
    steps
}

/// A request on its way into the form of the script.
struct Alignment<'a> {
    steps: Vec<Step<'a>>,
    /// The next step.
    place: usize,
    /// True if texts may be joined by white space, and blank ones left out.
    takes_blanks: bool,
    aligned: Vec<AgentMessage>,
}

impl Alignment<'_> {
    fn take(&mut self, message: AgentMessage) {
        match message.speaker {
            Speaker::System => {}
            Speaker::Tool => {
                let is_answer = |step: &Step<'_>| matches!(step, Step::Message(next) if next.speaker == Speaker::Tool);
                self.place += usize::from(self.steps.get(self.place).is_some_and(is_answer));
            }
            Speaker::Human | Speaker::Ai => return self.take_text(message),
        }
        self.aligned.push(message);
    }

    fn take_text(&mut self, message: AgentMessage) {
        if matches!(self.steps.get(self.place), Some(Step::Answers)) {
            self.place += 1;
        }
        loop {
            if let Some(count) = self.joined(&message) {
                return self.divide(&message, count);
            }
            if !self.restores_blank() {
                break;
            }
        }
        // It is none of what can be here. What follows it may fit again.
        let ids = |message: &AgentMessage| message.calls.iter().map(|call| call.id.clone()).collect::<Vec<_>>();
        let own = ids(&message);
        let is_again = |step: &Step<'_>| matches!(step, Step::Message(next) if !own.is_empty() && ids(next) == own);
        let is_like = |step: &Step<'_>| matches!(step, Step::Message(next) if next.speaker == message.speaker);
        if let Some(ahead) = self.steps.iter().skip(self.place).position(is_again) {
            self.place += ahead + 1;
        } else {
            self.place += usize::from(self.steps.get(self.place).is_some_and(is_like));
        }
        self.aligned.push(message);
    }

    /// How many steps the message joins: one, if it is a single one.
    fn joined(&self, message: &AgentMessage) -> Option<usize> {
        let (text, mut calls) = (message.text(), 0);
        let mut reached = BTreeSet::from([0]);
        for (index, step) in self.steps.iter().skip(self.place).enumerate() {
            let Step::Message(part) = step else { return None };
            if part.speaker == message.speaker {
                let mut next = ends(
                    part.text(),
                    text,
                    if index == 0 { reached.clone() } else { self.behind_joints(text, &reached) },
                );
                if self.takes_blanks && part.text().trim().is_empty() {
                    next.append(&mut reached);
                }
                reached = next;
                calls += part.calls.len();
                if reached.contains(&text.len()) && calls == message.calls.len() {
                    return Some(index + 1);
                }
            } else if !(self.takes_blanks && is_blank(part)) {
                return None;
            }
            if reached.is_empty() {
                return None;
            }
        }
        None
    }

    /// Where the next text may begin, given where the one before it ends.
    fn behind_joints(&self, text: &str, reached: &BTreeSet<usize>) -> BTreeSet<usize> {
        if !self.takes_blanks {
            return reached.clone();
        }
        let behind = |&end: &usize| {
            let joint = text[end..].char_indices().take(LONGEST_JOINT).take_while(|(_, c)| c.is_whitespace());
            [end].into_iter().chain(joint.map(move |(at, c)| end + at + c.len_utf8())).collect::<Vec<_>>()
        };
        reached.iter().flat_map(behind).collect()
    }

    /// Adds a message as the steps that it joins. What its calls are is for the oracles to judge, so they stay.
    fn divide(&mut self, message: &AgentMessage, count: usize) {
        let parts = &self.steps[self.place..self.place + count];
        self.place += count;
        let mut calls = message.calls.iter();
        for part in parts {
            let Step::Message(part) = part else { continue };
            let is_left_out = self.takes_blanks && message.text().is_empty();
            let content = match &part.content {
                _ if count == 1 && !is_left_out => message.content.clone(),
                // A half that was sent as something else is not in this request.
                Some(text) if !has_marks(message.text()) => Some(repaired(text).into_owned()),
                content => content.clone(),
            };
            let calls = calls.by_ref().take(part.calls.len()).cloned().collect();
            self.aligned.push(AgentMessage { speaker: part.speaker, content, calls, call_id: None });
        }
    }

    /// Adds the next step if it is a text that nobody needs to send.
    fn restores_blank(&mut self) -> bool {
        match self.steps.get(self.place) {
            Some(Step::Message(next)) if self.takes_blanks && is_blank(next) => {
                self.aligned.push(AgentMessage::clone(next));
                self.place += 1;
                true
            }
            _ => false,
        }
    }
}

fn is_blank(message: &AgentMessage) -> bool {
    message.speaker != Speaker::Tool && message.calls.is_empty() && message.text().trim().is_empty()
}

/// Puts blank system texts that were left out where they were given.
fn restore_systems(request: &mut Vec<AgentMessage>, given: &[AgentMessage]) {
    let is_system = |message: &&AgentMessage| message.speaker == Speaker::System;
    let sent = request.iter().filter(is_system).count();
    let given: Vec<(usize, &AgentMessage)> =
        given.iter().enumerate().filter(|(_, message)| message.speaker == Speaker::System).collect();
    let blanks = given.iter().filter(|(_, message)| is_blank(message)).count();
    if blanks == 0 || sent + blanks != given.len() {
        return;
    }
    let is_first = sent > 0 && request.iter().take_while(is_system).count() == sent;
    for (order, (index, system)) in given.into_iter().enumerate().filter(|(_, (_, message))| is_blank(message)) {
        let at = if is_first { order } else { index };
        request.insert(at.min(request.len()), system.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::universal::message::AgentCall;
    use serde_json::{Value, json};

    /// Returns the parts of a request, each message in short.
    fn aligned(given: &Value, turns: &Value, request: &Value, api: Api) -> Vec<String> {
        let input = json!({"messages": given, "model": turns, "tools": {"t": [""]}});
        let script = RunScript::read(&input.to_string()).expect("a script");
        let mut list = AgentMessage::read_all(crate::shape::Part::read(request.clone())).expect("a list");
        align(&mut list, &script, api);
        let short = |message: &AgentMessage| {
            let speaker = match message.speaker {
                Speaker::System => "s",
                Speaker::Human => "h",
                Speaker::Ai => "a",
                Speaker::Tool => "t",
            };
            let ids: Vec<&str> = message.calls.iter().map(AgentCall::id).collect();
            [&[speaker, message.text()][..], &ids].concat().join(":")
        };
        list.iter().map(short).collect()
    }

    fn human(text: &str) -> Value {
        json!({"type": "human", "content": text})
    }

    fn ai(text: &str, ids: &[&str]) -> Value {
        let calls: Vec<Value> = ids.iter().map(|id| json!({"id": id, "name": "t", "args": {}})).collect();
        json!({"type": "ai", "content": text, "tool_calls": calls})
    }

    #[test]
    fn joined_texts_of_the_user_are_told_apart() {
        let given = json!([human("a"), human("b"), {"type": "system", "content": "S"}, human(" "), human("c")]);
        let apart = ["h:a", "h:b", "s:S", "h: ", "h:c"];
        let hoisted = ["s:S", "h:a", "h:b", "h: ", "h:c"];
        let system = json!({"type": "system", "content": "S"});
        for (request, expected) in [
            (json!([human("a"), human("b"), system, human(" "), human("c")]), apart),
            (json!([system, human("a\n\nb\n\n \n\nc")]), hoisted),
            (json!([system, human("abc")]), hoisted),
            (json!([system, human("a\nb"), human("c")]), hoisted),
            (json!([human("a b"), system, human("c")]), apart),
        ] {
            assert_eq!(aligned(&given, &json!([]), &request, Api::Anthropic), expected, "{request}");
        }
        for request in [json!([human("a\n\n\nb")]), json!([human("ab x")]), json!([human("ba")]), json!([human("acb")])]
        {
            let found = aligned(&json!([human("a"), human("b")]), &json!([]), &request, Api::Anthropic);
            assert_eq!(found.len(), 1, "{request}: {found:?}");
        }
        let joined = json!([human("a\n\nb")]);
        assert_eq!(aligned(&json!([human("a"), human("b")]), &json!([]), &joined, Api::OpenAiChat), ["h:a\n\nb"]);
    }

    #[test]
    fn a_half_that_was_replaced_is_not_put_back() {
        let given = r#"{"messages":[{"type":"human","content":"a"},{"type":"human","content":"\ud83d"}],"model":[]}"#;
        let script = RunScript::read(given).expect("a script");
        let half = script.given[1].text().to_owned();
        for second in ["\u{fffd}", &half] {
            let content = Some(format!("a\n{second}"));
            let mut list = vec![AgentMessage { speaker: Speaker::Human, content, calls: Vec::new(), call_id: None }];
            align(&mut list, &script, Api::Anthropic);
            assert_eq!(list.iter().map(AgentMessage::text).collect::<Vec<_>>(), ["a", second]);
        }
    }

    #[test]
    fn what_is_empty_may_be_left_out() {
        let given = json!([human(""), ai(" ", &[]), human("Go"), ai("", &[])]);
        let turns = json!([ai("\n", &["c1"]), ai("Done", &[])]);
        let first = aligned(&given, &turns, &json!([human("Go")]), Api::Anthropic);
        assert_eq!(first, ["h:", "a: ", "h:Go", "a:"]);
        let request = json!([human("Go"), ai("", &["c1"]), {"type": "tool", "tool_call_id": "c1", "content": "r"}]);
        let second = aligned(&given, &turns, &request, Api::Anthropic);
        assert_eq!(second, ["h:", "a: ", "h:Go", "a:", "a:\n:c1", "t:r"]);
        assert_eq!(aligned(&given, &turns, &request, Api::OpenAiChat), ["h:Go", "a::c1", "t:r"]);
        let systems = json!([{"type": "system", "content": " "}, human("Go"), {"type": "system", "content": "S"}]);
        let request = json!([{"type": "system", "content": "S"}, human("Go")]);
        assert_eq!(aligned(&systems, &json!([]), &request, Api::Anthropic), ["s: ", "s:S", "h:Go"]);
        assert_eq!(
            aligned(&json!([{"type": "system", "content": ""}]), &json!([]), &json!([]), Api::Anthropic),
            ["s:"]
        );
    }

    #[test]
    fn messages_of_the_assistant_that_touch_are_told_apart() {
        let given = json!([human("Go"), ai("x", &[]), ai("y", &[])]);
        let turns = json!([ai("z", &["c1", "c2"]), ai("", &["c3"]), ai("Done", &[])]);
        let answer = |id: &str| json!({"type": "tool", "tool_call_id": id, "content": id});
        let request =
            json!([human("Go"), ai("xyz", &["c1", "c2"]), answer("c2"), answer("c1"), ai("", &["c3"]), answer("c3")]);
        let expected = ["h:Go", "a:x", "a:y", "a:z:c1:c2", "t:c2", "t:c1", "a::c3", "t:c3"];
        for api in [Api::OpenAiResponses, Api::Anthropic] {
            assert_eq!(aligned(&given, &turns, &request, api), expected, "{api}");
        }
        let changed = json!([human("Go"), ai("xyz", &["c1"])]);
        assert_eq!(aligned(&given, &turns, &changed, Api::OpenAiResponses), ["h:Go", "a:xyz:c1"]);
    }

    #[test]
    fn what_does_not_fit_stays_as_it_is() {
        let given = json!([human("a"), human("b")]);
        let turns = json!([ai("", &["c1"]), ai("Done", &[])]);
        let request = json!([human("x"), human("b"), ai("", &["c1"]), human("extra")]);
        assert_eq!(aligned(&given, &turns, &request, Api::Anthropic), ["h:x", "h:b", "a::c1", "h:extra"]);
        assert_eq!(aligned(&given, &turns, &json!([ai("", &["c1"])]), Api::Anthropic), ["a::c1"]);
    }
}
