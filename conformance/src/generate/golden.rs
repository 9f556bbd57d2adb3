use std::{fmt, sync::LazyLock};

use proptest::strategy::ValueTree;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{LIMITS, Thread, samples};
use crate::corpus::{Case, Expect};
use threadspec::{Event, Profile, SerializeOptions, read_events, serialize_thread, surrogates::repair_surrogates};

const OPS: [&str; 5] = ["escape", "serialize", "messages", "tools", "loop"];

#[derive(Deserialize)]
struct Cases<'a> {
    #[serde(borrow)]
    cases: Vec<&'a RawValue>,
}

/// A case of the golden corpus that expects one answer: its id, its input and that answer.
struct Answered {
    id: String,
    op: &'static str,
    source: String,
    input: String,
    output: String,
}

fn answered(op: &'static str) -> Vec<Answered> {
    let mut found = Vec::new();
    for (path, text) in threadspec_golden::FILES {
        let Some(topic) = path.strip_prefix(op).and_then(|rest| rest.strip_prefix('/')?.strip_suffix(".json")) else {
            continue;
        };
        // What cannot be read is the linter's finding, not ours.
        let (Ok(Cases { cases }), Ok(kind)) = (serde_json::from_str(text), op.parse()) else { continue };
        found.extend(cases.into_iter().filter_map(|source| {
            let (case, _) = Case::read(source, kind, op, topic).ok()?;
            let Expect::Output(accepted) = &case.expect else { return None };
            let [only] = &accepted[..] else { return None };
            let output = only.value()?;
            let input = repair_surrogates(&case.input).into_owned();
            Some(Answered { id: case.id.replace('/', "-"), op, source: case.source, input, output: output.to_string() })
        }));
    }
    found
}

/// The inputs of an operation in the golden corpus, of the cases that expect one answer; lone surrogates as U+FFFD.
pub fn golden_inputs(op: &'static str) -> impl Iterator<Item = String> {
    answered(op).into_iter().map(|case| case.input)
}

/// Whether a fuzzer can take it up thousands of times.
fn is_small(text: &str) -> bool {
    text.len() <= LIMITS.golden_bytes
}

/// The event logs of the golden corpus, by case.
fn logs() -> impl Iterator<Item = (String, String)> {
    #[derive(Deserialize)]
    struct Input<'a> {
        #[serde(borrow)]
        events: &'a RawValue,
    }
    ["serialize", "messages"].into_iter().flat_map(answered).filter_map(|Answered { id, input, .. }| {
        let Input { events } = serde_json::from_str(&input).ok()?;
        is_small(&input).then(|| (id, events.get().to_owned()))
    })
}

static THREADS: LazyLock<Vec<(String, Vec<Event>)>> =
    LazyLock::new(|| logs().filter_map(|(id, log)| Some((id, read_events(&log).ok()?))).collect());

/// A thread of the golden corpus, or none, that goes on with a generated one.
///
/// What fuzzing draws threads from, so that its seeds can be the corpus itself.
#[derive(Clone, arbitrary::Arbitrary, proptest_derive::Arbitrary)]
pub struct GoldenThread {
    which: u16,
    rest: Thread,
}

impl GoldenThread {
    /// The events, those of the corpus first.
    pub fn events(&self) -> Vec<Event> {
        let which = usize::from(self.which) % (THREADS.len() + 1);
        let golden = which.checked_sub(1).map(|which| THREADS[which].1.clone());
        golden.into_iter().flatten().chain(self.rest.events()).collect()
    }
}

impl fmt::Debug for GoldenThread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(&self.events()).unwrap_or_default())
    }
}

/// What a fuzz target begins with.
#[derive(Clone, Debug)]
pub struct Seed {
    /// The golden case that it is made of, or a number.
    pub name: String,
    /// The input of the target.
    pub bytes: Vec<u8>,
}

/// The seeds of a fuzz target; none for a name that is none.
///
/// A target that takes text begins with texts of the golden corpus, one that takes a [`GoldenThread`] with the
/// corpus's threads, each followed by nothing, and one that takes a [`Script`](super::Script) with random bytes, each of
/// which is a script.
pub fn seeds(target: &str) -> Vec<Seed> {
    let text = |(name, text): (String, String)| Seed { name, bytes: text.into_bytes() };
    match target {
        "serialize" | "messages" | "equivalence" => {
            let numbered = (1_u16..).zip(THREADS.iter());
            numbered.map(|(which, (id, _))| Seed { name: id.clone(), bytes: which.to_le_bytes().into() }).collect()
        }
        "loop" => (0..200)
            .zip(samples::<Vec<u8>>(0))
            .map(|(number, bytes)| Seed { name: format!("{number:03}"), bytes: bytes.current() })
            .collect(),
        "escape" => {
            let cases = answered("escape").into_iter().filter(|case| is_small(&case.input));
            cases.map(|case| text((case.id, case.input))).collect()
        }
        "input" => logs().map(text).collect(),
        "read" => Profile::ALL
            .into_iter()
            .flat_map(|profile| {
                let options = SerializeOptions { profile, ..SerializeOptions::default() };
                let documents = THREADS.iter().map(move |(id, events)| (id, serialize_thread(events, &options)));
                documents.map(move |(id, document)| text((format!("{id}-{profile}"), document)))
            })
            .collect(),
        "case" => {
            let files = OPS.into_iter().flat_map(answered).map(|Answered { id, op, source, .. }| {
                text((id, format!(r#"{{"op":"{op}","about":"a seed","cases":[{source}]}}"#)))
            });
            files.filter(|seed| seed.bytes.len() <= LIMITS.golden_bytes).collect()
        }
        "reply" => {
            let cases = OPS.into_iter().flat_map(answered).filter(|case| is_small(&case.output));
            cases.map(|case| text((case.id, format!(r#"{{"id":1,"ok":{}}}"#, case.output)))).collect()
        }
        _ => Vec::new(),
    }
}
