//! Run files and transcripts: what they hold, and that nothing is lost on the way.

use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::{fs, io};
use threadspec_golden::clause;

fn threadspec(folder: &Path, arguments: &[&str]) -> io::Result<(i32, String)> {
    let output = Command::new(env!("CARGO_BIN_EXE_threadspec-tested")).args(arguments).current_dir(folder).output()?;
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    Ok((output.status.code().unwrap_or(-1), said))
}

/// Enough of the corpus for what is tested here, and none of its large cases.
const SOME: [&str; 6] =
    ["--filter", "escape/f*", "--filter", "messages/event-types-standard/*", "--filter", "messages/tool-results/*"];

/// The options, then the program itself as the testee, with a planted bug.
fn verify(folder: &Path, bug: &str, options: &[&str]) -> io::Result<(i32, String)> {
    let testee = ["--", env!("CARGO_BIN_EXE_threadspec-mutants"), "serve", "--bug", bug];
    threadspec(folder, &[&["verify"], &SOME[..], options, &testee].concat())
}

fn read(folder: &Path, name: &str) -> io::Result<Value> {
    Ok(serde_json::from_str(&fs::read_to_string(folder.join(name))?)?)
}

fn assert_follows_the_schema(run: &Value) {
    let schema: Value = serde_json::from_str(threadspec_report::RUN_SCHEMA).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let errors: Vec<String> = validator.iter_errors(run).take(3).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
}

#[test]
fn a_run_file_says_what_the_terminal_says() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let (code, said) = verify(folder.path(), "tool-results-dropped", &["--report", "json=new/folder/run.json"])?;
    let run = read(folder.path(), "new/folder/run.json")?;
    assert_follows_the_schema(&run);
    assert_eq!((code, run["exitCode"].as_i64()), (1, Some(1)), "{said}");
    let cases = run["cases"].as_array().expect("a list");
    let failed: Vec<&Value> = cases.iter().filter(|case| case["verdict"] == "fail").collect();
    assert!(said.contains(&format!("fail {}", failed.len())) && !failed.is_empty(), "{said}");
    assert!(said.contains(&format!("/ {} total", run["summary"]["total"])), "{said}");
    for case in failed {
        for detail in ["why", "input", "expect", "actual", "repeat"] {
            assert!(case[detail].is_string(), "{detail}: {case}");
        }
    }
    Ok(())
}

/// A failed case is charged to one clause, and each report counts it there.
#[test]
fn every_report_charges_the_same_clauses() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    for (bug, profile) in [("tool-results-dropped", "literal"), ("results-in-pythons-notation", "universal")] {
        let reports = ["json=run.json", "junit=j.xml", "html=r.html", "markdown=m.md", "badge=b.svg"];
        let reports: Vec<&str> = reports.iter().flat_map(|report| ["--report", report]).collect();
        let some = if profile == "literal" { &SOME[..] } else { &["--filter", "agent/results/*"] };
        let testee = ["--", env!("CARGO_BIN_EXE_threadspec-mutants"), "serve", "--bug", bug];
        threadspec(folder.path(), &[&["verify", "--strict", "--profile", profile], some, &reports, &testee].concat())?;
        let run = read(folder.path(), "run.json")?;
        assert_follows_the_schema(&run);
        let table = run["summary"]["clauses"].as_array().expect("a table");
        let failed = |row: &Value| row["failed"].as_u64().unwrap_or_default();
        let all: u64 = table.iter().map(failed).sum();
        assert_eq!(Some(all), run["summary"]["verdicts"]["fail"].as_u64(), "{run}");
        let [junit, html] = ["j.xml", "r.html"].map(|name| fs::read_to_string(folder.path().join(name)));
        let (junit, html) = (junit?, html?);
        let (passed, applicable) = (&run["summary"]["verdicts"]["pass"], &run["summary"]["applicable"]);
        for (report, told) in [
            ("b.svg", format!("{passed} of {applicable}, worst: ")),
            ("m.md", format!("| {profile} | {passed} | {applicable} | {all} | 0 | ")),
            ("r.html", format!("<dt>pass</dt><dd>{passed}</dd>")),
        ] {
            assert!(fs::read_to_string(folder.path().join(report))?.contains(&told), "{report}: {told}");
        }
        for row in table.iter().filter(|row| failed(row) > 0) {
            let (clause, count) = (row["clause"].as_str().expect("a name"), failed(row));
            let judged = count + row["passed"].as_u64().unwrap_or_default();
            let charged = format!("message=\"{clause}: ");
            assert_eq!(junit.matches(&charged).count() as u64, count, "{clause}");
            let cell =
                html.split_once(&format!("<a href=\"#clause/{clause}\">{clause}</a></th>")).map(|(_, rest)| rest);
            let cell = cell.and_then(|rest| rest.split("</td>").next()).unwrap_or_default();
            assert!(cell.contains(&format!(" {count} of {judged}")), "{clause}: {cell}");
        }
    }
    Ok(())
}

#[test]
fn a_transcript_is_judged_like_the_testee_itself() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    for (bug, transcript) in [("tool-results-dropped", "t.jsonl.gz"), ("dies", "t.jsonl")] {
        verify(folder.path(), bug, &["--transcript", transcript, "--report", "json=first.json"])?;
        threadspec(folder.path(), &["judge", transcript, "--report", "json=again.json"])?;
        let [first, again] = ["first.json", "again.json"].map(|name| read(folder.path(), name));
        let (first, again) = (first?, again?);
        assert_follows_the_schema(&again);
        for (case, again) in
            first["cases"].as_array().into_iter().flatten().zip(again["cases"].as_array().expect("cases"))
        {
            for member in ["id", "verdict", "mismatches", "actual"] {
                assert_eq!(case[member], again[member], "{member} of {case}");
            }
        }
        assert_eq!(first["exitCode"], again["exitCode"]);
        assert_eq!(first["cases"].as_array().map(Vec::len), again["cases"].as_array().map(Vec::len));
    }
    Ok(())
}

#[test]
fn what_a_testee_declined_counts_also_when_it_is_judged_again() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    verify(folder.path(), "slow@none", &["--transcript", "t.jsonl"])?;
    let text = fs::read_to_string(folder.path().join("t.jsonl"))?;
    let (start, reply) = text.split_once(r#""ok":"#).expect("a reply");
    let (_, rest) = reply.split_once('\n').expect("a line");
    fs::write(folder.path().join("t.jsonl"), format!("{start}\"unsupported\":\"no\"}}}}\n{rest}"))?;
    let (code, said) = threadspec(folder.path(), &["judge", "t.jsonl"])?;
    assert!(code == 1 && said.contains("it answered 1 case with `unsupported`"), "{code}: {said}");
    // As many as the run allowed.
    let text = fs::read_to_string(folder.path().join("t.jsonl"))?;
    fs::write(folder.path().join("t.jsonl"), text.replacen(r#""options":{"#, r#""options":{"maxUnsupported":1,"#, 1))?;
    let (code, said) = threadspec(folder.path(), &["judge", "t.jsonl"])?;
    assert_eq!(code, 0, "{said}");
    Ok(())
}

#[cfg(unix)]
#[test]
fn a_limit_of_files_costs_no_summary() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let script = r#"ulimit -f 0; exec "$0" verify --filter 'escape/f*' "$@" -- "$0" serve"#;
    for options in [["--report", "json=run.json"], ["--transcript", "run.jsonl"], ["--transcript", "run.gz"]] {
        let program = env!("CARGO_BIN_EXE_threadspec-tested");
        let output =
            Command::new("sh").args(["-c", script, program]).args(options).current_dir(folder.path()).output()?;
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.code() == Some(4) && said.contains("Exit code 4."), "{options:?}: {output:?}");
    }
    // Nor is the beginning of a report left.
    let left = fs::read_dir(folder.path())?.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    assert!(left.into_iter().all(|name| ["run.jsonl", "run.gz"].contains(&&*name)));
    Ok(())
}

/// A run file may come from anywhere, and its names stand in every report.
#[test]
fn a_run_file_whose_names_cannot_be_seen_is_none() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    threadspec(folder.path(), &["verify", "--filter", "escape/f*", "--report", "json=run.json"])?;
    for odd in ["\u{1b}[2K", "\u{202e}", "a\nb"] {
        for (member, name) in [("id", Value::from(odd)), ("clauses", vec![odd].into())] {
            let mut run = read(folder.path(), "run.json")?;
            run["cases"][3][member] = name;
            fs::write(folder.path().join("odd.json"), run.to_string())?;
            for arguments in ["report odd.json --format junit -o -", "diff run.json odd.json"] {
                let (code, said) = threadspec(folder.path(), &arguments.split(' ').collect::<Vec<_>>())?;
                assert!(code == 2 && said.contains("which no corpus does"), "{arguments}: {code}: {said}");
                assert!(!said.contains(odd), "{said:?}");
            }
        }
    }
    Ok(())
}

#[test]
fn what_cannot_be_written_or_read_is_said_before_the_run() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    fs::write(folder.path().join("file"), "not JSON")?;
    fs::write(folder.path().join("bytes"), b"{\"runs\": [\xff]}")?;
    for (arguments, code, says) in [
        (&["verify", "--report", "json=file/run.json"][..], 4, "file/run.json"),
        (&["verify", "--report", "json=."], 4, "directory"),
        (&["verify", "--report", "jsn=run.json"], 2, "there is no report `jsn`"),
        (&["verify", "--report", "json"], 2, "FORMAT=PATH"),
        (&["judge", "file"], 2, "not a transcript"),
        (&["judge", "nothing"], 2, "nothing: "),
        (&["diff", "file", "file"], 2, "not a run file"),
        (&["diff", "bytes", "bytes"], 2, "not UTF-8 at byte 10"),
    ] {
        let (actual, said) = threadspec(folder.path(), arguments)?;
        assert!(actual == code && said.contains(says), "{arguments:?}: {actual}: {said}");
        assert!(!said.contains("run /"), "{said}");
    }
    Ok(())
}

#[test]
fn no_output_replaces_an_input_or_another_output() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let (_, said) = threadspec(
        folder.path(),
        &["verify", "--filter", "escape/f*", "--report", "json=run.json", "--transcript", "record"],
    )?;
    fs::write(folder.path().join("known.toml"), "")?;
    let content = |name: &str| fs::read(folder.path().join(name));
    let before = (content("run.json")?, content("record")?);
    for (arguments, file) in [
        ("verify --report json=a --report junit=./a", "a"),
        ("verify --report json=a --transcript new/../a", "a"),
        ("verify --known-failures known.toml --report json=known.toml", "known.toml"),
        ("verify --update-known-failures known.toml --transcript known.toml", "known.toml"),
        ("judge record --report json=record", "record"),
        ("judge record --known-failures known.toml --report badge=known.toml", "known.toml"),
        ("report run.json --format html -o run.json", "run.json"),
        ("merge run.json --report json=all.json --report junit=run.json", "run.json"),
    ] {
        fs::create_dir_all(folder.path().join("new"))?;
        let (code, said) = threadspec(folder.path(), &arguments.split(' ').collect::<Vec<_>>())?;
        assert!(code == 2 && said.contains(&format!("{file}: it would replace")), "{arguments}: {code}: {said}");
    }
    assert_eq!((content("run.json")?, content("record")?), before, "{said}");
    assert!(!folder.path().join("a").exists() && content("known.toml")?.is_empty());
    // Several may write to what is no file.
    let (code, said) = threadspec(folder.path(), &["merge", "run.json", "--report", "json=-", "--report", "junit=-"])?;
    assert_eq!(code, 0, "{said}");
    Ok(())
}

#[cfg(unix)]
#[test]
fn a_pipe_is_written_to_its_reader_and_waits_for_none() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    assert!(Command::new("mkfifo").arg("pipe").current_dir(folder.path()).status()?.success());
    let verify = |option, path| {
        let testee = ["--", env!("CARGO_BIN_EXE_threadspec-mutants"), "serve"];
        threadspec(folder.path(), &[&["verify", "--filter", "escape/five*", option, path], &testee[..]].concat())
    };
    for (option, path) in [("--report", "json=pipe"), ("--transcript", "pipe")] {
        let (code, said) = verify(option, path)?;
        assert!(code == 4 && said.contains("a pipe that nobody reads"), "{option}: {code}: {said}");
    }
    let mut reader = Command::new("sh").args(["-c", "cat pipe > read.json"]).current_dir(folder.path()).spawn()?;
    // Until it has opened the pipe, nobody reads.
    let is_read = (0..100).any(|_| verify("--report", "json=pipe").is_ok_and(|(code, _)| code == 0));
    assert!(is_read);
    assert!(reader.wait()?.success());
    assert_eq!(read(folder.path(), "read.json")?["exitCode"], 0);
    Ok(())
}

#[test]
fn reports_say_what_a_run_leaves_open() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let options = ["--quiet", "--filter", "escape/five*", "--shard", "1/1"];
    let reports = ["--report", "markdown=run.md", "--report", "html=run.html", "--report", "badge=run.json"];
    threadspec(folder.path(), &[&["verify"], &options[..], &reports].concat())?;
    let read = |name: &str| fs::read_to_string(folder.path().join(name));
    for (file, limits) in [
        ("run.md", &["shard 1\\/1", "only the cases escape\\/five\\*"][..]),
        ("run.html", &["shard 1/1", "only the cases escape/five*"]),
        ("run.json", &[", in part"]),
    ] {
        let text = read(file)?;
        for limit in limits {
            assert!(text.contains(limit), "{file}: {limit}");
        }
    }
    // If no case was applicable, they say that this is why it does not conform.
    threadspec(folder.path(), &[&["verify"], &options[..], &["--report", "json=empty.json"]].concat())?;
    let mut empty: Value = serde_json::from_str(&read("empty.json")?)?;
    empty["summary"]["applicable"] = 0.into();
    empty["cases"] = serde_json::json!([]);
    fs::write(folder.path().join("empty.json"), empty.to_string())?;
    for format in ["markdown", "html"] {
        let (code, said) = threadspec(folder.path(), &["report", "empty.json", "--format", format, "-o", "empty"])?;
        assert_eq!(code, 0, "{said}");
        assert!(read("empty")?.contains("no case was applicable"), "{format}");
    }
    Ok(())
}

/// Who reads the reports may never see the terminal.
#[test]
fn reports_say_that_a_testee_did_not_start() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let reports = ["json=run.json", "junit=j.xml", "markdown=m.md", "html=r.html", "badge=b.json"];
    let options: Vec<&str> = reports.iter().flat_map(|report| ["--report", report]).collect();
    let (code, said) = threadspec(
        folder.path(),
        &[&["verify"], &SOME[..], &options, &["--", "sh", "-c", "echo '<no hello>'"]].concat(),
    )?;
    assert_eq!(code, 3, "{said}");
    let run = read(folder.path(), "run.json")?;
    assert_follows_the_schema(&run);
    assert_eq!(
        (&run["exitCode"], &run["testee"], &run["summary"]["run"]),
        (&3.into(), &Value::Null, &0.into()),
        "{run}"
    );
    for report in ["run.json", "j.xml", "m.md", "r.html"] {
        let text = fs::read_to_string(folder.path().join(report))?;
        assert!(text.contains("instead of a hello"), "{report}: {text}");
    }
    let junit = fs::read_to_string(folder.path().join("j.xml"))?;
    assert_eq!(junit.matches("<error").count(), 1, "{junit}");
    assert!(fs::read_to_string(folder.path().join("b.json"))?.contains("not conformant"));
    // One shard that did not start is a part of the whole all the same.
    for (shard, testee) in [("1/2", &["false"][..]), ("2/2", &[env!("CARGO_BIN_EXE_threadspec-mutants"), "serve"])] {
        let report = format!("json={}.json", &shard[..1]);
        threadspec(
            folder.path(),
            &[&["verify", "--shard", shard, "--report", &report], &SOME[..], &["--"], testee].concat(),
        )?;
    }
    let (code, said) = threadspec(folder.path(), &["merge", "1.json", "2.json", "--report", "json=whole.json"])?;
    let whole = read(folder.path(), "whole.json")?;
    assert_follows_the_schema(&whole);
    assert_eq!((code, whole["testee"].is_object()), (3, true), "{said}");
    assert_eq!(whole["cases"].as_array().map(Vec::len), run["cases"].as_array().map(Vec::len));
    Ok(())
}

#[test]
fn junit_follows_the_schema_and_every_report_is_safe() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    verify(folder.path(), "tool-results-dropped", &["--report", "json=run.json"])?;
    // A testee may say anything of itself.
    let mut run = read(folder.path(), "run.json")?;
    run["testee"]["implementation"]["name"] =
        "</script><b>`|[x](y)\u{1b}[1m\u{202e}\n<img src=x onerror=alert(1)>".into();
    run["cases"][0]["verdict"] = "crash".into();
    run["cases"][0]["counts"] = true.into();
    run["cases"][0]["note"] = "]]></failure><x>\u{0}\u{fffe}\u{7}".into();
    // Every other verdict, as in a run with known failures that was interrupted.
    let others = [
        ("timeout", true, "error"),
        ("garbage", true, "error"),
        ("rejected", true, "failure"),
        ("unexpected-pass", false, "failure"),
        ("known-failure", false, "skipped"),
        ("unsupported", false, "skipped"),
        ("not-run", true, "skipped"),
    ];
    for (number, (verdict, counts, _)) in others.into_iter().enumerate() {
        run["cases"][number + 1]["verdict"] = verdict.into();
        run["cases"][number + 1]["counts"] = counts.into();
    }
    run["stopped"] = "interrupted".into();
    for trouble in ["shutdown", "against", "outOfDate"] {
        run[trouble] = serde_json::json!([format!("<{trouble}>")]);
    }
    fs::write(folder.path().join("run.json"), run.to_string())?;
    for (format, file) in
        [("junit", "j.xml"), ("html", "h.html"), ("markdown", "m.md"), ("badge", "b.svg"), ("badge", "b.json")]
    {
        let (code, said) = threadspec(folder.path(), &["report", "run.json", "--format", format, "-o", file])?;
        assert_eq!(code, 0, "{said}");
        let mut text = fs::read_to_string(folder.path().join(file))?;
        if format == "markdown" {
            text = text.replace("\\<", "");
        }
        for raw in
            ["<img", "</script><b>", "]]></failure>", "\u{1b}", "\u{202e}", "\u{0}", "\u{fffe}", "\u{7}", "<shutdown>"]
        {
            // In Markdown everything stands in code, or with a backslash before what would be markup.
            let in_code =
                format == "markdown" && ["<shutdown>", "]]></failure>"].contains(&raw) && text.contains("`<shutdown>`");
            assert!(!text.contains(raw) || in_code, "{file}: {raw:?}");
        }
    }
    let junit = fs::read_to_string(folder.path().join("j.xml"))?;
    for (number, (verdict, _, kind)) in others.into_iter().enumerate() {
        let id = run["cases"][number + 1]["id"].as_str().unwrap_or_default();
        let name = format!(r#"name="{}">"#, id.rsplit('/').next().unwrap_or_default());
        let after = junit.split_once(&name).map_or("", |(_, after)| after);
        assert!(after.starts_with(&format!("<{kind} ")), "{verdict} of {id}: {junit}");
        assert!(
            after.split('>').next().is_some_and(|tag| tag.contains(&format!(r#"message="{verdict}"#))),
            "{verdict}"
        );
    }
    for class in ["stopped", "shutdown", "against", "known-failures"] {
        assert!(junit.contains(&format!(r#"classname="{class}" name="{class}-0""#)), "{class}: {junit}");
    }
    let schema = std::path::absolute(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/junit.xsd"))?;
    let schemas = [Some(schema), std::env::var_os("JUNIT_XSD").map(Into::into)];
    for schema in schemas.into_iter().flatten() {
        let xmllint = Command::new("xmllint")
            .arg("--noout")
            .arg("--schema")
            .arg(schema)
            .arg("j.xml")
            .current_dir(folder.path())
            .output();
        match xmllint {
            Ok(output) => assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr)),
            Err(error) => eprintln!("SKIPPED: the JUnit report is not validated, since xmllint does not run: {error}"),
        }
    }
    Ok(())
}

#[test]
fn regressions_fixes_and_other_changes_are_told_apart() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    threadspec(folder.path(), &["verify", "--quiet", "--filter", "escape/*", "--report", "json=old.json"])?;
    let mut run = read(folder.path(), "old.json")?;
    let cases = run["cases"].as_array_mut().expect("cases");
    cases[0]["verdict"] = "fail".into();
    cases[1]["hash"] = "sha256:0000000000000000".into();
    let gone = cases.remove(2)["id"].clone();
    cases[5]["verdict"] = "not-run".into();
    fs::write(folder.path().join("new.json"), run.to_string())?;
    let (code, said) = threadspec(folder.path(), &["diff", "old.json", "new.json"])?;
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("2 regressions, 0 fixes, 0 otherwise, 1 changed, 0 new, 1 gone"), "{said}");
    assert!(said.contains(gone.as_str().unwrap_or("?")) && said.contains("(pass → not-run)"), "{said}");
    let (code, said) = threadspec(folder.path(), &["diff", "new.json", "old.json"])?;
    assert!(code == 0 && said.contains("0 regressions, 2 fixes, 0 otherwise, 1 changed, 1 new, 0 gone"), "{said}");
    Ok(())
}

#[test]
fn warnings_are_a_line_for_each_cause() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let shown = |options: &[&str]| {
        let testee =
            ["--", env!("CARGO_BIN_EXE_threadspec-mutants"), "serve", "--bug", "last-calls-not-executed-at-the-limit"];
        threadspec(folder.path(), &[&["verify", "--clause", clause::LOOP_LIMIT], options, &testee].concat())
    };
    let (code, said) = shown(&[])?;
    let first = "Nothing counts against it. Look first at: ";
    assert!(code == 0 && said.contains(first) && !said.contains("FAIL") && !said.contains("Fix first"), "{said}");
    assert!(
        said.contains(" causes: ")
            && said.contains("; 4 cases (of level `should`: none counts), such as loop/limits/one-model-call\n"),
        "{said}"
    );
    // One of several causes is in full where it counts: its clearest case.
    for (in_full, case) in [
        (&["--all"][..], "limit-xml"),
        (&["--filter", "loop/limits/limit-xml"], "limit-xml"),
        (&["--strict"], "one-model-call"),
    ] {
        let (_, said) = shown(in_full)?;
        assert!(said.contains(&format!("FAIL loop/limits/{case} (should")), "{said}");
    }
    Ok(())
}

#[test]
fn what_every_process_does_at_its_end_is_one_fault() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    for jobs in ["1", "4"] {
        let report = format!("json={jobs}.json");
        let run = ["verify", "--quiet", "--op", "escape", "--jobs", jobs, "--report", &report, "--"];
        let testee = [env!("CARGO_BIN_EXE_threadspec-mutants"), "serve", "--bug", "aborts@end"];
        threadspec(folder.path(), &[&run[..], &testee].concat())?;
    }
    let (one, four) = (read(folder.path(), "1.json")?, read(folder.path(), "4.json")?);
    assert_eq!(one["summary"]["failures"], 1, "{}", one["shutdown"]);
    for member in ["cases", "summary", "shutdown", "exitCode"] {
        assert_eq!(four[member], one[member], "{member}");
    }
    Ok(())
}

#[test]
fn merged_shards_are_the_whole_and_a_missing_one_is_noticed() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    threadspec(folder.path(), &["verify", "--quiet", "--filter", "escape/*", "--report", "json=whole.json"])?;
    let whole = read(folder.path(), "whole.json")?;
    let cases = whole["cases"].as_array().expect("cases");
    for number in 0..3_usize {
        let mut shard = whole.clone();
        shard["options"]["shard"] = format!("{}/3", number + 1).into();
        let part: Vec<&Value> = cases.iter().skip(number).step_by(3).collect();
        // The cases of other profiles were chosen too; here the first shard has them all.
        let others = whole["summary"]["total"].as_u64().expect("a number") - cases.len() as u64;
        shard["summary"]["total"] = (part.len() as u64 + if number == 0 { others } else { 0 }).into();
        // So it has the thorough ones that were left out.
        if number > 0 {
            shard["options"]["leftOut"] = 0.into();
        }
        shard["cases"] = serde_json::json!(part);
        fs::write(folder.path().join(format!("{number}.json")), shard.to_string())?;
    }
    let merge = ["merge", "2.json", "0.json", "1.json", "--report", "json=merged.json"];
    let (code, said) = threadspec(folder.path(), &merge)?;
    assert_eq!(code, 0, "{said}");
    let merged = read(folder.path(), "merged.json")?;
    for member in ["cases", "summary", "options", "exitCode"] {
        assert_eq!(merged[member], whole[member], "{member}");
    }
    // Two cases that were declined are one too many, each of them in a shard that may have one. A fault at the end is one, in all shards.
    for number in 0..3_usize {
        let mut shard = read(folder.path(), &format!("{number}.json"))?;
        shard["options"]["maxUnsupported"] = 1.into();
        if number > 0 {
            shard["declined"] = 1.into();
        }
        shard["shutdown"] = serde_json::json!(["it ended with exit status: 3 when its input was closed"]);
        fs::write(folder.path().join(format!("{number}.json")), shard.to_string())?;
    }
    let (code, said) = threadspec(folder.path(), &merge)?;
    let merged = read(folder.path(), "merged.json")?;
    assert!(code == 1 && said.contains("not conformant"), "{said}");
    assert_eq!(merged["against"].as_array().map(Vec::len), Some(1), "{merged}");
    assert!(merged["against"][0].as_str().is_some_and(|what| what.contains("2 cases")), "{merged}");
    assert_eq!(merged["shutdown"].as_array().map(Vec::len), Some(1), "{merged}");
    assert_eq!(merged["summary"]["failures"], 2);
    let (code, said) = threadspec(folder.path(), &["merge", "0.json", "1.json", "--report", "json=-"])?;
    assert!(code == 2 && said.contains("shard 3/3 is missing"), "{said}");
    let (code, said) = threadspec(folder.path(), &["merge", "0.json", "0.json", "--report", "json=-"])?;
    assert!(code == 2 && said.contains("comes twice"), "{said}");
    Ok(())
}
