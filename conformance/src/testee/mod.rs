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

    /// Waits for what comes next of the requests that were sent, and says of which: where it is not a reply, of the oldest.
    fn receive(&mut self) -> (i64, Outcome);

    /// Sends a request, and waits for what comes of it.
    fn ask(&mut self, request: &Request) -> Outcome {
        self.send(request);
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
