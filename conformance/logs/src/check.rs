//! Finds out what a file is packed in, and has it checked.

use super::containers::sqlite::{self, Source};
use super::containers::{tnetstring, zip};
use super::finding::{Place, Report, Sink, Summary};
use super::input;
use super::log::FileLog;
use super::options::CheckOptions;
use super::records::Records;
use super::rules::finding;
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
    let (input, packed) = input::unpack(Box::new(input))?;
    let (head, mut input) = input::peek(input, HEAD)?;
    let mut log = FileLog::new(*options, sink);
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

/// How much of a file tells what it is.
const HEAD: usize = 4096;
/// A database that is not a file of its own is held in memory, up to this size.
const LARGEST_DATABASE: u64 = 256 << 20;

/// The same for a file. Of a database only the pages that are needed are read, its write-ahead log included, and nothing is written.
///
/// # Errors
///
/// When it cannot be opened, or nothing of it can be read.
pub fn check_file(path: &Path, options: &CheckOptions, sink: &mut dyn Sink) -> io::Result<Summary> {
    let mut file = File::open(path)?;
    let mut head = Vec::new();
    file.by_ref().take(sqlite::MAGIC.len() as u64).read_to_end(&mut head)?;
    file.rewind()?;
    if head != sqlite::MAGIC {
        return check(file, options, sink);
    }
    let mut beside = path.as_os_str().to_owned();
    beside.push("-wal");
    let written_ahead = File::open(beside).ok().map(|file| Box::new(file) as Box<dyn Source>);
    let mut log = FileLog::new(*options, sink);
    let read = log.database(Box::new(file), written_ahead);
    log.end(read, None)
}

/// The same for a folder as one log, in the order of its files' names, numbers by their value: some programs write a file for each message.
/// Each place has the file's path in the folder as its entry.
///
/// # Errors
///
/// When a folder or a file in it cannot be read.
pub fn check_folder(path: &Path, options: &CheckOptions, sink: &mut dyn Sink) -> io::Result<Summary> {
    let mut files = Vec::new();
    collect(path, &mut files)?;
    files.sort_by_key(|file| by_numbers(&file.to_string_lossy()));
    let mut log = FileLog::new(*options, sink);
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

/// A name with its numbers apart, so that `message_10` comes behind `message_9`.
fn by_numbers(name: &str) -> Vec<(String, u64)> {
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

/// The same for bytes that are there already: for bindings, which have no files.
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
