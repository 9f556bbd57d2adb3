//! Whatever is streamed, in whatever pieces, says what the whole says.
#![no_main]

use threadspec_campaign::generate::StreamPlan;

libfuzzer_sys::fuzz_target!(|plan: StreamPlan| threadspec_campaign::laws::provider_sse(&plan));
