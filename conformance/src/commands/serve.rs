//! `threadspec serve`.

use crate::bugs::BUGS;
use std::io;
use threadspec_cli::Stop;
use threadspec_judge::protocol::{Hello, Implementation, Op, Reply, Request};
use threadspec_judge::reference::Reference;
use threadspec_provider::client::{HttpModel, HttpThreadModel};
use threadspec_runner::{Exit, Served, StoredReference, serve};

/// Answer protocol requests from stdin on stdout, with the built-in reference
#[derive(Debug, clap::Args)]
pub(crate) struct Serve {
    /// Serve a mutant instead, to see the suite catch it
    #[arg(long, value_name = "NAME", value_parser = BUGS.map(|bug| bug.name))]
    bug: Option<String>,
}

impl Serve {
    /// Serves until stdin is closed.
    ///
    /// # Errors
    ///
    /// When stdin or stdout fails.
    pub(crate) fn execute(&self) -> Result<Exit, Stop> {
        let (requests, replies) = (io::stdin().lock(), io::stdout().lock());
        let bug = BUGS.into_iter().find(|bug| self.bug.as_deref() == Some(bug.name));
        let served = match bug {
            None => serve(&mut AnyModel, requests, replies),
            Some(mut bug) => serve(&mut bug, requests, replies),
        };
        served
            .map(Served::or_die)
            .map(|()| Exit::Ok)
            .map_err(|error| Stop::new(Exit::Corpus, format!("serve: {error}")))
    }
}

/// The reference, which asks its model where the request says.
struct AnyModel;

impl Implementation for AnyModel {
    fn hello(&self) -> Hello {
        StoredReference.hello()
    }

    fn answer(&mut self, request: &Request) -> Reply {
        StoredReference.answer(request)
    }

    fn line(&mut self, request: &Request) -> String {
        if request.op == Op::Session {
            return match HttpThreadModel::of(request) {
                Some(mut model) => StoredReference.line_with(request, &mut model),
                None => StoredReference.line(request),
            };
        }
        match HttpModel::of(request) {
            Some(mut model) => Reference.line_with(request, &mut model),
            None => Reference.line(request),
        }
    }
}
