//! How a request ended.

use crate::protocol::Reply;
use std::fmt;

/// The outcome of a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The reply.
    Reply(Reply),
    /// The line of a reply that was not parsed, since its output is one of those that are accepted.
    Accepted(String),
    /// It ended before its reply: how, and the last words of its stderr.
    Crash(String),
    /// No reply in time.
    Timeout(String),
    /// Something that is not a reply to the request.
    Garbage(String),
    /// A second reply to an earlier request. The earlier one is to blame, and this one must be sent again.
    Stray {
        /// The id of the earlier request.
        id: i64,
        /// A description of the event.
        what: String,
    },
    /// It could not be started again.
    NotReady(Unready),
    /// The run was interrupted while waiting.
    Interrupted,
}

impl Outcome {
    /// Returns whether it is a reply to the request.
    pub fn is_reply(&self) -> bool {
        matches!(self, Self::Reply(_) | Self::Accepted(..))
    }
}

/// Why a testee is not ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unready {
    /// It cannot be started, or its handshake fails.
    Testee(String),
    /// The system gives this program no more files, processes or memory.
    Shortage(String),
    /// This program lacks something else that it needs for a test, such as a folder.
    Runner(String),
}

impl From<String> for Unready {
    fn from(why: String) -> Self {
        Self::Testee(why)
    }
}

impl fmt::Display for Unready {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Testee(why) => write!(f, "the testee is not ready: {}", why.trim_end()),
            Self::Runner(why) => write!(f, "nothing can be tested here: {why}"),
            Self::Shortage(why) => {
                write!(
                    f,
                    "the system does not let another testee start: {why}; use fewer --jobs, or raise the limit (`ulimit -a` shows them)"
                )
            }
        }
    }
}
