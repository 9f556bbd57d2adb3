//! A testee in this process.

use super::session::{SessionHeard, Sessions};
use super::{Testee, Trouble, id_and_output};
use std::borrow::Cow;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use threadspec_judge::corpus::Accepted;
use threadspec_judge::protocol::{Hello, Implementation, Reply, Request};
use threadspec_judge::universal::halves::reads_otherwise;
use threadspec_judge::verdict::Outcome;

/// An implementation in this process as a testee.
#[derive(Debug)]
pub struct InProcess<I> {
    implementation: I,
    hello: Hello,
    sent: VecDeque<(Request, Accepted)>,
    sessions: Sessions,
    twin: Option<fn() -> Box<dyn Testee + Send>>,
}

impl<I: Implementation> InProcess<I> {
    /// Wraps an implementation.
    pub fn new(implementation: I) -> Self {
        let hello = implementation.hello();
        Self { implementation, hello, sent: VecDeque::new(), sessions: Sessions::default(), twin: None }
    }

    /// One that remembers nothing, so that others which are made like this give the same answers.
    #[must_use]
    pub fn with_twins(self, twin: fn() -> Box<dyn Testee + Send>) -> Self {
        Self { twin: Some(twin), ..self }
    }
}

impl<I: Implementation> Testee for InProcess<I> {
    fn hello(&self) -> &Hello {
        &self.hello
    }

    fn send(&mut self, request: &Request) {
        self.send_for(request, Accepted::default());
    }

    fn send_for(&mut self, request: &Request, accepted: Accepted) {
        self.sent.push_back((request.clone(), accepted));
    }

    fn receive(&mut self) -> (i64, Outcome) {
        let (request, accepted) = self.sent.pop_front().expect("a request was sent");
        let id = request.id;
        let of_session = match self.sessions.begin(&request) {
            Ok(Cow::Owned(of_session)) => Some(of_session),
            Ok(Cow::Borrowed(_)) => None,
            Err(why) => return (id, Outcome::NotReady(why)),
        };
        let mut asked = of_session.unwrap_or(request);
        loop {
            let outcome = self.outcome(&asked, &accepted);
            match self.sessions.heard(id, outcome) {
                SessionHeard::Whole(outcome) => {
                    if !outcome.is_reply() {
                        self.sessions.clear();
                    }
                    return (id, outcome);
                }
                SessionHeard::Killed(next) => {
                    self.implementation.start_over();
                    asked = *next;
                }
            }
        }
    }

    fn twin(&self) -> Option<Box<dyn Testee + Send>> {
        self.twin.map(|twin| twin())
    }

    fn restart(&mut self) {
        self.implementation.start_over();
    }

    fn finish(&mut self) -> Vec<Trouble> {
        Vec::new()
    }
}

impl<I: Implementation> InProcess<I> {
    /// The outcome of one request.
    fn outcome(&mut self, request: &Request, accepted: &Accepted) -> Outcome {
        // Implementations answer each request independently, so a panic leaves no state that the next answer depends on.
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            // Some characters change when a reply is read, so the reply must pass through text.
            if matches!(accepted, Accepted::Values(_)) && !reads_otherwise(&request.input) {
                return Outcome::Reply(self.implementation.answer(request));
            }
            let line = self.implementation.line(request);
            if id_and_output(line.as_bytes()).is_some_and(|(_, output)| accepted.has(output)) {
                return Outcome::Accepted(line);
            }
            match Reply::read_for(request.profile, line.as_bytes()) {
                Ok((_, reply)) => Outcome::Reply(reply),
                Err(why) => Outcome::Garbage(why.to_string()),
            }
        }));
        outcome.unwrap_or_else(|panic| {
            let message = panic.downcast_ref::<&str>().map(ToString::to_string);
            let message = message.or_else(|| panic.downcast_ref::<String>().cloned());
            Outcome::Crash(format!("panicked: {}", message.unwrap_or_default()))
        })
    }
}
