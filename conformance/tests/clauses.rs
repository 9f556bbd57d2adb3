//! Clause ids in code are those of the registry.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use threadspec_conformance::corpus::embedded;

/// A string that looks like a clause id and is none: what `show` takes.
const PLACEHOLDER: &str = "CASE-ID";

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the folder is readable") {
        let path = entry.expect("the folder is readable").path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The strings in double quotes that have the form of a clause id: `MSG-PURE`, `ESC-1`.
fn ids(code: &str) -> impl Iterator<Item = &str> {
    code.split('"').filter(|word| {
        word.contains('-')
            && word.starts_with(|c: char| c.is_ascii_uppercase())
            && word.split('-').all(|part| !part.is_empty())
            && word.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '-')
    })
}

/// Rules of model APIs stand in `golden/provider-rules.json`; the sources of clauses are numbered, too.
fn is_rule_or_source(id: &str) -> bool {
    ["OAI-", "ANT-", "DS-", "SPEC-"].iter().any(|start| id.starts_with(start))
}

#[test]
fn every_clause_in_code_is_registered() {
    let (corpus, problems) = embedded();
    assert_eq!(problems, []);
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for folder in [root.join("src"), root.join("../src")] {
        // The packaged crate stands alone.
        if folder.is_dir() {
            rust_files(&folder, &mut files);
        }
    }
    let (mut unknown, mut known) = (Vec::new(), BTreeSet::new());
    for file in files {
        let code = fs::read_to_string(&file).expect("the file is readable");
        // Tests speak of clauses that do not exist.
        let code = code.split("#[cfg(test)]").next().unwrap_or_default();
        for id in ids(code).filter(|&id| id != PLACEHOLDER && !is_rule_or_source(id)) {
            match corpus.clause(id) {
                Some(_) => drop(known.insert(id.to_owned())),
                None => unknown.push(format!("{}: {id}", file.display())),
            }
        }
    }
    assert!(unknown.is_empty(), "no clauses of the registry: {unknown:#?}");
    assert!(known.len() > 60, "only {} ids were found: {known:?}", known.len());
}
