//! States the laws of every thread, text, document and script: the bodies of the fuzz targets and of the property tests.
//!
//! Each function takes an input that an engine has drawn, and panics with the violation and that input.

mod agent;
mod document;
#[cfg(feature = "judge")]
mod judged;
#[cfg(feature = "provider")]
mod provider;

pub use agent::{agent, run_loop, tools};
pub use document::{SecondReaders, equivalence, escape, input, messages, plain, read, serialize};

use std::fmt::Display;
use threadspec::{Event, Profile};

#[cfg(feature = "judge")]
pub use judged::{case, reply, run_session, session};
#[cfg(feature = "provider")]
pub use provider::{provider_http, provider_sse};

/// The profile in which a thread is checked, always the same for the same thread. Checking one profile takes half the time, and a fuzzer
/// soon tries a similar thread that gets the other one.
pub fn profile_of(events: &[Event]) -> Profile {
    let last = events.last().map_or(0, |event| event.kind.event_type() as usize);
    Profile::ALL[(events.len() + last) % 2]
}

/// Panics when something does not hold, with the events that show it.
#[track_caller]
fn hold(verdict: Result<(), impl Display>, what: &str, events: &[Event]) {
    if let Err(violation) = verdict {
        fail(&violation, what, events);
    }
}

#[track_caller]
fn same<T: PartialEq + ?Sized>(one: &T, other: &T, what: &str, events: &[Event]) {
    if one != other {
        fail(&"the two differ", what, events);
    }
}

#[track_caller]
fn fail(violation: &dyn Display, what: &str, events: &[Event]) -> ! {
    let events = serde_json::to_string(events).expect("events are JSON");
    panic!("{what}: {violation}\n{{\"events\":{events}}}")
}

/// Where to cut a thread: at one place only, for speed. The length of its document decides, so that any place is tried with some thread.
fn cut(events: &[Event], document: &str) -> usize {
    document.len() % (events.len() + 1)
}

/// Runs `body`, on a stack as deep as the runner's own if the text has so many brackets that it may need it.
#[cfg(feature = "judge")]
fn on_stack_for(text: &[u8], body: impl FnOnce() + Send) {
    if text.iter().filter(|byte| b"[{".contains(byte)).count() < 500 {
        body();
    } else {
        threadspec_judge::json::on_deep_stack(body).expect("a thread can be started");
    }
}
