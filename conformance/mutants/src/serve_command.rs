//! `threadspec-mutants serve`.

use std::io::{self, BufReader};
use threadspec_conformance::Stop;
use threadspec_judge::reference::Reference;
use threadspec_mutants::misbehaviour::Misbehaviour;
use threadspec_mutants::readings::{all, permitted};
use threadspec_mutants::universal::Together;
use threadspec_mutants::{self as planted, growth, universal};
use threadspec_runner::{Exit, Testee, serve, serve_together};

/// Answer protocol requests from stdin on stdout, as a planted bug, a permitted reading or a misbehaving process does
#[derive(Debug, clap::Args)]
pub(crate) struct Serve {
    /// The planted bug to serve, to see the suite catch it; `threadspec-mutants run` lists them
    #[arg(long, value_name = "NAME", conflicts_with = "reading")]
    bug: Option<String>,
    /// The permitted reading to serve, to see the suite accept it; `threadspec-mutants run` tries them all
    #[arg(long, value_name = "NAME")]
    reading: Option<String>,
}

impl Serve {
    /// Serves until stdin is closed.
    ///
    /// # Errors
    ///
    /// When stdin or stdout fails, or there is no such bug or reading.
    pub(crate) fn execute(&self) -> Result<Exit, Stop> {
        let (requests, replies) = (|| io::stdin().lock(), || io::stdout().lock());
        if let Some(name) = &self.reading {
            let served = if let Some(reading) = permitted().into_iter().find(|reading| reading.name == name) {
                serve(&mut reading.implementation(), requests(), replies())
            } else if let Some(reading) = universal::readings().iter().find(|reading| reading.name == *name) {
                serve(&mut reading.implementation(), requests(), replies())
            } else {
                let of_any_agent = universal::readings().iter().map(|reading| &*reading.name);
                let names: Vec<&str> = all().map(|reading| reading.name).chain(of_any_agent).collect();
                let message = format!("there is no reading `{name}`; there are {}", names.join(", "));
                return Err(Stop::new(Exit::Usage, message));
            };
            return served.map(|()| Exit::Ok).map_err(|error| Stop::new(Exit::Corpus, format!("serve: {error}")));
        }
        let unknown = |name: &str| {
            Stop::new(Exit::Usage, format!("there is no planted bug `{name}`; `threadspec-mutants run` lists them all"))
        };
        let served = match &self.bug {
            None => serve(&mut Reference, requests(), replies()),
            Some(name) => {
                if let Some(bug) = planted::all().find(|bug| bug.name == name) {
                    serve(&mut bug.implementation(), requests(), replies())
                } else if let Some(bug) = universal::bugs().iter().find(|bug| bug.name == *name) {
                    serve(&mut bug.implementation(), requests(), replies())
                } else if let Some(clash) = universal::clashes().iter().find(|clash| clash.name == *name) {
                    let agent = Together::new(Some(clash));
                    let requests = BufReader::new(io::stdin());
                    serve_together(agent.hello(), |requests| agent.answer(requests), requests, replies())
                } else if let Some(mut twin) = growth::named(name) {
                    serve(&mut twin, requests(), replies())
                } else {
                    Misbehaviour::named(name).ok_or_else(|| unknown(name))?.serve()
                }
            }
        };
        served.map_err(|error| Stop::new(Exit::Corpus, format!("serve: {error}")))?;
        Ok(Exit::Ok)
    }
}
