//! States the laws of any line that a testee sends.

use super::on_stack_for;
use std::sync::LazyLock;
use threadspec_judge::corpus::{Case, embedded};
use threadspec_judge::protocol::{JudgeProfile, Reply};
use threadspec_judge::verdict::Outcome;
use threadspec_judge::verdict::{Verdict, judge};

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
