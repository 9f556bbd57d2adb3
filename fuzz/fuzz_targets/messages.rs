//! Messages are what they must be, wherever a thread is cut.
#![no_main]

use threadspec_campaign::check;
use threadspec_campaign::generate::GoldenThread;

libfuzzer_sys::fuzz_target!(|thread: GoldenThread| {
    let events = thread.events();
    check::messages(&events, check::profile_of(&events));
});
