//! States the laws of any text that is read as a corpus file.

use super::on_stack_for;
use threadspec::Profile;
use threadspec_judge::corpus::{CLAUSES, Corpus, File};
use threadspec_judge::json;

/// A registry with one clause: reading that of the corpus takes ten times as long as reading most files.
const CLAUSES_FILE: &str = r#"{"clauses":[{"id":"ESC-1","level":"must","source":"a seed","text":"a text"}]}"#;

/// A corpus file yields cases or problems, and each of its cases makes a request that is JSON on one line.
///
/// # Panics
/// When that does not hold.
pub fn case(file: &str) {
    on_stack_for(file.as_bytes(), || read_as_corpus(file));
}

fn read_as_corpus(file: &str) {
    // A file lies in the folder of its operation. This guesses it; a wrong guess is one more problem to report.
    let op = ["escape", "serialize", "messages", "tools"].into_iter().find(|op| file.contains(op)).unwrap_or("loop");
    let path = format!("{op}/any.json");
    let registry = File { path: CLAUSES.to_owned(), text: CLAUSES_FILE.to_owned() };
    let (corpus, problems) = Corpus::read(&[registry, File { path, text: file.to_owned() }]);
    assert!(!corpus.cases.is_empty() || !problems.is_empty(), "nothing is reported of {file:?}");
    for problem in &problems {
        assert!(!problem.to_string().contains('\n'), "{problem}");
    }
    for case in &corpus.cases {
        let line = case.request(1, Profile::default()).line();
        assert!(!line.contains('\n') && json::read(&line).is_ok(), "{line}");
        assert!(case.hash().starts_with("sha256:"));
    }
}
