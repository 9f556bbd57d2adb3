//! The fast forms of a thread's document and messages are the plain ones.
#![no_main]

use threadspec_campaign::generate::GoldenThread;
use threadspec_campaign::laws;

libfuzzer_sys::fuzz_target!(|thread: GoldenThread| {
    let events = thread.events();
    laws::plain(&events, laws::profile_of(&events));
});
