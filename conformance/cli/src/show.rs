//! `threadspec show`.

use crate::{Stop, corpus, did_you_mean};
use std::path::PathBuf;
use threadspec_judge::protocol::JudgeProfile;
use threadspec_judge::text::visible;
use threadspec_report::terminal::print;
use threadspec_runner::Exit;

/// Show one case, with the texts of its clauses and the request to send by hand
#[derive(Debug, clap::Args)]
pub struct Show {
    /// Use the corpus in this folder instead of the built-in one
    #[arg(long, value_name = "DIR")]
    corpus: Option<PathBuf>,
    /// Show only the request of this profile
    #[arg(long)]
    profile: Option<JudgeProfile>,
    /// The case, as `list` names it
    #[arg(value_name = "CASE-ID")]
    id: String,
}

impl Show {
    /// Runs the command and returns its exit code.
    ///
    /// # Errors
    ///
    /// When the corpus is at fault, or there is no such case in the profile.
    pub fn execute(&self) -> Result<Exit, Stop> {
        let corpus = corpus(self.corpus.as_deref())?;
        let case = corpus.cases.iter().find(|case| case.id == self.id).ok_or_else(|| {
            let hint = did_you_mean(&self.id, corpus.cases.iter().map(|case| &case.id));
            let message = format!("there is no case `{}`{hint} `threadspec list` shows them all", visible(&self.id));
            Stop::new(Exit::Usage, message)
        })?;
        let profiles = match self.profile {
            None => case.profiles.clone(),
            Some(profile) if case.is_in(profile) => vec![profile],
            Some(profile) => {
                let own: Vec<String> = case.profiles.iter().map(ToString::to_string).collect();
                let message = format!("{} is no case of profile {profile}, but of {}", case.id, own.join(" and "));
                return Err(Stop::new(Exit::Usage, message));
            }
        };
        print(&threadspec_report::case(case, &corpus, &profiles));
        Ok(Exit::Ok)
    }
}
