//! Any bytes that a testee sends get a verdict.
#![no_main]

threadspec_fuzz::quick_defaults!();
libfuzzer_sys::fuzz_target!(|line: &[u8]| threadspec_campaign::laws::reply(line));
