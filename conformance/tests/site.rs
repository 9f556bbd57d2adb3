//! `threadspec site`.

use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::{fs, io};

fn threadspec(arguments: &[&str], folder: &Path) -> io::Result<(i32, String)> {
    let output = Command::new(env!("CARGO_BIN_EXE_threadspec")).args(arguments).current_dir(folder).output()?;
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    Ok((output.status.code().unwrap_or(-1), said))
}

/// A run that fails.
fn run(folder: &Path) -> io::Result<Value> {
    let testee = ["--", env!("CARGO_BIN_EXE_threadspec"), "serve", "--bug", "tool-results-dropped"];
    let report = ["verify", "--quiet", "--filter", "messages/*", "--report", "json=a-bug.json"];
    let (code, said) = threadspec(&[&report[..], &testee].concat(), folder)?;
    assert_eq!(code, 1, "{said}");
    Ok(serde_json::from_str(&fs::read_to_string(folder.join("a-bug.json"))?)?)
}

#[test]
fn its_figures_are_those_of_the_run_and_of_its_reports() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let summary = &run(folder.path())?["summary"];
    let (code, said) =
        threadspec(&["site", "public", "a-bug.json", "--address", "https://example.com/s/"], folder.path())?;
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("they come from a checkout of threadspec"), "{said}");
    let page = |path: &str| fs::read_to_string(folder.path().join("public").join(path));
    for (format, file) in [("html", "a-bug.html"), ("badge", "a-bug.svg")] {
        let (code, said) = threadspec(&["report", "--format", format, "-o", file, "a-bug.json"], folder.path())?;
        assert_eq!(code, 0, "{said}");
        assert_eq!(page(&format!("results/{file}"))?, fs::read_to_string(folder.path().join(file))?, "{file}");
    }
    let results = page("results.html")?;
    let (passed, applicable) = (&summary["verdicts"]["pass"], &summary["applicable"]);
    let row = format!("<td>literal</td><td>{passed}</td><td>{applicable}</td><td>{}</td>", summary["failures"]);
    assert!(results.contains(&row), "{row}: {results}");
    let badge = page("results/a-bug.svg")?;
    for part in ["threadspec literal, 20", &format!("{passed} of {applicable}, worst: MSG-RESULT, ")] {
        assert!(badge.contains(part), "{part}: {badge}");
    }
    let markdown = "](https://example.com/s/results/a-bug.svg)](https://example.com/s/results/a-bug.html)";
    assert!(results.contains(markdown), "{results}");
    Ok(())
}

#[test]
fn it_says_what_the_corpus_says() -> io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folder = tempfile::tempdir()?;
    let site = folder.path().join("site");
    let (code, said) = threadspec(&["site", &site.display().to_string()], &root)?;
    assert_eq!(code, 0, "{said}");
    let page = |path: &str| fs::read_to_string(site.join(path));
    let clauses: Value = serde_json::from_str(&fs::read_to_string(root.join("golden/clauses.json"))?)?;
    for clause in clauses["clauses"].as_array().expect("a list") {
        let id = clause["id"].as_str().expect("a text");
        assert!(page(&format!("clauses/{id}.html"))?.contains(&format!("<h1>{id} ")), "{id}");
    }
    let manifest: Value = serde_json::from_str(&fs::read_to_string(root.join("golden/manifest.json"))?)?;
    let cases = manifest["cases"].as_object().expect("cases by id");
    let mut pages = std::collections::HashMap::new();
    for id in cases.keys() {
        let (topic, name) = id.rsplit_once('/').expect("a topic");
        let text = pages.entry(topic).or_insert_with(|| page(&format!("cases/{topic}.html")).unwrap_or_default());
        assert!(text.contains(&format!("id=\"{name}\"")), "{id}");
    }
    for (path, part) in [
        ("errata.html", "<a id=\"E1\"></a>"),
        ("rules/anthropic.html", "anthropic-version: header is required"),
        ("docs/conformance/PROTOCOL.html", "<h1 id=\"protocol"),
        (
            "docs/conformance/adapters/frameworks/MATRIX.html",
            "<a href=\"../../../../clauses/AGENT-IDS.html\">AGENT-IDS</a>",
        ),
        ("docs/README.html", "<a href=\"golden/README.html\">golden/</a>"),
        ("docs/README.html", "/blob/main/action.yml\""),
    ] {
        assert!(page(path)?.contains(part), "{path}: {part}");
    }
    Ok(())
}

#[test]
fn a_folder_with_other_things_is_left_as_it_is() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let site = folder.path().join("public");
    run(folder.path())?;
    let write = |more: &[&str]| threadspec(&[&["site", "public"], more].concat(), folder.path());
    fs::create_dir(&site)?;
    fs::write(site.join("mine.txt"), "mine")?;
    let (code, said) = write(&[])?;
    assert!(code == 2 && said.contains("it holds other things than a site"), "{said}");
    assert_eq!(fs::read_dir(&site)?.count(), 1);
    fs::remove_file(site.join("mine.txt"))?;
    let (code, said) = write(&["a-bug.json"])?;
    assert!(code == 0 && site.join("results/a-bug.svg").exists(), "{said}");
    // A later site replaces it, takes away what is no longer part of it, and nothing else.
    fs::write(site.join("CNAME"), "example.com")?;
    let (code, said) = write(&[])?;
    assert!(code == 0 && !site.join("results/a-bug.svg").exists() && site.join("CNAME").exists(), "{said}");
    fs::create_dir_all(site.join("results"))?;
    fs::write(site.join("results/a-bug.svg"), "mine")?;
    let (code, said) = write(&["a-bug.json"])?;
    assert!(code == 2 && said.contains("it is no part of an earlier site"), "{said}");
    assert_eq!(fs::read_to_string(site.join("results/a-bug.svg"))?, "mine");
    Ok(())
}

#[test]
fn what_cannot_be_part_of_it_is_refused() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    run(folder.path())?;
    fs::copy(folder.path().join("a-bug.json"), folder.path().join("a bug.json"))?;
    for (arguments, says) in [
        (&["a bug.json"][..], "its name becomes part of an address"),
        (&["a-bug.json", "./a-bug.json"], "two run files are called a-bug"),
        (&["none.json"], "none.json"),
        (&["--checkout", "."], "it is no checkout of threadspec"),
        (&["--page", "none.html"], "none.html"),
    ] {
        let (code, said) = threadspec(&[&["site", "public"], arguments].concat(), folder.path())?;
        assert!(code == 2 && said.contains(says), "{arguments:?}: {code} {said}");
    }
    assert!(!folder.path().join("public").exists());
    Ok(())
}
