//! A document carries each event of a thread and nothing else.
#![no_main]

libfuzzer_sys::fuzz_target!(|thread: threadspec_conformance::generate::GoldenThread| {
    threadspec_conformance::check::serialize(&thread.events())
});
