//! `threadspec check --follow`, and Ctrl-C.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;
use std::time::Duration;

/// A check that goes on, and what it prints.
struct Going {
    process: Child,
    lines: io::Lines<BufReader<ChildStdout>>,
}

impl Going {
    fn start(folder: &Path, arguments: &[&str]) -> io::Result<Self> {
        let mut process = Command::new(env!("CARGO_BIN_EXE_threadspec"))
            .arg("check")
            .args(arguments)
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let lines = BufReader::new(process.stdout.take().expect("stdout is piped")).lines();
        Ok(Self { process, lines })
    }

    /// Reads until a line has this text in it.
    fn await_line(&mut self, text: &str) -> io::Result<String> {
        for line in self.lines.by_ref() {
            let line = line?;
            if line.contains(text) {
                return Ok(line);
            }
        }
        Err(io::Error::other(format!("it ended before it said {text:?}")))
    }

    /// Interrupts it, as soon as it listens to that; its exit code, and what it still said.
    fn interrupt(mut self) -> io::Result<(Option<i32>, String)> {
        let status = format!("/proc/{}/status", self.process.id());
        let catches = |line: &str| {
            let signals = line.strip_prefix("SigCgt:").map(|mask| u64::from_str_radix(mask.trim(), 16));
            matches!(signals, Some(Ok(mask)) if mask >> (Signal::SIGINT as u32 - 1) & 1 == 1)
        };
        while !fs::read_to_string(&status)?.lines().any(catches) {
            thread::sleep(Duration::from_millis(5));
        }
        kill(Pid::from_raw(self.process.id().cast_signed()), Signal::SIGINT)?;
        let mut rest = String::new();
        for line in self.lines.by_ref() {
            rest += &line?;
            rest.push('\n');
        }
        Ok((self.process.wait()?.code(), rest))
    }
}

fn append(path: &Path, text: &str) -> io::Result<()> {
    File::options().create(true).append(true).open(path)?.write_all(text.as_bytes())
}

/// A request with the result of a call that was never made.
fn faulty(id: &str) -> String {
    format!(
        r#"{{"model": "gpt-4.1", "messages": [{{"role": "user", "content": "{id}"}}, {{"role": "tool", "tool_call_id": "{id}", "content": "r"}}]}}"#
    )
}

#[test]
fn a_log_is_judged_while_it_grows() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let log = folder.path().join("log.jsonl");
    let mut going = Going::start(folder.path(), &["--follow", "log.jsonl"])?;
    append(&log, &(faulty("first") + "\n"))?;
    assert!(going.await_line("\"first\"")?.contains("request 1 (line 1)"));
    // What is only begun is no fault yet.
    let second = faulty("second");
    let (head, tail) = second.split_at(40);
    append(&log, head)?;
    append(&log, &format!("{tail}\n"))?;
    assert!(going.await_line("\"second\"")?.contains("request 2 (line 2)"));
    fs::write(&log, faulty("third") + "\n")?;
    assert!(going.await_line("\"third\"")?.contains("beginning 2, request 3 (line 1)"));
    fs::rename(&log, folder.path().join("log.1"))?;
    append(&log, &(faulty("fourth") + "\n"))?;
    assert!(going.await_line("\"fourth\"")?.contains("beginning 3, request 4 (line 1)"));
    append(&log, "{\"model\"")?;
    let (code, rest) = going.interrupt()?;
    assert_eq!(code, Some(130), "{rest}");
    assert!(rest.contains("4 requests (openai-chat): 4 errors, 0 warnings\ninterrupted\n"), "{rest}");
    Ok(())
}

#[test]
fn a_form_that_is_told_as_a_whole_is_told_at_the_interrupt() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let going = Going::start(folder.path(), &["--follow", "--format", "json", "log.jsonl"])?;
    append(&folder.path().join("log.jsonl"), &(faulty("first") + "\n"))?;
    let (code, said) = going.interrupt()?;
    let found: serde_json::Value = serde_json::from_str(&said)?;
    assert_eq!((code, found["exitCode"].as_i64(), found["errors"].as_i64()), (Some(130), Some(130), Some(1)), "{said}");
    Ok(())
}

#[test]
fn an_interrupt_ends_the_wait_for_a_file_and_for_stdin() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    for arguments in [&["--follow", "log.jsonl"][..], &["-"]] {
        // Its stdin stays open.
        let (code, rest) = Going::start(folder.path(), arguments)?.interrupt()?;
        assert_eq!((code, &*rest), (Some(130), "interrupted\n"));
    }
    Ok(())
}
