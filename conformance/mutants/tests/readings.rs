//! The fuzzer accuses nothing that a clause or an erratum permits; nor does a case, as `kill_matrix.rs` shows.

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use threadspec_golden::clause;
use threadspec_judge::corpus::{Case, Level, embedded};
use threadspec_mutants::{Kind, Permitted, all, neglectful, pairs_of_readings, permitted};

/// The readings of the twin, each with what permits it.
fn readings() -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
    all().filter_map(|planted| match planted.kind {
        Kind::Reading(reading) => Some((planted.name, reading.permitted_by)),
        _ => None,
    })
}

#[test]
fn the_fuzzer_objects_to_no_reading() {
    let accusations: Vec<String> = permitted().par_iter().flat_map_iter(|reading| reading.accusations(60)).collect();
    assert!(accusations.is_empty(), "{}", accusations.join("\n"));
}

#[test]
fn the_fuzzer_does_not_judge_the_words_of_errors() {
    let is_about = |reading: &Permitted| {
        let clauses = &reading.neglects;
        !clauses.is_empty()
            && clauses.iter().all(|clause| [clause::LOOP_ERROR, clause::LOOP_TOOL_ERROR].contains(clause))
    };
    let words = |name: &str| name.starts_with("errors-") || name.starts_with("tool-failures-");
    let mut readings = permitted();
    readings.retain(|reading| is_about(reading) && words(reading.name));
    assert_eq!(readings.len(), 14);
    for reading in &mut readings {
        reading.neglects.clear();
    }
    let accusations: Vec<String> = readings.par_iter().flat_map_iter(|reading| reading.accusations(60)).collect();
    assert!(accusations.is_empty(), "{}", accusations.join("\n"));
}

/// What is held against two readings at once; `chosen` says which pairs are tried.
#[track_caller]
fn assert_pairs_are_sound(cases: u64, chosen: impl Fn(&Permitted) -> bool) {
    let all = pairs_of_readings();
    assert!(all.len() > 2_500, "{}", all.len());
    let tried: Vec<&Permitted> = all.iter().filter(|pair| chosen(pair)).collect();
    let accusations: Vec<String> = tried.par_iter().flat_map_iter(|pair| pair.accusations(cases)).collect();
    assert!(accusations.is_empty(), "{} pairs: {}", tried.len(), accusations.join("\n"));
}

/// Whether the quick test tries a pair: it takes one in eleven, so that each reading is in some of them.
fn is_tried(pair: &Permitted) -> bool {
    const STEP: usize = 11;
    let place = |name| readings().position(|(reading, _)| Some(reading) == name).unwrap_or_default();
    (place(Some(pair.name)) + place(pair.beside)).is_multiple_of(STEP)
}

#[test]
fn the_fuzzer_objects_to_no_two_readings() {
    assert_pairs_are_sound(4, is_tried);
}

#[test]
fn each_reading_is_tried_beside_another() {
    let (single, mut pairs) = (permitted(), pairs_of_readings());
    pairs.retain(is_tried);
    for reading in single.iter().filter(|reading| !reading.name.starts_with("all-readings")) {
        let is_in = |pair: &&Permitted| {
            pair.profile == reading.profile && (pair.name == reading.name || pair.beside == Some(reading.name))
        };
        let tried = pairs.iter().filter(is_in).count();
        assert!(tried > 1, "{reading}: {tried}");
    }
}

#[test]
#[ignore = "slow: minutes, for changes of readings, tolerance and the fuzzer"]
fn the_fuzzer_objects_to_no_pair_of_readings() {
    assert_pairs_are_sound(25, |_| true);
}

#[test]
fn readings_are_permitted_by_something() {
    let (corpus, _) = embedded();
    let errata = threadspec_golden::ERRATA;
    assert!(readings().count() >= 89, "{}", readings().count());
    for (name, permitted_by) in readings() {
        let exists = |by: &&str| {
            errata.contains(&format!("\n## {by} ")) || corpus.clauses.iter().any(|clause| clause.id == **by)
        };
        assert!(!permitted_by.is_empty() && permitted_by.iter().all(exists), "{name}: {permitted_by:?}");
    }
}

/// What the cases of other clauses, and the fuzzer, hold against bugs that break `should` clauses alone.
#[track_caller]
fn assert_no_must_is_broken(drawn: u64) {
    let (corpus, _) = embedded();
    let cases: Vec<&Case> = corpus.cases.iter().filter(|case| case.level == Level::Must).collect();
    let bugs = neglectful(corpus);
    assert!(bugs.len() > 80, "{}", bugs.len());
    let accuse = |bug: &Permitted| {
        let objections = bug.objections(&cases);
        let objections = objections.iter().map(|case| format!("{} ({}): fails {}", bug.name, bug.profile, case.id));
        objections.chain(bug.accusations(drawn)).collect::<Vec<_>>()
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
