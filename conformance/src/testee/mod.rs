//! What is being tested: another program, or an implementation in this process, behind one interface.

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

/// Something that can be asked.
///
/// Requests are sent without waiting, and replies come in any order. After anything but a reply the testee starts afresh,
/// since what it would say next cannot be trusted, and nothing more comes of what was sent before.
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

    /// Waits for what comes next of the requests that were sent, and says of which: where it is not a reply, of the oldest.
    fn receive(&mut self) -> (i64, Outcome);

    /// Sends a request, and waits for what comes of it.
    fn ask(&mut self, request: &Request) -> Outcome {
        self.ask_for(request, Arc::default())
    }

    /// The same, where these outputs are accepted.
    fn ask_for(&mut self, request: &Request, accepted: Arc<[String]>) -> Outcome {
        self.send_for(request, accepted);
        self.receive().1
    }

    /// Starts afresh: what was asked before cannot matter any more.
    fn restart(&mut self) {}

    /// What has come unasked, and what comes in this time.
    fn overhear(&mut self, _: Duration) -> Option<Outcome> {
        None
    }

    /// Ends the testee and returns what it did wrong in ending.
    fn finish(&mut self) -> Vec<Trouble>;
}

/// What came of a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The reply.
    Reply(Reply),
    /// A reply that was not read, since it is the output of this number word for word of those that are accepted.
    Accepted(Arc<[String]>, usize),
    /// It ended before its reply: how, and what it last said on stderr.
    Crash(String),
    /// No reply in time.
    Timeout(String),
    /// Something that is not a reply to the request.
    Garbage(String),
    /// A second reply to an earlier request, which is to blame. The request itself must be asked again.
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

/// What a testee did wrong in ending.
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
    /// It did not end as it should.
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
