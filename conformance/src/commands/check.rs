//! `threadspec check`.

mod follow;
mod inputs;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use follow::{Beginnings, GrowingFile};
use inputs::{Inputs, Stdin, are_of_one_log};
use std::collections::BTreeMap;
use std::error::Error;
use std::ffi::OsStr;
use std::io::Read;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::{env, fmt, fs, io, panic};
use strum::VariantNames;
use threadspec::Profile;
use threadspec::oracle::Api;
use threadspec_cli::Stop;
use threadspec_judge::text::visible;
use threadspec_logs::{CheckOptions, Element, Finding, FormRow, Level, LogFiles, Place, Sink, Summary};
use threadspec_pages::findings;
use threadspec_pages::findings::{CheckRecord, CheckedFile, FindingsForm};
use threadspec_report::terminal::{STRONG, complain, print, styled};
use threadspec_runner::{Exit, files, interrupt};

/// Find faults in logs of agents: requests, answers and conversations in any form
///
/// Files are recognized by their content. The output lists the recognized and the skipped parts. Requests and conversations are judged by the rules of model APIs, and compared with each other: calls without a result,
/// results without a call, changed histories, which cost the prompt cache. Event logs and `<thread>` documents are judged by every oracle.
/// Each finding has a place, a fault and advice; `threadspec explain RULE` explains the rule.
#[derive(Debug, clap::Args)]
#[command(after_long_help = AFTER_HELP)]
pub(crate) struct Check {
    /// Files, folders with everything in them, or patterns such as 'logs/**/*.jsonl'; `-` is stdin
    #[arg(value_name = "FILE|FOLDER|GLOB", required = true)]
    files: Vec<PathBuf>,
    /// Take requests to be for this API: openai-chat, openai-responses, anthropic or gemini [default: recognized by their form]
    #[arg(long, value_name = "API")]
    api: Option<Api>,
    /// The form of the output
    #[arg(long, value_name = "FORM", default_value_t, value_parser = FormParser)]
    format: FindingsForm,
    /// Read records by the rows of this file first, which describe forms of your own in TOML
    #[arg(long, value_name = "FILE")]
    form: Option<PathBuf>,
    /// Print the row of the form of each file, or a proposed one for an unknown file, and no findings
    #[arg(long, conflicts_with_all = ["format", "follow"])]
    show_form: bool,
    /// Wait for more when the file ends, also when it is cut off, replaced, or not there yet, until Ctrl-C
    #[arg(long)]
    follow: bool,
    /// A warning makes the exit code 1, too
    #[arg(long)]
    strict: bool,
    /// Render event logs by this profile, literal or hardened
    #[arg(long, default_value_t)]
    profile: Profile,
}

const AFTER_HELP: &str = "\
Levels:
  error    the request is refused, or something is lost
  warning  only some servers or versions refuse it, or it costs money
  note     nothing to fix, such as a call that is open where the log ends

Exit codes:
  0    no error (with --strict: nor a warning)
  1    an error (with --strict: or a warning)
  2    wrong usage, an unreadable file, or one of which less than half was judged
  4    a fault of threadspec itself ended the reading of a file; the others were judged
  130  interrupted; the findings so far were printed

Examples:
  threadspec check requests.jsonl
  threadspec check --strict traces/ 'logs/**/*.json.gz'
  threadspec check --follow ~/.my-agent/requests.jsonl
  threadspec check --format sarif traces/ > threadspec.sarif
  threadspec check --show-form log.json > my.toml && threadspec check --form my.toml log.json
  kubectl logs my-agent | threadspec check -
";

impl Check {
    /// Runs the command and returns its exit code.
    ///
    /// # Errors
    ///
    /// When the arguments do not fit together.
    pub(crate) fn execute(&self) -> Result<Exit, Stop> {
        interrupt::listen().map_err(|error| Stop::new(Exit::Corpus, error))?;
        let Inputs { files, unread } = if self.follow { self.followed()? } else { Inputs::of(&self.files) };
        let mut record = CheckRecord { files: Vec::new(), strict: self.strict, interrupted: false };
        for (path, why) in unread {
            let file = CheckedFile { name: path.display().to_string(), unread: Some(why), ..CheckedFile::default() };
            self.tell_unread(&file);
            record.files.push(file);
        }
        let forms = self.form.as_deref().map(own_forms).transpose()?.unwrap_or_default();
        let options = CheckOptions { profile: self.profile, api: self.api, forms };
        self.check_each(&files, &options, &mut record, &|path, log, teller| match self.open(path, teller)? {
            // Its pages are looked up where they are.
            None => log.check_file(path, teller),
            Some(input) => log.check(&path.display().to_string(), input, teller),
        });
        match record.whole(self.format) {
            Some(text) => print(&text),
            None if self.format == FindingsForm::Text && !self.show_form => print(&findings::totals(&record)),
            None => {}
        }
        Ok(record.exit())
    }

    /// The one file that is followed.
    fn followed(&self) -> Result<Inputs, Stop> {
        match self.files.as_slice() {
            [file] if !file.is_dir() => Ok(Inputs { files: vec![file.clone()], unread: Vec::new() }),
            _ => Err(Stop::new(Exit::Usage, "--follow takes one file")),
        }
    }

    /// Checks files in their order, each as `read` reads it, until the command is interrupted.
    fn check_each(&self, files: &[PathBuf], options: &CheckOptions, record: &mut CheckRecord, read: &ReadFile<'_>) {
        let mut log = LogFiles::new(options);
        for (position, path) in files.iter().enumerate() {
            if position.checked_sub(1).is_none_or(|before| !are_of_one_log(&files[before], path)) {
                log = LogFiles::new(options);
            }
            log.expect_more(files.get(position + 1).is_some_and(|next| are_of_one_log(path, next)));
            let file = self.check(path, &mut log, read);
            if file.is_our_fault {
                // What is known of the files before is in disorder.
                log = LogFiles::new(options);
            }
            record.interrupted = interrupt::requested();
            if !record.interrupted {
                self.tell_unread(&file);
            }
            record.files.push(file);
            if record.interrupted {
                break;
            }
        }
    }

    fn check(&self, path: &Path, log: &mut LogFiles, read: &ReadFile<'_>) -> CheckedFile {
        let name = path.display().to_string();
        let mut teller = Teller { shows_form: self.show_form, ..Teller::new(&name, self.format) };
        let summary = guarded(|| read(path, log, &mut teller));
        let mut file = CheckedFile { name: name.clone(), ..CheckedFile::default() };
        match summary {
            Ok(summary) => {
                teller.conclude(&summary);
                file.unread = summary.unjudged().map(str::to_owned);
                if !self.show_form {
                    file.report.summary = summary;
                }
            }
            Err(error) => {
                file.is_our_fault = error.get_ref().is_some_and(<dyn Error + Send + Sync>::is::<OurFault>);
                file.unread = Some(error.to_string());
            }
        }
        file.report.findings = teller.kept;
        file
    }

    /// Opens the log to read; none if it is a database.
    fn open(&self, path: &Path, teller: &mut Teller<'_>) -> io::Result<Option<Box<dyn Read>>> {
        if path == Path::new("-") {
            return Ok(Some(Box::new(Stdin::new())));
        }
        if !self.follow {
            let mut head = Vec::new();
            files::open(path)?.take(DATABASE.len() as u64).read_to_end(&mut head)?;
            let input = || files::open(path).map(|file| Box::new(Interruptible(file)) as Box<dyn Read>);
            return (head != DATABASE).then(input).transpose();
        }
        // What is there must be a file that can be read; what is not there yet is waited for.
        match fs::metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            _ => drop(files::open(path)?),
        }
        let followed = GrowingFile::new(path.to_path_buf(), interrupt::wait);
        teller.beginnings = Some(followed.beginnings());
        Ok(Some(Box::new(followed)))
    }

    fn tell_unread(&self, file: &CheckedFile) {
        let Some(why) = &file.unread else { return };
        if self.format == FindingsForm::Github {
            print(&findings::annotation_of_unread(&file.name, why, workspace().as_deref()));
        } else {
            complain(&format!("threadspec: {}", visible(&format!("{}: {why}", file.name))));
        }
    }
}

/// Reads the rows of a user's file.
fn own_forms(path: &Path) -> Result<&'static [FormRow], Stop> {
    let read = fs::read_to_string(path).and_then(|text| FormRow::read_all(&text));
    read.map_err(|error| Stop::new(Exit::Usage, format!("{}: {error}", path.display())))
}

/// Reads one file, behind others that may be parts of its log.
type ReadFile<'a> = dyn Fn(&Path, &mut LogFiles, &mut Teller<'_>) -> io::Result<Summary> + 'a;

/// A fault of this program in one file.
#[derive(Debug)]
struct OurFault;

impl fmt::Display for OurFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "a fault of threadspec itself ended its reading; please report it, with the file if it may be shown",
        )
    }
}

impl Error for OurFault {}

/// Runs a check, also if it panics: one file never ends the run of others.
fn guarded(check: impl FnOnce() -> io::Result<Summary>) -> io::Result<Summary> {
    panic::catch_unwind(AssertUnwindSafe(check)).unwrap_or_else(|_| Err(io::Error::other(OurFault)))
}

/// How a database of SQLite begins.
const DATABASE: &[u8] = b"SQLite format 3\0";

/// The root of the checkout, from which GitHub finds files.
fn workspace() -> Option<PathBuf> {
    env::var_os("GITHUB_WORKSPACE").map(PathBuf::from)
}

/// A file whose reading ends when the command is interrupted.
struct Interruptible<R>(R);

impl<R: Read> Read for Interruptible<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // Not the kind `Interrupted`, after which one tries again.
        if interrupt::requested() { Err(io::Error::other("interrupted")) } else { self.0.read(buffer) }
    }
}

/// Takes the findings of a file: writes them at once, or keeps them for a form that is written as a whole.
#[derive(Default)]
struct Teller<'a> {
    name: &'a str,
    format: FindingsForm,
    width: Option<usize>,
    workspace: Option<PathBuf>,
    beginnings: Option<Beginnings>,
    /// True if the rows of the forms are printed, and nothing else.
    shows_form: bool,
    /// True if the name of the file was written.
    is_named: bool,
    kept: Vec<Finding>,
    /// How often each warning and note was found, by its rule and the part of a request: `LOG-PREFIX at message 1`.
    repeated: BTreeMap<String, usize>,
    /// The first error, if something else was printed before it.
    first_error: Option<Finding>,
}

impl<'a> Teller<'a> {
    fn new(name: &'a str, format: FindingsForm) -> Self {
        let width = console::Term::stdout().size_checked().map(|(_, width)| width.into());
        Self { name, format, width, workspace: workspace(), ..Self::default() }
    }

    fn name(&mut self, what: &str) {
        if self.format == FindingsForm::Text {
            let name = styled(STRONG, visible(self.name));
            match (self.is_named, what) {
                (false, "") => print(&format!("{name}:\n")),
                (false, what) => print(&format!("{name}: {}\n", visible(what))),
                (true, what) => print(&format!("  also {}\n", visible(what))),
            }
        }
        self.is_named = true;
    }

    /// Writes the name of the file, if it was not written yet.
    fn name_once(&mut self) {
        if !self.is_named {
            self.name("");
        }
    }

    fn conclude(&mut self, summary: &Summary) {
        if self.shows_form {
            print(&findings::rows(summary));
        } else if self.format == FindingsForm::Text {
            let conclusion = findings::conclusion(summary, self.width);
            if !conclusion.is_empty() {
                self.name_once();
            }
            for (what, times) in self.repeated.iter().filter(|(_, times)| **times > REPEATED) {
                print(&format!("  … {} more {what}; --format json shows all\n", times - REPEATED));
            }
            if let Some(error) = &self.first_error {
                print(&findings::fix_first(error, self.width));
            }
            print(&conclusion);
        }
    }
}

impl Teller<'_> {
    /// Counts a finding, and returns whether it was printed often enough.
    fn is_known(&mut self, finding: &Finding) -> bool {
        if finding.level == Level::Error {
            if !self.repeated.is_empty() {
                self.first_error.get_or_insert_with(|| finding.clone());
            }
            return false;
        }
        let Place { element, path, .. } = &finding.place;
        let place = match element {
            Some(Element { kind, number }) => format!("{kind} {number}"),
            // Each place without a name is another one.
            None if path.is_empty() => self.repeated.len().to_string(),
            None => path.clone(),
        };
        let times = self.repeated.entry(format!("{} at {place}", finding.rule)).or_default();
        *times += 1;
        *times > REPEATED
    }
}

/// How often a warning or note about the same part of a request is printed.
const REPEATED: usize = 2;

impl Sink for Teller<'_> {
    fn recognized(&mut self, what: &str) {
        if !self.shows_form {
            self.name(what);
        }
    }

    fn found(&mut self, mut finding: Finding) {
        if self.shows_form {
            return;
        }
        if let (Some(beginnings), Some(line)) = (&self.beginnings, finding.place.line) {
            let (times, line) = beginnings.line(line);
            finding.place.line = Some(line);
            if times > 0 {
                finding.place.entry = Some(format!("beginning {}", times + 1));
            }
        }
        self.name_once();
        match self.format {
            FindingsForm::Text => {
                // Who follows a log waits for each.
                if self.beginnings.is_none() && self.is_known(&finding) {
                    return;
                }
                print(&findings::finding(&finding, self.width));
            }
            FindingsForm::Github => print(&findings::annotation(self.name, &finding, self.workspace.as_deref())),
            FindingsForm::Json | FindingsForm::Sarif | FindingsForm::Junit => self.kept.push(finding),
        }
    }
}

/// Reads the name of a form, and tells whoever names an API how that is done now.
#[derive(Clone)]
struct FormParser;

impl TypedValueParser for FormParser {
    type Value = FindingsForm;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<Self::Value, clap::Error> {
        if let Some(api) = value.to_str().filter(|name| name.parse::<Api>().is_ok()) {
            let message = format!("`--format` chooses the output; name the API with `--api {api}`\n");
            return Err(clap::Error::raw(ErrorKind::ValueValidation, message).with_cmd(command));
        }
        let name = PossibleValuesParser::new(FindingsForm::VARIANTS).parse_ref(command, argument, value)?;
        name.parse::<FindingsForm>()
            .map_err(|error| clap::Error::raw(ErrorKind::ValueValidation, error).with_cmd(command))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(FindingsForm::VARIANTS.iter().map(PossibleValue::new)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks three parts of a log with a fault each, of which reading the second ends so.
    fn others_are_judged(end: fn() -> io::Result<Summary>, code: u8, why: &str) {
        let check = Check {
            files: Vec::new(),
            api: None,
            format: FindingsForm::Json,
            form: None,
            show_form: false,
            follow: false,
            strict: false,
            profile: Profile::default(),
        };
        let request = r#"{"model": "gpt-4.1", "messages": [{"role": "tool", "tool_call_id": "a", "content": "4"}]}"#;
        let mut record = CheckRecord { files: Vec::new(), strict: false, interrupted: false };
        let files = ["1.json", "2.json", "3.json"].map(PathBuf::from);
        check.check_each(&files, &CheckOptions::default(), &mut record, &|path, log, teller| match path.to_str() {
            Some("2.json") => end(),
            _ => log.check(&path.display().to_string(), request.as_bytes(), teller),
        });
        let found = |file: &CheckedFile| file.report.findings.iter().map(|found| found.rule).collect::<Vec<_>>();
        assert_eq!(
            record.files.iter().map(found).collect::<Vec<_>>(),
            [vec!["OAI-CHAT-ORPHAN"], vec![], vec!["OAI-CHAT-ORPHAN"]]
        );
        let unread: Vec<_> = record.files.iter().map(|file| file.unread.as_deref()).collect();
        assert_eq!((record.exit().code(), unread.as_slice()), (code, &[None, Some(why), None][..]));
    }

    #[test]
    fn one_file_never_ends_the_run_of_others() {
        others_are_judged(|| panic!("a bug of ours"), 4, &OurFault.to_string());
        others_are_judged(|| Err(io::Error::other("no such file")), 2, "no such file");
    }
}
