//! Events read straight from JSON text: the quick way for a log without faults.
//!
//! It accepts only what [`Event::from_json`] accepts, and reads the same event. Everything else (faults, lone surrogates, unusual
//! spellings) is left to that slower way, which can say what is wrong.

use crate::field::MAX_SAFE_INTEGER;
use crate::surrogates::mark_surrogates;
use crate::{Event, EventKind, Role};
use serde::de::{Error as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::fmt;

/// The events of a JSON array, or of JSON Lines of more than one line; `None` leaves them to the slower way.
pub(crate) fn read(json: &str) -> Option<Vec<Event>> {
    if matches!(mark_surrogates(json), Cow::Owned(_)) {
        return None;
    }
    let json = json.trim_start_matches([' ', '\t', '\r', '\n']);
    if json.starts_with('[') {
        let events: Vec<Typed> = serde_json::from_str(json).ok()?;
        return Some(events.into_iter().map(|Typed(event)| event).collect());
    }
    // A single object may be an event, or a log with an `events` array.
    let lines = || json.lines().map(str::trim).filter(|line| !line.is_empty());
    lines().nth(1)?;
    lines().map(read_one).collect()
}

/// The event of a JSON object; `None` leaves it to the slower way.
pub(crate) fn read_one(json: &str) -> Option<Event> {
    let Cow::Borrowed(json) = mark_surrogates(json) else { return None };
    serde_json::from_str(json).ok().map(|Typed(event)| event)
}

/// An event that [`EventVisitor`] reads.
struct Typed(Event);

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "camelCase")]
enum EventMember {
    Type,
    Iteration,
    Role,
    Content,
    ToolName,
    ToolCallId,
    Args,
    Result,
    Error,
    Recoverable,
    Question,
    Response,
    Verified,
    Summary,
    SummarizedIterations,
    #[serde(other)]
    Other,
}

/// A string that is borrowed where it holds no escape.
#[derive(Deserialize)]
struct Word<'a>(#[serde(borrow)] Cow<'a, str>);

#[derive(Default)]
struct RawEvent<'a> {
    kind: Option<Cow<'a, str>>,
    iteration: Option<u64>,
    role: Option<Cow<'a, str>>,
    tool_name: Option<String>,
    tool_call_id: Option<String>,
    args: Option<Map<String, Value>>,
    result: Option<Value>,
    recoverable: Option<bool>,
    verified: Option<bool>,
    summarized_iterations: Option<Vec<u64>>,
    /// `content`, `error`, `question`, `response`, `summary`: no type has two of them.
    text: Option<(TextMember, String)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum TextMember {
    Content,
    Error,
    Question,
    Response,
    Summary,
}

impl<'de> Deserialize<'de> for Typed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EventVisitor).map(Self)
    }
}

struct EventVisitor;

impl<'de> Visitor<'de> for EventVisitor {
    type Value = Event;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an event")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Event, A::Error> {
        let mut members = RawEvent::default();
        while let Some(field) = map.next_key()? {
            match field {
                EventMember::Type => set(&mut members.kind, map.next_value::<Word<'_>>()?.0)?,
                EventMember::Role => set(&mut members.role, map.next_value::<Word<'_>>()?.0)?,
                EventMember::Iteration => set(&mut members.iteration, safe(map.next_value()?)?)?,
                EventMember::ToolName => set(&mut members.tool_name, map.next_value()?)?,
                EventMember::ToolCallId => set(&mut members.tool_call_id, map.next_value()?)?,
                EventMember::Args => set(&mut members.args, map.next_value()?)?,
                EventMember::Result => set(&mut members.result, map.next_value()?)?,
                EventMember::Recoverable => set(&mut members.recoverable, map.next_value()?)?,
                EventMember::Verified => set(&mut members.verified, map.next_value()?)?,
                EventMember::SummarizedIterations => {
                    let iterations: Vec<u64> = map.next_value()?;
                    let iterations = iterations.into_iter().map(safe).collect::<Result<_, _>>()?;
                    set(&mut members.summarized_iterations, iterations)?;
                }
                EventMember::Content => set(&mut members.text, (TextMember::Content, map.next_value()?))?,
                EventMember::Error => set(&mut members.text, (TextMember::Error, map.next_value()?))?,
                EventMember::Question => set(&mut members.text, (TextMember::Question, map.next_value()?))?,
                EventMember::Response => set(&mut members.text, (TextMember::Response, map.next_value()?))?,
                EventMember::Summary => set(&mut members.text, (TextMember::Summary, map.next_value()?))?,
                EventMember::Other => {
                    map.next_value::<Checked>()?;
                }
            }
        }
        members.event().ok_or_else(|| A::Error::custom("no event"))
    }
}

/// Sets a member. One that comes twice is left to the slower way.
fn set<T, E: serde::de::Error>(member: &mut Option<T>, value: T) -> Result<(), E> {
    match member.replace(value) {
        None => Ok(()),
        Some(_) => Err(E::custom("twice")),
    }
}

fn safe<E: serde::de::Error>(integer: u64) -> Result<u64, E> {
    if integer <= MAX_SAFE_INTEGER { Ok(integer) } else { Err(E::custom("too large")) }
}

impl RawEvent<'_> {
    fn event(self) -> Option<Event> {
        let text = |wanted| self.text.and_then(|(which, text)| (which == wanted).then_some(text));
        let kind = match &*self.kind? {
            "message" => {
                let role = match &*self.role? {
                    "user" => Role::User,
                    "assistant" => Role::Assistant,
                    "system" => Role::System,
                    _ => return None,
                };
                EventKind::Message { role, content: text(TextMember::Content)? }
            }
            "tool_call" => {
                EventKind::ToolCall { tool_name: self.tool_name?, tool_call_id: self.tool_call_id?, args: self.args? }
            }
            "tool_result" => EventKind::ToolResult { tool_call_id: self.tool_call_id?, result: self.result },
            "error" => EventKind::Error { error: text(TextMember::Error)?, recoverable: self.recoverable? },
            "human_input_requested" => EventKind::HumanInputRequested { question: text(TextMember::Question)? },
            "human_input_received" => EventKind::HumanInputReceived { response: text(TextMember::Response)? },
            "completion" => {
                let Some(Value::String(result)) = self.result else { return None };
                EventKind::Completion { result, verified: self.verified }
            }
            "summary" => EventKind::Summary {
                summary: text(TextMember::Summary)?,
                summarized_iterations: self.summarized_iterations?,
            },
            _ => return None,
        };
        Some(Event { iteration: self.iteration?, kind })
    }
}

/// A value that is ignored, but must be readable like any other: its numbers within range, its strings Unicode.
struct Checked;

impl<'de> Deserialize<'de> for Checked {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Self)
    }
}

impl<'de> Visitor<'de> for Checked {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Self, A::Error> {
        while elements.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self, A::Error> {
        while members.next_entry::<Self, Self>()?.is_some() {}
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_is_the_same_event() {
        let numbers = "0,1,9007199254740991";
        let events = [
            r#"{"type":"message","role":"user","content":"a\n\u00e9","iteration":0}"#.to_owned(),
            r#"{"iteration":1,"content":"","role":"assistant","type":"message","timestamp":1.5,"x":[{"y":null}]}"#
                .to_owned(),
            r#"{"type":"message","role":"system","content":"\ud83d\ude00","iteration":2}"#.to_owned(),
            r#"{"type":"tool_call","toolName":"a","toolCallId":"b","args":{"b":1,"a":[1e300,{}],"b":2},"iteration":1}"#
                .to_owned(),
            r#"{"type":"tool_result","toolCallId":"b","result":null,"iteration":1}"#.to_owned(),
            r#"{"type":"tool_result","toolCallId":"b","iteration":1}"#.to_owned(),
            r#"{"type":"error","error":"a","recoverable":false,"iteration":1}"#.to_owned(),
            r#"{"type":"human_input_requested","question":"a","iteration":1}"#.to_owned(),
            r#"{"type":"human_input_received","response":"a","iteration":1}"#.to_owned(),
            r#"{"type":"completion","result":"a","verified":true,"iteration":1}"#.to_owned(),
            r#"{"type":"completion","result":"a","iteration":1}"#.to_owned(),
            format!(r#"{{"type":"summary","summary":"a","summarizedIterations":[{numbers}],"iteration":1}}"#),
        ];
        let expected: Vec<Event> = events
            .iter()
            .map(|json| Event::from_json(&serde_json::from_str(json).expect("a test's JSON parses")))
            .collect::<Result<_, _>>()
            .expect("a test's events are events");
        assert_eq!(read(&format!(" [{}]\n", events.join(","))).as_ref(), Some(&expected));
        assert_eq!(read(&events.join(" \r\n\n")), Some(expected));
        assert_eq!(read("[]"), Some(vec![]));
    }

    #[test]
    fn what_may_be_refused_or_mean_something_else_is_left_alone() {
        let event = r#"{"type":"message","role":"user","content":"a","iteration":0}"#;
        assert!(read_one(event).is_some());
        for (from, to) in [
            (r#""a""#, "1"),
            (r#""a""#, r#""\ud83d""#),
            (r#""user""#, r#"{"user":null}"#),
            ("0", "1.0"),
            ("0", "-1"),
            ("0", "9007199254740992"),
            ("0}", r#"0,"iteration":1}"#),
            ("0}", r#"0,"x":1e400}"#),
            ("0}", r#"0,"x":"\ud83d"}"#),
            ("0}", r#"0,"\ud83d":1}"#),
            ("0}", r#"0,"error":"a"}"#),
            ("message", "massage"),
            ("user", "boss"),
        ] {
            assert_eq!(read_one(&event.replacen(from, to, 1)), None, "{from} -> {to}");
        }
        assert_eq!(read(event), None, "an object alone");
        assert_eq!(read(&format!("{event}\n{{}}")), None);
        assert_eq!(read(&format!("[{event}] [{event}]")), None);
    }
}
