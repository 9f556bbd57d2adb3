//! Every file of the corpus is read by the JSON parsers that others have, in their default settings.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fs, io};

/// A parser: how to start it on one file. It prints the number of the file's cases.
const PARSERS: [(&str, &[&str]); 3] = [
    (
        "python3",
        &["-c", "import json, sys; print(len(json.load(open(sys.argv[1], encoding='utf-8')).get('cases', [])))"],
    ),
    (
        "node",
        &["-e", "console.log((JSON.parse(require('fs').readFileSync(process.argv[1], 'utf8')).cases ?? []).length)"],
    ),
    ("jq", &["(.cases // []) | length"]),
];

fn corpus_files(folder: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            corpus_files(&path, found)?;
        } else if path.extension().is_some_and(|extension| extension == "json") {
            found.push(path);
        }
    }
    Ok(())
}

#[test]
fn every_parser_reads_every_file_and_finds_all_its_cases() -> io::Result<()> {
    let mut files = Vec::new();
    corpus_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../golden"), &mut files)?;
    assert!(files.len() > 50, "the corpus is not there");
    for (program, arguments) in PARSERS {
        let is_there =
            Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok();
        if !is_there {
            eprintln!("SKIPPED: {program} is not installed, so it is not known whether it reads the corpus");
            continue;
        }
        for file in &files {
            let output = Command::new(program).args(arguments).arg(file).output()?;
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{program} on {}: {said}", file.display());
            let cases: serde_json::Value = serde_json::from_str(&fs::read_to_string(file)?)?;
            let wanted = cases["cases"].as_array().map_or(0, Vec::len).to_string();
            assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), wanted, "{program} on {}", file.display());
        }
    }
    Ok(())
}
