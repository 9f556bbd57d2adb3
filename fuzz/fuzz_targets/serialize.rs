//! A document carries each event of a thread and nothing else.
#![no_main]

use threadspec_campaign::check;
use threadspec_campaign::generate::GoldenThread;

libfuzzer_sys::fuzz_target!(|thread: GoldenThread| {
    let events = thread.events();
    check::serialize(&events, check::profile_of(&events));
});
