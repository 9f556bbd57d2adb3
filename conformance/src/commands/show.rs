//! `threadspec show`.

use super::{Stop, corpus, exit};
use crate::report;
use crate::terminal::print;
use std::path::PathBuf;

/// Show one case, with the texts of its clauses and the request to send by hand
#[derive(Debug, clap::Args)]
pub struct Show {
    /// Use the corpus in this folder instead of the built-in one
    #[arg(long, value_name = "DIR")]
    corpus: Option<PathBuf>,
    /// The case, as `list` names it
    #[arg(value_name = "CASE-ID")]
    id: String,
}

impl Show {
    /// Runs the command and returns its exit code.
    ///
    /// # Errors
    ///
    /// When the corpus is at fault or there is no such case.
    pub fn execute(&self) -> Result<u8, Stop> {
        let corpus = corpus(self.corpus.as_deref())?;
        let case = corpus.cases.iter().find(|case| case.id == self.id).ok_or_else(|| {
            Stop::new(exit::USAGE, format!("there is no case `{}`; `threadspec list` shows them all", self.id))
        })?;
        print(&report::case(case, &corpus));
        Ok(exit::OK)
    }
}
