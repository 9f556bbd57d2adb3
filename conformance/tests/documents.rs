//! What can be listed is checked: modules and rooms against the documents that name them.

use std::fs;
use std::path::{Path, PathBuf};

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

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[test]
fn every_module_says_what_it_is() {
    let mut files = Vec::new();
    for folder in ["src", "tests", "examples", "conformance/src", "conformance/tests", "conformance/examples"] {
        let folder = root().join(folder);
        if folder.is_dir() {
            rust_files(&folder, &mut files);
        }
    }
    let silent: Vec<_> = files
        .iter()
        .filter(|file| !fs::read_to_string(file).expect("the file is readable").starts_with("//! "))
        .collect();
    assert!(silent.is_empty(), "these modules do not begin with `//!`: {silent:#?}");
    assert!(files.len() > 100, "only {} files", files.len());
}

#[test]
fn the_readme_names_every_room() {
    let library = include_str!("../src/lib.rs");
    let readme = fs::read_to_string(root().join("README.md")).expect("the README is readable");
    let layout = readme.split("## Layout").nth(1).expect("a section on the layout");
    let rooms: Vec<&str> =
        library.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';')).collect();
    assert!(rooms.len() > 10, "{rooms:?}");
    for room in rooms {
        assert!(library.contains(&format!("//! | [`{room}`] |")), "lib.rs does not describe `{room}`");
        assert!(layout.contains(&format!("`{room}`")), "the README does not name `{room}`");
    }
}
