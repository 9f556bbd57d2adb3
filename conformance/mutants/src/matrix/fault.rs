//! The faults of a matrix: everything that is planted, wherever it shows, with what must come of it there.

use super::Effort;
use crate::catalogue::all;
use crate::open::HARSH;
use crate::permitted::permitted;
use crate::place::Place;
use crate::planted::{Kind, OnGateway, OnWire, Planted};
use crate::trial::{Demand, Trial, breaks_a_must, is_about, is_usual};
use threadspec_golden::clause;
use threadspec_judge::corpus::{Case, Corpus, Level};
use threadspec_judge::verdict::Judgement;

/// With a quick effort, a gateway's fault is tried with one in so many of the cases of agents; a prime.
const EVERY: usize = 23;
/// With a quick effort, a bug that breaks no `must` gets one in so many of the `must` cases of other clauses; a prime.
const EVERY_MUST: usize = 7;

/// Something that is planted, in one place.
pub(super) struct MatrixFault {
    pub(super) name: &'static str,
    pub(super) planted: Vec<&'static Planted>,
    pub(super) place: Place,
    demand: Demand,
    breaks: &'static [&'static str],
    /// The `should` clauses that a reading does not follow. Only cases of these may object.
    neglects: Vec<&'static str>,
    breaks_a_must: bool,
    /// Of the cases behind a gateway, which one is the first, and how many lie between.
    turn: (usize, usize),
}

impl MatrixFault {
    /// All of them. With a quick effort each is tried in one of the places where it is wrong, or permitted, by turns.
    pub(super) fn all(corpus: &Corpus, effort: Effort) -> Vec<Self> {
        let mut readings = permitted();
        if effort == Effort::Quick {
            readings.retain(|reading| match &*reading.planted {
                [one] => reading.profile == one.profiles[one.name.len() % one.profiles.len()],
                _ => true,
            });
        }
        let readings = readings.into_iter().map(|reading| Self {
            name: reading.name,
            place: Place::Twin(reading.profile),
            demand: Demand::Accepted,
            breaks: &[],
            neglects: reading.neglects,
            breaks_a_must: false,
            turn: (0, 1),
            planted: reading.planted,
        });
        // The readings of the twin are tried together as well.
        let others = all().filter(|planted| !matches!(planted.kind, Kind::Reading(_))).enumerate();
        let others = others.flat_map(|(turn, planted)| {
            let mut places = Place::of(planted);
            let several = places.len();
            if effort == Effort::Quick && several > 0 {
                places.retain(|place| planted.is_reading() || planted.is_wrong_in(place.profile()));
                places = vec![places[turn % places.len()]];
            }
            let of_place = move |(number, place): (usize, Place)| {
                let step = if effort == Effort::Quick { (turn % EVERY, EVERY) } else { (number, several) };
                let behind = match place {
                    Place::Gateway(between) => Some(Self::of(corpus, planted, Place::Behind(between), step)),
                    _ => None,
                };
                [Some(Self::of(corpus, planted, place, (0, 1))), behind].into_iter().flatten()
            };
            places.into_iter().enumerate().flat_map(of_place)
        });
        readings.chain(others).collect()
    }

    fn of(corpus: &Corpus, planted: &'static Planted, place: Place, turn: (usize, usize)) -> Self {
        let Planted { name, breaks, kind, .. } = *planted;
        let is_spared = matches!(place, Place::Behind(_)) && !planted.is_reading();
        let demand = match planted.is_wrong_in(place.profile()) {
            true if is_spared => Demand::Spared,
            true => Demand::Caught,
            false => Demand::Accepted,
        };
        let neglects = match kind {
            Kind::WireReading(OnWire { neglects, .. }) | Kind::GatewayReading(OnGateway { neglects, .. }) => {
                neglects.to_vec()
            }
            _ => Vec::new(),
        };
        let breaks_a_must = breaks_a_must(corpus, breaks) && !matches!(kind, Kind::SessionLapse(_));
        Self { name, planted: vec![planted], place, demand, breaks, neglects, breaks_a_must, turn }
    }

    /// Its trial, before any case.
    pub(super) fn trial<'a>(&self) -> Trial<'a> {
        let Self { breaks, place, breaks_a_must, .. } = *self;
        Trial { breaks, place: Some(place), breaks_a_must, ..Trial::new(self.name, self.demand) }
    }

    /// The numbers of the cases that are put to it whatever comes of others, and of those that are put to it until it is settled. Both are in the
    /// order of the cases.
    pub(super) fn cases(&self, cases: &[&Case], effort: Effort) -> (Vec<usize>, Vec<usize>) {
        let (first, step) = self.turn;
        let taken = (0..cases.len()).filter(|&case| self.place.takes(cases[case])).skip(first).step_by(step);
        let is_whole = effort == Effort::Whole;
        let is_put = |number: usize| {
            let case = cases[number];
            let is_turn = (number + self.name.len()).is_multiple_of(EVERY_MUST);
            match self.demand {
                Demand::Caught if is_whole => is_usual(case),
                Demand::Caught => is_turn && self.must_pass_musts() && case.level == Level::Must && is_usual(case),
                Demand::Accepted if is_about(case, &self.neglects) => false,
                // Most of what is permitted over the wire shows in cases of the wire.
                Demand::Accepted if !is_whole && matches!(self.place, Place::Wire(_)) && !case.needs_wire() => {
                    is_turn && is_usual(case)
                }
                Demand::Accepted => is_usual(case) || is_whole && self.takes_large(),
                Demand::Spared => is_usual(case),
            }
        };
        let (put, others): (Vec<usize>, Vec<usize>) = taken.partition(|&number| is_put(number));
        let is_left = |case: &Case| self.demand == Demand::Caught && self.is_own(case);
        (put, others.into_iter().filter(|&case| is_left(cases[case])).collect())
    }

    /// Whether a reading gets every case. Where it is tried in several places, or beside others, those of usual size are enough.
    fn takes_large(&self) -> bool {
        matches!(self.place, Place::Agent | Place::Sessions)
    }

    /// Whether it breaks no `must`, so that it has to pass every case of one. Some faults of the twin do more harm: see `neglectful`.
    fn must_pass_musts(&self) -> bool {
        self.demand == Demand::Caught && !self.breaks_a_must && !matches!(self.place, Place::Twin(_))
    }

    /// Returns whether one run changes another.
    pub(super) fn breaks_independence(&self) -> bool {
        self.breaks.contains(&clause::AGENT_INDEPENDENT)
    }

    /// Returns whether a case is about a clause that it breaks.
    pub(super) fn is_own(&self, case: &Case) -> bool {
        is_about(case, self.breaks)
    }

    /// What is wrong with a finding beside a case, if anything: it accuses what breaks no `must`.
    pub(super) fn trouble_beside(&self, case: &Case, beside: &Judgement) -> Option<String> {
        let is_of_gateways = |clause: &&str| clause.starts_with("GATE-") || clause.starts_with("WIRE-");
        let what = match self.demand {
            Demand::Accepted => "is right",
            Demand::Caught if self.must_pass_musts() && !HARSH.iter().any(|name| self.name.starts_with(name)) => {
                "breaks no `must`"
            }
            Demand::Spared if !beside.broken.iter().all(is_of_gateways) => "is the gateway's fault alone",
            Demand::Caught | Demand::Spared => return None,
        };
        Some(format!("{what}, but is accused beside {}: {}", case.id, beside.note))
    }

    /// What is wrong with a failure, if anything.
    pub(super) fn trouble(&self, case: &Case, failure: &Judgement) -> Option<String> {
        let is_of_gateways = |clause: &&str| clause.starts_with("GATE-") || clause.starts_with("WIRE-");
        let is_neglected = |clause: &&str| self.neglects.contains(clause);
        let is_behind = matches!(self.place, Place::Behind(_));
        let what = match self.demand {
            Demand::Caught if self.must_pass_musts() && case.level == Level::Must => "breaks no `must`",
            Demand::Accepted if is_behind && !failure.broken.is_empty() && failure.broken.iter().all(is_neglected) => {
                return None;
            }
            Demand::Accepted => "is right",
            Demand::Spared if !failure.broken.iter().all(is_of_gateways) => "is the gateway's fault alone",
            Demand::Caught | Demand::Spared => return None,
        };
        Some(format!("{what}, but fails {}: {}", case.id, failure.note))
    }
}
