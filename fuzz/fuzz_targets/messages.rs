//! Messages are what they must be, wherever a thread is cut.
#![no_main]

use threadspec_campaign::generate::GoldenThread;
use threadspec_campaign::laws;

libfuzzer_sys::fuzz_target!(|thread: GoldenThread| {
    let events = thread.events();
    laws::messages(&events, laws::profile_of(&events));
});
