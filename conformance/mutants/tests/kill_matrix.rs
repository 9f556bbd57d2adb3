//! The corpus catches every planted bug, in each profile in which it is wrong, by cases of the clauses that it breaks, and accuses
//! nothing that is right.

use std::path::Path;
use threadspec_judge::corpus::covering;
use threadspec_judge::corpus::growth;
use threadspec_judge::corpus::{Case, Level, embedded, embedded_files};
use threadspec_judge::json::on_deep_stack;
use threadspec_mutants as planted;
use threadspec_mutants::growth::{Breadth, survey};
use threadspec_mutants::matrix::{Matrix, Selection};
use threadspec_mutants::pairs;

#[ignore = "slow: minutes without optimization; `threadspec mutants --quick` does it, too"]
#[test]
fn no_planted_bug_survives() {
    let (corpus, _) = embedded();
    let cases: Vec<&Case> = corpus.cases.iter().collect();
    let program = Path::new(env!("CARGO_BIN_EXE_threadspec-tested"));
    let faults =
        on_deep_stack(|| Matrix::of(corpus, &cases, program, Selection::OwnClauses).map(|matrix| matrix.faults()));
    let faults = faults.and_then(|faults| faults).expect("threads can be started");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The clauses that each bug breaks.
fn breaks() -> impl Iterator<Item = &'static [&'static str]> {
    planted::all().map(|bug| bug.breaks).chain(planted::universal::bugs().iter().map(|bug| bug.breaks))
}

/// No bug of size survives, and more than `least` were tried.
#[track_caller]
fn assert_caught(breadth: Breadth, least: usize) {
    let (corpus, _) = embedded();
    let table = growth::table(&embedded_files()).expect("a table");
    let survey = on_deep_stack(|| survey(corpus, &table, breadth));
    let survey = survey.and_then(|survey| survey).expect("threads can be started");
    assert!(survey.trials > least, "{}", survey.trials);
    assert!(survey.survivors.is_empty(), "{}", survey.survivors.join("\n"));
}

/// Two to three minutes; `threadspec mutants` tries them all, too, in each profile.
#[test]
#[ignore = "slow: the largest cases against every family of bugs; `threadspec mutants` does it, too"]
fn no_bug_of_size_survives() {
    assert_caught(Breadth::OneProfile, 300);
}

/// A quarter of an hour; only this test tries the small sizes.
#[test]
#[ignore = "slow: every family of bugs with a dozen sizes"]
fn no_bug_of_a_small_size_survives() {
    assert_caught(Breadth::SmallSizes, 3000);
}

/// The bugs of two conditions: every `step`-th; none survives, and more than `least` were tried.
#[track_caller]
fn assert_pairs_caught(step: usize, least: usize) {
    let (corpus, _) = embedded();
    let covering = covering::read(&embedded_files()).expect("readable data").expect("covering arrays");
    let survey = on_deep_stack(|| pairs::survey(corpus, &covering, step));
    let survey = survey.and_then(|survey| survey).expect("threads can be started");
    assert!(survey.trials > least, "{}", survey.trials);
    assert!(survey.survivors.is_empty(), "{}", survey.survivors.join("\n"));
}

/// A prime, so that every column and every level is among those that are tried.
#[test]
fn no_bug_of_two_conditions_survives_among_some() {
    assert_pairs_caught(997, 300);
}

#[test]
#[ignore = "slow: every pair of features; `threadspec mutants` does it, too"]
fn no_bug_of_two_conditions_survives() {
    assert_pairs_caught(1, 300_000);
}

#[test]
fn every_clause_is_broken() {
    let (corpus, _) = embedded();
    for clause in &corpus.clauses {
        let bugs = breaks().filter(|breaks| breaks.contains(&&*clause.id)).count();
        let wanted = if clause.level == Level::Must { 2 } else { 1 };
        assert!(bugs >= wanted, "{}: {bugs} planted bugs", clause.id);
    }
}

#[test]
fn bugs_have_names_of_their_own_and_break_clauses_that_exist() {
    let (corpus, _) = embedded();
    let mut names: Vec<&str> = planted::all().map(|bug| bug.name).collect();
    names.extend(planted::misbehaviour::names());
    names.extend(planted::universal::bugs().iter().chain(planted::universal::readings()).map(|variant| &*variant.name));
    names.extend(planted::universal::clashes().iter().map(|clash| &*clash.name));
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count, "two bugs have one name");
    for breaks in breaks() {
        assert!(!breaks.is_empty() && breaks.iter().all(|clause| corpus.clause(clause).is_some()), "{breaks:?}");
    }
}
