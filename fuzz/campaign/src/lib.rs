//! Draws what no case holds, and says what must hold of it: for `threadspec fuzz`, for the property tests and for libFuzzer.
//!
//! One description of threads, scripts and requests serves all three engines, and one set of laws judges what any of them draws, so that a
//! finding of one is a regression test of another. Against another program there are no laws to call, only its replies: a campaign
//! ([`run`]) puts drawn requests to a testee and to the reference, or judges by the properties of profile `universal`, and makes what fails
//! as small as it can.
//!
//! ```
//! use threadspec_campaign::{FuzzOptions, run};
//! use threadspec_judge::protocol::{Op, JudgeProfile};
//! use threadspec_judge::reference::Reference;
//! use threadspec_runner::InProcess;
//!
//! let options = FuzzOptions { seed: 1, cases: 0..50, time: None, jobs: 1, profile: JudgeProfile::Literal, ops: vec![Op::Escape] };
//! let report = run(&options, &|| Ok(Box::new(InProcess::new(Reference))), &mut |_| {});
//! assert!(report.findings.is_empty());
//! ```
//!
//! | module | what it is |
//! |---|---|
//! | [`generate`] | what fuzzing and property tests draw from |
//! | [`laws`] | what must hold of everything that was drawn |
//! | `fuzz` | the fuzzer: compares with the reference, or judges by properties |
//!
//! Without features it draws for the library's fuzz targets and holds their laws: these need neither proptest nor what judges others.
//! Feature `judge` adds the targets of the judge, `provider` those of the provider, and `fuzzer`, the default, all else.

// proptest's strategies name the parts of a plan.
#![cfg_attr(not(feature = "fuzzer"), allow(unreachable_pub))]

#[cfg(feature = "fuzzer")]
mod fuzz;
pub mod generate;
pub mod laws;

#[cfg(feature = "fuzzer")]
pub use fuzz::{
    Coverage, FuzzFinding, FuzzOptions, FuzzReport, Progress, Start, first_failure, prepare_folder, run, save_findings,
};
