//! Messages are what they must be, wherever a thread is cut.
#![no_main]

use threadspec_conformance::check;
use threadspec_conformance::generate::GoldenThread;

libfuzzer_sys::fuzz_target!(|thread: GoldenThread| {
    let events = thread.events();
    check::messages(&events, check::profile_of(&events));
});
