//! The differential fuzzer finds planted bugs, and nothing where there are none.

use std::path::Path;
use threadspec::Profile;
use threadspec_conformance::fuzz::{Finding, Report, Settings, run, save};
use threadspec_conformance::mutants;
use threadspec_conformance::protocol::{Op, Request};
use threadspec_conformance::reference::Reference;
use threadspec_conformance::testee::{Implementation, InProcess};

const CASES: u64 = 2_000;

fn fuzz<I: Implementation + 'static>(implementation: impl Fn() -> I + Sync, settings: &Settings) -> Report {
    run(settings, &|| Ok(Box::new(InProcess::new(implementation()))), &mut |_| {}).expect("it starts")
}

fn settings(profile: Profile) -> Settings {
    Settings { seed: 1, cases: 0..CASES, time: None, jobs: 2, profile, ops: Op::ALL.into() }
}

fn findings_of(bug: &str, profile: Profile) -> Vec<Finding> {
    let bug = mutants::all().find(|planted| planted.name == bug).expect("a planted bug");
    fuzz(|| bug.implementation(), &settings(profile)).findings
}

#[test]
fn a_planted_bug_is_found_and_its_case_made_small() {
    for (bug, op, clause) in [
        ("ampersand-escaped-last", Op::Serialize, "ESC-1"),
        ("forbidden-characters-left-alone", Op::Serialize, "ESC-FORBIDDEN"),
        ("attributes-not-escaped", Op::Serialize, "ATT-ESCAPED"),
    ] {
        let findings = findings_of(bug, Profile::Literal);
        let found = findings.iter().find(|finding| finding.op == op && finding.clause == clause);
        let finding = found.unwrap_or_else(|| panic!("{bug}: {findings:?}"));
        let events = finding.input.matches(r#""iteration":"#).count();
        assert!((1..=3).contains(&events), "{bug}: {}", finding.input);
    }
}
