//! Reads files and folders of a corpus, and refuses at once what cannot be read; writes files as a whole or not at all.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::{fs, io, process};
use threadspec_judge::corpus::File;
use threadspec_judge::text;

#[cfg(unix)]
use nix::errno::Errno;
#[cfg(unix)]
use nix::fcntl::{FcntlArg, OFlag, fcntl};
#[cfg(unix)]
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};

/// Opens a file; `-` is stdin.
///
/// # Errors
///
/// When it does not exist, or is no regular file: a folder, or something that may block for ever, such as a pipe without a writer.
pub fn open(path: &Path) -> io::Result<Box<dyn Read + Send>> {
    if path == Path::new("-") {
        return Ok(Box::new(io::stdin()));
    }
    // Checked before opening: opening a pipe waits for its writer.
    let kind = fs::metadata(path)?.file_type();
    if kind.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "a folder, not a file"));
    }
    if !kind.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "a pipe, socket or device, not a file; `-` is stdin"));
    }
    Ok(Box::new(fs::File::open(path)?))
}

/// All of a file; `-` is stdin.
///
/// # Errors
///
/// When [`open`] refuses it, or reading fails.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Creates the folder of a file if necessary.
///
/// # Errors
///
/// When `path` is a folder itself, a ring of links, or its folder is missing and cannot be made.
pub fn prepare(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    target(path)?;
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).map_or(Ok(()), fs::create_dir_all)
}

/// Opens a file for writing, which is made if there is none and emptied if there is one.
///
/// # Errors
///
/// When it cannot be written; for a pipe that nobody reads at once, and not when somebody does.
pub fn create(path: &Path) -> io::Result<fs::File> {
    #[cfg(unix)]
    if fs::metadata(path).is_ok_and(|file| file.file_type().is_fifo()) {
        return open_pipe(path);
    }
    fs::File::create(path)
}

#[cfg(unix)]
fn open_pipe(path: &Path) -> io::Result<fs::File> {
    let without_waiting = OFlag::O_NONBLOCK.bits();
    let pipe = fs::OpenOptions::new().write(true).custom_flags(without_waiting).open(path);
    let pipe = pipe.map_err(|error| match error.raw_os_error() {
        Some(code) if code == Errno::ENXIO as i32 => io::Error::other("a pipe that nobody reads"),
        _ => error,
    })?;
    // Its reader may be slow.
    fcntl(&pipe, FcntlArg::F_SETFL(OFlag::empty()))?;
    Ok(pipe)
}

/// The file that is written under a path, behind every link.
fn target(path: &Path) -> io::Result<PathBuf> {
    match fs::canonicalize(path) {
        Ok(target) => Ok(target),
        Err(error) if error.kind() == io::ErrorKind::NotFound => match fs::read_link(path) {
            // A link to what is not there yet. A ring of links is another error.
            Ok(next) => target(&path.with_file_name("").join(next)),
            Err(_) => Ok(path.to_path_buf()),
        },
        Err(error) => Err(error),
    }
}

/// The path by which a file is known, whether it is there or not; `None` if it is no regular file, so that several may write to it.
pub fn identity(path: &Path) -> Option<PathBuf> {
    if path.exists() && !path.is_file() {
        return None;
    }
    let path = target(path).unwrap_or_else(|_| path.to_path_buf());
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = fs::canonicalize(folder).or_else(|_| std::path::absolute(folder)).ok()?;
    Some(folder.join(path.file_name()?))
}

/// Writes a file as a whole or not at all; `-` is stdout.
///
/// # Errors
///
/// When it cannot be written.
pub fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    if path == Path::new("-") {
        let mut stdout = io::stdout().lock();
        return match stdout.write_all(content).and_then(|()| stdout.flush()) {
            // A reader that has gone away (`| head`) has what it wanted.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            written => written,
        };
    }
    // A device or a pipe cannot be replaced.
    if path.exists() && !path.is_file() {
        return create(path)?.write_all(content);
    }
    let target = target(path)?;
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let temporary = target.with_file_name(format!(".{name}.{}", process::id()));
    let written = fs::File::create(&temporary)
        .and_then(|mut file| file.write_all(content).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&temporary, &target));
    written.inspect_err(|_| drop(fs::remove_file(&temporary)))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn links_are_written_through_and_rings_of_them_refused() -> io::Result<()> {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir()?;
        let path = |name: &str| folder.path().join(name);
        for (link, to) in [("ring", "other"), ("other", "ring"), ("new", "further"), ("further", "./file")] {
            symlink(to, path(link))?;
        }
        for content in ["one", "two"] {
            write(&path("new"), content.as_bytes())?;
            assert_eq!(fs::read_to_string(path("file"))?, content);
        }
        assert!(path("new").is_symlink() && path("further").is_symlink() && !path("file").is_symlink());
        assert!(write(&path("ring"), b"").is_err() && prepare(&path("ring")).is_err() && path("ring").is_symlink());
        assert_eq!(identity(&path("new")), identity(&path("file")));
        assert_ne!(identity(&path("ring")), identity(&path("other")));
        assert_eq!(fs::read_dir(folder.path())?.count(), 5);
        Ok(())
    }
}

// Reads a corpus from a folder.

/// The JSON files below a folder, sorted by path.
///
/// # Errors
///
/// When the folder or a file in it cannot be read, or it holds a link to a folder, or a JSON file that is no regular file.
pub fn files_in(folder: &Path) -> io::Result<Vec<File>> {
    let mut paths = Vec::new();
    collect(folder, &mut paths)?;
    let mut found = Vec::new();
    for path in paths {
        let name = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        let relative = path.strip_prefix(folder).unwrap_or(&path);
        let parts: Vec<_> = relative.iter().map(|part| part.to_string_lossy()).collect();
        let text = read(&path).and_then(|bytes| text::utf8(bytes).map_err(io::Error::other));
        found.push(File { path: parts.join("/"), text: text.map_err(name)? });
    }
    found.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(found)
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) -> io::Result<()> {
    let name = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", folder.display()));
    for entry in fs::read_dir(folder).map_err(name)? {
        let entry = entry.map_err(name)?;
        let path = entry.path();
        if entry.file_type().map_err(name)?.is_dir() {
            collect(&path, paths)?;
        } else if path.is_dir() {
            // The link could lead back here.
            return Err(io::Error::other(format!("{}: a link to a folder", path.display())));
        } else if path.extension().is_some_and(|extension| extension == "json") {
            paths.push(path);
        }
    }
    Ok(())
}
