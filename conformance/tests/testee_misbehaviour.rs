//! Every way in which a testee can misbehave, with the verdict and the exit code that it must get.
//!
//! The test program is the testee too: called with `behave HOW` it speaks the protocol, and breaks it as told.

use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::{Value, json};
use std::io::{BufRead, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, ExitCode, Output, exit};
use std::time::{Duration, Instant};
use std::{env, fs, io, thread};

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["behave", how] => behave(how, ""),
        ["behave", how, detail] => behave(how, detail),
        _ => return libtest_mimic::run(&Arguments::from_args(), trials()).exit_code(),
    }
    ExitCode::SUCCESS
}

// ---- the testee ----

fn behave(how: &str, detail: &str) {
    match how {
        "die-at-once" => die("no more memory", 7),
        "banner" => say("Listening on stdio"),
        "flood-stderr" => flood(io::stderr()),
        "say-nothing" => sleep_forever(),
        "interrupt-at-once" => interrupt_the_runner(),
        "hold-on" => return hold_on(detail),
        "ignore-stdin" => {
            say(&json!({"id": 0, "ok": hello()}).to_string());
            sleep_forever();
        }
        _ => {}
    }
    for line in io::stdin().lock().lines() {
        let request: Value = serde_json::from_str(&line.expect("a line")).expect("a request");
        let id = &request["id"];
        if request["op"] == "hello" {
            say(&json!({"id": id, "ok": greeting(how)}).to_string());
            if how == "grandchild" {
                spawn_grandchild(detail);
            }
            continue;
        }
        let text = request["input"]["text"].as_str().unwrap_or_default();
        let good = json!({"id": id, "ok": text}).to_string();
        // Faults on `one` or `three` only show that the cases around them are judged on their own.
        match (how, text) {
            ("always-empty", _) => say(&json!({"id": id, "ok": ""}).to_string()),
            ("crash", _) | ("crash-on-one", "one") => die("segmentation fault, in words", 9),
            ("hang", _) => sleep_forever(),
            ("interrupt", _) => interrupt_the_runner(),
            ("not-json", "one") => say("DEBUG one"),
            ("not-utf-8", "one") => say_bytes(b"{\"id\":1,\"ok\":\"\xff\"}\n"),
            ("wrong-id", "one") => say(&json!({"id": 4711, "ok": text}).to_string()),
            ("two-answers", "one") => say(&json!({"id": id, "ok": text, "unsupported": "no"}).to_string()),
            ("late", "one") => {
                thread::sleep(Duration::from_millis(1500));
                say(&good);
            }
            ("reply-twice", "one") | ("reply-twice-at-the-end", "three") => {
                say(&good);
                say(&good);
            }
            ("endless-line", "one") => flood(io::stdout()),
            ("reject", "one") => {
                say(&json!({"id": id, "reject": {"kind": "invalid-input", "message": "no"}}).to_string());
            }
            ("unsupported", "one") => say(&json!({"id": id, "unsupported": "not one"}).to_string()),
            ("close-stdout", _) => exit(0),
            _ => say(&good),
        }
    }
    match how {
        "stay" => sleep_forever(),
        "end-badly" => die("could not save", 5),
        "last-word" => say("goodbye"),
        _ => {}
    }
}

fn hello() -> Value {
    json!({
        "protocol": 1,
        "implementation": {"name": "misbehaving", "version": "1", "language": "Rust"},
        "ops": ["escape"],
        "profiles": ["literal"],
    })
}

fn greeting(how: &str) -> Value {
    let mut hello = hello();
    match how {
        "newer-protocol" => hello["protocol"] = json!(2),
        "no-profiles" => hello["profiles"] = json!([]),
        "no-ops" => hello["ops"] = Value::Null,
        "no-name" => hello["implementation"] = json!({}),
        "other-op" => hello["ops"] = json!(["escape", "seralize"]),
        "other-ops" => hello["ops"] = json!(["serialize", "loop"]),
        _ => {}
    }
    hello
}

fn say(line: &str) {
    say_bytes(format!("{line}\n").as_bytes());
}

fn say_bytes(bytes: &[u8]) {
    let _ = io::stdout().write_all(bytes).and_then(|()| io::stdout().flush());
}

fn die(words: &str, code: i32) {
    eprintln!("{words}");
    exit(code);
}

fn flood(mut pipe: impl Write) {
    let chunk = vec![b'x'; 1 << 20];
    for _ in 0..80 {
        if pipe.write_all(&chunk).is_err() {
            return;
        }
    }
    let _ = pipe.flush();
}

fn sleep_forever() {
    thread::sleep(Duration::from_secs(60));
}

/// What Ctrl-C does, at a moment that needs no waiting for.
fn interrupt_the_runner() {
    #[cfg(unix)]
    Command::new("kill").arg("-INT").arg(std::os::unix::process::parent_id().to_string()).status().expect("kill");
    sleep_forever();
}

#[expect(clippy::zombie_processes, reason = "a child that nobody waits for is the misbehaviour")]
fn spawn_grandchild(address: &str) {
    let program = env::current_exe().expect("a path");
    Command::new(program).args(["behave", "hold-on", address]).spawn().expect("a grandchild");
}

/// Keeps a connection open for as long as this process lives.
fn hold_on(address: &str) {
    let mut connection = TcpStream::connect(address).expect("a connection");
    let _ = connection.write_all(b"!");
    sleep_forever();
}

// ---- the tests ----

fn trials() -> Vec<Trial> {
    let table: &[(&str, &[&str], i32, &[&str])] = &[
        // behaviour, options, exit code, what the runner says
        ("well-behaved", &[], 0, &["3 run / 3 applicable / 3 total", "pass 3", "conformant: 3 of 3 cases"]),
        ("flood-stderr", &[], 0, &["pass 3"]),
        ("say-nothing", &["--timeout", "1"], 3, &["did not answer `hello` within 1s"]),
        ("die-at-once", &[], 3, &["before its hello", "7", "no more memory"]),
        ("banner", &[], 3, &["`Listening on stdio` instead of a hello"]),
        ("newer-protocol", &[], 3, &["its `protocol` is 2"]),
        ("no-profiles", &[], 3, &["`profiles`"]),
        ("no-ops", &[], 3, &["`ops`"]),
        ("no-name", &[], 3, &["`implementation.name`"]),
        ("well-behaved", &["--profile", "hardened"], 2, &["does not declare the profile hardened"]),
        ("well-behaved", &["--filter", "escape/*/four"], 2, &["`escape/*/four` matches no case"]),
        ("other-op", &[], 3, &["its `ops` names \"seralize\"", "did you mean `serialize`?"]),
        ("other-ops", &[], 1, &["0 run / 0 applicable / 3 total", "unsupported 3", "nothing was shown"]),
        ("well-behaved", &["--require-ops", "escape,loop"], 1, &["the op loop, which is required", "pass 3"]),
        ("unsupported", &["--max-unsupported", "1"], 0, &["2 run / 2 applicable / 3 total", "pass 2  unsupported 1"]),
        ("unsupported", &[], 1, &["pass 2  unsupported 1", "1 cases with `unsupported`", "--max-unsupported is 0"]),
        ("always-empty", &[], 1, &["FAIL escape/texts/one", "⟦one⟧", "ESC-3", "repeat: threadspec verify", "fail 3"]),
        ("always-empty", &["--quiet"], 1, &["FAIL escape/texts/three"]),
        ("always-empty", &["--fail-fast"], 1, &["fail 1  not-run 2", "first failure"]),
        ("reject", &[], 1, &["REJECTED escape/texts/one", "pass 2  rejected 1"]),
        ("crash-on-one", &[], 1, &["CRASH escape/texts/one", "9", "segmentation fault, in words", "pass 2  crash 1"]),
        ("close-stdout", &["--filter", "*/one"], 1, &["CRASH escape/texts/one", "0"]),
        ("hang", &["--timeout", "1", "--filter", "*/one"], 1, &["TIMEOUT escape/texts/one", "within 1s"]),
        ("late", &["--timeout", "1"], 1, &["TIMEOUT escape/texts/one", "pass 2  timeout 1"]),
        ("not-json", &[], 1, &["GARBAGE escape/texts/one", "`DEBUG one`", "pass 2  garbage 1"]),
        ("not-utf-8", &[], 1, &["GARBAGE escape/texts/one", "not UTF-8"]),
        ("wrong-id", &[], 1, &["GARBAGE escape/texts/one", "4711"]),
        ("two-answers", &[], 1, &["GARBAGE escape/texts/one", "exactly one of"]),
        ("reply-twice", &[], 1, &["GARBAGE escape/texts/one", "second reply", "pass 2  garbage 1"]),
        ("reply-twice-at-the-end", &[], 1, &["GARBAGE escape/texts/three", "second reply", "pass 2  garbage 1"]),
        ("endless-line", &[], 1, &["GARBAGE escape/texts/one", "endless line", "pass 2  garbage 1"]),
        ("stay", &["--timeout", "1"], 1, &["pass 3", "shutdown: it did not end within 1s"]),
        ("end-badly", &[], 1, &["pass 3", "shutdown: it ended with", "5", "could not save"]),
        ("interrupt-at-once", &[], 130, &["interrupted"]),
        ("interrupt", &[], 130, &["not-run 3", "stopped early: interrupted", "0 run / 3 applicable / 3 total"]),
        ("last-word", &[], 1, &["pass 3", "shutdown: it printed `goodbye`"]),
    ];
    let mut trials: Vec<Trial> = table
        .iter()
        .filter(|(how, ..)| cfg!(unix) || !how.starts_with("interrupt"))
        .map(|&(how, options, code, says)| {
            let name = [&[how], options].concat().join(" ");
            Trial::test(name, move || expect(&verify(&small_corpus()?, options, &testee(how, ""))?, code, says))
        })
        .collect();
    trials.extend([
        Trial::test("command not found", || {
            let output = verify(&small_corpus()?, &[], &["no-such-program".into()])?;
            expect(&output, 3, &["command not found: no-such-program"])
        }),
        Trial::test("a testee that does not read never blocks the judge", || {
            let corpus = corpus(&[("large", &"x".repeat(1 << 20))])?;
            expect(
                &verify(&corpus, &["--timeout", "1"], &testee("ignore-stdin", ""))?,
                1,
                &["TIMEOUT escape/texts/large"],
            )
        }),
        Trial::test("ten losses end the run", || {
            let names: Vec<String> = (0..12).map(|number| format!("case-{number}")).collect();
            let corpus = corpus(&names.iter().map(|name| (name.as_str(), "x")).collect::<Vec<_>>())?;
            let says = ["crash 10  not-run 2", "10 cases crashed", "10 run / 12 applicable"];
            expect(&verify(&corpus, &[], &testee("crash", ""))?, 1, &says)
        }),
        Trial::test("grandchildren do not outlive the run", grandchildren_do_not_outlive_the_run),
    ]);
    trials
}

fn small_corpus() -> io::Result<tempfile::TempDir> {
    corpus(&[("one", "one"), ("two", "two"), ("three", "three")])
}

/// A corpus of texts that come back as they are.
fn corpus(texts: &[(&str, &str)]) -> io::Result<tempfile::TempDir> {
    let folder = tempfile::tempdir()?;
    fs::create_dir(folder.path().join("escape"))?;
    let cases: Vec<Value> = texts
        .iter()
        .map(|(name, text)| {
            json!({"name": name, "why": "w", "clauses": ["ESC-3"], "input": {"text": text}, "expect": {"ok": text}})
        })
        .collect();
    let file = json!({"op": "escape", "about": "texts that come back as they are", "cases": cases});
    fs::write(folder.path().join("escape/texts.json"), file.to_string())?;
    Ok(folder)
}

fn testee(how: &str, detail: &str) -> Vec<String> {
    let program = env::current_exe().expect("a path").display().to_string();
    let words = [program.as_str(), "behave", how, detail];
    words.iter().filter(|word| !word.is_empty()).map(ToString::to_string).collect()
}

fn command(corpus: &Path, options: &[&str], testee: &[String]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_threadspec"));
    // In CI the order would be drawn.
    command.env_remove("CI").arg("verify").arg("--corpus").arg(corpus).args(options).arg("--").args(testee);
    command
}

fn verify(corpus: &tempfile::TempDir, options: &[&str], testee: &[String]) -> io::Result<Output> {
    command(corpus.path(), options, testee).output()
}

fn expect(output: &Output, code: i32, says: &[&str]) -> Result<(), Failed> {
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if output.status.code() != Some(code) {
        return Err(format!("{} instead of {code}:\n{said}", output.status).into());
    }
    if let Some(missing) = says.iter().find(|words| !said.contains(**words)) {
        return Err(format!("it does not say `{missing}`:\n{said}").into());
    }
    if said.contains('\u{1b}') {
        return Err(format!("control codes in a pipe:\n{said:?}").into());
    }
    Ok(())
}

fn grandchildren_do_not_outlive_the_run() -> Result<(), Failed> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?.to_string();
    let begun = Instant::now();
    let output = verify(&small_corpus()?, &[], &testee("grandchild", &address));
    expect(&output?, 0, &["pass 3"])?;
    if begun.elapsed() > Duration::from_secs(4) {
        return Err("the runner waited for the grandchild's hold on stdout".into());
    }
    let (mut connection, _) = listener.accept()?;
    connection.set_read_timeout(Some(Duration::from_secs(5)))?;
    let mut rest = Vec::new();
    // The connection ends, in order or not, when the process that holds it does; a timeout is the failure.
    match connection.read_to_end(&mut rest) {
        Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
            Err("the grandchild is still alive".into())
        }
        _ => Ok(()),
    }
}
