//! The program `threadspec`.

use std::process::ExitCode;

/// A third of what judging a request costs is the allocator of the C library.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    threadspec_conformance::main()
}
