//! Whatever fails, what a run prints by default fits on a screen.

use serde_json::{Value, json};
use std::env;
use threadspec_judge::corpus::{Case, embedded};
use threadspec_judge::protocol::{JudgeProfile, RejectKind, Reply};
use threadspec_judge::verdict::{Outcome, Terms, judge};
use threadspec_report::{RunFailures, Screen};
use threadspec_runner::{CaseResult, Run};

/// One of so many cases is judged.
const SAMPLE: usize = 17;
/// One of so many, where the variable `THREADSPEC_TESTS` is not `all`, as it is each night.
const USUAL_SAMPLE: usize = 151;

/// A run in which every reply is this one.
fn run(profile: JudgeProfile, sample: usize, outcome: &dyn Fn(&Case) -> Outcome) -> Run<'static> {
    let cases = embedded().0.cases.iter().filter(|case| case.is_in(profile) && !case.needs_provider());
    let result = |case: &'static Case| CaseResult { case, judgement: judge(case, Terms::from(profile), outcome(case)) };
    Run { results: cases.step_by(sample).map(result).collect(), ..Run::default() }
}

fn failures<'a>(run: &'a Run<'a>, repeat: &'a dyn Fn(&CaseResult<'_>) -> String) -> RunFailures<'a> {
    RunFailures::of(run, embedded().0, false, repeat)
}

fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

/// Answers a case.
type Answer = Box<dyn Fn(&Case) -> Outcome>;

#[test]
fn whatever_fails_fits_in_the_rows_that_there_are() {
    let is_thorough = env::var_os("THREADSPEC_TESTS").is_some_and(|which| which == "all");
    let sample = if is_thorough { SAMPLE } else { USUAL_SAMPLE };
    let stderr = "  | a line of a long trace in a module with a long name\n".repeat(500);
    let crash =
        format!("before its reply it ended (exit status: 1); its stderr ends with:\n{stderr}  | ValueError: the end");
    let outcomes: [(&str, Answer); 8] = [
        ("crash", Box::new(move |_| Outcome::Crash(crash.clone()))),
        ("timeout", Box::new(|_| Outcome::Timeout("no reply within 10s".into()))),
        ("garbage", Box::new(|case| Outcome::Garbage(format!("it printed `{}`", "x".repeat(case.id.len() * 40))))),
        ("value", Box::new(|_| Outcome::Reply(Reply::Ok(json!({"text": [1, null]}))))),
        ("text", Box::new(|case| Outcome::Reply(Reply::Ok(format!("<thread>{}", case.id.repeat(300)).into())))),
        ("list", Box::new(|_| Outcome::Reply(Reply::Ok(json!([{"type": "ai", "content": "x".repeat(5000)}]))))),
        (
            "reject",
            Box::new(|case| {
                let message = format!("{}\u{1b}", case.id.repeat(100));
                Outcome::Reply(Reply::Reject { kind: RejectKind::InvalidEvent, message })
            }),
        ),
        ("requests", Box::new(|_| Outcome::Reply(Reply::Ok(json!({"requests": [], "messages": [], "runs": []}))))),
    ];
    let repeat =
        |result: &CaseResult<'_>| format!("threadspec verify --filter {} -- {}", result.case.id, "word ".repeat(30));
    for (name, outcome) in &outcomes {
        for profile in [JudgeProfile::Literal, JudgeProfile::Hardened, JudgeProfile::Universal] {
            let run = run(profile, sample, &**outcome);
            let failures = failures(&run, &repeat);
            for columns in [Some(60), None, Some(80), Some(200)].into_iter().take(if is_thorough { 4 } else { 1 }) {
                let screen = Screen { columns };
                // 40 rows, without three for who is tested, five for the sentence again and nine for the totals.
                let said = failures.within(23, screen);
                assert!(screen.rows(&said) <= 23, "{name} {profile} {columns:?}: {}\n{said}", screen.rows(&said));
                let said = plain(&said);
                assert!(
                    said.contains("Fix first: ") && said.contains("repeat: "),
                    "{name} {profile} {columns:?}:\n{said}"
                );
                assert!(*name != "crash" || said.contains("| ValueError: the end"), "{columns:?}:\n{said}");
            }
        }
    }
}

#[test]
fn what_does_not_count_is_never_to_be_mended_first() {
    let outcome = |_: &Case| Outcome::Reply(Reply::Ok(Value::Null));
    let mut run = run(JudgeProfile::Literal, SAMPLE, &outcome);
    run.results.retain(|result| !result.counts_against(false));
    assert!(run.results.len() > 1);
    let repeat = |_: &CaseResult<'_>| String::new();
    let failures = failures(&run, &repeat);
    let said = plain(&failures.within(30, Screen::default()));
    assert!(said.starts_with("Nothing counts against it. ") && !said.contains("Fix first"), "{said}");
    assert_eq!(plain(&failures.sentence(Screen::default())).lines().next(), said.lines().next());
}
