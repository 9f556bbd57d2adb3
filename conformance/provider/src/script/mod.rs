//! Reads scripts strictly from JSON: turns with their shape and the faults that come first.

mod reader;
#[cfg(test)]
mod tests;

pub use reader::{ObjectReading, StrictReading, read_text};

use crate::Error;
use std::time::Duration;
use threadspec_apis::{Cut, Pieces, StreamShape};

/// The model's answer to an ask.
///
/// Texts are marked data (`threadspec::surrogates`): a script may say half a character.
///
/// ```
/// use threadspec_provider::WireTurn;
/// let turn = WireTurn::read(r#"{"content": "I look.", "tool_calls": [{"name": "look", "args": {"n": 1}}], "attempts": [{"status": 429}]}"#)?;
/// assert_eq!((turn.calls[0].arguments.as_str(), turn.attempts.len()), (r#"{"n":1}"#, 1));
/// let error = WireTurn::read(r#"{"content": "", "attempts": [{"cut": "middle"}]}"#).unwrap_err();
/// assert_eq!(error.to_string(), "attempts[0].cut: `middle` is none of head, start, text, thinking, arguments, call, stop");
/// # Ok::<(), threadspec_provider::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WireTurn {
    /// The text; nothing is not the same as an empty one.
    pub content: Option<String>,
    /// The calls, in order.
    pub calls: Vec<PlayedCall>,
    /// The model's thinking before it.
    pub thinking: Vec<PlayedThought>,
    /// The refusal that replaces an answer.
    pub refusal: Option<String>,
    /// Why it stops, in the words of any API; without it, what the content asks for.
    pub stop: Option<String>,
    /// The model fails with this message, instead of all that.
    pub error: Option<String>,
    /// How it is streamed.
    pub stream: Pace,
    /// How the attempts fail that come first.
    pub attempts: Vec<Fault>,
}

/// A call that a script says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayedCall {
    /// The id; without one the provider makes one.
    pub id: Option<String>,
    /// The name of the tool.
    pub name: String,
    /// The arguments as JSON text without white space, or any text; a mark represents half a character.
    pub arguments: String,
}

/// A thought of a model before it answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlayedThought {
    /// Thinking that the client may read.
    Open {
        /// The text.
        text: String,
        /// Its signature; without one the provider makes one.
        signature: Option<String>,
    },
    /// Thinking that only the provider reads.
    Redacted(String),
    /// Reasoning that only the provider reads, with the id of its item. Sessions alone have it.
    Sealed {
        /// The id.
        id: String,
        /// The text that represents the reasoning.
        data: String,
    },
}

/// How an answer is divided and when its parts come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pace {
    /// The events.
    pub shape: StreamShape,
    /// True if the script says how long the pieces are.
    pub has_pieces: bool,
    /// Lines end in CR LF.
    pub crlf: bool,
    /// The bytes of a write, 0.5 ms apart; without it a write is an event.
    pub chunks: Option<usize>,
    /// The delay before the first byte.
    pub delay: Duration,
    /// The delay between events.
    pub pause: Duration,
}

impl WireTurn {
    /// Reads the JSON text of a turn.
    ///
    /// # Errors
    ///
    /// Says where the text is no JSON or no turn: a member that is not known, or that has no such value.
    pub fn read(text: &str) -> Result<Self, Error> {
        read_text(text, "", Self::from_reading)
    }

    /// Reads the JSON text of a list of turns, which is at a place of a larger text.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    pub fn read_all(text: &str, place: &str) -> Result<Vec<Self>, Error> {
        read_text(text, place, Self::read_list)
    }

    pub(crate) fn read_list(reading: StrictReading<'_>) -> Result<Vec<Self>, Error> {
        reading.list()?.into_iter().map(Self::from_reading).collect()
    }

    /// A turn that is in a larger text.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    pub fn from_reading(reading: StrictReading<'_>) -> Result<Self, Error> {
        Self::from_members(reading.members()?)
    }

    /// A turn of the members that nobody has taken.
    pub(crate) fn from_members(mut members: ObjectReading<'_>) -> Result<Self, Error> {
        let attempts = members.read("attempts", |list| list.list()?.into_iter().map(Fault::read).collect())?;
        let mut turn = Self { attempts: attempts.unwrap_or_default(), ..Self::default() };
        turn.error = members.read("error", StrictReading::string)?;
        if turn.error.is_none() {
            turn.read_answer(&mut members)?;
        }
        members.end()?;
        Ok(turn)
    }

    fn read_answer(&mut self, members: &mut ObjectReading<'_>) -> Result<(), Error> {
        self.content = members.read("content", StrictReading::string)?;
        let calls = members.read("tool_calls", |list| list.list()?.into_iter().map(PlayedCall::read).collect())?;
        self.calls = calls.unwrap_or_default();
        let thinking = members.read("thinking", |list| list.list()?.into_iter().map(PlayedThought::read).collect())?;
        self.thinking = thinking.unwrap_or_default();
        self.refusal = members.read("refusal", StrictReading::string)?;
        if self.refusal.is_some() && (self.content.is_some() || !self.calls.is_empty()) {
            return members.error("a refusal replaces content and calls");
        }
        self.stop = members.read("stop", |stop| stop.word(&STOPS))?;
        self.stream = members.read("stream", Pace::read)?.unwrap_or_default();
        Ok(())
    }

    /// The turn of a model that fails.
    pub fn failing(message: impl Into<String>) -> Self {
        Self { error: Some(message.into()), ..Self::default() }
    }
}

/// The reasons for which models stop.
const STOPS: [&str; 11] = [
    "stop",
    "length",
    "tool_calls",
    "content_filter",
    "function_call",
    "end_turn",
    "max_tokens",
    "stop_sequence",
    "tool_use",
    "pause_turn",
    "refusal",
];

impl PlayedCall {
    /// A call that is in a larger text.
    ///
    /// # Errors
    ///
    /// Says what is wrong with it, and where.
    pub fn read(reading: StrictReading<'_>) -> Result<Self, Error> {
        Self::from_members(reading.members()?)
    }

    pub(crate) fn from_members(mut members: ObjectReading<'_>) -> Result<Self, Error> {
        let id = members.read("id", StrictReading::string)?;
        let name = members.read("name", StrictReading::string)?.unwrap_or_default();
        let arguments = match (members.take("args"), members.take("arguments")) {
            (Some(_), Some(_)) => return members.error("`args` and `arguments` are the same"),
            (Some(args), None) => args.text(),
            (None, Some(raw)) => raw.string()?,
            (None, None) => "{}".to_owned(),
        };
        members.end()?;
        Ok(Self { id, name, arguments })
    }
}

impl PlayedThought {
    fn read(reading: StrictReading<'_>) -> Result<Self, Error> {
        let mut members = reading.members()?;
        let thought = match members.read("redacted", StrictReading::string)? {
            Some(data) => Self::Redacted(data),
            None => Self::Open {
                text: members.need("text", StrictReading::string)?,
                signature: members.read("signature", StrictReading::string)?,
            },
        };
        members.end()?;
        Ok(thought)
    }
}

impl Pace {
    fn read(reading: StrictReading<'_>) -> Result<Self, Error> {
        let size = |reading: StrictReading<'_>| Ok(usize::try_from(reading.count(1)?).unwrap_or(usize::MAX));
        let mut members = reading.members()?;
        let mut pace = Self::default();
        if let Some(pieces) =
            members.read("pieces", |list| list.list()?.into_iter().map(size).collect::<Result<Vec<_>, _>>())?
        {
            if pieces.is_empty() {
                return members.error("`pieces` is empty");
            }
            (pace.shape.pieces, pace.has_pieces) = (Pieces::Lengths(pieces), true);
        }
        pace.chunks = members.read("chunks", size)?;
        let mut flag = |name: &str| Ok(members.read(name, StrictReading::boolean)?.unwrap_or(false));
        pace.shape.interleave = flag("interleave")?;
        pace.shape.text_last = flag("textLast")?;
        pace.shape.empty = flag("empty")?;
        pace.shape.ascii = !flag("utf8")?;
        pace.crlf = flag("crlf")?;
        pace.shape.ping_all = members.read("ping", |ping| ping.word(&["all"]))?.is_some();
        pace.delay = members.read("delayMs", milliseconds)?.unwrap_or_default();
        pace.pause = members.read("pauseMs", milliseconds)?.unwrap_or_default();
        members.end()?;
        Ok(pace)
    }
}

// Reads faults: how an attempt fails before a turn is played.

/// How an attempt fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// An error of the API.
    Status {
        /// The status of HTTP, from 400 on.
        status: u16,
        /// The value of `retry-after` and `retry-after-ms`.
        retry_after: Option<Duration>,
        /// The error's type, if it is another one than this status has.
        kind: Option<String>,
        /// Its code.
        code: Option<String>,
        /// Its message.
        message: Option<String>,
        /// The value of `x-should-retry`.
        should_retry: Option<bool>,
    },
    /// Nothing comes for so long; then the connection closes.
    Hang(Duration),
    /// The answer ends too early.
    Cut {
        /// Where.
        at: Cut,
        /// How the connection ends.
        how: CutEnd,
    },
    /// An error is inside a stream that began well.
    Event {
        /// Behind which part of the answer.
        after: Cut,
        /// For Responses: `response.failed` instead of `error`.
        failed: bool,
    },
    /// An event whose JSON is cut.
    Garbage,
}

/// How a cut connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CutEnd {
    /// FIN, without the last chunk.
    Close,
    /// RST.
    Reset,
    /// As if the answer were whole.
    Clean,
}

const PLACES: &str = "head, start, text, thinking, arguments, call, stop";

// Readings are read as a whole.
#[allow(clippy::needless_pass_by_value)]
fn cut(reading: StrictReading<'_>) -> Result<Cut, Error> {
    if let Ok(events) = reading.clone().count(0) {
        return Ok(Cut::Events(usize::try_from(events).unwrap_or(usize::MAX)));
    }
    let Ok(name) = reading.clone().string() else {
        return reading.error("neither a place nor a number of events");
    };
    Cut::of_name(&name).map_or_else(|| reading.error(format!("`{name}` is none of {PLACES}")), Ok)
}

fn milliseconds(reading: StrictReading<'_>) -> Result<Duration, Error> {
    reading.count(0).map(Duration::from_millis)
}

impl Fault {
    fn read(reading: StrictReading<'_>) -> Result<Self, Error> {
        let mut members = reading.members()?;
        let fault = match ["status", "hang", "cut", "event", "garbage"].iter().find(|name| members.has(name)) {
            Some(&"status") => Self::status(&mut members)?,
            Some(&"hang") => Self::Hang(members.need("hang", milliseconds)?),
            Some(&"cut") => Self::Cut {
                at: members.need("cut", cut)?,
                how: match members.read("how", |how| how.word(&["close", "reset", "end"]))?.as_deref() {
                    Some("reset") => CutEnd::Reset,
                    Some("end") => CutEnd::Clean,
                    _ => CutEnd::Close,
                },
            },
            Some(&"event") => {
                members.need("event", |event| event.word(&["error"]))?;
                let failed = members.read("failed", StrictReading::boolean)?.unwrap_or(false);
                let after = members.read("after", cut)?.unwrap_or(Cut::Start);
                if after == Cut::Head {
                    return members.error("an event cannot come before the head of the answer");
                }
                Self::Event { after, failed }
            }
            Some(&"garbage") => {
                if !members.need("garbage", StrictReading::boolean)? {
                    return members.error("`garbage` is true where it is present");
                }
                Self::Garbage
            }
            _ => return members.error("a fault is one of status, hang, cut, event, garbage"),
        };
        members.end()?;
        Ok(fault)
    }

    fn status(members: &mut ObjectReading<'_>) -> Result<Self, Error> {
        let status = members.need("status", |status| {
            let place = status.clone();
            match status.count(400)? {
                status @ 400..600 => Ok(u16::try_from(status).unwrap_or(u16::MAX)),
                status => place.error(format!("{status} is no status of an error")),
            }
        })?;
        Ok(Self::Status {
            status,
            retry_after: members.read("retryAfterMs", milliseconds)?,
            kind: members.read("type", StrictReading::string)?,
            code: members.read("code", StrictReading::string)?,
            message: members.read("message", StrictReading::string)?,
            should_retry: members.read("shouldRetry", StrictReading::boolean)?,
        })
    }

    /// How long a client that obeys waits before the next attempt, if the fault says so.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Status { retry_after, .. } => *retry_after,
            _ => None,
        }
    }
}
