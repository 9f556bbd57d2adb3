//! The kill matrix of profile `universal`: every variant of the agent against the cases of its profile.

use super::{Clash, Together, Variant, bugs, clashes, readings, sound};
use crate::matrix::{Replies, Selection, Trial, replies};
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use std::collections::HashMap;
use threadspec_judge::corpus::{Case, Corpus, Level};
use threadspec_judge::protocol::{Implementation, Profile};
use threadspec_judge::verdict::Outcome;
use threadspec_judge::verdict::{Judgement, Terms};
use threadspec_runner::{InProcess, Settings, Testee, run};

/// A case with a larger input, in bytes, those of the requests before it included, is put only to bugs that no smaller case of their clauses catches.
const LARGE: usize = 4 << 10;

/// What the agent without a bug answers, by case.
type Expected<'a> = HashMap<&'a str, Outcome>;

/// The cases that the agent fails without a bug.
pub(crate) fn broken<'a>(cases: &[&'a Case]) -> Vec<&'a Case> {
    let mut agent = InProcess::new(sound());
    let fails = |case: &&Case| case.is_in(Profile::Universal) && failure(&mut agent, case, None).is_some();
    cases.iter().copied().filter(fails).collect()
}

/// Whether a case catches a bug of this name, if there is one.
pub(crate) fn catches(case: &Case, bug: &str) -> Option<bool> {
    let bug = bugs().iter().find(|planted| planted.name == bug)?;
    Some(failure(&mut InProcess::new(bug.implementation()), case, None).is_some())
}

/// Tries every bug and every reading. The threads of the caller's pool need stacks for deep values.
pub(crate) fn trials<'a>(corpus: &Corpus, cases: &[&'a Case], selection: Selection) -> Vec<Trial<'a>> {
    let mut cases: Vec<&Case> = cases.iter().copied().filter(|case| case.is_in(Profile::Universal)).collect();
    cases.sort_by_cached_key(|case| size(case));
    let replies = replies(&mut InProcess::new(sound()), cases.iter().copied(), Profile::Universal);
    let expected: Expected<'_> = replies.into_iter().map(|replies| (&*replies.case.id, replies.outcome)).collect();
    let variants: Vec<&'static Variant> = bugs().iter().chain(readings()).collect();
    let alone = variants.into_par_iter().map(|variant| trial(variant, &cases, &expected, corpus, selection));
    let mut alone: Vec<Trial<'a>> = alone.collect();
    if selection == Selection::EveryCase {
        find_uses(&mut alone, &cases, &expected);
    }
    let own = |case: &&Case| Clash::BREAKS.iter().all(|clause| case.clauses.iter().any(|named| named == clause));
    let own: Vec<&Case> = cases.iter().copied().filter(own).collect();
    alone.into_par_iter().chain(clashes().into_par_iter().map(|clash| met(clash, &own))).collect()
}

/// Finds for each large case that no bug was left for one that it catches, too.
fn find_uses<'a>(trials: &mut [Trial<'a>], cases: &[&'a Case], expected: &Expected<'_>) {
    let is_idle = |case: &&&Case| !trials.iter().any(|trial| trial.failed.iter().any(|failed| failed.id == case.id));
    let idle: Vec<&Case> = cases.iter().filter(is_idle).copied().collect();
    let use_of = |case: &'a Case| {
        let is_caught = |bug: &&Variant| {
            let is_own = bug.breaks.iter().any(|clause| case.clauses.iter().any(|named| named == clause));
            is_own && failure(&mut InProcess::new(bug.implementation()), case, expected.get(&*case.id)).is_some()
        };
        Some((&*bugs().iter().find(is_caught)?.name, case))
    };
    let found: Vec<(&str, &Case)> = idle.into_par_iter().filter_map(use_of).collect();
    for (bug, case) in found {
        if let Some(trial) = trials.iter_mut().find(|trial| trial.bug == bug) {
            trial.failed.push(case);
        }
    }
}

fn size(case: &Case) -> usize {
    case.input().len() + case.after().iter().map(String::len).sum::<usize>()
}

/// Puts the cases of their clause to an agent whose runs influence each other. Nothing may be said against it while it is asked one by one.
fn met<'a>(clash: &'static Clash, cases: &[&'a Case]) -> Trial<'a> {
    let failed = |agent| -> Vec<&'a Case> {
        let run = run(&mut [Box::new(agent)], cases, &Settings::new(Profile::Universal), &mut ());
        run.results.into_iter().filter(|result| result.counts_against(true)).map(|result| result.case).collect()
    };
    let alone = failed(Together::new(Some(clash)).undeclared());
    Trial {
        bug: &clash.name,
        breaks: Clash::BREAKS,
        profile: Profile::Universal,
        wrong: true,
        breaks_a_must: true,
        failed: failed(Together::new(Some(clash))),
        counts: true,
        troubles: alone.iter().map(|case| format!("fails {} alone", case.id)).collect(),
    }
}

fn trial<'a>(
    variant: &'static Variant,
    cases: &[&'a Case],
    expected: &Expected<'_>,
    corpus: &Corpus,
    selection: Selection,
) -> Trial<'a> {
    let Variant { name, breaks, .. } = variant;
    let wrong = !breaks.is_empty();
    let is_must = |clause: &&str| corpus.clause(clause).is_some_and(|clause| clause.level == Level::Must);
    let breaks_a_must = breaks.iter().any(is_must);
    let mut agent = InProcess::new(variant.implementation());
    let mut trial = Trial {
        bug: name,
        breaks,
        profile: Profile::Universal,
        wrong,
        breaks_a_must,
        failed: Vec::new(),
        counts: false,
        troubles: Vec::new(),
    };
    for case in cases.iter().copied() {
        let is_own = case.clauses.iter().any(|clause| breaks.contains(&&**clause));
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
        let failure = if is_asked { failure(&mut agent, case, expected.get(&*case.id)) } else { None };
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

/// How an agent fails a case, if it does; the expected outcome needs no judge.
fn failure<I: Implementation>(agent: &mut InProcess<I>, case: &Case, expected: Option<&Outcome>) -> Option<Judgement> {
    let terms = Terms { profile: Profile::Universal, abilities: agent.hello().abilities };
    let replies = Replies::of(agent, case, Profile::Universal);
    let result = replies.judged(terms, |_, outcome| expected == Some(outcome));
    result.counts_against(true).then_some(result.judgement)
}
