//! Threads of the golden corpus, and threads that go on behind one of them.

use super::{LIMITS, Thread};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::fmt;
use std::sync::LazyLock;
use threadspec::surrogates::repair_surrogates;
use threadspec::{Event, read_events};
use threadspec_golden::covering::{Array, COVERING, Covering, Row};

/// The number of the first golden thread. Few inputs of a fuzzer begin with so large a number: golden threads are large, and
/// small inputs are what makes it fast.
pub(super) const FIRST: u16 = 0xa000;

/// One row of a covering array in so many is taken: each is much like the next.
const ROWS: usize = 16;

/// As much of a case file as holds logs. `threadspec-judge` reads the whole, which no thread needs.
#[derive(Deserialize)]
struct GoldenFile<'a> {
    #[serde(borrow)]
    cases: Vec<LoggedCase<'a>>,
}

#[derive(Deserialize)]
struct LoggedCase<'a> {
    name: String,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    input_json: Option<String>,
    #[serde(default)]
    expand: bool,
}

#[derive(Deserialize)]
struct LoggedInput<'a> {
    #[serde(borrow)]
    events: &'a RawValue,
}

/// A log of the golden corpus.
pub(super) struct GoldenLog {
    /// The case that it is from.
    pub(super) case: String,
    /// The events as JSON; lone surrogates as U+FFFD.
    pub(super) json: String,
}

impl GoldenLog {
    /// The log in an input, if it has one that is small enough to be run thousands of times.
    fn read(case: String, input: &str) -> Option<Self> {
        let input = repair_surrogates(input);
        let LoggedInput { events } = serde_json::from_str(&input).ok()?;
        (input.len() <= LIMITS.golden_bytes).then(|| Self { case, json: events.get().to_owned() })
    }
}

/// The covering arrays of the golden corpus.
pub(super) static COVERED: LazyLock<Option<Covering>> = LazyLock::new(|| {
    let data = threadspec_golden::files().iter().find(|(path, _)| *path == COVERING);
    data.and_then(|(_, text)| Covering::read(text).ok())
});

/// The event logs of the golden corpus.
pub(super) fn logs() -> impl Iterator<Item = GoldenLog> {
    let of_ops = |path: &str| ["serialize", "messages"].into_iter().any(|op| path.split('/').next() == Some(op));
    let files = threadspec_golden::files().iter().filter(move |(path, _)| of_ops(path));
    let of_file = |&(path, text): &(&'static str, &'static str)| {
        let file: GoldenFile<'_> = serde_json::from_str(text).expect("the corpus is well-formed");
        let folder = path.trim_end_matches(".json").replace('/', "-");
        file.cases.into_iter().filter(|case| !case.expand).filter_map(move |case| {
            let input = case.input_json.as_deref().or(case.input.map(RawValue::get))?;
            GoldenLog::read(format!("{folder}-{}", case.name), input)
        })
    };
    let of_rows = COVERED.iter().flat_map(move |covering| {
        let arrays = covering.arrays.iter().filter(|array| of_ops(&array.op));
        let rows = arrays.flat_map(|array| covering.rows(array).step_by(ROWS).map(move |row| (array, row)));
        let log = |(array, row): (&Array, Row<'_>)| {
            GoldenLog::read(format!("{}-row-{}", array.name().replace('/', "-"), row.number() + 1), &row.input())
        };
        rows.filter_map(log).collect::<Vec<_>>()
    });
    files.flat_map(of_file).chain(of_rows)
}

/// The threads of the golden corpus, by case. A log that is refused counts as an empty one: how deep a value may be depends on the features
/// that are built, and what the bytes of a seed mean must not.
pub(super) static THREADS: LazyLock<Vec<(String, Vec<Event>)>> =
    LazyLock::new(|| logs().map(|log| (log.case, read_events(&log.json).unwrap_or_default())).collect());

pub(super) fn prepare() {
    LazyLock::force(&THREADS);
}

/// A generated thread, perhaps after one of the golden corpus.
///
/// Fuzzing draws threads in this form, so that its seeds can be the corpus itself.
#[derive(Clone, arbitrary::Arbitrary)]
#[cfg_attr(feature = "fuzzer", derive(proptest_derive::Arbitrary))]
pub struct GoldenThread {
    /// The number of a golden thread, counted from [`FIRST`]; any other number means none.
    #[cfg_attr(
        feature = "fuzzer",
        proptest(strategy = "FIRST - 1..FIRST.saturating_add(u16::try_from(THREADS.len()).unwrap_or(u16::MAX))")
    )]
    which: u16,
    rest: Thread,
}

impl GoldenThread {
    /// A number on which nothing in the thread depends, unless it begins with a golden one.
    pub fn number(&self) -> usize {
        self.which.into()
    }

    /// The events, those of the corpus first.
    pub fn events(&self) -> Vec<Event> {
        let golden = self.which.checked_sub(FIRST).and_then(|which| THREADS.get(usize::from(which)));
        golden.into_iter().flat_map(|(_, events)| events.clone()).chain(self.rest.events()).collect()
    }
}

impl fmt::Debug for GoldenThread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(&self.events()).map_err(|_| fmt::Error)?)
    }
}
