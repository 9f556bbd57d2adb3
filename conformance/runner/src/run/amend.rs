//! Cases of which more becomes known after their replies.

use super::worker::{Worker, join};
use threadspec_judge::verdict::{Earlier, Judgement, Verdict, judge};

const AFTERWARDS: &str = "after its reply";

impl Worker<'_, '_, '_> {
    /// Judges again what was amended. A case that failed keeps its verdict.
    pub(super) fn amend(&mut self) {
        for (id, outcome) in self.testee.amended() {
            let Some(&(index, step)) = self.asked.get(&id) else { continue };
            let case = &*self.shared.cases[index].for_a_while();
            if !self.part.judged.get(&index).is_some_and(Judgement::is_sound) {
                continue;
            }
            let request = case.request(id, self.shared.settings.profile);
            let amended = outcome.clone();
            let mut judgement = if step < case.after().len() {
                let mut earlier = Earlier::default();
                earlier.hear(case, self.shared.terms, step, &outcome);
                earlier.with(Judgement::new(Verdict::Pass, ""))
            } else {
                judge(case, self.shared.terms, outcome)
            };
            if !judgement.is_sound() {
                judgement.note = join(&judgement.note, AFTERWARDS);
                self.shared.watch(|watch| watch.outcome(case, step, &request, &amended));
                self.part.declined.remove(&index);
                self.settle(index, judgement, false);
            }
        }
    }
}
