//! Runs at the same time: AGENT-INDEPENDENT, where the hello declares that several requests may be sent at once.

use super::worker::{Worker, join};
use super::{End, Verdict, judge};
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
        for step in (0..=last).cycle().take((last + 1) * TIMES) {
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
                    if step < last || is_settled {
                        continue;
                    }
                    let mut judgement = judge(case, self.shared.terms, outcome.clone());
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
    use crate::json;
    use crate::planted::universal::sound;
    use crate::protocol::{Hello, Implementation, Profile, Request};
    use crate::run::{CaseResult, Settings, Verdict, run};
    use crate::testee::{InProcess, Outcome, Testee, Trouble};
    use serde_json::Value;
    use std::collections::VecDeque;

    /// What a run does to another one that is under way.
    type Fault = fn(own: &mut Value, other: &Value);

    /// A sound agent that takes several requests at once, and answers the last one first.
    struct Several<I> {
        agent: InProcess<I>,
        hello: Hello,
        waiting: VecDeque<Request>,
        fault: Fault,
    }

    impl<I: Implementation> Testee for Several<I> {
        fn hello(&self) -> &Hello {
            &self.hello
        }

        fn window(&self) -> usize {
            16
        }

        fn send(&mut self, request: &Request) {
            self.waiting.push_back(request.clone());
        }

        fn receive(&mut self) -> (i64, Outcome) {
            let mut request = self.waiting.pop_back().expect("a request was sent");
            if let Some(other) = self.waiting.back() {
                let [mut own, other] = [&request, other].map(|request| json::read(&request.input).expect("JSON"));
                (self.fault)(&mut own, &other);
                if own.is_null() {
                    self.waiting.clear();
                    return (request.id, Outcome::Crash("two at once".into()));
                }
                request.input = own.to_string();
            }
            (request.id, self.agent.ask(&request))
        }

        fn restart(&mut self) {
            self.waiting.clear();
        }

        fn finish(&mut self) -> Vec<Trouble> {
            Vec::new()
        }
    }

    fn verdicts<'a>(cases: &'a [&'a Case], is_declared: bool, fault: Fault) -> Vec<CaseResult<'a>> {
        let settings = Settings::new(Profile::Universal);
        let agent = InProcess::new(sound());
        let mut hello = agent.hello().clone();
        hello.abilities.concurrent = is_declared;
        let several = Several { agent, hello, waiting: VecDeque::new(), fault };
        run(&mut [Box::new(several)], cases, &settings, &mut ()).results
    }

    #[test]
    fn runs_at_the_same_time_are_put_to_who_takes_several() {
        let (corpus, problems) = Corpus::read(&embedded_files());
        assert!(problems.is_empty(), "{problems:?}");
        let cases: Vec<&Case> =
            corpus.cases.iter().filter(|case| case.id.starts_with("agent/") && !case.is_template).collect();
        let faults: [(&str, Fault, Verdict); 4] = [
            ("one conversation", |own, other| own["messages"] = other["messages"].clone(), Verdict::Fail),
            ("one table of tools", |own, other| own["tools"] = other["tools"].clone(), Verdict::Fail),
            ("one model", |own, other| own["model"] = other["model"].clone(), Verdict::Fail),
            ("dies", |own, _| *own = Value::Null, Verdict::Crash),
        ];
        for (name, fault, verdict) in faults {
            let failed: Vec<CaseResult<'_>> =
                verdicts(&cases, true, fault).into_iter().filter(|result| result.counts_against(true)).collect();
            assert!(!failed.is_empty(), "{name}");
            for CaseResult { case, judgement } in &failed {
                assert!(case.id.starts_with("agent/independence/"), "{name}: {} {judgement:?}", case.id);
                assert!(judgement.verdict == verdict && judgement.note.contains("same time"), "{judgement:?}");
            }
            assert!(verdicts(&cases, false, fault).iter().all(|result| !result.counts_against(true)), "{name}");
        }
        let sound = verdicts(&cases, true, |_, _| {});
        assert!(sound.iter().all(|result| !result.counts_against(true)));
    }
}
