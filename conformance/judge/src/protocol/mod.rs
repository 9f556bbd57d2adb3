//! Protocol v1: its request and reply lines. `PROTOCOL.md` is the text for people.

mod endpoint;
mod hello;
mod output;
mod profile;

pub use crate::facts::{ApiFacts, facts};
pub use crate::feature::{Feature, Features, Saves, SessionAbilities};
pub use crate::shape::{
    AgentRun, Call, ChatMessage, EventBody, Execution, Input, LoopOutput, OpaqueItem, Part, Parts, Requests, RunReport,
    ScriptedFault, ScriptedTurn, ScriptedVerification, SentCall, SessionMessage, SessionOutput, SessionWireReport,
    Shape, Speaker, ThreadEvent, ToolsOutput, WireRemark, WireReport,
};
pub use endpoint::ServerDialect;
pub use endpoint::{Endpoint, Transport};
pub use hello::Hello;
pub use output::Output;
pub use profile::JudgeProfile;

use crate::Error;
use crate::json;
use crate::universal::halves;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::sync::Arc;
use strum::{Display, EnumIter, EnumString, IntoEnumIterator, IntoStaticStr};
use threadspec::surrogates::{mark_surrogates, unmark_surrogates};

/// The protocol version of this runner.
pub const VERSION: i64 = 1;
/// The member that says that the process ends now, and the one that holds the runs so far.
const CUT: &str = "cut";
const RUNS: &str = "runs";

/// An operation, in the order of the protocol. Its name is also that of its corpus folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Display, EnumIter, EnumString, IntoStaticStr)]
#[strum(serialize_all = "kebab-case", parse_err_fn = unknown_op, parse_err_ty = Error)]
pub enum Op {
    /// A text to its escaped form.
    Escape,
    /// Events to the XML document.
    Serialize,
    /// Events to the messages of a model request.
    Messages,
    /// A scripted run of tool rounds.
    Tools,
    /// A scripted run of the outer agent loop.
    Loop,
    /// Several scripted runs of tool rounds on one thread, in profile `universal`.
    Session,
}

impl Op {
    /// Every operation.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::iter()
    }

    /// The operations that a profile judges.
    pub fn of(profile: JudgeProfile) -> impl Iterator<Item = Self> {
        Self::iter().filter(move |op| match op {
            Self::Escape | Self::Serialize | Self::Messages | Self::Loop => profile != JudgeProfile::Universal,
            Self::Tools => true,
            Self::Session => profile == JudgeProfile::Universal,
        })
    }
}

fn unknown_op(name: &str) -> Error {
    Error::new(format!("unknown op `{name}`"))
}

/// Answers requests in this process: the reference, or a mutant of it.
pub trait Implementation {
    /// Returns its description of itself.
    fn hello(&self) -> Hello;

    /// Answers one request, independently of all others.
    fn answer(&mut self, request: &Request) -> Reply;

    /// Answers one request with a line of the protocol, without the line end.
    fn line(&mut self, request: &Request) -> String {
        self.answer(request).line(request.id)
    }

    /// Acts as if its process had ended and started again: what it kept in memory is gone, and what it stored stays.
    fn start_over(&mut self) {}
}

/// One question to a testee.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Repeated by the reply.
    pub id: i64,
    /// The operation.
    pub op: Op,
    /// The profile under which the reply will be judged.
    pub profile: JudgeProfile,
    /// The operation's input as raw JSON text on one line.
    pub input: Arc<str>,
    /// True if the model's thinking is to be on; only who gives the request an endpoint can ask for it.
    pub reasoning: bool,
    /// Where the testee finds its model, if that is not scripted in the input.
    pub endpoint: Option<Endpoint>,
    /// For op `session`: the folder where it stores the thread. It goes over the wire as the input's member `storage`.
    pub storage: Option<String>,
    /// For op `session`: the number of runs that were reported before the process ended, after which it goes on.
    pub from: Option<usize>,
}

impl Request {
    /// A request whose model, if it has one, is scripted in the input.
    pub fn new(id: i64, op: Op, profile: impl Into<JudgeProfile>, input: impl Into<Arc<str>>) -> Self {
        let (profile, input) = (profile.into(), input.into());
        Self { id, op, profile, input, reasoning: false, endpoint: None, storage: None, from: None }
    }

    /// The request as it goes over the wire, without the line end.
    pub fn line(&self) -> String {
        let Self { id, op, profile, endpoint, from, .. } = self;
        let input = self.input_with_storage();
        let head = format!(r#"{{"id":{id},"op":"{op}","profile":"{profile}","input":"#);
        let endpoint =
            endpoint.as_ref().map(|endpoint| format!(r#","endpoint":{}"#, endpoint.to_json())).unwrap_or_default();
        let from = from.map(|runs| format!(r#","from":{runs}"#)).unwrap_or_default();
        // A large input is copied once.
        [&*head, &*input, &*endpoint, &*from, "}"].concat()
    }

    /// The input, whose first member is the storage folder if there is one.
    fn input_with_storage(&self) -> Cow<'_, str> {
        let members = self.input.trim_start().strip_prefix('{');
        let Some((storage, members)) = self.storage.as_ref().zip(members) else { return Cow::Borrowed(&self.input) };
        let comma = if members.trim_start().starts_with('}') { "" } else { "," };
        Cow::Owned(format!(r#"{{"storage":{}{comma}{members}"#, Value::from(storage.as_str())))
    }
}

/// Why a testee refused an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, EnumString)]
#[strum(serialize_all = "kebab-case", parse_err_fn = unknown_reject_kind, parse_err_ty = Error)]
pub enum RejectKind {
    /// An element of `events` is wrong.
    InvalidEvent,
    /// Anything else is wrong.
    InvalidInput,
}

fn unknown_reject_kind(name: &str) -> Error {
    Error::new(format!("`{name}` is not a reject kind"))
}

/// The answer of a testee.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// The output of the operation.
    Ok(Value),
    /// The input is refused.
    Reject {
        /// The kind of the refusal.
        kind: RejectKind,
        /// The words of the refusal.
        message: String,
    },
    /// The testee does not do this, and says why.
    Unsupported(String),
    /// The testee ends its own process now, since the script kills it in the last of these runs of op `session`.
    Cut {
        /// The runs that were not reported before.
        runs: Vec<Value>,
    },
}

impl Reply {
    /// The reply as it goes over the wire, without the line end.
    pub fn line(&self, id: i64) -> String {
        let (answer, content) = match self {
            // A large output is not copied.
            Self::Ok(output) => return format!(r#"{{"id":{id},"ok":{output}}}"#),
            Self::Reject { kind, message } => ("reject", json!({"kind": kind.to_string(), "message": message})),
            Self::Unsupported(why) => ("unsupported", why.as_str().into()),
            Self::Cut { runs } => return format!(r#"{{"id":{id},"cut":true,"runs":{}}}"#, json!(runs)),
        };
        format!(r#"{{"id":{id},"{answer}":{content}}}"#)
    }

    /// The line from which [`Reply::read`] and [`Reply::read_for`] read this reply: as [`Reply::line`], but marks are escapes again.
    pub fn marked_line(&self, id: i64) -> String {
        let line = self.line(id);
        json::changed(unmark_surrogates(&line)).unwrap_or(line)
    }

    /// Reads a reply line: its id and what it says. Each escape of a lone surrogate in it becomes a mark (`threadspec::surrogates`).
    ///
    /// # Errors
    ///
    /// Says why the line is not a reply.
    pub fn read(line: impl Into<Vec<u8>>) -> Result<(i64, Self), Error> {
        let text = utf8(line.into())?;
        Self::of(json::changed(mark_surrogates(&text)).unwrap_or(text))
    }

    /// Reads a reply line that is judged by a profile, as [`Reply::read`] does; in `universal` a lone surrogate may also be raw.
    ///
    /// # Errors
    ///
    /// Says why the line is not a reply.
    pub fn read_for(profile: JudgeProfile, line: impl Into<Vec<u8>>) -> Result<(i64, Self), Error> {
        let line = line.into();
        if profile != JudgeProfile::Universal {
            return Self::read(line);
        }
        match json::changed(halves::decode(&line).map_err(Error::new)?) {
            Some(marked) => Self::of(marked),
            None => Self::of(utf8(line)?),
        }
    }

    fn of(text: String) -> Result<(i64, Self), Error> {
        const ANSWERS: [&str; 4] = ["ok", "reject", "unsupported", CUT];
        let members = json::read_members(text).map_err(|error| Error::new(format!("not a JSON object: {error}")))?;
        let (mut id, mut runs, mut answers): (_, _, Vec<(String, Value)>) = (None, None, Vec::new());
        for (name, value) in members {
            // Programs differ in which of two members they read.
            let is_repeated = name == "id" && id.is_some() || name == RUNS && runs.is_some();
            if is_repeated || answers.iter().any(|(answer, _)| *answer == name) {
                return Err(Error::new(format!("it has `{name}` twice")));
            }
            if name == "id" {
                id = Some(value);
            } else if name == RUNS {
                runs = Some(value);
            } else if ANSWERS.contains(&&*name) && (name != CUT || value != false) {
                answers.push((name, value));
            }
        }
        let id = id.as_ref().and_then(integer).ok_or_else(|| Error::new("it has no integer `id`"))?;
        if answers.len() > 1 {
            // Where every member is always written, null means absent; alone it is an output.
            answers.retain(|(_, content)| !content.is_null());
        }
        let Ok([(answer, content)]) = <[_; 1]>::try_from(answers) else {
            return Err(Error::new("it must have exactly one of `ok`, `reject`, `unsupported` and `cut`"));
        };
        let reply = match (&*answer, content) {
            ("ok", output) => Self::Ok(output),
            ("reject", reason) => Self::Reject {
                kind: reason["kind"].as_str().ok_or_else(|| Error::new("its `reject` has no `kind`"))?.parse()?,
                message: match &reason["message"] {
                    Value::Null => String::new(),
                    Value::String(message) => message.clone(),
                    _ => return Err(Error::new("the `message` of its `reject` is not a string")),
                },
            },
            (CUT, Value::Bool(true)) => match runs {
                Some(Value::Array(runs)) => Self::Cut { runs },
                _ => return Err(Error::new("it has `cut`, but no list of `runs`")),
            },
            (CUT, _) => return Err(Error::new("its `cut` is not true")),
            (_, Value::String(why)) => Self::Unsupported(why),
            _ => return Err(Error::new("its `unsupported` is not a string")),
        };
        Ok((id, reply))
    }
}

fn utf8(line: Vec<u8>) -> Result<String, Error> {
    String::from_utf8(line).map_err(|error| Error::new(format!("not UTF-8: {error}")))
}

/// The integer that a number is, in whatever spelling.
#[allow(clippy::cast_possible_truncation, reason = "exact below 2^53")]
fn integer(value: &Value) -> Option<i64> {
    let double = || value.as_f64().filter(|double| double.fract() == 0.0 && double.abs() < 9e15);
    value.as_i64().or_else(|| double().map(|double| double as i64))
}

/// As on the wire, without the id.
impl Serialize for Reply {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut members = serializer.serialize_map(Some(1))?;
        match self {
            Self::Ok(output) => members.serialize_entry("ok", output)?,
            Self::Reject { kind, message } => {
                members.serialize_entry("reject", &json!({"kind": kind.to_string(), "message": message}))?;
            }
            Self::Unsupported(why) => members.serialize_entry("unsupported", why)?,
            Self::Cut { runs } => {
                members.serialize_entry(CUT, &true)?;
                members.serialize_entry(RUNS, runs)?;
            }
        }
        members.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The protocol promises it to those whose parser refuses a line.
    #[test]
    fn every_request_begins_with_its_id() {
        let request = Request::new(41, Op::Session, JudgeProfile::Universal, r#"{"runs":[]}"#);
        let again = Request { storage: Some("/tmp/s".to_owned()), from: Some(1), ..request.clone() };
        for line in [request.line(), again.line(), Hello::request(None)] {
            let rest = line.strip_prefix(r#"{"id":"#).expect("the id comes first");
            assert!(["41,", "0,"].iter().any(|id| rest.starts_with(id)), "{line}");
        }
    }

    #[test]
    fn a_reply_may_hold_lone_surrogates_and_unknown_fields() {
        let reply = Reply::read(br#"{"took":3,"id":7,"ok":"a\ud83d"}"#);
        assert_eq!(reply, Ok((7, Reply::Ok(json!("a\u{10d83d}")))));
    }

    #[test]
    fn the_universal_profile_sees_lone_surrogates() {
        for line in [&br#"{"id":7,"ok":"a\ud83d"}"#[..], b"{\"id\":7,\"ok\":\"a\xed\xa0\xbd\"}"] {
            assert_eq!(Reply::read_for(JudgeProfile::Universal, line), Ok((7, Reply::Ok(json!("a\u{10d83d}")))));
        }
        assert!(Reply::read_for(JudgeProfile::Literal, b"{\"id\":7,\"ok\":\"a\xed\xa0\xbd\"}").is_err());
    }

    #[test]
    fn null_is_an_output() {
        assert_eq!(Reply::read(br#"{"id":7,"ok":null}"#), Ok((7, Reply::Ok(Value::Null))));
    }

    #[test]
    fn null_beside_an_answer_is_absent() {
        let refused = Reply::Reject { kind: RejectKind::InvalidInput, message: String::new() };
        let line = br#"{"id":7,"ok":null,"reject":{"kind":"invalid-input"},"unsupported":null}"#;
        assert_eq!(Reply::read(line), Ok((7, refused)));
        assert_eq!(Reply::read(br#"{"id":7.0,"ok":"a","reject":null}"#), Ok((7, Reply::Ok(json!("a")))));
    }

    #[test]
    fn what_is_not_exactly_a_reply_is_refused() {
        for line in [
            &b""[..],
            b"ready",
            b"[]",
            b"\xff",
            br#"{"ok":1}"#,
            br#"{"id":"7","ok":1}"#,
            br#"{"id":7.5,"ok":1}"#,
            br#"{"id":1e300,"ok":1}"#,
            br#"{"id":7}"#,
            br#"{"id":7,"ok":null,"reject":null}"#,
            br#"{"id":7,"ok":1,"unsupported":"x"}"#,
            br#"{"id":7,"reject":"no"}"#,
            br#"{"id":7,"reject":{"kind":"other"}}"#,
            br#"{"id":7,"unsupported":true}"#,
            br#"{"id":7,"ok":1} {"id":8,"ok":1}"#,
            br#"{"id":7,"ok":1,"id":7}"#,
            br#"{"id":8,"ok":1,"\u0069d":7}"#,
            br#"{"id":7,"ok":1,"ok":1}"#,
            br#"{"id":7,"ok":null,"ok":1}"#,
            br#"{"id":7,"cut":true}"#,
            br#"{"id":7,"cut":true,"runs":{}}"#,
            br#"{"id":7,"cut":true,"runs":[],"runs":[]}"#,
            br#"{"id":7,"cut":true,"runs":[],"ok":1}"#,
            br#"{"id":7,"cut":1,"runs":[]}"#,
        ] {
            assert!(Reply::read(line).is_err(), "{}", String::from_utf8_lossy(line));
        }
    }

    #[test]
    fn a_request_of_a_session_names_its_folder_and_where_it_goes_on() {
        let request = |input: &str, storage: Option<&str>, from| {
            let request = Request::new(7, Op::Session, JudgeProfile::Universal, input);
            Request { storage: storage.map(str::to_owned), from, ..request }.line()
        };
        let line = |input: &str, more: &str| {
            format!(r#"{{"id":7,"op":"session","profile":"universal","input":{input}{more}}}"#)
        };
        assert_eq!(request(r#"{"runs":[]}"#, None, None), line(r#"{"runs":[]}"#, ""));
        assert_eq!(
            request(r#"{"runs":[]}"#, Some("a\\"), Some(2)),
            line(r#"{"storage":"a\\","runs":[]}"#, r#","from":2"#)
        );
        assert_eq!(request(" { } ", Some("/a"), None), line(r#"{"storage":"/a" } "#, ""));
        // What is no object stays what it is.
        assert_eq!(request("[]", Some("/a"), None), line("[]", ""));
    }

    #[test]
    fn replies_survive_their_own_writing() {
        let reject = Reply::Reject { kind: RejectKind::InvalidEvent, message: "event 3".into() };
        let cut = Reply::Cut { runs: vec![json!({"requests": []})] };
        for reply in [Reply::Ok(json!([1])), reject, Reply::Unsupported("why".into()), cut] {
            assert_eq!(Reply::read(reply.line(5).as_bytes()), Ok((5, reply)));
        }
    }
}
