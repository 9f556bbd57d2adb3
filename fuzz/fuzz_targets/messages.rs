//! Messages are what they must be, wherever a thread is cut.
#![no_main]

libfuzzer_sys::fuzz_target!(|thread: threadspec::generate::GoldenThread| threadspec::check::messages(&thread.events()));
