use super::{Stop, exit, files};
use crate::case::Level;
use crate::corpus::{self, Corpus, File, MANIFEST, Problem, SCHEMA};
use crate::format::canonical;
use crate::output::{BAD, GOOD, print, styled};
use crate::pages::{self, COVERAGE, ERRATA};
use crate::scope::{self, SCOPES};
use crate::{history, json};
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Check the corpus itself: schema, layout, names, clauses, manifest, errata, coverage
#[derive(Debug, clap::Args)]
pub struct Lint {
    /// Check the corpus in this folder instead of the built-in one
    #[arg(long, value_name = "DIR")]
    corpus: Option<PathBuf>,
    /// Lay out the case files, and write the manifest and the page on coverage anew
    #[arg(long, requires = "corpus")]
    fix: bool,
}

impl Lint {
    /// Runs the command and returns its exit code.
    ///
    /// # Errors
    ///
    /// When the folder cannot be read or written.
    pub fn execute(&self) -> Result<u8, Stop> {
        if let (true, Some(folder)) = (self.fix, &self.corpus) {
            fix(folder)?;
        }
        let files = files(self.corpus.as_deref())?;
        let (corpus, mut problems) = problems(&files);
        problems.extend(self.corpus.iter().flat_map(|folder| page_problems(folder, &corpus)));
        for problem in &problems {
            print(&format!("{problem}\n"));
        }
        let (style, count) = match problems.len() {
            0 => (GOOD, "no problems".to_owned()),
            count => (BAD, format!("problems: {count}")),
        };
        let (cases, clauses) = (corpus.cases.len(), corpus.clauses.len());
        print(&format!("cases: {cases}, clauses: {clauses}, {}\n", styled(style, count)));
        Ok(if problems.is_empty() { exit::OK } else { exit::CORPUS })
    }
}

/// Everything that is wrong with a corpus.
fn problems(files: &[File]) -> (Corpus, Vec<Problem>) {
    let (corpus, mut problems) = Corpus::read(files);
    problems.extend(schema_problems(files));
    problems.extend(
        case_files(files)
            .filter(|file| json::read(&file.text).is_ok() && file.text != canonical(&file.text))
            .map(|file| Problem::in_file(&file.path, "not in the canonical layout; `lint --fix` lays it out")),
    );
    if corpus.has_own_clauses {
        problems.extend(coverage_problems(&corpus));
    }
    if let Some(scopes) = files.iter().find(|file| file.path == SCOPES) {
        problems.extend(scope::problems(&scopes.text, &corpus));
    }
    problems.extend(history::problems(files, &corpus));
    if corpus.cases.is_empty() {
        problems.push(Problem::in_file(".", "there is no case"));
    }
    (corpus, problems)
}

fn case_files(files: &[File]) -> impl Iterator<Item = &File> {
    files.iter().filter(|file| file.path.contains('/'))
}

fn schema_problems(files: &[File]) -> Vec<Problem> {
    let own = files.iter().find(|file| file.path == SCHEMA).map(|file| file.text.clone());
    let embedded = || corpus::embedded_files().into_iter().find(|file| file.path == SCHEMA).map(|file| file.text);
    let Some(text) = own.or_else(embedded) else {
        return vec![Problem::in_file(SCHEMA, "it is missing")];
    };
    let validator =
        json::read(&text).and_then(|schema| jsonschema::validator_for(&schema).map_err(|error| error.to_string()));
    let validator = match validator {
        Ok(validator) => validator,
        Err(error) => return vec![Problem::in_file(SCHEMA, error)],
    };
    let mut problems = Vec::new();
    for file in case_files(files) {
        // Reading the corpus has already said what is not JSON.
        let Ok(value) = json::read(&file.text) else { continue };
        for error in validator.iter_errors(&value) {
            let place = error.instance_path().to_string();
            let message =
                format!("against the schema{}: {error}", if place.is_empty() { place } else { format!(" at {place}") });
            problems.push(Problem::in_file(&file.path, message.chars().take(500).collect::<String>()));
        }
    }
    problems
}

fn coverage_problems(corpus: &Corpus) -> Vec<Problem> {
    let used: HashSet<&String> = corpus.cases.iter().flat_map(|case| &case.clauses).collect();
    let unused = corpus.clauses.iter().filter(|clause| !used.contains(&clause.id));
    let message = |level| match level {
        Level::Must => "a `must` without a case",
        Level::Should => "no case names it",
    };
    unused
        .map(|clause| Problem::in_file(corpus::CLAUSES, format!("clause `{}`: {}", clause.id, message(clause.level))))
        .collect()
}

pub(super) fn fix(folder: &Path) -> Result<(), Stop> {
    let wrong = |error: std::io::Error| Stop::new(exit::USAGE, format!("{}: {error}", folder.display()));
    let files = files(Some(folder))?;
    for file in case_files(&files) {
        let laid_out = canonical(&file.text);
        if laid_out != file.text && json::read(&file.text).is_ok() {
            fs::write(folder.join(&file.path), laid_out).map_err(wrong)?;
        }
    }
    let corpus = Corpus::read(&files).0;
    if corpus.has_own_clauses {
        fs::write(folder.join(COVERAGE), pages::coverage(&corpus)).map_err(wrong)?;
    }
    fs::write(folder.join(MANIFEST), history::manifest(&corpus)).map_err(wrong)
}

/// What is wrong with the pages of a folder; those of the built-in corpus were checked where they lie.
fn page_problems(folder: &Path, corpus: &Corpus) -> Vec<Problem> {
    let page = |name| fs::read_to_string(folder.join(name)).ok();
    let mut problems = Vec::new();
    if corpus.has_own_clauses && page(COVERAGE).is_none_or(|page| page != pages::coverage(corpus)) {
        problems.push(Problem::in_file(COVERAGE, "it does not match the cases; `lint --fix` writes it"));
    }
    if let Some(errata) = page(ERRATA) {
        problems.extend(pages::errata_problems(&errata, corpus));
    }
    problems
}
