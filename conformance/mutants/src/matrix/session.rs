//! The kill matrix of sessions: everything that is planted in the agent that keeps threads, against the cases of op `session`.

use crate::catalogue::all;
use crate::planted::{Kind, Planted, sound_sessions};
use crate::trial::{Expected, Selection, Trial, breaks_a_must, failure, is_about};
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use threadspec_judge::corpus::{Case, Corpus, Level};
use threadspec_judge::protocol::{JudgeProfile, Op};
use threadspec_judge::verdict::Judgement;
use threadspec_runner::InProcess;

/// A case whose inputs are larger than this together, in bytes, is put only to bugs that no smaller case of their clauses catches.
const LARGE: usize = 4 << 10;

/// The cases of sessions, the smaller ones first.
pub(super) fn cases<'a>(cases: &[&'a Case]) -> Vec<&'a Case> {
    let is_one = |case: &&Case| case.op == Op::Session && case.is_in(JudgeProfile::Universal) && !case.needs_provider();
    let mut cases: Vec<&Case> = cases.iter().copied().filter(is_one).collect();
    cases.sort_by_cached_key(|case| super::universal::size(case));
    cases
}

/// Each case that the agent fails without a bug, with what is held against it.
pub(super) fn broken<'a>(cases: &[&'a Case]) -> Vec<(&'a Case, Judgement)> {
    let fails = |case: &'a Case| {
        let mut agent = InProcess::new(sound_sessions());
        Some((case, failure(&mut agent, case, JudgeProfile::Universal, &Expected::new())?))
    };
    cases.iter().copied().filter_map(fails).collect()
}

/// Tries every `step`-th bug and reading.
pub(super) fn trials<'a>(corpus: &Corpus, cases: &[&'a Case], selection: Selection, step: usize) -> Vec<Trial<'a>> {
    let of_sessions = all().filter(|planted| planted.kind.of_sessions().is_some());
    let planted: Vec<&'static Planted> = of_sessions.step_by(step).collect();
    planted.into_par_iter().map(|planted| trial(planted, cases, corpus, selection)).collect()
}

/// Each case gets an agent of its own: a bug that needs an earlier session shows only where the case has one.
fn trial<'a>(planted: &Planted, cases: &[&'a Case], corpus: &Corpus, selection: Selection) -> Trial<'a> {
    let Planted { name, breaks, .. } = *planted;
    let wrong = planted.is_wrong_in(JudgeProfile::Universal);
    let breaks_a_must = breaks_a_must(corpus, breaks) && !matches!(planted.kind, Kind::SessionLapse(_));
    let mut trial = Trial { breaks, wrong, breaks_a_must, ..Trial::new(name, JudgeProfile::Universal) };
    let mut unnamed = breaks.to_vec();
    for case in cases.iter().copied() {
        let is_left = wrong && is_about(case, breaks) && (trial.fault().is_some() || !unnamed.is_empty());
        let is_asked = if super::universal::size(case) > LARGE {
            is_left || !wrong && selection == Selection::EveryCase
        } else {
            is_left || selection == Selection::EveryCase || !breaks_a_must
        };
        if !is_asked {
            continue;
        }
        let mut agent = InProcess::new(planted.implementation());
        let Some(failure) = failure(&mut agent, case, JudgeProfile::Universal, &Expected::new()) else { continue };
        trial.counts |= failure.counts_against(case, false);
        unnamed.retain(|clause| !failure.broken.contains(clause));
        if wrong && !breaks_a_must && case.level == Level::Must {
            trial.troubles.push(format!("breaks no `must`, but fails {}: {}", case.id, failure.note));
        }
        if !wrong {
            trial.troubles.push(format!("is right, but fails {}: {}", case.id, failure.note));
        }
        trial.failed.push(case);
    }
    // One fault, one name.
    if wrong && let (Some(clause), Some(case)) = (unnamed.first(), trial.failed.first()) {
        trial.troubles.push(format!("is caught, by {} first, but never called a breach of {clause}", case.id));
    }
    trial
}
