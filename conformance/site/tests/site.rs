//! The program `threadspec-site`.

use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::{fs, io};

const PROGRAM: &str = env!("CARGO_BIN_EXE_threadspec-site");

fn threadspec(arguments: &[&str], folder: &Path) -> io::Result<(i32, String)> {
    run_program(env!("CARGO_BIN_EXE_threadspec-reports"), arguments, folder)
}

fn run_program(program: &str, arguments: &[&str], folder: &Path) -> io::Result<(i32, String)> {
    let output = Command::new(program).args(arguments).current_dir(folder).output()?;
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    Ok((output.status.code().unwrap_or(-1), said))
}

/// A small corpus, and a run of it in which one case of three fails.
fn run(folder: &Path) -> io::Result<Value> {
    run_with(folder, "two")
}

/// The same, in which the case of this name fails.
fn run_with(folder: &Path, wrong: &str) -> io::Result<Value> {
    let case = |name: &str| {
        let expected = if name == wrong { "&#60;" } else { "&lt;" };
        format!(
            r#"{{"name":"{name}","why":"a reason","clauses":["ESC-1"],"input":{{"text":"<"}},"expect":{{"ok":"{expected}"}}}}"#
        )
    };
    let cases = ["one", "two", "three"].map(case).join(",");
    fs::create_dir_all(folder.join("corpus/escape"))?;
    let file = format!(r#"{{"op":"escape","about":"a topic","cases":[{cases}]}}"#);
    fs::write(folder.join("corpus/escape/topic.json"), file)?;
    let (code, said) = threadspec(&["verify", "--quiet", "--corpus", "corpus", "--report", "json=a-run.json"], folder)?;
    assert_eq!(code, 1, "{said}");
    Ok(serde_json::from_str(&fs::read_to_string(folder.join("a-run.json"))?)?)
}

/// Writes the site of the small corpus.
fn site(folder: &Path, more: &[&str]) -> io::Result<(i32, String)> {
    run_program(PROGRAM, &[&["public", "--corpus", "corpus"], more].concat(), folder)
}

#[test]
fn its_figures_are_those_of_the_run_and_of_its_reports() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let summary = &run(folder.path())?["summary"];
    let (code, said) = site(folder.path(), &["a-run.json", "--address", "https://example.com/s/"])?;
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("they come from a checkout of threadspec"), "{said}");
    let page = |path: &str| fs::read_to_string(folder.path().join("public").join(path));
    for (format, file) in [("html", "a-run.html"), ("badge", "a-run.svg")] {
        let (code, said) =
            threadspec(&["report", "--corpus", "corpus", "--format", format, "-o", file, "a-run.json"], folder.path())?;
        assert_eq!(code, 0, "{said}");
        assert_eq!(page(&format!("results/{file}"))?, fs::read_to_string(folder.path().join(file))?, "{file}");
    }
    let results = page("results.html")?;
    let (passed, applicable) = (&summary["verdicts"]["pass"], &summary["applicable"]);
    let row = format!("<td>literal</td><td>{passed}</td><td>{applicable}</td><td>{}</td>", summary["failures"]);
    assert!(results.contains(&row), "{row}: {results}");
    let badge = page("results/a-run.svg")?;
    for part in ["threadspec literal, 20", &format!("{passed} of {applicable}, worst: ESC-1, ")] {
        assert!(badge.contains(part), "{part}: {badge}");
    }
    let markdown = "](https://example.com/s/results/a-run.svg)](https://example.com/s/results/a-run.html)";
    assert!(results.contains(markdown), "{results}");
    Ok(())
}

#[test]
fn a_case_counts_once_in_all_modes_of_a_badge() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let mut modes = Vec::new();
    for (mode, wrong) in [("openai-chat", "two"), ("openai-chat:stream", "three")] {
        let mut run = run_with(folder.path(), wrong)?;
        run["options"]["provider"] = mode.into();
        assert_eq!((&run["summary"]["verdicts"]["pass"], &run["summary"]["applicable"]), (&2.into(), &3.into()));
        modes.push(run);
    }
    fs::write(folder.path().join("modes.json"), serde_json::json!({ "runs": modes }).to_string())?;
    let (code, said) = site(folder.path(), &["modes.json"])?;
    assert_eq!(code, 0, "{said}");
    let page = |path: &str| fs::read_to_string(folder.path().join("public").join(path));
    let badge = page("results/modes.svg")?;
    for part in ["threadspec literal, over the wire in 2 modes, 20", "1 of 3, worst: ESC-1, "] {
        assert!(badge.contains(part), "{part}: {badge}");
    }
    for path in ["results.html", "results/modes.html"] {
        assert!(page(path)?.contains("each case counted once: 1 of 3 pass in each run"), "{path}");
    }
    // Runs of one name are told apart.
    let report = page("results/modes.html")?;
    assert!(report.contains(", literal over openai-chat:stream.</strong> Fix first: "), "{report}");
    Ok(())
}

#[test]
#[ignore = "slow: it makes every page; `.ci/run` does so"]
fn it_says_what_the_corpus_says() -> io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = tempfile::tempdir()?;
    let (site, made) = (folder.path().join("site"), folder.path().join("made"));
    // What `matrix --pages` makes, in short.
    for (path, text) in [
        (
            "frameworks/MATRIX.md",
            "# The matrix\n\nAGENT-IDS is broken: [AGENT-IDS.py](agno/repro/AGENT-IDS.py). [matrix.html](matrix.html) shows it.\n",
        ),
        (
            "frameworks/matrix.html",
            "<!doctype html><title>Matrix</title><body><h1>Matrix</h1><a href=\"agno/repro/AGENT-IDS.py\">it</a> <a href=\"../gateways/GATEWAYS.md#rolter\">them</a></body>",
        ),
        ("gateways/GATEWAYS.md", "# Gateways\n\n## rolter\n"),
    ] {
        let file = made.join("conformance/adapters").join(path);
        fs::create_dir_all(file.parent().expect("a folder"))?;
        fs::write(file, text)?;
    }
    let (code, said) =
        run_program(PROGRAM, &[&site.display().to_string(), "--made", &made.display().to_string()], &root)?;
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
        // The rows of a covering array have one hash.
        assert!(text.contains(&if name == "*" { "id=\"row-1\"".to_owned() } else { format!("id=\"{name}\"") }), "{id}");
    }
    for (path, part) in [
        ("errata.html", "<a id=\"E1\"></a>"),
        ("rules/anthropic.html", "anthropic-version: header is required"),
        ("docs/conformance/PROTOCOL.html", "<h1 id=\"the-protocol"),
        (
            "docs/conformance/adapters/frameworks/MATRIX.html",
            "<a href=\"../../../../clauses/AGENT-IDS.html\">AGENT-IDS</a>",
        ),
        ("docs/README.html", "<a href=\"golden/README.html\">golden/</a>"),
        ("docs/README.html", "/blob/main/action.yml\""),
        ("docs/golden/COVERAGE.html", "<a href=\"../../clauses/ESC-CR.html\">ESC-CR</a>"),
        ("docs/golden/COVERAGE.html", "/blob/main/golden/clauses.json\""),
        ("docs/golden/HAZARDS.html", "<h2 id=\"read-json"),
        ("docs/golden/README.html", "href=\"HAZARDS.html\""),
        ("docs/conformance/adapters/frameworks/MATRIX.html", "<a href=\"../../../../matrix.html\">"),
        ("matrix.html", "<a href=\"index.html\">threadspec</a>"),
        (
            "matrix.html",
            "href=\"https://github.com/threadspec/threadspec/blob/main/conformance/adapters/frameworks/agno/repro/",
        ),
        ("matrix.html", "href=\"docs/conformance/adapters/gateways/GATEWAYS.html#"),
        (
            "docs/conformance/adapters/frameworks/MATRIX.html",
            "href=\"https://github.com/threadspec/threadspec/blob/main/conformance/adapters/frameworks\"",
        ),
    ] {
        assert!(page(path)?.contains(part), "{path}: {part}");
    }
    // The first page has the doors of README.
    let index = page("index.html")?;
    let text: String = index.split('<').filter_map(|part| Some(part.split_once('>')?.1)).collect();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let readme = fs::read_to_string(root.join("README.md"))?;
    let doors = readme.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix("` |")?.split_once(" | `"));
    let doors: Vec<_> = doors.filter(|(_, command)| command.starts_with("threadspec ")).collect();
    assert_eq!(doors.len(), 6, "{doors:?}");
    for (have, command) in doors {
        assert!(text.contains(have) && text.contains(command), "{have}: {command}: {text}");
    }
    Ok(())
}

#[test]
fn a_folder_with_other_things_is_left_as_it_is() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let public = folder.path().join("public");
    run(folder.path())?;
    let write = |more: &[&str]| site(folder.path(), more);
    fs::create_dir(&public)?;
    fs::write(public.join("mine.txt"), "mine")?;
    let (code, said) = write(&[])?;
    assert!(code == 2 && said.contains("it holds other things than a site"), "{said}");
    assert_eq!(fs::read_dir(&public)?.count(), 1);
    fs::remove_file(public.join("mine.txt"))?;
    let (code, said) = write(&["a-run.json"])?;
    assert!(code == 0 && public.join("results/a-run.svg").exists(), "{said}");
    // A later site replaces it, takes away what is no longer part of it, and nothing else.
    fs::write(public.join("CNAME"), "example.com")?;
    let (code, said) = write(&[])?;
    assert!(code == 0 && !public.join("results/a-run.svg").exists() && public.join("CNAME").exists(), "{said}");
    fs::create_dir_all(public.join("results"))?;
    fs::write(public.join("results/a-run.svg"), "mine")?;
    let (code, said) = write(&["a-run.json"])?;
    assert!(code == 2 && said.contains("it is no part of an earlier site"), "{said}");
    assert_eq!(fs::read_to_string(public.join("results/a-run.svg"))?, "mine");
    Ok(())
}

#[test]
fn what_cannot_be_part_of_it_is_refused() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    run(folder.path())?;
    fs::copy(folder.path().join("a-run.json"), folder.path().join("a bug.json"))?;
    for (arguments, says) in [
        (&["a bug.json"][..], "its name becomes part of an address"),
        (&["a-run.json", "./a-run.json"], "two run files are called a-run"),
        (&["none.json"], "none.json"),
        (&["--checkout", "."], "it is no checkout of threadspec"),
        (&["--page", "none.html"], "none.html"),
    ] {
        let (code, said) = site(folder.path(), arguments)?;
        assert!(code == 2 && said.contains(says), "{arguments:?}: {code} {said}");
    }
    assert!(!folder.path().join("public").exists());
    Ok(())
}
