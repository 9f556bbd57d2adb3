//! Every test of the program that needs no mutant but its own, in one test program: linking is done once, and those that wait run
//! beside those that compute. `cargo test -p threadspec-conformance --test all documents` runs those of one file.

#[cfg(unix)]
mod action;
mod check;
#[cfg(target_os = "linux")]
mod check_follow;
mod check_forms;
mod check_requests;
mod corpus_commands;
mod corpus_readers;
mod dialects;
mod documents;
mod framework_testee;
mod init;
mod known_failures;
#[cfg(unix)]
mod matrix;
mod over_wire;
mod probe;
#[cfg(unix)]
mod programs;
mod provider;
mod readme;
#[cfg(unix)]
mod sessions;
#[cfg(unix)]
mod shell_testees;
mod snapshots;
mod speed;
mod through;

/// Whether the tests that take long do all of their work, as in the gate: the variable `THREADSPEC_TESTS` is `all`.
fn is_thorough() -> bool {
    std::env::var_os("THREADSPEC_TESTS").is_some_and(|which| which == "all")
}
