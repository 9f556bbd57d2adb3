//! Any text comes back from a parser.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| threadspec_conformance::check::escape(text));
