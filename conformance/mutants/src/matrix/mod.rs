//! The kill matrix: which case catches which fault, in which place.
//!
//! One matrix is for all hosts. Each case meets each fault in a process of its own, as far as the fault can tell, so that no trial depends on the
//! order of the cases. Only where no case catches a fault alone, the cases of its clauses are put to one process, one after the other.

mod fault;
mod several;
mod sound;

use crate::Error;
use crate::catalogue::all;
use crate::open::OPEN;
use crate::place::Place;
use crate::planted::{Kind, Planted};
use crate::trial::{CaseReplies, Demand, Kill, Trial, is_usual, size, workers};
use fault::MatrixFault;
use rayon::iter::{IntoParallelIterator, IntoParallelRefIterator, ParallelIterator};
use sound::SoundReplies;
use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use threadspec_golden::clause;
use threadspec_judge::corpus::{Case, Corpus};
use threadspec_judge::protocol::JudgeProfile;
use threadspec_judge::verdict::Judgement;
use threadspec_runner::{InProcess, Testee};

/// How much is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// Every case of usual size against every fault, wherever that shows. Then the larger ones of its clauses, and rows of covering arrays, the
    /// smallest first, until they catch it and call it by its names.
    Whole,
    /// Every fault once: the cases of its clauses, the smallest first, until they catch it and call it by its names. What is permitted gets every
    /// case of usual size.
    Quick,
}

/// Which faults are tried, and where.
#[derive(Clone, Copy, Debug, Default)]
pub struct ChosenFaults<'n> {
    /// In which places; `None` for all.
    pub places: Option<fn(Place) -> bool>,
    /// The names, of which the end may be left open by `*`; none for all.
    pub names: &'n [String],
    /// One in so many of what is left, the first among them; 0 and 1 for all.
    pub step: usize,
}

impl ChosenFaults<'_> {
    fn has(self, place: Place, name: &str) -> bool {
        let is_called = |wanted: &String| match wanted.strip_suffix('*') {
            Some(beginning) => name.starts_with(beginning),
            None => wanted == name,
        };
        self.places.is_none_or(|has| has(place)) && (self.names.is_empty() || self.names.iter().any(is_called))
    }

    /// Returns whether nothing is left out.
    pub fn is_all(self) -> bool {
        self.places.is_none() && self.names.is_empty() && self.step < 2
    }
}

/// So many of the smallest cases of its clauses are tried at no cost.
const AT_ONCE: usize = 4;

/// Every trial.
#[derive(Clone, Debug)]
pub struct Matrix<'a> {
    /// By fault, in the order of the tables, then by place.
    pub trials: Vec<Trial<'a>>,
    /// What fails with nothing planted: a case, where, and why.
    pub broken: Vec<(&'a Case, Place, String)>,
    cases: &'a [&'a Case],
    effort: Effort,
}

/// The cases by size, the smallest first.
pub fn by_size<'a>(cases: &[&'a Case]) -> Vec<&'a Case> {
    let mut cases = cases.to_vec();
    cases.sort_by_cached_key(|case| size(case));
    cases
}

impl<'a> Matrix<'a> {
    /// Puts cases, the smallest first, to every fault that is chosen. `program` is the path of `threadspec-mutants`, which serves as
    /// the misbehaving processes: they are tried, and so are runs that meet, if nothing is left out.
    ///
    /// # Errors
    ///
    /// When the corpus lacks a clause that a bug breaks, or no thread of the operating system can be started.
    pub fn of(
        corpus: &Corpus,
        cases: &'a [&'a Case],
        program: &Path,
        effort: Effort,
        chosen: ChosenFaults<'_>,
    ) -> Result<Self, Error> {
        let unknown = |clause: &&&'static str| corpus.clause(clause).is_none();
        if let Some((bug, clause)) = all().find_map(|bug| Some((bug.name, bug.breaks.iter().find(unknown)?))) {
            return Err(Error::unknown_clause(bug, clause));
        }
        let sound: Vec<SoundReplies<'_>> = Place::all().map(|place| SoundReplies::new(place, cases)).collect();
        let mut faults = MatrixFault::all(corpus, effort);
        faults.retain(|fault| chosen.has(fault.place, fault.name));
        keep_one_in(chosen.step, &mut faults);
        // Of a family of sizes, the largest first: what catches it often catches the others.
        faults.reverse();
        let try_out = |fault: &MatrixFault| trial(fault, cases, of_place(&sound, fault.place), effort);
        let is_needed = |sound: &&SoundReplies<'_>| faults.iter().any(|fault| fault.place == sound.place);
        workers()?.install(|| sound.par_iter().filter(is_needed).for_each(SoundReplies::put_usual));
        let mut trials: Vec<Trial<'a>> = workers()?.install(|| faults.par_iter().map(try_out).collect());
        if effort == Effort::Whole && chosen.is_all() {
            workers()?.install(|| find_uses(&mut trials, &faults, cases, &sound));
        }
        trials.reverse();
        if chosen.is_all() {
            trials.extend(workers()?.install(|| several::clashes(cases)));
            trials.extend(several::misbehaviours(cases, program)?);
        }
        let broken = sound.iter().flat_map(|sound| {
            sound.broken().map(|(case, failure)| (case, sound.place, failure.note.clone())).collect::<Vec<_>>()
        });
        Ok(Self { trials, broken: broken.collect(), cases, effort })
    }

    /// What is wrong with the corpus, as the matrix shows it.
    pub fn faults(&self) -> Vec<String> {
        let broken =
            self.broken.iter().map(|(case, place, note)| format!("{} ({place}): is sound, but fails: {note}", case.id));
        let faulty: Vec<(&Trial<'_>, String)> =
            self.trials.iter().filter_map(|trial| Some((trial, trial.fault()?))).collect();
        let is_open = |trial: &Trial<'_>| trial.demand == Demand::Caught && OPEN.contains(&trial.fault);
        let closed = OPEN
            .iter()
            .filter(|&&open| self.trials.iter().any(|trial| trial.fault == open))
            .filter(|&&open| !faulty.iter().any(|(trial, _)| trial.fault == open));
        let closed = closed.map(|open| format!("{open}: is caught now, so that it is no open hole any more"));
        // A quick effort stops before the case that might name it.
        let named = self.trials.iter().filter(|trial| self.effort == Effort::Whole && trial.is_named_at_last());
        let named = named.map(|trial| format!("{}: is called by its name now, and can leave the list", trial.fault));
        let trials = faulty.iter().filter(|(trial, _)| !is_open(trial));
        let trials = trials.map(|(trial, fault)| format!("{} ({}): {fault}", trial.fault, trial.place()));
        let caught = self.caught();
        let is_of_no_use =
            |case: &&&Case| self.effort == Effort::Whole && must_be_of_use(case) && !caught.contains_key(&*case.id);
        let of_no_use = self.cases.iter().filter(is_of_no_use);
        let of_no_use = of_no_use.map(|case| format!("{}: catches nothing", case.id));
        broken.chain(trials).chain(closed).chain(named).chain(of_no_use).collect()
    }

    /// For each case that fails a trial, the numbers of those trials.
    fn caught(&self) -> HashMap<&str, BTreeSet<usize>> {
        let mut caught: HashMap<&str, BTreeSet<usize>> = HashMap::new();
        for (number, trial) in self.trials.iter().enumerate() {
            for case in trial.failed() {
                caught.entry(&case.id).or_default().insert(number);
            }
        }
        caught
    }

    /// The cases that catch nothing that another one does not catch, each with that other one. Of cases that catch the same, all but the first
    /// are redundant.
    pub fn redundant(&self) -> Vec<(&'a Case, &'a Case)> {
        let (by_case, nothing) = (self.caught(), BTreeSet::new());
        let caught = |case: &Case| by_case.get(&*case.id).unwrap_or(&nothing);
        let ranked: Vec<(usize, &Case)> = self.cases.iter().copied().enumerate().collect();
        let beside = |&(place, case): &(usize, &'a Case)| {
            let own = caught(case);
            let does_as_much = |&&(other_place, other): &&(usize, &Case)| {
                let others = caught(other);
                own.is_subset(others) && (own.len() < others.len() || other_place < place)
            };
            ranked.iter().find(does_as_much).map(|&(_, other)| (case, other))
        };
        ranked.iter().filter_map(beside).collect()
    }
}

/// Returns whether a case catches a planted bug in one of the places where it is wrong; `None` where there is no such bug.
pub fn catches(case: &Case, bug: &str) -> Option<bool> {
    let is_it = |planted: &&Planted| {
        let is_bug =
            matches!(planted.kind, Kind::Bug(_) | Kind::AgentBug(_) | Kind::SessionBug(_) | Kind::SessionLapse(_));
        planted.name == bug && is_bug
    };
    let bug = all().find(is_it)?;
    let is_caught = |&profile: &_| {
        let mut testee = InProcess::new(bug.implementation());
        case.is_in(profile) && CaseReplies::of(&mut testee, case, profile).failure(case).is_some()
    };
    Some(bug.profiles.iter().any(is_caught))
}

fn of_place<'s, 'a>(sound: &'s [SoundReplies<'a>], place: Place) -> &'s SoundReplies<'a> {
    sound.iter().find(|sound| sound.place == place).expect("it is one of all places")
}

/// Whether a case has to catch something. Rows of covering arrays are for bugs of two conditions; large cases of the literal and the hardened
/// profile are for bugs of size.
fn must_be_of_use(case: &Case) -> bool {
    is_usual(case) || !case.is_row() && case.is_in(JudgeProfile::Universal)
}

/// Leaves one in `step` of what is planted, in all of its places.
fn keep_one_in(step: usize, faults: &mut Vec<MatrixFault>) {
    let (mut number, mut last) = (0, None);
    faults.retain(|fault| {
        if last.replace(fault.name).is_some_and(|last| last != fault.name) {
            number += 1;
        }
        step < 2 || number % step == 0
    });
}

/// Finds, for each large case that no fault was left for, one that it catches as well.
fn find_uses<'a>(trials: &mut [Trial<'a>], faults: &[MatrixFault], cases: &[&'a Case], sound: &[SoundReplies<'_>]) {
    let is_idle = |number: &usize| {
        let case = cases[*number];
        !is_usual(case)
            && must_be_of_use(case)
            && !trials.iter().any(|trial| trial.failed().any(|failed| failed.id == case.id))
    };
    let idle: Vec<usize> = (0..cases.len()).filter(is_idle).collect();
    let use_of = |number: usize| {
        faults.iter().enumerate().find_map(|(at, fault)| {
            let case = cases[number];
            let mut trial = fault.trial();
            if trial.demand == Demand::Caught && fault.place.takes(case) && fault.is_own(case) {
                let mut testee = fault.place.testee(&fault.planted);
                put(&mut *testee, number, fault, cases, of_place(sound, fault.place), &mut trial);
            }
            trial.kills.pop().map(|kill| (at, kill))
        })
    };
    let found: Vec<(usize, Kill<'a>)> = idle.into_par_iter().filter_map(use_of).collect();
    found.into_iter().for_each(|(at, kill)| trials[at].kills.push(kill));
}

/// Returns whether the last run of a case is right if none comes before it. The judge sees one run, and names what is wrong there: that
/// earlier runs are the cause is shown so.
fn is_right_alone(case: &Case, fault: &MatrixFault) -> bool {
    !case.after().is_empty()
        && CaseReplies::alone(&mut *fault.place.testee(&fault.planted), case, fault.place.profile())
            .failure(case)
            .is_none()
}

/// Tries a fault.
fn trial<'a>(fault: &MatrixFault, cases: &[&'a Case], sound: &SoundReplies<'_>, effort: Effort) -> Trial<'a> {
    let mut trial = fault.trial();
    let alone = |number: usize, trial: &mut Trial<'a>| {
        put(&mut *fault.place.testee(&fault.planted), number, fault, cases, sound, trial);
    };
    let (every, mut left) = fault.cases(cases, effort);
    every.iter().for_each(|&number| alone(number, &mut trial));
    let by_size = left.clone();
    if effort == Effort::Quick {
        sound.put_killers_first(fault.name, &mut left);
    }
    for &number in &left {
        // Large cases are for what nothing smaller catches and names.
        if trial.is_settled() || effort == Effort::Quick && trial.is_known_unnamed() {
            break;
        }
        let kills = trial.kills.len();
        alone(number, &mut trial);
        if trial.kills.len() > kills {
            sound.has_killed(fault.name, number);
            trial.sought.push(cases[number]);
        }
    }
    let at_once = &by_size[..by_size.len().min(AT_ONCE)];
    if trial.sought.iter().all(|case| at_once.iter().any(|&number| cases[number].id == case.id)) {
        trial.sought.clear();
    }
    if trial.demand == Demand::Caught && !trial.is_caught() {
        let mut testee = fault.place.testee(&fault.planted);
        let mut own = [every, left].concat();
        own.retain(|&number| fault.is_own(cases[number]));
        own.sort_unstable();
        for number in own {
            put(&mut *testee, number, fault, cases, sound, &mut trial);
        }
    }
    trial
}

/// Puts a case to a testee with a fault, and records what comes of it.
fn put<'a>(
    testee: &mut dyn Testee,
    number: usize,
    fault: &MatrixFault,
    cases: &[&'a Case],
    sound: &SoundReplies<'_>,
    trial: &mut Trial<'a>,
) {
    let case = cases[number];
    let heard = CaseReplies::of(testee, case, fault.place.profile());
    if heard.fingerprint() == sound.fingerprint(number) {
        return;
    }
    trial.shows = true;
    let Some(judgement) = heard.judged(case) else { return };
    if let Some(beside) = judgement.of_beside() {
        trial.troubles.extend(fault.trouble_beside(case, &beside));
        let counts = beside.counts_against(case, false);
        trial.beside.push(Kill { case, names: beside.broken, counts });
    }
    let failure = judgement;
    if !failure.counts_against(case, true) {
        return;
    }
    let trouble = fault.trouble(case, &failure);
    if trouble.is_none() && trial.demand != Demand::Caught {
        return;
    }
    trial.troubles.extend(trouble);
    if !trial.failed().any(|failed| failed.id == case.id) {
        let counts = failure.counts_against(case, false);
        let Judgement { broken: mut names, .. } = failure;
        if fault.breaks_independence() && fault.is_own(case) && is_right_alone(case, fault) {
            names.push(clause::AGENT_INDEPENDENT);
        }
        trial.kills.push(Kill { case, names, counts });
    }
}
