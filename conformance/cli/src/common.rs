//! Reads what several commands need: the command line, the corpus, files, errors, exit codes.

use clap::Parser;
use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use std::{env, io, process};
use threadspec_judge::corpus::{Case, Corpus, File};
use threadspec_judge::protocol::Hello;
use threadspec_judge::text::{closest, visible};
use threadspec_judge::verdict::Unready;
use threadspec_judge::{corpus, json, text};
use threadspec_report::{RunRecord, Target, terminal};
use threadspec_runner::{Exit, end_orphans, files, files_in, interrupt};
use wildmatch::WildMatch;

#[cfg(unix)]
use nix::sys::signal::{SigSet, Signal};

/// Why a command ended without doing what it was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stop {
    /// The exit code.
    pub code: Exit,
    /// The message for the user.
    pub message: String,
}

impl Stop {
    /// A reason, with its exit code.
    pub fn new(code: Exit, message: impl Display) -> Self {
        Self { code, message: message.to_string() }
    }

    /// Both reasons, with the code of the first.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { code: self.code, message: [self.message, other.message].join("\nthreadspec: ") }
    }
}

/// The exit code of a command: it says on stderr why the command ended without doing what it was asked.
///
/// # Errors
///
/// `result` is itself an error where no thread could be started for the command.
pub fn exit_code(result: io::Result<Result<Exit, Stop>>) -> ExitCode {
    let result = result
        .unwrap_or_else(|error| Err(Stop { code: Exit::Corpus, message: format!("cannot start a thread: {error}") }));
    let result = match (result, terminal::lost()) {
        (Ok(_), Some(error)) => Err(Stop { code: Exit::Corpus, message: format!("stdout: {error}") }),
        (result, _) => result,
    };
    match result {
        Ok(code) => code.into(),
        Err(stop) => {
            terminal::complain(&format!("threadspec: {}", stop.message));
            stop.code.into()
        }
    }
}

/// The files of the built-in corpus, or of the one in a folder.
///
/// # Errors
///
/// When the folder cannot be read.
pub fn files(folder: Option<&Path>) -> Result<Vec<File>, Stop> {
    folder.map_or_else(
        || Ok(corpus::embedded_files()),
        |folder| {
            // A folder that does not exist is wrong usage; one that cannot be read is a fault of the corpus.
            let code = if folder.is_dir() { Exit::Corpus } else { Exit::Usage };
            files_in(folder).map_err(|error| Stop::new(code, visible(&format!("the corpus: {error}"))))
        },
    )
}

/// Reads a corpus, and refuses a faulty one: its verdicts would mean nothing.
///
/// # Errors
///
/// When it cannot be read, or anything in it is wrong.
pub fn corpus(folder: Option<&Path>) -> Result<Corpus, Stop> {
    // To check it again, where a checkout has it as a folder, takes ten times as long as to judge a testee's replies.
    let other = folder.map(|folder| files(Some(folder))).transpose()?.filter(|files| !is_built_in(files));
    let (corpus, problems) = if let Some(files) = other {
        let (corpus, mut problems) = Corpus::read(&files);
        problems.extend(corpus.template_problems());
        (corpus, problems)
    } else {
        corpus::read_embedded()
    };
    match problems.as_slice() {
        [] if corpus.cases.is_empty() => Err(Stop::new(Exit::Corpus, "the corpus is at fault: there is no case in it")),
        [] => Ok(corpus),
        [first, rest @ ..] => {
            let more = if rest.is_empty() { String::new() } else { format!(", and {} more", rest.len()) };
            let message = format!("the corpus is at fault: {first}{more}; `threadspec lint` lists everything");
            Err(Stop::new(Exit::Corpus, message))
        }
    }
}

/// Returns whether files are those of the built-in corpus, which a test has checked.
fn is_built_in(files: &[File]) -> bool {
    let own = threadspec_golden::files();
    files.len() == own.len() && files.iter().zip(own).all(|(file, own)| (&*file.path, &*file.text) == *own)
}

/// A corpus, and its errata.
///
/// # Errors
///
/// When the corpus cannot be read, or anything in it is wrong.
pub fn corpus_and_errata(folder: Option<&Path>) -> Result<(Corpus, String), Stop> {
    let errata = folder.map_or_else(
        || threadspec_golden::ERRATA.to_owned(),
        |folder| std::fs::read_to_string(folder.join("errata.md")).unwrap_or_default(),
    );
    Ok((corpus(folder)?, errata))
}

/// Reads run files, in the order in which they are given.
///
/// # Errors
///
/// When one cannot be read, or is no run file.
pub fn read_runs(files: &[PathBuf]) -> Result<Vec<RunRecord>, Stop> {
    let mut runs = Vec::new();
    for file in files {
        let wrong = |error| Stop::new(Exit::Usage, visible(&format!("{}: {error}", file.display())));
        // Not the code of `read_file`: to `diff`, 1 is a regression.
        let text = read_file(file).map_err(|stop| Stop { code: Exit::Usage, ..stop })?;
        runs.extend(RunRecord::read_all(&text).map_err(wrong)?);
    }
    Ok(runs)
}

/// The cases that one of the patterns matches, all of them without a pattern.
///
/// # Errors
///
/// When a pattern matches no case.
pub fn select<'a>(corpus: &'a Corpus, patterns: &[String]) -> Result<Vec<&'a Case>, Stop> {
    let compiled: Vec<WildMatch> = patterns.iter().map(|pattern| WildMatch::new(pattern)).collect();
    for (pattern, text) in compiled.iter().zip(patterns) {
        if !corpus.cases.iter().any(|case| pattern.matches(&case.id)) {
            let hint = did_you_mean(text, patterns_of(corpus));
            let message =
                format!("the pattern `{}` matches no case{hint} `threadspec list` shows them all", visible(text));
            return Err(Stop::new(Exit::Usage, message));
        }
    }
    let chosen = |case: &&Case| compiled.is_empty() || compiled.iter().any(|pattern| pattern.matches(&case.id));
    Ok(corpus.cases.iter().filter(chosen).collect())
}

/// Lists the names that may represent cases: their ids, and patterns for their topics and folders.
fn patterns_of(corpus: &Corpus) -> BTreeSet<String> {
    let ids = corpus.cases.iter().map(|case| case.id.as_str());
    ids.flat_map(|id| {
        let folders = id.match_indices('/').map(|(at, _)| format!("{}/*", &id[..at]));
        folders.chain([id.to_owned()])
    })
    .collect()
}

/// A hint at the name that comes closest to an unknown one: `; did you mean …?`. If none is close, just `;`. More text may follow.
pub fn did_you_mean(unknown: &str, names: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    closest(unknown, names).map_or_else(|| ";".to_owned(), |name| format!("; did you mean `{}`?", name.as_ref()))
}

/// Reads `FORMAT=PATH` from the command line.
pub fn target_parser() -> impl TypedValueParser<Value = Target> {
    OsStringValueParser::new().try_map(|text| Target::read(&text))
}

/// The text of a file; `-` is stdin.
///
/// # Errors
///
/// When it cannot be read, or is no UTF-8.
pub fn read_file(file: &Path) -> Result<String, Stop> {
    text_of(file, files::read(file).map_err(|error| cannot_read(file, &error))?)
}

/// Returns the text of a file that was read.
///
/// # Errors
///
/// When the bytes are no UTF-8.
pub fn text_of(file: &Path, bytes: Vec<u8>) -> Result<String, Stop> {
    text::utf8(bytes).map_err(|why| at_fault(file, &why))
}

/// Returns the error for a file that cannot be read.
pub fn cannot_read(file: &Path, error: &io::Error) -> Stop {
    Stop::new(Exit::Usage, visible(&format!("{}: {error}", file.display())))
}

/// Ends what a testee left behind, and says what it was.
pub fn left_behind() -> Option<String> {
    let orphans = end_orphans();
    (!orphans.is_empty()).then(|| format!("left behind by the testee, and ended: {}", orphans.join(", ")))
}

/// Refuses an output that would replace an input, or another output.
///
/// # Errors
///
/// When two of the files are one.
pub fn keep_apart<'a>(
    outputs: impl IntoIterator<Item = &'a Path>,
    inputs: impl IntoIterator<Item = &'a Path>,
) -> Result<(), Stop> {
    let is_file = |path: &&Path| *path != Path::new("-");
    let mut taken: BTreeSet<PathBuf> = inputs.into_iter().filter(is_file).filter_map(files::identity).collect();
    for output in outputs.into_iter().filter(is_file) {
        if files::identity(output).is_some_and(|file| !taken.insert(file)) {
            let message =
                format!("{}: it would replace another file of this command; choose another name", output.display());
            return Err(Stop::new(Exit::Usage, visible(&message)));
        }
    }
    Ok(())
}

/// Returns the error for a file that cannot be written.
pub fn not_writable(path: &Path, error: &io::Error) -> Stop {
    Stop::new(Exit::Corpus, visible(&format!("{}: {error}", path.display())))
}

/// The error for a file whose content is not what it should be.
pub fn at_fault(file: &Path, why: &impl Display) -> Stop {
    Stop::new(Exit::NotConformant, visible(&format!("{}: {why}", file.display())))
}

/// The exit code after writing to stdout. A reader that has gone away (`| head`) has what it wanted.
///
/// # Errors
///
/// When something else than a closed pipe was wrong.
pub fn written(result: io::Result<()>) -> Result<Exit, Stop> {
    match result {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Stop::new(Exit::Corpus, format!("stdout: {error}")))
        }
        _ => Ok(Exit::Ok),
    }
}

/// The error for a testee that could not be started.
pub fn not_ready(why: &Unready) -> Stop {
    let code = match why {
        _ if interrupt::requested() => Exit::Interrupted,
        Unready::Testee(_) => Exit::Testee,
        Unready::Runner(_) | Unready::Shortage(_) => Exit::Corpus,
    };
    Stop::new(code, why.to_string())
}

/// Who is tested, and by what, on one line.
pub fn introduction(hello: &Hello, terms: impl Display) -> String {
    let Hello { name, version, language, url, .. } = hello;
    let url = url.as_ref().map(|url| format!(", {url}")).unwrap_or_default();
    // A gateway's command does not say its version.
    let version = if version == "?" { String::new() } else { format!(" {version}") };
    visible(&format!("{name}{version} ({language}{url}), profile {terms}"))
}

// Spans of time as they are given on a command line.

/// Reads a number of seconds.
///
/// # Errors
///
/// When it is none, or nobody would wait so long.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number of seconds")?;
    let duration = Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())?;
    // A day is longer than anybody waits, and far from overflowing a clock.
    if duration.is_zero() || duration > Duration::from_secs(86_400) {
        Err("not between 0 and a day".into())
    } else {
        Ok(duration)
    }
}

// Reads the command line of a program, and runs its command.

/// Reads the arguments of this process. If they are wrong, says so and ends the process.
pub fn parse<A: Parser>() -> A {
    #[cfg(unix)]
    survive_limits_of_files();
    A::try_parse().unwrap_or_else(|error| {
        let hint = missing_dashes::<A>(&error);
        let _ = error.print();
        if let Some(hint) = hint {
            terminal::complain(&hint);
        }
        process::exit(error.exit_code());
    })
}

/// Runs a command on a thread with a deep stack, and returns the exit code of the process.
pub fn run(command: impl FnOnce() -> Result<Exit, Stop> + Send) -> ExitCode {
    exit_code(json::on_deep_stack(command))
}

/// Returns the hint to print when the command of a testee is given without `--` before it.
fn missing_dashes<A: Parser>(error: &clap::Error) -> Option<String> {
    let words: Vec<OsString> = env::args_os().collect();
    let takes_testee = words.get(1).is_some_and(|command| command == "verify" || command == "fuzz");
    let ContextValue::String(unknown) = error.get(ContextKind::InvalidArg)? else { return None };
    if error.kind() != ErrorKind::UnknownArgument || !takes_testee || unknown.starts_with('-') {
        return None;
    }
    // The program, or the value of an option, may have the same name as the testee.
    let line = |place: usize| [&words[..place], &["--".into()], &words[place..]].concat();
    let places = (2..words.len()).filter(|&place| words[place].to_string_lossy() == *unknown);
    let mut lines = places.map(line);
    let line = lines.find(|line| A::try_parse_from(line).is_ok())?;
    let line: Vec<String> = line[1..].iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let line = shlex::try_join(line.iter().map(String::as_str)).unwrap_or_else(|_| line.join(" "));
    Some(format!("To test a program, put `--` before its command:\n\n  threadspec {}", visible(&line)))
}

/// Makes writing beyond the greatest size of files (`ulimit -f`) an error, which costs neither the summary nor other reports. Without
/// this it would end the program.
#[cfg(unix)]
fn survive_limits_of_files() {
    let mut signals = SigSet::empty();
    signals.add(Signal::SIGXFSZ);
    let _ = signals.thread_block();
}
