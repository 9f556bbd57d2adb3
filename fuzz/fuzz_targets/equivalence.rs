//! Both context modes carry every fact of a thread.
#![no_main]

libfuzzer_sys::fuzz_target!(|thread: threadspec_conformance::generate::GoldenThread| {
    threadspec_conformance::check::equivalence(&thread.events())
});
