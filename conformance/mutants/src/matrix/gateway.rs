//! The kill matrix of gateways: everything that is planted in the test gateways, between each pair of APIs and in each mode in which it shows.

use super::universal::size;
use super::wire;
use crate::Error;
use crate::catalogue::all;
use crate::gateway::Between;
use crate::gateways::ThroughTestGateway;
use crate::planted::{Kind, OnGateway, Planted};
use crate::trial::{Expected, Selection, Trial, breaks_a_must, failure, is_about, workers};
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use threadspec_judge::corpus::{Case, Corpus, Level};
use threadspec_judge::protocol::JudgeProfile;
use threadspec_judge::verdict::Judgement;

/// Of the cases of agents, each bug and reading is put to one in so many, where the cases of its clauses must suffice; a prime.
const EVERY: usize = 23;

/// The cases that are put to gateways: those that are about nothing else, the smaller ones first.
pub(super) fn cases<'a>(cases: &[&'a Case]) -> Vec<&'a Case> {
    let is_one = |case: &&Case| case.needs_gateway() && case.is_in(JudgeProfile::Universal);
    let mut cases: Vec<&Case> = cases.iter().copied().filter(is_one).collect();
    cases.sort_by_cached_key(|case| size(case));
    cases
}

/// The cases that are put to agents behind a gateway as well: those of usual size that no clause of the wire judges.
pub(super) fn agent_cases<'a>(cases: &[&'a Case]) -> Vec<&'a Case> {
    let is_one = |case: &&Case| !case.is_row() && !case.is_template && !case.needs_wire();
    wire::cases(cases).into_iter().filter(is_one).collect()
}

/// Everything that is planted in gateways, with where it shows.
fn planted() -> impl Iterator<Item = (&'static Planted, OnGateway)> {
    all().filter_map(|planted| match planted.kind {
        Kind::GatewayBug(on_gateway) | Kind::GatewayReading(on_gateway) => Some((planted, on_gateway)),
        _ => None,
    })
}

/// The cases that a gateway fails without a bug, each with where, and what is held against it. Each place gets every `step`-th case, by turns.
pub(super) fn broken<'a>(cases: &[&'a Case], step: usize) -> Result<Vec<(&'a Case, Between, Judgement)>, Error> {
    let fails = |(turn, between): (usize, Between)| {
        let (mut testee, mut failed) = (ThroughTestGateway::new(None, between), Vec::new());
        let put = cases.iter().copied().skip(turn % step).step_by(step);
        for case in put.filter(|case| case.is_for(between.client, between.stream)) {
            let failure = failure(&mut testee, case, JudgeProfile::Universal, &Expected::new());
            failed.extend(failure.map(|failure| (case, between, failure)));
        }
        failed
    };
    let places: Vec<(usize, Between)> = Between::all().enumerate().collect();
    Ok(workers()?.install(|| places.into_par_iter().flat_map_iter(fails).collect()))
}

/// Tries every `step`-th bug and reading wherever it shows; where the cases of its clauses must suffice, in one of these places, by turns.
/// Of the cases of agents, each trial gets some, by turns; with every case, those of all places together are all: the agent's part is the
/// same in each place.
pub(super) fn trials<'a>(
    corpus: &Corpus,
    (cases, of_agents): (&[&'a Case], &[&'a Case]),
    selection: Selection,
    step: usize,
) -> Vec<Trial<'a>> {
    let places = planted().enumerate().step_by(step).flat_map(|(turn, (planted, on_gateway))| {
        let all: Vec<Between> = on_gateway.places.each().collect();
        let number = all.len();
        let (chosen, first, every) = match selection {
            Selection::EveryCase => (all, 0, number),
            Selection::OwnClauses => (vec![all[turn % number]], turn % EVERY, EVERY),
        };
        chosen.into_iter().enumerate().map(move |(place, between)| (planted, on_gateway, between, first + place, every))
    });
    let places: Vec<(&Planted, OnGateway, Between, usize, usize)> = places.collect();
    let tried = places.into_par_iter();
    tried
        .map(|(planted, on_gateway, at, first, every)| {
            let mut trial = trial(planted, on_gateway.neglects, at, cases, corpus, selection);
            let agents = of_agents.iter().copied().skip(first).step_by(every);
            put_agents(&mut trial, planted, on_gateway.neglects, at, agents);
            trial
        })
        .collect()
}

/// Has an agent that is right ask through the gateway: whatever the gateway does, it is never the agent's fault.
fn put_agents<'a>(
    trial: &mut Trial<'a>,
    planted: &'static Planted,
    neglects: &[&str],
    between: Between,
    cases: impl Iterator<Item = &'a Case>,
) {
    let mut testee = ThroughTestGateway::new(Some(planted), between);
    let is_of_gateways = |clause: &&str| clause.starts_with("GATE-") || clause.starts_with("WIRE-");
    for case in cases.filter(|case| case.is_for(between.upstream, between.stream)) {
        let Some(failure) = failure(&mut testee, case, JudgeProfile::Universal, &Expected::new()) else { continue };
        let is_neglected = failure.broken.iter().all(|clause| neglects.contains(clause));
        if planted.is_reading() && (!is_neglected || failure.broken.is_empty()) {
            trial.troubles.push(format!("is right, but fails {}: {}", case.id, failure.note));
        } else if !planted.is_reading() && !failure.broken.iter().all(is_of_gateways) {
            trial.troubles.push(format!("is the gateway's fault alone, but fails {}: {}", case.id, failure.note));
        }
    }
}

/// One gateway gets all cases, as it would in a run: a bug that needs an earlier run shows.
fn trial<'a>(
    planted: &'static Planted,
    neglects: &[&str],
    between: Between,
    cases: &[&'a Case],
    corpus: &Corpus,
    selection: Selection,
) -> Trial<'a> {
    let Planted { name, breaks, .. } = *planted;
    let wrong = !planted.is_reading();
    let breaks_a_must = breaks_a_must(corpus, breaks);
    let mut testee = ThroughTestGateway::new(Some(planted), between);
    let trial = Trial::new(name, JudgeProfile::Universal);
    let mut trial = Trial { breaks, wrong, breaks_a_must, between: Some(between), ..trial };
    let (mut unnamed, mut first) = (breaks.to_vec(), None);
    for case in cases.iter().copied().filter(|case| case.is_for(between.client, between.stream)) {
        let is_left = is_about(case, breaks) && (trial.fault().is_some() || !unnamed.is_empty());
        if wrong
            && !is_left
            && (breaks_a_must || selection == Selection::OwnClauses)
            && selection != Selection::EveryCase
        {
            continue;
        }
        let found = failure(&mut testee, case, JudgeProfile::Universal, &Expected::new());
        let Some(failure) = found.filter(|_| wrong || !is_about(case, neglects)) else { continue };
        trial.counts |= failure.counts_against(case, false);
        unnamed.retain(|clause| !failure.broken.contains(clause));
        if wrong && !breaks_a_must && case.level == Level::Must {
            trial.troubles.push(format!("breaks no `must`, but fails {}: {}", case.id, failure.note));
        }
        if !wrong {
            trial.troubles.push(format!("is right, but fails {}: {}", case.id, failure.note));
        }
        first.get_or_insert(failure.note);
        trial.failed.push(case);
    }
    // One fault, one name.
    if wrong && let (Some(clause), Some(case), Some(note)) = (unnamed.first(), trial.failed.first(), first) {
        trial.troubles.push(format!("is never called a breach of {clause}, but fails {}: {note}", case.id));
    }
    trial
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadspec::oracle::Api;
    use threadspec_judge::corpus::embedded;
    use threadspec_judge::json::on_deep_stack;

    /// A client of Anthropic reads an input that is no object, which no model can have said in that API: that excuses no gateway.
    #[test]
    fn what_no_model_can_have_said_is_held_against_the_gateway() {
        let (corpus, _) = embedded();
        let cases: Vec<&Case> = corpus.cases.iter().filter(|case| case.id == "gateway/answers/three-calls").collect();
        let bug = all().find(|planted| planted.name == "arguments-of-all-calls-with-the-first-one").expect("a bug");
        let between = Between { client: Api::Anthropic, upstream: Api::OpenAiChat, stream: false };
        let fault = on_deep_stack(|| trial(bug, &[], between, &cases, corpus, Selection::EveryCase).fault());
        assert_eq!(fault.expect("a thread can be started"), None);
    }
}
