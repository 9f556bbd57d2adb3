//! A document carries each event of a thread and nothing else.
#![no_main]

use threadspec_campaign::generate::{GoldenThread, prepare};
use threadspec_campaign::laws::{self, SecondReaders};

threadspec_fuzz::quick_defaults!();
libfuzzer_sys::fuzz_target!(init: prepare(), |thread: GoldenThread| {
    let events = thread.events();
    laws::serialize(&events, laws::profile_of(&events), SecondReaders::drawn(thread.number()));
});
