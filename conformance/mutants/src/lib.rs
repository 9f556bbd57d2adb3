//! Small, realistic deviations, as implementers in other languages make them: bugs, permitted readings and misbehaving processes. They measure
//! the corpus and the judge, which must catch everything that is wrong and object to nothing that is permitted.
//!
//! They all stand in one catalogue: [`all`] lists them, [`find`] looks one up by its name, [`Planted::implementation`] makes what answers with it,
//! and [`Planted::serve`] serves it. Most are a line or two in a table that replace a seam, either of a twin of the reference or of an agent that
//! shares no code with it. A misbehaving process has the right answers, and does something other than write them.
//!
//! [`Matrix`] puts the corpus to them, [`survey_sizes`] to the bugs that show only with size, [`survey_pairs`] to those that need two conditions
//! at once. Against [`permitted()`] and [`neglectful`] nothing may be held, by cases or by the fuzzer.

#![allow(
    clippy::assigning_clones,
    clippy::format_collect,
    clippy::needless_for_each,
    clippy::semicolon_if_nothing_returned,
    clippy::type_complexity,
    clippy::unnecessary_wraps,
    reason = "a seam has one signature for all its bugs, and a bug that is easy to read is fast enough"
)]

mod agent;
mod asked;
mod blind;
mod bugs;
mod catalogue;
mod deeds;
mod error;
mod gateway;
mod gateways;
mod growth;
mod matrix;
mod open;
mod over_wire;
mod pairs;
mod permitted;
mod place;
mod planted;
mod plants;
mod readings;
mod serving;
mod session;
mod threads;
mod together;
mod trial;
mod twin;
mod universal;
mod wire;

pub use blind::{Blindness, DOORS, Sight, UnseenChange};
pub use catalogue::{all, find};
pub use error::Error;
pub use gateway::{Between, GatewayServer, GatewaySettings};
pub use growth::{Breadth, of_size, survey_sizes};
pub use matrix::{ChosenFaults, Effort, Matrix, by_size, catches};
pub use pairs::survey_pairs;
pub use permitted::{Permitted, neglectful, pairs_of_readings, permitted};
pub use place::Place;
pub use planted::{
    Clash, Family, Kind, Misbehaviour, OnAgent, OnGateway, OnSession, OnTwin, OnWire, Planted, Reading, sound,
    sound_agent, sound_sessions, together,
};
pub use together::Together;
pub use trial::{Demand, Kill, Survey, Trial};
