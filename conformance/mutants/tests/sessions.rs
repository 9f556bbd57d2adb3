//! Sessions: the corpus catches every planted bug and calls it by its name, and accuses nothing that is right.

use threadspec_judge::corpus::{Case, embedded};
use threadspec_judge::json::on_deep_stack;
use threadspec_mutants::{Kind, Matrix, Selection, all};

/// What is wrong with the corpus, as every `step`-th bug and reading shows it; more than `least` were tried.
#[track_caller]
fn assert_nothing_is_wrong(selection: Selection, step: usize, least: usize) {
    let (corpus, _) = embedded();
    let cases: Vec<&Case> = corpus.cases.iter().collect();
    let matrix = on_deep_stack(|| {
        Matrix::of_sessions(corpus, &cases, selection, step).map(|matrix| (matrix.trials.len(), matrix.faults()))
    });
    let (trials, faults) = matrix.expect("a thread can be started").expect("threads can be started");
    assert!(trials > least, "{trials}");
    assert!(faults.is_empty(), "{}\n{} faults", faults.join("\n"), faults.len());
}

/// A prime, so that each family of bugs is tried where it shows in one way or another.
#[test]
fn some_bugs_are_caught_and_readings_accepted() {
    assert_nothing_is_wrong(Selection::OwnClauses, 29, 15);
}

#[test]
#[ignore = "slow: minutes without optimization; `threadspec-mutants run --sessions --quick` does it, too"]
fn bugs_are_caught_and_readings_accepted() {
    assert_nothing_is_wrong(Selection::OwnClauses, 1, 500);
}

#[test]
fn each_clause_is_broken_by_five_bugs_at_least() {
    let (corpus, _) = embedded();
    let of_sessions = || all().filter(|planted| matches!(planted.kind, Kind::SessionBug(_) | Kind::SessionLapse(_)));
    for clause in corpus.clauses.iter().filter(|clause| clause.id.starts_with("SESSION-")) {
        let bugs = of_sessions().filter(|bug| bug.breaks.contains(&&*clause.id)).count();
        assert!(bugs >= 5, "{}: {bugs} planted bugs", clause.id);
    }
    assert!(of_sessions().count() >= 120, "{}", of_sessions().count());
    let readings = all().filter(|planted| matches!(planted.kind, Kind::SessionReading(_))).count();
    assert!(readings >= 40, "{readings}");
}
