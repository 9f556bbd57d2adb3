//! Reads scripts strictly from JSON: turns with their shape and the faults that come first.

mod fault;
mod reader;

pub use fault::{CutEnd, Fault};

use crate::Error;
use fault::milliseconds;
pub use reader::{ObjectReading, StrictReading, read_text};
use std::time::Duration;
use threadspec_apis::{Pieces, StreamShape};

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

#[cfg(test)]
mod tests;
