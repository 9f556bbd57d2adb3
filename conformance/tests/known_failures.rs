//! A failing implementation is adopted with a file of known failures, which can only shrink.

use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::{fs, io};

const FILE: &str = "known-failures.toml";
/// Enough of the corpus for what is tested here, and none of its large cases.
const SOME: &str = "--filter messages/event-types-standard/* --filter messages/tool-results/* --filter tools/s*";

/// Verifies a mutant with options that are written as on a command line.
fn verify(folder: &Path, bug: &str, options: &str) -> io::Result<(i32, String)> {
    let program = env!("CARGO_BIN_EXE_threadspec");
    let output = Command::new(program)
        .env_remove("CI")
        .args(["verify", "--quiet"])
        .args(options.split(' ').filter(|word| !word.is_empty()))
        .args(["--", program, "serve"])
        .args(if bug.is_empty() { vec![] } else { vec!["--bug", bug] })
        .current_dir(folder)
        .output()?;
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    Ok((output.status.code().unwrap_or(-1), said))
}

#[track_caller]
fn assert_ends(actual: &(i32, String), code: i32, says: &str) {
    assert!(actual.0 == code && actual.1.contains(says), "{code} and `{says}` expected: {}: {}", actual.0, actual.1);
}

#[test]
fn a_failing_implementation_is_adopted_in_three_commands() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let (at, bug) = (folder.path(), "tool-results-dropped");
    assert_ends(&verify(at, bug, SOME)?, 1, "count against it");
    assert_ends(&verify(at, bug, &format!("{SOME} --update-known-failures {FILE}"))?, 1, "--reason TEXT adds them");
    assert_ends(&verify(at, bug, &format!("{SOME} --update-known-failures {FILE} --reason old"))?, 0, "known failures");
    let adopted = fs::read_to_string(at.join(FILE))?;
    assert!(adopted.contains("clause = \"MSG-RESULT\"") || adopted.contains("pattern = "), "{adopted}");
    assert_ends(&verify(at, bug, &format!("{SOME} --known-failures {FILE} --jobs 2 --shuffle 3"))?, 0, "but for");
    // Another fault is not excused.
    let other = verify(at, "requests-share-one-list", &format!("{SOME} --known-failures {FILE}"))?;
    assert_ends(&other, 1, "count against it");
    // What is fixed must leave the file, which then has nothing left.
    assert_ends(&verify(at, "", &format!("{SOME} --known-failures {FILE}"))?, 5, "is known to fail, and passes");
    assert_ends(&verify(at, "", &format!("{SOME} --update-known-failures {FILE}"))?, 0, "Exit code 0");
    assert!(!fs::read_to_string(at.join(FILE))?.contains("[[known]]"));
    assert_ends(&verify(at, bug, &format!("{SOME} --update-known-failures {FILE}"))?, 1, "--reason TEXT adds them");
    Ok(())
}

#[test]
fn what_is_documented_as_a_choice_is_marked_and_still_shown() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let (at, bug) = (folder.path(), "tool-results-dropped");
    verify(at, bug, &format!("{SOME} --update-known-failures {FILE} --reason old"))?;
    let old = fs::read_to_string(at.join(FILE))?;
    let documented = "reason = \"old\"\ndocumented = \"https://example.org/loop#results\"";
    fs::write(at.join(FILE), old.replace("reason = \"old\"", documented))?;
    let all = format!("{SOME} --known-failures {FILE} --report html=run.html --report json=run.json");
    assert_ends(&verify(at, bug, &all)?, 0, "known failures (documented as a choice)");
    let (html, run) = (fs::read_to_string(at.join("run.html"))?, fs::read_to_string(at.join("run.json"))?);
    for part in ["Look first at", "(documented as a choice)", "<span class=\"level\">documented as a choice</span>"] {
        assert!(html.contains(part), "{part}");
    }
    assert!(html.contains("documented as a choice (https://example.org/loop#results): old"), "no page is named");
    // What was found, not what the file says of it.
    verify(at, bug, &format!("{SOME} --report html=unknown.html"))?;
    let first = |html: &str| Some(html.split_once("such as ")?.1.split_once([';', '.', '('])?.0.trim().to_owned());
    let unknown = fs::read_to_string(at.join("unknown.html"))?;
    assert!(first(&html).is_some() && first(&html) == first(&unknown), "{:?} {:?}", first(&html), first(&unknown));
    let run: Value = serde_json::from_str(&run)?;
    let cases: Vec<&Value> = run["cases"].as_array().into_iter().flatten().collect();
    let marked = cases.iter().filter(|case| case["documented"] == true);
    assert!(marked.clone().count() > 0 && marked.clone().all(|case| case["verdict"] == "known-failure"));
    assert_eq!(marked.count(), cases.iter().filter(|case| case["verdict"] == "known-failure").count());
    Ok(())
}

#[test]
fn every_form_of_a_file_is_taken_at_its_word() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let bug = "ampersand-escaped-last";
    for (file, code, says) in [
        ("[[known]]\npattern = \"escape/*\"\nreason = \"r\"", 5, "is known to fail, and passes"),
        ("[[known]]\npattern = \"serialize/none\"\nreason = \"r\"", 1, "`serialize/none` matches no case"),
        ("[[known]]\nclause = \"ESC-99\"\nreason = \"r\"", 1, "clause ESC-99 matches no case"),
        ("[[known]]\npattern = \"*\"\nreason = \"r\"", 5, "is known to fail, and passes"),
        ("[[known]]\npattern = \"*\"\n", 2, "missing field `reason`"),
        ("[[known]]\npattern = \"*\"\nreason = \"r\"\nowner = \"me\"", 2, "unknown field `owner`"),
        ("pattern = \"*\"", 2, "unknown field `pattern`"),
        ("[[known", 2, FILE),
    ] {
        fs::write(folder.path().join(FILE), file)?;
        assert_ends(&verify(folder.path(), bug, &format!("--filter escape/* --known-failures {FILE}"))?, code, says);
    }
    assert_ends(&verify(folder.path(), bug, "--known-failures nothing.toml")?, 2, "nothing.toml");
    assert_ends(&verify(folder.path(), bug, "--reason r")?, 2, "--update-known-failures");
    Ok(())
}

/// What was recorded is excused like the testee itself.
#[test]
fn judge_knows_the_same_failures() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let (at, bug) = (folder.path(), "tool-results-dropped");
    let judge = |options: &[&str]| -> io::Result<(i32, String)> {
        let program = env!("CARGO_BIN_EXE_threadspec");
        let words = [&["judge", "--quiet", "t.jsonl"], options].concat();
        let output = Command::new(program).args(words).current_dir(at).output()?;
        let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        Ok((output.status.code().unwrap_or(-1), said))
    };
    verify(at, bug, &format!("{SOME} --transcript t.jsonl --update-known-failures {FILE} --reason old"))?;
    let by_verify = fs::read_to_string(at.join(FILE))?;
    assert_ends(&judge(&[])?, 1, "count against it");
    assert_ends(&judge(&["--known-failures", FILE])?, 0, "but for");
    fs::remove_file(at.join(FILE))?;
    assert_ends(&judge(&["--update-known-failures", FILE])?, 1, "--reason TEXT adds them");
    assert_ends(&judge(&["--update-known-failures", FILE, "--reason", "old"])?, 0, "but for");
    assert_eq!(fs::read_to_string(at.join(FILE))?, by_verify);
    verify(at, "", &format!("{SOME} --transcript t.jsonl"))?;
    assert_ends(&judge(&["--known-failures", FILE])?, 5, "is known to fail, and passes");
    Ok(())
}

#[test]
fn an_entry_expires() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let case = "--filter escape/five-characters/less-than-alone";
    let known = |expires: &str| {
        let entry =
            format!("[[known]]\npattern = \"escape/five-characters/less-than-alone\"\nreason = \"r\"\n{expires}");
        fs::write(folder.path().join(FILE), entry)
    };
    let verify = || verify(folder.path(), "ampersand-escaped-last", &format!("{case} --known-failures {FILE}"));
    known("expires = \"2000-01-01\"")?;
    assert_ends(&verify()?, 5, "has expired on 2000-01-01");
    known("expires = \"9999-12-31\"")?;
    assert_ends(&verify()?, 0, "but for one known failure");
    Ok(())
}

#[test]
fn a_glob_that_is_too_wide_is_narrowed_and_keeps_its_reason() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let (at, bug) = (folder.path(), "tool-results-dropped");
    fs::write(at.join(FILE), "[[known]]\npattern = \"messages/event-types-*\"\nreason = \"wide\"\nlink = \"there\"\n")?;
    verify(at, bug, &format!("--filter messages/event-types-* --update-known-failures {FILE}"))?;
    let narrowed = fs::read_to_string(at.join(FILE))?;
    assert!(narrowed.contains("pattern = \"messages/event-types-standard/tool-call-and-result\""), "{narrowed}");
    assert!(
        !narrowed.contains("event-types-*") && narrowed.contains("reason = \"wide\"\nlink = \"there\""),
        "{narrowed}"
    );
    Ok(())
}

#[test]
fn reports_know_what_is_known() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let (at, bug) = (folder.path(), "tool-results-dropped");
    let options = format!(
        "{SOME} --update-known-failures {FILE} --reason old --report json=run.json --report junit=junit.xml \
        --report markdown=run.md --report html=run.html"
    );
    assert_ends(&verify(at, bug, &options)?, 0, "known failures");
    let run: Value = serde_json::from_str(&fs::read_to_string(at.join("run.json"))?)?;
    let known = run["summary"]["verdicts"]["known-failure"].as_u64().unwrap_or_default();
    assert!(known > 0 && run["summary"]["failures"] == 0 && run["exitCode"] == 0, "{}", run["summary"]);
    assert!(fs::read_to_string(at.join("run.md"))?.contains(&format!("{known} known failures")));
    let skipped = fs::read_to_string(at.join("junit.xml"))?.matches("<skipped").count() as u64;
    assert!(skipped >= known, "{skipped} of {known}");
    assert!(fs::read_to_string(at.join("run.html"))?.contains("known-failure"));
    Ok(())
}
