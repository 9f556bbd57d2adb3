//! Both context modes carry every fact of a thread.
#![no_main]

use threadspec_campaign::check;
use threadspec_campaign::generate::GoldenThread;

libfuzzer_sys::fuzz_target!(|thread: GoldenThread| {
    let events = thread.events();
    check::equivalence(&events, check::profile_of(&events));
});
