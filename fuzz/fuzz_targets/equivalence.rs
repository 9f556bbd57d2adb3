//! Both context modes carry every fact of a thread.
#![no_main]

use threadspec_campaign::generate::GoldenThread;
use threadspec_campaign::laws;

libfuzzer_sys::fuzz_target!(|thread: GoldenThread| {
    let events = thread.events();
    laws::equivalence(&events, laws::profile_of(&events));
});
