//! Generates threads, scripts and whole requests, valid by construction, for fuzzing and the property tests.
//!
//! There is one description, the *plans*: plain data types that derive both `arbitrary::Arbitrary` (libFuzzer) and
//! `proptest::arbitrary::Arbitrary` (property tests, differential fuzzing, shrinking). A plan holds choices, mostly small
//! numbers, and every combination of choices is valid. [`Thread::json`], [`ScriptPlan::loop_input`] and [`RequestPlan::input`]
//! write what was chosen as JSON text, the one form in which lone surrogates, number spellings and repeated keys can
//! exist; Rust values are read from that text as from any other log.
//!
//! | plan | what it stands for | from |
//! |---|---|---|
//! | [`Text`] | a text of pieces, each of a documented `TextClass` or any character | [`CLASSES`] |
//! | `Json` | a JSON value that tries ECMAScript's rules | numbers, keys |
//! | `Name` | the name of a tool or of a call; one in ten is odd | names |
//! | [`Thread`] | a log of events; one reference in ten is deliberately wrong | the above |
//! | [`ScriptPlan`] | a model, tools, a verifier and limits | the above |
//! | `Scenario` | a run of any agent, for profile `universal` | texts, values, odd names |
//! | [`SessionScenario`] | several runs on one thread, for op `session` | numbers, texts |
//! | [`RequestPlan`] | an operation of the protocol with its input | all of it |
//! | `Enlargement` | what of a request is made large, and how far | |
//! | [`StreamPlan`] | an answer of a model as a stream, which arrives in pieces | texts, names, values |
//! | [`GoldenThread`] | a generated thread, perhaps after one of the golden corpus | the corpus |
//!
//! Choices that should be rare are `Rarely`, so that both engines make them equally rare.

mod golden;
#[cfg(feature = "fuzzer")]
mod growth;
mod json;
#[cfg(feature = "fuzzer")]
mod odd;
#[cfg(feature = "fuzzer")]
mod request;
#[cfg(feature = "fuzzer")]
mod scenario;
mod script;
#[cfg(feature = "fuzzer")]
mod seeds;
#[cfg(feature = "judge")]
mod session;
#[cfg(feature = "provider")]
mod stream;
mod text;
mod thread;

pub use golden::GoldenThread;
pub use script::ScriptPlan;
pub use text::{CLASSES, Text};
pub use thread::Thread;

use json::{AtMost, Json, Rarely};
use script::Returned;
use text::{Name, Piece};

#[cfg(feature = "fuzzer")]
pub use request::{RequestPlan, samples};
#[cfg(feature = "fuzzer")]
pub use seeds::{golden_inputs, seeds};
#[cfg(feature = "judge")]
pub use session::SessionScenario;
#[cfg(feature = "provider")]
pub use stream::StreamPlan;
#[cfg(feature = "fuzzer")]
pub(crate) use {growth::Enlargement, scenario::Scenario, script::Mode, text::TextClass};

/// Reads the data that plans draw from. Without it the first plan does so, and a fuzzer led by coverage takes what that runs for rare.
pub fn prepare() {
    text::prepare();
    golden::prepare();
}

/// How large things get: large enough for every situation that the specification speaks of, small enough for tens of
/// thousands of runs a second.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Steps of a thread.
    pub events: usize,
    /// Pieces of a text.
    pub pieces: usize,
    /// How often a piece of the class `long` is repeated, at most.
    pub repeats: usize,
    /// Steps of the program that writes a JSON value; hence also its depth.
    pub json: usize,
    /// Iterations that a summary replaces.
    pub summarized: usize,
    /// Answers of a scripted model.
    pub turns: usize,
    /// Tool calls in one answer.
    pub calls: usize,
    /// Results of one scripted tool.
    pub results: usize,
    /// Talks and rounds of a history.
    pub past: usize,
    /// Runs of a session.
    pub runs: usize,
    /// Responses with calls in one of them.
    pub session_rounds: usize,
    /// Calls in one of these.
    pub session_calls: usize,
    /// Answers of a scripted verifier.
    pub verifications: usize,
    /// Events of a long thread, or talks and rounds of a long history.
    pub many_events: usize,
    /// Turns of a long script, or calls of a wide response.
    pub many_turns: usize,
    /// Plain runs in front of a long session.
    pub many_runs: usize,
    /// Elements or members of a wide value, and what else an input has a list of.
    pub many_values: usize,
    /// Levels of a deep value; with what is around it fewer than 50, beyond which an input may be refused (INP-3).
    pub depth: usize,
    /// Bytes of all requests of a long script, about: few enough for a reply to hold eight more members in each message.
    pub large_run: usize,
    /// Bytes of a long text.
    pub long_text: usize,
    /// Bytes of what is taken from the golden corpus; larger inputs are for one run, not for thousands.
    pub golden_bytes: usize,
}

/// The limits in force.
pub const LIMITS: Limits = Limits {
    events: 14,
    pieces: 6,
    repeats: 200,
    json: 12,
    summarized: 4,
    turns: 8,
    calls: 3,
    results: 3,
    past: 3,
    runs: 5,
    session_rounds: 2,
    session_calls: 4,
    verifications: 4,
    many_events: 1_000,
    many_turns: 240,
    many_runs: 80,
    many_values: 1_000,
    depth: 40,
    large_run: 1_200_000,
    long_text: 100_000,
    golden_bytes: 16_000,
};
