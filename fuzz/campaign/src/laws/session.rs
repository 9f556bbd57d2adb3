//! States the laws of a session of the reference, whatever happened in the runs before.

use crate::generate::SessionScenario;
use threadspec::session::MemoryStore;
use threadspec_judge::corpus::session_problems;
use threadspec_judge::protocol::{Features, JudgeProfile, Op, Reply, Request, SessionAbilities};
use threadspec_judge::reference::play;
use threadspec_judge::session::judge;
use threadspec_judge::universal::{Abilities, AgentReply, Others};

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
/// As [`session`] does.
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
    let ruling = judge(input, &Others::default(), abilities, AgentReply::Output(output))
        .unwrap_or_else(|why| panic!("it cannot be judged: {why}\n{input}"));
    let findings: Vec<String> = ruling.findings().iter().map(ToString::to_string).collect();
    assert!(findings.is_empty(), "{}\n{input}", findings.join("\n"));
    assert_eq!(ruling.unsupported(), None, "{input}");
}
