//! Writes files as a whole or not at all.

use std::io::{self, Write};
use std::path::Path;
use std::{fs, process};

/// Creates the folder of a file if necessary.
///
/// # Errors
///
/// When `path` is a folder itself, or its folder is missing and cannot be made.
pub fn prepare(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).map_or(Ok(()), fs::create_dir_all)
}

/// Writes a file as a whole or not at all; `-` is stdout.
///
/// # Errors
///
/// When it cannot be written.
pub fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    if path == Path::new("-") {
        let mut stdout = io::stdout().lock();
        return stdout.write_all(content).and_then(|()| stdout.flush());
    }
    // A device or a pipe cannot be replaced.
    if path.exists() && !path.is_file() {
        return fs::write(path, content);
    }
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let temporary = target.with_file_name(format!(".{name}.{}", process::id()));
    let written = fs::File::create(&temporary)
        .and_then(|mut file| file.write_all(content).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&temporary, &target));
    written.inspect_err(|_| drop(fs::remove_file(&temporary)))
}
