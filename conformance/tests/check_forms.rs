//! The forms in which `threadspec check` tells what it found, its exit codes, and what a program or a CI system makes of them.

use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Output};
use std::{fs, io};

fn run(folder: &Path, arguments: &[&str]) -> io::Result<Output> {
    Command::new(env!("CARGO_BIN_EXE_threadspec")).arg("check").args(arguments).current_dir(folder).output()
}

/// Exit code and what was printed on stdout.
fn check(folder: &Path, arguments: &[&str]) -> io::Result<(i32, String)> {
    let output = run(folder, arguments)?;
    Ok((output.status.code().unwrap_or(-1), String::from_utf8_lossy(&output.stdout).into_owned()))
}

fn findings(folder: &Path, arguments: &[&str]) -> io::Result<Value> {
    let (code, said) = check(folder, &[&["--format", "json"], arguments].concat())?;
    let found: Value = serde_json::from_str(&said)?;
    assert_eq!(found["exitCode"], code, "{said}");
    Ok(found)
}

fn chat(messages: &Value) -> String {
    json!({"model": "gpt-4.1", "messages": messages}).to_string()
}

fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

/// The result of a call that was never made.
fn orphan(id: &str) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": "r"})
}

fn call(id: &str, arguments: &str) -> Value {
    json!({"role": "assistant", "content": null, "tool_calls": [
        {"id": id, "type": "function", "function": {"name": "t", "arguments": arguments}}]})
}

/// A folder with a clean file, one with an error, one with a warning, and one in which nothing is recognized.
fn logs() -> io::Result<tempfile::TempDir> {
    let folder = tempfile::tempdir()?;
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text);
    write("clean.jsonl", &chat(&json!([user("Hi")])))?;
    write(
        "error.jsonl",
        &format!("{}\n{}\n", chat(&json!([user("Hi")])), chat(&json!([user("Yes?"), orphan("a%\n::b")]))),
    )?;
    write("warning.jsonl", &chat(&json!([user("Hi"), call("a", "{\"cut\":"), orphan("a")])))?;
    write("nothing.json", "{\"name\": \"a package\"}")?;
    Ok(folder)
}

#[test]
fn exit_codes_are_those_of_the_worst_file() -> io::Result<()> {
    let folder = logs()?;
    for (arguments, code) in [
        (&["clean.jsonl"][..], 0),
        (&["warning.jsonl"], 0),
        (&["--strict", "warning.jsonl"], 1),
        (&["error.jsonl"], 1),
        (&["clean.jsonl", "error.jsonl", "warning.jsonl"], 1),
        (&["nothing.json"], 2),
        (&["missing.jsonl"], 2),
        (&["error.jsonl", "nothing.json"], 2),
        (&["error.jsonl", "missing.jsonl"], 2),
        (&["no*such"], 2),
        (&[], 2),
        (&["--format", "xml", "clean.jsonl"], 2),
        (&["--api", "openai", "clean.jsonl"], 2),
        (&["--follow", "clean.jsonl", "error.jsonl"], 2),
        (&["--follow", "."], 2),
    ] {
        for form in ["text", "json", "sarif", "github", "junit"] {
            let output = run(folder.path(), &[&["--format", form], arguments].concat())?;
            assert_eq!(output.status.code(), Some(code), "{form} {arguments:?}: {output:?}");
        }
    }
    Ok(())
}

#[test]
fn whoever_names_an_api_as_the_form_is_told_its_option() -> io::Result<()> {
    let folder = logs()?;
    for api in ["openai-chat", "openai-responses", "anthropic"] {
        let output = run(folder.path(), &["--format", api, "clean.jsonl"])?;
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert_eq!(said.matches(&format!("name the API with `--api {api}`")).count(), 1, "{said}");
    }
    Ok(())
}

#[test]
fn folders_and_patterns_are_read_and_each_file_once() -> io::Result<()> {
    let folder = logs()?;
    fs::remove_file(folder.path().join("nothing.json"))?;
    fs::create_dir_all(folder.path().join("deep/er"))?;
    fs::write(folder.path().join("deep/er/more.jsonl"), chat(&json!([user("Hi")])))?;
    for (arguments, files) in [(&["."][..], 4), (&["*.jsonl"], 3), (&["**/m*.jsonl", "deep", "."], 4)] {
        let found = findings(folder.path(), arguments)?;
        assert_eq!(found["files"].as_array().map(Vec::len), Some(files), "{found:#}");
        let at_fault: Vec<&Value> = found["findings"].as_array().expect("a list").iter().collect();
        assert_eq!((at_fault.len(), &found["errors"], &found["warnings"]), (2, &json!(1), &json!(1)), "{found:#}");
    }
    Ok(())
}

/// Files that cannot be read to their end, or not at all, each broken in another way, and whether nothing of them is known.
fn broken(folder: &Path) -> io::Result<Vec<(&'static str, Vec<u8>, bool)>> {
    let request = chat(&json!([user("Hi")])).into_bytes();
    let database = fs::read(folder.join("agno-sqlite/clean.sqlite"))?;
    let tar = [vec![b'a'; 257], b"ustar".to_vec(), vec![0; 762]].concat();
    Ok(vec![
        ("broken.jsonl", [&request, &b"\n{\"model\":\n"[..]].concat(), false),
        ("bytes.jsonl", [&request[..request.len() - 5], b"\xff", &request[request.len() - 5..]].concat(), false),
        ("cut.json.gz", b"\x1f\x8b\x08\0\0\0\0\0\0\x03\xab".to_vec(), true),
        ("cut.jsonl", request[..30].to_vec(), true),
        ("cut.sqlite", database[..4096].to_vec(), true),
        ("cut.yaml", b"interactions:\n- request:\n    body: \"x\n".to_vec(), true),
        ("deep.json", vec![b'['; 5000], true),
        ("empty.json", Vec::new(), true),
        ("noise.bin", (0..=u8::MAX).rev().map(|number| number ^ (number >> 1)).collect(), true),
        ("one.tar", tar, true),
        ("utf16.json", b"\xff\xfe{\0}\0".to_vec(), true),
    ])
}

#[test]
fn one_file_of_each_form_and_each_fault_end_with_one_summary() -> io::Result<()> {
    let forms = Path::new(env!("CARGO_MANIFEST_DIR")).join("logs/tests/forms");
    let folder = tempfile::tempdir()?;
    let mut sound = 0;
    for form in fs::read_dir(&forms)? {
        let form = form?;
        let files = fs::read_dir(form.path()).into_iter().flatten().flatten();
        let clean =
            files.filter(|file| file.file_name().to_string_lossy().starts_with("clean")).min_by_key(fs::DirEntry::path);
        if let Some(clean) = clean.filter(|clean| clean.path().is_file()) {
            let name = format!("{}-{}", form.file_name().to_string_lossy(), clean.file_name().to_string_lossy());
            fs::copy(clean.path(), folder.path().join(name))?;
            sound += 1;
        }
    }
    let found = findings(folder.path(), &["."])?;
    assert!(sound > 50, "{sound}");
    assert_eq!((&found["exitCode"], found["files"].as_array().map(Vec::len)), (&json!(0), Some(sound)), "{found:#}");

    let broken = broken(&forms)?;
    for (name, bytes, _) in &broken {
        fs::write(folder.path().join(name), bytes)?;
    }
    let found = findings(folder.path(), &["."])?;
    let files = found["files"].as_array().expect("a list");
    assert_eq!((&found["exitCode"], files.len()), (&json!(2), sound + broken.len()), "{found:#}");
    let unknown = files.iter().filter(|file| file["recognized"] == json!([])).count();
    assert_eq!(unknown, broken.iter().filter(|(_, _, is_unknown)| *is_unknown).count(), "{found:#}");
    let errors = files.iter().filter(|file| file["errors"] != 0).map(|file| &file["file"]).collect::<Vec<_>>();
    assert!(
        errors
            .iter()
            .all(|file| broken.iter().any(|(name, ..)| file.as_str().is_some_and(|file| file.ends_with(name)))),
        "{errors:?}"
    );
    Ok(())
}

#[test]
fn a_finding_as_json_says_what_where_and_what_to_do() -> io::Result<()> {
    let folder = logs()?;
    let found = findings(folder.path(), &["error.jsonl", "nothing.json"])?;
    let finding = &found["findings"][0];
    for (member, value) in [
        ("file", json!("error.jsonl")),
        ("rule", json!("OAI-CHAT-ORPHAN")),
        ("level", json!("error")),
        ("line", json!(2)),
        ("request", json!(2)),
        ("element", json!("message 2")),
    ] {
        assert_eq!(finding[member], value, "{finding:#}");
    }
    assert!(finding["text"].as_str().is_some_and(|text| text.contains("a%")), "{finding:#}");
    assert!(finding["advice"].as_str().is_some_and(|advice| advice.ends_with('.')), "{finding:#}");
    assert_eq!(found["files"][0]["judged"]["request"], 2, "{found:#}");
    assert_eq!(found["files"][1]["recognized"], json!([]), "{found:#}");
    assert!(found["files"][1]["unread"].is_string(), "{found:#}");
    Ok(())
}

#[test]
fn sarif_names_each_file_rule_and_place() -> io::Result<()> {
    let folder = logs()?;
    fs::write(folder.path().join("a b#{}.jsonl"), chat(&json!([user("Hi"), orphan("{0} [a](http://b)")])))?;
    let (code, said) = check(folder.path(), &["--format", "sarif", ".", "missing"])?;
    let sarif: Value = serde_json::from_str(&said)?;
    assert_eq!(code, 2);
    let run = &sarif["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().expect("rules");
    for result in run["results"].as_array().expect("results") {
        let index = usize::try_from(result["ruleIndex"].as_u64().expect("a number")).expect("a small number");
        assert_eq!(rules[index]["id"], result["ruleId"]);
        let place = &result["locations"][0]["physicalLocation"];
        assert!(
            place["region"]["startLine"].is_u64() || place["artifactLocation"]["uri"] == "nothing.json",
            "{result:#}"
        );
    }
    for rule in rules {
        let help = rule["help"]["text"].as_str().expect("a text");
        assert!(help.len() > 60 && help.contains("threadspec explain"), "{rule:#}");
    }
    let of = |uri: &str| {
        let results = run["results"].as_array().into_iter().flatten();
        results
            .filter(|result| result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == uri)
            .collect::<Vec<_>>()
    };
    assert_eq!(of("error.jsonl").len(), 1, "{said}");
    let odd = of("a%20b%23%7B%7D.jsonl");
    let message = odd[0]["message"]["text"].as_str().expect("a text");
    assert!(message.contains("{{0}} [a] (http://b)"), "{message}");
    let unread = run["invocations"][0]["toolExecutionNotifications"].as_array().map(Vec::len);
    assert_eq!((unread, &run["invocations"][0]["executionSuccessful"]), (Some(2), &json!(false)), "{said}");
    Ok(())
}

#[test]
fn what_a_log_says_is_no_command_to_the_runner_of_github() -> io::Result<()> {
    let folder = logs()?;
    let odd = "dir,a:b/x%.jsonl";
    fs::create_dir(folder.path().join("dir,a:b"))?;
    fs::write(folder.path().join(odd), chat(&json!([user("Hi"), orphan("\r\n::error::forged\n##[error]")])))?;
    let (code, said) =
        check(folder.path(), &["--format", "github", "error.jsonl", "warning.jsonl", odd, "::no\nsuch"])?;
    assert_eq!(code, 2);
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), 4, "{said}");
    assert!(lines.iter().all(|line| line.starts_with("::error ") || line.starts_with("::warning ")), "{said}");
    for (line, beginning) in [
        (0, "::error file=error.jsonl,line=2,title=threadspec OAI-CHAT-ORPHAN::request 2 (line 2), message 2: "),
        (1, "::warning file=warning.jsonl,line=1,title=threadspec OAI-CHAT-ARGS-JSON::request 1 (line 1), message 2: "),
        (2, "::error file=dir%2Ca%3Ab/x%25.jsonl,line=1,title="),
        (3, "::error file=%3A%3Ano⏎such::"),
    ] {
        assert!(lines[line].starts_with(beginning), "{beginning}\n{said}");
    }
    // Files are named from the root of the checkout on.
    let output = Command::new(env!("CARGO_BIN_EXE_threadspec"))
        .args(["check", "--format", "github", "x%.jsonl"])
        .current_dir(folder.path().join("dir,a:b").canonicalize()?)
        .env("GITHUB_WORKSPACE", folder.path().canonicalize()?)
        .output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.starts_with("::error file=dir%2Ca%3Ab/x%25.jsonl,line=1"), "{said}");
    Ok(())
}

#[test]
fn junit_has_a_suite_for_each_file() -> io::Result<()> {
    let folder = logs()?;
    fs::write(folder.path().join("odd.jsonl"), chat(&json!([user("Hi"), orphan("<&\"]]>\u{1}")])))?;
    let (_, said) = check(folder.path(), &["--format", "junit", "."])?;
    for part in [
        r#"<testsuite name="./clean.jsonl" tests="1" failures="0" errors="0" skipped="0">"#,
        r#"<testsuite name="./error.jsonl" tests="2" failures="1" errors="0" skipped="0">"#,
        r#"<error type="unread" message="nothing in it was recognized">"#,
        r#"<testsuite name="./warning.jsonl" tests="2" failures="0" errors="0" skipped="1">"#,
        r#"<testcase classname="OAI-CHAT-ORPHAN" name="request 2 (line 2), message 2">"#,
        "&lt;&amp;",
    ] {
        assert!(said.replace("&#x2f;", "/").contains(part), "{part}\n{said}");
    }
    assert!(!said.contains('\u{1}'), "{said}");
    let (_, said) = check(folder.path(), &["--format", "junit", "--strict", "warning.jsonl"])?;
    assert!(said.contains(r#"tests="2" failures="1" errors="0" skipped="0""#), "{said}");
    Ok(())
}

#[test]
fn text_has_colours_only_where_they_are_wanted_and_hides_no_character() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    fs::write(folder.path().join("log"), chat(&json!([user("Hi"), orphan("\u{1b}[31m\u{202e}")])))?;
    for (name, value, is_coloured) in [("NO_COLOR", "1", false), ("TERM", "dumb", false), ("CLICOLOR_FORCE", "1", true)]
    {
        let output = Command::new(env!("CARGO_BIN_EXE_threadspec"))
            .args(["check", "log"])
            .env_remove("NO_COLOR")
            .env(name, value)
            .current_dir(folder.path())
            .output()?;
        let said = String::from_utf8_lossy(&output.stdout);
        assert_eq!(said.contains('\u{1b}'), is_coloured, "{name}: {said:?}");
        assert!(!said.contains('\u{202e}') && said.contains("[31m"), "{said}");
        // In a pipe, a finding is a line and its advice another.
        assert!(
            said.lines().any(|line| line.contains("request 1 (line 1), message 2") && line.contains("OAI-CHAT-ORPHAN")),
            "{said}"
        );
    }
    Ok(())
}

/// What a finding is, wherever the rest of the log is.
fn without_place(found: &Value) -> Vec<String> {
    let findings = found["findings"].as_array().expect("a list").iter().cloned();
    let mut all: Vec<String> = findings
        .map(|mut finding| {
            for member in ["file", "line", "request"] {
                finding.as_object_mut().expect("an object").remove(member);
            }
            finding.to_string()
        })
        .collect();
    all.sort();
    all
}

#[test]
fn findings_of_parts_are_those_of_the_whole() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    // Conversations whose requests are between each other, each with a fault of its own, one with two.
    let conversation = |number: usize| {
        let task = format!("Task {number}");
        let id = format!("call_{number}");
        let result = json!({"role": "tool", "tool_call_id": id, "content": format!("result {number}")});
        let clean = vec![user(&task), call(&id, "{}"), result];
        let second = match number % 4 {
            0 => [clean.clone(), vec![user("More")]].concat(),
            1 => [
                clean.clone(),
                vec![call("b", "{\"cut\":"), json!({"role": "tool", "tool_call_id": "b", "content": "r"})],
            ]
            .concat(),
            2 => [clean.clone(), vec![orphan("z")]].concat(),
            _ => [clean.clone(), vec![call("b", "{\"cut\":"), orphan("b"), orphan("z")]].concat(),
        };
        [chat(&json!(clean)), chat(&json!(second))]
    };
    let all: Vec<[String; 2]> = (0..24).map(conversation).collect();
    let lines = |part: &[&[String; 2]]| {
        let of = |turn: usize| part.iter().map(move |requests| requests[turn].clone() + "\n");
        of(0).chain(of(1)).collect::<String>()
    };
    fs::write(folder.path().join("whole.jsonl"), lines(&all.iter().collect::<Vec<_>>()))?;
    let whole = findings(folder.path(), &["whole.jsonl"])?;
    assert_eq!((&whole["errors"], &whole["warnings"]), (&json!(12), &json!(12)), "{whole:#}");
    for parts in [2, 5, 24] {
        let mut together = Vec::new();
        for part in 0..parts {
            let name = format!("part-{part}.jsonl");
            let some: Vec<_> =
                all.iter().enumerate().filter(|(number, _)| number % parts == part).map(|(_, one)| one).collect();
            fs::write(folder.path().join(&name), lines(&some))?;
            together.extend(without_place(&findings(folder.path(), &[&name])?));
        }
        together.sort();
        assert_eq!(together, without_place(&whole), "{parts} parts");
    }
    // Of parts that are files, everything is that of the whole.
    let names: Vec<String> = (0..24).map(|part| format!("part-{part}.jsonl")).collect();
    let whole = findings(folder.path(), &names.iter().map(String::as_str).collect::<Vec<_>>())?;
    let (mut files, mut found) = (Vec::new(), Vec::new());
    for name in &names {
        let part = findings(folder.path(), &[name])?;
        files.extend(part["files"].as_array().cloned().unwrap_or_default());
        found.extend(part["findings"].as_array().cloned().unwrap_or_default());
    }
    files.sort_by_key(|file| file["file"].to_string());
    found.sort_by_key(|finding| (finding["file"].to_string(), finding["line"].as_u64()));
    assert_eq!((Value::from(files), Value::from(found)), (whole["files"].clone(), whole["findings"].clone()));
    Ok(())
}

#[test]
fn a_conversation_with_a_file_for_each_message_is_read_as_one() -> io::Result<()> {
    let strands = Path::new(env!("CARGO_MANIFEST_DIR")).join("logs/tests/forms/strands");
    let expected: Value = serde_json::from_slice(&fs::read(strands.join("expected.json"))?)?;
    for (log, planted) in expected.as_object().into_iter().flatten() {
        let found = findings(&strands, &[log])?;
        let told: Vec<&str> =
            found["findings"].as_array().into_iter().flatten().filter_map(|one| one["rule"].as_str()).collect();
        assert_eq!(
            (&found["exitCode"], told.len()),
            (&json!(1), planted["rules"].as_array().map_or(0, Vec::len)),
            "{log}: {found}"
        );
        assert!(told.iter().all(|rule| ["LOG-ANSWERED", "LOG-ORPHAN", "LOG-ONCE"].contains(rule)), "{log}: {told:?}");
    }
    let clean = findings(&strands, &["clean"])?;
    assert_eq!((&clean["exitCode"], &clean["findings"]), (&json!(0), &json!([])));
    // The place of the call is named, whichever file is at fault.
    let (_, said) = check(&strands, &["fault-unanswered"])?;
    assert!(said.contains("message_1.json, message 2: the call"), "{said}");

    // Another conversation in files of like names, and one that ends with a call.
    let folder = tempfile::tempdir()?;
    let write = |file: &str, number: usize, role: &str, content: Value| {
        let message = json!({"message": {"role": role, "content": [content]}, "message_id": number});
        fs::write(folder.path().join(file), message.to_string())
    };
    write("1.json", 0, "user", json!({"text": "Hi"}))?;
    write("2.json", 1, "assistant", json!({"toolUse": {"toolUseId": "a", "name": "t", "input": {}}}))?;
    write("3.json", 0, "user", json!({"text": "Hi"}))?;
    write("4.json", 1, "assistant", json!({"text": "Hi!"}))?;
    let found = findings(folder.path(), &["."])?;
    let levels: Vec<&Value> = found["findings"].as_array().into_iter().flatten().map(|one| &one["level"]).collect();
    assert_eq!(levels, ["note"], "{found}");
    Ok(())
}

#[test]
fn the_form_of_a_file_is_shown_and_can_be_given() -> io::Result<()> {
    let folder = logs()?;
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text);
    let call = |id: &str| json!({"did": {"ref_id": id, "tool": "ls", "args": {}}, "came": {"of_id": id, "output": "x"}, "at": 1});
    let lost = json!({"did": {"ref_id": "step-4", "tool": "ls", "args": {}}, "came": null, "at": 1});
    let steps = [call("step-1"), call("step-2"), call("step-3"), lost, call("step-5"), call("step-6")];
    write("own.jsonl", &steps.map(|step| step.to_string()).join("\n"))?;

    let (code, row) = check(folder.path(), &["--show-form", "own.jsonl"])?;
    assert_eq!(code, 0, "{row}");
    assert!(row.starts_with("# proposed") && row.contains("id = \"ref_id\""), "{row}");
    write("own.toml", &row)?;
    let found = findings(folder.path(), &["--form", "own.toml", "own.jsonl"])?;
    assert_eq!(found["files"][0]["recognized"], json!([{"form": "a log of my program", "records": 6}]));
    assert_eq!(found["findings"][0]["rule"], "LOG-ANSWERED", "{found}");

    let (code, row) = check(folder.path(), &["--show-form", "clean.jsonl"])?;
    assert_eq!((code, &*row), (0, "# requests: read by code, not by a row\n"));
    assert_eq!(check(folder.path(), &["--show-form", "nothing.json"])?, (2, String::new()));
    write("weak.toml", "[[form]]\nname = \"a log\"\nis = [{ a = \"?\" }]\n")?;
    let output = run(folder.path(), &["--form", "weak.toml", "own.jsonl"])?;
    let why = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(2) && why.contains("weak.toml: `is` of \"a log\" takes two members"), "{why}");
    Ok(())
}
