//! `threadspec-mutants blind`.

use std::collections::BTreeMap;
use threadspec_cli::{Stop, corpus, select};
use threadspec_mutants::{Blindness, DOORS, Error, Sight, by_size};
use threadspec_report::terminal::{BAD, GOOD, print, styled};
use threadspec_runner::Exit;

/// Change what a sound agent sends, one thing at a time, and count what the judge does not see
///
/// A change that nothing shows must be in `permitted-changes.json`, with the clause that permits it.
#[derive(Debug, clap::Args)]
pub(crate) struct BlindRun {
    /// Use only cases whose id matches; `*` stands for anything, `/` included (repeatable)
    #[arg(long, value_name = "GLOB")]
    filter: Vec<String>,
    /// Use only this door: tools, session, wire or gateway (repeatable)
    #[arg(long, value_name = "DOOR", value_parser = DOORS)]
    door: Vec<String>,
    /// Make one in so many of the changes
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    step: usize,
    /// Name every case of a change that nothing shows
    #[arg(long)]
    all: bool,
}

impl BlindRun {
    /// Runs the command and returns its exit code.
    ///
    /// # Errors
    ///
    /// When the corpus or the list is at fault.
    pub(crate) fn execute(&self) -> Result<Exit, Stop> {
        let corpus = corpus(None)?;
        let cases = by_size(&select(&corpus, &self.filter)?);
        let doors: Vec<&str> =
            if self.door.is_empty() { DOORS.to_vec() } else { self.door.iter().map(String::as_str).collect() };
        let harness = |error: Error| Stop::new(Exit::Corpus, error.to_string());
        let blindness = Blindness::of(&cases, &doors, self.step).map_err(harness)?;
        print(&text(&blindness, self.all));
        let is_sound = blindness.blind.is_empty() && blindness.unused.is_empty() && !blindness.seen.is_empty();
        Ok(if is_sound { Exit::Ok } else { Exit::NotConformant })
    }
}

fn text(Blindness { seen, blind, unused }: &Blindness, all: bool) -> String {
    let mut out = String::new();
    let mut groups: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for change in blind {
        groups.entry((change.door, &change.change)).or_default().push(&change.case);
    }
    for ((door, change), cases) in groups {
        let shown = if all { cases.join(" ") } else { cases.iter().take(3).copied().collect::<Vec<_>>().join(" ") };
        out += &format!("{}: {door}: {change}: {} such as {shown}\n", styled(BAD, "blind"), cases.len());
    }
    for entry in unused {
        out += &format!("{}: nothing needs the entry {entry}\n", styled(BAD, "unused"));
    }
    for door in DOORS {
        let counts = Sight::ALL.map(|sight| {
            let count = seen.get(&(door, sight)).copied().unwrap_or_default();
            (count > 0).then(|| format!("{count} {}", sight.name()))
        });
        let total: usize = Sight::ALL.iter().filter_map(|sight| seen.get(&(door, *sight))).sum();
        if total > 0 {
            out +=
                &format!("{door}: {total} changes: {}\n", counts.into_iter().flatten().collect::<Vec<_>>().join(", "));
        }
    }
    let style = if blind.is_empty() && unused.is_empty() { GOOD } else { BAD };
    out + &format!("{}\n", styled(style, format!("blind changes: {}", blind.len())))
}
