//! The bodies of the targets that speak of the runner; those of the library are in `threadspec::check`.

use std::sync::LazyLock;

use threadspec_conformance::{
    case::Case,
    corpus::{Corpus, File, embedded_files},
    json,
    judge::judge,
    protocol::{PROFILES, Reply},
    run::on_deep_stack,
    testee::Outcome,
};

/// A corpus file is read or has problems, and every case that was read makes a request that is JSON on one line.
pub fn case(file: &str) {
    as_the_program(|| read_as_corpus(file));
}

fn read_as_corpus(file: &str) {
    for op in ["escape", "serialize", "messages", "tools", "loop"] {
        let (corpus, problems) = Corpus::read(&[File { path: format!("{op}/any.json"), text: file.to_owned() }]);
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
}

/// On a stack as deep as the runner's own: it reads values of any nesting up to its limit.
fn as_the_program(body: impl FnOnce() + Send) {
    on_deep_stack(body).expect("a thread can be started");
}

/// A few golden cases, of every operation.
static CASES: LazyLock<Vec<Case>> = LazyLock::new(|| {
    let (corpus, _) = Corpus::read(&embedded_files());
    corpus.cases.into_iter().step_by(80).collect()
});

/// A line is a reply that reads the same when it is written again, and gets a verdict from any case; or it is garbage and
/// there is a reason why.
pub fn reply(line: &[u8]) {
    as_the_program(|| judge_line(line));
}

fn judge_line(line: &[u8]) {
    match Reply::read(line) {
        Err(reason) => assert!(!reason.is_empty()),
        Ok((id, reply)) => {
            assert_eq!(Reply::read(reply.line(id).as_bytes()).as_ref(), Ok(&(id, reply.clone())));
            for case in CASES.iter() {
                for &profile in &case.profiles {
                    let judgement = judge(case, profile, Outcome::Reply(reply.clone()));
                    assert_eq!(judgement, judge(case, profile, Outcome::Reply(reply.clone())), "{}", case.id);
                }
            }
        }
    }
}
