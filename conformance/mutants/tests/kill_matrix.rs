//! The tables of what is planted are sound. That the corpus catches every bug, and accuses nothing that is right, is for
//! `threadspec-mutants run`, which the gate runs with `--quick`.

use std::collections::HashSet;
use std::path::Path;
use threadspec::oracle::Api;
use threadspec_judge::corpus::covering;
use threadspec_judge::corpus::growth;
use threadspec_judge::corpus::{Case, Level, embedded, embedded_files};
use threadspec_judge::json::on_deep_stack;
use threadspec_mutants::{Between, Breadth, ChosenFaults, Effort, Error, Kind, Matrix, Place, Planted, Trial};
use threadspec_mutants::{all, find, survey_pairs, survey_sizes};

/// A client of Anthropic reads an input that is no object, which no model can have said in that API: that excuses no gateway.
#[test]
fn what_no_model_can_have_said_is_held_against_the_gateway() {
    let (corpus, _) = embedded();
    let cases: Vec<&Case> = corpus.cases.iter().filter(|case| case.id == "gateway/answers/three-calls").collect();
    let program = Path::new(env!("CARGO_BIN_EXE_threadspec-mutants"));
    let is_there =
        |place| place == Place::Gateway(Between { client: Api::Anthropic, upstream: Api::OpenAiChat, stream: false });
    let bug = "arguments-of-all-calls-with-the-first-one";
    let matrix = on_deep_stack(|| {
        let matrix = Matrix::of(
            corpus,
            &cases,
            program,
            Effort::Whole,
            ChosenFaults { places: Some(is_there), names: &[bug.to_owned()], step: 1 },
        )?;
        let is_it = |trial: &&Trial<'_>| trial.fault == bug;
        Ok::<_, Error>(matrix.trials.iter().find(is_it).map(Trial::fault))
    });
    assert_eq!(matrix.expect("a thread can be started").expect("threads can be started"), Some(None));
}

/// Both the exact digits and those of the double are right.
#[test]
fn no_reading_of_large_integers_is_accused() {
    let (corpus, _) = embedded();
    let cases: Vec<&Case> = corpus.cases.iter().filter(|case| case.id.starts_with("serialize/numbers/")).collect();
    let program = Path::new(env!("CARGO_BIN_EXE_threadspec-mutants"));
    let names = ["integers-of-any-length-exact", "large-integers-as-doubles-*"].map(str::to_owned);
    let matrix = on_deep_stack(|| {
        let matrix =
            Matrix::of(corpus, &cases, program, Effort::Whole, ChosenFaults { places: None, names: &names, step: 1 })?;
        let said: Vec<String> = matrix.trials.iter().filter_map(Trial::fault).collect();
        Ok::<_, Error>((matrix.trials.len(), said))
    });
    let (trials, said) = matrix.expect("a thread can be started").expect("threads can be started");
    assert!(trials >= 4, "{trials}");
    assert!(said.is_empty(), "{said:?}");
}

#[test]
fn what_caught_a_fault_before_exists() {
    let (corpus, _) = embedded();
    let lines: Vec<&str> = include_str!("../killers.txt").lines().collect();
    assert!(lines.len() > 800, "{}", lines.len());
    for line in lines {
        let (fault, cases) = line.split_once(' ').expect("a fault and its cases");
        assert!(find(fault).is_some(), "{fault}");
        for case in cases.split(' ') {
            assert!(corpus.cases.iter().any(|known| known.id == case), "{case}");
        }
    }
}

/// The bugs that the matrix tries one by one.
fn bugs() -> impl Iterator<Item = &'static Planted> {
    all().filter(|planted| {
        matches!(
            planted.kind,
            Kind::Bug(_)
                | Kind::AgentBug(_)
                | Kind::Clash(_)
                | Kind::WireBug(_)
                | Kind::SessionBug(_)
                | Kind::SessionLapse(_)
                | Kind::GatewayBug(_)
        )
    })
}

/// No bug of size survives, and more than `least` were tried.
#[track_caller]
fn assert_caught(breadth: Breadth, least: usize) {
    let (corpus, _) = embedded();
    let table = growth::table(&embedded_files()).expect("a table");
    let survey = on_deep_stack(|| survey_sizes(corpus, &table, breadth));
    let survey = survey.expect("a thread can be started").expect("threads can be started");
    assert!(survey.trials > least, "{}", survey.trials);
    assert!(survey.survivors.is_empty(), "{}", survey.survivors.join("\n"));
}

/// Two to three minutes; `threadspec-mutants run` tries them all, too, in each profile.
#[test]
#[ignore = "slow: the largest cases against every family of bugs; `threadspec-mutants run` does it, too"]
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
    let survey = on_deep_stack(|| survey_pairs(corpus, &covering, step));
    let survey = survey.expect("a thread can be started").expect("threads can be started");
    assert!(survey.trials > least, "{}", survey.trials);
    assert!(survey.survivors.is_empty(), "{}", survey.survivors.join("\n"));
}

/// A prime, so that every column and every level is among those that are tried.
#[test]
fn no_bug_of_two_conditions_survives_among_some() {
    assert_pairs_caught(997, 300);
}

#[test]
#[ignore = "slow: every pair of features; `threadspec-mutants run` does it, too"]
fn no_bug_of_two_conditions_survives() {
    assert_pairs_caught(1, 300_000);
}

#[test]
fn every_clause_is_broken() {
    let (corpus, _) = embedded();
    for clause in &corpus.clauses {
        let bugs = bugs().filter(|bug| bug.breaks.contains(&&*clause.id)).count();
        let wanted = match clause.level {
            _ if clause.id.starts_with("SESSION-") => 5,
            Level::Must => 2,
            Level::Should => 1,
        };
        assert!(bugs >= wanted, "{}: {bugs} planted bugs", clause.id);
    }
}

#[test]
fn bugs_break_clauses_that_exist() {
    let (corpus, _) = embedded();
    for bug in bugs() {
        let exist = bug.breaks.iter().all(|clause| corpus.clause(clause).is_some());
        assert!(exist && !bug.breaks.is_empty(), "{bug:?}: {:?}", bug.breaks);
    }
}

#[test]
fn everything_is_found_by_a_name_of_its_own() {
    let mut names = HashSet::new();
    for planted in all() {
        assert!(names.insert(planted.name), "two things are called `{}`", planted.name);
        let found = find(planted.name).map(|found| found.name);
        // A family is no single bug without a size.
        let is_whole = !matches!(planted.kind, Kind::Family(_));
        assert_eq!(found, is_whole.then_some(planted.name), "{planted:?}");
    }
    assert!(names.len() >= 3_612, "{}", names.len());
}

#[test]
fn a_name_may_say_with_what_size_or_when() {
    for name in
        ["text-cut:content:100", "only-the-last-n-events:40", "dies@3", "dies@every-997", "dies@end", "dies@two"]
    {
        assert_eq!(find(name).map(|found| found.name), Some(name));
    }
    for name in [
        "",
        "text-cut",
        "text-cut:",
        "text-cut:content",
        "text-cut:content:-1",
        "dies:3",
        "keys-sorted:3",
        "keys-sorted@3",
        "x",
    ] {
        assert!(find(name).is_none(), "{name}");
    }
}
