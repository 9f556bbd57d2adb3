//! Severity: what hurts most comes first, and contrived input excuses a failure that is about nothing else.

use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use std::{fs, io};
use threadspec_golden::clause;

/// Its agent writes structured results in the notation of Python.
const BUG: &str = "results-in-pythons-notation";

fn threadspec(folder: &Path, arguments: &[&str]) -> io::Result<(i32, String)> {
    let output = Command::new(env!("CARGO_BIN_EXE_threadspec-tested"))
        .env_remove("CI")
        .args(arguments)
        .current_dir(folder)
        .output()?;
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    Ok((output.status.code().unwrap_or(-1), said))
}

/// A corpus of one case for each severity, all of which the agent fails, and one that it passes.
fn folder(severities: &[&str]) -> io::Result<tempfile::TempDir> {
    let case = |name: &str, severity: &str, result: Value| {
        let mut case = json!({
            "name": name, "why": "A reason.", "clauses": [clause::AGENT_RESULT], "profiles": ["universal"], "severity": severity,
            "input": {
                "messages": [{"type": "human", "content": "Go"}],
                "model": [{"tool_calls": [{"id": "c1", "name": "look", "args": {}}]}, {"content": "Done"}],
                "tools": {"look": {"byId": {"c1": result}}},
            },
            "expect": {"holds": ["agent-result"]},
        });
        if severity != "C" {
            case["evidence"] = json!(["owner/repo#1"]);
        }
        case
    };
    let mut cases: Vec<Value> = severities
        .iter()
        .map(|&severity| case(&format!("of-{}", severity.to_lowercase()), severity, json!({"a": true})))
        .collect();
    cases.push(case("fine", "A", json!("ok")));
    let folder = tempfile::tempdir()?;
    fs::create_dir_all(folder.path().join("golden/agent"))?;
    let file = json!({"op": "tools", "about": "a topic", "cases": cases});
    fs::write(folder.path().join("golden/agent/t.json"), file.to_string())?;
    Ok(folder)
}

fn verify(folder: &Path, options: &[&str]) -> io::Result<(i32, String)> {
    let testee = ["--", env!("CARGO_BIN_EXE_threadspec-mutants"), "serve", "--bug", BUG];
    threadspec(folder, &[&["verify", "--corpus", "golden"], options, &testee].concat())
}

#[test]
fn contrived_input_excuses_a_failure_unless_the_run_is_strict() -> io::Result<()> {
    let folder = folder(&["C"])?;
    let at = folder.path();
    let (code, said) = verify(at, &["--report", "json=run.json", "--transcript", "run.jsonl"])?;
    let last = "conformant: 1 of 2 cases pass; one is of severity C (contrived), and does not count.";
    assert!(code == 0 && said.contains(last), "{said}");
    assert!(said.contains("FAIL agent/t/of-c (must, severity C, contrived: does not count)"), "{said}");
    assert!(said.contains("  severity C, contrived\n"), "{said}");
    for options in [&["--fail-fast"][..], &["--quiet"], &["--all"], &["--jobs", "2"]] {
        let (code, said) = verify(at, options)?;
        assert!(code == 0 && said.contains(last), "{options:?}: {said}");
    }
    let (code, said) = verify(at, &["--strict"])?;
    assert!(code == 1 && said.contains("not conformant: 1 counts against it. Exit code 1."), "{said}");
    // The exchange is judged in the same way without the testee.
    let judge = ["judge", "--corpus", "golden", "run.jsonl"];
    let (code, said) = threadspec(at, &judge)?;
    assert!(code == 0 && said.contains(last), "{said}");
    let (code, said) = threadspec(at, &[&judge[..], &["--strict"]].concat())?;
    assert!(code == 1 && said.contains("1 counts against it"), "{said}");
    let run: Value = serde_json::from_str(&fs::read_to_string(at.join("run.json"))?)?;
    let [case, _] = &run["cases"].as_array().expect("cases")[..] else { panic!("{run}") };
    assert_eq!((&case["severity"], &case["verdict"], &case["counts"]), (&json!("C"), &json!("fail"), &json!(false)));
    let summary = &run["summary"];
    assert_eq!((&summary["excused"], &summary["warnings"], &summary["failures"]), (&json!(1), &json!(0), &json!(0)));
    let schema: Value = serde_json::from_str(threadspec_report::RUN_SCHEMA)?;
    assert!(jsonschema::is_valid(&schema, &run));
    Ok(())
}

#[test]
fn what_hurts_most_comes_first_in_every_report() -> io::Result<()> {
    let folder = folder(&["C", "B", "A"])?;
    let at = folder.path();
    let reports = ["html=run.html", "junit=run.xml", "markdown=run.md", "json=run.json"];
    let options: Vec<&str> = reports.iter().flat_map(|report| ["--report", report]).collect();
    let (code, said) = verify(at, &[&["--quiet"], &options[..]].concat())?;
    assert!(
        code == 1
            && said.contains("2 of 3 failures count against it; one is of severity C (contrived), and does not count."),
        "{said}"
    );
    let (_, in_full) = verify(at, &["--all"])?;
    let (_, explained) = threadspec(at, &["explain", "--corpus", "golden", "agent/t/of-a"])?;
    let line = "severity A, a thread is lost or wrong on ordinary input: owner/repo#1";
    assert!(explained.contains(line) && in_full.contains(line), "{explained}");
    let (_, list) = threadspec(at, &["list", "--corpus", "golden"])?;
    assert!(list.contains("agent/t/of-b  must  universal  AGENT-RESULT  B  owner/repo#1\n"), "{list}");
    fs::write(at.join("quiet"), said)?;
    fs::write(at.join("all"), in_full)?;
    for (report, start) in
        [("quiet", ""), ("all", ""), ("run.html", "id=\"causes\""), ("run.xml", ""), ("run.md", "<details>")]
    {
        let text = fs::read_to_string(at.join(report))?;
        let text = &text[text.find(start).expect(report)..];
        let places = ["of-a", "of-b", "of-c"].map(|case| text.find(case));
        assert!(places[0].is_some() && places.is_sorted(), "{report}: {places:?}");
        assert!(text.contains("severity A") && text.contains("severity C"), "{report}: {text}");
    }
    let html = fs::read_to_string(at.join("run.html"))?;
    assert!(html.contains("github.com/owner/repo/issues/1\""), "evidence is a link");
    // A later run that passes one of them says of which severity it is.
    let mended = fs::read_to_string(at.join("run.json"))?.replacen("\"verdict\":\"fail\"", "\"verdict\":\"pass\"", 2);
    fs::write(at.join("fixed.json"), mended)?;
    let (code, said) = threadspec(at, &["diff", "run.json", "fixed.json"])?;
    let fixes = "fixes: 2\n  agent/t/of-b (severity B, fail → pass)\n  agent/t/of-c (severity C, fail → pass)\n";
    assert!(code == 0 && said.contains(fixes), "{said}");
    Ok(())
}

#[test]
fn what_is_excused_needs_no_entry_among_the_known_failures() -> io::Result<()> {
    let folder = folder(&["C", "A"])?;
    let at = folder.path();
    let update = ["--update-known-failures", "known.toml", "--reason", "old"];
    let (code, said) = verify(at, &update)?;
    let known = fs::read_to_string(at.join("known.toml"))?;
    assert!(code == 0 && said.contains("but for one known failure; one is of severity C"), "{said}");
    assert!(known.contains("\"agent/t/of-a\"") && !known.contains("of-c"), "{known}");
    // An entry for it is right, too, and stays.
    fs::write(at.join("known.toml"), "[[known]]\npattern = \"agent/t/of-*\"\nreason = \"old\"\n")?;
    for options in [&["--known-failures", "known.toml"], &update[..2]] {
        let (code, said) = verify(at, options)?;
        assert!(code == 0 && said.contains("but for 2 known failures."), "{options:?}: {said}");
    }
    assert!(fs::read_to_string(at.join("known.toml"))?.contains("agent/t/of-*"));
    Ok(())
}

#[test]
fn a_run_that_ends_at_the_first_failure_goes_on_behind_an_excused_one() -> io::Result<()> {
    let folder = folder(&["C", "A"])?;
    let (code, said) = verify(folder.path(), &["--fail-fast", "--quiet"])?;
    assert!(code == 1 && said.contains("FAIL agent/t/of-a (must, severity A)"), "{said}");
    Ok(())
}
