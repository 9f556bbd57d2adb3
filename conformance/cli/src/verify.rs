//! `threadspec verify`.

use crate::common::seconds;
use crate::outcome::{Finished, Reporting, WriteReport};
use crate::programs::{PROGRAM_TIMEOUT, ProgramOptions, unplayed};
use crate::progress::Followed;
use crate::selection::{CaseFilter, Chosen, KnownFailures};
use crate::through::{StreamPieces, ThroughOptions, takes};
use crate::{Stop, corpus_and_errata, introduction, left_behind, not_ready, not_writable};
use std::collections::hash_map::RandomState;
use std::ffi::OsString;
use std::hash::{BuildHasher, Hasher};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use std::{env, io};
use threadspec_judge::corpus::{Case, Corpus};
use threadspec_judge::protocol::{Hello, JudgeProfile, Op, ServerDialect, Transport};
use threadspec_judge::text::visible;
use threadspec_judge::verdict::Unready;
use threadspec_report::{Circumstances, ReportFormat};
use threadspec_runner::files::prepare;
use threadspec_runner::{
    CaseResult, Exit, Known, Process, Recorder, Run, RunGateway, RunOptions, Settings, Shard, StoredReference, Testee,
    TranscriptHeader, adopt_orphans, interrupt, run,
};

/// How long a testee may take for one reply.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);
/// The largest seed: seeds are short enough to be typed.
const MOST_SEED: u64 = 1 << 32;

const AFTER_HELP: &str = "\
Exit codes:
  0    conformant: nothing counts against the testee
  1    not conformant, or no case was applicable
  2    wrong usage
  3    the testee could not be started, or its handshake failed
  4    the corpus or the harness is at fault, or output could not be written
  5    conformant, but the file of known failures is out of date
  130  interrupted

Examples:
  threadspec verify -- my-adapter
  threadspec verify --profile universal --op session -- python3 adapter.py
  threadspec verify --provider openai-chat -- python3 examples/provider/agent.py
  threadspec verify --report html=report.html --known-failures known.toml -- my-adapter";

/// The testees of a run.
pub type Testees = Vec<Box<dyn Testee + Send>>;
/// Reports after a run what its testees left behind.
pub type Leftovers = Box<dyn FnOnce() -> Option<String>>;

/// The additions of the whole program to this command: testees that ask a provider for the answers of their model, and reports that are
/// pages.
#[derive(Clone, Copy, Debug)]
pub struct Additions {
    /// Starts the testees of `--provider`. The first one is ready; the others start when they are first asked.
    pub testees: fn(&OverProvider<'_>) -> Result<(Testees, Leftovers), Unready>,
    /// Writes a report.
    pub write: WriteReport,
}

impl Additions {
    /// Nothing is added: JSON is the only report, and there is no provider.
    pub const NONE: Self = Self {
        testees: |_| Err(Unready::Runner("this program has no provider".to_owned())),
        write: |target, runs, _, _| match target.format {
            ReportFormat::Json => target.write_json(runs),
            _ => Err(io::Error::other("this program writes no pages")),
        },
    };
}

/// A testee whose model is the provider: how it is started and asked.
#[derive(Clone, Copy, Debug)]
pub struct OverProvider<'a> {
    /// The API that the provider speaks.
    pub transport: Transport,
    /// The model that the testee is to ask for; `None` for the usual one.
    pub model: Option<&'a str>,
    /// How the texts of streams are divided.
    pub pieces: StreamPieces,
    /// How the provider differs from that of the API's maker.
    pub dialect: Option<ServerDialect>,
    /// The gateway between both, if one is given.
    pub through: &'a ThroughOptions,
    /// The program that is tested as it is, if one is.
    pub program: &'a ProgramOptions,
    /// The cases that may be played.
    pub cases: &'a [&'a Case],
    /// The testee's command; empty for a gateway that our own client asks.
    pub command: &'a [OsString],
    /// The time limit for one reply.
    pub timeout: Duration,
    /// How many processes are asked at once.
    pub jobs: u64,
}

/// Run the corpus against a program, or against the built-in reference
#[derive(Debug, clap::Args)]
#[command(args_override_self = true, after_long_help = AFTER_HELP)]
pub struct Verify {
    /// Use the corpus in this folder instead of the built-in one
    #[arg(long, value_name = "DIR")]
    corpus: Option<PathBuf>,
    #[command(flatten)]
    selection: CaseFilter,
    /// Judge by this profile: literal, hardened or universal [default: literal if the testee has it]
    #[arg(long)]
    profile: Option<JudgeProfile>,
    /// Play the model's provider for an agent, and judge its requests: openai-chat, openai-responses, anthropic or
    /// gemini, each also with `:stream`
    #[arg(long, value_name = "API[:stream]")]
    provider: Option<Transport>,
    /// The model that the testee asks for [default: gpt-4.1, claude-sonnet-5 or gemini-2.5-pro]
    #[arg(long, value_name = "NAME", requires = "provider")]
    model: Option<String>,
    /// How to divide the texts of streams
    #[arg(long, value_name = "HOW", default_value_t, requires = "provider")]
    stream_pieces: StreamPieces,
    /// Speak as servers do that differ from the API's maker, and only warn of what fails: cumulative-arguments,
    /// repeated-names, no-index, stop-beside-calls or empty-ids
    #[arg(long, value_name = "NAME", requires = "provider")]
    dialect: Option<ServerDialect>,
    /// Count failed `should` cases, and failed cases of severity C
    #[arg(long)]
    strict: bool,
    /// The time limit for one reply [default: 10, and 60 for a program]
    #[arg(long, value_name = "SECS", value_parser = seconds)]
    timeout: Option<Duration>,
    /// Run this many processes at once
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=256))]
    jobs: u64,
    /// Shuffle the cases, and the ids of the requests, by this seed [default in CI: a random one]
    #[arg(long, value_name = "SEED", value_parser = clap::value_parser!(u64).range(..=MOST_SEED))]
    shuffle: Option<u64>,
    /// Run the cases in the same process this many times, to find faults that appear only after many requests
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    repeat: u64,
    /// Repeat the cases in the same process for this long
    #[arg(long, value_name = "SECS", value_parser = seconds, conflicts_with = "repeat")]
    soak: Option<Duration>,
    /// Wait this long between two requests to a process, to find faults that appear with time
    #[arg(long, value_name = "SECS", value_parser = seconds)]
    pause: Option<Duration>,
    /// End the run at the first failure
    #[arg(long, conflicts_with = "update")]
    fail_fast: bool,
    /// Continue, however many cases crash, time out or get garbage
    #[arg(long, conflicts_with = "fail_fast")]
    keep_going: bool,
    /// Allow this many `unsupported` replies for operations that its hello lists
    #[arg(long, value_name = "N", default_value_t = 0)]
    max_unsupported: usize,
    /// Fail if the testee lacks one of these operations
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    require_ops: Vec<Op>,
    /// Record the exchange in this file, compressed if its name ends in .gz; `judge` judges it again
    #[arg(long, value_name = "FILE", conflicts_with_all = ["repeat", "soak"])]
    transcript: Option<PathBuf>,
    #[command(flatten)]
    through: ThroughOptions,
    #[command(flatten)]
    program: ProgramOptions,
    #[command(flatten)]
    known: KnownFailures,
    #[command(flatten)]
    output: Reporting,
    /// The program to test and its arguments; it speaks the protocol on its stdin and stdout
    #[arg(last = true, value_name = "CMD")]
    command: Vec<OsString>,
}

impl Verify {
    /// Runs the command and returns its exit code.
    ///
    /// # Errors
    ///
    /// When there is nothing to run, or nothing to run it against.
    pub fn execute(&self, additions: &Additions) -> Result<Exit, Stop> {
        // An unset variable leaves nothing, or an empty word.
        let is_empty = self.command.first().is_none_or(|word| word.is_empty());
        if is_empty && env::args_os().any(|argument| argument == "--") {
            let message = "no command behind `--`; leave `--` out to test the built-in reference";
            return Err(Stop::new(Exit::Usage, message));
        }
        self.refuse_other_terms()?;
        if self.transcript.as_deref() == Some(Path::new("-")) {
            return Err(Stop::new(Exit::Usage, "--transcript needs a file; stdout is for the results"));
        }
        let (mut corpus, errata) = corpus_and_errata(self.corpus.as_deref())?;
        if self.dialect.is_some() {
            corpus.cases.iter_mut().for_each(Case::recommend);
        }
        let chosen = self.selection.of(&corpus, (self.provider, self.through.told().map(|gateway| gateway.client)))?;
        let known = self.known.read()?;
        self.output.prepare(self.transcript.as_deref(), self.known.path())?;
        if let Some(path) = &self.transcript {
            prepare(path).map_err(|error| not_writable(path, &error))?;
        }
        interrupt::listen().map_err(|error| Stop::new(Exit::Corpus, format!("Ctrl-C: {error}")))?;
        adopt_orphans();
        let code = self.verify(&chosen, (&corpus, &errata), known, additions);
        // Those of a testee that did not start.
        self.name_orphans();
        code
    }

    fn verify(
        &self,
        chosen: &Chosen<'_>,
        (corpus, errata): (&Corpus, &str),
        known: Known,
        additions: &Additions,
    ) -> Result<Exit, Stop> {
        let began = SystemTime::now();
        let (mut testees, leftovers) = match self.testees(additions, &chosen.cases) {
            Ok(testees) => testees,
            Err(why) => return Err(self.not_started(why, chosen, (corpus, errata), (began, additions.write))),
        };
        let hello = testees[0].hello().clone();
        let profile = judged_by(self.asked_profile(), &hello)?;
        let options = self.options(profile, chosen);
        let cases: Vec<&Case> = chosen.cases.iter().filter(|case| self.puts(case, &options)).copied().collect();
        let settings = Settings {
            profile,
            strict: self.strict,
            fail_fast: self.fail_fast,
            keep_going: self.keep_going,
            seed: options.seed,
            rounds: self.repeat,
            soak: self.soak,
            pause: self.pause,
            known: known.clone(),
        };
        let seed = options.seed.map(|seed| format!(", in the order of --shuffle {seed}")).unwrap_or_default();
        let shard = options.shard.as_ref().map(|shard| format!(", shard {shard}")).unwrap_or_default();
        self.output.say(&format!("{}{shard}{seed}", introduction(&hello, options.terms())));
        let mut followed = self.followed(&cases, &hello, &options)?;
        let mut run = run(&mut testees, &cases, &settings, &mut followed);
        drop(testees);
        run.shutdown.extend(leftovers());
        if let Some(reasons) = self.program.told().and_then(|_| unplayed(&run)) {
            self.output.say(&reasons);
        }
        let mut unwritten: Vec<Stop> = followed.close(&run.shutdown).err().into_iter().collect();
        self.name_orphans();
        let by = (corpus, profile);
        let known = self.known.update(known, &run, by, self.strict).unwrap_or_else(|(stop, known)| {
            unwritten.push(stop);
            known
        });
        known.excuse(&mut run);
        self.output.conclude(Finished {
            run: &run,
            corpus,
            errata,
            hello: &hello,
            command: &shown(&self.command),
            against: self.against(&run, &hello, &options),
            out_of_date: KnownFailures::out_of_date(&known, by),
            options: options.clone(),
            began,
            unwritten,
            repeat: &|result| self.repeat(result, &options),
            write: additions.write,
            next: self.next(&options, &hello, &cases),
        })
    }

    /// The next step, once everything passes: the whole corpus, an operation that is missing, the stricter profile, streams, what
    /// takes long, generated inputs. There is none beyond the cases of the wire.
    fn next(&self, options: &RunOptions, hello: &Hello, cases: &[&Case]) -> Option<String> {
        let CaseFilter { filter, op, clause, shard, thorough } = &self.selection;
        let mut words = ["threadspec", "verify"].map(str::to_owned).to_vec();
        let has_all = op.is_empty() || hello.ops.iter().all(|own| op.contains(own));
        let is_whole = filter.is_empty() && has_all && clause.is_empty() && shard.is_none();
        let missing = Op::all().find(|op| !hello.ops.contains(op) && cases.iter().any(|case| case.op == *op));
        if !is_whole {
            add_terms(options, &mut words);
        } else if let Some(op) = missing {
            return Some(format!("add the operation `{op}` and name it in the `ops` of hello"));
        } else if options.profile == JudgeProfile::Literal && hello.profiles.contains(&JudgeProfile::Hardened) {
            words.extend(["--profile", "hardened"].map(str::to_owned));
        } else if let Some(plain) = options.provider.filter(|transport| !transport.stream) {
            let provider = Some(Transport { stream: true, ..plain });
            add_terms(&RunOptions { provider, ..options.clone() }, &mut words);
        } else if !thorough && options.left_out > 0 {
            words.push("--thorough".to_owned());
            add_terms(options, &mut words);
        } else if self.provider.is_none() && !self.command.is_empty() {
            words = ["threadspec", "fuzz", "--profile"].map(str::to_owned).to_vec();
            words.push(options.profile.to_string());
        } else {
            return None;
        }
        Some(self::words(words, &shown(&self.command)))
    }

    /// Refuses a provider without an agent, and with another profile than the one that judges agents.
    fn refuse_other_terms(&self) -> Result<(), Stop> {
        if self.provider.is_none() {
            return self.through.check(1, false, &[]).map_err(|why| Stop::new(Exit::Usage, why));
        }
        let (is_agent, ops) = (!self.command.is_empty(), &self.selection.op);
        self.program.check(ops).map_err(|why| Stop::new(Exit::Usage, why))?;
        self.through.check(self.jobs, is_agent, ops).map_err(|why| Stop::new(Exit::Usage, why))?;
        if self.command.is_empty() && !self.through.is_given() && self.program.program().is_none() {
            let message = "--provider needs a program to test: put `--` and its command at the end";
            return Err(Stop::new(Exit::Usage, message));
        }
        if let (Some(dialect), Some(transport)) = (self.dialect, self.provider)
            && (self.through.is_given() || !dialect.fits(transport))
        {
            let message = format!("--dialect {dialect}: no server behind `--provider {transport}` speaks it so");
            return Err(Stop::new(Exit::Usage, message));
        }
        match self.profile {
            None | Some(JudgeProfile::Universal) => Ok(()),
            Some(other) => {
                let message = format!("--provider judges by profile universal; leave out `--profile {other}`");
                Err(Stop::new(Exit::Usage, message))
            }
        }
    }

    /// The profile that was asked for: with a provider it is the one for agents.
    fn asked_profile(&self) -> Option<JudgeProfile> {
        self.provider.map(|_| JudgeProfile::Universal).or(self.profile)
    }

    /// Returns whether a case runs against the testee.
    fn puts(&self, case: &Case, options: &RunOptions) -> bool {
        let is_program = self.program.program().is_some();
        // A recipe may resume, too: sessions take several starts each.
        let is_resumed = self.program.resume().is_some() || self.selection.op.contains(&Op::Session);
        let is_played = case.op == Op::Tools || case.op == Op::Session && is_resumed;
        options.fits(case) && takes(&self.through, !self.command.is_empty(), case) && (!is_program || is_played)
    }

    /// Ends what the testee left behind, and says so.
    fn name_orphans(&self) {
        if let Some(left) = left_behind() {
            self.output.say(&left);
        }
    }

    /// The testees. The first one is ready; the others start when they are first asked.
    fn testees(&self, additions: &Additions, cases: &[&Case]) -> Result<(Testees, Leftovers), Unready> {
        if let Some(transport) = self.provider {
            return (additions.testees)(&OverProvider {
                transport,
                model: self.model.as_deref(),
                pieces: self.stream_pieces,
                dialect: self.dialect,
                through: &self.through,
                program: &self.program,
                cases,
                command: &self.command,
                timeout: self.timeout(),
                jobs: self.jobs,
            });
        }
        let none: Leftovers = Box::new(|| None);
        if self.command.is_empty() {
            return Ok(((0..self.jobs).map(|_| Box::new(StoredReference::testee()) as _).collect(), none));
        }
        let first = Process::start(&self.command, self.timeout())?;
        let mut testees: Testees = Vec::new();
        testees.extend((1..self.jobs).map(|_| Box::new(first.another()) as _));
        testees.insert(0, Box::new(first));
        Ok((testees, none))
    }

    /// Returns whether only a program with [`Additions`] can run this command.
    pub fn needs_additions(&self) -> bool {
        self.provider.is_some() || self.output.needs_pages()
    }

    fn usual_timeout(&self) -> Duration {
        if self.program.program().is_some() { PROGRAM_TIMEOUT } else { DEFAULT_TIMEOUT }
    }

    fn timeout(&self) -> Duration {
        self.timeout.unwrap_or_else(|| self.usual_timeout())
    }

    /// The options about a gateway.
    pub fn through(&self) -> &ThroughOptions {
        &self.through
    }

    /// The error for a testee that did not start. The reports say so, too: those who read them may never see the terminal.
    fn not_started(
        &self,
        why: Unready,
        chosen: &Chosen<'_>,
        by: (&Corpus, &str),
        (began, write): (SystemTime, WriteReport),
    ) -> Stop {
        let stop = not_ready(&why);
        let (corpus, errata) = by;
        let options = self.options(self.asked_profile().unwrap_or_default(), chosen);
        let cases: Vec<&Case> = chosen.cases.iter().filter(|case| self.puts(case, &options)).copied().collect();
        let about = Circumstances {
            corpus,
            hello: None,
            command: &shown(&self.command),
            options: options.clone(),
            time: (began, began.elapsed().unwrap_or_default()),
            against: Vec::new(),
            out_of_date: Vec::new(),
            code: stop.code,
        };
        let repeat = |result: &CaseResult<'_>| self.repeat(result, &options);
        let unwritten = self.output.report(&Run::not_started(&cases, why), about, errata, (&repeat, write));
        unwritten.into_iter().fold(stop, Stop::and)
    }

    fn options(&self, profile: JudgeProfile, chosen: &Chosen<'_>) -> RunOptions {
        let in_ci = env::var("CI").is_ok_and(|ci| ci == "true" || ci == "1");
        let random = || RandomState::new().build_hasher().finish() % MOST_SEED;
        let options = RunOptions {
            profile,
            provider: self.provider,
            through: self.through.told(),
            program: self.program.told(),
            model: self.model.clone(),
            dialect: self.dialect.map(|dialect| dialect.to_string()),
            stream_pieces: (self.stream_pieces != StreamPieces::default()).then(|| self.stream_pieces.to_string()),
            strict: self.strict,
            filter: self.selection.filter.clone(),
            op: self.selection.op.iter().map(ToString::to_string).collect(),
            clause: self.selection.clause.clone(),
            max_unsupported: self.max_unsupported,
            timeout: self.timeout().as_secs_f64(),
            seed: self.shuffle.or_else(|| in_ci.then(random)),
            shard: self.selection.shard.as_ref().map(Shard::to_string),
            jobs: usize::try_from(self.jobs).unwrap_or(usize::MAX),
            repeat: self.repeat,
            soak: self.soak.map(|soak| soak.as_secs_f64()),
            pause: self.pause.map(|pause| pause.as_secs_f64()),
            left_out: 0,
        };
        let left_out = chosen.left_out.iter().filter(|case| options.fits(case)).count();
        RunOptions { left_out, ..options }
    }

    /// Lists the faults of the testee beyond its replies.
    fn against(&self, run: &Run<'_>, hello: &Hello, options: &RunOptions) -> Vec<String> {
        let missing = self.require_ops.iter().filter(|op| !hello.ops.contains(op));
        let mut against: Vec<String> =
            missing.map(|op| format!("its hello does not name the op {op}, which is required")).collect();
        against.extend(options.too_many_declined(run.declined));
        let asked = self.provider.map(|transport| self.through.told().map_or(transport.api, |told| told.client));
        if let Some(api) = asked.filter(|api| !hello.takes(*api)) {
            let taken: Vec<String> = hello.apis.iter().flatten().map(ToString::to_string).collect();
            against.push(format!("its hello names the APIs {}, and not {api}: nothing can be asked", taken.join(", ")));
        }
        against
    }

    fn followed(&self, cases: &[&Case], hello: &Hello, options: &RunOptions) -> Result<Followed, Stop> {
        let mut recorder = None;
        if let Some(path) = &self.transcript {
            let header = TranscriptHeader {
                transcript: 1,
                hello: hello.to_json(),
                command: shown(&self.command),
                options: options.clone(),
                cases: cases.iter().map(|case| case.id.clone()).collect(),
            };
            let created = Recorder::create(path, &header).map_err(|error| not_writable(path, &error))?;
            recorder = Some((path.clone(), created));
        }
        Ok(Followed::new(self.output.quiet, self.strict, cases.len(), recorder))
    }

    /// The command that repeats one case alone, with the options of this run; or the whole run, if the case fails only after others.
    fn repeat(&self, result: &CaseResult<'_>, options: &RunOptions) -> String {
        let mut words = vec!["threadspec".to_owned(), "verify".into()];
        words.extend(self.strict.then(|| "--strict".to_owned()));
        let is_whole = result.judgement.after_others;
        words.extend((self.selection.thorough && is_whole).then(|| "--thorough".to_owned()));
        let mut add = |name: &str, value: &str| words.extend([name.to_owned(), value.to_owned()]);
        if is_whole {
            self.selection.arguments(&mut add);
            self.known.arguments(&mut add);
            if let Some(pause) = options.pause {
                add("--pause", &pause.to_string());
            }
            for (name, value, default) in
                [("--jobs", self.jobs, 1), ("--repeat", self.repeat, 1), ("--shuffle", options.seed.unwrap_or(0), 0)]
            {
                if value != default {
                    add(name, &value.to_string());
                }
            }
            if let Some(soak) = options.soak {
                add("--soak", &soak.to_string());
            }
        } else {
            add("--filter", &result.case.id);
        }
        add_terms(options, &mut words);
        let mut add = |name: &str, value: &str| words.extend([name.to_owned(), value.to_owned()]);
        if let Some(timeout) = self.timeout.filter(|timeout| *timeout != self.usual_timeout()) {
            add("--timeout", &timeout.as_secs_f64().to_string());
        }
        if let Some(folder) = &self.corpus {
            add("--corpus", &folder.display().to_string());
        }
        self::words(words, &shown(&self.command))
    }
}

/// The profile of a run as arguments, or the provider that implies it.
pub fn add_terms(options: &RunOptions, words: &mut Vec<String>) {
    let mut add = |name: &str, value: &str| words.extend([name.to_owned(), value.to_owned()]);
    match options.provider {
        None => add("--profile", &options.profile.to_string()),
        Some(transport) => {
            add("--provider", &transport.to_string());
            for (name, value) in [
                ("--model", &options.model),
                ("--stream-pieces", &options.stream_pieces),
                ("--dialect", &options.dialect),
            ] {
                if let Some(value) = value {
                    add(name, value);
                }
            }
            if let Some(RunGateway { client, options, .. }) = &options.through {
                add("--client", &client.to_string());
                words.extend_from_slice(options);
            }
            words.extend(options.program.iter().flat_map(|program| program.options.clone()));
        }
    }
}

/// A command as people read it.
pub fn shown(command: &[OsString]) -> Vec<String> {
    command.iter().map(|word| word.to_string_lossy().into_owned()).collect()
}

/// A command line that ends with the testee's command.
pub fn words(mut words: Vec<String>, command: &[String]) -> String {
    if !command.is_empty() {
        words.push("--".into());
        words.extend_from_slice(command);
    }
    shlex::try_join(words.iter().map(String::as_str)).unwrap_or_else(|_| words.join(" "))
}

/// The profile that was asked for, else literal if the testee has it.
///
/// # Errors
///
/// When the testee does not declare the profile.
pub fn judged_by(asked: Option<JudgeProfile>, hello: &Hello) -> Result<JudgeProfile, Stop> {
    let has = |profile| hello.profiles.contains(&profile);
    match asked {
        Some(asked) if !has(asked) => {
            let name = visible(&hello.name);
            let has: Vec<String> = hello.profiles.iter().map(ToString::to_string).collect();
            let message = format!("{name} does not declare the profile {asked}; its hello names {}", has.join(", "));
            Err(Stop::new(Exit::Usage, message))
        }
        Some(asked) => Ok(asked),
        None if has(JudgeProfile::Literal) => Ok(JudgeProfile::Literal),
        // A hello without any profile fails the handshake.
        None => Ok(hello.profiles.first().copied().unwrap_or(JudgeProfile::Literal)),
    }
}
