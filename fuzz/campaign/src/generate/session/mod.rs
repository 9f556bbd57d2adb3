//! Generates sessions: several runs on one thread, with whatever cuts them off, waits, or is decided between them.

mod calls;
mod writer;

use super::{AtMost, LIMITS, Rarely, Text};
use calls::DrawnRound;
use std::fmt;
use threadspec_judge::protocol::{Feature, Features};
use writer::SessionWriter;

/// How many features a session may have or not: all but `message`.
const OPTIONAL: usize = 12;

/// A session for op `session` of profile `universal`.
///
/// Every choice makes a script that the lint of cases accepts, whichever features its agent has. What a run may do depends on what came
/// before: only a pending call is decided on in time, and only one that can begin is cut.
#[derive(Clone, arbitrary::Arbitrary)]
#[cfg_attr(feature = "fuzzer", derive(proptest_derive::Arbitrary))]
pub struct SessionScenario {
    /// The features that the session uses, so that each is also seen without the others.
    uses: [bool; OPTIONAL],
    /// A part of all texts, so that those of two sessions differ.
    key: u8,
    no_system: Rarely,
    /// It is long. Never for libFuzzer, which would keep long ones most: each takes a hundred times as long as a short one.
    #[arbitrary(default)]
    long: Rarely,
    /// How long, if it is long.
    times: u8,
    runs: AtMost<{ LIMITS.runs }, DrawnRun>,
    /// The end behind the runs, where something is open.
    end: u8,
    /// How many plain runs come first.
    #[arbitrary(default)]
    #[cfg_attr(feature = "fuzzer", proptest(value = "0"))]
    pub(super) more: usize,
    /// How often a word of the first message and of the first result is repeated.
    #[arbitrary(default)]
    #[cfg_attr(feature = "fuzzer", proptest(value = "0"))]
    pub(super) words: usize,
}

/// One run. The choices are numbers of which 0 is the plainest.
#[derive(Clone, Debug, arbitrary::Arbitrary)]
#[cfg_attr(feature = "fuzzer", derive(proptest_derive::Arbitrary))]
pub struct DrawnRun {
    begins: u8,
    /// The decisions on the pending calls, one after the other.
    decisions: [u8; 4],
    compacts: u8,
    rounds: AtMost<{ LIMITS.session_rounds }, DrawnRound>,
    cut: u8,
    cut_place: u8,
    limited: u8,
    fails: u8,
    opaque: u8,
    words: Words,
}

/// A text behind a plain one, mostly none.
#[derive(Clone, Debug, arbitrary::Arbitrary)]
#[cfg_attr(feature = "fuzzer", derive(proptest_derive::Arbitrary))]
pub struct Words {
    is_there: Rarely,
    text: Text,
}

impl Words {
    /// The plain text, which tells it apart from all others, and what is odd behind it.
    fn behind(&self, plain: &str) -> String {
        if self.is_there.is_now() { format!("{plain} {}", self.text.text()) } else { plain.to_owned() }
    }
}

impl SessionScenario {
    /// The input of op `session` for an agent that has these features, without `storage`.
    pub fn input(&self, features: Features) -> String {
        let optional = Feature::all().filter(|feature| *feature != Feature::Message);
        let used = optional.zip(self.uses).filter(|(feature, uses)| *uses && features.contains(*feature));
        let mut writer = SessionWriter::new(used.map(|(feature, _)| feature).collect(), self.key);
        writer.repeats = self.words;
        let long = if self.long.is_now() { usize::from(self.times) } else { 0 };
        // A thread gets long by its runs or by the rounds of one.
        let (runs, rounds) = match long {
            0 => (self.more, 0),
            odd if odd % 2 == 1 => (LONG_RUNS + odd % LONG_RUNS, 0),
            even => (self.more, LONG_ROUNDS + even / 2 % LONG_ROUNDS),
        };
        (0..runs).for_each(|_| writer.plain_run());
        if rounds > 0 {
            writer.long_run(rounds);
        }
        self.runs.iter().for_each(|run| writer.run(run));
        writer.finish(self.end);
        writer.input(!self.no_system.is_now())
    }
}

/// At least so many plain runs make a long thread: more than forty messages.
const LONG_RUNS: usize = 21;
/// At least so many rounds of three calls do.
const LONG_ROUNDS: usize = 10;

impl fmt::Debug for SessionScenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.input(Features::all()))
    }
}
