//! Testees, that is, whatever is being tested: another program or an implementation in this process, behind one interface.

mod children;
mod in_process;
pub mod interrupt;
mod keyed;
mod lines;
mod live;
mod process;
mod reference;

pub use children::{adopt_orphans, end_orphans};
pub use in_process::InProcess;
pub use process::Process;
pub use reference::Reference;

use crate::protocol::{Hello, Reply, Request};
use std::sync::Arc;
use std::time::Duration;

/// Something that is being tested.
///
/// Requests are sent without waiting, and replies come in any order. After anything but a reply the testee is started
/// afresh, since its next words could not be trusted; the other requests that were waiting are lost.
pub trait Testee {
    /// What it said about itself.
    fn hello(&self) -> &Hello;

    /// How many requests may wait for their replies.
    fn window(&self) -> usize {
        1
    }

    /// Sends a request.
    fn send(&mut self, request: &Request);

    /// Sends a request whose reply is [`Outcome::Accepted`] if it is one of these outputs word for word.
    fn send_for(&mut self, request: &Request, _accepted: Arc<[String]>) {
        self.send(request);
    }

    /// Waits for the next outcome, and returns it with the id of its request: of the oldest one, if it is not a reply.
    fn receive(&mut self) -> (i64, Outcome);

    /// Sends a request, and waits for its outcome.
    fn ask(&mut self, request: &Request) -> Outcome {
        self.ask_for(request, Arc::default())
    }

    /// The same; the outcome is [`Outcome::Accepted`] if the reply is one of these outputs word for word.
    fn ask_for(&mut self, request: &Request, accepted: Arc<[String]>) -> Outcome {
        self.send_for(request, accepted);
        self.receive().1
    }

    /// Starts the testee afresh, so that earlier requests cannot matter any more.
    fn restart(&mut self) {}

    /// What the testee has said unasked, or says within this time.
    fn overhear(&mut self, _: Duration) -> Option<Outcome> {
        None
    }

    /// Ends the testee and returns what went wrong in that.
    fn finish(&mut self) -> Vec<Trouble>;
}

/// The outcome of a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The reply.
    Reply(Reply),
    /// A reply that was not parsed, since it is one of the accepted outputs word for word: these, and the number of that one.
    Accepted(Arc<[String]>, usize),
    /// It ended before its reply: how, and what it last said on stderr.
    Crash(String),
    /// No reply in time.
    Timeout(String),
    /// Something that is not a reply to the request.
    Garbage(String),
    /// A second reply to an earlier request. The earlier one is to blame, and this one must be sent again.
    Stray {
        /// The id of the earlier request.
        id: i64,
        /// What happened.
        what: String,
    },
    /// It could not be started again.
    NotReady(String),
    /// The run was interrupted while waiting.
    Interrupted,
}

impl Outcome {
    /// Whether it is a reply to the request.
    pub fn is_reply(&self) -> bool {
        matches!(self, Self::Reply(_) | Self::Accepted(..))
    }
}

/// What went wrong when a testee was ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// A second reply to an earlier request.
    Stray {
        /// The id of the earlier request.
        id: i64,
        /// What happened.
        what: String,
    },
    /// It printed something that is not a reply.
    Unasked(String),
    /// It did not exit, or not with status 0.
    Shutdown(String),
}

/// The id of a reply line and the number of the accepted output that it carries, if it does word for word.
fn accepted_reply(line: &[u8], accepted: &[String]) -> Option<(i64, usize)> {
    if accepted.is_empty() {
        return None;
    }
    let after_id = line.strip_prefix(br#"{"id":"#)?;
    let length = after_id.iter().position(|&byte| byte == b',')?;
    let id = str::from_utf8(&after_id[..length]).ok()?.parse().ok()?;
    let output = after_id[length..].strip_prefix(br#","ok":"#)?.strip_suffix(b"}")?;
    Some((id, accepted.iter().position(|accepted| accepted.as_bytes() == output)?))
}
