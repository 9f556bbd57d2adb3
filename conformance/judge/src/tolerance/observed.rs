//! Where another clause is judged, rewords what only `should` clauses shape in their words, so that a case fails for its own clauses
//! only.

use super::document::{Document, renumber};
use super::{Asked, each_document, failures, feedback};
use crate::protocol::Op;
use serde_json::{Value, json};
use std::vec::IntoIter;
use threadspec::{Profile, escape_text};
use threadspec_golden::clause;

/// A text of a run as the testee words it, and as the clauses do.
struct Wording {
    actual: String,
    expected: String,
    /// The call whose result it is.
    call: Option<Value>,
    /// What stands before it in messages.
    prefix: &'static str,
}

pub(super) fn settle(asked: &Asked<'_>, input: &Value, output: &mut Value) {
    match asked.op {
        Op::Messages if !(asked.holds)(clause::CTX_SUMMARIES) => summaries(input, output),
        Op::Tools if !(asked.holds)(clause::LOOP_TOOL_ERROR) => tools(input, output),
        Op::Loop => run(asked, input, output),
        Op::Escape | Op::Serialize | Op::Messages | Op::Tools => {}
    }
}

fn tools(input: &Value, output: &mut Value) {
    let given = input["messages"].as_array().map_or(0, Vec::len);
    let mut outcomes = failures::outcomes(Op::Tools, input).into_iter();
    let mut wordings = Vec::new();
    for message in output["messages"].as_array().into_iter().flatten().skip(given) {
        if message["type"] == "tool"
            && let (Some(actual), Some(outcome)) = (message["content"].as_str(), outcomes.next())
        {
            wordings.push(Wording::of_call(actual, outcome, &message["tool_call_id"]));
        }
    }
    if wordings.iter().any(Wording::differs) {
        let requests = output.get_mut("requests").and_then(Value::as_array_mut).into_iter().flatten();
        requests.for_each(|request| reword(&wordings, request, given, None));
        output.get_mut("messages").into_iter().for_each(|messages| reword(&wordings, messages, given, None));
    }
}

fn run(asked: &Asked<'_>, input: &Value, output: &mut Value) {
    let documents = (input["contextMode"] == "xml").then_some(asked.profile);
    if !(asked.holds)(clause::LOOP_PROMPT) {
        prompt(input, output, documents.is_some());
    }
    if !(asked.holds)(clause::LOOP_RESPONSE) {
        response(input, output);
    }
    if !(asked.holds)(clause::LOOP_VERIFY) {
        completion(input, output);
        feedback::settle(asked.profile, input, output);
    }
    let Some(events) = output.get_mut("events").and_then(Value::as_array_mut) else { return };
    let wordings: Vec<Wording> = RunTexts::of(asked, input).wordings(events);
    if wordings.iter().any(Wording::differs) {
        let requests = output.get_mut("requests").and_then(Value::as_array_mut).into_iter().flatten();
        requests.for_each(|request| reword(&wordings, request, 0, documents));
    }
}

/// Puts the prompt at iteration 0, and counts iterations from 1.
fn prompt(input: &Value, output: &mut Value, in_documents: bool) {
    let Some(events) = output.get_mut("events").and_then(Value::as_array_mut) else { return };
    let [first, events @ ..] = &mut events[..] else { return };
    if first["role"] != "user" || first["content"] != input["prompt"] || integer(&first["iteration"]).is_none() {
        return;
    }
    let begin = events.first().and_then(|event| integer(&event["iteration"]));
    let more = begin.map_or(0, |begin| first_with_events(input).saturating_sub(begin));
    if integer(&first["iteration"]) == Some(0) && more == 0 {
        return;
    }
    first["iteration"] = 0.into();
    for event in events {
        if let Some(iteration) = integer(&event["iteration"]) {
            event["iteration"] = iteration.saturating_add(more).into();
        }
    }
    if in_documents {
        each_document(output, &|text| {
            let Some(mut document) = Document::read(text) else { return text.to_owned() };
            renumber(&mut document.0[..1], "iteration", |_| 0);
            renumber(&mut document.0[1..], "iteration", |iteration| iteration.saturating_add(more));
            document.text()
        });
    }
}

/// The value of a number, however it is spelled.
#[expect(clippy::cast_possible_truncation, reason = "iterations are small")]
fn integer(number: &Value) -> Option<i64> {
    number.as_f64().map(|number| number as i64)
}

/// The first iteration that leaves an event: one in which the model says nothing, and the verifier gives no reason, leaves none.
fn first_with_events(input: &Value) -> i64 {
    let is_silent = |turn: &Value| {
        turn["error"].is_null()
            && turn["content"].as_str().is_none_or(str::is_empty)
            && turn["tool_calls"].as_array().is_none_or(Vec::is_empty)
    };
    let goes_on = |answer: &Value| answer["complete"] == false && answer["reason"].as_str().is_none_or(str::is_empty);
    let list = |name: &str| input[name].as_array().map(Vec::as_slice).unwrap_or_default();
    let silent =
        list("model").iter().zip(list("verify")).take_while(|(turn, answer)| is_silent(turn) && goes_on(answer));
    (1..).zip(silent.chain([(&Value::Null, &Value::Null)])).last().map_or(1, |(iteration, _)| iteration)
}

/// Adds the completion event that is missing at the end of a run.
fn completion(input: &Value, output: &mut Value) {
    let (response, iterations) = (output["response"].clone(), output["iterations"].clone());
    let is_completed = output["stopReason"] == "completed";
    let Some(events) = output.get_mut("events").and_then(Value::as_array_mut).filter(|_| is_completed) else { return };
    events.pop_if(|last| last["type"] == "completion");
    if !events.iter().any(|event| event["type"] == "completion") {
        let verified = !input["verify"].is_null();
        events.push(json!({"type": "completion", "result": response, "verified": verified, "iteration": iterations}));
    }
}

/// The text of the last response that was received.
fn response(input: &Value, output: &mut Value) {
    let received = output["requests"].as_array().map_or(0, Vec::len);
    let turns = input["model"].as_array().map(Vec::as_slice).unwrap_or_default();
    let last = turns.iter().take(received).rfind(|turn| turn["error"].is_null());
    let text: Value = last.and_then(|turn| turn["content"].as_str()).unwrap_or_default().into();
    if output["response"].is_string() {
        output["response"] = text;
    }
}

/// The texts that a script produces in a run, in the words of the clauses that need not hold exactly.
struct RunTexts {
    is_prompt: bool,
    feedback: IntoIter<String>,
    outcomes: IntoIter<Option<String>>,
    errors: IntoIter<String>,
    /// Whether an error may say anything.
    is_any_error: bool,
}

/// Whether an error text is the model's message, perhaps with a class name before it and cut after 500 characters (LOOP-ERROR), as each
/// language counts them.
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
    fn of(asked: &Asked<'_>, input: &Value) -> Self {
        let tolerated = |clause: &str| !(asked.holds)(clause);
        let list = |name: &str| input[name].as_array().cloned().unwrap_or_default().into_iter();
        let reasons = list("verify").filter(|answer| answer["complete"] == false);
        let reasons = reasons.filter_map(|answer| answer["reason"].as_str().map(str::to_owned));
        let feedback = reasons
            .filter(|reason| !reason.is_empty() && tolerated(clause::LOOP_VERIFY))
            .map(|reason| format!("Verification failed: {reason}. Please try again."));
        let errors = list("model").filter_map(|turn| turn["error"].as_str().map(str::to_owned));
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
    fn wordings(mut self, events: &mut [Value]) -> Vec<Wording> {
        events.iter_mut().filter_map(|event| self.wording(event)).collect()
    }

    fn wording(&mut self, event: &mut Value) -> Option<Wording> {
        let (name, wording) = match event["type"].as_str()? {
            "message" if event["role"] == "user" => {
                let expected = if std::mem::take(&mut self.is_prompt) { None } else { self.feedback.next() };
                ("content", Wording::new(event["content"].as_str()?, expected))
            }
            "tool_result" => {
                let outcome = self.outcomes.next().flatten();
                ("result", Wording::of_call(event["result"].as_str()?, outcome, &event["toolCallId"]))
            }
            "error" => {
                let prefix = if event["recoverable"] == true { "[Error (recoverable)]: " } else { "[Error]: " };
                let actual = event["error"].as_str()?;
                let message = self.errors.next().filter(|message| self.is_any_error || is_message(message, actual));
                ("error", Wording { prefix, ..Wording::new(actual, message) })
            }
            _ => return None,
        };
        event[name] = wording.expected.as_str().into();
        Some(wording)
    }
}

impl Wording {
    fn new(actual: &str, expected: Option<String>) -> Self {
        let expected = expected.unwrap_or_else(|| actual.to_owned());
        Self { actual: actual.to_owned(), expected, call: None, prefix: "" }
    }

    fn of_call(actual: &str, expected: Option<String>, id: &Value) -> Self {
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

    /// Whether a message is this text.
    fn is(&self, message: &Value) -> bool {
        let kind = if self.call.is_some() { "tool" } else { "human" };
        let content = message["content"].as_str().and_then(|content| content.strip_prefix(self.prefix));
        message["type"] == kind
            && content == Some(&self.actual)
            && self.call.as_ref().is_none_or(|id| message["tool_call_id"] == *id)
    }
}

/// Rewords a list of messages as the clauses do. The texts stand in it in order, though some may be missing.
fn reword(wordings: &[Wording], list: &mut Value, given: usize, documents: Option<Profile>) {
    let mut rest = wordings;
    for message in list.as_array_mut().into_iter().flatten().skip(given) {
        match (documents, message["content"].as_str()) {
            (Some(profile), Some(document)) if message["type"] == "human" => {
                let (document, left) = in_document(rest, document, profile);
                message["content"] = document.into();
                rest = left;
            }
            _ => {
                if let Some(found) = rest.iter().position(|wording| wording.is(message)) {
                    message["content"] = format!("{}{}", rest[found].prefix, rest[found].expected).into();
                    rest = &rest[found + 1..];
                }
            }
        }
    }
}

fn in_document<'w>(wordings: &'w [Wording], text: &str, profile: Profile) -> (String, &'w [Wording]) {
    let Some(mut document) = Document::read(text) else { return (text.to_owned(), wordings) };
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
fn summaries(input: &Value, output: &mut Value) {
    let of_type = |event: &&Value| event["type"] == "summary";
    let summaries: Vec<&Value> = input["events"].as_array().into_iter().flatten().filter(of_type).collect();
    let texts: Vec<&str> = summaries.iter().filter_map(|event| event["summary"].as_str()).collect();
    let (Some(messages), false) = (output.as_array_mut(), texts.is_empty()) else { return };
    let instructions = input["instructions"].as_str().unwrap_or_default();
    let said = messages.first().filter(|first| first["type"] == "system").map(|first| &first["content"]);
    let content = said.and_then(Value::as_str).unwrap_or_default();
    let behind = if instructions.is_empty() { String::new() } else { format!("\n\n{instructions}") };
    let is_bare = texts.iter().all(|text| text.is_empty()) && content == instructions;
    let holds_all = content.strip_suffix(&behind).is_some_and(|content| holds(content, texts.clone()));
    if !(is_bare || said.is_some() && holds_all) {
        return;
    }
    let mut expected = "## Previous Iteration Summaries\n\n".to_owned();
    for (event, text) in summaries.iter().zip(texts) {
        // Adding zero makes `-0` a zero.
        let numbers = event["summarizedIterations"].as_array().into_iter().flatten();
        let numbers: Vec<String> =
            numbers.filter_map(|number| Some(format!("{:.0}", number.as_f64()? + 0.0))).collect();
        expected += &format!("### Iteration(s) {}\n{text}\n\n", numbers.join(", "));
    }
    let expected: Value = (expected + &behind).into();
    if said.is_some() {
        messages[0]["content"] = expected;
    } else {
        messages.insert(0, json!({"type": "system", "content": expected}));
    }
}

/// Whether a text holds each of these for itself, in any order: the longest is looked for first, since it may hold another one.
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
