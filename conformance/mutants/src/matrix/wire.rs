//! The kill matrix over the wire: what is planted in the agent that asks its model over HTTP, in each API and mode in which it shows.

use super::universal::size;
use crate::Error;
use crate::catalogue::all;
use crate::over_wire::InOneProcess;
use crate::planted::{Kind, OnWire, Planted};
use crate::trial::{Expected, Selection, Trial, breaks_a_must, failure, is_about, workers};
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use threadspec_judge::corpus::{Case, Corpus, Level};
use threadspec_judge::protocol::{JudgeProfile, Op, Transport};

/// A case whose inputs are larger than this together, in bytes, is put only to bugs that no smaller case of their clauses catches.
const LARGE: usize = 4 << 10;

/// Everything that is planted over the wire, with where it shows.
fn planted() -> impl Iterator<Item = (&'static Planted, OnWire)> {
    all().filter_map(|planted| match planted.kind {
        Kind::WireBug(on_wire) | Kind::WireReading(on_wire) => Some((planted, on_wire)),
        _ => None,
    })
}

/// The cases that can be judged over the wire: those that are about nothing else first, then the smaller ones.
pub(super) fn cases<'a>(cases: &[&'a Case]) -> Vec<&'a Case> {
    let is_one = |case: &&Case| case.op == Op::Tools && case.is_in(JudgeProfile::Universal) && !case.needs_gateway();
    let mut cases: Vec<&Case> = cases.iter().copied().filter(is_one).collect();
    cases.sort_by_cached_key(|case| (!case.needs_wire(), size(case)));
    cases
}

/// The cases that the agent fails without a bug, each with where.
pub(super) fn broken<'a>(cases: &[&'a Case], is_put: fn(&Case) -> bool) -> Result<Vec<(&'a Case, Transport)>, Error> {
    let fails = |transport: Transport| {
        let mut agent = InOneProcess::new(None, transport);
        let mut fails = |case: &&Case| failure(&mut agent, case, JudgeProfile::Universal, &Expected::new()).is_some();
        let cases = cases.iter().copied().filter(|case| case.is_for(transport.api, transport.stream) && is_put(case));
        cases.filter(|case| fails(case)).map(|case| (case, transport)).collect::<Vec<_>>()
    };
    let transports: Vec<Transport> = Transport::all().collect();
    Ok(workers()?.install(|| transports.into_par_iter().flat_map_iter(fails).collect()))
}

/// Tries every bug and every reading wherever it shows; where the cases of its clauses must suffice, in one of these places, by turns.
pub(super) fn trials<'a>(corpus: &Corpus, cases: &[&'a Case], selection: Selection, step: usize) -> Vec<Trial<'a>> {
    let places = planted().enumerate().step_by(step).flat_map(|(turn, (planted, on_wire))| {
        let all: Vec<Transport> = on_wire.modes.each().collect();
        let chosen = if selection == Selection::EveryCase { all } else { vec![all[turn % all.len()]] };
        chosen.into_iter().map(move |transport| (planted, on_wire, transport))
    });
    let places: Vec<(&Planted, OnWire, Transport)> = places.collect();
    let tried = places.into_par_iter();
    tried.map(|(planted, on_wire, at)| trial(planted, on_wire.neglects, at, cases, corpus, selection)).collect()
}

fn trial<'a>(
    planted: &'static Planted,
    neglects: &[&str],
    transport: Transport,
    cases: &[&'a Case],
    corpus: &Corpus,
    selection: Selection,
) -> Trial<'a> {
    let Planted { name, breaks, .. } = *planted;
    let wrong = !planted.is_reading();
    let breaks_a_must = breaks_a_must(corpus, breaks);
    let mut agent = InOneProcess::new(Some(planted), transport);
    let mut trial =
        Trial { breaks, wrong, breaks_a_must, transport: Some(transport), ..Trial::new(name, JudgeProfile::Universal) };
    for case in cases.iter().copied().filter(|case| case.is_for(transport.api, transport.stream)) {
        let is_own = is_about(case, breaks);
        let is_every = selection == Selection::EveryCase;
        let is_asked = if wrong {
            is_own && trial.fault().is_some() || case.needs_wire() && (is_every || !breaks_a_must)
        } else {
            case.needs_wire() || is_every && size(case) <= LARGE
        };
        let Some(failure) = is_asked
            .then(|| failure(&mut agent, case, JudgeProfile::Universal, &Expected::new()))
            .flatten()
            .filter(|_| wrong || !is_about(case, neglects))
        else {
            continue;
        };
        trial.counts |= failure.counts_against(case, false);
        if wrong && !breaks_a_must && case.level == Level::Must {
            trial.troubles.push(format!("breaks no `must`, but fails {}", case.id));
        }
        if !wrong {
            trial.troubles.push(format!("is right, but fails {}: {}", case.id, failure.note));
        }
        trial.failed.push(case);
    }
    trial
}
