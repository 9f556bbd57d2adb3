//! Any text is a corpus file or has problems that can be told.
#![no_main]

libfuzzer_sys::fuzz_target!(|file: &str| threadspec_conformance::check::case(file));
