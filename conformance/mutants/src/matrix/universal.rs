//! The kill matrix of profile `universal`: everything that is planted in the agent against the cases of its profile.

use crate::catalogue::all;
use crate::planted::{Kind, Planted, sound_agent};
use crate::together::Together;
use crate::trial::{Expected, Selection, Trial, breaks_a_must, failure, is_about, outcomes};
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use threadspec_golden::clause;
use threadspec_judge::corpus::{Case, Corpus, Level};
use threadspec_judge::protocol::{JudgeProfile, Op};
use threadspec_runner::InProcess;
use threadspec_runner::{Settings, run};

/// A case whose inputs are larger than this together, in bytes, is put only to bugs that no smaller case of their clauses catches.
const LARGE: usize = 4 << 10;

/// Whether a case is put to an agent that asks its model in the same process.
fn is_put(case: &Case) -> bool {
    case.op == Op::Tools && case.is_in(JudgeProfile::Universal) && !case.needs_provider()
}

/// The cases that the agent fails without a bug.
pub(super) fn broken<'a>(cases: &[&'a Case]) -> Vec<&'a Case> {
    let mut agent = InProcess::new(sound_agent());
    let mut fails = |case: &&Case| failure(&mut agent, case, JudgeProfile::Universal, &Expected::new()).is_some();
    cases.iter().copied().filter(|case| is_put(case)).filter(|case| fails(case)).collect()
}

/// The bugs of the agent that show in one run.
fn bugs() -> impl Iterator<Item = &'static Planted> {
    all().filter(|planted| matches!(planted.kind, Kind::AgentBug(_)))
}

/// Tries every bug and every reading. The threads of the caller's pool need stacks for deep values.
pub(super) fn trials<'a>(corpus: &Corpus, cases: &[&'a Case], selection: Selection) -> Vec<Trial<'a>> {
    let mut cases: Vec<&Case> = cases.iter().copied().filter(|case| is_put(case)).collect();
    cases.sort_by_cached_key(|case| size(case));
    let expected = outcomes(&mut InProcess::new(sound_agent()), cases.iter().copied(), JudgeProfile::Universal);
    let planted: Vec<&'static Planted> =
        all().filter(|planted| matches!(planted.kind, Kind::AgentBug(_) | Kind::AgentReading(_))).collect();
    let alone = planted.into_par_iter().map(|planted| trial(planted, &cases, &expected, corpus, selection));
    let mut alone: Vec<Trial<'a>> = alone.collect();
    if selection == Selection::EveryCase {
        find_uses(&mut alone, &cases, &expected);
    }
    let own = cases.iter().copied().filter(|case| is_about(case, &[clause::AGENT_INDEPENDENT]));
    let own: Vec<&Case> = own.collect();
    let clashes: Vec<&Planted> = all().filter(|planted| matches!(planted.kind, Kind::Clash(_))).collect();
    alone.into_par_iter().chain(clashes.into_par_iter().map(|clash| met(clash, &own))).collect()
}

/// Finds, for each large case that no bug was left for, one that it catches as well.
fn find_uses<'a>(trials: &mut [Trial<'a>], cases: &[&'a Case], expected: &Expected<'_>) {
    let is_idle = |case: &&&Case| !trials.iter().any(|trial| trial.failed.iter().any(|failed| failed.id == case.id));
    let idle: Vec<&Case> = cases.iter().filter(is_idle).copied().collect();
    let use_of = |case: &'a Case| {
        let is_caught = |bug: &&Planted| {
            let mut agent = InProcess::new(bug.implementation());
            is_about(case, bug.breaks) && failure(&mut agent, case, JudgeProfile::Universal, expected).is_some()
        };
        Some((bugs().find(is_caught)?.name, case))
    };
    let found: Vec<(&str, &Case)> = idle.into_par_iter().filter_map(use_of).collect();
    for (bug, case) in found {
        if let Some(trial) = trials.iter_mut().find(|trial| trial.bug == bug) {
            trial.failed.push(case);
        }
    }
}

/// How large the inputs of a case are together, in bytes.
pub(super) fn size(case: &Case) -> usize {
    case.input().len() + case.after().iter().map(String::len).sum::<usize>()
}

/// Puts the cases of its clause to an agent whose runs influence each other. Asked one by one, it must pass them.
fn met<'a>(clash: &'static Planted, cases: &[&'a Case]) -> Trial<'a> {
    let failed = |agent| -> Vec<&'a Case> {
        let run = run(&mut [Box::new(agent)], cases, &Settings::new(JudgeProfile::Universal), &mut ());
        run.results.into_iter().filter(|result| result.counts_against(true)).map(|result| result.case).collect()
    };
    let alone = failed(Together::new(Some(clash)).undeclared());
    Trial {
        breaks: clash.breaks,
        wrong: true,
        breaks_a_must: true,
        failed: failed(Together::new(Some(clash))),
        counts: true,
        troubles: alone.iter().map(|case| format!("fails {} alone", case.id)).collect(),
        ..Trial::new(clash.name, JudgeProfile::Universal)
    }
}

fn trial<'a>(
    planted: &Planted,
    cases: &[&'a Case],
    expected: &Expected<'_>,
    corpus: &Corpus,
    selection: Selection,
) -> Trial<'a> {
    let Planted { name, breaks, .. } = *planted;
    let wrong = planted.is_wrong_in(JudgeProfile::Universal);
    let breaks_a_must = breaks_a_must(corpus, breaks);
    let mut agent = InProcess::new(planted.implementation());
    let mut trial = Trial { breaks, wrong, breaks_a_must, ..Trial::new(name, JudgeProfile::Universal) };
    for case in cases.iter().copied() {
        let is_own = is_about(case, breaks);
        // A reading must pass every case, a bug that breaks no `must` every `must` case.
        let is_large = size(case) > LARGE;
        let is_asked = if !wrong {
            !is_large || selection == Selection::EveryCase
        } else if is_large {
            is_own && trial.fault().is_some()
        } else {
            match selection {
                Selection::EveryCase => true,
                Selection::OwnClauses => is_own && trial.fault().is_some() || !breaks_a_must,
            }
        };
        let failure = if is_asked { failure(&mut agent, case, JudgeProfile::Universal, expected) } else { None };
        if let Some(failure) = failure {
            trial.counts |= failure.counts_against(case, false);
            if wrong && !breaks_a_must && case.level == Level::Must {
                trial.troubles.push(format!("breaks no `must`, but fails {}", case.id));
            }
            trial.failed.push(case);
        }
    }
    trial
}
