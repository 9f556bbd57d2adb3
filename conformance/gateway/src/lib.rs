//! Finds the changes that a gateway between an agent and its model makes.
//!
//! Both sides are known byte for byte: what the client sent and what arrived at the provider, what the provider answered and what the client
//! read. [`judge`] puts both into the messages of `threadspec`'s protocol, and compares one pair at a time, so that a fault is counted in
//! the request where it was made, and its echo in later histories is not. Nothing here opens a socket or reads a clock.
//!
//! | module | what it is |
//! |---|---|
//! | `case` | the cases of `golden/gateway/`, and the client that plays them |
//! | `compose` | from both sides to the output of op `tools` |
//! | `run` | a run from both sides |
//! | `finding` | a difference, with both bodies |
//! | `judging` | the clauses, and which of them names what |

mod case;
mod compose;
mod finding;
mod judging;
mod run;

pub use case::{GatewayCase, GatewayRound, play};
pub use compose::{compose, compose_with};
pub use finding::{BothSides, GateFinding, Way, curl, differing};
pub use judging::judge;
pub use run::{ClientExchange, ExchangeRecorder, GatewayAttempts, GatewayRun};
