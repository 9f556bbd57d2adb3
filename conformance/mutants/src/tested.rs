//! The program `threadspec` once more: Cargo tells tests only of the programs of their own package.

use std::process::ExitCode;

fn main() -> ExitCode {
    threadspec_conformance::main()
}
