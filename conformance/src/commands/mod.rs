//! The commands of `threadspec` that need more than a build of `verify`, each with its arguments.

mod check;
mod completions;
mod export;
mod frameworks;
mod fuzz;
mod init;
mod judge;
mod lint;
mod mcp;
mod probe;
mod provider;
mod reference;
mod runs;
mod talks;

pub(super) use check::Check;
pub(super) use completions::Completions;
pub(super) use export::Export;
pub(super) use fuzz::Fuzz;
pub(super) use init::Init;
pub(super) use judge::Judge;
pub(super) use lint::Lint;
pub(super) use mcp::Mcp;
pub(super) use probe::ProbeCommand;
pub(super) use provider::Provider;
pub(super) use reference::{Messages, Serialize, Serve};
pub(super) use runs::{MatrixCommand, Merge, Report};

use std::path::Path;
use threadspec::{Event, wire};
use threadspec_cli::{Stop, at_fault, read_file};

/// The events of a log or a transcript; `-` is stdin.
fn read_log(file: &Path) -> Result<Vec<Event>, Stop> {
    events_of(file, &read_file(file)?)
}

fn events_of(file: &Path, text: &str) -> Result<Vec<Event>, Stop> {
    wire::read_transcript(text).map_err(|error| at_fault(file, &error))
}
