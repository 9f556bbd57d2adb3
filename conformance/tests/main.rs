//! Every test of the runner that needs the whole program, in one test program: linking is done once, and those that wait run beside those
//! that compute. `cargo test -p threadspec-conformance --test all kill_matrix` runs those of one file.

#[cfg(unix)]
mod action;
mod check;
mod check_requests;
mod corpus_commands;
mod corpus_readers;
mod documents;
mod engine;
mod framework_testee;
mod fuzz;
mod fuzz_universal;
mod hazards;
mod init;
mod kill_matrix;
mod known_failures;
mod readings;
mod readme;
mod reports;
mod schema;
mod severity;
#[cfg(unix)]
mod shell_testees;
mod snapshots;
mod speed;
