//! `threadspec serve`.

use super::{Stop, exit};
use crate::planted::misbehaviour::Misbehaviour;
use crate::planted::readings::{all, permitted};
use crate::planted::universal::Together;
use crate::planted::{self, growth, universal};
use crate::protocol::{serve, serve_together};
use crate::testee::{Reference, Testee};
use std::io::{self, BufReader};

/// Answer protocol requests from stdin on stdout, with the built-in reference
#[derive(Debug, clap::Args)]
pub struct Serve {
    /// Serve a planted bug instead, to see the suite catch it; `threadspec mutants` lists them
    #[arg(long, value_name = "NAME", conflicts_with = "reading")]
    bug: Option<String>,
    /// Serve a permitted reading instead, to see the suite accept it; `threadspec mutants` tries them all
    #[arg(long, value_name = "NAME")]
    reading: Option<String>,
}

impl Serve {
    /// Serves until stdin is closed.
    ///
    /// # Errors
    ///
    /// When stdin or stdout fails, or there is no such bug or reading.
    pub fn execute(&self) -> Result<u8, Stop> {
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
                return Err(Stop::new(exit::USAGE, message));
            };
            return served.map(|()| exit::OK).map_err(|error| Stop::new(exit::CORPUS, format!("serve: {error}")));
        }
        let unknown = |name: &str| {
            Stop::new(exit::USAGE, format!("there is no planted bug `{name}`; `threadspec mutants` lists them all"))
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
        served.map_err(|error| Stop::new(exit::CORPUS, format!("serve: {error}")))?;
        Ok(exit::OK)
    }
}
