//! A file that still grows, as one stream: whoever reads it waits for more, and notices when it is cut off or replaced.

use memchr::{memchr_iter, memrchr};
use same_file::Handle;
use serde::de::IgnoredAny;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::mem;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How often a file is looked at that has nothing new.
const PAUSE: Duration = Duration::from_millis(200);

/// So many of the last bytes are compared with what is in the file now: one that was cut off and has grown again is no shorter.
const TAIL: usize = 64;

/// The lines, counted through the stream, in front of which the file began again.
#[derive(Clone, Debug, Default)]
pub(super) struct Beginnings(Arc<Mutex<Vec<usize>>>);

impl Beginnings {
    /// How often the file had begun again before this line of the stream, and the line in the file as it was then.
    pub(super) fn line(&self, line: usize) -> (usize, usize) {
        let before = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let times = before.partition_point(|&lines| lines < line);
        (times, line - times.checked_sub(1).map_or(0, |last| before[last]))
    }

    fn add(&self, lines: usize) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(lines);
    }
}

/// A file that is followed. It gives whole lines: what a writer has begun is no fault yet.
pub(super) struct GrowingFile<W> {
    path: PathBuf,
    /// Waits for so long; whether to go on then.
    wait: W,
    file: Option<Handle>,
    /// How many bytes of the file were read, and the last of them.
    offset: u64,
    tail: Vec<u8>,
    /// Whole lines that nobody has read yet, and the beginning of the next.
    ready: io::Cursor<Vec<u8>>,
    begun: Vec<u8>,
    lines: usize,
    beginnings: Beginnings,
    has_ended: bool,
}

impl<W: FnMut(Duration) -> bool> GrowingFile<W> {
    /// The file need not be there yet.
    pub(super) fn new(path: PathBuf, wait: W) -> Self {
        Self {
            path,
            wait,
            file: None,
            offset: 0,
            tail: Vec::new(),
            ready: io::Cursor::default(),
            begun: Vec::new(),
            lines: 0,
            beginnings: Beginnings::default(),
            has_ended: false,
        }
    }

    pub(super) fn beginnings(&self) -> Beginnings {
        self.beginnings.clone()
    }

    /// Reads what is new, or waits. Returns whether it should go on.
    fn advance(&mut self) -> io::Result<bool> {
        if !(self.wait)(Duration::ZERO) {
            return Ok(false);
        }
        if !self.is_there()? {
            return Ok((self.wait)(PAUSE));
        }
        if self.was_cut()? {
            self.begin_anew();
        }
        if self.read_on()? > 0 {
            return Ok(true);
        }
        let Some(next) = self.replacement()? else { return Ok((self.wait)(PAUSE)) };
        // What was written before the other file got its name.
        while self.read_on()? > 0 {}
        self.begin_anew();
        self.file = Some(next);
        Ok(true)
    }

    fn is_there(&mut self) -> io::Result<bool> {
        if self.file.is_none() {
            match Handle::from_path(&self.path) {
                Ok(file) => self.file = Some(file),
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(self.file.is_some())
    }

    /// Checks the newest lines, and a last line without an end if it is JSON.
    fn end(&mut self) -> io::Result<()> {
        if self.is_there()? {
            self.read_on()?;
        }
        let last = mem::take(&mut self.begun);
        if serde_json::from_slice::<IgnoredAny>(&last).is_ok() {
            self.give(last);
        }
        self.has_ended = true;
        Ok(())
    }

    fn file(&mut self) -> io::Result<&mut File> {
        self.file.as_mut().map(Handle::as_file_mut).ok_or_else(|| ErrorKind::NotFound.into())
    }

    /// Returns whether what was read is there no more.
    fn was_cut(&mut self) -> io::Result<bool> {
        let (offset, tail) = (self.offset, mem::take(&mut self.tail));
        let file = self.file()?;
        let mut now = Vec::new();
        file.seek(SeekFrom::Start(offset - tail.len() as u64))?;
        file.take(tail.len() as u64).read_to_end(&mut now)?;
        let is_same = now == tail;
        self.tail = tail;
        Ok(!is_same)
    }

    /// Another file under the same name, if something is written in it: until then the writer may still have the old one.
    fn replacement(&mut self) -> io::Result<Option<Handle>> {
        match Handle::from_path(&self.path) {
            Ok(next) if self.file.as_ref() != Some(&next) && next.as_file().metadata()?.len() > 0 => Ok(Some(next)),
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(None),
        }
    }

    /// Reads on from where it was, and returns how many bytes.
    fn read_on(&mut self) -> io::Result<usize> {
        let offset = self.offset;
        let file = self.file()?;
        file.seek(SeekFrom::Start(offset))?;
        let mut bytes = Vec::new();
        let read = file.take(1 << 20).read_to_end(&mut bytes)?;
        self.offset += read as u64;
        self.tail.extend_from_slice(&bytes[read.saturating_sub(TAIL)..]);
        self.tail.drain(..self.tail.len().saturating_sub(TAIL));
        match memrchr(b'\n', &bytes) {
            Some(end) => {
                let rest = bytes.split_off(end + 1);
                let begun = mem::replace(&mut self.begun, rest);
                self.give([begun, bytes].concat());
            }
            None => self.begun.append(&mut bytes),
        }
        Ok(read)
    }

    fn give(&mut self, lines: Vec<u8>) {
        self.lines += memchr_iter(b'\n', &lines).count();
        let given = mem::take(&mut self.ready);
        let at = usize::try_from(given.position()).unwrap_or(usize::MAX);
        let mut all = given.into_inner().split_off(at);
        all.extend(lines);
        self.ready = io::Cursor::new(all);
    }

    /// The line that was begun is never ended.
    fn begin_anew(&mut self) {
        (self.offset, self.tail) = (0, Vec::new());
        if !self.begun.is_empty() {
            let line = mem::take(&mut self.begun);
            self.give([&line[..], b"\n"].concat());
        }
        self.beginnings.add(self.lines);
    }
}

impl<W: FnMut(Duration) -> bool> Read for GrowingFile<W> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.ready.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            if self.has_ended {
                return Ok(0);
            }
            if !self.advance()? {
                self.end()?;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::Write;
    use std::path::Path;

    /// Returns the findings in `log` while these changes happen to it, one whenever there is nothing new.
    fn followed(deeds: &[fn(&Path) -> io::Result<()>]) -> io::Result<(String, Beginnings)> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("log");
        let mut next = deeds.iter();
        let to_wait = path.clone();
        let mut file = GrowingFile::new(path, move |time| {
            time.is_zero() || next.next().is_some_and(|deed| deed(&to_wait).is_ok())
        });
        let beginnings = file.beginnings();
        let mut text = String::new();
        file.read_to_string(&mut text)?;
        Ok((text, beginnings))
    }

    fn append(path: &Path, text: &str) -> io::Result<()> {
        File::options().create(true).append(true).open(path)?.write_all(text.as_bytes())
    }

    #[test]
    fn a_file_that_is_not_there_yet_is_waited_for() -> io::Result<()> {
        let (text, beginnings) = followed(&[
            |_| Ok(()),
            |path| append(path, "1\n2"),
            |_| Ok(()),
            |path| append(path, "2\n3\n"),
            |_| Ok(()),
        ])?;
        assert_eq!(text, "1\n22\n3\n");
        assert_eq!(beginnings.line(3), (0, 3));
        Ok(())
    }

    #[test]
    fn a_line_that_was_only_begun_is_left_out() -> io::Result<()> {
        assert_eq!(followed(&[|path| append(path, "1\n{\"a\"")])?.0, "1\n");
        assert_eq!(followed(&[|path| append(path, "1\n{\"a\":1}")])?.0, "1\n{\"a\":1}");
        assert_eq!(followed(&[])?.0, "");
        Ok(())
    }

    #[test]
    fn a_file_that_is_cut_off_begins_anew() -> io::Result<()> {
        let (text, beginnings) =
            followed(&[|path| append(path, "1\n2\nbeg"), |path| fs::write(path, "4\n"), |path| append(path, "5\n")])?;
        assert_eq!(text, "1\n2\nbeg\n4\n5\n");
        assert_eq!([2, 3, 4, 5].map(|line| beginnings.line(line)), [(0, 2), (0, 3), (1, 1), (1, 2)]);
        Ok(())
    }

    #[test]
    fn one_that_was_cut_off_and_has_grown_again_begins_anew() -> io::Result<()> {
        let (text, _) = followed(&[|path| append(path, "1\n2\n"), |path| fs::write(path, "3\n4\n")])?;
        assert_eq!(text, "1\n2\n3\n4\n");
        let (text, _) = followed(&[|path| append(path, "1\n2\n"), |path| fs::write(path, "3\n4\n5\n6\n")])?;
        assert_eq!(text, "1\n2\n3\n4\n5\n6\n");
        Ok(())
    }

    #[test]
    fn a_file_that_is_replaced_is_read_to_its_end_first() -> io::Result<()> {
        let (text, beginnings) = followed(&[
            |path| append(path, "1\n"),
            |path| fs::rename(path, path.with_extension("1")),
            // The writer has not noticed yet.
            |path| append(&path.with_extension("1"), "2\n"),
            |path| append(path, ""),
            |path| append(&path.with_extension("1"), "3\n"),
            |path| append(&path.with_extension("1"), "4\n").and_then(|()| append(path, "5\n")),
            |path| append(path, "6\n"),
        ])?;
        assert_eq!(text, "1\n2\n3\n4\n5\n6\n");
        assert_eq!([4, 5, 6].map(|line| beginnings.line(line)), [(0, 4), (1, 1), (1, 2)]);
        Ok(())
    }
}
