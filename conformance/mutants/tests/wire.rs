//! Over the wire: the corpus catches every planted bug wherever it shows, and accuses nothing that is right.

use threadspec_judge::corpus::{Case, embedded};
use threadspec_judge::json::on_deep_stack;
use threadspec_mutants::{Matrix, Selection};

/// What is wrong with the corpus, as every `step`-th bug and reading shows it over the wire; more than `least` were tried.
#[track_caller]
fn assert_nothing_is_wrong(selection: Selection, step: usize, least: usize) {
    let (corpus, _) = embedded();
    let cases: Vec<&Case> = corpus.cases.iter().filter(|case| !case.thorough).collect();
    let matrix = on_deep_stack(|| {
        Matrix::over_the_wire(corpus, &cases, selection, step).map(|matrix| (matrix.trials.len(), matrix.faults()))
    });
    let (trials, faults) = matrix.expect("a thread can be started").expect("threads can be started");
    assert!(trials > least, "{trials}");
    assert!(faults.is_empty(), "{}\n{} faults", faults.join("\n"), faults.len());
}

/// A prime, so that each family of bugs is tried in one mode or another.
#[test]
fn some_bugs_are_caught_and_readings_accepted() {
    assert_nothing_is_wrong(Selection::OwnClauses, 5, 60);
}

#[test]
#[ignore = "slow: a minute without optimization; `threadspec-mutants run` does it, too"]
fn bugs_are_caught_and_readings_accepted() {
    assert_nothing_is_wrong(Selection::OwnClauses, 1, 300);
}

#[test]
#[ignore = "slow: every case against every bug and reading; `threadspec-mutants run` does it, too"]
fn bugs_are_caught_and_readings_accepted_by_every_case() {
    assert_nothing_is_wrong(Selection::EveryCase, 1, 1000);
}
