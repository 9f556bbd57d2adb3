//! Runs the transcripts of the README, and compares what the program prints.

use std::env;
use std::path::Path;
use std::process::Command;

/// Returns a text with each number as `#`, since counts grow with the corpus.
fn masked(text: &str) -> String {
    let mut masked = String::new();
    for c in text.trim_end().chars() {
        if !c.is_ascii_digit() {
            masked.push(c);
        } else if !masked.ends_with('#') {
            masked.push('#');
        }
    }
    masked
}

#[test]
fn transcripts_are_real() {
    // The transcripts run the program as a testee of itself, by its name.
    let program = Path::new(env!("CARGO_BIN_EXE_threadspec"));
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let inherited = env::var_os("PATH").unwrap_or_default();
    let folders = program.parent().map(Path::to_path_buf).into_iter().chain(env::split_paths(&inherited));
    let path = env::join_paths(folders).expect("no folder of PATH has a separator in its name");
    let mut compared = 0;
    for block in include_str!("../../README.md").split("\n```console\n$ ").skip(1) {
        let (command, shown) = block.split("\n```").next().and_then(|block| block.split_once('\n')).expect("an output");
        let arguments = shlex::split(command).expect("a command");
        assert_eq!(arguments[0], "threadspec", "{command}");
        let output = Command::new(program)
            .args(&arguments[1..])
            .current_dir(&root)
            .env("PATH", &path)
            .env("CI", "")
            .env_remove("COLUMNS")
            .output()
            .expect("the program runs");
        assert_eq!(masked(&String::from_utf8_lossy(&output.stdout)), masked(shown), "{command}");
        compared += 1;
    }
    assert!(compared > 1, "{compared}");
    assert_eq!(masked("12 of 345 cases, 6.7 s"), "# of # cases, #.# s");
}
