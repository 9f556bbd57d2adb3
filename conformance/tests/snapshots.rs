//! Snapshots of what people read: failures of every verdict, lint problems, help texts.
//!
//! `cargo insta review` shows what a change alters (CONTRIBUTING).

use serde_json::json;
use std::process::Command;
use std::{fs, io};
use threadspec_judge::corpus::embedded;
use threadspec_judge::protocol::{JudgeProfile, RejectKind, Reply};
use threadspec_judge::universal::Abilities;
use threadspec_judge::verdict::Outcome;
use threadspec_judge::verdict::{Judgement, Terms, Verdict, judge};
use threadspec_report::Failure;
use threadspec_runner::CaseResult;

/// The text without its colours.
fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

#[test]
fn failures_of_every_verdict() {
    let (corpus, problems) = embedded();
    assert!(problems.is_empty(), "{problems:?}");
    let case = corpus.cases.iter().find(|case| case.id == "escape/five-characters/ampersand-alone").expect("the case");
    let terms = Terms { profile: JudgeProfile::Literal, abilities: Abilities::default() };
    let judged = |outcome| judge(case, terms, outcome);
    let judgements = [
        ("text", judged(Outcome::Reply(Reply::Ok(json!("&\u{200b}"))))),
        ("value", judged(Outcome::Reply(Reply::Ok(json!({"text": 1}))))),
        (
            "rejected",
            judged(Outcome::Reply(Reply::Reject {
                kind: RejectKind::InvalidInput,
                message: "no \u{1b}[31m<text>".into(),
            })),
        ),
        ("unsupported", judged(Outcome::Reply(Reply::Unsupported("not yet".into())))),
        ("crash", judged(Outcome::Crash("exit status 7; stderr: boom".into()))),
        ("timeout", judged(Outcome::Timeout("no reply within 10 s".into()))),
        ("garbage", judged(Outcome::Garbage("it printed `hello`".into()))),
        ("not-run", Judgement::new(Verdict::NotRun, "interrupted")),
    ];
    for (name, judgement) in judgements {
        let result = CaseResult { case, judgement };
        let failure = Failure::of_case(&result, corpus, false, format!("threadspec verify --filter {}", case.id));
        insta::assert_snapshot!(
            format!("failure-{name}"),
            plain(&format!("{}\n{}", failure.headline(), failure.text()))
        );
    }
}

#[test]
fn lint_problems() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    fs::create_dir(folder.path().join("escape"))?;
    let clause = |id: &str| json!({"id": id, "level": "must", "source": "SPEC-01", "text": "a text"});
    fs::write(folder.path().join("clauses.json"), json!({"clauses": [clause("ESC-1"), clause("ESC-2")]}).to_string())?;
    let case = |name: &str, clause: &str, input: serde_json::Value| json!({"name": name, "why": "a reason", "clauses": [clause], "input": input, "expect": {"ok": "&lt;"}});
    let cases = [
        case("same", "ESC-1", json!({"text": "<"})),
        case("same", "ESC-1", json!({"text": "<<"})),
        case("Not Kebab", "ESC-1", json!({"text": "<a"})),
        case("unknown-clause", "ESC-9", json!({"text": "<b"})),
        case("no-object", "ESC-1", json!("<")),
        json!({"name": "no-why", "why": " ", "clauses": [], "input": {}, "expect": {"holds": ["well-formd"]}}),
    ];
    let file = |cases: &[serde_json::Value]| json!({"op": "escape", "about": "a topic", "cases": cases}).to_string();
    fs::write(folder.path().join("escape/topic.json"), file(&cases))?;
    fs::write(folder.path().join("escape/other.json"), file(&cases[..1]).replace("\"about\"", "\"abuot\""))?;
    fs::write(folder.path().join("escape/broken.json"), "{\"op\": \"escape\",\n \"about\": }")?;
    let output =
        Command::new(env!("CARGO_BIN_EXE_threadspec")).arg("lint").arg("--corpus").arg(folder.path()).output()?;
    assert_eq!(output.status.code(), Some(4));
    let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    insta::assert_snapshot!("lint", said.replace(&*folder.path().to_string_lossy(), "CORPUS"));
    Ok(())
}

#[test]
fn help_texts() -> io::Result<()> {
    let help = |arguments: &[&str]| -> io::Result<String> {
        let output = Command::new(env!("CARGO_BIN_EXE_threadspec"))
            .args(arguments)
            .arg("--help")
            .env("COLUMNS", "100")
            .output()?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let whole = help(&[])?;
    let listed =
        whole.split("Commands:\n").nth(1).and_then(|rest| rest.split("\n\n").next()).expect("a list of commands");
    let commands: Vec<&str> =
        listed.lines().filter_map(|line| line.split_whitespace().next()).filter(|&name| name != "help").collect();
    assert!(commands.len() > 15, "{commands:?}");
    for command in &commands {
        insta::assert_snapshot!(format!("help-{command}"), help(&[command])?);
    }
    insta::assert_snapshot!("help", whole);
    Ok(())
}

#[test]
fn profiles_explained() -> io::Result<()> {
    for profile in ["literal", "hardened", "universal"] {
        let output = Command::new(env!("CARGO_BIN_EXE_threadspec")).args(["explain", profile]).output()?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        // How many cases and clauses there are changes with each new one.
        let counted = |line: &str| {
            line.split_once(": threadspec list ").map(|(count, command)| {
                let (number, what) = count.split_once(' ').expect("a number and what it counts");
                assert!(number.parse::<usize>().is_ok_and(|number| number > 30), "{line}");
                format!("N {what}: threadspec list {command}")
            })
        };
        let lines: Vec<String> = said.lines().map(|line| counted(line).unwrap_or_else(|| line.to_owned())).collect();
        insta::assert_snapshot!(format!("explain-{profile}"), lines.join("\n"));
    }
    Ok(())
}
