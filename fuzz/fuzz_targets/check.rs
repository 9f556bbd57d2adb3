//! `check` ends without a panic, whatever pieces of logs a file is made of.
#![no_main]

#[path = "../../conformance/logs/tests/mixed/mod.rs"]
mod mixed;

threadspec_fuzz::quick_defaults!();
libfuzzer_sys::fuzz_target!(|choices: &[u8]| {
    // Two bytes are a choice; behind the last one it is the first.
    let mut choices = choices.chunks(2).map(|choice| choice.iter().fold(0, |all, byte| 256 * all + usize::from(*byte)));
    mixed::check(|limit| choices.next().unwrap_or(0) % limit);
});
