//! An agent that keeps threads from run to run, of its own: every decision is a seam that a planted bug or reading can replace.

mod agent;
pub(crate) mod images;
pub(crate) mod run;
pub(crate) mod sound;
mod store;

pub(crate) use agent::SessionAgent;
