//! Any text comes back from a parser, and is escaped as the plain form escapes it.
#![no_main]

use threadspec::Profile;
use threadspec_campaign::laws::{self, SecondReaders};

threadspec_fuzz::quick_defaults!();
libfuzzer_sys::fuzz_target!(|text: &str| {
    laws::escape(text, Profile::ALL[text.len() % 2], SecondReaders::drawn(text.len() / 2));
});
