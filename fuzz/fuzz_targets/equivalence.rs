//! Both context modes carry every fact of a thread.
#![no_main]

libfuzzer_sys::fuzz_target!(|thread: threadspec::generate::GoldenThread| threadspec::check::equivalence(
    &thread.events()
));
