//! The fuzzer of profile `universal`, which needs no reference: it finds planted bugs of an agent, names them by their
//! clause and makes them small, and accuses no reading.

use serde_json::Value;
use std::ops::Range;
use threadspec_campaign::{FuzzFinding, FuzzOptions, FuzzReport, run};
use threadspec_golden::clause;
use threadspec_judge::protocol::{JudgeProfile, Op};
use threadspec_judge::reference::Reference;
use threadspec_mutants::{Kind, Planted, all, find, sound_agent, together};
use threadspec_runner::{InProcess, Testee};

fn readings() -> impl Iterator<Item = &'static Planted> {
    all().filter(|planted| matches!(planted.kind, Kind::AgentReading(_)))
}

fn fuzz(planted: &Planted, cases: Range<u64>) -> FuzzReport {
    campaign(&|| Box::new(InProcess::new(planted.implementation())), cases)
}

fn campaign(start: &(dyn Fn() -> Box<dyn Testee> + Sync), cases: Range<u64>) -> FuzzReport {
    let profile = JudgeProfile::Universal;
    let settings = FuzzOptions { seed: 1, cases, time: None, jobs: 2, profile, ops: vec![Op::Tools] };
    run(&settings, &|| Ok(start()), &mut |_| {})
}

#[test]
fn planted_bugs_are_found_and_made_small() {
    for (name, clause) in [
        ("results-older-than-1-rounds-dropped", clause::AGENT_PREFIX),
        ("arguments-as-json-text", clause::AGENT_RESPONSE),
        ("results-in-pythons-notation", clause::AGENT_RESULT),
        ("halves-of-results-pass", clause::AGENT_ENCODABLE),
        ("messages-pile-up-over-runs", clause::AGENT_INDEPENDENT),
    ] {
        let bug = find(name).expect(name);
        // Most show at once, and a run with the messages of all earlier ones gets slow.
        let mut found = [0..15, 15..150].into_iter().flat_map(|cases| fuzz(&bug, cases).findings);
        let finding = found.find(|finding| finding.clause == clause).expect(name);
        let input: Value = threadspec_judge::json::read(&finding.input).expect("JSON");
        let calls = input["model"].as_array().into_iter().flatten().filter_map(|turn| turn["tool_calls"].as_array());
        let is_alone = finding.cases.end - finding.cases.start == 1;
        assert!(!is_alone || calls.map(Vec::len).sum::<usize>() <= 3, "{name}: {}", finding.input);
        assert!(finding.expected.is_none() && !finding.note.is_empty(), "{finding:?}");
    }
}

#[test]
fn a_reading_is_no_finding() {
    // The ignored test below draws thousands.
    const CASES: u64 = 6;
    for reading in readings() {
        let report = fuzz(reading, 0..CASES);
        assert!(report.findings.is_empty(), "{}: {:?}", reading.name, report.findings);
        assert_eq!(report.coverage.total(), CASES, "{}", reading.name);
    }
}

/// What is found in two readings at once; `chosen` says which pairs are tried.
#[track_caller]
fn assert_pairs_are_sound(cases: u64, chosen: impl Fn(usize) -> bool) {
    let all: Vec<&Planted> = readings().collect();
    let pairs = (0..all.len()).flat_map(|first| (first + 1..all.len()).map(move |second| [first, second]));
    let mut accused = String::new();
    for (_, pair) in (0..).zip(pairs).filter(|(number, _)| chosen(*number)) {
        let pair = pair.map(|place| all[place]);
        let found = found(&campaign(&|| Box::new(InProcess::new(together(&pair))), 0..cases));
        if !found.is_empty() {
            accused += &format!("{} and {}: {found}", pair[0].name, pair[1].name);
        }
    }
    assert!(accused.is_empty(), "{accused}");
}

#[test]
fn two_readings_are_no_finding() {
    assert_pairs_are_sound(4, |number| number % 41 == 0);
}

#[test]
#[ignore = "slow: minutes, for changes of readings and of the judge"]
fn no_pair_of_readings_is_a_finding() {
    assert_pairs_are_sound(25, |_| true);
}

/// What is found, in a few words.
fn found(report: &FuzzReport) -> String {
    let line =
        |finding: &FuzzFinding| format!("{} {:?} {}\n{}\n", finding.clause, finding.cases, finding.note, finding.input);
    report.findings.iter().map(line).collect()
}

#[test]
#[ignore = "slow: for changes of the generator or the judge"]
fn nothing_sound_is_accused_in_30_000_scenarios() {
    const CASES: u64 = 30_000;
    let mut accused = found(&campaign(&|| Box::new(InProcess::new(Reference)), 0..CASES));
    accused += &found(&campaign(&|| Box::new(InProcess::new(sound_agent())), 0..CASES));
    for reading in readings() {
        let found = found(&fuzz(reading, 0..CASES));
        if !found.is_empty() {
            accused += &format!("{}: {found}", reading.name);
        }
    }
    assert!(accused.is_empty(), "{accused}");
}

#[test]
#[ignore = "slow: some minutes, for changes of the generator"]
fn most_planted_bugs_are_found() {
    let sizes = [0, 100, 1_000, 5_000, 30_000];
    let (mut counts, mut missed, mut misnamed) = ([0; 4], Vec::new(), Vec::new());
    let all: Vec<&Planted> = all().filter(|planted| matches!(planted.kind, Kind::AgentBug(_))).collect();
    for bug in &all {
        let clauses = |report: FuzzReport| report.findings.iter().map(|finding| finding.clause).collect::<Vec<_>>();
        let Some((size, clauses)) = sizes
            .windows(2)
            .enumerate()
            .map(|(size, cases)| (size, clauses(fuzz(bug, cases[0]..cases[1]))))
            .find(|(_, clauses)| !clauses.is_empty())
        else {
            missed.push(bug.name);
            continue;
        };
        counts[size..].iter_mut().for_each(|count| *count += 1);
        if !clauses.iter().any(|clause| bug.breaks.contains(clause)) {
            misnamed.push(format!("{} {:?}: {clauses:?}", bug.name, bug.breaks));
        }
    }
    println!(
        "of {} bugs found in {:?} scenarios: {counts:?}\nmissed: {missed:#?}\nmisnamed: {misnamed:#?}",
        all.len(),
        &sizes[1..],
    );
    assert!(counts[3] * 10 >= all.len() * 9, "missed: {missed:?}");
}
