//! Compresses every JSON file of this folder, so that the binary contains each one, and makes a constant of the id of each clause.
use flate2::Compression;
use flate2::write::DeflateEncoder;
use std::io::Write;
use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root = env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?;
    let mut files = Vec::new();
    collect(Path::new(&root), &mut files)?;
    files.sort();
    let (mut list, mut texts) = (String::from("&[\n"), DeflateEncoder::new(Vec::new(), Compression::default()));
    for file in &files {
        let name = file.strip_prefix(&root).unwrap_or(file).trim_start_matches(['/', '\\']).replace('\\', "/");
        let text = fs::read_to_string(file)?;
        list.push_str(&format!("({name:?}, {}),\n", text.len()));
        texts.write_all(text.as_bytes())?;
    }
    list.push_str("]\n");
    let out = env::var("OUT_DIR").map_err(io::Error::other)?;
    fs::write(Path::new(&out).join("files.rs"), list)?;
    fs::write(Path::new(&out).join("files.deflate"), texts.finish()?)?;
    let clauses = fs::read_to_string(Path::new(&root).join("clauses.json"))?;
    fs::write(Path::new(&out).join("clauses.rs"), constants(&clauses))
}

/// `pub const ESC_1: &str = "ESC-1";` for each clause, and a list of all.
fn constants(clauses: &str) -> String {
    let (mut constants, mut all) = (String::new(), String::new());
    for id in clauses.split("\"id\": \"").skip(1).filter_map(|rest| rest.split('"').next()) {
        constants.push_str(&format!("/// Clause {id}.\npub const {}: &str = {id:?};\n", id.replace('-', "_")));
        all.push_str(&format!("{id:?}, "));
    }
    constants + &format!("/// All of them, in the order of the registry.\npub const ALL: &[&str] = &[{all}];\n")
}

fn collect(folder: &Path, files: &mut Vec<String>) -> io::Result<()> {
    println!("cargo:rerun-if-changed={}", folder.display());
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "json") {
            files.push(path.display().to_string());
        }
    }
    Ok(())
}
