//! Reads a corpus from a folder.

use crate::files;
use std::path::{Path, PathBuf};
use std::{fs, io};
use threadspec_judge::corpus::File;
use threadspec_judge::text;

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
        let text = files::read(&path).and_then(|bytes| text::utf8(bytes).map_err(io::Error::other));
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
