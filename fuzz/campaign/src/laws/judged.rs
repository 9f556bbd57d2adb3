//! States the laws of what is judged: corpus files, lines that a testee sends, and sessions of the reference.

use super::on_stack_for;
use crate::generate::SessionScenario;
use std::sync::LazyLock;
use threadspec::Profile;
use threadspec::session::MemoryStore;
use threadspec_judge::corpus::{CLAUSES, Case, Corpus, File, embedded, session_problems};
use threadspec_judge::protocol::{Features, JudgeProfile, Op, Reply, Request, SessionAbilities};
use threadspec_judge::reference::play;
use threadspec_judge::universal::{Abilities, AgentReply, Others};
use threadspec_judge::verdict::{Outcome, Verdict, judge};
use threadspec_judge::{json, session};

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

// States the laws of any line that a testee sends.

/// A few golden cases of every operation. The large ones are left out: they take long and check nothing else of a line.
static CASES: LazyLock<Vec<&Case>> = LazyLock::new(|| {
    embedded().0.cases.iter().filter(|case| !case.is_template && !case.thorough).step_by(80).collect()
});

/// A line is a reply that reads the same when it is written again and gets a verdict from any case, or it is garbage, for a stated
/// reason.
///
/// # Panics
/// When that does not hold.
pub fn reply(line: &[u8]) {
    on_stack_for(line, || judge_line(line));
}

fn judge_line(line: &[u8]) {
    match Reply::read(line) {
        Err(reason) => assert!(!reason.to_string().is_empty()),
        Ok((id, reply)) => {
            let again = reply.marked_line(id);
            for read in [Reply::read(&*again), Reply::read_for(JudgeProfile::Universal, &*again)] {
                assert_eq!(read.as_ref(), Ok(&(id, reply.clone())));
            }
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

// States the laws of a session of the reference, whatever happened in the runs before.

/// Checks that a plan is a script, and the reference plays it as it should: each request is valid whatever happened before, nothing
/// that returned is executed again, and nothing is sent twice.
///
/// # Panics
/// When that does not hold.
pub fn session(plan: &SessionScenario) {
    run_session(&plan.input(Features::all()));
}

/// Checks an input of op `session`.
///
/// # Panics
/// As [`session()`] does.
pub fn run_session(input: &str) {
    let problems = session_problems(input);
    assert!(problems.is_empty(), "the script: {problems:?}\n{input}");
    // It outlives the process that is killed.
    let mut disk = MemoryStore::default();
    let mut request = Request::new(1, Op::Session, JudgeProfile::Universal, input);
    let mut output = Vec::new();
    loop {
        let mut time = 0;
        let clock = move || {
            time += 1;
            time
        };
        match play(&request, &mut disk, clock) {
            Reply::Cut { runs } => {
                output.extend(runs);
                request.from = Some(output.len());
            }
            Reply::Ok(mut rest) => {
                output.extend(rest["runs"].as_array_mut().map(std::mem::take).unwrap_or_default());
                break;
            }
            other => panic!("{other:?}\n{input}"),
        }
    }
    // As a reply it passes through text.
    let line = Reply::Ok(serde_json::json!({"runs": output})).line(1);
    let (_, reply) = Reply::read_for(JudgeProfile::Universal, line.as_bytes())
        .unwrap_or_else(|why| panic!("the reply is none: {why}\n{input}"));
    let Reply::Ok(output) = reply else { panic!("{reply:?}\n{input}") };
    let session = SessionAbilities { features: Features::all(), ..SessionAbilities::default() };
    let abilities = Abilities { session, ..Abilities::default() };
    let ruling = session::judge(input, &Others::default(), abilities, AgentReply::Output(output))
        .unwrap_or_else(|why| panic!("it cannot be judged: {why}\n{input}"));
    let findings: Vec<String> = ruling.findings().iter().map(ToString::to_string).collect();
    assert!(findings.is_empty(), "{}\n{input}", findings.join("\n"));
    assert_eq!(ruling.unsupported(), None, "{input}");
}
