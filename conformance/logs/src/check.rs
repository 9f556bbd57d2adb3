//! Finds out what a file is packed in, and has it checked.

use super::containers::sqlite::{self, Source};
use super::containers::{tnetstring, zip};
use super::exchanges::Exchanges;
use super::finding::{Place, Report, Sink, Summary};
use super::input;
use super::log::FileLog;
use super::options::CheckOptions;
use super::records::Records;
use super::rules::finding;
use super::seen::SeenHistories;
use super::thread::NumberedThreads;
use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek};
use std::path::{Path, PathBuf};

/// Reads a file to its end, whatever it is, and hands on everything that is wrong, as soon as it is found.
///
/// What was compressed by gzip or zstd is read as what it was before. A database of SQLite, in which pages must be looked up, is held in
/// memory; [`check_file`] does without.
///
/// # Errors
///
/// When nothing of it can be read. Where reading fails later, what was read is judged, and a finding says where it ends.
pub fn check(input: impl Read, options: &CheckOptions, sink: &mut dyn Sink) -> io::Result<Summary> {
    LogFiles::new(options).check("", input, sink)
}

/// Checks a file likewise. Of a database only the pages that are needed are read, its write-ahead log included, and nothing is written.
///
/// # Errors
///
/// When it cannot be opened, or nothing of it can be read.
pub fn check_file(path: &Path, options: &CheckOptions, sink: &mut dyn Sink) -> io::Result<Summary> {
    LogFiles::new(options).check_file(path, sink)
}

/// How much of a file tells what it is.
const HEAD: usize = 4096;
/// The position of the type in a header of a tar archive.
const TAR: (usize, &[u8]) = (257, b"ustar");
/// A database that is not a file of its own is held in memory, up to this size.
const LARGEST_DATABASE: u64 = 256 << 20;

/// Files that may be parts of one log, in their order: one for each day, each run or each request.
///
/// A request may go on from one in an earlier file, which is judged as if they were in one file. Nothing is said of what two files have in
/// common by chance: only if a request begins with all of one in an earlier file, and that one with a reply of a model, are they parts of
/// one log.
///
/// ```
/// use threadspec_logs::{CheckOptions, LogFiles, Report};
///
/// let message = |role: &str, text: &str| format!(r#"{{"role": "{role}", "content": "{text}"}}"#);
/// let said = ["user Hi", "assistant Hi!", "user Is it 4?", "assistant Yes.", "user Sure?", "assistant Quite.", "user Bye"];
/// let said = said.map(|said| said.split_once(' ').map(|(role, text)| message(role, text)).unwrap_or_default());
/// let request = |said: &[String]| format!(r#"{{"model": "gpt-4.1", "messages": [{}]}}"#, said.join(","));
/// let changed = request(&said).replace("Is it 4?", "Is it 5?");
///
/// let mut files = LogFiles::new(&CheckOptions::default());
/// let mut report = Report::default();
/// for (name, log) in [("1.json", request(&said[..3])), ("2.json", request(&said[..5])), ("3.json", changed)] {
///     files.check(name, log.as_bytes(), &mut report)?;
/// }
/// assert_eq!((report.findings.len(), report.findings[0].rule), (1, "LOG-PREFIX"));
/// assert!(report.findings[0].text.starts_with("the request goes on from request 1 of 2.json"));
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct LogFiles {
    options: CheckOptions,
    exchanges: Exchanges,
    seen: SeenHistories,
    numbered: NumberedThreads,
}

impl LogFiles {
    /// Those that come with [`check`](Self::check).
    pub fn new(options: &CheckOptions) -> Self {
        Self {
            options: *options,
            exchanges: Exchanges::new(options.api),
            seen: SeenHistories::default(),
            numbered: NumberedThreads::default(),
        }
    }

    /// Says whether another file of the log comes behind the next one, so that what is open at its end may go on there.
    pub fn expect_more(&mut self, has_more: bool) {
        self.numbered.has_more = has_more;
    }

    fn begin<'a>(&'a mut self, name: &'a str, sink: &'a mut dyn Sink) -> FileLog<'a> {
        self.exchanges.begin_file(name);
        FileLog::new(self.options, (name, &mut self.numbered), &mut self.exchanges, &mut self.seen, sink)
    }

    /// As [`check`](check()), for the next file.
    ///
    /// # Errors
    ///
    /// As there.
    pub fn check(&mut self, name: &str, input: impl Read, sink: &mut dyn Sink) -> io::Result<Summary> {
        let (input, packed) = input::unpack(Box::new(input))?;
        let (head, mut input) = input::peek(input, HEAD)?;
        if head.get(TAR.0..).is_some_and(|head| head.starts_with(TAR.1)) {
            return Err(io::Error::other("it is a tar archive; unpack it, and check the folder"));
        }
        let mut log = self.begin(name, sink);
        let read = if head.starts_with(sqlite::MAGIC) {
            let mut bytes = Vec::new();
            input.by_ref().take(LARGEST_DATABASE).read_to_end(&mut bytes)?;
            if bytes.len() as u64 == LARGEST_DATABASE {
                return Err(io::Error::other("a database of this size can only be read from a file of its own"));
            }
            log.database(Box::new(io::Cursor::new(bytes)), None)
        } else if head.starts_with(zip::MAGIC) {
            zip::entries(BufReader::new(input), &mut |name, file| {
                log.entry = Some(name.to_owned());
                log.records(Records::new(Box::new(file)))
            })
        } else if tnetstring::is_so(&head) {
            log.flows(&mut input)
        } else {
            log.records(Records::new(input))
        };
        log.end(read, packed.last().copied())
    }

    /// As [`check_file`], for the next file.
    ///
    /// # Errors
    ///
    /// As there.
    pub fn check_file(&mut self, path: &Path, sink: &mut dyn Sink) -> io::Result<Summary> {
        let name = path.display().to_string();
        let mut file = File::open(path)?;
        let mut head = Vec::new();
        file.by_ref().take(sqlite::MAGIC.len() as u64).read_to_end(&mut head)?;
        file.rewind()?;
        if head != sqlite::MAGIC {
            return self.check(&name, file, sink);
        }
        let mut beside = path.as_os_str().to_owned();
        beside.push("-wal");
        let written_ahead = File::open(beside).ok().map(|file| Box::new(file) as Box<dyn Source>);
        let mut log = self.begin(&name, sink);
        let read = log.database(Box::new(file), written_ahead);
        log.end(read, None)
    }
}

/// Checks a folder as one log, in the order of its files' names, numbers by their value. Some programs write a file for each message. Each
/// place has the file's path in the folder as its entry.
///
/// # Errors
///
/// When a folder or a file in it cannot be read.
pub fn check_folder(path: &Path, options: &CheckOptions, sink: &mut dyn Sink) -> io::Result<Summary> {
    let mut files = Vec::new();
    collect(path, &mut files)?;
    files.sort_by_key(|file| by_numbers(&file.to_string_lossy()));
    let mut log = LogFiles::new(options);
    let mut log = log.begin("", sink);
    for file in files {
        let inside = file.strip_prefix(path).unwrap_or(&file);
        log.entry = Some(inside.display().to_string());
        log.folder = inside.parent().map(|folder| folder.display().to_string()).unwrap_or_default();
        let (input, _) = input::unpack(Box::new(File::open(&file)?))?;
        log.records(Records::new(input))?;
    }
    log.end(Ok(()), None)
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        match entry.file_type()? {
            kind if kind.is_dir() => collect(&entry.path(), files)?,
            kind if kind.is_file() => files.push(entry.path()),
            // A link may lead anywhere, and a pipe may never end.
            _ => {}
        }
    }
    Ok(())
}

/// A name with its numbers apart, so that `message_10` comes behind `message_9`: by this the files of a log are in their order.
pub fn by_numbers(name: &str) -> Vec<(String, u64)> {
    let mut parts = vec![(String::new(), 0_u64)];
    let mut was_digit = false;
    for character in name.chars() {
        if was_digit && !character.is_ascii_digit() {
            parts.push((String::new(), 0));
        }
        was_digit = character.is_ascii_digit();
        if let Some((text, number)) = parts.last_mut() {
            match character.to_digit(10) {
                Some(digit) => *number = number.saturating_mul(10).saturating_add(digit.into()),
                None => text.push(character),
            }
        }
    }
    parts
}

/// Checks bytes in memory: for bindings, which have no files.
///
/// ```
/// use threadspec_logs::{CheckOptions, Level, check_bytes};
///
/// let request = br#"{"model": "gpt-4.1", "messages": [{"role": "tool", "tool_call_id": "a", "content": "4"}]}"#;
/// let report = check_bytes(request, &CheckOptions::default());
/// assert_eq!(report.summary.total(), "1 request (openai-chat)");
/// let finding = &report.findings[0];
/// assert_eq!((finding.rule, finding.level, finding.place.request), ("OAI-CHAT-ORPHAN", Level::Error, Some(1)));
/// ```
pub fn check_bytes(bytes: &[u8], options: &CheckOptions) -> Report {
    let mut report = Report::default();
    match check(bytes, options, &mut report) {
        Ok(summary) => report.summary = summary,
        // Memory can always be read, but what is in it may be compressed, and broken.
        Err(error) => report.found(finding("LOG-CUT", Place::default(), error.to_string())),
    }
    report
}
