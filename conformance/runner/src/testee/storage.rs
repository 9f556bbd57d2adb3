//! Storage folders: one for each session, private, and removed afterwards.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, DirBuilder};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How often a folder is removed again that somebody still writes to, or another name is tried.
const MOST_TRIES: usize = 100;
/// The name of the folder in the one that is watched.
const NAME: &str = "storage";

/// The folders that are there.
static THERE: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn there() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    THERE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A fresh folder that only this user can enter. It is alone in another one, so that what is written beside it is seen. Dropping it
/// removes both.
#[derive(Debug)]
pub struct Storage {
    around: PathBuf,
    /// The folder, as text: it goes into JSON.
    path: String,
}

impl Storage {
    /// Makes one.
    ///
    /// # Errors
    ///
    /// When the system refuses it.
    pub fn new() -> io::Result<Self> {
        let around = Self::unused()?;
        let storage = Self { path: around.join(NAME).to_string_lossy().into_owned(), around };
        // Only what was made is removed.
        there().insert(storage.around.clone());
        private().create(&storage.path)?;
        Ok(storage)
    }

    /// A new folder with a name that nobody had.
    fn unused() -> io::Result<PathBuf> {
        let secret = RandomState::new();
        let mut refused = io::Error::from(io::ErrorKind::AlreadyExists);
        for number in 0..MOST_TRIES {
            let name = format!("threadspec-{}-{:016x}", std::process::id(), secret.hash_one(number));
            let around = std::env::temp_dir().join(name);
            match private().create(&around) {
                Ok(()) => return Ok(around),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => refused = error,
                Err(error) => return Err(error),
            }
        }
        Err(refused)
    }

    /// The folder.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Lists the files beside it, by name.
    pub(super) fn beside(&self) -> Vec<OsString> {
        let entries = fs::read_dir(&self.around).into_iter().flatten();
        let names = entries.filter_map(|entry| Some(entry.ok()?.file_name()));
        let mut names: Vec<OsString> = names.filter(|name| name != NAME).collect();
        names.sort();
        names
    }
}

impl Drop for Storage {
    fn drop(&mut self) {
        remove(&self.around);
        there().remove(&self.around);
    }
}

/// Removes every folder, because this program ends at once.
pub(super) fn remove_all() {
    there().iter().for_each(|folder| remove(folder));
}

/// Removes a folder. What has just been killed may still write to it.
fn remove(folder: &Path) {
    for _ in 0..MOST_TRIES {
        match fs::remove_dir_all(folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {}
            _ => return,
        }
    }
}

/// Makes folders that nobody else can enter.
fn private() -> DirBuilder {
    #[allow(unused_mut, reason = "not on every system")]
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_fresh_private_watched_and_removed() -> io::Result<()> {
        let (one, other) = (Storage::new()?, Storage::new()?);
        assert_ne!(one.path(), other.path());
        #[cfg(unix)]
        for folder in [Path::new(one.path()), &one.around] {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(folder)?.permissions().mode() & 0o777, 0o700);
        }
        assert_eq!(fs::read_dir(one.path())?.count(), 0);
        fs::create_dir(Path::new(one.path()).join("inside"))?;
        assert_eq!(one.beside(), [""; 0]);
        fs::write(one.around.join("b"), "")?;
        fs::create_dir(one.around.join("a"))?;
        assert_eq!(one.beside(), ["a", "b"]);
        let around = one.around.clone();
        drop(one);
        assert!(!around.exists() && Path::new(other.path()).exists());
        Ok(())
    }
}
