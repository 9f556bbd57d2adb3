//! `threadspec-mutants serve`.

use std::io;
use threadspec_cli::Stop;
use threadspec_judge::reference::Reference;
use threadspec_judge::text::closest;
use threadspec_mutants::{Planted, all, find};
use threadspec_runner::{Exit, Served, serve};

/// Answer protocol requests from stdin on stdout, as a planted bug, a permitted reading or a misbehaving process does
#[derive(Debug, clap::Args)]
pub(crate) struct ServePlanted {
    /// The planted bug to serve, to see the suite catch it; `threadspec-mutants run` lists them
    #[arg(long, value_name = "NAME", conflicts_with = "reading")]
    bug: Option<String>,
    /// The permitted reading to serve, to see the suite accept it; `threadspec-mutants run` tries them all
    #[arg(long, value_name = "NAME")]
    reading: Option<String>,
}

impl ServePlanted {
    /// Serves until stdin is closed.
    ///
    /// # Errors
    ///
    /// When stdin or stdout fails, or there is no such bug or reading.
    pub(crate) fn execute(&self) -> Result<Exit, Stop> {
        let planted = match (&self.bug, &self.reading) {
            (Some(name), _) => Some(named(name, false)?),
            (None, Some(name)) => Some(named(name, true)?),
            (None, None) => None,
        };
        let served = match planted {
            Some(planted) => planted.serve(),
            None => serve(&mut Reference, io::stdin().lock(), io::stdout().lock()),
        };
        served
            .map(Served::or_die)
            .map(|()| Exit::Ok)
            .map_err(|error| Stop::new(Exit::Corpus, format!("serve: {error}")))
    }
}

/// The reading of a name, or what is wrong and has that name.
fn named(name: &str, is_reading: bool) -> Result<Planted, Stop> {
    let is_wanted = |planted: &Planted| planted.is_reading() == is_reading;
    find(name).filter(is_wanted).ok_or_else(|| {
        let names: Vec<&str> = all().filter(|planted| is_wanted(planted)).map(|planted| planted.name).collect();
        let what = if is_reading { "reading" } else { "planted bug" };
        let hint = match closest(name, &names) {
            Some(alike) if *alike == name => format!("it needs a size, as in `{name}:100`"),
            Some(alike) => format!("did you mean `{alike}`?"),
            None if is_reading => format!("there are {}", names.join(", ")),
            None => "`threadspec-mutants run` lists them all".to_owned(),
        };
        Stop::new(Exit::Usage, format!("there is no {what} `{name}`; {hint}"))
    })
}
