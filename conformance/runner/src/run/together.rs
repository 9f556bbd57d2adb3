//! Runs at the same time: AGENT-INDEPENDENT, where the hello declares that several requests may be sent at once.

use super::Ending;
use super::worker::{Worker, has_its_process_to_itself, join};
use std::collections::HashMap;
use threadspec_golden::clause;
use threadspec_judge::protocol::JudgeProfile;
use threadspec_judge::verdict::Outcome;
use threadspec_judge::verdict::{Earlier, Judgement, Verdict, judge};

const CLAUSE: &str = clause::AGENT_INDEPENDENT;
/// A case, and the runs that come before it, are sent so many times at once.
const TIMES: usize = 4;

const TOGETHER: &str = "only at the same time as other runs: one by one, it passes";

impl Worker<'_, '_, '_> {
    /// Puts the cases of AGENT-INDEPENDENT that pass one by one again, without waiting for any reply.
    pub(super) fn together(&mut self) {
        if self.shared.settings.profile != JudgeProfile::Universal || !self.shared.terms.abilities.concurrent {
            return;
        }
        let judged: Vec<usize> = self.part.judged.keys().copied().collect();
        for index in judged {
            let is_own = self.shared.cases[index].clauses.iter().any(|clause| clause == CLAUSE);
            let passes = self.part.judged.get(&index).is_some_and(|judgement| judgement.verdict == Verdict::Pass);
            let is_alone = has_its_process_to_itself(self.shared.cases[index]);
            if is_own && passes && !is_alone && !self.shared.is_over() {
                self.put_together(index);
            }
        }
    }

    fn put_together(&mut self, index: usize) {
        let case = &*self.shared.cases[index].for_a_while();
        let last = case.after().len();
        let mut waiting = HashMap::new();
        // What the newest run overwrites shows in the others, so that the newest one is not the case.
        for step in (0..=last).cycle().take((last + 1) * TIMES + last) {
            let request = self.request(index, case, step);
            self.testee.send(&request);
            waiting.insert(request.id, (step, request));
        }
        let mut is_settled = false;
        while !waiting.is_empty() {
            let (id, outcome) = self.testee.receive();
            match outcome {
                Outcome::Interrupted => return self.shared.end_with(Ending::Interrupted),
                Outcome::NotReady(why) => return self.shared.end_with(Ending::NotReady(why)),
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
                    if !judgement.is_sound() {
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
