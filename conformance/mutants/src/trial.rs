//! Putting cases to what is planted, and what comes of it.

use crate::Error;
use crate::gateway::Between;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::collections::HashMap;
use threadspec_judge::corpus::{Case, Corpus, Level};
use threadspec_judge::json::DEEP_STACK;
use threadspec_judge::protocol::{JudgeProfile, Request, Transport};
use threadspec_judge::verdict::Outcome;
use threadspec_judge::verdict::{Earlier, Judgement, Terms, Verdict, judge};
use threadspec_runner::Testee;

/// What is planted, in one profile.
#[derive(Clone, Debug)]
pub struct Trial<'a> {
    /// Its name.
    pub bug: &'static str,
    /// The clauses that it breaks; a misbehaving process breaks the protocol instead.
    pub breaks: &'static [&'static str],
    /// The profile.
    pub profile: JudgeProfile,
    /// How its model was asked, if that was over the wire.
    pub transport: Option<Transport>,
    /// Between which APIs it stood, if it is a gateway.
    pub between: Option<Between>,
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
    /// A trial of something that is right in this profile, before any case.
    pub(crate) fn new(bug: &'static str, profile: JudgeProfile) -> Self {
        Self {
            bug,
            breaks: &[],
            profile,
            transport: None,
            between: None,
            wrong: false,
            breaks_a_must: false,
            failed: Vec::new(),
            counts: false,
            troubles: Vec::new(),
        }
    }

    /// In which profile and, over the wire, how.
    pub fn place(&self) -> String {
        if let Some(between) = self.between {
            return between.to_string();
        }
        self.transport
            .map_or_else(|| self.profile.to_string(), |transport| format!("{} over {transport}", self.profile))
    }

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
        if let Some(trouble) = self.troubles.first().filter(|_| self.profile == JudgeProfile::Universal) {
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
    /// Those of the clauses that it breaks, which must suffice to catch it. Readings of the twin get no rows of covering arrays, those of the
    /// agent no large cases.
    OwnClauses,
}

/// What came of bugs that are not in the matrix: those of size, and those of two conditions.
#[derive(Clone, Debug, Default)]
pub struct Survey {
    /// How many were tried, each with one size or pair of conditions, in one place and profile.
    pub trials: usize,
    /// Those that no case caught.
    pub survivors: Vec<String>,
}

/// Whether one of the clauses is a `must`.
pub(crate) fn breaks_a_must(corpus: &Corpus, breaks: &[&str]) -> bool {
    breaks.iter().any(|clause| corpus.clause(clause).is_some_and(|clause| clause.level == Level::Must))
}

/// Whether a case is about one of the clauses.
pub(crate) fn is_about(case: &Case, clauses: &[&str]) -> bool {
    case.clauses.iter().any(|clause| clauses.contains(&&**clause))
}

/// Whether a case is put to every bug of its profile. In the literal and the hardened profile, large cases are put to bugs of size, rows of
/// covering arrays to bugs of two conditions, and both to bugs that nothing else catches.
pub(crate) fn is_for_all_bugs(case: &Case) -> bool {
    !case.is_row() && (!case.is_template || case.is_in(JudgeProfile::Universal))
}

/// Threads with stacks for deep values.
pub(crate) fn workers() -> Result<ThreadPool, Error> {
    Ok(ThreadPoolBuilder::new().stack_size(DEEP_STACK).build()?)
}

/// What is answered without a bug, by case. It is known to be right, and needs no judge.
pub(crate) type Expected<'a> = HashMap<&'a str, Outcome>;

/// What came back for a case.
pub(crate) struct Replies<'a> {
    case: &'a Case,
    terms: Terms,
    earlier: Earlier,
    /// The outcome of the case's own request.
    pub(crate) outcome: Outcome,
}

impl<'a> Replies<'a> {
    /// Puts a case to a testee.
    pub(crate) fn of(testee: &mut dyn Testee, case: &'a Case, profile: JudgeProfile) -> Self {
        let terms = Terms { profile, abilities: testee.hello().abilities };
        let mut earlier = Earlier::default();
        let mut ask = |id: usize, input: &str| {
            let request = case.request(i64::try_from(id).unwrap_or(i64::MAX), profile);
            testee.ask(&Request { input: input.to_owned(), ..request })
        };
        for (step, input) in case.after().iter().enumerate() {
            earlier.hear(case, terms, step, &ask(step, input));
        }
        Self { case, terms, earlier, outcome: ask(case.after().len(), case.input()) }
    }

    /// How the testee fails the case, if it does. The outcome that is expected needs no judge.
    pub(crate) fn failure(self, expected: Option<&Outcome>) -> Option<Judgement> {
        let Self { case, terms, earlier, outcome } = self;
        let is_known = expected == Some(&outcome);
        let own = if is_known { Judgement::new(Verdict::Pass, "") } else { judge(case, terms, outcome) };
        let judgement = earlier.with(own);
        judgement.counts_against(case, true).then_some(judgement)
    }
}

/// How a testee fails a case, if it does.
pub(crate) fn failure(
    testee: &mut dyn Testee,
    case: &Case,
    profile: JudgeProfile,
    expected: &Expected<'_>,
) -> Option<Judgement> {
    Replies::of(testee, case, profile).failure(expected.get(&*case.id))
}

/// What a testee answers to each case of a profile.
pub(crate) fn outcomes<'a>(
    testee: &mut dyn Testee,
    cases: impl Iterator<Item = &'a Case>,
    profile: JudgeProfile,
) -> Expected<'a> {
    let cases = cases.filter(|case| case.is_in(profile));
    cases.map(|case| (&*case.id, Replies::of(testee, case, profile).outcome)).collect()
}
