//! A scripted loop and its tool rounds.
#![no_main]

use threadspec_campaign::generate::{ScriptPlan, prepare};

threadspec_fuzz::quick_defaults!();
libfuzzer_sys::fuzz_target!(init: prepare(), |script: ScriptPlan| threadspec_campaign::laws::agent(&script));
