//! However a run is made, its report is the same: one process or several, in any order, in one piece or in shards.

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use std::{fs, io};
use threadspec_golden::clause;
use threadspec_judge::corpus::{Case, embedded};
use threadspec_judge::protocol::{JudgeProfile, Op};

fn threadspec(folder: &Path, arguments: &[&str]) -> io::Result<(i32, String)> {
    let program = env!("CARGO_BIN_EXE_threadspec-tested");
    let output = Command::new(program).env_remove("CI").args(arguments).current_dir(folder).output()?;
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    Ok((output.status.code().unwrap_or(-1), said))
}

/// What a run file says, except when and how the run was made.
fn report(folder: &Path, name: &str) -> io::Result<Value> {
    let run: Value = serde_json::from_str(&fs::read_to_string(folder.join(name))?)?;
    Ok(json!([run["cases"], run["summary"], run["exitCode"], run["testee"], run["shutdown"]]))
}

fn verify(folder: &Path, options: &str, testee: &[&str]) -> io::Result<(i32, String)> {
    let words: Vec<&str> = options.split(' ').filter(|word| !word.is_empty()).collect();
    threadspec(
        folder,
        &[&["verify", "--quiet"], &words[..], &["--", env!("CARGO_BIN_EXE_threadspec-mutants"), "serve"], testee]
            .concat(),
    )
}

/// Options for every sixth topic without large cases, which take long.
fn topics() -> Vec<String> {
    let (corpus, problems) = embedded();
    assert!(problems.is_empty(), "{problems:?}");
    let topic = |case: &Case| case.id.rsplit_once('/').map(|(topic, _)| topic.to_owned()).expect("a topic");
    let all: BTreeSet<String> = corpus.cases.iter().filter(|case| !case.needs_provider()).map(topic).collect();
    let large: BTreeSet<String> = corpus.cases.iter().filter(|case| case.is_template).map(topic).collect();
    all.difference(&large).step_by(6).map(|topic| format!("--filter {topic}/*")).collect()
}

#[test]
fn processes_order_and_shards_change_no_report() -> io::Result<()> {
    let some = topics().join(" ");
    // No bug, one that shows in almost every operation, one that shows in the others, and one that costs processes.
    let testees = [
        ("--op escape", None),
        (&*some, Some("ampersand-escaped-last")),
        ("--filter tools/snapshots/* --filter loop/fresh-context/*", Some("requests-share-one-list")),
        ("--filter escape/five-characters/* --filter messages/context-mode/*", Some("dies@&amp;&amp;&amp;")),
    ];
    let operations_that_fail = |&(some, bug): &(&str, Option<&str>)| {
        let bug: Vec<&str> = bug.iter().flat_map(|bug| ["--bug", bug]).collect();
        let folder = tempfile::tempdir()?;
        let at = folder.path();
        let (code, _) = verify(at, &format!("{some} --report json=one.json"), &bug)?;
        let one = report(at, "one.json")?;
        let cases = one[0].as_array().into_iter().flatten();
        let failed = cases.filter(|case| case["counts"] == true).map(|case| case["op"].to_string()).collect();
        assert_eq!(code, i32::from(!bug.is_empty()), "{bug:?}");
        for (name, options) in [("jobs", "--jobs 4"), ("shuffled", "--shuffle 7"), ("both", "--jobs 3 --shuffle 8")] {
            let (actual, said) = verify(at, &format!("{some} {options} --report json={name}.json"), &bug)?;
            assert_eq!(actual, code, "{options}: {said}");
            assert!(one == report(at, &format!("{name}.json"))?, "{bug:?} {options}");
        }
        for number in 1..=3 {
            verify(at, &format!("{some} --shard {number}/3 --jobs 2 --report json=shard-{number}.json"), &bug)?;
        }
        let (actual, said) =
            threadspec(at, &["merge", "shard-3.json", "shard-1.json", "shard-2.json", "--report", "json=merged.json"])?;
        assert_eq!(actual, code, "{said}");
        assert!(one == report(at, "merged.json")?, "{bug:?} in shards");
        Ok(failed)
    };
    let failed: Vec<BTreeSet<String>> = testees.par_iter().map(operations_that_fail).collect::<io::Result<_>>()?;
    let failed: BTreeSet<String> = failed.into_iter().flatten().collect();
    assert_eq!(
        failed.len(),
        Op::of(JudgeProfile::Literal).count(),
        "operations without a failure: only {failed:?} have one"
    );
    Ok(())
}

#[test]
fn the_seed_that_ci_draws_is_printed_and_makes_the_same_run_again() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let at = folder.path();
    let program = env!("CARGO_BIN_EXE_threadspec-tested");
    let words = ["verify", "--quiet", "--filter", "escape/*", "--transcript", "t.jsonl", "--", program, "serve"];
    let output = Command::new(program).env("CI", "true").args(words).current_dir(at).output()?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let seed = said.split("--shuffle ").nth(1).and_then(|rest| rest.split_whitespace().next()).expect("a seed");
    let first = fs::read_to_string(at.join("t.jsonl"))?;
    verify(at, &format!("--filter escape/* --shuffle {seed} --transcript again.jsonl"), &[])?;
    let again = fs::read_to_string(at.join("again.jsonl"))?;
    assert_eq!(first.lines().skip(1).collect::<Vec<_>>(), again.lines().skip(1).collect::<Vec<_>>());
    assert_ne!(
        first.lines().nth(1),
        {
            verify(at, "--filter escape/* --transcript plain.jsonl", &[])?;
            fs::read_to_string(at.join("plain.jsonl"))?
        }
        .lines()
        .nth(1)
    );
    Ok(())
}

#[test]
fn what_is_asked_for_wrongly_is_said() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    for (arguments, says) in [
        (&["verify", "--"][..], "no command behind `--`"),
        (&["verify", "--", ""], "no command behind `--`"),
        (&["fuzz", "--", ""], "no command behind `--`"),
        (&["verify", "--transcript", "-"], "--transcript needs a file"),
        (&["verify", "--strict", "node", "a.mjs"], "threadspec verify --strict -- node a.mjs"),
        (&["verify", "--filter", "node", "node", "a b.mjs"], "threadspec verify --filter node -- node 'a b.mjs'"),
        (&["fuzz", env!("CARGO_BIN_EXE_threadspec-mutants"), "serve"], "threadspec fuzz -- "),
        (&["report", "r", "-o", "p", "--format", "htm"], "there is no report `htm`; the formats are json,"),
        (&["init", "cobol", "f"], "there is no template for `cobol`: write the adapter from the protocol"),
        (&["verify", "--shard", "5/4"], "it is not I/N"),
        (&["verify", "--clause", "ESC-99"], "matches no clause"),
        (&["verify", "--clause", "ESC1"], "did you mean `ESC-1`?"),
        (&["verify", "--filter", "escpe/*"], "did you mean `escape/*`?"),
        (&["verify", "--filter", "serialize/name/*"], "did you mean `serialize/names/*`?"),
        (&["verify", "--filter", "nothing at all"], "matches no case; `threadspec list`"),
        (&["list", "--filter", "\u{1b}[31m"], "`␛[31m` matches no case"),
        (&["show", "escape/five-characters/ampersand"], "did you mean `escape/five-characters/ampersand-alone`?"),
        (&["show", "tools/odd-input/none", "--profile", "litteral"], "litteral"),
        (
            &["show", "escape/five-characters/ampersand-alone", "--profile", "universal"],
            "is no case of profile universal",
        ),
        (&["verify", "--op", "dance"], "unknown op `dance`"),
        (&["verify", "--op", "loop", "--filter", "escape/*"], "no case fits all of --filter, --op and --clause"),
        (&["verify", "--require-ops", "escape,dance"], "unknown op `dance`"),
        (&["verify", "--fail-fast", "--keep-going"], "cannot be used with"),
        (&["verify", "--transcript", "t", "--repeat", "2"], "cannot be used with"),
        (&["verify", "--jobs", "0"], "0 is not in 1..=256"),
    ] {
        let (code, said) = threadspec(folder.path(), arguments)?;
        assert!(code == 2 && said.contains(says), "{arguments:?}: {code}: {said}");
    }
    Ok(())
}

#[test]
fn what_cannot_be_printed_is_no_success() -> io::Result<()> {
    let Ok(full) = fs::OpenOptions::new().write(true).open("/dev/full") else { return Ok(()) };
    let program = env!("CARGO_BIN_EXE_threadspec-tested");
    let output = Command::new(program).args(["verify", "--op", "escape"]).stdout(full).output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(4) && said.contains("stdout: "), "{said}");
    Ok(())
}

#[cfg(unix)]
#[test]
fn a_command_may_be_any_bytes() -> io::Result<()> {
    use std::os::unix::{ffi::OsStrExt, fs::symlink};
    let folder = tempfile::tempdir()?;
    let name = std::ffi::OsStr::from_bytes(b"test\xff\x1bee");
    symlink(env!("CARGO_BIN_EXE_threadspec-tested"), folder.path().join(name))?;
    let report = std::ffi::OsStr::from_bytes(b"json=re\xffport");
    let output = Command::new(env!("CARGO_BIN_EXE_threadspec-tested"))
        .args(["verify", "--op", "escape", "--report"])
        .arg(report)
        .current_dir(folder.path())
        .output()?;
    let written = folder.path().join(std::ffi::OsStr::from_bytes(b"re\xffport")).exists();
    assert!(output.status.success() && written, "{}", String::from_utf8_lossy(&output.stderr));
    for (name, code, says) in [(name, 0, "conformant"), (std::ffi::OsStr::from_bytes(b"no\xff\x1b"), 3, "not found")] {
        let program = env!("CARGO_BIN_EXE_threadspec-tested");
        let output = Command::new(program)
            .args(["verify", "--quiet", "--op", "escape", "--"])
            .args([folder.path().join(name).as_os_str(), "serve".as_ref()])
            .output()?;
        let said = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&said);
        assert!(output.status.code() == Some(code) && text.contains(says), "{text}");
        assert!(!said.contains(&0x1b), "{text}");
    }
    Ok(())
}

#[test]
fn a_conclusion_says_how_far_it_goes() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let (code, said) = threadspec(folder.path(), &["verify", "--quiet", "--op", "escape"])?;
    assert_eq!(code, 0, "{said}");
    assert!(said.starts_with("threadspec 0.1.0 (Rust"), "{said}");
    assert!(!said.contains("not tested"), "{said}");
    let judged = said.split("Tested: ").nth(1).and_then(|judged| judged.split(" of profile literal").next());
    let judged = judged.expect("how much was judged");
    let of: Vec<usize> = judged.split(' ').filter_map(|word| word.parse().ok()).collect();
    assert!(of.len() == 4 && 0 < of[0] && of[0] < of[1] && 0 < of[2] && of[2] < of[3], "{said}");
    let plain = ["--filter", "agent/start/*", "--filter", "session/plain/*"];
    let (code, said) =
        threadspec(folder.path(), &[&["verify", "--quiet", "--profile", "universal"], &plain[..]].concat())?;
    assert!(code == 0 && !said.contains("not tested"), "{said}");
    let (code, said) = threadspec(folder.path(), &["verify", "--quiet", "--clause", "ESC-*", "--repeat", "3"])?;
    assert!(code == 0 && said.contains("conformant"), "{said}");
    Ok(())
}

/// A corpus of one case for every day and one that is thorough.
fn with_a_thorough_case(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder.join("escape"))?;
    for (topic, extra) in [("quick", json!({})), ("slow", json!({"thorough": true}))] {
        let mut case = json!({"name": topic, "why": "w", "clauses": [clause::ESC_3], "input": {"text": topic}, "expect": {"ok": topic}});
        case.as_object_mut().expect("a case").extend(extra.as_object().expect("members").clone());
        let file = json!({"op": "escape", "about": "a topic", "cases": [case]});
        fs::write(folder.join(format!("escape/{topic}.json")), file.to_string())?;
    }
    Ok(())
}

#[test]
fn what_takes_too_long_for_every_day_is_run_when_it_is_asked_for() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    with_a_thorough_case(folder.path())?;
    let left_out = "Left out: 1 thorough case, which --thorough runs. Exit code 0.";
    for (arguments, code, says) in [
        ("verify", 0, left_out),
        ("verify", 0, "Tested: 1 of 1 cases and 1 of 1 clauses of profile literal."),
        ("verify", 0, "1 run / 1 applicable / 1 total"),
        ("verify --filter escape/quick/* --report json=run.json --transcript run.jsonl", 0, "1 of 1 cases"),
        ("verify --thorough", 0, "conformant: 2 of 2 cases. Tested: 2 of 2 cases"),
        ("verify --filter escape/slow/slow", 0, "conformant: 1 of 1 cases"),
        ("verify --filter escape/s*", 2, "the pattern `escape/s*` matches thorough cases only; --thorough runs them"),
        ("verify --filter escape/s* --filter *", 2, "the pattern `escape/s*` matches thorough cases only"),
        ("verify --filter escape/s* --thorough", 0, "conformant: 1 of 1 cases"),
        ("list", 0, "escape/slow/slow"),
        ("export --plain -", 0, "escape/slow/slow"),
        ("show escape/slow/slow", 0, "slow"),
    ] {
        let words: Vec<&str> = arguments.split(' ').chain(["--corpus", "."]).collect();
        let (ended, said) = threadspec(folder.path(), &words)?;
        assert!(ended == code && said.contains(says), "{arguments}: {ended}\n{said}");
        assert_eq!(said.contains("Left out"), says == left_out || arguments == "verify", "{arguments}: {said}");
    }
    threadspec(folder.path(), &["verify", "--corpus", ".", "--report", "json=run.json", "--transcript", "t.jsonl"])?;
    let run: Value = serde_json::from_str(&fs::read_to_string(folder.path().join("run.json"))?)?;
    assert_eq!(run["options"]["leftOut"], 1);
    assert_eq!(run["cases"].as_array().map(Vec::len), Some(1));
    let (_, said) = threadspec(folder.path(), &["judge", "--corpus", ".", "t.jsonl"])?;
    assert!(said.contains(left_out), "{said}");
    Ok(())
}

#[test]
fn a_pause_is_made_between_two_requests() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    with_a_thorough_case(folder.path())?;
    let begun = Instant::now();
    let (code, said) =
        verify(folder.path(), "--corpus . --thorough --repeat 2 --pause 0.2 --report json=run.json", &[])?;
    let requests = 4;
    assert!(code == 0 && begun.elapsed() >= Duration::from_millis(200) * (requests - 1), "{said}");
    let run: Value = serde_json::from_str(&fs::read_to_string(folder.path().join("run.json"))?)?;
    assert_eq!(run["options"]["pause"], 0.2);
    // What only shows after a pause is found.
    let bug = ["--bug", "answers-with-another-text@pause-200"];
    let (code, said) = verify(folder.path(), "--corpus . --thorough --repeat 2 --pause 0.4", &bug)?;
    assert!(code == 1 && said.contains("ESC-3"), "{said}");
    Ok(())
}

/// A fault may show only in the replies to requests that are sent before a case's own.
#[test]
fn replies_to_requests_that_are_sent_first_are_judged() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let at = folder.path();
    let case = "escape/large/after-a-thousand-requests";
    for (when, request) in [("every-997", 997), ("1", 1), ("1030", 1030)] {
        let bug = format!("answers-with-another-text@{when}");
        let options = format!("--filter {case} --transcript t.jsonl --report json=run.json");
        let (code, said) = verify(at, &options, &["--bug", &bug])?;
        let place = format!("in the reply to request {request} of the 1030 that are sent first, ESC-1 is broken");
        let run: Value = serde_json::from_str(&fs::read_to_string(at.join("run.json"))?)?;
        assert!(code == 1 && run["cases"][0]["charged"] == "ESC-1", "{bug}: {code}\n{said}");
        let note = run["cases"][0]["note"].as_str().unwrap_or_default().to_owned();
        assert!(note.starts_with(&place), "{note}");
        assert_eq!(run["cases"][0]["actual"], json!(r#"{"ok":"other"}"#));
        // What was recorded is judged alike.
        let (code, said) = threadspec(at, &["judge", "t.jsonl", "--report", "json=judged.json"])?;
        let judged: Value = serde_json::from_str(&fs::read_to_string(at.join("judged.json"))?)?;
        assert!(code == 1 && judged["cases"][0]["note"] == note, "{said}");
    }
    // Who is known to break the clause is not accused in the name of another one.
    let (options, bug) = ("--filter messages/context-mode/no-name-*", ["--bug", "answers-with-another-text@1"]);
    let (code, said) = verify(at, &format!("{options} --report json=run.json"), &bug)?;
    let run: Value = serde_json::from_str(&fs::read_to_string(at.join("run.json"))?)?;
    assert!(code == 1 && run["cases"][0]["charged"] == "EQ-1", "{said}");
    fs::write(at.join("known.toml"), "[[known]]\nclause = \"EQ-1\"\nreason = \"r\"\n")?;
    let (code, said) = verify(at, &format!("{options} --known-failures known.toml"), &bug)?;
    assert!(code == 0 && said.contains("but for one known failure"), "{said}");
    Ok(())
}

/// What costs the process once in many requests may hit one of those that are sent first.
#[test]
fn a_request_that_is_sent_first_and_lost_is_not_overlooked() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    for (bug, timeout, code, says) in [
        ("dies@700", "600", 1, "CRASH escape/large/after-a-thousand-requests"),
        ("dies@3000", "600", 0, "conformant: 1 of 1"),
        // Each of the thousand would take the whole timeout.
        ("hangs", "1", 1, "TIMEOUT escape/large/after-a-thousand-requests"),
    ] {
        let last = format!("--filter escape/large/after-a-thousand-requests --timeout {timeout}");
        let begun = Instant::now();
        let (ended, said) = verify(folder.path(), &last, &["--bug", bug])?;
        assert!(ended == code && said.contains(says), "{bug}: {ended}\n{said}");
        assert!(begun.elapsed() < Duration::from_secs(900), "{bug}: {:?}", begun.elapsed());
    }
    Ok(())
}
