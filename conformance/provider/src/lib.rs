//! The other end of the wire: a model provider that plays scripted answers over the three APIs that agents use, judges every request, and
//! refuses what the real API refuses, in its words.
//!
//! The [`Engine`] knows no socket and no clock: a request goes in, and what is to be sent when comes out. A [`RunPlan`] says what the model
//! answers to whom, with faults ([`Fault`]) and streams of every shape. What happened is a [`WireRecord`]: plain data, which is judged
//! afterwards. [`compose`] makes of it the output of op `tools`, so that the judge of profile `universal` judges an agent that was only given
//! a base URL.
//!
//! What an API's requests and answers say is read and written by `threadspec-apis`; nothing here looks into their JSON. The judge does not
//! know this crate, and neither does whatever runs testees.
//!
//! | module | what it is |
//! |---|---|
//! | `error` | why a script or a transcript cannot be used |
//! | `example` | arguments made from a declared schema |
//! | `script` | turns, their shape and their faults, read from JSON |
//! | `overheard` | the record of a run that somebody else answered |
//! | `plan` | what is to happen in a run, alone or in a session |
//! | `played_program` | what a program as it is plays, and how its requests are read |
//! | `exchange` | what is to be sent when |
//! | `http` | requests as they come, paths, keys, the list of models, heads of answers |
//! | `record` | what happened in a run |
//! | `run` | one run: asks, attempts, faults, what is kept |
//! | `engine` | all runs, by their keys |
//! | `judging` | what is wrong with what an agent sent |
//! | `compose` | from a record to the output of op `tools` |
//! | `standalone` | for programs: conversations instead of runs, rules instead of lists, and a proxy that watches |
//! | `serve` | the socket, the clock and the thread around all this |
//! | `told` | the part of a case that a testee receives |
//! | [`client`] | the client of agents: requests and answers of HTTP/1.1, a connection, a model behind it |

pub mod client;
mod compose;
mod engine;
mod error;
mod example;
mod exchange;
mod http;
mod judging;
mod overheard;
mod plan;
mod played_program;
mod record;
mod run;
mod script;
mod serve;
mod standalone;
mod told;

pub use compose::{compose, unsayable, unsupported};
pub use engine::{EndedRun, Engine, ask_engine, mark_of};
pub use error::Error;
pub use example::example_of;
pub use exchange::{AttemptId, PlannedAnswer, PlannedEnd, Reaction, WireStep};
pub use http::{Received, Unreadable, usual_model};
pub use judging::{WireFinding, WireLevel, cache_loss, judge, judge_retries};
pub use overheard::{Overheard, overheard};
pub use plan::{EngineOptions, RunPlan, SessionAgentPlan, SessionPlan, SessionRunPlan, SessionTurnPlan};
pub use played_program::{ProgramCall, ProgramPlan};
pub use record::{
    Attempt, BreachOutcome, CallPart, Came, JudgedBreach, PlayedFault, RequestProblem, Said, SaidByModel, SaidThought,
    Stray, StrayReason, WireRecord,
};
pub use script::{CutEnd, Fault, ObjectReading, Pace, PlayedCall, PlayedThought, StrictReading, WireTurn, read_text};
pub use serve::{Answers, AskLimits, Server, ServerLimits, Upstream, UpstreamPart};
pub use standalone::{ExpectedCounts, News, Proxy, Script, Standalone, Talk, header, judge_again};
pub use told::told;
