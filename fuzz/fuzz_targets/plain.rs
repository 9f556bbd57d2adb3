//! The fast forms of a thread's document and messages are the plain ones.
#![no_main]

use threadspec_campaign::generate::{GoldenThread, prepare};
use threadspec_campaign::laws;

threadspec_fuzz::quick_defaults!();
libfuzzer_sys::fuzz_target!(init: prepare(), |thread: GoldenThread| {
    let events = thread.events();
    laws::plain(&events, laws::profile_of(&events));
});
