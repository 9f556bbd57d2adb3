//! Several runs on one thread, whatever happens to them.
#![no_main]

use threadspec_campaign::generate::{SessionScenario, prepare};

threadspec_fuzz::quick_defaults!();
libfuzzer_sys::fuzz_target!(init: prepare(), |session: SessionScenario| threadspec_campaign::laws::session(&session));
