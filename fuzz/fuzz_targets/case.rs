//! Any text is a corpus file, or the linter lists its problems.
#![no_main]

threadspec_fuzz::quick_defaults!();
libfuzzer_sys::fuzz_target!(|file: &str| threadspec_campaign::laws::case(file));
