//! Draws what no case holds: threads, requests, replies and whole runs, for the fuzzer, property tests and libFuzzer.
//!
//! | module | what it is |
//! |---|---|
//! | [`generate`] | what fuzzing and property tests draw from |
//! | [`check`] | what must hold of everything that was drawn |
//! | [`fuzz`] | the fuzzer: compares with the reference, or judges by properties |

pub mod check;
pub mod fuzz;
pub mod generate;
