//! What must hold of any text as a corpus file.

use super::on_stack_for;
use crate::corpus::{CLAUSES, Corpus, File};
use crate::json;
use threadspec::Profile;

/// A registry of its own, since reading that of the corpus takes ten times as long as most files.
const CLAUSES_FILE: &str = r#"{"clauses":[{"id":"ESC-1","level":"must","source":"a seed","text":"a text"}]}"#;

/// A corpus file is read or has problems, and every case that was read makes a request that is JSON on one line.
pub fn case(file: &str) {
    on_stack_for(file.as_bytes(), || read_as_corpus(file));
}

fn read_as_corpus(file: &str) {
    // The folder is the operation; a text that speaks of several, or of none, is in the wrong one.
    let op = ["escape", "serialize", "messages", "tools"].into_iter().find(|op| file.contains(op)).unwrap_or("loop");
    let path = format!("{op}/any.json");
    let registry = File { path: CLAUSES.to_owned(), text: CLAUSES_FILE.to_owned() };
    let (corpus, problems) = Corpus::read(&[registry, File { path, text: file.to_owned() }]);
    assert!(!corpus.cases.is_empty() || !problems.is_empty(), "nothing is said of {file:?}");
    for problem in &problems {
        assert!(!problem.to_string().contains('\n'), "{problem}");
    }
    for case in &corpus.cases {
        let line = case.request(1, Profile::default()).line();
        assert!(!line.contains('\n') && json::read(&line).is_ok(), "{line}");
        assert!(case.hash().starts_with("sha256:"));
    }
}
