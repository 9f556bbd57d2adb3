//! The bodies of the targets that speak of the runner; those of the library are in `threadspec::check`.

use std::sync::LazyLock;

use threadspec_conformance::{
    case::Case,
    corpus::{CLAUSES, Corpus, File, embedded_files},
    json,
    judge::{Verdict, judge},
    protocol::{PROFILES, Reply},
    run::on_deep_stack,
    testee::Outcome,
};

/// A registry of its own, since reading that of the corpus takes ten times as long as most files.
const CLAUSES_FILE: &str = r#"{"clauses":[{"id":"ESC-1","level":"must","source":"a seed","text":"a text"}]}"#;

/// A corpus file is read or has problems, and every case that was read makes a request that is JSON on one line.
pub fn case(file: &str) {
    as_the_program(file.as_bytes(), || read_as_corpus(file));
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
        let line = case.request(1, PROFILES[0]).line();
        assert!(!line.contains('\n') && json::read(&line).is_ok(), "{line}");
        assert!(case.hash().starts_with("sha256:"));
    }
}

/// On a stack as deep as the runner's own, if the text may need it: values of any nesting are read, up to a limit.
fn as_the_program(text: &[u8], body: impl FnOnce() + Send) {
    if text.iter().filter(|byte| b"[{".contains(byte)).count() < 500 {
        body();
    } else {
        on_deep_stack(body).expect("a thread can be started");
    }
}

/// A few golden cases, of every operation.
static CASES: LazyLock<Vec<Case>> = LazyLock::new(|| {
    let (corpus, _) = Corpus::read(&embedded_files());
    corpus.cases.into_iter().step_by(80).collect()
});

/// A line is a reply that reads the same when it is written again, and gets a verdict from any case; or it is garbage and
/// there is a reason why.
pub fn reply(line: &[u8]) {
    as_the_program(line, || judge_line(line));
}

fn judge_line(line: &[u8]) {
    match Reply::read(line) {
        Err(reason) => assert!(!reason.is_empty()),
        Ok((id, reply)) => {
            assert_eq!(Reply::read(reply.line(id).as_bytes()).as_ref(), Ok(&(id, reply.clone())));
            for case in CASES.iter() {
                for &profile in &case.profiles {
                    let judgement = judge(case, profile, Outcome::Reply(reply.clone()));
                    let passed = judgement.verdict == Verdict::Pass;
                    let says_why = !judgement.note.is_empty() || !judgement.mismatches.is_empty();
                    assert!(passed != says_why, "{}: {judgement:?}", case.id);
                }
            }
        }
    }
}
