//! Both context modes carry every fact of a thread.
#![no_main]

use threadspec_conformance::check;
use threadspec_conformance::generate::GoldenThread;

libfuzzer_sys::fuzz_target!(|thread: GoldenThread| {
    let events = thread.events();
    check::equivalence(&events, check::profile_of(&events));
});
