//! The program `threadspec`.

use std::process::ExitCode;

fn main() -> ExitCode {
    threadspec_conformance::main()
}
