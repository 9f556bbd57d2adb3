//! Puts cases to a testee, one after the other, and judges what comes back.

pub(crate) mod iterations;
mod judge;
mod oracles;

pub use judge::{Judgement, Terms, Verdict, judge};

use crate::corpus::Case;
use crate::protocol::{Profile, Request};
use crate::testee::{Outcome, Testee, Trouble, interrupt};
use std::collections::HashMap;

/// After this many cases in a row that cost the testee its process the run ends: the others would only cost time.
pub(crate) const MOST_LOST_IN_A_ROW: usize = 10;

/// Why a run ends after that many.
pub(crate) fn lost_too_many() -> String {
    format!("{MOST_LOST_IN_A_ROW} cases in a row crashed, timed out or got garbage")
}

/// How to run.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// The profile to judge by.
    pub profile: Profile,
    /// Whether a `should` counts.
    pub strict: bool,
    /// Whether the first failure ends the run.
    pub fail_fast: bool,
}

/// A case and how it ended.
#[derive(Clone, Debug)]
pub struct CaseResult<'a> {
    /// The case.
    pub case: &'a Case,
    /// How it ended.
    pub judgement: Judgement,
}

impl CaseResult<'_> {
    /// Whether the case makes the testee not conformant.
    pub fn counts_against(&self, strict: bool) -> bool {
        self.judgement.verdict.counts_against(self.case.level, strict)
    }
}

/// Everything that came of a run.
#[derive(Clone, Debug, Default)]
pub struct Run<'a> {
    /// One result per case, in the order of the cases.
    pub results: Vec<CaseResult<'a>>,
    /// What the testee did wrong in ending.
    pub shutdown: Vec<String>,
    /// Why the run ended before its last case.
    pub stopped: Option<String>,
}

/// Puts the cases to the testee and ends it.
///
/// `progress` hears of each result as it comes; a later second reply can still turn it into garbage.
pub fn run<'a>(
    testee: &mut dyn Testee,
    cases: &[&'a Case],
    settings: Settings,
    progress: &mut dyn FnMut(&CaseResult<'a>),
) -> Run<'a> {
    let ops = testee.hello().ops.clone();
    let terms = Terms { profile: settings.profile, abilities: testee.hello().abilities };
    let mut run = Run::default();
    let mut asked: HashMap<i64, usize> = HashMap::new();
    let (mut last_id, mut lost_in_a_row) = (0, 0);
    for (index, &case) in cases.iter().enumerate() {
        if run.stopped.is_none() && interrupt::requested() {
            run.stopped = Some("interrupted".into());
        }
        let judgement = if let Some(reason) = &run.stopped {
            Judgement::new(Verdict::NotRun, reason)
        } else if ops.contains(&case.op) {
            let mut lost = false;
            for input in &case.after {
                last_id += 1;
                asked.insert(last_id, index);
                let before = Request { input: input.clone(), ..case.request(last_id, settings.profile) };
                // What comes of it is another case's business; what it leaves behind is this one's.
                if let Outcome::Stray { id, what } = testee.ask(&before) {
                    run.blame(asked.get(&id), what);
                    lost = true;
                }
            }
            let outcome = loop {
                last_id += 1;
                asked.insert(last_id, index);
                match testee.ask(&case.request(last_id, settings.profile)) {
                    Outcome::Stray { id, what } => {
                        run.blame(asked.get(&id), what);
                        lost = true;
                    }
                    outcome => break outcome,
                }
            };
            lost |= !matches!(outcome, Outcome::Reply(_));
            lost_in_a_row = if lost { lost_in_a_row + 1 } else { 0 };
            judge(case, terms, outcome)
        } else {
            Judgement::new(Verdict::Unsupported, "not among the ops of its hello")
        };
        let result = CaseResult { case, judgement };
        progress(&result);
        if run.stopped.is_none() {
            run.stopped = if lost_in_a_row == MOST_LOST_IN_A_ROW {
                Some(lost_too_many())
            } else if settings.fail_fast && result.counts_against(settings.strict) {
                Some("the first failure ends the run".into())
            } else {
                None
            };
        }
        run.results.push(result);
    }
    for trouble in testee.finish() {
        match trouble {
            Trouble::Stray { id, what } => run.blame(asked.get(&id), what),
            Trouble::Shutdown(what) => run.shutdown.push(what),
        }
    }
    run
}

impl Run<'_> {
    fn blame(&mut self, case: Option<&usize>, what: String) {
        if let Some(result) = case.and_then(|&index| self.results.get_mut(index)) {
            result.judgement = Judgement::new(Verdict::Garbage, what);
        }
    }
}
