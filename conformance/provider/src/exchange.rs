//! Plans the parts of an answer and their times, without a socket.

use std::time::Duration;

/// Names an attempt, for [`Engine::delivered`](crate::Engine::delivered).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AttemptId(pub(crate) u64);

/// The reaction to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reaction {
    /// It is answered.
    Answer(PlannedAnswer),
    /// It goes on to the upstream of the server, and the answer passes through.
    Forward,
    /// Not a byte is sent.
    Silence {
        /// How long nothing happens.
        after: Duration,
        /// How the connection ends then.
        ending: PlannedEnd,
    },
}

/// An answer, and when its parts are to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedAnswer {
    /// The delay before the head is sent.
    pub delay: Duration,
    /// The status.
    pub status: u16,
    /// Names and values, without those of the framing and without `date`.
    pub headers: Vec<(String, String)>,
    /// The value of `content-length`; without it the body is chunked.
    pub length: Option<u64>,
    /// The body, in the order of time.
    pub steps: Vec<WireStep>,
    /// How it ends.
    pub ending: PlannedEnd,
}

/// A part of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WireStep {
    /// Nothing is sent for so long.
    Wait(Duration),
    /// These bytes are sent in one write.
    Write(Vec<u8>),
}

/// How an answer ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlannedEnd {
    /// As HTTP wants it: with the last chunk, or with all bytes of its length. The connection may stay open.
    Whole,
    /// The connection is closed (FIN), whatever is missing.
    Close,
    /// The connection is reset (RST).
    Reset,
}

impl PlannedAnswer {
    /// The body that is sent, in one piece.
    pub fn body(&self) -> Vec<u8> {
        let writes = self.steps.iter().filter_map(|step| match step {
            WireStep::Write(bytes) => Some(bytes.as_slice()),
            WireStep::Wait(_) => None,
        });
        writes.collect::<Vec<_>>().concat()
    }

    /// The first value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
}
