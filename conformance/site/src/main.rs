//! The program `threadspec-site`, which writes the project's site.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};
use std::process::ExitCode;
use std::{fs, io};
use threadspec_cli::{Stop, corpus_and_errata, files, keep_apart, not_writable, read_file, read_runs};
use threadspec_conformance::corpus_pages;
use threadspec_judge::text::{count, visible};
use threadspec_report::RunRecord;
use threadspec_report::terminal::{complain, print};
use threadspec_runner::Exit;
use threadspec_runner::files as disk;
use threadspec_site::{Documents, Site};

/// Write the site: clauses, cases, rules, guides and results as static pages
///
/// The pages need no server and no script. Clauses, cases, errata, rules and the protocol are part of this program; the guides come
/// from a checkout of the project, and the matrix from --made. A folder that holds anything but an earlier site is left as it is.
#[derive(Debug, clap::Parser)]
#[command(name = "threadspec-site", version)]
struct SiteArguments {
    /// The folder, which is created if necessary
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// The checkout with the guides; the current folder, if it is one
    #[arg(long, value_name = "DIR")]
    checkout: Option<PathBuf>,
    /// The pages of the matrix, as `conformance/adapters/frameworks/matrix --pages DIR` makes them
    #[arg(long, value_name = "DIR")]
    made: Option<PathBuf>,
    /// Use the corpus in this folder instead of the built-in one, or that of the checkout
    #[arg(long, value_name = "DIR")]
    corpus: Option<PathBuf>,
    /// The page "paste your request", as packaging/npm/page/build.mjs makes it
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,
    /// The address of the site, for the Markdown of badges
    #[arg(long, value_name = "URL", default_value = "https://threadspec.github.io/threadspec")]
    address: String,
    /// Run files whose reports and badges it shows; one file may hold several runs of one implementation
    #[arg(value_name = "RUN")]
    runs: Vec<PathBuf>,
}

/// The file that lists the files of a site, so that a later one replaces these and no others.
const LIST: &str = ".threadspec-site";
/// The documents that lead to all others.
const ROOTS: [&str; 10] = [
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "packaging/npm/README.md",
    "packaging/python/README.md",
    PROTOCOL,
    ERRATA,
    "conformance/adapters/frameworks/MATRIX.md",
    "conformance/adapters/frameworks/SESSIONS.md",
    "conformance/adapters/gateways/GATEWAYS.md",
];
const ERRATA: &str = "golden/errata.md";
const PROTOCOL: &str = "conformance/PROTOCOL.md";

impl SiteArguments {
    /// Runs the command and returns its exit code.
    ///
    /// # Errors
    ///
    /// When the folder holds other things, or something cannot be read or written.
    fn execute(&self) -> Result<Exit, Stop> {
        let is_checkout = |folder: &Path| folder.join(ERRATA).is_file() && folder.join(PROTOCOL).is_file();
        let checkout = match &self.checkout {
            Some(folder) if !is_checkout(folder) => {
                let message = format!("{}: it is no checkout of threadspec", folder.display());
                return Err(Stop::new(Exit::Usage, visible(&message)));
            }
            Some(folder) => Some(&**folder),
            None => Some(Path::new(".")).filter(|folder| is_checkout(folder)),
        };
        if checkout.is_none() {
            complain("the guides are left out: they come from a checkout of threadspec, which --checkout names");
        }
        let golden = self.corpus.clone().or_else(|| checkout.map(|folder| folder.join("golden")));
        let (corpus, errata) = corpus_and_errata(golden.as_deref())?;
        let page = self.page.as_deref().map(read_file).transpose()?;
        let results = self.results()?;
        let in_folder = |folder: Option<&Path>, path: &str| disk::read(&folder?.join(path)).ok();
        let documents = Documents::from(&ROOTS, |path| {
            in_folder(self.made.as_deref(), path).or_else(|| match (checkout, path) {
                (Some(_), path) => in_folder(checkout, path),
                (None, ERRATA) => Some(errata.clone().into_bytes()),
                (None, PROTOCOL) => Some(include_bytes!("../../PROTOCOL.md").to_vec()),
                _ => None,
            })
        });
        // A page of --made has no file in the repository: its source is the data in its folder.
        let of_made = |path: &&str| in_folder(self.made.as_deref(), path).is_some();
        let paths: Vec<String> = documents.paths().filter(of_made).map(str::to_owned).collect();
        let documents = paths.into_iter().fold(documents, |documents, path| {
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
            documents.with_source(path, folder)
        });
        let made = corpus_pages(&files(golden.as_deref())?, &corpus);
        let documents = made.into_iter().fold(documents, |documents, (page, data, text)| {
            documents.with_made(format!("golden/{page}"), format!("golden/{data}"), text)
        });
        let site = Site {
            corpus: &corpus,
            documents: &documents,
            results: &results,
            paste: page.as_deref(),
            address: &self.address,
            repository: env!("CARGO_PKG_REPOSITORY"),
        };
        let pages = site.files(&errata);
        let inputs = self.runs.iter().chain(&self.page).map(PathBuf::as_path);
        let outputs: Vec<PathBuf> = pages.keys().map(|path| self.folder.join(path)).collect();
        keep_apart(outputs.iter().map(PathBuf::as_path), inputs)?;
        write(&self.folder, &pages)?;
        let bytes: usize = pages.values().map(Vec::len).sum();
        print(&format!(
            "{} in {}, {} MB\n",
            count(pages.len(), "file"),
            visible(&self.folder.display().to_string()),
            bytes.div_ceil(1_000_000)
        ));
        Ok(Exit::Ok)
    }

    /// The runs of each file, by the name of the file.
    fn results(&self) -> Result<Vec<(String, Vec<RunRecord>)>, Stop> {
        let mut results: BTreeMap<String, Vec<RunRecord>> = BTreeMap::new();
        for file in &self.runs {
            let name = file.file_stem().and_then(OsStr::to_str).unwrap_or_default();
            let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
            if name.is_empty() || !name.chars().all(is_plain) {
                let message = format!(
                    "{}: its name becomes part of an address; rename it to letters, digits, `-`, `_` and `.`",
                    file.display()
                );
                return Err(Stop::new(Exit::Usage, visible(&message)));
            }
            if results.insert(name.to_owned(), read_runs(std::slice::from_ref(file))?).is_some() {
                return Err(Stop::new(Exit::Usage, format!("two run files are called {name}")));
            }
        }
        Ok(results.into_iter().collect())
    }
}

/// Writes the files of a site into a folder that holds nothing, or an earlier site.
fn write(folder: &Path, pages: &BTreeMap<String, Vec<u8>>) -> Result<(), Stop> {
    let wrong = |path: &Path, error: io::Error| not_writable(path, &error);
    let list = folder.join(LIST);
    let earlier = match fs::read_to_string(&list) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let mut content = match fs::read_dir(folder) {
                Ok(content) => content,
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    fs::create_dir_all(folder).map_err(|error| wrong(folder, error))?;
                    fs::read_dir(folder).map_err(|error| wrong(folder, error))?
                }
                Err(error) => return Err(wrong(folder, error)),
            };
            if content.next().is_some() {
                return Err(occupied(folder, "it holds other things than a site; name an empty folder, or a new one"));
            }
            String::new()
        }
        Err(error) => return Err(wrong(&list, error)),
    };
    // Nothing outside of the folder, whatever the list says.
    let is_inside =
        |path: &&str| !path.is_empty() && Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
    let earlier: Vec<&str> = earlier.lines().filter(is_inside).collect();
    if let Some(path) = pages.keys().find(|path| !earlier.contains(&path.as_str()) && folder.join(path).exists()) {
        return Err(occupied(&folder.join(path), "it is no part of an earlier site, and would be replaced"));
    }
    for path in earlier.iter().filter(|path| !pages.contains_key(**path)) {
        let file = folder.join(path);
        match fs::remove_file(&file) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(wrong(&file, error)),
            _ => {}
        }
    }
    // The list comes first: a site that was not finished is one that may be replaced.
    let names: String = pages.keys().flat_map(|path| [path, "\n"]).collect();
    disk::write(&list, names.as_bytes()).map_err(|error| wrong(&list, error))?;
    for (path, content) in pages {
        let file = folder.join(path);
        disk::prepare(&file).and_then(|()| disk::write(&file, content)).map_err(|error| wrong(&file, error))?;
    }
    Ok(())
}

fn occupied(path: &Path, why: &str) -> Stop {
    Stop::new(Exit::Usage, visible(&format!("{}: {why}", path.display())))
}

fn main() -> ExitCode {
    let arguments: SiteArguments = threadspec_cli::parse();
    threadspec_cli::run(|| arguments.execute())
}
