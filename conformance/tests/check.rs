//! `threadspec check` on files as people have them.

use crate::is_thorough;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::{fs, io};

const PROGRAM: &str = env!("CARGO_BIN_EXE_threadspec");

/// Exit code and everything that was printed.
fn threadspec(folder: &Path, arguments: &[&str]) -> io::Result<(i32, String)> {
    let output = Command::new(PROGRAM).args(arguments).current_dir(folder).output()?;
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    Ok((output.status.code().unwrap_or(-1), said))
}

fn check(folder: &Path, arguments: &[&str]) -> io::Result<(i32, String)> {
    threadspec(folder, &[&["check"], arguments].concat())
}

/// The same for one file.
fn check_one(name: &str, content: impl AsRef<[u8]>, options: &[&str]) -> io::Result<(i32, String)> {
    let folder = tempfile::tempdir()?;
    fs::write(folder.path().join(name), content)?;
    check(folder.path(), &[options, &[name]].concat())
}

fn call(id: &str, iteration: u64) -> String {
    format!(r#"{{"type":"tool_call","toolName":"t","toolCallId":"{id}","args":{{}},"iteration":{iteration}}}"#)
}

fn result(id: &str, iteration: u64) -> String {
    format!(r#"{{"type":"tool_result","toolCallId":"{id}","result":"r","iteration":{iteration}}}"#)
}

fn user(text: &str) -> String {
    format!(r#"{{"type":"message","role":"user","content":"{text}","iteration":0}}"#)
}

#[test]
fn all_faults_of_a_log_are_told_with_event_and_line() -> io::Result<()> {
    let lines =
        [&*user("Hi"), "nope", "", r#"{"type":"x"}"#, &user(r"a\ud83d\ud83d"), &result("z", 1), r#"{"iteration":"#];
    let (code, said) = check_one("log.jsonl", lines.join("\n"), &[])?;
    assert_eq!(code, 1, "{said}");
    for line in [
        "error event 1 (line 2): not readable as JSON",
        "error event 2 (line 4): type: unknown event type \"x\"",
        "warning event 3 (line 5): 2 half characters",
        "error event 5 (line 7): not readable as JSON",
        "6 events, of which 3 cannot be read: 3 errors, 2 warnings\n",
        "warning event 4 (line 6): a result for \"z\", but no open call has this id",
    ] {
        assert!(said.contains(line), "{line}\n{said}");
    }
    let array = format!("{{\"events\": [\n{},\n{{\"type\":\"x\"}},\n7,{}]}}", user("Hi"), user("b"));
    let (code, said) = check_one("log.json", array, &[])?;
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("event 1 (line 3): type: unknown"), "{said}");
    assert!(said.contains("event 2 (line 4): event: expected an object, found a number"), "{said}");
    assert!(said.contains("4 events, of which 2 cannot be read: 2 errors"), "{said}");
    Ok(())
}

#[test]
fn calls_made_together_are_no_matter_and_lost_results_are() -> io::Result<()> {
    let parallel =
        [user("Hi"), call("a", 1), call("b", 1), result("b", 1), result("a", 1), call("a", 2), result("a", 2)];
    for profile in ["literal", "hardened"] {
        let (code, said) = check_one("log.jsonl", parallel.join("\n"), &["--profile", profile])?;
        assert_eq!(code, 0, "{said}");
        assert!(said.ends_with("7 events: 0 errors, 0 warnings\n"), "{said}");
    }
    let lost = [call("a", 1), user("Hi"), result("a", 1), call("b", 2), result("b", 2), result("b", 2), call("c", 3)];
    let (code, said) = check_one("log.jsonl", lost.join("\n"), &[])?;
    assert_eq!(code, 0, "{said}");
    for line in [
        "warning event 0 (line 1): the call \"a\" has no result before event 1 (line 2): ",
        "warning event 2 (line 3): a result for \"a\", but no open call has this id: ",
        "warning event 5 (line 6): the call \"b\" has a result already: ",
        "warning event 6 (line 7): the call \"c\" has no result before the log ends: ",
    ] {
        assert!(said.contains(line), "{line}\n{said}");
    }
    assert_eq!(check_one("log.jsonl", lost.join("\n"), &["--strict"])?.0, 1);
    Ok(())
}

#[test]
fn a_history_names_arguments_that_are_no_json() -> io::Result<()> {
    let messages = r#"[{"role": "user", "content": "Hi"},
        {"role": "assistant", "content": null, "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "t", "arguments": "{\"cut\":"}},
            {"id": "b", "type": "function", "function": {"name": "t", "arguments": "[1]"}}]},
        {"role": "tool", "tool_call_id": "b", "content": "B"},
        {"role": "tool", "tool_call_id": "a", "content": "A"},
        {"role": "user", "content": null}]"#;
    let (code, said) = check_one("messages.json", messages, &[])?;
    assert_eq!(code, 1, "{said}");
    for line in ["(OAI-CHAT-ARGS-JSON at messages[1].tool_calls[0]", "(OAI-CHAT-ARGS-JSON at messages[1].tool_calls[1]"]
    {
        assert!(said.contains(line), "{line}\n{said}");
    }
    assert!(said.contains("message 5: ") && said.contains("(OAI-CHAT-CONTENT-NULL at messages[4].content)"), "{said}");
    Ok(())
}

#[test]
fn all_faults_of_a_document_are_told_with_their_lines() -> io::Result<()> {
    let document = "\n<thread>\n  <event type=\"human\" id=\"0\" iteration=\"0\">it's\n\u{7} \u{1b}&#38;</event>\n \
                    <event type=\"ai\" id=\"2\" iteration=\"01\">\"</event>\n</thread>\nI will";
    let (code, said) = check_one("document.xml", document, &[])?;
    assert_eq!(code, 1, "{said}");
    for line in [
        "error line 4: well-formed: column 1: U+0007",
        "error line 4: well-formed: column 3: U+001B",
        "error event 1 (line 5): well-shaped: id=\"2\"",
        "error event 1 (line 5): well-shaped: not `  <event",
        "error line 3: well-escaped: \"'\" raw in a text",
        "error line 4: well-escaped: `&#38;` in a text",
        "error line 5: well-escaped: \"\\\"\" raw in a text",
        "warning line 6: 7 characters of response prefix behind the document",
        "2 events: 7 errors, 1 warning\n",
    ] {
        assert!(said.contains(line), "{line}\n{said}");
    }
    Ok(())
}

#[test]
fn one_unreadable_file_hides_no_other() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let at = folder.path();
    fs::write(at.join("good.json"), format!("[{}]", user("Hi")))?;
    fs::write(at.join("bad.json"), r#"[{"type": "x", "iteration": 0}]"#)?;
    fs::create_dir(at.join("folder"))?;
    let (code, said) = check(at, &["missing.json", "folder", "good.json", "bad.json"])?;
    assert_eq!(code, 2, "{said}");
    for line in ["missing.json: ", "folder: a folder", "good.json: an event log", "bad.json: an event log"] {
        assert!(said.contains(line), "{line}\n{said}");
    }
    assert!(said.contains("4 files, 1 at fault, 2 not judged\n"), "{said}");
    assert_eq!(check(at, &["good.json", "bad.json"])?.0, 1);
    assert_eq!(check(at, &["folder"])?.0, 2);
    Ok(())
}

#[test]
fn other_encodings_have_a_message_of_their_own() -> io::Result<()> {
    for text in ["[]", "\u{feff}[]", "<thread>\n</thread>", "\u{feff}<thread>\n</thread>"] {
        let units = |of: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(of).collect::<Vec<u8>>();
        for (bytes, encoding) in [(units(u16::to_le_bytes), "little-endian"), (units(u16::to_be_bytes), "big-endian")] {
            let folder = tempfile::tempdir()?;
            fs::write(folder.path().join("log"), bytes)?;
            for (command, exit, before) in [("check", 2, "error "), ("serialize", 1, "log: "), ("messages", 1, "log: ")]
            {
                let (code, said) = threadspec(folder.path(), &[command, "log"])?;
                assert_eq!(code, exit, "{said}");
                let message = format!("{before}it is UTF-16 ({encoding}); convert it to UTF-8 first");
                assert!(said.contains(&message), "{command}: {said}");
            }
        }
    }
    let (code, said) = check_one("document.xml", "\u{feff}<thread>\n</thread>", &[])?;
    assert_eq!((code, said.contains("error line 1: a byte order mark")), (1, true), "{said}");
    let (code, said) = check_one("log.json", format!("\u{feff}[{}]", user("Hi")), &[])?;
    assert_eq!(code, 0, "{said}");
    let (code, said) =
        check_one("log.jsonl", [user("Hi").as_bytes(), b"\n\xff\n", user("b").as_bytes()].concat(), &[])?;
    assert_eq!((code, said.contains("error event 1 (line 2): not UTF-8")), (1, true), "{said}");
    Ok(())
}

#[cfg(unix)]
#[test]
fn what_may_never_end_is_refused_and_names_are_any_bytes() -> io::Result<()> {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let folder = tempfile::tempdir()?;
    let at = folder.path();
    std::os::unix::fs::symlink("b", at.join("a"))?;
    std::os::unix::fs::symlink("a", at.join("b"))?;
    assert!(Command::new("mkfifo").arg(at.join("pipe")).status()?.success());
    for name in ["pipe", "a", "/dev/zero", "."] {
        for command in ["check", "serialize", "messages", "judge", "diff"] {
            let mut arguments = vec![command, name];
            arguments.extend((command == "diff").then_some(name));
            let (code, said) = threadspec(at, &arguments)?;
            assert_eq!(code, 2, "{arguments:?}: {said}");
        }
    }
    let name = OsStr::from_bytes(b"n\xffme\x1b[31m\n.json");
    fs::write(at.join(name), format!("[{}]", user("Hi")))?;
    let output = Command::new(PROGRAM).arg("check").arg(name).current_dir(at).output()?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.starts_with("n\u{fffd}me␛[31m⏎.json: an event log"), "{said}");
    Ok(())
}

#[test]
fn stdin_is_read_like_a_file() -> io::Result<()> {
    let mut child = Command::new(PROGRAM).args(["check", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    child.stdin.take().expect("stdin is piped").write_all(format!("{}\n{}", user("a"), user("b")).as_bytes())?;
    let output = child.wait_with_output()?;
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&output.stdout).ends_with("2 events: 0 errors, 0 warnings\n"));
    Ok(())
}

/// Work that grows with the square of a log would take minutes here, and memory that does would not suffice.
#[test]
fn a_long_log_takes_no_longer_per_event() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let mut log = String::new();
    let rounds = if is_thorough() { 100_000 } else { 10_000 };
    let events = 3 * rounds;
    for number in 0..rounds {
        let id = number.to_string();
        log.push_str(&[user("Hi"), call(&id, number), result(&id, number)].join("\n"));
        log.push('\n');
    }
    log.push_str("nope");
    let array = format!("[{}]", log.trim_end_matches("\nnope").replace('\n', ",\n"));
    fs::write(folder.path().join("log.json"), array)?;
    fs::write(folder.path().join("log.jsonl"), log)?;
    let (code, said) = check(folder.path(), &["log.jsonl"])?;
    assert_eq!(code, 1, "{said}");
    assert!(said.contains(&format!("error event {events} (line {}): not readable as JSON", events + 1)), "{said}");
    assert!(
        said.contains(&format!("{} events, of which 1 cannot be read: 1 error, 0 warnings\n", events + 1)),
        "{said}"
    );
    let (code, said) = check(folder.path(), &["log.json"])?;
    assert_eq!((code, said.ends_with(&format!("{events} events: 0 errors, 0 warnings\n"))), (0, true), "{said}");
    Ok(())
}

/// Real threads are not part of the project. `THREADSPEC_THREADS` names a folder of event logs, one `.json` file each.
#[test]
fn real_threads_have_no_faults() -> io::Result<()> {
    let folder = std::env::var("THREADSPEC_THREADS").unwrap_or_else(|_| "../../shared/data/threads".to_owned());
    let Ok(files) = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(&folder)) else {
        println!("skipped: no real threads in {folder}");
        return Ok(());
    };
    for file in files {
        let path = file?.path();
        for profile in ["literal", "hardened"] {
            let (code, said) = check(Path::new("."), &["--profile", profile, &path.to_string_lossy()])?;
            assert_eq!(code, 0, "{said}");
            assert!(
                said.contains("passed: well-formed, well-shaped, well-escaped, no-forgery, round-trip, equivalent"),
                "{said}"
            );
        }
    }
    Ok(())
}
