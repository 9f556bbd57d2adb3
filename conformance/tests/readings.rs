//! What a clause or an erratum permits is accused neither by the corpus nor by the fuzzer.

use std::collections::HashSet;
use threadspec_conformance::corpus::{Case, embedded};
use threadspec_conformance::json::on_deep_stack;
use threadspec_conformance::planted::readings::{all, permitted};

#[test]
fn no_case_objects_to_a_reading() {
    let (corpus, _) = embedded();
    let cases: Vec<&Case> = corpus.cases.iter().collect();
    let mut objections = Vec::new();
    for reading in permitted() {
        let found = on_deep_stack(|| reading.objections(&cases, |_, _| false)).expect("a stack");
        objections.extend(found.iter().map(|case| format!("{reading:?}: {}", case.id)));
    }
    assert!(objections.is_empty(), "{}", objections.join("\n"));
}

#[test]
fn the_fuzzer_objects_to_no_reading() {
    let mut accusations = Vec::new();
    for reading in permitted() {
        accusations.extend(reading.accusations(300).expect("it runs"));
    }
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
}
