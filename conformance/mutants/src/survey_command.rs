//! `threadspec-mutants run`.

use clap::ValueEnum;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use threadspec_cli::{Stop, corpus, files, select};
use threadspec_judge::corpus::{covering, growth};
use threadspec_mutants::{Breadth, ChosenFaults, Demand, Effort, Kind, Matrix, Place, Survey, Trial};
use threadspec_mutants::{Error, all, by_size, permitted, survey_pairs, survey_sizes};
use threadspec_report::terminal::{BAD, FAINT, GOOD, STRONG, print, styled};
use threadspec_runner::Exit;

/// How many generated requests are put to each permitted reading; with `--quick`, fewer.
const FUZZED: u64 = 300;
const FUZZED_QUICKLY: u64 = 30;
/// With `--quick`, one in so many pairs of conditions is tried: a prime, so that each condition is among them.
const QUICK_STEP: usize = 97;

/// What faults are planted in.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Host {
    /// The twin of the reference
    Twin,
    /// An agent that asks a script
    Agent,
    /// The same over the three APIs
    Wire,
    /// An agent that keeps threads
    Sessions,
    /// Gateways
    Gateways,
}

impl Host {
    /// Returns whether a place is one of its own.
    fn has(self) -> fn(Place) -> bool {
        match self {
            Self::Twin => |place| matches!(place, Place::Twin(_)),
            Self::Agent => |place| place == Place::Agent,
            Self::Wire => |place| matches!(place, Place::Wire(_)),
            Self::Sessions => |place| place == Place::Sessions,
            Self::Gateways => |place| matches!(place, Place::Gateway(_) | Place::Behind(_)),
        }
    }
}

/// Run the corpus against planted bugs: what it catches, and what each case is good for
///
/// In each place in which it is wrong, a bug must fail a case, and a case of each clause that it breaks; where it is an
/// accepted reading, it must fail none. Neither the corpus nor the fuzzer may object to a permitted reading. `serve --bug NAME`
/// and `serve --reading NAME` show what one does.
#[derive(Debug, clap::Args)]
pub(crate) struct SurveyRun {
    /// Use the corpus in this folder instead of the built-in one
    #[arg(long, value_name = "DIR")]
    corpus: Option<PathBuf>,
    /// Run only cases whose id matches; `*` stands for anything, `/` included (repeatable)
    #[arg(long, value_name = "GLOB")]
    filter: Vec<String>,
    /// Minutes less: put each bug to the cases of its clauses alone, until they catch it, in one place, and try only some of the bugs of size
    /// and of two conditions
    #[arg(long, conflicts_with = "redundant")]
    quick: bool,
    /// Try only what is planted in this host, and nothing that needs other processes
    #[arg(long, value_name = "HOST")]
    host: Option<Host>,
    /// Try only what has this name; `*` at its end stands for anything (repeatable)
    #[arg(long, value_name = "NAME")]
    fault: Vec<String>,
    /// Try one in so many of the faults that are left
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    step: usize,
    /// With `--quick`: write which cases caught each fault to this file; `killers.txt`, so that the next run tries them first
    #[arg(long, value_name = "FILE", requires = "quick")]
    killers: Option<PathBuf>,
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
        let cases = by_size(&select(&corpus, &self.filter)?);
        let harness = |error: Error| Stop::new(Exit::Corpus, error.to_string());
        let program = std::env::current_exe().map_err(|error| Stop::new(Exit::Corpus, error.to_string()))?;
        let (effort, breadth) =
            if self.quick { (Effort::Quick, Breadth::OneProfile) } else { (Effort::Whole, Breadth::EveryProfile) };
        let (fuzzed, step) = if self.quick { (FUZZED_QUICKLY, QUICK_STEP) } else { (FUZZED, 1) };
        let chosen = ChosenFaults { places: self.host.map(Host::has), names: &self.fault, step: self.step };
        let matrix = Matrix::of(&corpus, &cases, &program, effort, chosen).map_err(harness)?;
        if let Some(file) = &self.killers {
            fs::write(file, killers(&matrix)).map_err(|error| Stop::new(Exit::Usage, error.to_string()))?;
        }
        let mut faults = matrix.faults();
        if chosen.is_all() {
            faults.extend(permitted().iter().flat_map(|reading| reading.accusations(fuzzed)));
        }
        let (mut grown, mut paired) = (Survey::default(), Survey::default());
        // With only some of the cases, bugs of size may well survive.
        if self.filter.is_empty() && chosen.is_all() {
            let files = files(self.corpus.as_deref())?;
            let unread = |error| Stop::new(Exit::Corpus, error);
            grown = survey_sizes(&corpus, &growth::table(&files).map_err(unread)?, breadth).map_err(harness)?;
            if let Some(covering) = covering::read(&files).map_err(unread)? {
                paired = survey_pairs(&corpus, &covering, step).map_err(harness)?;
            }
        }
        faults.extend(grown.survivors.iter().chain(&paired.survivors).map(|bug| format!("{bug}: survives")));
        if self.json {
            print(&format!("{}\n", as_json(&matrix, self.quick)));
        } else {
            print(&as_text(&matrix, &faults, cases.len(), [self.quick, self.redundant], [grown.trials, paired.trials]));
        }
        Ok(if faults.is_empty() { Exit::Ok } else { Exit::NotConformant })
    }
}

/// The faults that the smallest cases of their clauses do not catch, each with the cases that do.
fn killers(matrix: &Matrix<'_>) -> String {
    let line = |trial: &Trial<'_>| {
        let cases: Vec<&str> = trial.sought.iter().map(|case| &*case.id).collect();
        (!cases.is_empty()).then(|| format!("{} {}\n", trial.fault, cases.join(" ")))
    };
    matrix.trials.iter().filter_map(line).collect::<BTreeSet<String>>().into_iter().collect()
}

fn as_json(matrix: &Matrix<'_>, quick: bool) -> Value {
    let trial = |trial: &Trial<'_>| {
        let kills = trial.kills.iter().map(|kill| (kill.case.id.clone(), json!(kill.names)));
        json!({
            "fault": trial.fault,
            "breaks": trial.breaks,
            "place": trial.place(),
            "wrong": trial.demand == Demand::Caught,
            "shows": trial.shows,
            "beside": trial.beside.iter().map(|kill| (kill.case.id.clone(), json!(kill.names))).collect::<serde_json::Map<_, _>>(),
            "kills": kills.collect::<serde_json::Map<_, _>>(),
            "found": trial.fault(),
        })
    };
    let redundant = if quick { Vec::new() } else { matrix.redundant() };
    let beside = redundant.iter().map(|(case, other)| json!({"case": case.id, "beside": other.id}));
    let broken = matrix.broken.iter().map(|(case, place, _)| json!({"case": case.id, "place": place.to_string()}));
    json!({
        "trials": matrix.trials.iter().map(trial).collect::<Vec<_>>(),
        "broken": broken.collect::<Vec<_>>(),
        "redundant": beside.collect::<Vec<_>>(),
    })
}

fn as_text(
    matrix: &Matrix<'_>,
    faults: &[String],
    cases: usize,
    [quick, list_redundant]: [bool; 2],
    [grown, paired]: [usize; 2],
) -> String {
    let mut out = String::new();
    let wrong = || matrix.trials.iter().filter(|trial| trial.demand == Demand::Caught);
    for trial in wrong() {
        let Trial { fault, breaks, kills, complaints, .. } = trial;
        let first = trial.failed().next().map(|case| &*case.id).or(complaints.first().map(String::as_str));
        let first = styled(FAINT, first.unwrap_or_default().lines().next().unwrap_or_default());
        let breaks = if breaks.is_empty() { "the protocol".to_owned() } else { breaks.join(",") };
        out += &format!("{:>4}  {fault} ({}; {breaks})  {first}\n", kills.len(), trial.place());
    }
    let redundant = if quick { Vec::new() } else { matrix.redundant() };
    if list_redundant {
        out += &styled(STRONG, "\ncases that catch nothing that the case beside them does not catch\n");
        for (case, other) in &redundant {
            out += &format!("  {}  {}\n", case.id, styled(FAINT, &other.id));
        }
    }
    let bugs: BTreeSet<_> = wrong().map(|trial| trial.fault).collect();
    let idle = matrix.trials.iter().filter(|trial| trial.demand == Demand::Accepted && !trial.shows).count();
    for fault in faults {
        out += &format!("{}\n", styled(BAD, fault));
    }
    let excused = matrix.trials.iter().filter(|trial| trial.is_excused()).count();
    if excused > 0 {
        out += &format!(
            "\n{excused} `must` bugs are caught by cases of severity C alone, which count in strict runs only\n"
        );
    }
    for trial in wrong().filter(|trial| trial.is_caught_beside()) {
        out += &format!("{} ({}): is caught beside cases alone\n", trial.fault, trial.place());
    }
    let style = if faults.is_empty() { GOOD } else { BAD };
    let of_no_use = format!(", of which {} catch nothing that another one does not catch", redundant.len());
    let of_no_use = if quick { "" } else { &of_no_use };
    out + &format!(
        "\ncases: {cases}{of_no_use}\nplanted bugs: {}, trials: {}\npermitted, but shown by no case: {idle} trials\nbugs of size: {}, trials: {grown}\nbugs of two conditions: {paired}, {}\n",
        bugs.len(),
        wrong().count(),
        all().filter(|planted| matches!(planted.kind, Kind::Family(_))).count(),
        styled(style, format!("faults: {}", faults.len()))
    )
}
