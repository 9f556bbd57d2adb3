//! What is being tested: another program, or an implementation in this process, behind one interface.

mod in_process;
pub mod interrupt;
mod keyed;
mod process;
mod reference;

pub use in_process::InProcess;
pub use process::Process;
pub use reference::Reference;

use crate::protocol::{Hello, Reply, Request};

/// Something that can be asked one request at a time.
pub trait Testee {
    /// What it said about itself.
    fn hello(&self) -> &Hello;

    /// Asks, and waits for what comes of it. Afterwards the testee is ready, restarted if necessary.
    fn ask(&mut self, request: &Request) -> Outcome;

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
    /// It did not end as it should.
    Shutdown(String),
}
