//! Several runs on one thread, whatever happens to them.
#![no_main]

libfuzzer_sys::fuzz_target!(|session: threadspec_campaign::generate::SessionScenario| threadspec_campaign::laws::session(
    &session
));
