//! Any bytes of a connection are answered in HTTP, and cost no other client.
#![no_main]

threadspec_fuzz::quick_defaults!();
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| threadspec_campaign::laws::provider_http(bytes));
