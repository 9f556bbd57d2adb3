//! A document carries each event of a thread and nothing else.
#![no_main]

libfuzzer_sys::fuzz_target!(|thread: threadspec::generate::GoldenThread| threadspec::check::serialize(
    &thread.events()
));
