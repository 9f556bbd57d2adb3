//! The tests of what adapters of Rust frameworks share, which are there: no crate of this workspace uses it.

#[allow(
    dead_code,
    unreachable_pub,
    clippy::pedantic,
    clippy::unwrap_used,
    reason = "it is written for the adapters, which use all of it"
)]
#[path = "../adapters/frameworks/shared/testee.rs"]
mod testee;
