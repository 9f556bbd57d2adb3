//! The fuzzer of sessions finds planted bugs of an agent that keeps threads, names them by their clause and makes them small, and accuses no
//! reading.

use serde_json::Value;
use std::ops::Range;
use std::process::{Command, Output};
use threadspec_campaign::{FuzzFinding, FuzzOptions, FuzzReport, first_failure, run, save_findings};
use threadspec_golden::clause;
use threadspec_judge::corpus::{embedded, session_problems};
use threadspec_judge::json::on_deep_stack;
use threadspec_judge::protocol::{JudgeProfile, Op};
use threadspec_mutants::{Kind, Planted, all, find, sound_sessions};
use threadspec_runner::{InProcess, StoredReference, Testee};

fn settings(cases: Range<u64>) -> FuzzOptions {
    FuzzOptions { seed: 1, cases, time: None, jobs: 2, profile: JudgeProfile::Universal, ops: vec![Op::Session] }
}

fn campaign(start: &(dyn Fn() -> Box<dyn Testee> + Sync), cases: Range<u64>) -> FuzzReport {
    run(&settings(cases), &|| Ok(start()), &mut |_| {})
}

fn fuzz(planted: &Planted, cases: Range<u64>) -> FuzzReport {
    campaign(&|| Box::new(InProcess::new(planted.implementation())), cases)
}

fn bugs() -> impl Iterator<Item = &'static Planted> {
    all().filter(|planted| matches!(planted.kind, Kind::SessionBug(_) | Kind::SessionLapse(_)))
}

fn readings() -> impl Iterator<Item = &'static Planted> {
    all().filter(|planted| matches!(planted.kind, Kind::SessionReading(_)))
}

fn input(finding: &FuzzFinding) -> Value {
    threadspec_judge::json::read(&finding.input).expect("JSON")
}

fn calls(input: &Value) -> usize {
    let turns = input["runs"].as_array().into_iter().flatten().filter_map(|run| run["model"].as_array());
    turns.flatten().filter_map(|turn| turn["tool_calls"].as_array()).map(Vec::len).sum()
}

/// What is found, in a few words.
fn found(report: &FuzzReport) -> String {
    let line =
        |finding: &FuzzFinding| format!("{} {:?} {}\n{}\n", finding.clause, finding.cases, finding.note, finding.input);
    report.findings.iter().map(line).collect()
}

#[test]
fn planted_bugs_are_found_and_made_small() {
    for (name, clause, most_runs, most_calls) in [
        ("approved-calls-run-twice", clause::SESSION_APPROVED, 3, 1),
        ("results-of-siblings-swapped-in-later-runs", clause::SESSION_SAID_ONCE, 3, 3),
        ("raw-calls-left-open", clause::SESSION_RAW, 2, 2),
        ("hand-overs-left-open", clause::SESSION_HANDOFF, 2, 2),
        ("threads-refused-after-a-cut", clause::SESSION_CUT, 4, 2),
    ] {
        let bug = find(name).expect(name);
        let report = fuzz(&bug, 0..150);
        let Some(finding) = report.findings.iter().find(|finding| finding.clause == clause) else {
            panic!("{name}: {}", found(&report));
        };
        let input = input(finding);
        let runs = input["runs"].as_array().map_or(0, Vec::len);
        assert!(runs <= most_runs && calls(&input) <= most_calls, "{name}: {}", finding.input);
        assert!(finding.expected.is_none() && !finding.note.is_empty(), "{finding:?}");
        assert_eq!(session_problems(&finding.input), [""; 0], "{name}");
    }
}

#[test]
fn the_agent_without_a_bug_is_no_finding() {
    for start in [
        || -> Box<dyn Testee> { Box::new(InProcess::new(sound_sessions())) },
        || -> Box<dyn Testee> { Box::new(InProcess::new(StoredReference)) },
    ] {
        let report = campaign(&start, 0..60);
        assert!(report.findings.is_empty(), "{}", found(&report));
        assert_eq!((report.coverage.total(), report.unsupported), (60, 0));
    }
}

#[test]
fn a_reading_is_no_finding() {
    // The ignored test below draws thousands.
    let mut accused = String::new();
    for reading in readings() {
        let report = fuzz(reading, 0..6);
        if !report.findings.is_empty() {
            accused += &format!("{}: {}", reading.name, found(&report));
        }
    }
    assert!(accused.is_empty(), "{accused}");
}

#[test]
#[ignore = "slow: minutes, for changes of the generator or of the judge"]
fn no_reading_is_accused_in_many_sessions() {
    let cases = std::env::var("CASES").map_or(3_000, |cases| cases.parse().expect("a number"));
    let mut accused = found(&campaign(&|| Box::new(InProcess::new(sound_sessions())), 0..cases));
    accused += &found(&campaign(&|| Box::new(InProcess::new(StoredReference)), 0..cases));
    for reading in readings() {
        let report = fuzz(reading, 0..cases);
        if !report.findings.is_empty() {
            accused += &format!("{} ({} unsupported): {}", reading.name, report.unsupported, found(&report));
        }
    }
    assert!(accused.is_empty(), "{accused}");
}

/// Bugs that no drawn session shows, each with the reason.
const OUT_OF_REACH: &[(&str, &str)] = &[];

/// Every bug shows within so many sessions; a minute of `fuzz` on one processor plays more, whoever is asked.
#[test]
#[ignore = "slow: some minutes, for changes of the generator"]
fn bugs_are_found_in_a_minute() {
    let cases = std::env::var("CASES").map_or(3_000, |cases| cases.parse().expect("a number"));
    // Whatever fails the agent without a bug would count as found below.
    let sound = campaign(&|| Box::new(InProcess::new(sound_sessions())), 0..cases);
    assert!(sound.findings.is_empty(), "{}", found(&sound));
    let all: Vec<&Planted> = bugs().collect();
    let first = |bug: &Planted| {
        let start = || -> Box<dyn Testee> { Box::new(InProcess::new(bug.implementation())) };
        on_deep_stack(|| first_failure(&settings(0..cases), &|| Ok(start()))).expect("a thread").expect("it starts")
    };
    let (even, odd) = all.split_at(all.len() / 2);
    let shown: Vec<Option<u64>> = std::thread::scope(|scope| {
        let others = scope.spawn(|| odd.iter().map(|bug| first(bug)).collect::<Vec<_>>());
        let mut shown: Vec<_> = even.iter().map(|bug| first(bug)).collect();
        shown.extend(others.join().expect("no panic"));
        shown
    });
    let within = |most: u64| shown.iter().flatten().filter(|case| **case < most).count();
    println!(
        "{} bugs; within 30 sessions {}, 100 {}, 300 {}, 1000 {}",
        all.len(),
        within(30),
        within(100),
        within(300),
        within(1_000)
    );
    let mut latest: Vec<(u64, &str)> =
        shown.iter().zip(&all).filter_map(|(case, bug)| Some(((*case)?, bug.name))).collect();
    latest.sort_unstable();
    println!("latest: {:#?}", latest.iter().rev().take(10).collect::<Vec<_>>());
    let missed: Vec<&str> =
        all.iter().zip(&shown).filter(|(_, shown)| shown.is_none()).map(|(bug, _)| bug.name).collect();
    let excused: Vec<&str> = OUT_OF_REACH.iter().map(|(name, _)| *name).collect();
    assert_eq!(missed, excused, "of {}, in {cases} sessions", all.len());
}

fn threadspec(arguments: &[&str], testee: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_threadspec-tested"));
    command.args(arguments);
    if !testee.is_empty() {
        command.arg("--").arg(env!("CARGO_BIN_EXE_threadspec-mutants")).args(testee);
    }
    command.output().expect("the program starts")
}

#[test]
fn what_is_found_is_saved_as_cases_that_lint_accepts_and_verify_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let found = folder.path().join("candidates");
    let found = found.to_str().expect("a path");
    let profile = ["--profile", "universal"];
    let bug = ["serve", "--bug", "denied-calls-run"];
    let options = [&["fuzz", "--seed", "1", "--cases", "60", "--op", "session", "--save", found][..], &profile];
    let output = threadspec(&options.concat(), &bug);
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("repeat:") && said.contains("features of sessions"), "{said}");
    let lint = threadspec(&["lint", "--corpus", found], &[]);
    assert!(lint.status.success(), "{}", String::from_utf8_lossy(&lint.stdout));
    // What a generator made up is of severity C, which only a strict run counts.
    let verify = [&["verify", "--strict", "--corpus", found][..], &profile].concat();
    assert_eq!(threadspec(&verify, &bug).status.code(), Some(1), "{said}");
    let sound = ["--", env!("CARGO_BIN_EXE_threadspec-tested"), "serve"];
    let output = threadspec(&[&verify[..], &sound].concat(), &[]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn what_shows_only_in_a_later_session_is_saved_with_those_before() {
    for (name, clause) in [
        ("cut-calls-left-open-in-the-second-session", clause::SESSION_ANSWERED),
        ("approved-calls-run-twice-in-the-second-session", clause::SESSION_APPROVED),
    ] {
        let report = fuzz(&find(name).expect(name), 0..150);
        let own = report.findings.iter().find(|finding| finding.clause == clause);
        let own = own.unwrap_or_else(|| panic!("{name}: {}", found(&report)));
        assert_eq!(own.after.len(), 1, "{name}: {:?}", own.after);
        assert_eq!(session_problems(&own.after[0]), [""; 0], "{name}");
        let runs = |input: &str| threadspec_judge::json::read(input).expect("JSON")["runs"].as_array().map(Vec::len);
        assert!(runs(&own.after[0]) == Some(1) && runs(&own.input) <= Some(3), "{name}: {own:?}");
        assert!(own.also.contains(clause::AGENT_INDEPENDENT), "{name}: {:?}", own.also);

        let folder = tempfile::tempdir().expect("a folder");
        let (corpus, _) = embedded();
        save_findings(folder.path(), &report.findings, JudgeProfile::Universal, corpus).expect("it is saved");
        let saved = folder.path().to_str().expect("a path");
        // One case alone in a process of its own, too.
        let verify = ["verify", "--strict", "--corpus", saved, "--profile", "universal"];
        let output = threadspec(&verify, &["serve", "--bug", name]);
        let said = String::from_utf8_lossy(&output.stdout);
        let fails = format!("fail {}", report.findings.len());
        assert!(output.status.code() == Some(1) && said.contains(&fails), "{name}: {said}");
    }
}
