//! Holds testees, that is, whatever is being tested: another program or an implementation in this process, behind one interface.

mod children;
pub mod interrupt;
mod live;
mod patience;
mod pipes;
mod process;
mod session;

pub use children::{adopt_orphans, end_orphans};
pub use process::{Companion, Process, Surroundings};
pub use session::Storage;

use session::{SessionHeard, Sessions};
use std::borrow::Cow;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;
use threadspec_judge::corpus::Accepted;
use threadspec_judge::protocol::{Hello, Implementation, Reply, Request};
use threadspec_judge::universal::halves::reads_otherwise;
use threadspec_judge::verdict::Outcome;

/// Something that is being tested.
///
/// Requests are sent without waiting, and replies come in any order. After anything but a reply the testee is started
/// afresh, since its next words could not be trusted; the other requests that were waiting are lost.
pub trait Testee {
    /// Returns its description of itself.
    fn hello(&self) -> &Hello;

    /// How many requests may wait for their replies.
    fn window(&self) -> usize {
        1
    }

    /// Sends a request.
    fn send(&mut self, request: &Request);

    /// Sends a request whose reply can be [`Outcome::Accepted`], if it is one of these outputs.
    fn send_for(&mut self, request: &Request, _accepted: Accepted) {
        self.send(request);
    }

    /// Waits for the next outcome, and returns it with the id of its request: of the oldest one, if it is not a reply.
    fn receive(&mut self) -> (i64, Outcome);

    /// Sends a request, and waits for its outcome.
    fn ask(&mut self, request: &Request) -> Outcome {
        self.ask_for(request, Accepted::default())
    }

    /// Asks likewise; the outcome is [`Outcome::Accepted`] if the reply has one of these outputs.
    fn ask_for(&mut self, request: &Request, accepted: Accepted) -> Outcome {
        self.send_for(request, accepted);
        self.receive().1
    }

    /// Waits so many times as long for the replies from now on, to learn how late they are.
    fn be_patient(&mut self, _times: u32) {}

    /// How long the latest reply took that took longer than the limit, since patience was last asked for.
    fn lateness(&self) -> Option<Duration> {
        None
    }

    /// Another one that gives the same answers whatever either of them was asked before, if this one remembers nothing.
    fn twin(&self) -> Option<Box<dyn Testee + Send>> {
        None
    }

    /// Starts the testee afresh, so that earlier requests cannot matter any more.
    fn restart(&mut self) {}

    /// Returns output that the testee sends without a request, now or within this time.
    fn overhear(&mut self, _: Duration) -> Option<Outcome> {
        None
    }

    /// Replies of which more has become known since they were received, each with the id of its request.
    fn amended(&mut self) -> Vec<(i64, Outcome)> {
        Vec::new()
    }

    /// Ends the testee and returns what went wrong in that.
    fn finish(&mut self) -> Vec<Trouble>;
}

/// An error when a testee was ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// A second reply to an earlier request.
    Stray {
        /// The id of the earlier request.
        id: i64,
        /// A description of the event.
        what: String,
    },
    /// It printed something that is not a reply.
    Unasked(String),
    /// It did not exit, or not with status 0.
    Shutdown(String),
}

/// The id and the output of a reply line, if it has these members in this order and no others. Whether the output is JSON is not
/// checked.
fn id_and_output(line: &[u8]) -> Option<(i64, &[u8])> {
    let rest = after(after(line, b"{")?, b"\"id\"")?;
    let rest = after(rest, b":").map(skip_space)?;
    let length = rest.iter().position(|byte| !byte.is_ascii_digit())?;
    let (id, rest) = rest.split_at(length);
    let output = after(after(after(rest, b",")?, b"\"ok\"")?, b":").map(skip_space)?;
    let output = skip_space_behind(skip_space_behind(output).strip_suffix(b"}")?);
    // JSON has no zeros before a number.
    let id = str::from_utf8(id).ok().filter(|id| !id.starts_with('0'))?.parse().ok()?;
    Some((id, output))
}

/// The rest of a text after the token with which it must begin.
fn after<'a>(text: &'a [u8], token: &[u8]) -> Option<&'a [u8]> {
    skip_space(text).strip_prefix(token)
}

/// A text without JSON white space at its beginning.
fn skip_space(text: &[u8]) -> &[u8] {
    let start = text.iter().position(|byte| !is_space(*byte));
    &text[start.unwrap_or(text.len())..]
}

/// A text without JSON white space at its end.
fn skip_space_behind(text: &[u8]) -> &[u8] {
    let end = text.iter().rposition(|byte| !is_space(*byte));
    &text[..end.map_or(0, |end| end + 1)]
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

// A testee in this process.

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

#[cfg(test)]
mod tests {
    use super::id_and_output;

    #[test]
    fn the_parts_of_a_reply_are_found_however_it_is_spaced() {
        for (line, output) in [
            (r#"{"id":7,"ok":"a"}"#, r#""a""#),
            ("\t{ \"id\" : 7 , \"ok\" : [ 1 ] } \r", "[ 1 ]"),
            (r#"{"id":7,"ok":{"a":{}}}"#, r#"{"a":{}}"#),
        ] {
            assert_eq!(id_and_output(line.as_bytes()), Some((7, output.as_bytes())), "{line}");
        }
    }

    #[test]
    fn whatever_else_a_line_holds_stands_in_its_output() {
        for (line, output) in [
            (r#"{"id":7,"ok":1}}"#, "1}"),
            (r#"{"id":7,"ok":1,"unsupported":""}"#, r#"1,"unsupported":"""#),
            (r#"{"id":7,"ok":}"#, ""),
        ] {
            assert_eq!(id_and_output(line.as_bytes()), Some((7, output.as_bytes())), "{line}");
        }
        for line in [
            "",
            "{",
            r#"{"id":,"ok":1}"#,
            r#"{"id":+7,"ok":1}"#,
            r#"{"id":07,"ok":1}"#,
            r#"{"id":7.0,"ok":1}"#,
            r#"{"id":"7","ok":1}"#,
            r#"{"id":99999999999999999999,"ok":1}"#,
            r#"{"ok":1,"id":7}"#,
            r#"{"id":7,"ok":1"#,
            r#"{"id":7,"ok" 1}"#,
            r#"[{"id":7,"ok":1}"#,
            "\x0c{\"id\":7,\"ok\":1}",
        ] {
            assert_eq!(id_and_output(line.as_bytes()), None, "{line}");
        }
    }
}
