//! `threadspec-mutants list`.

use serde_json::{Value, json};
use threadspec_cli::{Stop, corpus};
use threadspec_judge::corpus::Corpus;
use threadspec_mutants::{Kind, Place, Planted, all};
use threadspec_report::terminal::print;
use threadspec_runner::Exit;

/// List everything that is planted: bugs, permitted readings and misbehaving processes
#[derive(Debug, clap::Args)]
pub(crate) struct ListPlanted {
    /// Print it as JSON: name, host, what it is, clauses with their levels, profiles, and places
    #[arg(long)]
    json: bool,
}

impl ListPlanted {
    /// Runs the command and returns its exit code.
    ///
    /// # Errors
    ///
    /// When the corpus cannot be read.
    pub(crate) fn execute(&self) -> Result<Exit, Stop> {
        let corpus = corpus(None)?;
        if self.json {
            let list: Vec<Value> = all().map(|planted| as_json(planted, &corpus)).collect();
            print(&format!("{}\n", json!(list)));
        } else {
            for planted in all() {
                print(&format!("{}  {}  {}\n", planted.name, planted.kind.host(), planted.breaks.join(",")));
            }
        }
        Ok(Exit::Ok)
    }
}

fn as_json(planted: &Planted, corpus: &Corpus) -> Value {
    let clause = |id: &&str| json!({"id": id, "level": corpus.clause(id).map(|clause| clause.level.to_string())});
    let (permitted_by, neglects) = match planted.kind {
        Kind::Reading(reading) => (reading.permitted_by, reading.neglects),
        _ => Default::default(),
    };
    let is_process = matches!(planted.kind, Kind::Misbehaviour(_));
    json!({
        "name": planted.name,
        "host": planted.kind.host(),
        "kind": if planted.is_reading() { "reading" } else if is_process { "misbehaviour" } else { "bug" },
        "breaks": planted.breaks.iter().map(clause).collect::<Vec<_>>(),
        "profiles": planted.profiles.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "places": Place::of(planted).iter().map(ToString::to_string).collect::<Vec<_>>(),
        "permitted_by": permitted_by,
        "neglects": neglects,
    })
}
