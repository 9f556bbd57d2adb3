//! Tests which rules of a model API a server keeps. For each rule there is a request that breaks it and one that keeps it. Both are
//! sent, the valid one first, and the answers are compared with the rule.
//!
//! Run with a key against the real API, it proves or corrects `provider-rules.json`; against a compatible server or a mock it shows where an
//! agent that is tried there never meets a refusal. Nothing here opens a socket or reads a clock: a [`ProbeRun`] says what to send and when, is
//! given the answer, and ends as a [`ProbeReport`].
//!
//! ```
//! use threadspec::oracle::Api;
//! use threadspec_probe::{ProbeLimits, ProbeOptions, ProbeReply, ProbeRun, ProbeStep, ProbeVerdict, Secrets, probe_plan};
//!
//! let options = ProbeOptions { rules: vec!["OAI-CHAT-ORPHAN".into()], ..ProbeOptions::new(Api::OpenAiChat, "tiny") };
//! let plan = probe_plan(&options)?;
//! let mut run = ProbeRun::new(&options, plan.pairs, ProbeLimits::default(), Secrets::default());
//! // A server that answers everything in the same way.
//! let body = br#"{"id": "1", "model": "tiny", "choices": [{"index": 0, "finish_reason": "stop",
//!     "message": {"role": "assistant", "content": "Four."}}]}"#;
//! loop {
//!     match run.next() {
//!         ProbeStep::Send(_) => run.heard(Ok(ProbeReply { status: 200, headers: Vec::new(), body: body.to_vec(), is_whole: true })),
//!         ProbeStep::Wait(_) => {}
//!         ProbeStep::End => break,
//!     }
//! }
//! let probed = &run.results()[0];
//! assert_eq!((probed.verdict, probed.fabricates), (ProbeVerdict::Silent, true));
//! # Ok::<(), threadspec_probe::Error>(())
//! ```
//!
//! | module | what it is |
//! |---|---|
//! | `plan` | which rules are probed, and which are left out |
//! | `request` | a request of a rule as a server takes it, and the options of a run |
//! | `reply` | what came back, read; keys are taken out |
//! | `run` | what to send next, when to wait, when to end, and the verdict |
//! | `report` | the outcome for people, for CI and as JSON, and what it comes to |
//! | `against` | a report beside an earlier one, and beside known deviations |
//! | `error` | why there is nothing to probe |
//! | `tests` | runs against servers that are functions |

mod against;
mod error;
mod plan;
mod reply;
mod report;
mod request;
mod run;
#[cfg(test)]
mod tests;

pub use against::{Allowance, Allowances, changes_since};
pub use error::Error;
pub use plan::{LeftOutRule, ProbePlan, probe_plan};
pub use reply::{ProbeAnswer, ProbeReply, Secrets};
pub use report::{ProbeConclusion, ProbeReport, junit, markdown, proposal, table};
pub use request::{ExpectedRefusal, ProbeOptions, ProbePair, ProbeRequest, key_header};
pub use run::{ProbeEstimate, ProbeLimits, ProbeRun, ProbeStep, ProbeVerdict, ProbedRule};
