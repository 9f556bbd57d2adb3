//! The reader, its plain form and a second parser agree on any text.
#![no_main]

threadspec_fuzz::quick_defaults!();
libfuzzer_sys::fuzz_target!(|document: &str| threadspec_campaign::laws::read(document));
