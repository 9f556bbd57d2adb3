//! Runs `threadspec fuzz`. It holds three mutants, for those who want to see a finding.

use crate::lint;
use crate::over_wire::{ModelServer, OverWire};
use serde_json::Value;
use std::collections::hash_map::RandomState;
use std::ffi::OsString;
use std::fmt::Write;
use std::hash::{BuildHasher, Hasher};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use std::{fs, io, thread};
use threadspec_campaign::{FuzzFinding, FuzzOptions, FuzzReport, Progress, Start, prepare_folder, run, save_findings};
use threadspec_cli::{Stop, corpus, left_behind, not_writable, progress, verify};
use threadspec_judge::corpus::{Corpus, Level};
use threadspec_judge::protocol::{Hello, Implementation, JudgeProfile, Op, Reply, Request, Transport};
use threadspec_judge::reference::Reference;
use threadspec_judge::text::visible;
use threadspec_judge::verdict::Unready;
use threadspec_report::Failure;
use threadspec_report::terminal::{BAD, GOOD, STRONG, WARNING, complain, print, styled};
use threadspec_runner::{Exit, Process, Testee, adopt_orphans, interrupt};

const DEFAULT_TIME: Duration = Duration::from_secs(60);

/// Compare a program with the reference on generated inputs, or judge it by the properties of any agent
///
/// Each case goes to both. In profile universal it goes to the program alone: the AGENT clauses judge its runs, and the SESSION clauses its sessions, with the features that it declares. Inputs whose reply the profile does not accept are shrunk, and findings with one cause are reported once. A case
/// depends on the seed and its number alone.
#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub(crate) struct Fuzz {
    /// Stop after this many seconds [default: 60, unless --cases limits it]
    #[arg(long, value_name = "SECS", value_parser = threadspec_cli::seconds)]
    time: Option<Duration>,
    /// Run this many cases, or those of a range, as in `200..300`
    #[arg(long, value_name = "N", value_parser = cases)]
    cases: Option<Range<u64>>,
    /// Generate the cases from this seed [default: a random one]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Run this many processes at once [default: one per processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=256))]
    jobs: Option<u64>,
    /// Judge by this profile, literal, hardened or universal [default: literal if the testee has it]
    #[arg(long)]
    profile: Option<JudgeProfile>,
    /// Play the model's provider for an agent, as `verify --provider` does: openai-chat, openai-responses, anthropic or gemini, each also with `:stream`
    #[arg(long, value_name = "API[:stream]")]
    provider: Option<Transport>,
    /// Test only this operation (repeatable) [default: all that the testee has]
    #[arg(long, value_name = "OP")]
    op: Vec<Op>,
    /// The time limit for one reply
    #[arg(long, value_name = "SECS", default_value = "10", value_parser = threadspec_cli::seconds)]
    timeout: Duration,
    /// Write the findings as candidate cases to this folder
    #[arg(long, value_name = "DIR")]
    save: Option<PathBuf>,
    /// The program to test and its arguments; it speaks the protocol on its stdin and stdout
    #[arg(last = true, value_name = "CMD", required = true)]
    command: Vec<OsString>,
}

/// Finds out, before a campaign, whether findings can be saved without harm to anything that is there.
fn prepare(folder: &Path) -> io::Result<()> {
    if folder.exists() && fs::read_dir(folder)?.next().is_some() {
        lint::own_files(folder)?;
    }
    prepare_folder(folder)
}

/// Saves findings as cases of a corpus that `lint` accepts.
fn save(folder: &Path, findings: &[FuzzFinding], profile: JudgeProfile, corpus: &Corpus) -> io::Result<Vec<PathBuf>> {
    let files = save_findings(folder, findings, profile, corpus)?;
    lint::fix(folder)?;
    Ok(files)
}

fn cases(text: &str) -> Result<Range<u64>, String> {
    let number = |text: &str| text.parse::<u64>().map_err(|_| format!("`{text}` is not a number of cases"));
    let range = match text.split_once("..") {
        Some((start, end)) => number(start)?..number(end)?,
        None => 0..number(text)?,
    };
    if range.is_empty() { Err("no cases at all".into()) } else { Ok(range) }
}

impl Fuzz {
    /// Runs the command and returns its exit code.
    ///
    /// # Errors
    ///
    /// When the testee cannot be started or lacks what is asked for, or findings cannot be saved.
    pub(crate) fn execute(&self) -> Result<Exit, Stop> {
        // An unset variable leaves an empty word.
        if self.command.first().is_some_and(|word| word.is_empty()) {
            return Err(Stop::new(Exit::Usage, "no command behind `--`"));
        }
        let corpus = corpus(None)?;
        if let Some(folder) = &self.save {
            prepare(folder).map_err(|error| not_writable(folder, &error))?;
        }
        interrupt::listen().map_err(|error| Stop::new(Exit::Corpus, format!("Ctrl-C: {error}")))?;
        adopt_orphans();
        let code = self.fuzz(&corpus);
        // Those of a testee that did not start.
        name_orphans();
        code
    }

    fn fuzz(&self, corpus: &Corpus) -> Result<Exit, Stop> {
        let server = self.provider.map(|transport| ModelServer::start(transport, None, None, None));
        let server = server.transpose().map_err(|why| threadspec_cli::not_ready(&why))?.map(Arc::new);
        let start = || self.testee(server.as_ref());
        let mut testee = start().map_err(|why| threadspec_cli::not_ready(&why))?;
        let hello = testee.hello().clone();
        testee.finish();
        let profile = self.provider.map(|_| JudgeProfile::Universal).or(self.profile);
        let profile = verify::judged_by(profile, &hello)?;
        let is_judged = |op: &Op| {
            let is_of_agents = [Op::Tools, Op::Session].contains(op);
            if profile == JudgeProfile::Universal { is_of_agents } else { *op != Op::Session }
        };
        let has = |op: &Op| hello.ops.contains(op) && is_judged(op);
        if let Some(op) = self.op.iter().find(|op| !has(op)) {
            return Err(Stop::new(
                Exit::Usage,
                format!("{} does not declare the op {op} in profile {profile}", visible(&hello.name)),
            ));
        }
        if !Op::all().any(|op| has(&op)) {
            return Err(Stop::new(Exit::Usage, format!("{} has no op of profile {profile}", visible(&hello.name))));
        }
        let settings = FuzzOptions {
            seed: self.seed.unwrap_or_else(|| RandomState::new().build_hasher().finish() >> 32),
            cases: self.cases.clone().unwrap_or(0..u64::MAX),
            time: self.time.or(self.cases.is_none().then_some(DEFAULT_TIME)),
            jobs: self.jobs.unwrap_or_else(|| thread::available_parallelism().map_or(1, |number| number.get() as u64)),
            profile,
            ops: Op::all().filter(|op| has(op) && (self.op.is_empty() || self.op.contains(op))).collect(),
        };
        print(&format!("{}\n{}\n\n", threadspec_cli::introduction(&hello, profile), plan(&settings)));
        let report = watched(&settings, &start);
        name_orphans();
        let mut failing = report.shutdown.len();
        for finding in &report.findings {
            let failure = self.failure(finding, &settings, corpus)?;
            failing += usize::from(failure.counts);
            print(&format!("{}\n", failure.text()));
        }
        let judged = report.coverage.total() - report.unsupported;
        let code = if interrupt::requested() {
            Exit::Interrupted
        } else if let Some(why) = &report.not_ready {
            threadspec_cli::not_ready(why).code
        } else if failing == 0 && judged > 0 && report.stopped.is_none() && !says_little(&report) {
            Exit::Ok
        } else {
            Exit::NotConformant
        };
        let folder = self.save.as_ref().filter(|_| !report.findings.is_empty());
        let saved = folder.map_or(Ok(Vec::new()), |folder| {
            save(folder, &report.findings, profile, corpus).map_err(|error| not_writable(folder, &error))
        });
        for file in saved.iter().flatten() {
            print(&format!("candidate cases: {}\n", visible(&file.display().to_string())));
        }
        print(&summary(&report, failing, saved.as_ref().map_or_else(|stop| stop.code, |_| code)));
        saved.map(|_| code)
    }

    /// Starts a process, whose model is the server if there is one.
    fn testee(&self, server: Option<&Arc<ModelServer>>) -> Result<Box<dyn Testee>, Unready> {
        Ok(match server {
            Some(server) => {
                let process = Process::start_over(server.transport, &self.command, self.timeout)?;
                Box::new(OverWire::new(process, Arc::clone(server)))
            }
            None => Box::new(Process::start(&self.command, self.timeout)?),
        })
    }

    /// A finding as it is reported.
    fn failure<'a>(
        &self,
        finding: &FuzzFinding,
        settings: &FuzzOptions,
        corpus: &'a Corpus,
    ) -> Result<Failure<'a>, Stop> {
        let FuzzFinding { op, other_ops, clause, also, what, count, verdict, input, note, mismatch, .. } = finding;
        let clause = corpus
            .clause(clause)
            .ok_or_else(|| Stop::new(Exit::Corpus, format!("the corpus has no clause {clause}")))?;
        // What breaks a `must` somewhere is no mere warning.
        let is_must = |id: &&str| corpus.clause(id).is_some_and(|clause| clause.level == Level::Must);
        let level = if also.iter().any(is_must) { Level::Must } else { clause.level };
        let mut times = if *count == 1 { "in one case".to_owned() } else { format!("in {count} cases") };
        if !other_ops.is_empty() {
            times += &format!(", also of {}", listed(other_ops));
        }
        if !also.is_empty() {
            times += &format!("; the same cause breaks {}", listed(also));
        }
        let what = if what.is_empty() { String::new() } else { format!(" ({what})") };
        Ok(Failure {
            verdict: *verdict,
            id: format!("{op}/{}{what}", clause.id),
            level,
            severity: None,
            evidence: Vec::new(),
            counts: verdict.counts_against(level, false),
            clauses: vec![clause],
            touched: Vec::new(),
            why: match settings.profile {
                JudgeProfile::Universal if *op == Op::Session => {
                    format!("a user can lose this thread, or finds it changed, {times}")
                }
                JudgeProfile::Universal => format!("the run breaks what any agent owes its model, {times}"),
                profile => format!("the {profile} profile does not accept the reply, {times}"),
            },
            note: note.clone(),
            mismatches: mismatch.iter().cloned().collect(),
            more: 0,
            conversation: Vec::new(),
            input: Some(input.clone()),
            repeat: self.repeat(finding, settings),
        })
    }

    /// The command that finds it again at once.
    fn repeat(&self, finding: &FuzzFinding, settings: &FuzzOptions) -> String {
        let FuzzOptions { seed, profile, .. } = settings;
        let Range { start, end } = finding.cases;
        let terms = match self.provider {
            Some(transport) => format!("--provider {transport}"),
            None => format!("--profile {profile}"),
        };
        let words = format!("threadspec fuzz --seed {seed} --op {} --cases {start}..{end} {terms}", finding.op);
        let mut words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        if self.timeout != verify::DEFAULT_TIMEOUT {
            words.extend(["--timeout".to_owned(), self.timeout.as_secs_f64().to_string()]);
        }
        verify::words(words, &verify::shown(&self.command))
    }
}

/// Runs a campaign and shows its progress: as a bar on a terminal, elsewhere as a line now and then.
fn watched(settings: &FuzzOptions, start: Start<'_>) -> FuzzReport {
    let cases = &settings.cases;
    let length = (cases.end < u64::MAX).then(|| cases.end - cases.start);
    let bar = progress::bar(length, "{spinner} {pos} cases  {wide_msg}");
    let mut said = Duration::ZERO;
    let report = run(settings, start, &mut |progress: &Progress| {
        let Progress { coverage, findings, elapsed } = progress;
        let line =
            format!("{}/s  {findings} to look into  {}", rate(progress.coverage.total(), *elapsed), coverage.text());
        bar.set_position(coverage.total());
        if bar.is_hidden() && *elapsed >= said + progress::SAID_EVERY {
            said = *elapsed;
            complain(&format!("{} s: {} cases  {line}", elapsed.as_secs(), coverage.total()));
        }
        bar.set_message(line);
    });
    bar.finish_and_clear();
    report
}

/// Ends what the testee left behind, and says so.
fn name_orphans() {
    if let Some(left) = left_behind() {
        print(&format!("{left}\n"));
    }
}

/// Describes the campaign on one line.
fn plan(settings: &FuzzOptions) -> String {
    let FuzzOptions { seed, cases, time, jobs, profile, ops } = settings;
    let against = match profile {
        JudgeProfile::Universal => "judged by the properties of any agent",
        _ => "compared with the reference",
    };
    let cases = match cases {
        Range { end: u64::MAX, .. } => "cases".to_owned(),
        Range { start: 0, end } => format!("{end} cases"),
        Range { start, end } => format!("cases {start}..{end}"),
    };
    let time = time.map(|time| format!(" for {} s", time.as_secs_f64())).unwrap_or_default();
    let jobs = if *jobs == 1 { "one process".to_owned() } else { format!("{jobs} processes") };
    format!("fuzzing: {cases} of {}{time} on {jobs}, {against}; seed {seed}", listed(ops))
}

fn listed(items: impl IntoIterator<Item = impl ToString>) -> String {
    items.into_iter().map(|item| item.to_string()).collect::<Vec<_>>().join(", ")
}

/// Cases a second.
fn rate(cases: u64, elapsed: Duration) -> u128 {
    u128::from(cases) * 1000 / elapsed.as_millis().max(1)
}

/// Returns whether so much was unsupported that the rest says little: more than a tenth.
fn says_little(report: &FuzzReport) -> bool {
    report.unsupported * 10 > report.coverage.total()
}

fn summary(report: &FuzzReport, failing: usize, code: Exit) -> String {
    let FuzzReport { coverage, unsupported, elapsed, findings, shutdown, stopped, not_ready: _ } = report;
    let mut out = String::new();
    let rate = rate(coverage.total(), *elapsed);
    let cases: Vec<String> = coverage.cases.iter().map(|(op, cases)| format!("{op} {cases}")).collect();
    let _ =
        writeln!(out, "{} cases in {:.1} s, {rate}/s: {}", coverage.total(), elapsed.as_secs_f64(), cases.join("  "));
    let _ = writeln!(out, "drawn: {}", coverage.text());
    if *unsupported > 0 {
        let _ = writeln!(out, "unsupported: {unsupported}");
    }
    for what in shutdown {
        let _ = writeln!(out, "{}: {}", styled(BAD, "shutdown"), what.trim_end());
    }
    if let Some(reason) = stopped {
        let _ = writeln!(out, "{}: {reason}", styled(WARNING, "stopped early"));
    }
    let warnings = findings.len() + shutdown.len() - failing;
    let style = if code == Exit::Ok { GOOD } else { BAD };
    let found = match (failing, warnings) {
        _ if coverage.total() == *unsupported => "nothing could be judged".to_owned(),
        (0, 0) if says_little(report) => "no findings, but more than a tenth was unsupported".to_owned(),
        (0, 0) => "no findings".to_owned(),
        (failing, 0) => format!("findings: {failing}"),
        (failing, warnings) => format!("findings: {failing}, and warnings: {warnings}"),
    };
    let _ = writeln!(out, "{}. Exit code {code}.", styled(style, styled(STRONG, found)));
    out
}

// Holds three mutants, for those who want to see a finding. `threadspec-mutants`, which is part of the repository, has thousands.

/// A mutant: its change of an output of the reference.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bug {
    /// In kebab-case, telling the mechanism.
    pub(crate) name: &'static str,
    plant: fn(Op, &mut Value),
}

/// The bugs that `threadspec serve --bug` knows.
pub(crate) const BUGS: [Bug; 3] = [
    Bug { name: "ampersand-escaped-last", plant: escape_ampersands_last },
    Bug { name: "requests-share-one-list", plant: share_one_list },
    Bug { name: "tool-results-dropped", plant: drop_tool_results },
];

/// `<` becomes `&lt;`, and that `&amp;lt;`.
fn escape_ampersands_last(op: Op, output: &mut Value) {
    if let (Op::Escape | Op::Serialize, Value::String(text)) = (op, output) {
        *text = text.replace("&amp;", "&").replace('&', "&amp;");
    }
}

/// The list of messages is sent without being copied, so that what comes later is seen in earlier requests.
fn share_one_list(op: Op, output: &mut Value) {
    if op != Op::Tools {
        return;
    }
    if let Some(requests) = output.get_mut("requests").and_then(Value::as_array_mut)
        && let Some(last) = requests.last().cloned()
    {
        requests.fill(last);
    }
}

/// The message builder does not know tool results.
fn drop_tool_results(op: Op, output: &mut Value) {
    if let (Op::Messages, Value::Array(messages)) = (op, output) {
        messages.retain(|message| message["type"] != "tool");
    }
}

impl Implementation for Bug {
    fn hello(&self) -> Hello {
        Reference.hello()
    }

    fn answer(&mut self, request: &Request) -> Reply {
        let mut reply = Reference.answer(request);
        if let Reply::Ok(output) = &mut reply {
            (self.plant)(request.op, output);
        }
        reply
    }
}
