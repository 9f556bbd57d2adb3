//! Sessions: several runs of an agent on one thread, all of them with one key.
//!
//! Which run a request belongs to cannot be seen in it: a run that is resumed sends what the run before sent. So whoever plays the session says
//! when a run begins, with a POST to `/runs/{n}`, counted from 1, which no agent sends by itself. Requests that come later belong to this run.
//!
//! | module | what it is |
//! |---|---|
//! | `plan` | what is to happen in each run |
//! | `script` | the turns of a session, read strictly from JSON |
//! | `hand_over` | the declared tool that hands over to an agent |

mod hand_over;
mod plan;
mod script;

pub use plan::{SessionAgentPlan, SessionPlan, SessionRunPlan, SessionTurnPlan};
