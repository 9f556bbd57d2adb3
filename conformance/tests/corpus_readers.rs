//! Every file of the corpus is read by the JSON parsers that others have, in their default settings.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fs, io};

/// A parser, and how to start it on all files; for each file it prints the number of cases.
const PARSERS: [(&str, &[&str]); 3] = [
    (
        "python3",
        &[
            "-c",
            "import json, sys\nfor name in sys.argv[1:]: print(len(json.load(open(name, encoding='utf-8')).get('cases', [])))",
        ],
    ),
    (
        "node",
        &[
            "-e",
            "for (const name of process.argv.slice(1))
               console.log(Object.keys(JSON.parse(require('fs').readFileSync(name, 'utf8')).cases ?? []).length)",
        ],
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
        let output = Command::new(program).args(arguments).args(&files).output()?;
        assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
        let mut counts = Vec::new();
        for file in &files {
            let content: serde_json::Value = serde_json::from_str(&fs::read_to_string(file)?)?;
            let cases =
                content["cases"].as_array().map(Vec::len).or(content["cases"].as_object().map(serde_json::Map::len));
            counts.push(cases.unwrap_or(0).to_string());
        }
        let found = String::from_utf8_lossy(&output.stdout);
        assert_eq!(found.lines().collect::<Vec<_>>(), counts, "{program}");
    }
    Ok(())
}
