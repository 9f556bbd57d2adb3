//! A document carries each event of a thread and nothing else.
#![no_main]

use threadspec_campaign::generate::GoldenThread;
use threadspec_campaign::laws;

libfuzzer_sys::fuzz_target!(|thread: GoldenThread| {
    let events = thread.events();
    laws::serialize(&events, laws::profile_of(&events));
});
