//! A testee in this process.

use super::{Outcome, Testee, Trouble};
use crate::protocol::{Hello, Implementation, Request};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// An implementation in this process as a testee.
#[derive(Debug)]
pub struct InProcess<I> {
    implementation: I,
    hello: Hello,
    sent: VecDeque<Request>,
}

impl<I: Implementation> InProcess<I> {
    /// Wraps an implementation.
    pub fn new(implementation: I) -> Self {
        let hello = implementation.hello();
        Self { implementation, hello, sent: VecDeque::new() }
    }
}

impl<I: Implementation> Testee for InProcess<I> {
    fn hello(&self) -> &Hello {
        &self.hello
    }

    fn send(&mut self, request: &Request) {
        self.sent.push_back(request.clone());
    }

    fn receive(&mut self) -> (i64, Outcome) {
        let request = self.sent.pop_front().expect("a request was sent");
        (request.id, self.ask(&request))
    }

    fn ask(&mut self, request: &Request) -> Outcome {
        // Implementations answer each request independently, so a panic leaves nothing behind that could mislead.
        match catch_unwind(AssertUnwindSafe(|| self.implementation.answer(request))) {
            Ok(reply) => Outcome::Reply(reply),
            Err(panic) => {
                let message = panic.downcast_ref::<&str>().map(ToString::to_string);
                let message = message.or_else(|| panic.downcast_ref::<String>().cloned());
                Outcome::Crash(format!("panicked: {}", message.unwrap_or_default()))
            }
        }
    }

    fn finish(&mut self) -> Vec<Trouble> {
        Vec::new()
    }
}
