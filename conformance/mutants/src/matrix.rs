//! The kill matrix: which case catches which planted bug, in which profile.

use super::open::OPEN;
use super::readings::{Permitted, permitted};
use super::{Bug, all, misbehaviour, sound, universal};
use rayon::ThreadPoolBuilder;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::time::Duration;
use std::{io, panic, thread};
use threadspec::Profile;
use threadspec_judge::corpus::{Case, Corpus, Level};
use threadspec_judge::json::DEEP_STACK;
use threadspec_judge::protocol::{self, Request};
use threadspec_judge::verdict::Outcome;
use threadspec_judge::verdict::{Earlier, Judgement, Terms, Verdict, judge};
use threadspec_runner::{CaseResult, InProcess, Process, Settings, Testee, run};

/// A planted bug in one profile.
#[derive(Clone, Debug)]
pub struct Trial<'a> {
    /// Its name.
    pub bug: &'static str,
    /// The clauses that it breaks; a misbehaving process breaks the protocol instead.
    pub breaks: &'static [&'static str],
    /// The profile.
    pub profile: protocol::Profile,
    /// Whether it is wrong there. If not, no case may say so.
    pub wrong: bool,
    /// Whether one of the clauses is a `must`.
    pub breaks_a_must: bool,
    /// The cases that it failed, whatever their level.
    pub failed: Vec<&'a Case>,
    /// Whether one of them counts in a run that is not strict.
    pub counts: bool,
    /// What the run says against it beyond the cases.
    pub troubles: Vec<String>,
}

impl Trial<'_> {
    /// Whether the corpus catches the bug. A `should` case is enough for a bug that breaks no `must`.
    pub fn is_caught(&self) -> bool {
        let counts = |case: &&Case| !self.wrong || !self.breaks_a_must || case.level == Level::Must;
        !self.troubles.is_empty() || self.failed.iter().any(counts)
    }

    /// Whether a run that is not strict would excuse it, although it breaks a `must`: only contrived cases catch it.
    pub fn is_excused(&self) -> bool {
        self.wrong && self.breaks_a_must && self.is_caught() && self.troubles.is_empty() && !self.counts
    }

    /// What the trial shows to be wrong with the corpus, if anything.
    pub fn fault(&self) -> Option<String> {
        let is_named = |clause: &&str| self.failed.iter().any(|case| case.clauses.iter().any(|named| named == clause));
        if let Some(trouble) = self.troubles.first().filter(|_| self.profile == protocol::Profile::Universal) {
            return Some(trouble.clone());
        }
        match (self.wrong, self.is_caught()) {
            (true, false) => Some("survives".to_owned()),
            (false, true) => Some(format!("is right here, but fails {}", self.failed[0].id)),
            (true, true) => {
                let unnamed = self.breaks.iter().find(|clause| !is_named(clause))?;
                Some(format!("is caught, but by no case of the clause {unnamed}"))
            }
            (false, false) => None,
        }
    }
}

/// Which cases are put to a bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    /// Every case, for the whole matrix.
    EveryCase,
    /// Those of the clauses that it breaks, which must suffice to catch it. Readings get no rows of covering arrays, those of any agent no large
    /// cases.
    OwnClauses,
}

/// Every trial.
#[derive(Clone, Debug)]
pub struct Matrix<'a> {
    /// By bug, in the order of the tables, then by profile.
    pub trials: Vec<Trial<'a>>,
    /// The cases that fail without any bug.
    pub broken: Vec<&'a Case>,
    cases: &'a [&'a Case],
    selection: Selection,
}

impl<'a> Matrix<'a> {
    /// Runs the cases against every bug. `program` is the path of `threadspec`, which serves as the misbehaving processes.
    ///
    /// Each bug gets every case, or, in a fraction of the time, those of the clauses that it breaks; where it is right
    /// it always gets every case.
    ///
    /// # Errors
    ///
    /// When the corpus lacks a clause that a bug breaks, or no thread of the operating system can be started.
    pub fn of(corpus: &Corpus, cases: &'a [&'a Case], program: &Path, selection: Selection) -> io::Result<Self> {
        let unknown = |bug: &Bug| bug.breaks.iter().copied().find(|clause| corpus.clause(clause).is_none());
        if let Some((bug, clause)) = all().find_map(|bug| Some((bug.name, unknown(bug)?))) {
            return Err(io::Error::other(format!("{bug} breaks {clause}, a clause that the corpus does not have")));
        }
        let mut broken = universal::broken(cases);
        let mut expected: HashMap<Profile, HashMap<&str, Outcome>> = HashMap::new();
        for profile in Profile::ALL {
            let ordinary = cases.iter().copied().filter(|case| is_for_all_bugs(case));
            let replies = replies(&mut InProcess::new(sound()), ordinary, profile);
            broken.extend(judged(replies.clone(), profile, |_, _| false));
            expected.insert(profile, replies.into_iter().map(|replies| (&*replies.case.id, replies.outcome)).collect());
        }
        let bugs: Vec<(&Bug, Profile)> = all().flat_map(|bug| Profile::ALL.map(|profile| (bug, profile))).collect();
        let try_out = |&(bug, profile): &_| trial(bug, profile, cases, &expected[&profile], corpus, selection);
        let judge = |reading: &Permitted| permitted_trial(reading, cases, &expected[&reading.profile], selection);
        let names: Vec<&str> = misbehaviour::names().collect();
        let misbehaves = |&name: &_| misbehaviour(name, cases, program);
        let workers = ThreadPoolBuilder::new().stack_size(DEEP_STACK).build().map_err(io::Error::other)?;
        let patient = ThreadPoolBuilder::new().num_threads(8).build().map_err(io::Error::other)?;
        let trials = thread::scope(|scope| {
            // These wait, most of the time.
            let misbehaviours =
                scope.spawn(|| patient.install(|| names.par_iter().map(misbehaves).collect::<Vec<_>>()));
            let (agents, (readings, bugs)) = workers.install(|| {
                rayon::join(
                    || universal::trials(corpus, cases, selection),
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
        Ok(Self { trials, broken, cases, selection })
    }

    /// What is wrong with the corpus, as the matrix shows it.
    pub fn faults(&self) -> Vec<String> {
        let broken = self.broken.iter().map(|case| format!("{}: fails without any bug", case.id));
        let faulty: Vec<(&Trial<'_>, String)> =
            self.trials.iter().filter_map(|trial| Some((trial, trial.fault()?))).collect();
        let is_open = |trial: &Trial<'_>| trial.wrong && OPEN.contains(&trial.bug);
        let closed = OPEN.iter().filter(|&&open| !faulty.iter().any(|(trial, _)| trial.bug == open));
        let closed = closed.map(|open| format!("{open}: is caught now, so that it is no open hole any more"));
        let trials = faulty.iter().filter(|(trial, _)| !is_open(trial));
        let trials = trials.map(|(trial, fault)| format!("{} ({}): {fault}", trial.bug, trial.profile));
        let caught = self.caught();
        let is_of_no_use = |case: &&&Case| {
            self.selection == Selection::EveryCase && is_for_all_bugs(case) && !caught.contains_key(&*case.id)
        };
        let of_no_use = self.cases.iter().filter(is_of_no_use);
        let of_no_use = of_no_use.map(|case| format!("{}: catches nothing", case.id));
        broken.chain(trials).chain(closed).chain(of_no_use).collect()
    }

    /// By case, the numbers of the trials that it fails; a case that fails none is not there.
    fn caught(&self) -> HashMap<&str, BTreeSet<usize>> {
        let mut caught: HashMap<&str, BTreeSet<usize>> = HashMap::new();
        for (number, trial) in self.trials.iter().enumerate() {
            for case in &trial.failed {
                caught.entry(&case.id).or_default().insert(number);
            }
        }
        caught
    }

    /// The cases that catch nothing that another one does not catch, each with that other; of cases that catch the same,
    /// all but the first.
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

/// Whether a case is put to every bug of its profile. In the literal and the hardened profile, large cases are put to bugs of size
/// (`planted::growth`), rows of covering arrays to bugs of two conditions (`planted::pairs`), and both to bugs that nothing else catches.
pub(super) fn is_for_all_bugs(case: &Case) -> bool {
    !case.is_row() && (!case.is_template || case.is_in(protocol::Profile::Universal))
}

/// What came back for a case.
#[derive(Clone)]
pub(super) struct Replies<'a> {
    pub(super) case: &'a Case,
    earlier: Earlier,
    /// The outcome of the case's own request.
    pub(super) outcome: Outcome,
}

/// Each case of the profile with what came back.
pub(super) fn replies<'a>(
    testee: &mut dyn Testee,
    cases: impl Iterator<Item = &'a Case>,
    profile: impl Into<protocol::Profile>,
) -> Vec<Replies<'a>> {
    let profile = profile.into();
    let cases = cases.filter(|case| case.is_in(profile));
    cases.map(|case| Replies::of(testee, case, profile)).collect()
}

impl<'a> Replies<'a> {
    /// Puts a case to a testee.
    pub(super) fn of(testee: &mut dyn Testee, case: &'a Case, profile: impl Into<protocol::Profile>) -> Self {
        let terms = Terms { profile: profile.into(), abilities: testee.hello().abilities };
        let mut earlier = Earlier::default();
        let mut ask = |id: usize, input: &str| {
            let request = case.request(i64::try_from(id).unwrap_or(i64::MAX), terms.profile);
            testee.ask(&Request { input: input.to_owned(), ..request })
        };
        for (step, input) in case.after().iter().enumerate() {
            earlier.hear(case, terms, step, &ask(step, input));
        }
        Self { case, earlier, outcome: ask(case.after().len(), case.input()) }
    }

    /// How the case ends. An outcome that is known to be good needs no judge.
    pub(super) fn judged(self, terms: impl Into<Terms>, is_known: impl Fn(&Case, &Outcome) -> bool) -> CaseResult<'a> {
        let Self { case, earlier, outcome } = self;
        let is_known = is_known(case, &outcome);
        let own = if is_known { Judgement::new(Verdict::Pass, "") } else { judge(case, terms, outcome) };
        CaseResult { case, judgement: earlier.with(own) }
    }
}

/// The cases that fail; those whose outcome is known to be good need no judge.
pub(super) fn judged(
    replies: Vec<Replies<'_>>,
    profile: Profile,
    is_known: impl Fn(&Case, &Outcome) -> bool,
) -> Vec<&Case> {
    let results = replies.into_iter().map(|replies| replies.judged(profile, &is_known));
    results.filter(|result| result.counts_against(true)).map(|result| result.case).collect()
}

/// Whether a case catches a planted bug in one of the profiles in which it is wrong; `None` where there is no such bug.
pub fn catches(case: &Case, bug: &str) -> Option<bool> {
    if case.is_in(protocol::Profile::Universal) {
        return universal::catches(case, bug);
    }
    let bug = all().find(|planted| planted.name == bug)?;
    let is_caught = |profile: &Profile| {
        let replies = replies(&mut InProcess::new(bug.implementation()), [case].into_iter(), *profile);
        !judged(replies, *profile, |_, _| false).is_empty()
    };
    Some(bug.profiles.iter().any(is_caught))
}

fn trial<'a>(
    bug: &Bug,
    profile: Profile,
    cases: &'a [&'a Case],
    expected: &HashMap<&str, Outcome>,
    corpus: &Corpus,
    selection: Selection,
) -> Trial<'a> {
    let wrong = bug.profiles.contains(&profile);
    let is_must = |clause: &&str| corpus.clause(clause).is_some_and(|clause| clause.level == Level::Must);
    let about = |case: &&&Case| case.clauses.iter().any(|clause| bug.breaks.contains(&&**clause));
    let (ordinary, mut others): (Vec<&Case>, Vec<&Case>) = cases.iter().partition(|case| is_for_all_bugs(case));
    let chosen = ordinary.into_iter().filter(|case| !wrong || selection == Selection::EveryCase || about(&case));
    let mut trial = Trial {
        bug: bug.name,
        breaks: bug.breaks,
        profile: profile.into(),
        wrong,
        breaks_a_must: bug.breaks.iter().any(is_must),
        failed: Vec::new(),
        counts: false,
        troubles: Vec::new(),
    };
    let mut testee = InProcess::new(bug.implementation());
    for case in chosen {
        // Where the cases of its clauses must suffice, the first ones that do are enough.
        if wrong && selection == Selection::OwnClauses && trial.fault().is_none() {
            break;
        }
        let replies = replies(&mut testee, [case].into_iter(), profile);
        trial.failed.extend(judged(replies, profile, |case, outcome| expected.get(&*case.id) == Some(outcome)));
        trial.counts = trial.failed.iter().any(|case| case.level == Level::Must);
    }
    // The smallest that do are enough.
    others.retain(|case| wrong && about(&case));
    others.sort_by_cached_key(|case| case.input().len());
    for case in others {
        if trial.fault().is_none() {
            break;
        }
        let replies = replies(&mut testee, [case].into_iter(), profile);
        trial.failed.extend(judged(replies, profile, |_, _| false));
    }
    trial
}

/// Puts every case of a profile that permits a reading to that reading.
fn permitted_trial<'a>(
    reading: &Permitted,
    cases: &[&'a Case],
    expected: &HashMap<&str, Outcome>,
    selection: Selection,
) -> Trial<'a> {
    let Permitted { name, profile, .. } = *reading;
    let failed = reading.objections(cases, selection, |case, outcome| expected.get(&*case.id) == Some(outcome));
    Trial {
        bug: name,
        breaks: &[],
        profile: profile.into(),
        wrong: false,
        breaks_a_must: false,
        failed,
        counts: false,
        troubles: Vec::new(),
    }
}

/// Runs a few cases against a process that misbehaves; it does so with each reply, so a few are enough.
fn misbehaviour<'a>(name: &'static str, cases: &'a [&'a Case], program: &Path) -> Trial<'a> {
    const TIMEOUT: Duration = Duration::from_millis(500);
    let profile = Profile::Literal;
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
    Trial {
        bug: name,
        breaks: &[],
        profile: profile.into(),
        wrong: true,
        breaks_a_must: true,
        failed,
        counts,
        troubles,
    }
}
