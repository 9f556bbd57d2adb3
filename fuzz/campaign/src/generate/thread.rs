//! Generates threads.

use super::json::{AsJsonText, pick, write_list};
use super::{AtMost, Json, LIMITS, Name, Rarely, Returned, Text};
use std::fmt;
use std::fmt::Write;
use std::ops::Range;
use threadspec::{Event, read_events};

/// A log of events.
#[derive(Clone, arbitrary::Arbitrary)]
#[cfg_attr(feature = "fuzzer", derive(proptest_derive::Arbitrary))]
pub struct Thread(pub(super) AtMost<{ LIMITS.events }, ThreadStep>);

/// One event, and whether it begins an iteration.
#[derive(Clone, Debug, arbitrary::Arbitrary)]
#[cfg_attr(feature = "fuzzer", derive(proptest_derive::Arbitrary))]
pub struct ThreadStep {
    next_iteration: bool,
    iteration: Iteration,
    pub(super) what: What,
}

/// An event of a step. Half of the steps are about tools, since most rules of order are.
#[derive(Clone, Debug, arbitrary::Arbitrary)]
#[cfg_attr(feature = "fuzzer", derive(proptest_derive::Arbitrary))]
pub enum What {
    /// An event that refers to no other.
    Alone(Alone),
    /// A tool call or its result.
    Tool(Tool),
}

/// An event that refers to no other.
#[derive(Clone, Debug, arbitrary::Arbitrary)]
#[cfg_attr(feature = "fuzzer", derive(proptest_derive::Arbitrary))]
pub enum Alone {
    /// A message of the user.
    User(Text),
    /// A message of the model.
    Assistant(Text),
    /// A system message.
    System(Text),
    /// An error.
    Error(Text, bool),
    /// A question to a person.
    Ask(Text),
    /// The person's answer.
    Answer(Text),
    /// The end of a run.
    Done(Text, Option<bool>),
    /// Older iterations in short.
    Summary(Text, AtMost<{ LIMITS.summarized }, Iteration>),
}

/// A tool call or its result.
#[derive(Clone, Debug, arbitrary::Arbitrary)]
#[cfg_attr(feature = "fuzzer", derive(proptest_derive::Arbitrary))]
pub enum Tool {
    /// A tool call, with an id of its own nine times in ten.
    Call {
        /// The tool.
        name: Name,
        /// The id is that of an earlier call, or odd.
        wrong: Rarely,
        /// The odd id.
        id: Name,
        /// The arguments.
        args: Json,
    },
    /// A tool result, of a call that has none yet nine times in ten.
    Result {
        /// The call, counted from the last one.
        call: u8,
        /// It is a second result, is before its call, or belongs to no call.
        wrong: Rarely,
        /// The id that it names if it belongs to no call; some results name nearly the id of a call instead.
        id: Name,
        /// The result is absent: JSON drops `undefined`.
        absent: Rarely,
        /// The result.
        result: Returned,
    },
}

/// The number of an iteration; one in ten is extreme or spelled in an unusual way.
#[derive(Clone, Debug, arbitrary::Arbitrary)]
#[cfg_attr(feature = "fuzzer", derive(proptest_derive::Arbitrary))]
pub struct Iteration {
    odd: Rarely,
    which: u8,
}

impl Iteration {
    fn write(&self, usual: usize, json: &mut String) {
        if self.odd.is_now() {
            json.push_str(pick(&["0", "-0", "1.0", "2e1", "4294967296", "9007199254740991"], self.which));
        } else {
            let _ = write!(json, "{usual}");
        }
    }
}

/// Members that real logs have and that must change nothing (INP-2).
const UNKNOWN_FIELDS: &str = concat!(
    r#","timestamp":1700000000000.5,"durationMs":1,"parallelGroup":"p","choices":["a"],"id":99,"name":"x","#,
    r#""status":"failed","display":{"kind":"x","type":"message"},"":null,"__proto__":{"type":"x"}"#,
);

/// The calls so far.
#[derive(Default)]
struct Calls {
    /// How many got an id of their own.
    numbered: usize,
    /// The place of each id in the log, and whether it has a result.
    ids: Vec<(Range<usize>, bool)>,
}

impl Thread {
    /// The log as a JSON array.
    pub fn json(&self) -> String {
        self.json_with("")
    }

    /// Appends the log.
    #[cfg(feature = "fuzzer")]
    pub(super) fn write(&self, json: &mut String) {
        self.write_with("", json);
    }

    /// The log with unknown fields.
    pub fn json_with_unknown_fields(&self) -> String {
        self.json_with(UNKNOWN_FIELDS)
    }

    /// The events that are read from the log.
    ///
    /// # Panics
    /// When the reader refuses it, which would be a finding: every thread is valid.
    pub fn events(&self) -> Vec<Event> {
        let json = self.json();
        read_events(&json).unwrap_or_else(|error| panic!("a valid log is refused: {error}\n{json}"))
    }

    fn json_with(&self, more: &str) -> String {
        let mut json = String::new();
        self.write_with(more, &mut json);
        json
    }

    fn write_with(&self, more: &str, json: &mut String) {
        let mut calls = Calls::default();
        let mut iteration = 0;
        json.push('[');
        let first = json.len();
        for step in self.0.iter() {
            iteration += usize::from(step.next_iteration);
            let start = json.len();
            if start > first {
                json.push(',');
            }
            json.push_str(r#"{"type":"#);
            if !step.what.write(&mut calls, json) {
                json.truncate(start);
                continue;
            }
            json.push_str(r#","iteration":"#);
            step.iteration.write(iteration, json);
            json.push_str(more);
            json.push('}');
        }
        json.push(']');
    }
}

impl What {
    /// Appends the event's members after `"type":`. Says no where it is a result while every call has one: then there is no event.
    fn write(&self, calls: &mut Calls, json: &mut String) -> bool {
        match self {
            Self::Alone(event) => event.write(json),
            Self::Tool(Tool::Call { name, wrong, id, args }) => {
                json.push_str(r#""tool_call","toolName":"#);
                name.write(json);
                json.push_str(r#","toolCallId":"#);
                calls.call(*wrong, id, json);
                json.push_str(r#","args":"#);
                args.write_object(json);
            }
            Self::Tool(Tool::Result { call, wrong, id, absent, result }) => {
                json.push_str(r#""tool_result","toolCallId":"#);
                if !calls.answer(*call, *wrong, id, json) {
                    return false;
                }
                if !absent.is_now() {
                    json.push_str(r#","result":"#);
                    result.write(json);
                }
            }
        }
        true
    }
}

impl AsJsonText for Alone {
    fn write(&self, json: &mut String) {
        let (before, text) = match self {
            Self::User(text) => (r#""message","role":"user","content":"#, text),
            Self::Assistant(text) => (r#""message","role":"assistant","content":"#, text),
            Self::System(text) => (r#""message","role":"system","content":"#, text),
            Self::Error(text, _) => (r#""error","error":"#, text),
            Self::Ask(text) => (r#""human_input_requested","question":"#, text),
            Self::Answer(text) => (r#""human_input_received","response":"#, text),
            Self::Done(text, _) => (r#""completion","result":"#, text),
            Self::Summary(text, _) => (r#""summary","summary":"#, text),
        };
        json.push_str(before);
        text.write(json);
        match self {
            Self::Error(_, recoverable) => {
                let _ = write!(json, r#","recoverable":{recoverable}"#);
            }
            Self::Done(_, Some(verified)) => {
                let _ = write!(json, r#","verified":{verified}"#);
            }
            Self::Summary(_, iterations) => {
                json.push_str(r#","summarizedIterations":["#);
                write_list(json, iterations.iter(), |iteration, json| iteration.write(iteration.which.into(), json));
                json.push(']');
            }
            _ => {}
        }
    }
}

impl Calls {
    /// Appends the id of the next call.
    fn call(&mut self, wrong: Rarely, odd: &Name, json: &mut String) {
        let start = json.len();
        if wrong.is_now() {
            match self.ids.get(wrong.which() % (self.ids.len() + 1)) {
                Some((earlier, _)) => json.extend_from_within(earlier.clone()),
                None => odd.write_odd(json),
            }
        } else {
            self.numbered += 1;
            let _ = write!(json, "\"call_{}\"", self.numbered);
        }
        self.ids.push((start..json.len(), false));
    }

    /// Appends the id that the next result names; says no where every call has a result.
    fn answer(&mut self, call: u8, wrong: Rarely, orphan: &Name, json: &mut String) -> bool {
        if wrong.is_now() {
            match (wrong.which() % 4, self.ids.iter().rev().find(|(_, answered)| *answered)) {
                (0, Some((second, _))) => json.extend_from_within(second.clone()),
                (1, _) => {
                    let _ = write!(json, "\"call_{}\"", self.numbered + 1);
                }
                (2, _) => {
                    json.push_str(pick(&["\"CALL_1\"", "\"call_10\"", "\"call_\"", "\" call_1\"", "\"1\""], call));
                }
                _ => orphan.write_odd(json),
            }
            return true;
        }
        let open = || self.ids.iter().filter(|(_, answered)| !answered).count();
        let Some(last) = open().checked_sub(1) else { return false };
        let wanted = last - usize::from(call) % (last + 1);
        let mut open = self.ids.iter_mut().filter(|(_, answered)| !answered);
        let Some((id, answered)) = open.nth(wanted) else { return false };
        *answered = true;
        json.extend_from_within(id.clone());
        true
    }
}

impl fmt::Debug for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.json())
    }
}
