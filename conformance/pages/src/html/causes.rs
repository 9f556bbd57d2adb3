//! The faults, a row each, which opens to its clearest case; and what is unsupported.

use super::cases::{self, IN_FULL};
use minijinja::{Value, context};
use threadspec_judge::corpus::{Case, Corpus};
use threadspec_judge::verdict::Verdict;
use threadspec_report::causes::{Cause, by_severity, causes_of};
use threadspec_report::reasons;
use threadspec_report::record::{CaseRecord, RunRecord};
use threadspec_report::words::shortened;

/// The faults of all runs, those that hurt most first. One fault of several implementations is one row.
pub(super) fn rows(runs: &[RunRecord], corpus: &Corpus) -> Vec<Value> {
    let beside: Vec<Vec<CaseRecord>> = runs.iter().map(RunRecord::beside).collect();
    // A case record knows no run, so that both are kept side by side.
    let all: Vec<(usize, &CaseRecord)> = runs
        .iter()
        .enumerate()
        .flat_map(|(number, run)| {
            let cases = run.cases.iter().chain(&beside[number]);
            by_severity(cases, CaseRecord::failed).into_iter().map(move |case| (number, case))
        })
        .collect();
    let cases: Vec<&CaseRecord> = all.iter().map(|&(_, case)| case).collect();
    let row = |cause: Cause| {
        let (number, clearest) = all[cause.members[0]];
        let mut ids: Vec<&CaseRecord> = Vec::new();
        for &index in &cause.members {
            if !ids.iter().any(|case| case.id == cases[index].id) {
                ids.push(cases[index]);
            }
        }
        let counts = (0..runs.len()).map(|run| cause.members.iter().filter(|&&index| all[index].0 == run).count());
        let severity = |case: &CaseRecord| case.severity.map(|severity| severity.to_string());
        let asked = corpus.cases.iter().find(|case| case.id == clearest.case_id()).map(Case::for_a_while);
        let input = clearest.details.as_ref().map_or("", |details| &details.input);
        context! {
            counts => counts.collect::<Vec<_>>(),
            counting => clearest.counts,
            documented => cause.members.iter().all(|&index| cases[index].documented),
            severity => severity(clearest),
            charged => cause.clause,
            sign => shortened(&cause.sign, 200),
            cases => ids.iter().map(|case| context! { id => case.id.clone(), severity => severity(case) }).collect::<Vec<_>>(),
            about => asked.as_deref().map(|case| cases::about(case, corpus)),
            script => clearest.details.as_ref().map(cases::script),
            result => cases::result(&runs[number], clearest, asked.as_deref().map_or(input, Case::input), &IN_FULL),
        }
    };
    causes_of(&cases).into_iter().map(row).collect()
}

/// Why cases are unsupported, and which they are.
pub(super) fn unsupported(runs: &[RunRecord], names: &[String]) -> Vec<Value> {
    let of = |(run, name): (&RunRecord, &String)| {
        let cases = run.cases.iter().filter(|case| case.verdict == Verdict::Unsupported);
        let reasons = reasons(cases.map(|case| (&*case.note, &*case.id)));
        let count: usize = reasons.iter().map(|(_, ids)| ids.len()).sum();
        let reason = |(reason, ids): &(&str, Vec<&str>)| {
            context! { reason => shortened(reason, 400), ids => ids.iter().map(|&id| Value::from(id)).collect::<Vec<_>>() }
        };
        let reasons: Vec<Value> = reasons.iter().map(reason).collect();
        (count > 0).then(|| context! { run => name, count, reasons })
    };
    runs.iter().zip(names).filter_map(of).collect()
}
