//! Finds the files that the arguments of `check` represent, and reads standard input so that it can be interrupted.

use glob::MatchOptions;
use std::collections::HashSet;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;
use std::{io, thread};
use threadspec_logs::by_numbers;
use threadspec_runner::{files, interrupt};
use walkdir::{DirEntry, WalkDir};

/// The files that the arguments name, in the order in which they are named, and the arguments that name none, with the reason.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Inputs {
    pub(super) files: Vec<PathBuf>,
    pub(super) unread: Vec<(PathBuf, String)>,
}

impl Inputs {
    /// A folder represents every file in it, sorted, without hidden ones and linked folders; a pattern that is no file itself, for what
    /// matches it. What is named twice is read once.
    pub(super) fn of(arguments: &[PathBuf]) -> Self {
        let mut inputs = Self::default();
        for argument in arguments {
            inputs.add(argument);
        }
        let mut seen = HashSet::new();
        inputs.files.retain(|file| seen.insert(files::identity(file).unwrap_or_else(|| file.clone())));
        inputs
    }

    fn add(&mut self, argument: &Path) {
        let pattern = argument.to_str().filter(|text| text.contains(['*', '?', '[']));
        match pattern {
            _ if argument.is_dir() => self.add_folder(argument),
            Some(pattern) if !argument.exists() => self.add_matches(argument, pattern),
            // Also one that is not there: opening it says so.
            _ => self.files.push(argument.to_path_buf()),
        }
    }

    fn add_folder(&mut self, folder: &Path) {
        let is_hidden = |name: &std::ffi::OsStr| name.as_encoded_bytes().starts_with(b".");
        // A link to a file is a file; one to a folder may lead anywhere, also back.
        let is_file =
            |entry: &DirEntry| entry.file_type().is_file() || entry.path_is_symlink() && entry.path().is_file();
        let numbers = |entry: &DirEntry| by_numbers(&entry.file_name().to_string_lossy());
        let entries = WalkDir::new(folder).sort_by_key(numbers).into_iter();
        let known = self.files.len() + self.unread.len();
        for entry in entries.filter_entry(|entry| entry.depth() == 0 || !is_hidden(entry.file_name())) {
            match entry {
                Ok(entry) if is_file(&entry) && !is_of_database(entry.path()) => self.files.push(entry.into_path()),
                Ok(_) => {}
                Err(error) => {
                    let path = error.path().unwrap_or(folder).to_path_buf();
                    let why = error.io_error().map_or_else(|| error.to_string(), ToString::to_string);
                    self.unread.push((path, why));
                }
            }
        }
        if self.files.len() + self.unread.len() == known {
            self.unread.push((folder.to_path_buf(), "a folder without files".to_owned()));
        }
    }

    fn add_matches(&mut self, argument: &Path, pattern: &str) {
        let mut refuse = |path: &Path, why: String| self.unread.push((path.to_path_buf(), why));
        let options = MatchOptions { require_literal_leading_dot: true, ..MatchOptions::default() };
        let matches = match glob::glob_with(pattern, options) {
            Ok(matches) => matches,
            Err(error) => return refuse(argument, format!("no file has this name, and it is no pattern: {error}")),
        };
        let mut found = Vec::new();
        for path in matches {
            match path {
                Ok(path) if is_of_database(&path) => {}
                Ok(path) => found.push(path),
                Err(error) => refuse(error.path(), error.error().to_string()),
            }
        }
        if found.is_empty() {
            refuse(argument, "no file matches this pattern".to_owned());
        }
        found.sort_by_cached_key(|path| by_numbers(&path.to_string_lossy()));
        for path in found {
            if path.is_dir() {
                self.add_folder(&path);
            } else {
                self.files.push(path);
            }
        }
    }
}

/// Returns whether SQLite keeps the file beside a database, with which it is read.
fn is_of_database(path: &Path) -> bool {
    let name = path.to_string_lossy();
    let database = ["-wal", "-shm", "-journal"].iter().find_map(|end| name.strip_suffix(end));
    database.is_some_and(|database| Path::new(database).is_file())
}

/// Returns whether two files may be parts of one log by their names: in one folder, they differ in numbers only.
pub(super) fn are_of_one_log(one: &Path, other: &Path) -> bool {
    let letters =
        |path: &Path| path.file_name().map(|name| name.to_string_lossy().replace(|c: char| c.is_ascii_digit(), ""));
    one.parent() == other.parent() && letters(one) == letters(other)
}

// Standard input, whose reading can be interrupted.

/// How soon Ctrl-C is noticed while nothing comes.
const PAUSE: Duration = Duration::from_millis(50);

/// Standard input. The system's reads begin again behind a signal, so that a thread waits for them.
pub(super) struct Stdin {
    pieces: Receiver<io::Result<Vec<u8>>>,
    piece: io::Cursor<Vec<u8>>,
}

impl Stdin {
    pub(super) fn new() -> Self {
        // A few pieces ahead, whatever the size of what comes.
        let (send, pieces) = sync_channel(4);
        thread::spawn(move || {
            let mut stdin = io::stdin().lock();
            loop {
                let mut piece = vec![0; 1 << 16];
                let read = stdin.read(&mut piece);
                let is_last = !matches!(read, Ok(1..));
                let piece = read.map(|length| {
                    piece.truncate(length);
                    piece
                });
                if send.send(piece).is_err() || is_last {
                    return;
                }
            }
        });
        Self { pieces, piece: io::Cursor::default() }
    }
}

impl Read for Stdin {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.piece.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            if interrupt::requested() {
                return Err(io::Error::other("interrupted"));
            }
            match self.pieces.recv_timeout(PAUSE) {
                Ok(piece) => self.piece = io::Cursor::new(piece?),
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => return Ok(0),
            }
            if self.piece.get_ref().is_empty() {
                return Ok(0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs, io};

    /// The names of files and of what is refused, without the folder.
    fn names(folder: &Path, arguments: &[&str]) -> (Vec<String>, Vec<String>) {
        let arguments: Vec<PathBuf> = arguments.iter().map(|argument| folder.join(argument)).collect();
        let Inputs { files, unread } = Inputs::of(&arguments);
        let name = |path: &PathBuf| path.strip_prefix(folder).unwrap_or(path).to_string_lossy().replace('\\', "/");
        (files.iter().map(name).collect(), unread.iter().map(|(path, _)| name(path)).collect())
    }

    #[test]
    fn folders_and_patterns_stand_for_files() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let at = folder.path();
        for file in ["b.jsonl", "a.jsonl", "a.txt", "deep/er/c.jsonl", ".hidden/d.jsonl", "deep/.e.jsonl", "[x].jsonl"]
        {
            let path = at.join(file);
            fs::create_dir_all(path.parent().expect("a folder"))?;
            fs::write(path, "")?;
        }
        fs::create_dir(at.join("nothing"))?;
        fs::create_dir(at.join("stored"))?;
        let all = ["[x].jsonl", "a.jsonl", "a.txt", "b.jsonl", "deep/er/c.jsonl"].map(str::to_owned);
        assert_eq!(names(at, &["."]).0, all);
        assert_eq!(names(at, &["*.jsonl"]).0, ["[x].jsonl", "a.jsonl", "b.jsonl"]);
        assert_eq!(names(at, &["**/*.jsonl"]).0, ["[x].jsonl", "a.jsonl", "b.jsonl", "deep/er/c.jsonl"]);
        assert_eq!(names(at, &["de*"]).0, ["deep/er/c.jsonl"]);
        assert_eq!(names(at, &["[x].jsonl"]).0, ["[x].jsonl"]);
        assert_eq!(names(at, &["b.jsonl", "*.jsonl", "deep/../b.jsonl"]).0, ["b.jsonl", "[x].jsonl", "a.jsonl"]);
        assert_eq!(names(at, &["missing.jsonl"]).0, ["missing.jsonl"]);
        for number in ["2", "10", "1"] {
            fs::write(at.join(format!("deep/log-{number}")), "")?;
        }
        assert_eq!(names(at, &["deep/log*"]).0, ["deep/log-1", "deep/log-2", "deep/log-10"]);
        assert_eq!(names(at, &["deep"]).0[1..], ["deep/log-1", "deep/log-2", "deep/log-10"]);
        for file in ["s.db", "s.db-wal", "s.db-shm", "other-wal"] {
            fs::write(at.join("stored").join(file), "")?;
        }
        assert_eq!(names(at, &["stored"]).0, ["stored/other-wal", "stored/s.db"]);
        assert_eq!(names(at, &["stored/*"]).0, ["stored/other-wal", "stored/s.db"]);
        assert_eq!(names(at, &["stored/s.db-wal"]).0, ["stored/s.db-wal"]);
        assert_eq!(
            names(at, &["*.xml", "a[", "nothing"]),
            (Vec::new(), ["*.xml", "a[", "nothing"].map(str::to_owned).to_vec())
        );
        Ok(())
    }

    #[test]
    fn files_of_one_log_differ_in_numbers() {
        let are = |one: &str, other: &str| are_of_one_log(Path::new(one), Path::new(other));
        assert!(are("a/log-2026-11-25.jsonl", "a/log-2026-11-26.jsonl") && are("1.json", "10.json"));
        assert!(!are("a/1.json", "b/2.json") && !are("clean.json", "fault.json") && !are("log.1", "log"));
    }

    #[cfg(unix)]
    #[test]
    fn linked_files_are_read_and_linked_folders_not_entered() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        fs::write(folder.path().join("a"), "")?;
        for (link, to) in [("up", ".."), ("ring", "."), ("b", "/dev/null"), ("c", "nowhere")] {
            std::os::unix::fs::symlink(to, folder.path().join(link))?;
        }
        let other = tempfile::NamedTempFile::new()?;
        std::os::unix::fs::symlink(other.path(), folder.path().join("z"))?;
        assert_eq!(names(folder.path(), &["."]), (["a", "z"].map(str::to_owned).to_vec(), Vec::new()));
        Ok(())
    }
}
