//! Generates threads.

use super::list::{join, pick};
use super::{AtMost, Json, LIMITS, Name, Rarely, Returned, Text};
use std::fmt;
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

/// What happens in a step. Half of the steps are about tools, since most rules of order are.
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
        /// Whether the id is that of an earlier call, or odd.
        wrong: Rarely,
        /// The odd id.
        id: Name,
        /// The arguments.
        args: Json,
    },
    /// A tool result, of a call that has none yet nine times in ten.
    Result {
        /// Which call, counted from the last one.
        call: u8,
        /// Whether it is a second result, is before its call, or belongs to no call.
        wrong: Rarely,
        /// The id that it names if it belongs to no call; some results name nearly the id of a call instead.
        id: Name,
        /// Whether the result is absent: JSON drops `undefined`.
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
    fn json(&self, usual: usize) -> String {
        if self.odd.is_now() {
            pick(&["0", "-0", "1.0", "2e1", "4294967296", "9007199254740991"], self.which).to_owned()
        } else {
            usual.to_string()
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
    /// The id of each, and whether it has a result.
    ids: Vec<(String, bool)>,
}

impl Thread {
    /// The log as a JSON array.
    pub fn json(&self) -> String {
        self.json_with("")
    }

    /// The same log with unknown fields.
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
        let mut calls = Calls::default();
        let mut iteration = 0;
        let events = self.0.iter().filter_map(|step| {
            iteration += usize::from(step.next_iteration);
            let members = step.what.json(&mut calls)?;
            Some(format!(r#"{{"type":{members},"iteration":{}{more}}}"#, step.iteration.json(iteration)))
        });
        format!("[{}]", join(events))
    }
}

impl What {
    /// The event's members after `"type":`; `None` for a result while every call has one.
    fn json(&self, calls: &mut Calls) -> Option<String> {
        match self {
            Self::Alone(event) => Some(event.json()),
            Self::Tool(event) => event.json(calls),
        }
    }
}

impl Alone {
    fn json(&self) -> String {
        let message = |role, text: &Text| format!(r#""message","role":"{role}","content":{}"#, text.json());
        match self {
            Self::User(text) => message("user", text),
            Self::Assistant(text) => message("assistant", text),
            Self::System(text) => message("system", text),
            Self::Error(text, recoverable) => {
                format!(r#""error","error":{},"recoverable":{recoverable}"#, text.json())
            }
            Self::Ask(text) => format!(r#""human_input_requested","question":{}"#, text.json()),
            Self::Answer(text) => format!(r#""human_input_received","response":{}"#, text.json()),
            Self::Done(text, None) => format!(r#""completion","result":{}"#, text.json()),
            Self::Done(text, Some(verified)) => {
                format!(r#""completion","result":{},"verified":{verified}"#, text.json())
            }
            Self::Summary(text, iterations) => {
                let iterations = join(iterations.iter().map(|iteration| iteration.json(usize::from(iteration.which))));
                format!(r#""summary","summary":{},"summarizedIterations":[{iterations}]"#, text.json())
            }
        }
    }
}

impl Tool {
    fn json(&self, calls: &mut Calls) -> Option<String> {
        Some(match self {
            Self::Call { name, wrong, id, args } => {
                let id = calls.call(*wrong, id);
                format!(r#""tool_call","toolName":{},"toolCallId":{id},"args":{}"#, name.json(), args.object())
            }
            Self::Result { call, wrong, id, absent, result } => {
                let id = calls.answer(*call, *wrong, id)?;
                let result = if absent.is_now() { String::new() } else { format!(r#","result":{}"#, result.json()) };
                format!(r#""tool_result","toolCallId":{id}{result}"#)
            }
        })
    }
}

impl Calls {
    /// The id of the next call.
    fn call(&mut self, wrong: Rarely, odd: &Name) -> String {
        let id = if wrong.is_now() {
            let earlier = self.ids.get(wrong.which() % (self.ids.len() + 1));
            earlier.map_or_else(|| odd.odd_json(), |(id, _)| id.clone())
        } else {
            self.numbered += 1;
            format!("\"call_{}\"", self.numbered)
        };
        self.ids.push((id.clone(), false));
        id
    }

    /// The id that the next result names.
    fn answer(&mut self, call: u8, wrong: Rarely, orphan: &Name) -> Option<String> {
        if wrong.is_now() {
            return Some(match (wrong.which() % 4, self.ids.iter().rev().find(|(_, answered)| *answered)) {
                (0, Some((second, _))) => second.clone(),
                (1, _) => format!("\"call_{}\"", self.numbered + 1),
                (2, _) => pick(&["\"CALL_1\"", "\"call_10\"", "\"call_\"", "\" call_1\"", "\"1\""], call).to_owned(),
                _ => orphan.odd_json(),
            });
        }
        let mut open: Vec<_> = self.ids.iter_mut().filter(|(_, answered)| !answered).collect();
        let last = open.len().checked_sub(1)?;
        let (id, answered) = &mut *open[last - usize::from(call) % (last + 1)];
        *answered = true;
        Some(id.clone())
    }
}

impl fmt::Debug for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.json())
    }
}
