//! Every test that needs planted bugs, permitted readings or misbehaving processes, in one test program: linking is done once, and those
//! that wait run beside those that compute. `cargo test -p threadspec-mutants --test faults kill_matrix` runs those of one file.

mod agents_through;
mod compare;
mod engine;
mod fuzz;
mod fuzz_session;
mod fuzz_universal;
mod hazards;
mod kill_matrix;
mod readings;
mod reports;
mod schema;
mod severity;
mod together;
