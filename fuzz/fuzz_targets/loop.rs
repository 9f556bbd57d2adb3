//! A scripted loop and its tool rounds.
#![no_main]

libfuzzer_sys::fuzz_target!(|script: threadspec::generate::Script| threadspec::check::agent(&script));
