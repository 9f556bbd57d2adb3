//! The published JSON Schemas: what they describe satisfies them. The one of case files refuses what reading a corpus refuses.

use jsonschema::Validator;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};
use threadspec_judge::corpus::{File, SCHEMA, cases_in, embedded_files};
use threadspec_judge::json::{on_deep_stack, read};

fn schema(files: &[File]) -> Validator {
    let schema = files.iter().find(|file| file.path == SCHEMA).expect("the corpus has a schema");
    jsonschema::validator_for(&read(&schema.text).expect("the schema is JSON")).expect("it is a schema")
}

#[test]
fn every_case_file_satisfies_the_schema() {
    let checked = on_deep_stack(|| {
        let files = embedded_files();
        let schema = schema(&files);
        let case_files = files.iter().filter(|file| file.path.contains('/'));
        case_files
            .map(|file| {
                let content = read(&file.text).expect("a case file is JSON");
                let errors: Vec<String> =
                    schema.iter_errors(&content).map(|error| format!("{}: {error}", error.instance_path())).collect();
                assert!(errors.is_empty(), "{}: {errors:#?}", file.path);
            })
            .count()
    });
    assert!(checked.expect("a thread can be started") > 50);
}

/// Whether the schema accepts a file of a folder, and whether reading it finds nothing wrong.
fn verdicts(schema: &Validator, folder: &str, content: &Value) -> [bool; 2] {
    let file = File { path: format!("{folder}/topic.json"), text: content.to_string() };
    [schema.is_valid(content), cases_in(&file).1.is_empty()]
}

#[test]
fn the_schema_and_the_reader_refuse_the_same() {
    let schema = schema(&embedded_files());
    let good = || {
        json!({"op": "escape", "about": "a topic", "cases": [
            {"name": "a-b", "why": "a reason", "clauses": ["ESC-1"], "input": {"text": "<"}, "expect": {"ok": "&lt;"}}
        ]})
    };
    assert_eq!(verdicts(&schema, "escape", &good()), [true, true]);
    // Each is a JSON Pointer and what to write there; null removes the member.
    for (pointer, value) in [
        ("/op", Value::Null),
        ("/op", json!("dance")),
        ("/about", Value::Null),
        ("/about", json!("")),
        ("/cases", Value::Null),
        ("/cases", json!([])),
        ("/comment", json!("x")),
        ("/cases/0/name", Value::Null),
        ("/cases/0/name", json!("A_b")),
        ("/cases/0/why", Value::Null),
        ("/cases/0/why", json!("")),
        ("/cases/0/clauses", Value::Null),
        ("/cases/0/clauses", json!([])),
        ("/cases/0/input", Value::Null),
        ("/cases/0/input", json!([])),
        ("/cases/0/expect", Value::Null),
        ("/cases/0/expect", json!({})),
        ("/cases/0/expect", json!({"ok": 1, "holds": ["well-formed"]})),
        ("/cases/0/expect", json!({"oneOf": [1]})),
        ("/cases/0/expect", json!({"holds": []})),
        ("/cases/0/expect", json!({"holds": ["x"]})),
        ("/cases/0/expect", json!({"reject": "x"})),
        ("/cases/0/expect", json!({"ok": 1, "message": "x"})),
        ("/cases/0/expect", json!({"is": 1})),
        ("/cases/0/level", json!("may")),
        ("/cases/0/profiles", json!(["other"])),
        ("/cases/0/profiles", json!([])),
        ("/cases/0/comment", json!("x")),
        ("/cases/0/severity", json!("C")),
        ("/cases/0/evidence", json!(["a/b#1"])),
    ] {
        let mut content = good();
        let (parent, member) = pointer.rsplit_once('/').expect("a pointer");
        let parent = content.pointer_mut(parent).and_then(Value::as_object_mut).expect("an object");
        match value.clone() {
            Value::Null => drop(parent.remove(member)),
            value => drop(parent.insert(member.to_owned(), value)),
        }
        assert_eq!(verdicts(&schema, "escape", &content), [false, false], "[schema, reader] on {pointer} = {value}");
    }
}

#[test]
fn the_schema_and_the_reader_agree_on_severity() {
    let schema = schema(&embedded_files());
    let with = |severity: Value, evidence: Value| {
        let mut case = json!({
            "name": "a-b", "why": "a reason", "clauses": ["AGENT-START"], "profiles": ["universal"],
            "input": {"messages": [], "model": []}, "expect": {"holds": ["agent-start"]},
        });
        case["severity"] = severity;
        case["evidence"] = evidence;
        // Null stands for an absent member.
        case.as_object_mut().expect("an object").retain(|_, value| !value.is_null());
        verdicts(&schema, "agent", &json!({"op": "tools", "about": "a topic", "cases": [case]}))
    };
    for severity in [json!("A"), json!("B"), json!("C")] {
        assert_eq!(with(severity.clone(), json!(["a/b#1"])), [true, true]);
        assert_eq!(with(severity.clone(), Value::Null), [severity == json!("C"); 2]);
    }
    for evidence in [
        "",
        "a/b",
        "a/b#0",
        "a/b#01",
        "a/b#1x",
        "a#1",
        "a/b/c#1",
        "a b/c#1",
        "http://a.b",
        "https://a",
        "https://a/b.c",
        "https://a.b/ c",
    ] {
        assert_eq!(with(json!("B"), json!([evidence])), [false, false], "{evidence}");
    }
    assert_eq!(with(json!("A"), json!(["https://a.example/b?c=d#e"])), [true, true]);
    assert_eq!(with(json!("A"), json!([])), [false, false]);
    assert_eq!(with(json!("A"), json!(["a/b#1", "a/b#1"])), [false, false]);
    assert_eq!(with(json!("D"), json!(["a/b#1"])), [false, false]);
    assert_eq!(with(Value::Null, json!(["a/b#1"])), [false, false]);
}

/// Asserts that a value satisfies a schema.
fn assert_satisfies(schema: &str, value: &Value, what: &str) {
    let schema: Value = serde_json::from_str(schema).expect("a schema is JSON");
    let validator = jsonschema::validator_for(&schema).expect("it is a schema");
    let errors: Vec<String> =
        validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{what}: {errors:#?}");
}

fn threadspec(folder: &Path, arguments: &[&str]) -> io::Result<Vec<u8>> {
    let program = env!("CARGO_BIN_EXE_threadspec-tested");
    Ok(Command::new(program).env_remove("CI").args(arguments).current_dir(folder).output()?.stdout)
}

#[test]
fn a_run_with_known_failures_satisfies_its_schema() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let known = ["--update-known-failures", "known.toml", "--reason", "old", "--report", "json=run.json"];
    let testee = ["--", env!("CARGO_BIN_EXE_threadspec-mutants"), "serve", "--bug", "tool-results-dropped"];
    let some = ["verify", "--filter", "messages/tool-results/*"];
    threadspec(folder.path(), &[&some[..], &known, &testee].concat())?;
    let run: Value = serde_json::from_str(&fs::read_to_string(folder.path().join("run.json"))?)?;
    assert!(run["summary"]["verdicts"]["known-failure"].as_u64().is_some_and(|known| known > 0), "{}", run["summary"]);
    assert_satisfies(threadspec_report::RUN_SCHEMA, &run, "the run");
    Ok(())
}

/// Each form of log is checked as it is, so that findings, and what is unread, of every kind are seen. `SOURCE.md` says where the schema of
/// SARIF is from.
#[test]
fn findings_satisfy_their_schemas() -> io::Result<()> {
    let forms = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../logs/tests/forms");
    let mut findings = 0;
    for form in fs::read_dir(&forms)? {
        let form = form?.path();
        if form.is_dir() {
            let said = threadspec(&forms, &["check", "--format", "json", &form.to_string_lossy()])?;
            let found: Value = serde_json::from_slice(&said)?;
            findings += found["findings"].as_array().map_or(0, Vec::len);
            assert_satisfies(threadspec_pages::findings::FINDINGS_SCHEMA, &found, &form.to_string_lossy());
            let said = threadspec(&forms, &["check", "--format", "sarif", &form.to_string_lossy(), "missing"])?;
            let sarif = include_str!("sarif/sarif-schema-2.1.0.json");
            assert_satisfies(sarif, &serde_json::from_slice(&said)?, &form.to_string_lossy());
        }
    }
    assert!(findings > 100, "{findings}");
    Ok(())
}

fn remove(from: &mut Value, member: &str) {
    from.as_object_mut().expect("an object").remove(member).expect("the member");
}

#[test]
fn the_schema_describes_the_rules() {
    let text = |name: &str| {
        let file = threadspec_golden::files().iter().find(|(path, _)| *path == name);
        serde_json::from_str::<Value>(file.expect("the file").1).expect("JSON")
    };
    let validator = jsonschema::validator_for(&text("provider-rules.schema.json")).expect("a schema");
    let rules = text("provider-rules.json");
    let errors: Vec<String> =
        validator.iter_errors(&rules).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert_eq!(errors, [""; 0]);
    for change in [
        |rule: &mut Value| rule["note"] = json!("x"),
        |rule: &mut Value| remove(rule, "answer"),
        |rule: &mut Value| rule["sure"] = json!("R9"),
        |rule: &mut Value| rule["applies"] = json!([{"moon": ["full"]}]),
        |rule: &mut Value| rule["answer"]["status"] = json!(200),
        |rule: &mut Value| remove(rule, "valid"),
    ] {
        let mut wrong = rules.clone();
        change(&mut wrong["rules"][0]);
        assert!(!validator.is_valid(&wrong), "{}", wrong["rules"][0]);
    }
}
