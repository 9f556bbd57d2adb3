//! `threadspec-mutants run`.

use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::PathBuf;
use threadspec_cli::{Stop, corpus, files, select};
use threadspec_judge::corpus::Case;
use threadspec_judge::corpus::{covering, growth};
use threadspec_mutants::{Breadth, Kind, Matrix, Selection, Survey, Trial};
use threadspec_mutants::{Error, all, permitted, survey_pairs, survey_sizes};
use threadspec_report::terminal::{BAD, FAINT, GOOD, STRONG, print, styled};
use threadspec_runner::Exit;

/// How many generated requests are put to each permitted reading; with `--quick`, fewer.
const FUZZED: u64 = 300;
const FUZZED_QUICKLY: u64 = 30;
/// With `--quick`, one in so many pairs of conditions is tried: a prime, so that each condition is among them.
const QUICK_STEP: usize = 97;

/// Run the corpus against planted bugs: what it catches, and what each case is good for
///
/// In each profile in which it is wrong, a bug must fail a case, and a case of each clause that it breaks; where it is an
/// accepted reading, it must fail none. Neither the corpus nor the fuzzer may object to a permitted reading. `serve --bug NAME`
/// and `serve --reading NAME` show what one does.
#[derive(Debug, clap::Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is an option of the command line")]
pub(crate) struct SurveyRun {
    /// Use the corpus in this folder instead of the built-in one
    #[arg(long, value_name = "DIR")]
    corpus: Option<PathBuf>,
    /// Run only cases whose id matches; `*` stands for anything, `/` included (repeatable)
    #[arg(long, value_name = "GLOB")]
    filter: Vec<String>,
    /// Minutes less: put each bug to the cases of its clauses alone, until they catch it, and try only some of the bugs of size and of two
    /// conditions
    #[arg(long, conflicts_with_all = ["redundant", "json"])]
    quick: bool,
    /// Try only what is planted in the agent that asks its model over HTTP
    #[arg(long)]
    wire: bool,
    /// Try only what is planted in the agent that keeps threads from run to run
    #[arg(long, conflicts_with = "wire")]
    sessions: bool,
    /// Try only what is planted in gateways
    #[arg(long, conflicts_with_all = ["wire", "sessions"])]
    gateways: bool,
    /// List the cases that catch nothing that another one does not catch
    #[arg(long)]
    redundant: bool,
    /// Print the whole matrix as JSON
    #[arg(long)]
    json: bool,
}

impl SurveyRun {
    /// Runs the command and returns its exit code.
    ///
    /// # Errors
    ///
    /// When the corpus is at fault, or the program cannot start itself.
    pub(crate) fn execute(&self) -> Result<Exit, Stop> {
        let corpus = corpus(self.corpus.as_deref())?;
        let cases = select(&corpus, &self.filter)?;
        let harness = |error: Error| Stop::new(Exit::Corpus, error.to_string());
        let program = std::env::current_exe().map_err(|error| Stop::new(Exit::Corpus, error.to_string()))?;
        let (selection, breadth) = if self.quick {
            (Selection::OwnClauses, Breadth::OneProfile)
        } else {
            (Selection::EveryCase, Breadth::EveryProfile)
        };
        let (fuzzed, step) = if self.quick { (FUZZED_QUICKLY, QUICK_STEP) } else { (FUZZED, 1) };
        let matrix = if self.wire {
            Matrix::over_the_wire(&corpus, &cases, selection, 1).map_err(harness)?
        } else if self.sessions {
            Matrix::of_sessions(&corpus, &cases, selection, 1).map_err(harness)?
        } else if self.gateways {
            Matrix::of_gateways(&corpus, &cases, selection, 1).map_err(harness)?
        } else {
            Matrix::of(&corpus, &cases, &program, selection).map_err(harness)?
        };
        let mut faults = matrix.faults();
        let is_part = self.wire || self.sessions || self.gateways;
        if !is_part {
            for reading in permitted() {
                faults.extend(reading.accusations(fuzzed));
            }
        }
        let has_all = self.filter.is_empty() && !is_part;
        // With only some of the cases, bugs of size may well survive.
        let grown = if has_all {
            let table =
                growth::table(&files(self.corpus.as_deref())?).map_err(|error| Stop::new(Exit::Corpus, error))?;
            survey_sizes(&corpus, &table, breadth).map_err(harness)?
        } else {
            Survey::default()
        };
        let covering = if has_all {
            covering::read(&files(self.corpus.as_deref())?).map_err(|error| Stop::new(Exit::Corpus, error))?
        } else {
            None
        };
        let paired = covering.map_or_else(|| Ok(Survey::default()), |covering| survey_pairs(&corpus, &covering, step));
        let paired = paired.map_err(harness)?;
        faults.extend(grown.survivors.iter().chain(&paired.survivors).map(|bug| format!("{bug}: survives")));
        if self.json {
            print(&format!("{}\n", as_json(&matrix)));
        } else {
            print(&as_text(&matrix, &faults, cases.len(), self.redundant, [grown.trials, paired.trials]));
        }
        Ok(if faults.is_empty() { Exit::Ok } else { Exit::NotConformant })
    }
}

fn as_json(matrix: &Matrix<'_>) -> Value {
    let ids = |cases: &[&Case]| cases.iter().map(|case| case.id.clone()).collect::<Vec<_>>();
    let trial = |trial: &Trial<'_>| {
        json!({
            "bug": trial.bug,
            "breaks": trial.breaks,
            "profile": trial.profile.to_string(),
            "over": trial.transport.map(|transport| transport.to_string()),
            "between": trial.between.map(|between| between.to_string()),
            "wrong": trial.wrong,
            "failed": ids(&trial.failed),
            "counts": trial.counts,
            "troubles": trial.troubles,
            "fault": trial.fault(),
        })
    };
    let beside = |(case, other): &(&Case, &Case)| json!({"case": case.id, "beside": other.id});
    json!({
        "trials": matrix.trials.iter().map(trial).collect::<Vec<_>>(),
        "broken": ids(&matrix.broken),
        "redundant": matrix.redundant().iter().map(beside).collect::<Vec<_>>(),
    })
}

fn as_text(
    matrix: &Matrix<'_>,
    faults: &[String],
    cases: usize,
    list_redundant: bool,
    [grown, paired]: [usize; 2],
) -> String {
    let mut out = String::new();
    for trial in matrix.trials.iter().filter(|trial| trial.wrong) {
        let Trial { bug, breaks, failed, troubles, .. } = trial;
        let first = failed.first().map(|case| &*case.id).or(troubles.first().map(String::as_str)).unwrap_or_default();
        let first = styled(FAINT, first.lines().next().unwrap_or_default());
        let breaks = if breaks.is_empty() { "the protocol".to_owned() } else { breaks.join(",") };
        out += &format!("{:>4}  {bug} ({}; {breaks})  {first}\n", failed.len(), trial.place());
    }
    let redundant = matrix.redundant();
    if list_redundant {
        out += &styled(STRONG, "\ncases that catch nothing that the case beside them does not catch\n");
        for (case, other) in &redundant {
            out += &format!("  {}  {}\n", case.id, styled(FAINT, &other.id));
        }
    }
    let wrong = matrix.trials.iter().filter(|trial| trial.wrong).count();
    let bugs: BTreeSet<_> = matrix.trials.iter().map(|trial| trial.bug).collect();
    for fault in faults {
        out += &format!("{}\n", styled(BAD, fault));
    }
    let excused = matrix.trials.iter().filter(|trial| trial.is_excused()).count();
    if excused > 0 {
        out += &format!(
            "\n{excused} `must` bugs are caught by cases of severity C alone, which count in strict runs only\n"
        );
    }
    let style = if faults.is_empty() { GOOD } else { BAD };
    out + &format!(
        "\ncases: {cases}, of which {} catch nothing that another one does not catch\nplanted bugs: {}, trials: {wrong}\nbugs of size: {}, trials: {grown}\nbugs of two conditions: {paired}, {}\n",
        redundant.len(),
        bugs.len(),
        all().filter(|planted| matches!(planted.kind, Kind::Family(_))).count(),
        styled(style, format!("faults: {}", faults.len()))
    )
}
