//! Putting cases to what is planted, and what comes of it.

use crate::Error;
use crate::open::UNNAMED;
use crate::place::Place;
use rayon::{ThreadPool, ThreadPoolBuilder};
use serde_json::Value;
use std::hash::{DefaultHasher, Hash, Hasher};
use threadspec_judge::corpus::{Case, Corpus, Level};
use threadspec_judge::json::DEEP_STACK;
use threadspec_judge::protocol::{JudgeProfile, Reply, Request};
use threadspec_judge::verdict::Outcome;
use threadspec_judge::verdict::{Earlier, Judgement, Terms, judge};
use threadspec_runner::Testee;

/// A case that something fails.
#[derive(Clone, Debug)]
pub struct Kill<'a> {
    /// The case.
    pub case: &'a Case,
    /// The clauses that the judge calls broken.
    pub names: Vec<&'static str>,
    /// Whether it counts in a run that is not strict.
    pub counts: bool,
}

/// What must come of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Demand {
    /// It is wrong: a case must fail.
    Caught,
    /// It is permitted: no case may fail, but for those of clauses that it does not follow.
    Accepted,
    /// A gateway is wrong, and the agent behind it is right: only clauses of gateways and of the wire may be called broken.
    Spared,
}

/// What is planted, in one place.
#[derive(Clone, Debug)]
pub struct Trial<'a> {
    /// Its name.
    pub fault: &'static str,
    /// The clauses that it breaks; a misbehaving process breaks the protocol instead.
    pub breaks: &'static [&'static str],
    /// Where it is tried: nowhere, if it needs runs or a process of its own.
    pub place: Option<Place>,
    /// What must come of it.
    pub demand: Demand,
    /// Whether one of the clauses is a `must`.
    pub breaks_a_must: bool,
    /// Whether it changed the reply to a case.
    pub shows: bool,
    /// The cases that it failed, whatever their level.
    pub kills: Vec<Kill<'a>>,
    /// The cases beside which the judge called clauses broken, and these clauses.
    pub beside: Vec<Kill<'a>>,
    /// The cases that a quick run found behind smaller ones of its clauses that do not catch it.
    pub sought: Vec<&'a Case>,
    /// What the run of a misbehaving process says against it beyond the cases.
    pub complaints: Vec<String>,
    /// What is wrong with the corpus or the judge, whatever else is caught.
    pub troubles: Vec<String>,
}

impl<'a> Trial<'a> {
    /// A trial before any case.
    pub(crate) fn new(fault: &'static str, demand: Demand) -> Self {
        Self {
            fault,
            breaks: &[],
            place: None,
            demand,
            breaks_a_must: true,
            shows: false,
            kills: Vec::new(),
            beside: Vec::new(),
            sought: Vec::new(),
            complaints: Vec::new(),
            troubles: Vec::new(),
        }
    }

    /// In which profile, over which API, or between which.
    pub fn place(&self) -> String {
        self.place.map_or_else(|| "several at once".to_owned(), |place| place.to_string())
    }

    /// The cases that it failed.
    pub fn failed(&self) -> impl Iterator<Item = &'a Case> {
        self.kills.iter().map(|kill| kill.case)
    }

    /// Returns whether a run that is not strict would excuse it, although it breaks a `must`: only contrived cases catch it.
    pub fn is_excused(&self) -> bool {
        let is_caught = self.demand == Demand::Caught && self.breaks_a_must && !self.kills.is_empty();
        is_caught && self.complaints.is_empty() && self.kills.iter().all(|kill| !kill.counts)
    }

    /// Returns whether it is caught, by a case of each clause, and called by each name.
    pub(crate) fn is_settled(&self) -> bool {
        self.is_caught() && self.unnamed().is_none()
    }

    /// Returns whether it is caught, by a case of each clause.
    pub(crate) fn is_caught(&self) -> bool {
        self.demand == Demand::Caught && self.uncaught().is_none()
    }

    /// What the trial shows to be wrong with the corpus or the judge, if anything.
    pub fn fault(&self) -> Option<String> {
        if let Some(trouble) = self.troubles.first() {
            return Some(trouble.clone());
        }
        if self.demand != Demand::Caught || !self.complaints.is_empty() {
            return None;
        }
        let uncaught = self.uncaught().filter(|_| !self.is_caught_beside());
        uncaught.or_else(|| self.unnamed().filter(|_| !UNNAMED.contains(&self.fault)))
    }

    /// Returns whether no case catches it, but one of its clauses is called broken beside a case.
    pub fn is_caught_beside(&self) -> bool {
        let is_named = |kill: &Kill<'_>| kill.names.iter().any(|name| self.breaks.contains(name));
        self.demand == Demand::Caught && self.kills.is_empty() && self.beside.iter().any(is_named)
    }

    /// Returns whether it is known not to be called by its names, and is now.
    pub(crate) fn is_named_at_last(&self) -> bool {
        UNNAMED.contains(&self.fault) && self.is_settled()
    }

    /// Returns whether it is caught, and known not to be called by its names.
    pub(crate) fn is_known_unnamed(&self) -> bool {
        self.is_caught() && UNNAMED.contains(&self.fault)
    }

    fn uncaught(&self) -> Option<String> {
        // A case of level `should` is enough for a bug that breaks no `must`.
        if !self.failed().any(|case| !self.breaks_a_must || case.level == Level::Must) {
            return Some("survives".to_owned());
        }
        let is_own = |clause: &&&str| !self.failed().any(|case| is_about(case, &[**clause]));
        self.breaks.iter().find(is_own).map(|clause| format!("is caught, but by no case of the clause {clause}"))
    }

    /// One fault, one name. Where profiles compare with the reference, nothing may tell the clauses of a case apart.
    fn unnamed(&self) -> Option<String> {
        let found = self.kills.iter().chain(self.beside.iter().filter(|_| self.kills.is_empty()));
        let is_named = |clause: &&&str| found.clone().any(|kill| kill.names.contains(clause));
        let unnamed = self.breaks.iter().find(|clause| self.is_to_be_named() && !is_named(clause))?;
        let first = self.failed().next().map_or("", |case| &case.id);
        Some(format!("is caught, by {first} first, but never called a breach of {unnamed}"))
    }

    /// Returns whether the judge must call it by the names of its clauses. Over the wire a fault of the agent often shows as another one's.
    fn is_to_be_named(&self) -> bool {
        matches!(self.place, Some(Place::Agent | Place::Sessions | Place::Gateway(_)))
    }
}

/// What came of bugs that are not in the matrix: those of size, and those of two conditions.
#[derive(Clone, Debug, Default)]
pub struct Survey {
    /// How many were tried, each with one size or pair of conditions, in one place and profile.
    pub trials: usize,
    /// Those that no case caught.
    pub survivors: Vec<String>,
}

/// Returns whether one of the clauses is a `must`.
pub(crate) fn breaks_a_must(corpus: &Corpus, breaks: &[&str]) -> bool {
    breaks.iter().any(|clause| corpus.clause(clause).is_some_and(|clause| clause.level == Level::Must))
}

/// Returns whether a case is about one of the clauses.
pub(crate) fn is_about(case: &Case, clauses: &[&str]) -> bool {
    case.clauses.iter().any(|clause| clauses.contains(&&**clause))
}

/// A case whose inputs together have more bytes than this is large.
const LARGE: usize = 4 << 10;

/// Whether a case is put to everything that is planted. Large ones, and rows of covering arrays, are for faults of their clauses that nothing
/// else catches.
pub(crate) fn is_usual(case: &Case) -> bool {
    !case.is_row() && !case.is_template && size(case) <= LARGE
}

/// How large the inputs of a case are together, in bytes.
pub(crate) fn size(case: &Case) -> usize {
    case.inputs().map(str::len).sum()
}

/// Threads with stacks for deep values.
pub(crate) fn workers() -> Result<ThreadPool, Error> {
    Ok(ThreadPoolBuilder::new().stack_size(DEEP_STACK).build()?)
}

/// Adds a value to a hash, in which no two values that differ are the same text.
fn hash(value: &Value, hasher: &mut DefaultHasher) {
    match value {
        Value::String(text) => (0, text).hash(hasher),
        Value::Array(elements) => {
            (1, elements.len()).hash(hasher);
            elements.iter().for_each(|element| hash(element, hasher));
        }
        Value::Object(members) => {
            (2, members.len()).hash(hasher);
            for (name, member) in members {
                name.hash(hasher);
                hash(member, hasher);
            }
        }
        scalar => (3, scalar.to_string()).hash(hasher),
    }
}

/// What came back for the requests of a case.
#[derive(Clone)]
pub(crate) struct CaseReplies {
    terms: Terms,
    outcomes: Vec<Outcome>,
}

impl CaseReplies {
    /// Puts a case to a testee.
    pub(crate) fn of(testee: &mut dyn Testee, case: &Case, profile: JudgeProfile) -> Self {
        Self::to(case.inputs(), testee, case, profile)
    }

    /// Puts only the last input of a case to a testee.
    pub(crate) fn alone(testee: &mut dyn Testee, case: &Case, profile: JudgeProfile) -> Self {
        Self::to([case.input()].into_iter(), testee, case, profile)
    }

    fn to<'c>(
        inputs: impl Iterator<Item = &'c str>,
        testee: &mut dyn Testee,
        case: &Case,
        profile: JudgeProfile,
    ) -> Self {
        let terms = Terms { profile, abilities: testee.hello().abilities };
        let ask = |(id, input): (usize, &str)| {
            let request = case.request(i64::try_from(id).unwrap_or(i64::MAX), profile);
            testee.ask(&Request { input: input.into(), ..request })
        };
        Self { terms, outcomes: inputs.enumerate().map(ask).collect() }
    }

    /// The same for the same replies, up to the last digit and to the order of members.
    pub(crate) fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        for outcome in &self.outcomes {
            match outcome {
                Outcome::Reply(Reply::Ok(output)) => hash(output, &mut hasher),
                other => format!("{other:?}").hash(&mut hasher),
            }
        }
        hasher.finish()
    }

    /// How the testee fails the case, or what is found beside it, if anything.
    pub(crate) fn failure(self, case: &Case) -> Option<Judgement> {
        let judgement = self.judged(case)?;
        if judgement.counts_against(case, true) { Some(judgement) } else { judgement.of_beside() }
    }

    /// What came back for the last request, and the terms that judge it.
    pub(crate) fn own(&self) -> Option<(Terms, &Outcome)> {
        Some((self.terms, self.outcomes.last()?))
    }

    /// The same with another outcome of the last request.
    pub(crate) fn with_own(&self, outcome: Outcome) -> Self {
        let mut replies = self.clone();
        replies.outcomes.pop();
        replies.outcomes.push(outcome);
        replies
    }

    /// How the case ended.
    pub(crate) fn judged(mut self, case: &Case) -> Option<Judgement> {
        let own = self.outcomes.pop()?;
        let mut earlier = Earlier::default();
        for (step, outcome) in self.outcomes.iter().enumerate() {
            earlier.hear(case, self.terms, step, outcome);
        }
        Some(earlier.with(judge(case, self.terms, own)))
    }
}
