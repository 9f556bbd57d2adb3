//! Runs at the same time: AGENT-INDEPENDENT, where the hello declares that several requests may be sent at once.

use super::worker::{Worker, join};
use super::{Earlier, End, Judgement, Verdict, judge};
use crate::protocol::Profile;
use crate::testee::Outcome;
use std::collections::HashMap;

const CLAUSE: &str = "AGENT-INDEPENDENT";
/// A case, and the runs that come before it, are sent so many times at once.
const TIMES: usize = 4;

const TOGETHER: &str = "only at the same time as other runs: one by one, it passes";

impl Worker<'_, '_, '_> {
    /// Puts the cases of AGENT-INDEPENDENT that pass one by one again, without waiting for any reply.
    pub(super) fn together(&mut self) {
        if self.shared.settings.profile != Profile::Universal || !self.shared.terms.abilities.concurrent {
            return;
        }
        let judged: Vec<usize> = self.part.judged.keys().copied().collect();
        for index in judged {
            let is_own = self.shared.cases[index].clauses.iter().any(|clause| clause == CLAUSE);
            let passes = self.part.judged.get(&index).is_some_and(|judgement| judgement.verdict == Verdict::Pass);
            if is_own && passes && !self.shared.is_over() {
                self.put_together(index);
            }
        }
    }

    fn put_together(&mut self, index: usize) {
        let case = self.shared.cases[index];
        let last = case.after().len();
        let mut waiting = HashMap::new();
        // What the newest run overwrites shows in the others, so that the newest one is not the case.
        for step in (0..=last).cycle().take((last + 1) * TIMES + last) {
            let request = self.request(index, step);
            self.testee.send(&request);
            waiting.insert(request.id, (step, request));
        }
        let mut is_settled = false;
        while !waiting.is_empty() {
            let (id, outcome) = self.testee.receive();
            match outcome {
                Outcome::Interrupted => return self.shared.end_with(End::Interrupted),
                Outcome::NotReady(why) => return self.shared.end_with(End::NotReady(why)),
                outcome if outcome.is_reply() => {
                    let Some((step, request)) = waiting.remove(&id) else { return };
                    if is_settled {
                        continue;
                    }
                    let mut judgement = if step < last {
                        let mut earlier = Earlier::default();
                        earlier.hear(case, self.shared.terms, step, &outcome);
                        earlier.with(Judgement::new(Verdict::Pass, ""))
                    } else {
                        judge(case, self.shared.terms, outcome.clone())
                    };
                    if !matches!(judgement.verdict, Verdict::Pass | Verdict::Unsupported) {
                        judgement.note = join(TOGETHER, &judgement.note);
                        self.shared.watch(|watch| watch.outcome(case, step, &request, &outcome));
                        self.settle(index, judgement, false);
                        is_settled = true;
                    }
                }
                other => {
                    self.started();
                    return self.charge(index, other, TOGETHER);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::corpus::{Case, Corpus, embedded_files};
    use crate::planted::universal::{Together, clashes};
    use crate::protocol::Profile;
    use crate::run::{CaseResult, Settings, Verdict, run};

    fn failed<'a>(agent: Together, cases: &'a [&'a Case]) -> Vec<CaseResult<'a>> {
        let run = run(&mut [Box::new(agent)], cases, &Settings::new(Profile::Universal), &mut ());
        run.results.into_iter().filter(|result| result.counts_against(true)).collect()
    }

    #[test]
    fn runs_at_the_same_time_are_put_to_who_takes_several() {
        let (corpus, problems) = Corpus::read(&embedded_files());
        assert!(problems.is_empty(), "{problems:?}");
        let is_put =
            |case: &&Case| ["agent/independence/", "agent/answered/"].iter().any(|part| case.id.starts_with(part));
        let cases: Vec<&Case> = corpus.cases.iter().filter(is_put).collect();
        for clash in clashes() {
            let found = failed(Together::new(Some(clash)), &cases);
            assert!(!found.is_empty(), "{clash:?}");
            let dies = clash.name.starts_with("dies");
            for CaseResult { case, judgement } in &found {
                // Asked many at once, other cases fail as well, but not when they are asked again one by one.
                assert!(case.id.starts_with("agent/independence/"), "{clash:?}: {} {judgement:?}", case.id);
                let verdict = if dies { Verdict::Crash } else { Verdict::Fail };
                assert!(judgement.verdict == verdict && judgement.note.contains("same time"), "{judgement:?}");
            }
            assert!(failed(Together::new(Some(clash)).undeclared(), &cases).is_empty(), "{clash:?}");
        }
        assert!(failed(Together::new(None), &cases).is_empty());
    }
}
