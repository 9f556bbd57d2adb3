//! The socket, the clock and the thread around what answers: a server for HTTP/1.1 on one thread.
//!
//! It reads requests within [`ServerLimits`], and does what [`Answers`] plans: parts of an answer when they are due, each in a write of its own,
//! and ends that break off. It knows no API and no script.

mod ask;
mod forward;
mod server;
mod service;
mod socket;
#[cfg(test)]
mod tests;

pub use ask::AskLimits;
pub use forward::Upstream;
pub use server::ServerLimits;

use crate::error::Error;
use crate::exchange::Reaction;
use crate::http::Received;
use server::ServerOrder;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use std::{fmt, thread};
use threadspec::oracle::Api;
use threadspec_judge::protocol::facts;
use tokio::runtime::Builder;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

/// Who answers requests. Times are counted from the start of the server.
pub trait Answers: Send + 'static {
    /// The later name of a request.
    type Attempt: Clone + 'static;

    /// Says what to do about a request.
    fn receive(&mut self, now: Duration, request: Received) -> (Self::Attempt, Reaction);

    /// Learns whether the client got all of what was planned. It is called once for each attempt.
    fn delivered(&mut self, now: Duration, attempt: Self::Attempt, is_whole: bool);

    /// Learns what the upstream answers to a request that was forwarded, as it passes.
    fn heard(&mut self, _now: Duration, _attempt: &Self::Attempt, _heard: UpstreamPart<'_>) {}
}

/// A part of an upstream's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpstreamPart<'a> {
    /// The head of an answer.
    Head {
        /// Its status.
        status: u16,
        /// Its media type, empty if it has none.
        content_type: &'a str,
        /// The names, in lower case, and the values of its header.
        headers: &'a [(String, String)],
    },
    /// The next bytes of its body.
    Data(&'a [u8]),
    /// The upstream could not be reached.
    Unreachable(&'a str),
}

/// The state that a server and its users share.
struct SharedState<A> {
    answers: Mutex<A>,
    /// Where requests go that are forwarded.
    upstream: Option<Upstream>,
    began: Instant,
}

impl<A> SharedState<A> {
    fn answers(&self) -> MutexGuard<'_, A> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> Duration {
        self.at(Instant::now())
    }

    fn at(&self, instant: Instant) -> Duration {
        instant.saturating_duration_since(self.began)
    }
}

/// A server that is running. Dropping it ends it.
pub struct Server<A> {
    address: SocketAddr,
    shared: Arc<SharedState<A>>,
    commands: UnboundedSender<ServerOrder>,
    thread: Option<JoinHandle<()>>,
}

impl<A: Answers> Server<A> {
    /// Starts a server on an address; port 0 is a free one.
    ///
    /// # Errors
    ///
    /// When it cannot listen there, or there is no thread for it.
    pub fn start(address: SocketAddr, limits: ServerLimits, answers: A) -> Result<Self, Error> {
        Self::start_before(None, address, limits, answers)
    }

    /// Starts a server that forwards to an upstream what is not answered otherwise.
    ///
    /// # Errors
    ///
    /// As [`start`](Self::start).
    pub fn start_before(
        upstream: Option<Upstream>,
        address: SocketAddr,
        limits: ServerLimits,
        answers: A,
    ) -> Result<Self, Error> {
        let cannot = |error| Error::new("", format_args!("cannot listen on {address}: {error}"));
        let runtime = Builder::new_current_thread().enable_io().enable_time().build().map_err(cannot)?;
        let listener = {
            let _inside = runtime.enter();
            server::listen(address).map_err(cannot)?
        };
        let address = listener.local_addr().map_err(cannot)?;
        let shared = Arc::new(SharedState { answers: Mutex::new(answers), upstream, began: Instant::now() });
        let (commands, orders) = unbounded_channel();
        let own = Arc::clone(&shared);
        // Requests may be nested as deep as the limits say.
        let thread = thread::Builder::new().name("provider".into()).stack_size(threadspec_judge::json::DEEP_STACK);
        let thread =
            thread.spawn(move || runtime.block_on(server::serve(listener, orders, limits, own))).map_err(cannot)?;
        Ok(Self { address, shared, commands, thread: Some(thread) })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the base URL that the official SDK of an API takes: with `/v1` for OpenAI's, without for others.
    pub fn base_url(&self, api: Api) -> String {
        format!("http://{}{}", self.address, facts(api).base)
    }

    /// Looks at who answers, or tells it something, with the time that it is.
    pub fn with<T>(&self, act: impl FnOnce(&mut A, Duration) -> T) -> T {
        act(&mut self.shared.answers(), self.shared.now())
    }

    /// Acts once everything that has left so far is noted as delivered. A client may report an answer before the server has noted that it
    /// left.
    pub fn with_settled<T>(&self, act: impl FnOnce(&mut A, Duration) -> T) -> T {
        let (done, is_done) = mpsc::sync_channel(1);
        if self.commands.send(ServerOrder::Settle(done)).is_ok() {
            // An error says that the server has ended, and that nothing more will be noted.
            let _ = is_done.recv();
        }
        self.with(act)
    }
}

impl<A> Server<A> {
    /// Accepts nothing more, lets answers that are under way go on for a moment, and ends.
    pub fn shut_down(mut self) {
        self.end();
    }

    fn end(&mut self) {
        let _ = self.commands.send(ServerOrder::End);
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was printed, and there is nothing left to save.
            let _ = thread.join();
        }
    }
}

impl<A> Drop for Server<A> {
    fn drop(&mut self) {
        self.end();
    }
}

impl<A> fmt::Debug for Server<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("address", &self.address).finish_non_exhaustive()
    }
}
