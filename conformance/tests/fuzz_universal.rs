//! The fuzzer of profile `universal`, which needs no reference: it finds planted bugs of an agent, names them by their
//! clause and makes them small, and accuses no reading.

use serde_json::Value;
use threadspec_conformance::fuzz::{Options, Report, run};
use threadspec_conformance::planted::universal::{Variant, bugs, readings, variant};
use threadspec_conformance::protocol::{Op, Profile};
use threadspec_conformance::testee::InProcess;

fn fuzz(variant: &Variant, cases: u64) -> Report {
    let profile = Profile::Universal;
    let settings = Options { seed: 1, cases: 0..cases, time: None, jobs: 2, profile, ops: vec![Op::Tools] };
    run(&settings, &|| Ok(Box::new(InProcess::new(variant.implementation()))), &mut |_| {}).expect("it starts")
}

#[test]
fn planted_bugs_are_found_and_made_small() {
    for (name, clause) in [
        ("only-the-last-question", "AGENT-START"),
        ("results-older-than-1-rounds-dropped", "AGENT-PREFIX"),
        ("arguments-as-json-text", "AGENT-RESPONSE"),
        ("ids-of-its-own", "AGENT-IDS"),
        ("only-the-first-call-answered", "AGENT-ANSWERED"),
        ("results-in-pythons-notation", "AGENT-RESULT"),
        ("failing-tool-ends-the-run", "AGENT-FAILURE"),
        ("limit-ignored", "AGENT-LIMIT"),
        ("halves-of-results-pass", "AGENT-ENCODABLE"),
        ("messages-pile-up-over-runs", "AGENT-INDEPENDENT"),
    ] {
        let report = fuzz(variant(name).expect(name), 150);
        let found = report.findings.iter().find(|finding| finding.clause == clause);
        let finding = found.unwrap_or_else(|| panic!("{name}: {:?}", report.findings));
        let input: Value = threadspec_conformance::json::read(&finding.input).expect("JSON");
        let calls = input["model"].as_array().into_iter().flatten().filter_map(|turn| turn["tool_calls"].as_array());
        let is_alone = finding.cases.end - finding.cases.start == 1;
        assert!(!is_alone || calls.map(Vec::len).sum::<usize>() <= 3, "{name}: {}", finding.input);
        assert!(finding.expected.is_none() && !finding.note.is_empty(), "{finding:?}");
    }
}

#[test]
fn a_reading_is_no_finding() {
    for reading in readings() {
        let report = fuzz(reading, 40);
        assert!(report.findings.is_empty(), "{}: {:?}", reading.name, report.findings);
        assert_eq!(report.coverage.total(), 40, "{}", reading.name);
    }
}

#[test]
#[ignore = "slow: some minutes, for changes of the generator"]
fn most_planted_bugs_are_found() {
    let is_found = |bug: &&Variant| {
        // Most are found at once. What is found must be named by a clause of the bug, or by one that it leads to.
        [100, 1_000, 5_000].into_iter().any(|cases| !fuzz(bug, cases).findings.is_empty())
    };
    let (found, missed): (Vec<&Variant>, Vec<&Variant>) = bugs().iter().partition(is_found);
    let missed: Vec<&str> = missed.iter().map(|bug| &*bug.name).collect();
    println!("found {} of {}; missed: {missed:?}", found.len(), bugs().len());
    assert!(found.len() * 10 >= bugs().len() * 8, "missed: {missed:?}");
}
