//! What is tried otherwise: runs that meet, and processes that misbehave.

use crate::Error;
use crate::catalogue::all;
use crate::planted::{Kind, Planted};
use crate::together::Together;
use crate::trial::{Demand, Kill, Trial, is_about};
use rayon::ThreadPoolBuilder;
use rayon::iter::{IntoParallelIterator, IntoParallelRefIterator, ParallelIterator};
use std::path::Path;
use std::time::Duration;
use threadspec_golden::clause;
use threadspec_judge::corpus::Case;
use threadspec_judge::protocol::{JudgeProfile, Op};
use threadspec_judge::verdict::Verdict;
use threadspec_runner::{CaseResult, Process, Settings, run};

/// Puts the cases of independence to agents whose runs influence each other. Asked one by one, these must pass them.
pub(super) fn clashes<'a>(cases: &[&'a Case]) -> Vec<Trial<'a>> {
    let is_put = |case: &&Case| {
        let is_own = case.op == Op::Tools && is_about(case, &[clause::AGENT_INDEPENDENT]);
        is_own && case.is_in(JudgeProfile::Universal) && !case.needs_provider()
    };
    let cases: Vec<&Case> = cases.iter().copied().filter(is_put).collect();
    let clashes: Vec<&Planted> = all().filter(|planted| matches!(planted.kind, Kind::Clash(_))).collect();
    let failed = |agent| -> Vec<CaseResult<'a>> {
        let run = run(&mut [Box::new(agent)], &cases, &Settings::new(JudgeProfile::Universal), &mut ());
        run.results.into_iter().filter(|result| result.counts_against(true)).collect()
    };
    let trial = |clash: &'static Planted| {
        let alone = failed(Together::new(Some(clash)).undeclared());
        Trial {
            breaks: clash.breaks,
            shows: true,
            kills: failed(Together::new(Some(clash))).into_iter().map(kill).collect(),
            troubles: alone.iter().map(|result| format!("fails {} alone", result.case.id)).collect(),
            ..Trial::new(clash.name, Demand::Caught)
        }
    };
    clashes.into_par_iter().map(trial).collect()
}

fn kill(result: CaseResult<'_>) -> Kill<'_> {
    let counts = result.counts_against(false);
    Kill { case: result.case, names: result.judgement.broken, counts }
}

/// Runs a few cases against each process that misbehaves. It does so with each reply, so a few are enough.
pub(super) fn misbehaviours<'a>(cases: &[&'a Case], program: &Path) -> Result<Vec<Trial<'a>>, Error> {
    const TIMEOUT: Duration = Duration::from_millis(500);
    let profile = JudgeProfile::Literal;
    let cases: Vec<&Case> = cases.iter().filter(|case| case.is_in(profile)).take(5).copied().collect();
    let misbehaves = |&name: &&'static str| {
        let command = [&program.display().to_string(), "serve", "--bug", name].map(str::to_owned);
        let mut trial = Trial { shows: true, ..Trial::new(name, Demand::Caught) };
        match Process::start(&command, TIMEOUT) {
            Err(why) => trial.complaints.push(why.to_string()),
            Ok(process) => {
                let settings = Settings { fail_fast: true, ..Settings::new(profile) };
                let run = run(&mut [Box::new(process)], &cases, &settings, &mut ());
                let asked = run.results.into_iter().filter(|result| result.counts_against(false));
                trial.kills.extend(asked.map(kill));
                trial.complaints.extend(run.shutdown.iter().map(ToString::to_string));
                trial.complaints.extend(run.not_ready.map(|why| why.to_string()));
            }
        }
        trial
    };
    let must_be_caught = |planted: &&Planted| match planted.kind {
        Kind::Misbehaviour(how) => how.verdict != Verdict::Pass,
        _ => false,
    };
    let names: Vec<&str> = all().filter(must_be_caught).map(|planted| planted.name).collect();
    // They spend most of their time waiting.
    let patient = ThreadPoolBuilder::new().num_threads(8).build()?;
    Ok(patient.install(|| names.par_iter().map(misbehaves).collect()))
}
