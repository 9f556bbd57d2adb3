//! Whatever is streamed, in whatever pieces, says what the whole says.
#![no_main]

use threadspec_campaign::generate::{StreamPlan, prepare};

threadspec_fuzz::quick_defaults!();
libfuzzer_sys::fuzz_target!(init: prepare(), |plan: StreamPlan| threadspec_campaign::laws::provider_sse(&plan));
