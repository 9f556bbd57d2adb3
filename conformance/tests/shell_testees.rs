//! Testees that misbehave in ways that take a shell: what they start goes on, speaks later, or stays behind.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, io, thread};

const HELLO: &str = r#"{"id":0,"ok":{"protocol":1,"implementation":{"name":"sh","version":"1","language":"sh"},"ops":["escape"],"profiles":["literal"]}}"#;
/// The texts of the corpus, which are also the names of its cases.
const TEXTS: [&str; 8] = ["one", "two", "three", "four", "five", "six", "seven", "eight"];

fn corpus() -> io::Result<tempfile::TempDir> {
    let folder = tempfile::tempdir()?;
    fs::create_dir(folder.path().join("escape"))?;
    let cases = TEXTS.map(|text| {
        format!(r#"{{"name":"{text}","why":"w","clauses":["ESC-3"],"input":{{"text":"{text}"}},"expect":{{"ok":"{text}"}}}}"#)
    });
    let file = format!(r#"{{"op":"escape","about":"texts","cases":[{}]}}"#, cases.join(","));
    fs::write(folder.path().join("escape/texts.json"), file)?;
    Ok(folder)
}

fn command(corpus: &Path, script: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_threadspec"));
    command
        .args(["verify", "--timeout", "600", "--corpus"])
        .arg(corpus)
        .args(["--", "sh", "-c", script])
        .env_remove("CI");
    command
}

/// Runs the small corpus against a script.
fn verify(script: &str) -> io::Result<(i32, String)> {
    let folder = corpus()?;
    let output = command(folder.path(), script).output()?;
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    Ok((output.status.code().unwrap_or(-1), said))
}

/// A testee that answers each text after a moment, and after the second one does something. If that sets `waits`, the fifth is not answered
/// before there is a file of this name.
fn after_the_second(deed: &str) -> String {
    format!(
        r#"read -r hello; echo '{HELLO}'
        while read -r line; do
            id=${{line#*:}} text=${{line##*:\"}}; text=${{text%%\"*}}
            if [ "$text" = five ] && [ "$waits" ]; then until [ -e "$waits" ]; do sleep 0.01; done; rm "$waits"; fi
            sleep 0.02; printf '{{"id":%d,"ok":"%s"}}\n' "${{id%%,*}}" "$text"
            if [ "$text" = two ]; then {deed}
            fi
        done"#
    )
}

/// Others have been answered in the meantime, and are not to blame.
#[test]
fn what_comes_a_while_after_a_reply_belongs_to_its_case() -> io::Result<()> {
    for (deed, verdict) in [
        ("waits=$(mktemp -u); (sleep 0.03; echo INFO; : > $waits) &", "GARBAGE"),
        ("waits=/none; parent=$$; (sleep 0.03; kill -9 $parent) &", "CRASH"),
    ] {
        let (code, said) = verify(&after_the_second(deed))?;
        assert!(code == 1 && said.contains("pass 7"), "{deed}: {said}");
        assert!(said.contains(&format!("{verdict} escape/texts/two")) && said.contains("by itself"), "{deed}: {said}");
    }
    Ok(())
}

/// Whether there is a process of this command.
#[cfg(target_os = "linux")]
fn is_running(command: &str) -> io::Result<bool> {
    let mut commands = fs::read_dir("/proc")?.flatten().filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    let expected = format!("{}\0", command.replace(' ', "\0"));
    Ok(commands.any(|command| command == expected.as_bytes()))
}

/// Also what a testee leaves that never said hello.
#[cfg(target_os = "linux")]
#[test]
fn what_is_left_behind_is_named_once() -> io::Result<()> {
    if Command::new("setsid").arg("true").status().is_err() {
        eprintln!("SKIPPED: processes in other sessions are not tested, since there is no `setsid`");
        return Ok(());
    }
    // No other test sleeps as long.
    let leave =
        "left=; for n in 1 2 3 4 5 6; do setsid sleep 61.25 > /dev/null 2>&1 < /dev/null & left=\"$left $!\"; done
        for one in $left; do until [ \"$(cat /proc/$one/comm)\" = sleep ]; do sleep 0.01; done; done";
    for (script, expected) in [(after_the_second(leave), 0), (format!("{leave}; exit 3"), 3)] {
        let (code, said) = verify(&script)?;
        let named = said.matches("left behind by the testee, and ended: 6 processes `sleep 61.25`").count();
        assert!(code == expected && named == 1, "{code}: {said}");
        assert!(!is_running("sleep 61.25")?);
    }
    Ok(())
}

/// The second one, too, leaves nothing.
#[cfg(target_os = "linux")]
#[test]
fn ctrl_c_ends_what_left_the_group() -> io::Result<()> {
    for interrupts in [1, 2] {
        let sleep = format!("6{interrupts}.75");
        let (folder, leave) = (corpus()?, format!("setsid sleep {sleep} > /dev/null 2>&1 < /dev/null & sleep 60"));
        let mut runner = command(folder.path(), &after_the_second(&leave)).stdout(Stdio::null()).spawn()?;
        let is_there = || is_running(&format!("sleep {sleep}"));
        let begun = Instant::now();
        while Command::new("setsid").arg("true").status().is_ok() && !is_there()? {
            assert!(begun.elapsed() < Duration::from_secs(900), "it was never started");
            thread::sleep(Duration::from_millis(10));
        }
        for _ in 0..interrupts {
            Command::new("kill").arg("-INT").arg(runner.id().to_string()).status()?;
        }
        assert_eq!(runner.wait()?.code(), Some(130));
        assert!(!is_there()?, "after {interrupts}");
    }
    Ok(())
}

#[test]
fn a_wrong_hello_is_quoted_and_never_printed_raw() -> io::Result<()> {
    for (from, to) in [
        (r#""escape"]"#, "\"escape\",\"\u{202e}\\u001b\"]"),
        (r#""protocol":1"#, "\"protocol\":\"\u{202e}\\u001b\""),
        (r#""profiles":"#, "\"concurrent\":\"\u{202e}\",\"profiles\":"),
        (r#""profiles":"#, "\"exactIntegers\":\"\u{202e}\",\"profiles\":"),
    ] {
        let (code, said) = verify(&format!("read -r hello; echo '{}'; cat > /dev/null", HELLO.replace(from, to)))?;
        let is_raw = said.chars().any(|c| c == '\u{202e}' || c.is_control() && c != '\n');
        assert!(code == 3 && said.contains("⟨U+202E⟩") && !is_raw, "{from}: {code}: {said:?}");
    }
    Ok(())
}

#[test]
fn a_missing_interpreter_is_told_from_a_missing_program() -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir()?;
    let script = folder.path().join("script");
    fs::write(&script, "#!/no/such/interpreter\n")?;
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755))?;
    for (path, says) in [(script, "its interpreter is not there"), (folder.path().join("other"), "command not found")] {
        let output = Command::new(env!("CARGO_BIN_EXE_threadspec")).args(["verify", "--"]).arg(path).output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(3) && said.contains(says), "{said}");
    }
    Ok(())
}
