//! Runs at the same time: what shows only there is found, and nobody else is accused.

use threadspec_judge::corpus::{Case, embedded};
use threadspec_judge::protocol::JudgeProfile;
use threadspec_judge::verdict::Verdict;
use threadspec_mutants::{Kind, Together, all};
use threadspec_runner::{CaseResult, Settings, run};

fn failed<'a>(agent: Together, cases: &'a [&'a Case]) -> Vec<CaseResult<'a>> {
    let run = run(&mut [Box::new(agent)], cases, &Settings::new(JudgeProfile::Universal), &mut ());
    run.results.into_iter().filter(|result| result.counts_against(true)).collect()
}

#[test]
fn runs_at_the_same_time_are_put_to_who_takes_several() {
    let (corpus, problems) = embedded();
    assert!(problems.is_empty(), "{problems:?}");
    let is_put = |case: &&Case| ["agent/independence/", "agent/answered/"].iter().any(|part| case.id.starts_with(part));
    let cases: Vec<&Case> = corpus.cases.iter().filter(is_put).collect();
    for clash in all().filter(|planted| matches!(planted.kind, Kind::Clash(_))) {
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
