//! `threadspec lint`.

use crate::lint::{ERRATA, fix, page_problems, problems};
use std::env;
use std::path::PathBuf;
use threadspec_cli::{Stop, files};
use threadspec_judge::corpus::{CLAUSES, SCHEMA};
use threadspec_judge::text::visible;
use threadspec_report::terminal::{BAD, GOOD, print, styled};
use threadspec_runner::Exit;

/// Check the corpus itself: form, layout, names, clauses, manifest, errata, coverage
#[derive(Debug, clap::Args)]
pub(crate) struct Lint {
    /// Check the corpus in this folder [default: `golden` of the checkout, elsewhere the built-in corpus]
    #[arg(long, value_name = "DIR")]
    corpus: Option<PathBuf>,
    /// Format the case files, and write the manifest
    #[arg(long)]
    fix: bool,
}

impl Lint {
    /// Runs the command and returns its exit code.
    ///
    /// # Errors
    ///
    /// When the folder cannot be read or written.
    pub(crate) fn execute(&self) -> Result<Exit, Stop> {
        let folder = self.corpus.clone().or_else(golden_of_checkout);
        if self.fix {
            let folder = folder.as_ref().ok_or_else(|| {
                Stop::new(Exit::Usage, "no corpus to fix: this is no checkout, and `--corpus` names no folder")
            })?;
            let code = if folder.is_dir() { Exit::Corpus } else { Exit::Usage };
            fix(folder).map_err(|error| Stop::new(code, visible(&format!("{}: {error}", folder.display()))))?;
        }
        let files = files(folder.as_deref())?;
        let (corpus, mut problems) = problems(&files);
        problems.extend(folder.iter().flat_map(|folder| page_problems(folder, &corpus)));
        for problem in &problems {
            print(&format!("{problem}\n"));
        }
        let (style, count) = match problems.len() {
            0 => (GOOD, "no problems".to_owned()),
            count => (BAD, format!("problems: {count}")),
        };
        let (cases, clauses) = (corpus.cases.len(), corpus.clauses.len());
        print(&format!("cases: {cases}, clauses: {clauses}, {}\n", styled(style, count)));
        Ok(if problems.is_empty() { Exit::Ok } else { Exit::Corpus })
    }
}

/// The folder `golden` of the checkout that holds the current folder.
fn golden_of_checkout() -> Option<PathBuf> {
    let here = env::current_dir().ok()?;
    let folders = here.ancestors().map(|folder| folder.join("golden"));
    folders.into_iter().find(|golden| [CLAUSES, SCHEMA, ERRATA].iter().all(|file| golden.join(file).is_file()))
}
