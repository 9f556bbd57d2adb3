//! The transcripts in the documents are what the program prints.

use std::env;
use std::path::Path;

#[test]
fn transcripts_are_real() {
    // The transcripts run the program as a testee of itself, by its name.
    let program = Path::new(env!("CARGO_BIN_EXE_threadspec"));
    let inherited = env::var_os("PATH").unwrap_or_default();
    let folders = program.parent().map(Path::to_path_buf).into_iter().chain(env::split_paths(&inherited));
    let path = env::join_paths(folders).expect("no folder of PATH has a separator in its name");
    trycmd::TestCases::new().env("PATH", path.to_string_lossy()).env("CI", "").case("../README.md").case("README.md");
}
