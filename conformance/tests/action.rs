//! The shell step of the GitHub action, as a runner runs it, with this program instead of the released one.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::{fs, io};

/// What a step leaves behind: its exit code, and what it printed, wrote to the summary, and gave as output.
struct StepOutcome {
    code: Option<i32>,
    said: String,
    summary: String,
    output: String,
}

/// A clean log, and one with the result of a call that was never made, which says what a runner would take for a command.
fn write_logs(folder: &Path) -> io::Result<()> {
    let request = r#"{"model": "gpt-4.1", "messages": [{"role": "user", "content": "Hi"}"#;
    fs::write(folder.join("clean.jsonl"), format!("{request}]}}"))?;
    let result = r#"{"role": "tool", "tool_call_id": "\n::error::forged\n##[error]", "content": "r"}"#;
    fs::write(folder.join("a fault.jsonl"), format!("{request}, {result}]}}"))
}

/// Runs the step with these inputs as its environment; `None` where the action is not at hand, as in a package.
fn step(inputs: &[(&str, &str)]) -> io::Result<Option<StepOutcome>> {
    let action = Path::new(env!("CARGO_MANIFEST_DIR")).join("../action.yml");
    let Ok(action) = fs::read_to_string(action) else {
        eprintln!("SKIPPED: there is no action.yml here");
        return Ok(None);
    };
    let (_, script) = action.split_once("      run: |\n").expect("a script at the end");
    let folder = tempfile::tempdir()?;
    let file = |name: &str| folder.path().join(name);
    fs::write(file("step.sh"), script.lines().map(str::trim_start).collect::<Vec<_>>().join("\n"))?;
    write_logs(folder.path())?;
    // Like pipx, it passes on what follows the name of the program.
    let pipx = format!("#!/bin/sh\nshift 4\nexec '{}' \"$@\"\n", env!("CARGO_BIN_EXE_threadspec"));
    fs::write(file("pipx"), pipx)?;
    fs::set_permissions(file("pipx"), fs::Permissions::from_mode(0o755))?;
    let defaults = [
        ("VERSION", "latest"),
        ("REPORT", "the reports"),
        ("WORKING_DIRECTORY", "here"),
        ("CI", "true"),
        ("SHARD", ""),
    ];
    let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap_or_default());
    let step = Command::new("bash")
        .args(["--noprofile", "--norc", "-eo", "pipefail", "step.sh"])
        .current_dir(folder.path())
        .envs(defaults)
        .envs([("PATH", path.as_str()), ("GITHUB_STEP_SUMMARY", "summary"), ("GITHUB_OUTPUT", "output")])
        .env("THREADSPEC", env!("CARGO_BIN_EXE_threadspec"))
        .envs(inputs.iter().copied())
        .output()?;
    let said = format!("{}{}", String::from_utf8_lossy(&step.stdout), String::from_utf8_lossy(&step.stderr));
    let written = |name: &str| fs::read_to_string(file(name)).unwrap_or_default();
    let reports = ["run.json", "junit.xml", "report.html"];
    if step.status.success() && inputs.iter().all(|(name, _)| *name != "CHECK") {
        assert!(reports.iter().all(|name| file("the reports").join(name).is_file()), "{said}");
    }
    Ok(Some(StepOutcome { code: step.status.code(), said, summary: written("summary"), output: written("output") }))
}

#[test]
fn a_passing_testee_is_green_and_a_failing_one_red() -> io::Result<()> {
    let some = ("ARGUMENTS", "--op escape --filter 'escape/five*'");
    let Some(green) = step(&[("COMMAND", "'sh' -c \"$THREADSPEC  serve\""), some])? else { return Ok(()) };
    assert_eq!(green.code, Some(0), "{}", green.said);
    assert!(green.summary.starts_with("## threadspec: ✅ conformant"), "{}", green.summary);
    assert_eq!(green.output, "run=here/the reports/run.json\n");
    let bug = ("COMMAND", "\"$THREADSPEC\" serve --bug ampersand-escaped-last");
    let Some(red) = step(&[bug, some, ("SHARD", "1/1"), ("PROFILE", "literal")])? else { return Ok(()) };
    assert_eq!(red.code, Some(1), "{}", red.said);
    assert!(red.summary.starts_with("## threadspec: ❌ not conformant"), "{}", red.summary);
    assert!(red.summary.contains("shard 1\\/1"), "{}", red.summary);
    Ok(())
}

#[test]
fn what_cannot_be_run_is_red_and_the_summary_says_so() -> io::Result<()> {
    let serve = ("COMMAND", "\"$THREADSPEC\" serve");
    for (inputs, code) in [
        (&[][..], 2),
        (&[("COMMAND", "  ")], 2),
        (&[("COMMAND", "'unclosed")], 2),
        (&[("COMMAND", "no-such-program")], 3),
        (&[serve, ("SHARD", "5/4")], 2),
        (&[serve, ("KNOWN_FAILURES", "no such file")], 2),
        (&[serve, ("ARGUMENTS", "--filter 'no such case'")], 2),
    ] {
        let Some(step) = step(inputs)? else { return Ok(()) };
        assert_eq!(step.code, Some(code), "{inputs:?}: {}", step.said);
        let is_syntax = inputs.contains(&("COMMAND", "'unclosed"));
        assert!(
            is_syntax || step.said.contains("::error::") || step.summary.starts_with("## threadspec: ❌"),
            "{inputs:?}"
        );
    }
    Ok(())
}

#[test]
fn what_a_testee_says_is_no_command_to_the_runner() -> io::Result<()> {
    let hello = r#"{"id":0,"ok":{"protocol":1,"implementation":{"name":"::error::forged","version":"1","language":"sh"},"ops":["escape"],"profiles":["literal"]}}"#;
    let testee = "sh -c 'read -r line; echo \"$HELLO\"'";
    let inputs =
        [("COMMAND", testee), ("HELLO", hello), ("ARGUMENTS", "--filter escape/five-characters/ampersand-alone")];
    let Some(step) = step(&inputs)? else { return Ok(()) };
    let position = |part: &str| step.said.find(part).unwrap_or_else(|| panic!("{part}: {}", step.said));
    let (_, token) = step.said.split_once("::stop-commands::").expect("it stops commands");
    let token = token.lines().next().expect("a token");
    assert!(position("::stop-commands::") < position("::error::forged"));
    assert!(position("::error::forged") < position(&format!("::{token}::")));
    Ok(())
}

#[test]
fn logs_are_checked_instead_of_a_testee() -> io::Result<()> {
    let some = [("ARGUMENTS", "--strict")];
    for (logs, code, verdict) in [
        ("clean.jsonl", 0, "✅ no fault"),
        ("clean.jsonl 'a fault.jsonl'", 1, "❌ exit code 1"),
        ("'*.jsonl'", 1, "❌ exit code 1"),
        ("missing.jsonl", 2, "❌ exit code 2"),
    ] {
        let Some(step) = step(&[&some[..], &[("CHECK", logs)]].concat())? else { return Ok(()) };
        assert_eq!(step.code, Some(code), "{logs}: {}", step.said);
        assert_eq!(step.summary, format!("## threadspec check: {verdict}\n"));
        let annotations: Vec<&str> = step.said.lines().collect();
        assert_eq!(annotations.len(), usize::from(code > 0), "{}", step.said);
        assert!(annotations.iter().all(|line| line.starts_with("::error file=")), "{}", step.said);
    }
    let Some(step) = step(&[("CHECK", "clean.jsonl"), ("COMMAND", "true")])? else { return Ok(()) };
    assert_eq!(step.code, Some(2), "{}", step.said);
    Ok(())
}
