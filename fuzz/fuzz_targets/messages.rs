//! Messages are what they must be, wherever a thread is cut.
#![no_main]

libfuzzer_sys::fuzz_target!(|thread: threadspec_conformance::generate::GoldenThread| {
    threadspec_conformance::check::messages(&thread.events())
});
