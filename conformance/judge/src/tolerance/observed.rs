//! Where another clause is judged, rewords what only `should` clauses shape in their words, so that a case fails for its own clauses
//! only.

use super::document::{Elements, renumber};
use super::{Asked, each_document, failures, feedback};
use crate::protocol::{
    ChatMessage, EventBody, Input, LoopOutput, Op, Output, Part, Parts, ScriptedTurn, ScriptedVerification, Speaker,
    ThreadEvent, ToolsOutput,
};
use serde_json::{Number, Value};
use std::vec::IntoIter;
use threadspec::agent::StopReason;
use threadspec::{EventKind, Profile, Role, escape_text};
use threadspec_golden::clause;

/// A text of a run as the testee words it, and as the clauses do.
struct Wording {
    actual: String,
    expected: String,
    /// The call whose result it is.
    call: Option<Part<String>>,
    /// The text before it in messages.
    prefix: &'static str,
}

pub(super) fn settle(asked: &Asked<'_>, input: &Input, output: &mut Output) {
    match output {
        Output::Messages(messages) if !(asked.holds)(clause::CTX_SUMMARIES) => summaries(input, messages),
        Output::Rounds(rounds) if !(asked.holds)(clause::LOOP_TOOL_ERROR) => tools(input, rounds),
        Output::Run(run) => settle_run(asked, input, run),
        Output::Text(_) | Output::Messages(_) | Output::Rounds(_) | Output::Odd(_) => {}
    }
}

fn tools(input: &Input, rounds: &mut ToolsOutput) {
    let given = input.messages.list().len();
    let mut outcomes = failures::outcomes(Op::Tools, input).into_iter();
    let mut wordings = Vec::new();
    for message in rounds.messages.list().iter().skip(given).filter_map(Part::proper) {
        if message.speaker.is(&Speaker::Tool)
            && let (Some(actual), Some(outcome)) = (message.content.text(), outcomes.next())
        {
            wordings.push(Wording::of_call(actual, outcome, &message.call_id));
        }
    }
    if wordings.iter().any(Wording::differs) {
        let requests = rounds.requests.list_mut().iter_mut();
        requests.chain([&mut rounds.messages]).for_each(|list| reword(&wordings, list.list_mut(), given, None));
    }
}

fn settle_run(asked: &Asked<'_>, input: &Input, run: &mut LoopOutput) {
    if !(asked.holds)(clause::LOOP_PROMPT) {
        prompt(input, run);
    }
    if !(asked.holds)(clause::LOOP_RESPONSE) {
        response(input, run);
    }
    if !(asked.holds)(clause::LOOP_VERIFY) {
        completion(input, run);
        feedback::settle(asked.profile, input, run);
    }
    let wordings: Vec<Wording> = RunTexts::of(asked, input).wordings(run.events.list_mut());
    if wordings.iter().any(Wording::differs) {
        let documents = input.is_in_xml_mode().then_some(asked.profile);
        let requests = run.requests.list_mut().iter_mut();
        requests.for_each(|request| reword(&wordings, request.list_mut(), 0, documents));
    }
}

/// Puts the prompt at iteration 0, and counts iterations from 1.
fn prompt(input: &Input, run: &mut LoopOutput) {
    let [Part::Proper(first), events @ ..] = run.events.list_mut() else { return };
    let Some(of_prompt) = integer(&first.iteration) else { return };
    if first.body.said_by(Role::User) != Some(&input.prompt) {
        return;
    }
    let begin = events.first().and_then(Part::proper).and_then(|event| integer(&event.iteration));
    let more = begin.map_or(0, |begin| first_with_events(input).saturating_sub(begin));
    if of_prompt == 0 && more == 0 {
        return;
    }
    first.iteration = Number::from(0).into();
    for event in events.iter_mut().filter_map(Part::proper_mut) {
        if let Some(iteration) = integer(&event.iteration) {
            event.iteration = Number::from(iteration.saturating_add(more)).into();
        }
    }
    if input.is_in_xml_mode() {
        each_document(&mut run.requests, &|text| {
            let Some(mut document) = Elements::read(text) else { return text.to_owned() };
            renumber(&mut document.0[..1], "iteration", |_| 0);
            renumber(&mut document.0[1..], "iteration", |iteration| iteration.saturating_add(more));
            document.text()
        });
    }
}

/// The value of a number, however it is spelled.
#[expect(clippy::cast_possible_truncation, reason = "iterations are small")]
fn integer(number: &Part<Number>) -> Option<i64> {
    number.double().map(|number| number as i64)
}

/// The first iteration that leaves an event: one in which the model says nothing, and the verifier gives no reason, leaves none.
fn first_with_events(input: &Input) -> i64 {
    let is_silent = |turn: &ScriptedTurn| {
        turn.error == Part::Missing && turn.content.text().is_none_or(str::is_empty) && !turn.has_calls()
    };
    let goes_on = |check: &ScriptedVerification| check.complete.is(&false) && check.told().is_none();
    let silent = input.turns().zip(input.checks()).take_while(|(turn, check)| is_silent(turn) && goes_on(check));
    (1..).zip(silent).last().map_or(1, |(iteration, _)| iteration + 1)
}

/// Adds the completion event that is missing at the end of a run.
fn completion(input: &Input, run: &mut LoopOutput) {
    let is_completed = run.stop_reason.is(&StopReason::Completed);
    let Some(events) = run.events.proper_mut().filter(|_| is_completed) else { return };
    let is_completion = |event: &Part<ThreadEvent>| {
        event.proper().is_some_and(|event| matches!(event.body, EventBody::Completion { .. }))
    };
    events.pop_if(|last| is_completion(last));
    if !events.iter().any(is_completion) {
        let verified = (input.verify != Part::Missing).into();
        // Null where the reply has none.
        let result = Part::read(run.response.to_json());
        let iteration = Part::read(run.iterations.to_json());
        events.push(ThreadEvent { body: EventBody::Completion { result, verified }, iteration }.into());
    }
}

/// The text of the last response that was received.
fn response(input: &Input, run: &mut LoopOutput) {
    let received = run.requests.list().len();
    let last = input.turns().take(received).rfind(|turn| turn.error == Part::Missing);
    if let Part::Proper(response) = &mut run.response {
        last.and_then(|turn| turn.content.text()).unwrap_or_default().clone_into(response);
    }
}

/// The texts that a script produces in a run, in the words of the clauses that need not hold exactly.
struct RunTexts {
    is_prompt: bool,
    feedback: IntoIter<String>,
    outcomes: IntoIter<Option<String>>,
    errors: IntoIter<String>,
    /// True if an error may say anything.
    is_any_error: bool,
}

/// Returns whether an error text is the model's message, perhaps with a class name before it and cut after 500 characters (LOOP-ERROR), as
/// each language counts them.
fn is_message(message: &str, actual: &str) -> bool {
    /// The bytes of 500 characters at least, but for one that is split and those of an end.
    const CUT: usize = 490;
    let is_class = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_.:$[]".contains(c));
    let behind_class = actual.split_once(": ").filter(|(class, _)| is_class(class)).map(|(_, message)| message);
    [Some(actual), behind_class].into_iter().flatten().any(|text| {
        let beginning = text.trim_end_matches(['…', '.', '\u{fffd}']);
        text == message || actual.len() >= CUT && message.starts_with(beginning)
    })
}

impl RunTexts {
    fn of(asked: &Asked<'_>, input: &Input) -> Self {
        let tolerated = |clause: &str| !(asked.holds)(clause);
        let failed = input.checks().filter(|check| check.complete.is(&false) && tolerated(clause::LOOP_VERIFY));
        let feedback = failed
            .filter_map(ScriptedVerification::told)
            .map(|reason| format!("Verification failed: {reason}. Please try again."));
        let errors = input.turns().filter_map(|turn| turn.error.text().map(str::to_owned));
        let errors = errors.chain(std::iter::repeat_n("script exhausted".to_owned(), 3));
        let outcomes = failures::outcomes(Op::Loop, input).into_iter();
        Self {
            is_prompt: true,
            feedback: feedback.collect::<Vec<_>>().into_iter(),
            outcomes: outcomes.filter(|_| tolerated(clause::LOOP_TOOL_ERROR)).collect::<Vec<_>>().into_iter(),
            errors: errors.collect::<Vec<_>>().into_iter(),
            is_any_error: tolerated(clause::LOOP_ERROR),
        }
    }

    /// Rewords the events as the clauses do, and returns their texts in both wordings, in order.
    fn wordings(mut self, events: &mut [Part<ThreadEvent>]) -> Vec<Wording> {
        events.iter_mut().filter_map(|event| self.wording(&mut event.proper_mut()?.body)).collect()
    }

    fn wording(&mut self, body: &mut EventBody) -> Option<Wording> {
        Some(match body {
            EventBody::Message { role, content } if role.is(&Role::User) => {
                let expected = if std::mem::take(&mut self.is_prompt) { None } else { self.feedback.next() };
                let wording = Wording::new(content.text()?, expected);
                *content = wording.expected.as_str().into();
                wording
            }
            EventBody::ToolResult { tool_call_id, result } => {
                let outcome = self.outcomes.next().flatten();
                let wording = Wording::of_call(result.proper()?.as_str()?, outcome, tool_call_id);
                *result = Value::from(wording.expected.as_str()).into();
                wording
            }
            EventBody::Error { error, recoverable } => {
                let prefix = if recoverable.is(&true) { "[Error (recoverable)]: " } else { "[Error]: " };
                let actual = error.text()?;
                let message = self.errors.next().filter(|message| self.is_any_error || is_message(message, actual));
                let wording = Wording { prefix, ..Wording::new(actual, message) };
                *error = wording.expected.as_str().into();
                wording
            }
            _ => return None,
        })
    }
}

impl Wording {
    fn new(actual: &str, expected: Option<String>) -> Self {
        let expected = expected.unwrap_or_else(|| actual.to_owned());
        Self { actual: actual.to_owned(), expected, call: None, prefix: "" }
    }

    fn of_call(actual: &str, expected: Option<String>, id: &Part<String>) -> Self {
        Self { call: Some(id.clone()), ..Self::new(actual, expected) }
    }

    /// The type of its element in a document.
    fn element(&self) -> &'static str {
        match (&self.call, self.prefix) {
            (Some(_), _) => "tool_output",
            (None, "") => "human",
            (None, _) => "error",
        }
    }

    fn differs(&self) -> bool {
        self.actual != self.expected
    }

    /// Returns whether a message is this text.
    fn is(&self, message: &ChatMessage) -> bool {
        let speaker = if self.call.is_some() { Speaker::Tool } else { Speaker::Human };
        message.speaker.is(&speaker)
            && message.content.text().and_then(|content| content.strip_prefix(self.prefix)) == Some(&self.actual)
            && self.call.as_ref().is_none_or(|id| message.call_id == *id)
    }
}

/// Rewords a list of messages as the clauses do. The texts are in it in order, though some may be missing.
fn reword(wordings: &[Wording], list: &mut [Part<ChatMessage>], given: usize, documents: Option<Profile>) {
    let mut rest = wordings;
    for message in list.iter_mut().skip(given).filter_map(Part::proper_mut) {
        match (documents, message.content.text()) {
            (Some(profile), Some(document)) if message.speaker.is(&Speaker::Human) => {
                let (document, left) = in_document(rest, document, profile);
                message.content = document.into();
                rest = left;
            }
            _ => {
                if let Some(found) = rest.iter().position(|wording| wording.is(message)) {
                    message.content = format!("{}{}", rest[found].prefix, rest[found].expected).into();
                    rest = &rest[found + 1..];
                }
            }
        }
    }
}

fn in_document<'w>(wordings: &'w [Wording], text: &str, profile: Profile) -> (String, &'w [Wording]) {
    let Some(mut document) = Elements::read(text) else { return (text.to_owned(), wordings) };
    let (mut at, mut left) = (0, wordings);
    for (number, wording) in wordings.iter().enumerate() {
        let start = format!("type=\"{}\" ", wording.element());
        let body = |text: &str| format!(">{}</event>", escape_text(text, profile));
        let actual = body(&wording.actual);
        // By its type, too: a text may be empty, or what another event says.
        let is_it = |element: &String| element.starts_with(&start) && element.ends_with(&actual);
        if let Some(found) = document.0[at..].iter().position(is_it) {
            let element = &mut document.0[at + found];
            element.replace_range(element.len() - actual.len().., &body(&wording.expected));
            at += found + 1;
            left = &wordings[number + 1..];
        }
    }
    (document.text(), left)
}

/// Rewords the system message of a thread with summaries, if it has their texts and then the instructions.
fn summaries(input: &Input, messages: &mut Parts<ChatMessage>) {
    let events = input.events().unwrap_or_default();
    let summaries = events.iter().filter_map(|event| match &event.kind {
        EventKind::Summary { summary, summarized_iterations } => Some((summary.as_str(), summarized_iterations)),
        _ => None,
    });
    let (texts, iterations): (Vec<&str>, Vec<&Vec<u64>>) = summaries.unzip();
    if texts.is_empty() {
        return;
    }
    let instructions = input.instructions.text().unwrap_or_default();
    let first = messages.first().and_then(Part::proper);
    let said = first.filter(|first| first.speaker.is(&Speaker::System)).map(|first| &first.content);
    let content = said.and_then(Part::text).unwrap_or_default();
    let behind = if instructions.is_empty() { String::new() } else { format!("\n\n{instructions}") };
    let is_bare = texts.iter().all(|text| text.is_empty()) && content == instructions;
    let holds_all = content.strip_suffix(&behind).is_some_and(|content| holds(content, texts.clone()));
    if !(is_bare || said.is_some() && holds_all) {
        return;
    }
    let mut expected = "## Previous Iteration Summaries\n\n".to_owned();
    for (text, numbers) in texts.iter().zip(iterations) {
        let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
        expected += &format!("### Iteration(s) {}\n{text}\n\n", numbers.join(", "));
    }
    expected += &behind;
    match messages.first_mut().and_then(Part::proper_mut).filter(|first| first.speaker.is(&Speaker::System)) {
        Some(first) => first.content = expected.into(),
        None => messages.insert(0, ChatMessage::text(Speaker::System, expected).into()),
    }
}

/// Returns whether a text holds each of these for itself, in any order: the longest is looked for first, since it may hold another one.
fn holds(text: &str, mut parts: Vec<&str>) -> bool {
    parts.sort_by_key(|part| std::cmp::Reverse(part.len()));
    let mut rests = vec![text];
    parts.into_iter().filter(|part| !part.is_empty()).all(|part| {
        let found = rests.iter().enumerate().find_map(|(number, rest)| Some((number, rest.split_once(part)?)));
        let Some((number, (before, after))) = found else { return false };
        rests.splice(number..=number, [before, after]);
        true
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::settle;
    use super::is_message;
    use crate::protocol::Op;
    use serde_json::{Value, json};
    use threadspec::Profile;

    #[test]
    fn an_error_may_have_its_class_and_be_cut() {
        let long = "😀é".repeat(400);
        let units: String = long.chars().take(333).collect();
        let bytes: String = long.chars().take(166).collect();
        for (message, actual) in [
            ("down", "down"),
            ("down", "ModelError: down"),
            ("a: b", "llm::Error[E_1]: a: b"),
            ("", "java.lang.RuntimeException: "),
            (&long, &units),
            (&long, &format!("Error: {units}…")),
            (&long, &format!("{bytes}...")),
        ] {
            assert!(is_message(message, actual), "{actual} for {message}");
        }
        for (message, actual) in
            [("down", "up"), ("down", ""), ("down", "do"), ("down", "It is: down"), (&long, &long[..6])]
        {
            assert!(!is_message(message, actual), "{actual} for {message}");
        }
    }

    #[test]
    fn each_clause_is_held_only_where_it_is_judged() {
        let input = json!({
            "prompt": "Go",
            "model": [{"tool_calls": [{"id": "c", "name": "t"}]}, {"content": "a"}, {"error": "down"}, {"content": "b"}],
            "tools": {"t": [{"error": "x"}]},
            "verify": [{"complete": false, "reason": "short"}],
        });
        let run = |iteration: u64, texts: [&str; 3], last: &[Value]| {
            let [failure, feedback, error] = texts;
            let mut events = vec![
                json!({"type": "message", "role": "user", "content": "Go", "iteration": iteration}),
                json!({"type": "tool_call", "toolName": "t", "toolCallId": "c", "args": {}, "iteration": 1}),
                json!({"type": "tool_result", "toolCallId": "c", "result": failure, "iteration": 1}),
                json!({"type": "message", "role": "user", "content": feedback, "iteration": 1}),
                json!({"type": "error", "error": error, "recoverable": true, "iteration": 2}),
            ];
            events.extend_from_slice(last);
            let request = json!([
                {"type": "human", "content": "Go"},
                {"type": "ai", "content": "", "tool_calls": [{"id": "c", "name": "t", "args": {}}]},
                {"type": "tool", "content": failure, "tool_call_id": "c"},
                {"type": "human", "content": feedback},
                {"type": "human", "content": format!("[Error (recoverable)]: {error}")},
            ]);
            json!({"requests": [[], [], [], request], "events": events, "response": "b", "iterations": 3, "stopReason": "completed"})
        };
        let done = json!({"type": "completion", "result": "b", "verified": true, "iteration": 3});
        let texts = ["Tool error: x", "Verification failed: short. Please try again.", "down"];
        let odd = ["failed", "Go", "The model is down"];
        let actual = run(1, odd, &[]);
        let settled = |held: &[&str]| settle(Op::Loop, Profile::Hardened, held, &input, &actual);
        assert_eq!(settled(&[]), run(0, texts, std::slice::from_ref(&done)));
        assert_eq!(settled(&["LOOP-PROMPT"]), run(1, texts, std::slice::from_ref(&done)));
        assert_eq!(settled(&["LOOP-VERIFY"]), run(0, [texts[0], odd[1], texts[2]], &[]));
        assert_eq!(settled(&["LOOP-TOOL-ERROR"]), run(0, [odd[0], texts[1], texts[2]], std::slice::from_ref(&done)));
        assert_eq!(settled(&["LOOP-ERROR"]), run(0, [texts[0], texts[1], odd[2]], &[done]));
        let held = ["LOOP-PROMPT", "LOOP-VERIFY", "LOOP-TOOL-ERROR", "LOOP-ERROR"];
        assert_eq!(settled(&held), actual);
    }

    #[test]
    fn documents_are_worded_alike() {
        let document = |iteration: u64, feedback: &str| {
            let lines = format!(
                "<event type=\"human\" id=\"0\" iteration=\"{iteration}\">Go</event>\n  <event type=\"human\" id=\"1\" iteration=\"1\">{feedback}</event>"
            );
            json!([{"type": "human", "content": format!("<thread>\n  {lines}\n</thread>")}])
        };
        let event = |text: &str, iteration: u64| json!({"type": "message", "role": "user", "content": text, "iteration": iteration});
        let input =
            json!({"prompt": "Go", "contextMode": "xml", "model": [], "verify": [{"complete": false, "reason": "<"}]});
        let actual = json!({"requests": [document(1, "no: &lt;")], "events": [event("Go", 1), event("no: <", 1)]});
        let feedback = "Verification failed: <. Please try again.";
        let expected = json!({
            "requests": [document(0, "Verification failed: &lt;. Please try again.")],
            "events": [event("Go", 0), event(feedback, 1)],
        });
        assert_eq!(settle(Op::Loop, Profile::Literal, &[], &input, &actual), expected);
    }

    #[test]
    fn summaries_may_stand_under_other_headings() {
        let events = json!([{"type": "summary", "summary": "S", "summarizedIterations": [1, 2], "iteration": 3}]);
        let input = json!({"events": events, "instructions": "I"});
        let output = |content: &str| json!([{"type": "system", "content": content}]);
        let settled = |content| settle(Op::Messages, Profile::Hardened, &[], &input, &output(content));
        let expected = output("## Previous Iteration Summaries\n\n### Iteration(s) 1, 2\nS\n\n\n\nI");
        assert_eq!(settled("Summary of 1 to 2: S\n\nI"), expected);
        assert_eq!(settled("Summary: S I"), output("Summary: S I"));
    }
}
