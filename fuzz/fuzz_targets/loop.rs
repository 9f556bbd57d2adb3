//! A scripted loop and its tool rounds.
#![no_main]

libfuzzer_sys::fuzz_target!(|script: threadspec_conformance::generate::Script| threadspec_conformance::check::agent(
    &script
));
