//! A scripted loop and its tool rounds.
#![no_main]

libfuzzer_sys::fuzz_target!(|script: threadspec_campaign::generate::ScriptPlan| threadspec_campaign::laws::agent(
    &script
));
