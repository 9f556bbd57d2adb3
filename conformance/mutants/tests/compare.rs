//! `threadspec-mutants compare` finds what a change of the faults took from the corpus.

use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use std::{fs, io};

const MUTANTS: &str = env!("CARGO_BIN_EXE_threadspec-mutants");

/// A matrix of one fault in one place.
fn matrix() -> Value {
    json!({"trials": [{
        "fault": "text-trimmed", "place": "agent", "wrong": true, "breaks": ["AGENT-RESULT"],
        "kills": {"agent/a/one": ["AGENT-RESULT"], "agent/a/two": ["AGENT-RESULT", "AGENT-START"]},
    }]})
}

/// What `compare` says of two matrices: whether it accepts the new one, and its words.
fn compared(old: &Value, new: &Value, renamed: &str) -> io::Result<(bool, String)> {
    let folder = tempfile::tempdir()?;
    let at = |name: &str, text: String| fs::write(folder.path().join(name), text);
    at("old.json", old.to_string())?;
    at("new.json", new.to_string())?;
    at("renamed", renamed.to_owned())?;
    ran(folder.path(), &["compare", "old.json", "new.json", "--renamed", "renamed"])
}

fn ran(folder: &Path, arguments: &[&str]) -> io::Result<(bool, String)> {
    let output = Command::new(MUTANTS).args(arguments).current_dir(folder).output()?;
    Ok((output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned()))
}

#[test]
fn equal_matrices_and_subsets_are_accepted() -> io::Result<()> {
    let (old, mut new) = (matrix(), matrix());
    assert!(compared(&old, &new, "")?.0);
    new["trials"][0]["kills"] = json!({"agent/a/two": ["AGENT-START", "AGENT-RESULT"]});
    assert!(compared(&old, &new, "")?.0, "the order of names means nothing");
    new["trials"][0]["fault"] = "result-trim-both".into();
    assert!(compared(&old, &new, "text-trimmed result-trim-both\n")?.0);
    Ok(())
}

#[test]
fn each_planted_difference_is_found() -> io::Result<()> {
    let changes: [(&str, Value, &str); 7] = [
        ("/trials/0/kills", json!({}), "nothing catches it any more"),
        ("/trials/0/kills", json!({"agent/a/three": ["AGENT-RESULT"]}), "agent/a/three catches it now"),
        ("/trials/0/kills", json!({"agent/a/one": ["AGENT-START"]}), "agent/a/one called it [\"AGENT-RESULT\"]"),
        ("/trials/0/wrong", json!(false), "`wrong` was true"),
        ("/trials/0/breaks", json!(["AGENT-START"]), "`breaks` was [\"AGENT-RESULT\"]"),
        ("/trials/0/place", json!("sessions"), "is not tried any more"),
        ("/trials/0/fault", json!("other"), "is not tried any more"),
    ];
    for (place, value, said) in changes {
        let mut new = matrix();
        *new.pointer_mut(place).expect("it is there") = value;
        let (accepts, words) = compared(&matrix(), &new, "")?;
        assert!(!accepts && words.contains(said), "{place}: {words}");
    }
    let nothing = json!({"trials": []});
    assert!(!compared(&nothing, &nothing, "")?.0, "no matrix at all proves nothing");
    Ok(())
}
