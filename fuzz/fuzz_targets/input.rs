//! Any bytes are an error or a thread, never a panic.
#![no_main]

threadspec_fuzz::quick_defaults!();
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| threadspec_campaign::laws::input(bytes));
