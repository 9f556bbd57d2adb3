//! What the corpus is worth: it catches every planted bug, in each profile in which it is one, by cases of the clauses
//! that it breaks, and nothing that is right.

use std::path::Path;
use threadspec_conformance::corpus::{Case, Level, embedded};
use threadspec_conformance::json::on_deep_stack;
use threadspec_conformance::planted;
use threadspec_conformance::planted::matrix::{Matrix, Selection};

#[test]
fn no_planted_bug_survives() {
    let (corpus, _) = embedded();
    let cases: Vec<&Case> = corpus.cases.iter().collect();
    let program = Path::new(env!("CARGO_BIN_EXE_threadspec"));
    let faults =
        on_deep_stack(|| Matrix::of(corpus, &cases, program, Selection::OwnClauses).map(|matrix| matrix.faults()));
    let faults = faults.and_then(|faults| faults).expect("threads to work on");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_clause_is_broken() {
    let (corpus, _) = embedded();
    // The clauses of profile `universal` are not for the twin, which has the other two.
    for clause in corpus.clauses.iter().filter(|clause| !clause.id.starts_with("AGENT-")) {
        let bugs = planted::all().filter(|bug| bug.breaks.contains(&&*clause.id)).count();
        let wanted = if clause.level == Level::Must { 2 } else { 1 };
        assert!(bugs >= wanted, "{}: {bugs} planted bugs", clause.id);
    }
}

#[test]
fn bugs_have_names_of_their_own_and_break_clauses_that_exist() {
    let (corpus, _) = embedded();
    let mut names: Vec<&str> = planted::all().map(|bug| bug.name).collect();
    names.extend(planted::misbehaviour::names());
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count, "two bugs have one name");
    for bug in planted::all() {
        assert!(!bug.breaks.is_empty(), "{}", bug.name);
        assert!(bug.breaks.iter().all(|clause| corpus.clause(clause).is_some()), "{}: {:?}", bug.name, bug.breaks);
    }
}
