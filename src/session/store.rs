//! Where a thread is kept.

use super::fact::FactRecord;
use crate::Error;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

/// Keeps what happened to one thread. Nothing is ever changed or removed, only added.
pub trait Store {
    /// Everything that was kept, oldest first.
    ///
    /// # Errors
    /// [`Error::store_failure`].
    fn load(&mut self) -> Result<Vec<FactRecord>, Error>;

    /// Keeps one thing more. When it returns, the record outlives the process; if it fails, nothing of it is kept.
    ///
    /// # Errors
    /// [`Error::store_failure`].
    fn append(&mut self, record: &FactRecord) -> Result<(), Error>;
}

impl<S: Store> Store for &mut S {
    fn load(&mut self) -> Result<Vec<FactRecord>, Error> {
        (**self).load()
    }

    fn append(&mut self, record: &FactRecord) -> Result<(), Error> {
        (**self).append(record)
    }
}

/// A store that ends with the process.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MemoryStore(Vec<FactRecord>);

impl Store for MemoryStore {
    fn load(&mut self) -> Result<Vec<FactRecord>, Error> {
        Ok(self.0.clone())
    }

    fn append(&mut self, record: &FactRecord) -> Result<(), Error> {
        self.0.push(record.clone());
        Ok(())
    }
}

/// A store on disk: JSON Lines, to which each record is added in one piece.
///
/// A process may be killed in the middle of a line. That record was never kept: nobody relies on it, and a file that is opened ends
/// with its last whole line. The file is handed to the operating system with each record, which is enough for a process that is killed; that
/// it also outlives the machine is not promised. One session at a time may use a file.
///
/// ```
/// use threadspec::session::{FileStore, Store};
/// let path = std::env::temp_dir().join(format!("threadspec-doc-{}.jsonl", std::process::id()));
/// std::fs::write(&path, "{\"at\":0,\"fact\":{\"user\":{\"text\":\"Go\"}}}\n{\"at\":1,\"fa")?;
/// assert_eq!(FileStore::open(&path)?.load()?.len(), 1, "the second line was never finished");
/// std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FileStore {
    file: File,
    /// How long the file is up to its last whole line.
    whole: u64,
}

impl FileStore {
    /// Opens a file, which is made if there is none.
    ///
    /// # Errors
    /// [`Error::store_failure`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
        let mut store = Self { file: file.map_err(Error::store_failure)?, whole: 0 };
        store.cut_off_half_line()?;
        Ok(store)
    }

    fn cut_off_half_line(&mut self) -> Result<(), Error> {
        let text = self.read()?;
        self.whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last as u64 + 1);
        if self.whole < text.len() as u64 {
            self.file.set_len(self.whole).map_err(Error::store_failure)?;
        }
        Ok(())
    }

    fn read(&mut self) -> Result<Vec<u8>, Error> {
        let mut text = Vec::new();
        self.file.seek(SeekFrom::Start(0)).map_err(Error::store_failure)?;
        self.file.read_to_end(&mut text).map_err(Error::store_failure)?;
        Ok(text)
    }
}

impl Store for FileStore {
    fn load(&mut self) -> Result<Vec<FactRecord>, Error> {
        let text = self.read()?;
        let lines = text.split(|byte| *byte == b'\n').enumerate().filter(|(_, line)| !line.is_empty());
        let record = |(index, line)| {
            serde_json::from_slice(line).map_err(|error| Error::store_failure(error).at_line(index + 1))
        };
        lines.map(record).collect()
    }

    fn append(&mut self, record: &FactRecord) -> Result<(), Error> {
        let mut line = serde_json::to_vec(record).map_err(Error::store_failure)?;
        line.push(b'\n');
        let mut write = || {
            self.file.seek(SeekFrom::Start(self.whole))?;
            self.file.write_all(&line)
        };
        match write() {
            Ok(()) => self.whole += line.len() as u64,
            Err(error) => {
                // The next record would be behind half of this one. If this fails, too, opening the file again fixes it.
                let _ = self.file.set_len(self.whole);
                return Err(Error::store_failure(error));
            }
        }
        Ok(())
    }
}
