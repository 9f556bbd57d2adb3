//! The program `threadspec`.

use std::ffi::{c_int, c_long};
use std::process::ExitCode;

/// A third of what judging a request costs is the allocator of the C library.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How long freed memory is kept, in milliseconds, as `mi_option_purge_delay` of mimalloc's C header.
const PURGE_DELAY: (c_int, c_long) = (15, 50);

#[allow(unsafe_code, reason = "the crate has no safe function for it")]
fn main() -> ExitCode {
    let (option, milliseconds) = PURGE_DELAY;
    // A case takes up to 40 MB for a moment. After the usual second, many such moments are kept at once: half as much again.
    // SAFETY: it takes any option and any number, and `MIMALLOC_PURGE_DELAY` in the environment still decides.
    unsafe { libmimalloc_sys::mi_option_set_default(option, milliseconds) };
    threadspec_conformance::main()
}
