//! `threadspec lint`.

use super::{Stop, exit, files};
use crate::lint::{fix, page_problems, problems};
use crate::terminal::{BAD, GOOD, print, styled};
use std::path::PathBuf;

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
            fix(folder).map_err(|error| Stop::new(exit::USAGE, format!("{}: {error}", folder.display())))?;
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
