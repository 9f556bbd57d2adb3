//! Any text comes back from a parser, and is escaped as the plain form escapes it.
#![no_main]

use threadspec::Profile;

threadspec_fuzz::quick_defaults!();
libfuzzer_sys::fuzz_target!(|text: &str| {
    threadspec_campaign::laws::escape(text, Profile::ALL[text.len() % 2]);
});
