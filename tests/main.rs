//! Everything but the golden corpus in one test program, which is linked once.

mod fuzz_seeds;
mod properties;
mod provider_answers;
mod provider_context;
mod provider_forms;
mod provider_requests;
mod provider_rules;
mod provider_words;
mod reachability;
mod second_parser;
mod snapshots;
mod threads;
