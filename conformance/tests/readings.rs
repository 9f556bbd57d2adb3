//! The fuzzer accuses nothing that a clause or an erratum permits; nor does a case, as `kill_matrix.rs` shows.

use std::collections::HashSet;
use threadspec_conformance::corpus::embedded;
use threadspec_conformance::planted::readings::{all, permitted};

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
