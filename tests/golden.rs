//! The golden corpus against the reference: one test per file, every failing case with its diff. Thorough cases, and
//! all large ones, run if the variable `THREADSPEC_TESTS` is `all`, as in the gate.

use std::env;
use std::fs;
use std::path::Path;
use threadspec_judge::corpus::{CLAUSES, Case, Corpus, File};
use threadspec_judge::protocol::JudgeProfile;
use threadspec_judge::verdict::Verdict;
use threadspec_runner::{Settings, StoredReference, run};

datatest_stable::harness! {
    { test = every_case_of, root = "../golden", pattern = r"^[^/]+/[^/]+\.json$" },
}

fn every_case_of(file: &Path, text: String) -> datatest_stable::Result<()> {
    let golden = Path::new("../golden");
    let clauses = File { path: CLAUSES.to_owned(), text: fs::read_to_string(golden.join(CLAUSES))? };
    let this = File { path: file.strip_prefix(golden)?.display().to_string(), text };
    let (corpus, problems) = Corpus::read(&[clauses, this]);
    if !problems.is_empty() || corpus.cases.is_empty() {
        return Err(format!("no corpus file: {problems:?}").into());
    }
    let mut failures = String::new();
    let is_all = env::var_os("THREADSPEC_TESTS").is_some_and(|which| which == "all");
    let step = if !is_all && file.ends_with("large.json") { 8 } else { 1 };
    let is_chosen = |case: &Case| !case.needs_provider() && (is_all || !case.thorough);
    for profile in JudgeProfile::ALL {
        let cases: Vec<_> = corpus
            .cases
            .iter()
            .filter(|case| case.profiles.contains(&profile) && is_chosen(case))
            .step_by(step)
            .collect();
        let settings = Settings { strict: true, ..Settings::new(profile) };
        for result in run(&mut [Box::new(StoredReference::testee())], &cases, &settings, &mut ()).results {
            if result.judgement.verdict != Verdict::Pass {
                let repeat = format!("cargo run -- verify --filter {} --profile {profile}", result.case.id);
                failures += &threadspec_report::Failure::of_case(&result, &corpus, true, repeat).text();
            }
        }
    }
    if failures.is_empty() { Ok(()) } else { Err(anstream::adapter::strip_str(&failures).to_string().into()) }
}
