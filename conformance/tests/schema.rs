//! The JSON Schema of case files: the corpus satisfies it, and it refuses what reading a corpus refuses.

use jsonschema::Validator;
use serde_json::{Value, json};
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
