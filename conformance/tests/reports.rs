//! Run files and transcripts: what they hold, and that nothing is lost on the way.

use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::{fs, io};

fn threadspec(folder: &Path, arguments: &[&str]) -> io::Result<(i32, String)> {
    let output = Command::new(env!("CARGO_BIN_EXE_threadspec")).args(arguments).current_dir(folder).output()?;
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    Ok((output.status.code().unwrap_or(-1), said))
}

/// The options, then the program itself as the testee, with a planted bug.
fn verify(folder: &Path, bug: &str, options: &[&str]) -> io::Result<(i32, String)> {
    let testee = ["--", env!("CARGO_BIN_EXE_threadspec"), "serve", "--bug", bug];
    threadspec(folder, &[&["verify"], options, &testee].concat())
}

fn read(folder: &Path, name: &str) -> io::Result<Value> {
    Ok(serde_json::from_str(&fs::read_to_string(folder.join(name))?)?)
}

fn assert_follows_the_schema(run: &Value) {
    let schema: Value = serde_json::from_str(threadspec_conformance::report::record::SCHEMA).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let errors: Vec<String> = validator.iter_errors(run).take(3).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
}

#[test]
fn a_run_file_says_what_the_terminal_says() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let (code, said) = verify(folder.path(), "tool-results-dropped", &["--report", "json=new/folder/run.json"])?;
    let run = read(folder.path(), "new/folder/run.json")?;
    assert_follows_the_schema(&run);
    assert_eq!((code, run["exitCode"].as_i64()), (1, Some(1)), "{said}");
    let cases = run["cases"].as_array().expect("a list");
    let failed: Vec<&Value> = cases.iter().filter(|case| case["verdict"] == "fail").collect();
    assert!(said.contains(&format!("fail {}", failed.len())) && !failed.is_empty(), "{said}");
    assert!(said.contains(&format!("/ {} total", run["summary"]["total"])), "{said}");
    for case in failed {
        for detail in ["why", "input", "expect", "actual", "repeat"] {
            assert!(case[detail].is_string(), "{detail}: {case}");
        }
    }
    Ok(())
}

#[test]
fn a_transcript_is_judged_like_the_testee_itself() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    for (bug, transcript) in [("tool-results-dropped", "t.jsonl.gz"), ("crash", "t.jsonl")] {
        verify(folder.path(), bug, &["--transcript", transcript, "--report", "json=first.json"])?;
        threadspec(folder.path(), &["judge", transcript, "--report", "json=again.json"])?;
        let [first, again] = ["first.json", "again.json"].map(|name| read(folder.path(), name));
        let (first, again) = (first?, again?);
        assert_follows_the_schema(&again);
        for (case, again) in
            first["cases"].as_array().into_iter().flatten().zip(again["cases"].as_array().expect("cases"))
        {
            for member in ["id", "verdict", "mismatches", "actual"] {
                assert_eq!(case[member], again[member], "{member} of {case}");
            }
        }
        assert_eq!(first["exitCode"], again["exitCode"]);
        assert_eq!(first["cases"].as_array().map(Vec::len), again["cases"].as_array().map(Vec::len));
    }
    Ok(())
}

#[test]
fn what_cannot_be_written_or_read_is_said_before_the_run() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    fs::write(folder.path().join("file"), "not JSON")?;
    for (arguments, code, says) in [
        (&["verify", "--report", "json=file/run.json"][..], 4, "file/run.json"),
        (&["verify", "--report", "json=."], 4, "directory"),
        (&["verify", "--report", "jsn=run.json"], 2, "there is no report `jsn`"),
        (&["verify", "--report", "json"], 2, "FORMAT=PATH"),
        (&["judge", "file"], 2, "not a transcript"),
        (&["judge", "nothing"], 2, "nothing: "),
    ] {
        let (actual, said) = threadspec(folder.path(), arguments)?;
        assert!(actual == code && said.contains(says), "{arguments:?}: {actual}: {said}");
        assert!(!said.contains("run /"), "{said}");
    }
    Ok(())
}
