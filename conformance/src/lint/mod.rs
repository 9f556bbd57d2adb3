//! Everything that can be wrong with a corpus.

mod agent;
mod errata;
mod hazards;
mod rules;
mod scopes;
mod session;

pub(crate) use errata::ERRATA;

use errata::SEEDS;
use scopes::SCOPES;
use std::collections::HashSet;
use std::path::Path;
use std::{fs, io};
use threadspec_judge::corpus::covering::COVERING;
use threadspec_judge::corpus::hazards::{HAZARDS, catalogue};
use threadspec_judge::corpus::{CLAUSES, Case, Corpus, File, Level, MANIFEST, Problem, canonical, covering, growth};
use threadspec_judge::{corpus, json};
use threadspec_runner::files::write;
use threadspec_runner::files_in;

/// A case of the golden corpus takes at most so many bytes.
const LONGEST_CASE: usize = 64 << 10;

/// Reads a corpus, and returns it with everything that is wrong with it.
pub(crate) fn problems(files: &[File]) -> (Corpus, Vec<Problem>) {
    let (corpus, mut problems) = Corpus::read(files);
    let template_problems = corpus.template_problems();
    if !template_problems.is_empty() {
        // The other checks need the expanded cases.
        problems.extend(template_problems);
        return (corpus, problems);
    }
    problems.extend(
        case_files(files)
            .filter(|file| json::read(&file.text).is_ok() && file.text != canonical(&file.text))
            .map(|file| Problem::in_file(&file.path, "not in the canonical layout; `lint --fix` lays it out")),
    );
    let i_json = |file: &File| Some(Problem::in_file(&file.path, json::interoperable(&file.text).err()?.to_string()));
    problems.extend(files.iter().filter_map(i_json));
    if corpus.has_own_clauses {
        problems.extend(coverage_problems(&corpus));
        problems.extend(length_problems(&corpus));
    }
    if let Some(scopes) = files.iter().find(|file| file.path == SCOPES) {
        problems.extend(scopes::problems(&scopes.text, &corpus));
    }
    problems.extend(growth::problems(files, &corpus));
    problems.extend(hazards::problems(files, &corpus));
    problems.extend(rules::problems(files));
    problems.extend(covering::problems(files));
    problems.extend(agent::problems(&corpus));
    problems.extend(session::problems(&corpus));
    problems.extend(errata::history_problems(files, &corpus));
    if corpus.cases.is_empty() {
        problems.push(Problem::in_file(".", "there is no case"));
    }
    (corpus, problems)
}

fn case_files(files: &[File]) -> impl Iterator<Item = &File> {
    files.iter().filter(|file| file.path.contains('/'))
}

/// Cases of the golden corpus that are longer than a template would be.
fn length_problems(corpus: &Corpus) -> Vec<Problem> {
    let long = corpus.cases.iter().filter(|case| !case.is_row() && case.source().len() > LONGEST_CASE);
    let message =
        |case: &Case| format!("{} bytes; at most {LONGEST_CASE}: a template says it in a line", case.source().len());
    long.map(|case| case.problem(message(case))).collect()
}

fn coverage_problems(corpus: &Corpus) -> Vec<Problem> {
    let used: HashSet<&String> = corpus.cases.iter().flat_map(|case| &case.clauses).collect();
    let unused = corpus.clauses.iter().filter(|clause| !used.contains(&clause.id));
    let message = |level| match level {
        Level::Must => "a `must` without a case",
        Level::Should => "no case names it",
    };
    unused
        .map(|clause| Problem::in_file(CLAUSES, format!("clause `{}`: {}", clause.id, message(clause.level))))
        .collect()
}

/// Lays out the case files of a folder, completes the covering arrays, and writes the manifest.
///
/// # Errors
///
/// When the folder is no corpus, and then nothing is written; when a file cannot be read or written.
pub(crate) fn fix(folder: &Path) -> io::Result<()> {
    let files = own_files(folder)?;
    for file in case_files(&files) {
        let laid_out = canonical(&file.text);
        if laid_out != file.text && json::read(&file.text).is_ok() {
            write(&folder.join(&file.path), laid_out.as_bytes())?;
        }
    }
    let mut files = files;
    if let Some(file) = files.iter_mut().find(|file| file.path == COVERING)
        && let Ok(completed) = covering::completed(&file.text)
        && completed != file.text
    {
        write(&folder.join(COVERING), completed.as_bytes())?;
        file.text = completed;
    }
    let corpus = Corpus::read(&files).0;
    write(&folder.join(MANIFEST), errata::manifest(&corpus).as_bytes())
}

/// The files of a folder, which must be a corpus, so that writing there destroys nothing else.
///
/// # Errors
///
/// When a file cannot be read, when there is no case file, or when there is something that no corpus has: another JSON file in a
/// subfolder, or a foreign file where the manifest would be written.
pub(crate) fn own_files(folder: &Path) -> io::Result<Vec<File>> {
    let files = files_in(folder)?;
    let foreign = |name: &str, why: &str| {
        let message = format!("{name} {why}: this is no corpus, and nothing was written");
        Err(io::Error::new(io::ErrorKind::InvalidData, message))
    };
    if let Some(file) = case_files(&files).find(|file| !corpus::is_case_file(file)) {
        return foreign(&file.path, "is no case file");
    }
    if case_files(&files).next().is_none() {
        return foreign("it", "has no case file");
    }
    if files.iter().any(|file| file.path == MANIFEST && !errata::is_manifest(&file.text)) {
        return foreign(MANIFEST, "is no manifest of cases");
    }
    Ok(files)
}

/// Writes the pages of the site that a corpus makes by itself, each with the file of data that it shows. A corpus without clauses or
/// hazards of its own lacks the page about them.
pub fn pages(files: &[File], corpus: &Corpus) -> Vec<(&'static str, &'static str, String)> {
    let coverage = corpus.has_own_clauses.then(|| ("COVERAGE.md", CLAUSES, hazards::coverage_page(corpus)));
    let catalogue = files.iter().any(|file| file.path == HAZARDS).then(|| catalogue(files).ok()).flatten();
    let hazards = catalogue.map(|catalogue| ("HAZARDS.md", HAZARDS, hazards::hazards_page(&catalogue)));
    coverage.into_iter().chain(hazards).collect()
}

/// Lists what is wrong with the errata and the statements of the sources in a corpus folder. The embedded corpus has none.
pub(crate) fn page_problems(folder: &Path, corpus: &Corpus) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut page = |name| match fs::read_to_string(folder.join(name)) {
        Ok(page) => Some(page),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => {
            problems.push(Problem::in_file(name, error.to_string()));
            None
        }
    };
    let (errata, seeds) = (page(ERRATA), page(SEEDS));
    if let Some(errata) = errata {
        problems.extend(errata::errata_problems(&errata, corpus));
        problems.extend(seeds.iter().flat_map(|text| errata::seeds_problems(text, &errata, corpus)));
    }
    problems
}
