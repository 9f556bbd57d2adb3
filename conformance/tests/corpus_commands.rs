//! `lint`, `list` and `show` on small corpora.

use std::path::Path;
use std::process::Command;
use std::{fs, io};

const CASE: &str =
    r#"{"name":"less-than","why":"a reason","clauses":["ESC-1"],"input":{"text":"<","n":1.0},"expect":{"ok":"&lt;"}}"#;

fn corpus(cases: &str) -> io::Result<tempfile::TempDir> {
    let folder = tempfile::tempdir()?;
    fs::create_dir(folder.path().join("escape"))?;
    let file = format!(r#"{{"op":"escape","about":"a topic","cases":[{cases}]}}"#);
    fs::write(folder.path().join("escape/topic.json"), file)?;
    Ok(folder)
}

fn threadspec(arguments: &[&str], folder: &Path) -> io::Result<(i32, String)> {
    let output = Command::new(env!("CARGO_BIN_EXE_threadspec")).args(arguments).arg("--corpus").arg(folder).output()?;
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    Ok((output.status.code().unwrap_or(-1), said))
}

#[test]
fn lint_finds_fixes_and_is_then_content() -> io::Result<()> {
    let folder = corpus(CASE)?;
    let (code, said) = threadspec(&["lint"], folder.path())?;
    assert_eq!(code, 4, "{said}");
    assert!(said.contains("canonical layout") && said.contains("manifest.json: it is missing"), "{said}");
    let (code, said) = threadspec(&["lint", "--fix"], folder.path())?;
    assert!(code == 0 && said.ends_with("no problems\n"), "{said}");
    let fixed = fs::read_to_string(folder.path().join("escape/topic.json"))?;
    assert!(fixed.contains(r#""input": {"text": "<", "n": 1.0},"#), "{fixed}");
    Ok(())
}

#[test]
fn lint_notices_a_changed_case() -> io::Result<()> {
    let folder = corpus(CASE)?;
    threadspec(&["lint", "--fix"], folder.path())?;
    let path = folder.path().join("escape/topic.json");
    fs::write(&path, fs::read_to_string(&path)?.replace("&lt;", "&#60;"))?;
    let (code, said) = threadspec(&["lint"], folder.path())?;
    assert!(code == 4 && said.contains("does not match the cases"), "{said}");
    Ok(())
}

#[test]
fn lint_demands_that_a_registry_is_covered() -> io::Result<()> {
    let folder = corpus(CASE)?;
    let registry = r#"{"clauses":[{"id":"ESC-1","level":"must","source":"s","text":"t"},
        {"id":"ESC-2","level":"must","source":"s","text":"t"}]}"#;
    fs::write(folder.path().join("clauses.json"), registry)?;
    let (code, said) = threadspec(&["lint", "--fix"], folder.path())?;
    assert!(code == 4 && said.contains("`ESC-2`: a `must` without a case") && !said.contains("`ESC-1`"), "{said}");
    Ok(())
}

#[test]
fn lint_refuses_a_case_that_a_template_says_shorter() -> io::Result<()> {
    let registry = r#"{"clauses":[{"id":"ESC-1","level":"must","source":"s","text":"t"}]}"#;
    for (length, is_long) in [(1000, false), (70_000, true)] {
        let folder = corpus(&CASE.replace(r#""<""#, &format!(r#""<{}""#, "x".repeat(length))))?;
        fs::write(folder.path().join("clauses.json"), registry)?;
        let (_, said) = threadspec(&["lint", "--fix"], folder.path())?;
        assert_eq!(said.contains("less-than: 70") && said.contains("at most 65536"), is_long, "{said}");
    }
    Ok(())
}

#[test]
fn a_faulty_corpus_judges_nobody() -> io::Result<()> {
    let folder = corpus(&CASE.replace("ESC-1", "ESC-99"))?;
    for command in ["verify", "list"] {
        let (code, said) = threadspec(&[command], folder.path())?;
        assert!(code == 4 && said.contains("escape/topic.json: less-than: unknown clause `ESC-99`"), "{said}");
    }
    Ok(())
}

#[test]
fn list_and_show_tell_what_there_is() -> io::Result<()> {
    let folder = corpus(CASE)?;
    let (code, said) = threadspec(&["list"], folder.path())?;
    assert_eq!((code, said.as_str()), (0, "escape/topic/less-than  must  literal,hardened  ESC-1\n"));
    let (code, said) = threadspec(&["show", "escape/topic/less-than"], folder.path())?;
    let request = r#"{"id":1,"op":"escape","profile":"literal","input":{"text":"<","n":1.0}}"#;
    assert!(code == 0 && said.contains(request) && said.contains("Each `&`"), "{said}");
    let (code, said) = threadspec(&["show", "escape/topic/no"], folder.path())?;
    assert!(code == 2 && said.contains("no case `escape/topic/no`"), "{said}");
    Ok(())
}

/// What the program says of the built-in corpus.
fn said_of_all(arguments: &[&str]) -> io::Result<(i32, String)> {
    let output = Command::new(env!("CARGO_BIN_EXE_threadspec")).args(arguments).output()?;
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    Ok((output.status.code().unwrap_or(-1), said))
}

#[test]
fn list_chooses_cases_as_verify_does() -> io::Result<()> {
    let (code, said) = said_of_all(&["list", "--op", "messages", "--clause", "MSG-PAIRED", "--profile", "hardened"])?;
    assert!(code == 0 && said.lines().count() > 3, "{said}");
    for line in said.lines() {
        let [id, _, profiles, clauses] = line.split("  ").collect::<Vec<_>>()[..] else { panic!("{line}") };
        assert!(
            id.starts_with("messages/") && profiles.contains("hardened") && clauses.contains("MSG-PAIRED"),
            "{line}"
        );
    }
    let (code, said) = said_of_all(&["list", "--clause", "GATE-TEXT", "--profile", "literal"])?;
    assert!(code == 2 && said.contains("no case of this profile fits all"), "{said}");
    let (code, said) = said_of_all(&["list", "--clause", "MSG-PARED"])?;
    assert!(code == 2 && said.contains("did you mean `MSG-PAIRED`"), "{said}");
    Ok(())
}

#[test]
fn list_shows_the_clauses_of_a_profile() -> io::Result<()> {
    let ids = |options: &[&str]| -> io::Result<Vec<String>> {
        let (code, said) = said_of_all(&[&["list", "--clauses"], options].concat())?;
        assert_eq!(code, 0, "{said}");
        let heads = said.lines().filter(|line| !line.starts_with(' '));
        Ok(heads.filter_map(|line| line.split(' ').next()).map(str::to_owned).collect())
    };
    let has = |ids: &[String], id: &str| ids.iter().any(|known| known == id);
    let (literal, hardened) = (ids(&["--profile", "literal"])?, ids(&["--profile", "hardened"])?);
    assert!(has(&literal, "STR-2") && !has(&literal, "MSG-PAIRED") && !has(&literal, "AGENT-IDS"), "{literal:?}");
    assert!(!has(&hardened, "STR-2") && has(&hardened, "MSG-PAIRED") && !has(&hardened, "AGENT-IDS"), "{hardened:?}");
    let sessions = ids(&["--profile", "universal", "--op", "session"])?;
    assert!(has(&sessions, "SESSION-CUT") && !has(&sessions, "GATE-TEXT") && !has(&sessions, "ESC-1"), "{sessions:?}");
    assert_eq!(ids(&["--profile", "universal", "--clause", "AGENT-ID*"])?, ["AGENT-IDS"]);
    assert_eq!(ids(&["--filter", "ESC-1"])?, ["ESC-1"]);
    Ok(())
}

#[test]
fn explain_folds_the_rows_of_a_covering_array() -> io::Result<()> {
    let (code, said) = said_of_all(&["explain", "TOOLS-ACCUMULATE"])?;
    let folded: Vec<&str> = said.lines().filter(|line| line.contains("/pairs/") || line.contains("/row-")).collect();
    let (_, rows) = said_of_all(&["list", "--clause", "TOOLS-ACCUMULATE", "--filter", "tools/pairs/*"])?;
    assert!(code == 0 && rows.lines().count() > 10, "{said}");
    let line = folded.iter().find(|line| line.contains("tools/pairs/*")).expect("a line for the rows");
    assert!(line.contains(&format!("{} rows of a covering array", rows.lines().count())), "{line}");
    assert!(!said.contains("/row-"), "{folded:?}");
    Ok(())
}

#[test]
fn explain_knows_errata_and_exit_codes() -> io::Result<()> {
    let (code, said) = said_of_all(&["explain", "e8"])?;
    assert!(code == 0 && said.starts_with("E8 · Grouping of tool calls\n") && said.contains("MSG-GROUP"), "{said}");
    let (code, said) = said_of_all(&["explain", "errata"])?;
    assert!(code == 0, "{said}");
    let lines = said.lines().count();
    assert!(
        said.lines().enumerate().all(|(at, line)| line.starts_with(&format!("E{} · ", at + 1))) && lines > 27,
        "{said}"
    );
    for exit in ["0", "1", "2", "3", "4", "5", "130"] {
        let (code, said) = said_of_all(&["explain", exit])?;
        assert!(code == 0 && said.starts_with(&format!("exit code {exit}: ")) && said.len() > 40, "{said}");
    }
    for unknown in ["6", "E99", "hardend"] {
        let (code, said) = said_of_all(&["explain", unknown])?;
        assert!(code == 2 && said.contains("there is no clause, case, rule, profile, erratum"), "{said}");
        assert_eq!(said.contains("did you mean `hardened`"), unknown == "hardend", "{said}");
    }
    Ok(())
}

#[test]
#[ignore = "slow: the whole corpus, which `.ci/run` lints, too"]
fn without_a_checkout_the_built_in_corpus_is_linted() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let output = Command::new(env!("CARGO_BIN_EXE_threadspec")).arg("lint").current_dir(folder.path()).output()?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    Ok(())
}

#[test]
fn fixing_needs_a_folder_or_a_checkout() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let lint_here = |options: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_threadspec")).arg("lint").args(options).current_dir(folder.path()).output()
    };
    assert_eq!(lint_here(&["--fix"])?.status.code(), Some(2));

    let golden = folder.path().join("golden");
    fs::create_dir_all(golden.join("escape"))?;
    fs::write(golden.join("escape/topic.json"), format!(r#"{{"op":"escape","about":"a topic","cases":[{CASE}]}}"#))?;
    for name in ["clauses.json", "case.schema.json", "errata.md"] {
        let content = if name == "clauses.json" {
            r#"{"clauses":[{"id":"ESC-1","level":"must","source":"s","text":"t"}]}"#
        } else {
            ""
        };
        fs::write(golden.join(name), content)?;
    }
    lint_here(&["--fix"])?;
    assert!(golden.join("manifest.json").is_file());
    Ok(())
}

/// Every file of a folder, with its content.
fn content(folder: &Path) -> io::Result<Vec<(String, Vec<u8>)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(content(&path)?);
        } else {
            found.push((path.display().to_string(), fs::read(&path)?));
        }
    }
    found.sort();
    Ok(found)
}

#[test]
fn what_is_no_corpus_is_not_written_to() -> io::Result<()> {
    type Foreign = (&'static str, &'static str, &'static str);
    let foreign: [Foreign; 4] = [
        ("src/data.json", "{\"b\":1}", "src/data.json is no case file"),
        ("escape/package.json", "{\"name\":\"mine\"}", "escape/package.json is no case file"),
        ("escape/deep/file.json", "[]", "escape/deep/file.json is no case file"),
        ("manifest.json", "{\"name\":\"extension\"}", "manifest.json is no manifest of cases"),
    ];
    for (name, text, says) in foreign {
        let folder = corpus(CASE)?;
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder"))?;
        fs::write(&path, text)?;
        let before = content(folder.path())?;
        let (code, said) = threadspec(&["lint", "--fix"], folder.path())?;
        assert!(code == 4 && said.contains(says), "{name}: {code} {said}");
        assert_eq!(content(folder.path())?, before, "{name}");
        let fuzz = ["fuzz", "--cases", "1", "--save", &folder.path().to_string_lossy(), "--", "no-such-program"]
            .map(str::to_owned);
        let output = Command::new(env!("CARGO_BIN_EXE_threadspec")).args(fuzz).output()?;
        assert_eq!(output.status.code(), Some(4), "{name}: refused before the testee is started");
        assert_eq!(content(folder.path())?, before, "{name}");
    }
    let folder = tempfile::tempdir()?;
    fs::write(folder.path().join("package.json"), "{}")?;
    let (code, said) = threadspec(&["lint", "--fix"], folder.path())?;
    assert!(code == 4 && said.contains("no case file"), "{said}");
    assert_eq!(content(folder.path())?.len(), 1);
    Ok(())
}

#[test]
fn hazards_are_checked() -> io::Result<()> {
    let folder = corpus(CASE)?;
    fs::write(folder.path().join("hazards.json"), r#"{"languages":["Go"],"chosen":[],"hazards":[]}"#)?;
    let (code, said) = threadspec(&["lint", "--fix"], folder.path())?;
    assert!(code == 4 && said.contains("no hazard is about Go"), "{code} {said}");
    fs::write(folder.path().join("hazards.json"), "3")?;
    let (code, said) = threadspec(&["lint"], folder.path())?;
    assert!(code == 4 && said.contains("hazards.json: invalid type"), "{code} {said}");
    Ok(())
}

#[cfg(unix)]
#[test]
fn what_cannot_be_read_is_refused_at_once() -> io::Result<()> {
    let folder = corpus(CASE)?;
    std::os::unix::fs::symlink("..", folder.path().join("escape/again"))?;
    let (code, said) = threadspec(&["verify"], folder.path())?;
    assert!(code == 4 && said.contains("a link to a folder"), "{code} {said}");
    let folder = corpus(CASE)?;
    let made = Command::new("mkfifo").arg(folder.path().join("escape/pipe.json")).status()?;
    assert!(made.success());
    let (code, said) = threadspec(&["list"], folder.path())?;
    assert!(code == 4 && said.contains("a pipe, socket or device"), "{code} {said}");
    let (code, said) = threadspec(&["verify"], tempfile::tempdir()?.path())?;
    assert!(code == 4 && said.contains("no case in it"), "{code} {said}");
    let (code, said) = threadspec(&["verify"], Path::new("no-such-folder"))?;
    assert!(code == 2 && said.contains("no-such-folder"), "{code} {said}");
    Ok(())
}
