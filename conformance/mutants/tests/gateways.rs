//! Gateways: the corpus catches every planted bug and calls it by its name, and accuses nothing that is right.

use threadspec_judge::corpus::{Case, embedded};
use threadspec_judge::json::on_deep_stack;
use threadspec_mutants::{Kind, Matrix, Selection, all};

/// What is wrong with the corpus, as every `step`-th bug and reading shows it; more than `least` were tried.
#[track_caller]
fn assert_nothing_is_wrong(selection: Selection, step: usize, least: usize) {
    let (corpus, _) = embedded();
    let cases: Vec<&Case> = corpus.cases.iter().collect();
    let matrix = on_deep_stack(|| {
        Matrix::of_gateways(corpus, &cases, selection, step).map(|matrix| (matrix.trials.len(), matrix.faults()))
    });
    let (trials, faults) = matrix.expect("a thread can be started").expect("threads can be started");
    assert!(trials > least, "{trials}");
    assert!(faults.is_empty(), "{}\n{} faults", faults.join("\n"), faults.len());
}

/// A prime, so that each family of bugs is tried where it shows in one way or another.
#[test]
fn some_bugs_are_caught_and_readings_accepted() {
    assert_nothing_is_wrong(Selection::OwnClauses, 23, 8);
}

#[test]
#[ignore = "slow: minutes without optimization; `threadspec-mutants run --gateways --quick` does it, too"]
fn bugs_are_caught_and_readings_accepted() {
    assert_nothing_is_wrong(Selection::OwnClauses, 1, 200);
}

#[test]
fn each_clause_is_broken_by_a_bug() {
    let (corpus, _) = embedded();
    let bugs = || all().filter(|planted| matches!(planted.kind, Kind::GatewayBug(_)));
    for clause in corpus.clauses.iter().filter(|clause| clause.id.starts_with("GATE-")) {
        assert!(bugs().any(|bug| bug.breaks.contains(&&*clause.id)), "{}: no planted bug", clause.id);
    }
    assert!(bugs().count() >= 60, "{}", bugs().count());
    let readings = all().filter(|planted| matches!(planted.kind, Kind::GatewayReading(_))).count();
    assert!(readings >= 40, "{readings}");
}
