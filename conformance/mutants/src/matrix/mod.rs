//! The kill matrix: which case catches which planted bug, in which profile.

mod gateway;
mod session;
mod universal;
mod wire;

use crate::Error;
use crate::catalogue::all;
use crate::open::OPEN;
use crate::permitted::{Permitted, permitted};
use crate::planted::{Kind, Planted, sound};
use crate::trial::{Expected, Selection, Trial, breaks_a_must, failure, is_about, is_for_all_bugs, outcomes, workers};
use rayon::ThreadPoolBuilder;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::time::Duration;
use std::{panic, thread};
use threadspec_judge::corpus::{Case, Corpus, Level};
use threadspec_judge::protocol::JudgeProfile;
use threadspec_judge::verdict::Verdict;
use threadspec_runner::{InProcess, Process};
use threadspec_runner::{Settings, run};

/// Every trial.
#[derive(Clone, Debug)]
pub struct Matrix<'a> {
    /// By bug, in the order of the tables, then by profile.
    pub trials: Vec<Trial<'a>>,
    /// The cases that fail without any bug.
    pub broken: Vec<&'a Case>,
    /// Those that must catch something.
    cases: Vec<&'a Case>,
    selection: Selection,
}

impl<'a> Matrix<'a> {
    /// Runs the cases against every bug. `program` is the path of `threadspec-mutants`, which serves as the misbehaving processes.
    ///
    /// Each bug gets every case or, in a fraction of the time, those of the clauses that it breaks. Where it is right, it always gets every
    /// case.
    ///
    /// # Errors
    ///
    /// When the corpus lacks a clause that a bug breaks, or no thread of the operating system can be started.
    pub fn of(corpus: &Corpus, cases: &'a [&'a Case], program: &Path, selection: Selection) -> Result<Self, Error> {
        let unknown = |clause: &&&'static str| corpus.clause(clause).is_none();
        if let Some((bug, clause)) = all().find_map(|bug| Some((bug.name, bug.breaks.iter().find(unknown)?))) {
            return Err(Error::unknown_clause(bug, clause));
        }
        let over_wire = wire::cases(cases);
        let of_sessions = session::cases(cases);
        let of_gateways = gateway::cases(cases);
        let mut broken = universal::broken(cases);
        let through = [&of_gateways[..], &gateway::agent_cases(cases)].concat();
        broken.extend(gateway::broken(&through, 1)?.into_iter().map(|(case, ..)| case));
        broken.extend(session::broken(&of_sessions).into_iter().map(|(case, _)| case));
        broken.extend(wire::broken(&over_wire, |_| true)?.into_iter().map(|(case, _)| case));
        let mut expected: HashMap<JudgeProfile, Expected<'_>> = HashMap::new();
        for profile in JudgeProfile::OWN {
            let ordinary = || cases.iter().copied().filter(|case| is_for_all_bugs(case) && case.is_in(profile));
            let mut twin = InProcess::new(sound());
            broken.extend(ordinary().filter(|case| failure(&mut twin, case, profile, &Expected::new()).is_some()));
            expected.insert(profile, outcomes(&mut twin, ordinary(), profile));
        }
        let is_of_twin = |planted: &&Planted| matches!(planted.kind, Kind::Bug(_));
        let bugs: Vec<(&Planted, JudgeProfile)> =
            all().filter(is_of_twin).flat_map(|bug| JudgeProfile::OWN.map(|profile| (bug, profile))).collect();
        let try_out = |&(bug, profile): &_| trial(bug, profile, cases, &expected[&profile], corpus, selection);
        let judge = |reading: &Permitted| permitted_trial(reading, cases, &expected[&reading.profile], selection);
        let misbehaves = |&name: &_| misbehaviour(name, cases, program);
        let workers = workers()?;
        let patient = ThreadPoolBuilder::new().num_threads(8).build()?;
        let trials = thread::scope(|scope| {
            // These spend most of their time waiting.
            let misbehaviours = scope.spawn(|| {
                let names: Vec<&str> = all().filter_map(misbehaving).collect();
                patient.install(|| names.par_iter().map(misbehaves).collect::<Vec<_>>())
            });
            let (agents, (readings, bugs)) = workers.install(|| {
                rayon::join(
                    || {
                        [
                            universal::trials(corpus, cases, selection),
                            wire::trials(corpus, &over_wire, selection, 1),
                            session::trials(corpus, &of_sessions, selection, 1),
                            gateway::trials(corpus, (&of_gateways, &gateway::agent_cases(cases)), selection, 1),
                        ]
                        .concat()
                    },
                    || {
                        rayon::join(
                            || permitted().par_iter().map(judge).collect::<Vec<_>>(),
                            || bugs.par_iter().map(try_out).collect::<Vec<_>>(),
                        )
                    },
                )
            });
            let misbehaviours = misbehaviours.join().unwrap_or_else(|panic| panic::resume_unwind(panic));
            [bugs, readings, agents, misbehaviours].concat()
        });
        Ok(Self { trials, broken, cases: cases.to_vec(), selection })
    }

    /// The part of the matrix that is over the wire: of every `step`-th bug and reading, the first among them.
    ///
    /// # Errors
    ///
    /// When no thread of the operating system can be started.
    pub fn over_the_wire(
        corpus: &Corpus,
        cases: &'a [&'a Case],
        selection: Selection,
        step: usize,
    ) -> Result<Self, Error> {
        let over_wire = wire::cases(cases);
        let is_put = if selection == Selection::EveryCase { |_: &Case| true } else { Case::needs_wire };
        let broken = wire::broken(&over_wire, is_put)?.into_iter().map(|(case, _)| case).collect();
        let trials = workers()?.install(|| wire::trials(corpus, &over_wire, selection, step));
        let cases = over_wire.into_iter().filter(|case| case.needs_wire()).collect();
        Ok(Self { trials, broken, cases, selection })
    }

    /// The part of the matrix that is about sessions: of every `step`-th bug and reading, the first among them.
    ///
    /// # Errors
    ///
    /// When no thread of the operating system can be started.
    pub fn of_sessions(
        corpus: &Corpus,
        cases: &'a [&'a Case],
        selection: Selection,
        step: usize,
    ) -> Result<Self, Error> {
        let of_sessions = session::cases(cases);
        let broken = session::broken(&of_sessions).into_iter().map(|(case, _)| case).collect();
        let trials = workers()?.install(|| session::trials(corpus, &of_sessions, selection, step));
        Ok(Self { trials, broken, cases: of_sessions, selection })
    }

    /// The part of the matrix that is about gateways: of every `step`-th bug and reading, the first among them.
    ///
    /// # Errors
    ///
    /// When no thread of the operating system can be started.
    pub fn of_gateways(
        corpus: &Corpus,
        cases: &'a [&'a Case],
        selection: Selection,
        step: usize,
    ) -> Result<Self, Error> {
        let of_gateways = gateway::cases(cases);
        let of_agents: Vec<&Case> = gateway::agent_cases(cases).into_iter().step_by(step).collect();
        // There are eighteen places, of which each case gets four where not everything is tried.
        let failed = gateway::broken(&[&of_gateways[..], &of_agents].concat(), if step == 1 { 1 } else { 5 })?;
        let broken = failed.iter().map(|(case, ..)| *case).collect();
        let sound = failed.into_iter().map(|(case, between, failure)| {
            let trouble = format!("is sound, but fails {}: {}", case.id, failure.note);
            let trial = Trial::new("sound-gateway", JudgeProfile::Universal);
            Trial { between: Some(between), troubles: vec![trouble], failed: vec![case], ..trial }
        });
        let sound: Vec<Trial<'a>> = sound.collect();
        let tried = workers()?.install(|| gateway::trials(corpus, (&of_gateways, &of_agents), selection, step));
        Ok(Self { trials: [sound, tried].concat(), broken, cases: of_gateways, selection })
    }

    /// What is wrong with the corpus, as the matrix shows it.
    pub fn faults(&self) -> Vec<String> {
        let broken = self.broken.iter().map(|case| format!("{}: fails without any bug", case.id));
        let faulty: Vec<(&Trial<'_>, String)> =
            self.trials.iter().filter_map(|trial| Some((trial, trial.fault()?))).collect();
        let is_open = |trial: &Trial<'_>| trial.wrong && OPEN.contains(&trial.bug);
        let closed = OPEN
            .iter()
            .filter(|&&open| self.trials.iter().any(|trial| trial.bug == open))
            .filter(|&&open| !faulty.iter().any(|(trial, _)| trial.bug == open));
        let closed = closed.map(|open| format!("{open}: is caught now, so that it is no open hole any more"));
        let trials = faulty.iter().filter(|(trial, _)| !is_open(trial));
        let trials = trials.map(|(trial, fault)| format!("{} ({}): {fault}", trial.bug, trial.place()));
        let caught = self.caught();
        let is_of_no_use = |case: &&&Case| {
            self.selection == Selection::EveryCase && is_for_all_bugs(case) && !caught.contains_key(&*case.id)
        };
        let of_no_use = self.cases.iter().filter(is_of_no_use);
        let of_no_use = of_no_use.map(|case| format!("{}: catches nothing", case.id));
        broken.chain(trials).chain(closed).chain(of_no_use).collect()
    }

    /// For each case that fails a trial, the numbers of those trials.
    fn caught(&self) -> HashMap<&str, BTreeSet<usize>> {
        let mut caught: HashMap<&str, BTreeSet<usize>> = HashMap::new();
        for (number, trial) in self.trials.iter().enumerate() {
            for case in &trial.failed {
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

/// Whether a case catches a planted bug in one of the profiles in which it is wrong; `None` where there is no such bug.
pub fn catches(case: &Case, bug: &str) -> Option<bool> {
    let is_it = |planted: &&Planted| {
        let is_bug =
            matches!(planted.kind, Kind::Bug(_) | Kind::AgentBug(_) | Kind::SessionBug(_) | Kind::SessionLapse(_));
        planted.name == bug && is_bug
    };
    let bug = all().find(is_it)?;
    let is_caught = |&profile: &JudgeProfile| {
        let mut testee = InProcess::new(bug.implementation());
        case.is_in(profile) && failure(&mut testee, case, profile, &Expected::new()).is_some()
    };
    Some(bug.profiles.iter().any(is_caught))
}

fn trial<'a>(
    bug: &Planted,
    profile: JudgeProfile,
    cases: &'a [&'a Case],
    expected: &Expected<'_>,
    corpus: &Corpus,
    selection: Selection,
) -> Trial<'a> {
    let wrong = bug.is_wrong_in(profile);
    let about = |case: &&Case| is_about(case, bug.breaks);
    let of_profile = cases.iter().copied().filter(|case| case.is_in(profile));
    let (ordinary, mut others): (Vec<&Case>, Vec<&Case>) = of_profile.partition(|case| is_for_all_bugs(case));
    let chosen = ordinary.into_iter().filter(|case| !wrong || selection == Selection::EveryCase || about(case));
    let mut trial = Trial {
        breaks: bug.breaks,
        wrong,
        breaks_a_must: breaks_a_must(corpus, bug.breaks),
        ..Trial::new(bug.name, profile)
    };
    let mut testee = InProcess::new(bug.implementation());
    for case in chosen {
        // Where the cases of its clauses must suffice, the first ones that catch it are enough.
        if wrong && selection == Selection::OwnClauses && trial.fault().is_none() {
            break;
        }
        trial.failed.extend(failure(&mut testee, case, profile, expected).map(|_| case));
    }
    trial.counts = trial.failed.iter().any(|case| case.level == Level::Must);
    // The smallest ones that catch it are enough.
    others.retain(|case| wrong && about(case));
    others.sort_by_cached_key(|case| case.input().len());
    for case in others {
        if trial.fault().is_none() {
            break;
        }
        trial.failed.extend(failure(&mut testee, case, profile, expected).map(|_| case));
    }
    trial
}

/// Puts every case of a profile that permits a reading to that reading.
fn permitted_trial<'a>(
    reading: &Permitted,
    cases: &[&'a Case],
    expected: &Expected<'_>,
    selection: Selection,
) -> Trial<'a> {
    let failed = reading.objections_of(cases, selection, expected);
    Trial { failed, ..Trial::new(reading.name, reading.profile) }
}

/// The name of a process whose misbehaviour every run must catch, whatever its cases.
fn misbehaving(planted: &'static Planted) -> Option<&'static str> {
    match planted.kind {
        Kind::Misbehaviour(how) if how.verdict != Verdict::Pass => Some(planted.name),
        _ => None,
    }
}

/// Runs a few cases against a process that misbehaves. It does so with each reply, so a few are enough.
fn misbehaviour<'a>(name: &'static str, cases: &'a [&'a Case], program: &Path) -> Trial<'a> {
    const TIMEOUT: Duration = Duration::from_millis(500);
    let profile = JudgeProfile::Literal;
    let cases: Vec<&Case> = cases.iter().filter(|case| case.is_in(profile)).take(5).copied().collect();
    let command = [&program.display().to_string(), "serve", "--bug", name].map(str::to_owned);
    let (mut failed, mut troubles) = (Vec::new(), Vec::new());
    match Process::start(&command, TIMEOUT) {
        Err(why) => troubles.push(why.to_string()),
        Ok(process) => {
            let settings = Settings { fail_fast: true, ..Settings::new(profile) };
            let run = run(&mut [Box::new(process)], &cases, &settings, &mut ());
            let asked = run.results.iter().filter(|result| result.counts_against(false));
            failed.extend(asked.map(|result| result.case));
            troubles.extend(run.shutdown);
            troubles.extend(run.not_ready.map(|why| why.to_string()));
        }
    }
    let counts = !failed.is_empty();
    Trial { wrong: true, breaks_a_must: true, failed, counts, troubles, ..Trial::new(name, profile) }
}
