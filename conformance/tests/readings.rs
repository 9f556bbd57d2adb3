//! The fuzzer accuses nothing that a clause or an erratum permits; nor does a case, as `kill_matrix.rs` shows.

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use std::collections::HashSet;
use threadspec_conformance::corpus::{Case, Level, embedded};
use threadspec_conformance::planted::readings::{Permitted, all, neglectful, permitted};
use threadspec_conformance::planted::universal::readings;

#[test]
fn the_fuzzer_objects_to_no_reading() {
    let accusations: Vec<String> =
        permitted().par_iter().flat_map_iter(|reading| reading.accusations(60).expect("it runs")).collect();
    assert!(accusations.is_empty(), "{}", accusations.join("\n"));
}

#[test]
fn readings_have_names_of_their_own_and_are_permitted_by_something() {
    let (corpus, _) = embedded();
    let errata = threadspec_golden::ERRATA;
    let mut names = HashSet::new();
    assert!(all().count() >= 25);
    for reading in all() {
        assert!(names.insert(reading.name), "two readings `{}`", reading.name);
        let exists = |by: &&str| {
            errata.contains(&format!("\n## {by} ")) || corpus.clauses.iter().any(|clause| clause.id == **by)
        };
        assert!(!reading.permitted_by.is_empty() && reading.permitted_by.iter().all(exists), "{reading:?}");
    }
    // `serve --reading` takes those of both tables.
    for reading in readings() {
        assert!(names.insert(&reading.name), "two readings `{}`", reading.name);
    }
}

/// What is held against bugs that break `should` clauses alone, by cases that are no matter of such a clause and by the fuzzer.
#[track_caller]
fn assert_no_must_is_broken(drawn: u64) {
    let (corpus, _) = embedded();
    let cases: Vec<&Case> = corpus.cases.iter().filter(|case| case.level == Level::Must).collect();
    let bugs = neglectful(corpus);
    assert!(bugs.len() > 80, "{}", bugs.len());
    let accuse = |bug: &Permitted| {
        let objections = bug.objections(&cases, |_, _| false);
        let objections = objections.iter().map(|case| format!("{} ({}): fails {}", bug.name, bug.profile, case.id));
        objections.chain(bug.accusations(drawn).expect("it runs")).collect::<Vec<_>>()
    };
    let accusations: Vec<String> = bugs.par_iter().flat_map_iter(accuse).collect();
    assert!(accusations.is_empty(), "{}", accusations.join("\n"));
}

#[test]
fn what_breaks_no_must_is_no_failure() {
    assert_no_must_is_broken(25);
}

#[test]
#[ignore = "slow: minutes, for changes of tolerance and of the fuzzer"]
fn what_breaks_no_must_is_no_failure_in_a_thousand_cases() {
    assert_no_must_is_broken(1_000);
}
