//! Reads faults: how an attempt fails before a turn is played.

use super::reader::{ObjectReading, StrictReading};
use crate::Error;
use std::time::Duration;
use threadspec_apis::Cut;

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

pub(super) fn milliseconds(reading: StrictReading<'_>) -> Result<Duration, Error> {
    reading.count(0).map(Duration::from_millis)
}

impl Fault {
    pub(super) fn read(reading: StrictReading<'_>) -> Result<Self, Error> {
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
