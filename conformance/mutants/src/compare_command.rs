//! `threadspec-mutants compare`.

use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use threadspec_cli::Stop;
use threadspec_report::terminal::print;
use threadspec_runner::Exit;

/// Compare two matrices: whether each fault of the old one still demands as much of the corpus
///
/// Both are outputs of `run --json`. A fault, or its successor, must be tried in the same places and break the same clauses. The cases that
/// catch it must be some of those that caught it, and the judge must call it by the same names in each.
#[derive(Debug, clap::Args)]
pub(crate) struct CompareMatrices {
    /// The matrix before a change
    old: PathBuf,
    /// The matrix after it
    new: PathBuf,
    /// A file with a fault and its successor on each line, with a space between
    #[arg(long, value_name = "FILE")]
    renamed: Option<PathBuf>,
}

impl CompareMatrices {
    /// Runs the command and returns its exit code.
    ///
    /// # Errors
    ///
    /// When a file cannot be read.
    pub(crate) fn execute(&self) -> Result<Exit, Stop> {
        let table = self.renamed.as_deref().map(text).transpose()?.unwrap_or_default();
        let successors: HashMap<&str, &str> = table.lines().filter_map(|line| line.split_once(' ')).collect();
        let (old, new) = (matrix(&self.old)?, matrix(&self.new)?);
        let (old, new) = (by_place(&old), by_place(&new));
        let found: Vec<String> = old
            .iter()
            .flat_map(|(&(fault, place), before)| {
                let successor = *successors.get(fault).unwrap_or(&fault);
                let lacks = match new.get(&(successor, place)) {
                    None => vec!["is not tried any more".to_owned()],
                    Some(after) => differences(before, after),
                };
                lacks.into_iter().map(move |lack| format!("{fault} ({place}): {lack}"))
            })
            .collect();
        for line in &found {
            print(&format!("{line}\n"));
        }
        print(&format!("trials: {} before, {} now; differences: {}\n", old.len(), new.len(), found.len()));
        Ok(if found.is_empty() && !old.is_empty() { Exit::Ok } else { Exit::NotConformant })
    }
}

fn text(path: &Path) -> Result<String, Stop> {
    fs::read_to_string(path).map_err(|error| Stop::new(Exit::Usage, format!("{}: {error}", path.display())))
}

fn matrix(path: &Path) -> Result<Value, Stop> {
    serde_json::from_str(&text(path)?)
        .map_err(|error| Stop::new(Exit::Usage, format!("{}: no matrix: {error}", path.display())))
}

/// The trials of a matrix, by fault and place.
fn by_place(matrix: &Value) -> BTreeMap<(&str, &str), &Value> {
    let trials = matrix["trials"].as_array().into_iter().flatten();
    trials.filter_map(|trial| Some(((trial["fault"].as_str()?, trial["place"].as_str()?), trial))).collect()
}

/// What the trial of a successor lacks.
fn differences(before: &Value, after: &Value) -> Vec<String> {
    let mut found = Vec::new();
    for member in ["wrong", "breaks"] {
        if before[member] != after[member] {
            found.push(format!("`{member}` was {}, and is {}", before[member], after[member]));
        }
    }
    let kills = |trial: &Value| -> BTreeMap<String, Vec<String>> {
        let names = |names: &Value| {
            let mut names: Vec<String> = names
                .as_array()
                .into_iter()
                .flatten()
                .map(|name| name.as_str().unwrap_or_default().to_owned())
                .collect();
            names.sort();
            names
        };
        let kills = trial["kills"].as_object().into_iter().flatten();
        kills.map(|(case, called)| (case.clone(), names(called))).collect()
    };
    let (old, new) = (kills(before), kills(after));
    if new.is_empty() && !old.is_empty() {
        found.push(format!("nothing catches it any more; {} cases did", old.len()));
    }
    for (case, names) in new {
        match old.get(&case) {
            None => found.push(format!("{case} catches it now, and did not")),
            Some(before) if *before != names => {
                found.push(format!("{case} called it {}, and calls it {}", json!(before), json!(names)));
            }
            Some(_) => {}
        }
    }
    found
}
