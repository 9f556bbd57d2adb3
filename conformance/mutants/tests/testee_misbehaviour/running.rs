//! Running the runner against a testee that misbehaves.

use super::{LONGEST, PROGRAM, TESTEE, TEXTS, TIMEOUT};
use libtest_mimic::Failed;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use std::{fs, io, thread};
use threadspec_golden::clause;

/// The memory that the runner may hold besides large texts, in KiB.
pub(crate) const SMALL: u64 = 60 << 10;
/// The same with a reply of several MiB, or with an endless line until the runner recognizes it as one.
const MOST_MEMORY: u64 = SMALL + (200 << 10);

/// What came of a run.
pub(crate) struct RunOutcome {
    pub(crate) code: i32,
    pub(crate) said: String,
    /// Its verdicts and notes; null if there was no run.
    pub(crate) report: Value,
    /// The most that it held, in KiB; 0 where that cannot be known.
    pub(crate) memory: u64,
}

impl RunOutcome {
    /// The small corpus against a misbehaviour.
    pub(crate) fn of(bug: &str, options: &[&str]) -> Result<Self, Failed> {
        Self::new(&small_corpus()?, bug, options)
    }

    pub(crate) fn new(corpus: &tempfile::TempDir, bug: &str, options: &[&str]) -> Result<Self, Failed> {
        let (begun, token) = (Instant::now(), token());
        let options = [&["--timeout", TIMEOUT], options].concat();
        let run = Self::watch(command(corpus.path(), &options, bug, &token), corpus.path())?;
        if begun.elapsed() > LONGEST {
            return Err(format!("it took {:?}", begun.elapsed()).into());
        }
        if run.memory > MOST_MEMORY {
            return Err(format!("it held {} KiB", run.memory).into());
        }
        if run.said.contains('\u{1b}') || run.said.contains('\r') {
            return Err(format!("control codes: {:?}", run.said).into());
        }
        if run.said.lines().any(|line| line.starts_with("conformant: forged")) {
            return Err(format!("a forged line: {}", run.said).into());
        }
        nobody_is_left(&token)?;
        Ok(run)
    }

    pub(crate) fn watch(mut command: Command, corpus: &Path) -> io::Result<Self> {
        let said = fs::File::create(corpus.join("said"))?;
        let mut runner = command.stdout(said.try_clone()?).stderr(said).spawn()?;
        let mut memory = 0;
        let status = loop {
            memory = held(runner.id()).max(memory);
            match runner.try_wait()? {
                Some(status) => break status,
                None => thread::sleep(Duration::from_millis(20)),
            }
        };
        let said = String::from_utf8_lossy(&fs::read(corpus.join("said"))?).into_owned();
        let report = fs::read_to_string(corpus.join("run.report")).unwrap_or_default();
        let report = serde_json::from_str(&report).unwrap_or_default();
        Ok(Self { code: status.code().unwrap_or(-1), said, report, memory })
    }

    pub(crate) fn expect(&self, code: i32, verdicts: &[String]) -> Result<(), Failed> {
        let cases = self.report["cases"].as_array().map(Vec::as_slice).unwrap_or_default();
        let actual: Vec<&str> = cases.iter().filter_map(|case| case["verdict"].as_str()).collect();
        if self.code == code && actual == *verdicts {
            return Ok(());
        }
        Err(format!("{code} and {verdicts:?} expected: {} and {actual:?}:\n{}", self.code, self.said).into())
    }

    pub(crate) fn note(&self, name: &str) -> &str {
        let cases = self.report["cases"].as_array().map(Vec::as_slice).unwrap_or_default();
        let id = format!("escape/texts/{name}");
        cases.iter().find(|case| case["id"] == id).and_then(|case| case["note"].as_str()).unwrap_or_default()
    }

    pub(crate) fn says(&self, words: &str) -> Result<(), Failed> {
        if self.said.contains(words) {
            Ok(())
        } else {
            Err(format!("it does not say `{words}`:\n{}", self.said).into())
        }
    }
}

/// The most memory that a process has held, in KiB.
fn held(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or_default()
}

pub(crate) fn small_corpus() -> io::Result<tempfile::TempDir> {
    corpus(&TEXTS.map(|text| (text, text)))
}

/// A corpus of texts that come back as they are.
pub(crate) fn corpus(texts: &[(&str, &str)]) -> io::Result<tempfile::TempDir> {
    let folder = tempfile::tempdir()?;
    fs::create_dir(folder.path().join("escape"))?;
    let cases: Vec<Value> = texts
        .iter()
        .map(|(name, text)| {
            json!({"name": name, "why": "w", "clauses": [clause::ESC_3], "input": {"text": text}, "expect": {"ok": text}})
        })
        .collect();
    let file = json!({"op": "escape", "about": "texts that come back as they are", "cases": cases});
    fs::write(folder.path().join("escape/texts.json"), file.to_string())?;
    Ok(folder)
}

/// A mark in the environment of the processes of a run.
pub(crate) fn token() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    format!("misbehaviour-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed))
}

pub(crate) fn command(corpus: &Path, options: &[&str], bug: &str, token: &str) -> Command {
    let mut command = verify(corpus, options);
    command.args(["--", TESTEE, "serve", "--bug", bug]).env("MISBEHAVIOUR", token);
    command
}

pub(crate) fn verify(corpus: &Path, options: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    command
        .arg("verify")
        .arg("--corpus")
        .arg(corpus)
        .arg("--report")
        .arg(format!("json={}", corpus.join("run.report").display()));
    // In CI the order would be random.
    command.args(options).env_remove("CI");
    command
}

/// Fails if a process with the token in its environment is left, as far as Linux shows environments.
pub(crate) fn nobody_is_left(token: &str) -> Result<(), Failed> {
    let is_one = |process: &Path| {
        let environment = fs::read(process.join("environ")).unwrap_or_default();
        environment.split(|&byte| byte == 0).any(|variable| variable.ends_with(token.as_bytes()))
    };
    let begun = Instant::now();
    loop {
        let Ok(processes) = fs::read_dir("/proc") else { return Ok(()) };
        let left: Vec<_> = processes.flatten().map(|entry| entry.path()).filter(|path| is_one(path)).collect();
        if left.is_empty() {
            return Ok(());
        }
        // A process that was killed may take a moment to be gone.
        if begun.elapsed() > LONGEST {
            return Err(format!("processes are left: {left:?}").into());
        }
        thread::sleep(Duration::from_millis(10));
    }
}
