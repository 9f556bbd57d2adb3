//! Checks the lists: modules against the documents that name them, and clauses in code against the registry.

mod links;
mod options;
mod prose;

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use threadspec_judge::corpus::embedded;
use threadspec_judge::tolerance::TOLERATED;
use threadspec_judge::universal::Refusable;

/// Strings that look like ids of clauses in code: what `show` takes, encodings, and the one of a registry that a fuzz target reads.
const OTHERS: [&str; 4] = ["CASE-ID", "UTF-8", "UTF-32", "ESC-1"];

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

/// The crates by their folders, each with what it may use of the others.
const CRATES: [(&str, &[&str]); 17] = [
    ("golden", &[]),
    (".", &[]),
    ("conformance/judge", &["threadspec", "threadspec-golden"]),
    ("conformance/apis", &["threadspec", "threadspec-golden", "threadspec-judge"]),
    ("conformance/logs", &["threadspec", "threadspec-apis", "threadspec-golden", "threadspec-judge"]),
    ("conformance/mcp", &["threadspec-judge"]),
    ("conformance/provider", &["threadspec", "threadspec-apis", "threadspec-golden", "threadspec-judge"]),
    (
        "conformance/gateway",
        &["threadspec", "threadspec-apis", "threadspec-golden", "threadspec-judge", "threadspec-provider"],
    ),
    ("conformance/probe", &["threadspec", "threadspec-apis", "threadspec-golden"]),
    ("conformance/runner", &["threadspec", "threadspec-golden", "threadspec-judge"]),
    ("conformance/report", &["threadspec-golden", "threadspec-judge", "threadspec-runner"]),
    (
        "conformance/pages",
        &["threadspec-golden", "threadspec-judge", "threadspec-logs", "threadspec-report", "threadspec-runner"],
    ),
    (
        "conformance/cli",
        &["threadspec", "threadspec-golden", "threadspec-judge", "threadspec-report", "threadspec-runner"],
    ),
    (
        "fuzz/campaign",
        &[
            "threadspec",
            "threadspec-apis",
            "threadspec-golden",
            "threadspec-judge",
            "threadspec-provider",
            "threadspec-runner",
        ],
    ),
    (
        "conformance",
        &[
            "threadspec",
            "threadspec-apis",
            "threadspec-campaign",
            "threadspec-cli",
            "threadspec-gateway",
            "threadspec-golden",
            "threadspec-judge",
            "threadspec-logs",
            "threadspec-mcp",
            "threadspec-pages",
            "threadspec-probe",
            "threadspec-provider",
            "threadspec-report",
            "threadspec-runner",
        ],
    ),
    (
        "conformance/site",
        &[
            "threadspec-cli",
            "threadspec-conformance",
            "threadspec-golden",
            "threadspec-judge",
            "threadspec-pages",
            "threadspec-report",
            "threadspec-runner",
        ],
    ),
    (
        "conformance/mutants",
        &[
            "threadspec",
            "threadspec-apis",
            "threadspec-campaign",
            "threadspec-cli",
            "threadspec-conformance",
            "threadspec-gateway",
            "threadspec-golden",
            "threadspec-judge",
            "threadspec-pages",
            "threadspec-provider",
            "threadspec-report",
            "threadspec-runner",
        ],
    ),
];

/// The folders that hold code: those of each crate, of the tests in a package of their own, and of the fuzz targets. The packaged crate
/// is alone.
fn folders_of_code() -> impl Iterator<Item = PathBuf> {
    let of_crates =
        CRATES.iter().flat_map(|(folder, _)| ["src", "tests", "examples"].map(|part| format!("{folder}/{part}")));
    let others = ["tests", "benches/benches", "fuzz/fuzz_targets"].map(str::to_owned);
    of_crates.chain(others).map(|folder| root().join(folder)).filter(|folder| folder.is_dir())
}

/// The source of the library of a crate.
fn library(folder: &str) -> String {
    let of_data = root().join(folder).join("lib.rs");
    let file = if of_data.is_file() { of_data } else { root().join(folder).join("src/lib.rs") };
    fs::read_to_string(file).expect("the library is readable")
}

#[test]
fn every_module_says_what_it_is() {
    let mut files = Vec::new();
    folders_of_code().for_each(|folder| rust_files(&folder, &mut files));
    let silent: Vec<_> = files
        .iter()
        .filter(|file| !fs::read_to_string(file).expect("the file is readable").starts_with("//! "))
        .collect();
    assert!(silent.is_empty(), "these modules do not begin with `//!`: {silent:#?}");
    assert!(files.len() > 100, "only {} files", files.len());
}

/// The packages list their test programs, so that a new file could be left out unnoticed.
#[test]
fn no_file_of_tests_is_left_out() {
    for (folder, package) in [("conformance/tests", "conformance"), ("tests", "tests")] {
        let read = |path: String| fs::read_to_string(root().join(path)).expect("the file is readable");
        let (program, manifest) = (read(format!("{folder}/main.rs")), read(format!("{package}/Cargo.toml")));
        let mut files: Vec<_> = fs::read_dir(root().join(folder)).expect("the folder is readable").flatten().collect();
        files.retain(|file| file.path().extension().is_some_and(|extension| extension == "rs"));
        assert!(files.len() > 5, "only {} files in {folder}", files.len());
        for file in files {
            let name = file.path().file_stem().expect("a name").to_string_lossy().into_owned();
            let is_module = program.lines().any(|line| line == format!("mod {name};"));
            let is_program = manifest.contains(&format!("{name}.rs\"\n"));
            assert!(is_module || is_program, "{name} in {folder}");
        }
    }
}

#[test]
fn the_protocol_lists_what_is_tolerated() {
    let protocol = fs::read_to_string(root().join("conformance/REFERENCE.md")).expect("the reference is readable");
    let listed: Vec<String> = TOLERATED.iter().map(|(place, what)| format!("| {place} | {what} |")).collect();
    assert_eq!(rows(&protocol, "\n## What counts as the same\n"), listed);
}

/// The rows of the first table behind a place in a document.
fn rows<'a>(document: &'a str, place: &str) -> Vec<&'a str> {
    let section = document.split(place).nth(1).expect("the place is there");
    section.lines().skip_while(|line| *line != "|---|---|").skip(1).take_while(|line| line.starts_with('|')).collect()
}

#[test]
fn the_corpus_lists_what_may_be_refused() {
    let readme = fs::read_to_string(root().join("golden/README.md")).expect("the file is readable");
    let refusable: Vec<String> =
        Refusable::all().map(|refusable| format!("| {} | {} |", refusable.about(), refusable.when())).collect();
    assert_eq!(rows(&readme, "\n### What an agent may refuse\n"), refusable);
}

/// The first pages of a stranger and of a contributor are short; the rest is behind their links.
#[test]
fn the_first_pages_are_short() {
    for (page, most) in [("README.md", 700), ("CONTRIBUTING.md", 1_600), ("conformance/PROTOCOL.md", 800)] {
        let text = fs::read_to_string(root().join(page)).expect("the page is readable");
        let words = text.split_whitespace().count();
        assert!(words <= most, "{page}: {words} words; at most {most}");
    }
}

#[test]
fn the_layout_names_every_crate_and_each_its_modules() {
    let page = fs::read_to_string(root().join("CONTRIBUTING.md")).expect("the page is readable");
    let layout = page.split("## Layout").nth(1).expect("a section on the layout");
    for (folder, _) in CRATES.iter().filter(|(folder, _)| *folder != ".") {
        assert!(layout.contains(&format!("| `{folder}/` |")), "CONTRIBUTING.md does not name `{folder}/`");
    }
    let mut described = 0;
    for (folder, _) in CRATES {
        let library = library(folder);
        let is_table = library.contains("//! | module |");
        let is_public = |module: &&str| library.contains(&format!("pub mod {module};"));
        for module in modules(&library).filter(|module| is_table && folder != "." || is_public(module)) {
            let is_described = library.contains(&format!("`{module}`"));
            assert!(is_described, "{folder}: the library does not describe `{module}`");
            described += 1;
        }
    }
    assert!(described > 60, "{described}");
}

/// The modules that a library declares.
fn modules(library: &str) -> impl Iterator<Item = &str> {
    library.lines().filter_map(|line| line.trim_start_matches("pub ").strip_prefix("mod ")?.strip_suffix(';'))
}

/// What a crate may know. Cargo refuses circles; this refuses short cuts.
#[test]
fn a_crate_uses_only_what_it_may() {
    for (folder, allowed) in CRATES {
        let manifest = fs::read_to_string(root().join(folder).join("Cargo.toml")).expect("the manifest is readable");
        let section = manifest.split("\n[dependencies]\n").nth(1).unwrap_or_default();
        let lines = section.lines().take_while(|line| !line.starts_with('['));
        let names = lines.filter_map(|line| line.split_once(" = ")).map(|(name, _)| name);
        let used: BTreeSet<&str> = names.filter(|name| name.starts_with("threadspec")).collect();
        assert_eq!(used, allowed.iter().copied().collect(), "{folder}");
    }
}

/// A module may use those that it builds upon, never in a circle.
#[test]
fn no_modules_use_each_other() {
    let mut all = 0;
    for (folder, _) in CRATES.iter().filter(|(folder, _)| *folder != "golden") {
        let source = root().join(folder).join("src");
        let library = library(folder);
        let modules: Vec<&str> = modules(&library).collect();
        let mut uses: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for &module in &modules {
            let mut files = vec![source.join(module).with_extension("rs")];
            if source.join(module).is_dir() {
                files.clear();
                rust_files(&source.join(module), &mut files);
            }
            // A file's tests are at its end, and may use anything.
            let code = |file: &PathBuf| {
                let text = fs::read_to_string(file).expect("the file is readable");
                text.split("#[cfg(test)]\nmod tests {").next().map(str::to_owned)
            };
            let code: String = files.iter().filter_map(code).collect();
            let others =
                modules.iter().filter(|&&other| other != module && code.contains(&format!("crate::{other}::")));
            uses.insert(module, others.copied().collect());
        }
        all += uses.values().map(BTreeSet::len).sum::<usize>();
        while let Some(module) = uses.iter().find(|(_, used)| used.is_empty()).map(|(&module, _)| module) {
            uses.remove(module);
            for used in uses.values_mut() {
                used.remove(module);
            }
        }
        assert!(uses.is_empty(), "{folder}: these modules use each other: {uses:#?}");
    }
    assert!(all > 30, "{all}");
}

/// The types that a line declares: in a module, not inside of an `impl`, where `type` names what a trait asks for.
fn declared_type(line: &str) -> Option<&str> {
    let bare = line.trim_start();
    let bare = bare.strip_prefix("pub ").or_else(|| bare.strip_prefix("pub(")?.split_once(") ").map(|(_, rest)| rest));
    let bare = bare.unwrap_or(line.trim_start());
    let (keyword, rest) = bare.split_once(' ')?;
    let is_type =
        ["struct", "enum", "trait", "union"].contains(&keyword) || keyword == "type" && !line.starts_with(' ');
    let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
    (is_type && name.starts_with(|c: char| c.is_ascii_uppercase())).then_some(name)
}

/// A type name means one thing in all crates, private ones included: whoever reads it need not ask whose it is.
#[test]
fn a_type_name_has_one_meaning() {
    // Each crate has its own `Error`, and some are one thing on several platforms; the others are what `check` finds, whose users, in other
    // languages, too, know no other crate.
    const SEVERAL: [&str; 9] =
        ["Error", "ErrorKind", "Pipes", "Element", "Finding", "Level", "Place", "Report", "Summary"];
    let mut declared: BTreeMap<String, BTreeSet<PathBuf>> = BTreeMap::new();
    for (folder, _) in CRATES {
        let mut files = Vec::new();
        let (folder, source) = (root().join(folder), root().join(folder).join("src"));
        rust_files(if source.is_dir() { &source } else { &folder }, &mut files);
        let is_test = |file: &Path| {
            file.strip_prefix(&folder).is_ok_and(|path| path.iter().any(|part| part == "tests" || part == "tests.rs"))
        };
        for file in files.iter().filter(|file| !is_test(file)) {
            let text = fs::read_to_string(file).expect("the file is readable");
            let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
            for name in code.lines().filter_map(declared_type) {
                declared.entry(name.to_owned()).or_default().insert(file.clone());
            }
        }
    }
    assert!(declared.len() > 700, "{}", declared.len());
    declared.retain(|name, files| files.len() > 1 && !SEVERAL.contains(&&**name));
    assert!(declared.is_empty(), "these names have several meanings: {declared:#?}");
}

/// One style of `use`: a line per module, and in braces only what it holds itself.
#[test]
fn every_use_names_one_module() {
    let mut files = Vec::new();
    folders_of_code().for_each(|folder| rust_files(&folder, &mut files));
    let mut nested = Vec::new();
    for file in &files {
        let text = fs::read_to_string(file).expect("the file is readable");
        for (at, _) in text.match_indices("\nuse ") {
            let statement = text[at..].split(';').next().unwrap_or_default();
            if statement.split_once('{').is_some_and(|(_, inside)| inside.contains("::")) {
                nested.push(format!("{}: {}", file.display(), statement.trim().lines().next().unwrap_or_default()));
            }
        }
    }
    assert!(nested.is_empty(), "{nested:#?}");
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

/// Rules of model APIs are in `golden/provider-rules.json`; the sources of clauses are numbered, too.
fn is_rule_or_source(id: &str) -> bool {
    ["OAI-", "ANT-", "DS-", "GEM-", "BED-", "LOG-", "SPEC-"].iter().any(|start| id.starts_with(start))
}

/// Ids of clauses are constants of `threadspec_golden::clause`, so that an unknown one does not compile. The library does not know the
/// corpus: in its code they are texts, and registered.
#[test]
fn every_clause_in_code_is_registered() {
    let (corpus, problems) = embedded();
    assert_eq!(problems, []);
    let (mut wrong, mut files_read) = (Vec::new(), 0);
    for (folder, _) in CRATES {
        let mut files = Vec::new();
        let source = root().join(folder).join("src");
        if source.is_dir() {
            rust_files(&source, &mut files);
        }
        files_read += files.len();
        for file in files {
            let code = fs::read_to_string(&file).expect("the file is readable");
            // Tests speak of clauses that do not exist.
            let code = code.split("#[cfg(test)]").next().unwrap_or_default();
            let ids = ids(code).filter(|&id| !OTHERS.contains(&id) && !is_rule_or_source(id));
            let is_wrong = |id: &&str| folder != "." || corpus.clause(id).is_none();
            wrong.extend(ids.filter(is_wrong).map(|id| format!("{}: {id}", file.display())));
        }
    }
    assert!(wrong.is_empty(), "no constants of `threadspec_golden::clause`: {wrong:#?}");
    assert!(files_read > 300, "{files_read}");
}

/// Every field of the protocol varies in the covering arrays, or the data says why not.
#[test]
fn the_covering_arrays_are_about_every_field() {
    let protocol = fs::read_to_string(root().join("conformance/REFERENCE.md")).expect("the reference is readable");
    let data = fs::read_to_string(root().join("golden/covering.json")).expect("the data are readable");
    let data: Value = serde_json::from_str(&data).expect("JSON");
    let mut varying = BTreeSet::new();
    collect_fields(&data["blocks"], &mut varying);
    data["arrays"].as_array().expect("arrays").iter().for_each(|array| collect_fields(&array["input"], &mut varying));
    let excluded: BTreeSet<String> = data["excluded"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|excluded| excluded["field"].as_str().expect("a text").to_owned())
        .collect();
    let section = protocol.split("\n## Every field\n").nth(1).expect("a section on fields");
    let rows =
        section.lines().skip_while(|line| !line.starts_with("|---")).skip(1).take_while(|line| line.starts_with('|'));
    let mut listed = BTreeSet::new();
    for row in rows {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        // What is in backquotes is a name; `ai` message is `ai`, and `message` in plain text any of them.
        for name in cells[2].split('`').skip(1).step_by(2) {
            let places: Vec<&str> = cells[1].split('`').skip(1).step_by(2).collect();
            for place in if places.is_empty() { vec![cells[1]] } else { places } {
                listed.insert(format!("{place} {name}"));
            }
        }
    }
    assert!(listed.len() > 30, "{listed:?}");
    assert_eq!(listed.difference(&varying).collect::<Vec<_>>(), excluded.iter().collect::<Vec<_>>());
}

/// The fields that frames have, as `<type> <member>` and as what the protocol calls them.
fn collect_fields(value: &Value, fields: &mut BTreeSet<String>) {
    match value {
        Value::Array(elements) => elements.iter().for_each(|element| collect_fields(element, fields)),
        Value::Object(members) => {
            let kind = members.get("type").and_then(Value::as_str);
            let places = match kind {
                Some(kind) if members.contains_key("iteration") => vec![kind, "each event"],
                Some(kind) => vec![kind, "message"],
                None if members.contains_key("model") && members.contains_key("prompt") => vec!["loop"],
                None if members.contains_key("model") => vec!["tools"],
                None if members.contains_key("contextMode") => vec!["messages"],
                None if members.contains_key("events") => vec!["serialize"],
                None if members.contains_key("text") && members.len() == 1 => vec!["escape"],
                None => vec!["turn"],
            };
            // What is the same everywhere varies only if it is what tells the frames apart.
            let varies = |name: &String, value: &Value| {
                !value.is_string() || ["type", "role"].contains(&name.as_str()) || value.to_string().contains('{')
            };
            for (name, value) in members.iter().filter(|(name, value)| varies(name, value)) {
                fields.extend(places.iter().map(|place| format!("{place} {name}")));
                collect_fields(value, fields);
            }
        }
        _ => {}
    }
}
