//! Sessions: kills, storage folders and features, put to testees that are a few lines of shell.

use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, io, thread};
use threadspec_golden::clause;

const HELLO: &str = r#"{"id":0,"ok":{"protocol":1,"implementation":{"name":"sh","version":"1","language":"sh"},"ops":["session"],"profiles":["universal"],"session":FEATURES}}"#;
const FEATURES: &str = r#"["message","kill"]"#;
/// A limit that only a hang reaches.
const FAR_AWAY: &str = "600";
const LONGEST: Duration = Duration::from_secs(900);

/// What a case needs, and its runs.
type SessionCase = (&'static str, &'static [&'static str], Value);

/// A run that is killed in its call, and one behind it.
fn killed() -> SessionCase {
    let call = json!({"id": "a", "name": "look", "args": {}});
    let runs = json!([
        {"message": "Go", "model": [{"content": "", "tool_calls": [call]}], "cut": {"during": "a", "how": "kill"}},
        {"message": "Again", "model": [{"content": "Bye."}]},
    ]);
    ("killed", &["kill"], runs)
}

fn plain(name: &'static str, needs: &'static [&'static str]) -> SessionCase {
    (name, needs, json!([{"message": "Go", "model": [{"content": "Bye."}]}]))
}

/// A folder with a corpus, a place for storage folders, and one for reports.
struct SessionPlace(tempfile::TempDir);

impl SessionPlace {
    fn of(cases: &[SessionCase]) -> io::Result<Self> {
        let folder = tempfile::tempdir()?;
        let case = |(name, needs, runs): &SessionCase| {
            let mut case = json!({
                "name": name, "why": "w", "clauses": [clause::SESSION_VALID], "profiles": ["universal"], "severity": "C",
                "input": {"tools": {"look": {"byId": {"a": "ra"}}}, "runs": runs}, "expect": {"holds": ["session-valid"]},
            });
            if !needs.is_empty() {
                case["needs"] = json!(needs);
            }
            case
        };
        let file = json!({"op": "session", "about": "sessions", "cases": cases.iter().map(case).collect::<Vec<_>>()});
        for name in ["corpus", "corpus/session", "tmp", "reports"] {
            fs::create_dir(folder.path().join(name))?;
        }
        fs::write(folder.path().join("corpus/session/t.json"), file.to_string())?;
        Ok(Self(folder))
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// `verify` against a script that answers each request, given its `id`, `storage` and `from`, as `reply` does. It can use a file `MARK`.
    fn command(&self, options: &[&str], before: &str, features: &str, reply: &str) -> Command {
        let hello = HELLO.replace("FEATURES", features);
        let script = format!(
            r#"{before}
            read -r hello; echo '{hello}'
            while read -r line; do
                id=${{line#*:}} id=${{id%%,*}} storage=${{line#*\"storage\":\"}} storage=${{storage%%\"*}} from=
                case $line in *'"from":'*) from=${{line##*\"from\":}} from=${{from%%\}}*}};; esac
                {reply}
            done"#
        );
        let mut command = Command::new(env!("CARGO_BIN_EXE_threadspec"));
        command.args(["verify", "--profile", "universal", "--corpus"]).arg(self.at("corpus"));
        command.arg("--report").arg(format!("json={}", self.at("reports/run.json").display()));
        command.args(options).args(["--", "sh", "-c", &script]);
        command.env("TMPDIR", self.at("tmp")).env("MARK", self.at("mark")).env_remove("CI");
        command
    }

    /// The exit code, what was said, and the report; no storage folder may be left.
    fn verify(&self, mut command: Command) -> io::Result<(i32, String, Value)> {
        let output = command.output()?;
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        let report = fs::read_to_string(self.at("reports/run.json")).unwrap_or_default();
        assert_eq!(fs::read_dir(self.at("tmp"))?.count(), 0, "a folder is left: {said}");
        Ok((output.status.code().unwrap_or(-1), said, serde_json::from_str(&report).unwrap_or_default()))
    }
}

fn run(requests: &Value, executed: &Value) -> String {
    json!({"requests": requests, "executed": executed}).to_string()
}

fn human(text: &str) -> Value {
    json!({"type": "human", "content": text})
}

/// The runs of the case that is killed, as an agent reports them that tells its model of the interruption.
fn good_runs() -> [String; 2] {
    let call = json!({"id": "a", "name": "look", "args": {}});
    let ai = json!({"type": "ai", "content": "", "tool_calls": [call]});
    let told = json!({"type": "tool", "content": "interrupted", "tool_call_id": "a"});
    let cut = run(&json!([[human("Go")]]), &json!([{"id": "a", "name": "look", "args": {}, "returned": false}]));
    [cut, run(&json!([[human("Go"), ai, told, human("Again")]]), &json!([]))]
}

/// What a script says when it is killed, before it goes on with `rest`.
fn cut(runs: &str, rest: &str) -> String {
    format!(r#"if [ -z "$from" ]; then printf '{{"id":%d,"cut":true,"runs":[{runs}]}}\n' "$id"; {rest} fi;"#)
}

fn ok(runs: &str) -> String {
    format!(r#"printf '{{"id":%d,"ok":{{"runs":[{runs}]}}}}\n' "$id""#)
}

#[test]
fn a_process_that_is_killed_goes_on_with_its_storage_alone() -> io::Result<()> {
    let place = SessionPlace::of(&[killed(), plain("plain", &[])])?;
    let [first, second] = good_runs();
    let only = run(&json!([[human("Go")]]), &json!([]));
    // It remembers by its storage alone which case it was killed in.
    let reply = format!(
        r#"case $line in
            *kill*) {} if [ -e "$storage/thread" ] && [ "$from" = 1 ]; then {}; else exit 9; fi;;
            *) {};;
        esac"#,
        cut(&first, r#": > "$storage/thread"; kill -9 $$;"#),
        ok(&second),
        ok(&only)
    );
    for options in [&["--timeout", FAR_AWAY][..], &["--timeout", FAR_AWAY, "--jobs", "2"]] {
        let (code, said, _) = place.verify(place.command(options, "", FEATURES, &reply))?;
        assert!(code == 0 && said.contains("pass 2"), "{code}: {said}");
        assert!(said.contains("sessions: judged 2 of 16 features (message, kill)\n"), "{said}");
    }
    Ok(())
}

#[test]
fn what_a_killed_process_does_otherwise_is_charged_to_its_case() -> io::Result<()> {
    let [first, second] = good_runs();
    let two = format!("{first},{second}");
    let die = "kill -9 $$;";
    for (timeout, reply, verdict, says) in [
        ("1", cut(&first, "sleep 1000;"), "timeout", "it sent `cut`, and did not end its process within 1s"),
        (FAR_AWAY, cut(&first, "echo INFO; sleep 1000;"), "garbage", "after `cut` it printed `INFO`"),
        (FAR_AWAY, "exit 7".to_owned(), "crash", "without a word of `cut` before its reply it ended (exit status: 7)"),
        (FAR_AWAY, cut(&first, die) + "id=47;" + &ok(&second), "garbage", "carries the id 47"),
        (FAR_AWAY, cut(&first, die) + &ok(&two), "garbage", "2 runs were reported, where 1 of 2 were left"),
        (FAR_AWAY, cut(&first, die) + &ok(""), "garbage", "0 runs were reported, where 1 of 2 were left"),
        (FAR_AWAY, cut("", die), "garbage", "it sends `cut` without a new run"),
        (FAR_AWAY, cut(&two, die), "garbage", "it sends `cut` in run 2, which has no kill"),
        (FAR_AWAY, "from=;".to_owned() + &cut(&first, die), "garbage", "it sends `cut` in run 2, which has no kill"),
        (
            FAR_AWAY,
            cut(&first, r#": > "$storage/../notes"; kill -9 $$;"#) + &ok(&second),
            "garbage",
            "it wrote outside its storage folder: beside it is `notes`",
        ),
    ] {
        let place = SessionPlace::of(&[killed()])?;
        let (code, said, report) = place.verify(place.command(&["--timeout", timeout], "", FEATURES, &reply))?;
        let case = &report["cases"][0];
        let note = case["note"].as_str().unwrap_or_default();
        assert!(code == 1 && case["verdict"] == verdict && note.contains(says), "{reply}: {code}: {said}");
        assert!(note.contains("by itself"), "{note}");
    }
    Ok(())
}

/// The other cases are put to a process that starts.
#[test]
fn a_start_after_a_kill_that_fails_costs_that_case_alone() -> io::Result<()> {
    let [first, _] = good_runs();
    let only = run(&json!([[human("Go")]]), &json!([]));
    let reply =
        format!("case $line in *kill*) {} ;; *) {} ;; esac", cut(&first, r#": > "$MARK"; kill -9 $$;"#), ok(&only));
    for (timeout, late, verdict, says) in [
        ("1", "sleep 1000", "crash", "started again after the kill, it did not answer `hello` within 1s"),
        (FAR_AWAY, "exit 3", "crash", "started again after the kill, before its hello it ended (exit status: 3)"),
        (FAR_AWAY, "read -r hello; echo 'ready'", "crash", "started again after the kill, it printed `ready`"),
        (FAR_AWAY, "read -r hello; echo '${HELLO/sh/zsh}'", "garbage", "after the kill it sends another hello"),
    ] {
        let late = late.replace("${HELLO/sh/zsh}", &HELLO.replace("FEATURES", FEATURES).replace("\"sh\"", "\"zsh\""));
        let before = format!(r#"if [ -e "$MARK" ]; then rm "$MARK"; {late}; fi"#);
        let place = SessionPlace::of(&[plain("one", &[]), killed(), plain("two", &[])])?;
        let (code, said, report) = place.verify(place.command(&["--timeout", timeout], &before, FEATURES, &reply))?;
        let verdicts: Vec<&Value> =
            report["cases"].as_array().into_iter().flatten().map(|case| &case["verdict"]).collect();
        assert!(code == 1 && verdicts == ["pass", verdict, "pass"] && said.contains(says), "{late}: {code}: {said}");
    }
    Ok(())
}

/// The second one, too, leaves nothing.
#[test]
fn ctrl_c_removes_the_storage_folder() -> io::Result<()> {
    for interrupts in [1, 2] {
        let place = SessionPlace::of(&[killed()])?;
        let reply = r#": > "$storage/thread"; echo "$storage" > "$MARK.new"; mv "$MARK.new" "$MARK"; sleep 1000"#;
        let mut command = place.command(&["--timeout", FAR_AWAY], "", FEATURES, reply);
        let mut runner = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        let begun = Instant::now();
        while !place.at("mark").exists() {
            assert!(begun.elapsed() < LONGEST && runner.try_wait()?.is_none(), "no session began");
            thread::sleep(Duration::from_millis(10));
        }
        let storage = fs::read_to_string(place.at("mark"))?;
        assert!(Path::new(storage.trim()).join("thread").exists(), "{storage}");
        for _ in 0..interrupts {
            Command::new("kill").arg("-INT").arg(runner.id().to_string()).status()?;
        }
        assert_eq!(runner.wait()?.code(), Some(130));
        assert_eq!(fs::read_dir(place.at("tmp"))?.count(), 0, "after {interrupts}");
    }
    Ok(())
}

#[test]
fn where_no_folder_can_be_made_is_said_with_what_mends_it() -> io::Result<()> {
    let place = SessionPlace::of(&[plain("nothing", &[])])?;
    let mut command = place.command(&[], "", r#"["message"]"#, &ok(&run(&json!([[human("Go")]]), &json!([]))));
    let absent = place.at("absent");
    command.env("TMPDIR", &absent);
    let (code, said, _) = place.verify(command)?;
    let why = format!("no storage folder can be made in {} (TMPDIR names another one)", absent.display());
    assert!(code == 4 && said.contains(&why) && !said.contains("--jobs"), "{code}: {said}");
    Ok(())
}

#[test]
fn a_feature_that_a_framework_has_not_is_unsupported_by_name_and_counted() -> io::Result<()> {
    let cases = [
        plain("nothing", &[]),
        plain("limit", &["limit"]),
        plain("kill", &["kill"]),
        plain("two", &["limit", "approval"]),
        plain("three", &["kill", "approval"]),
    ];
    let place = SessionPlace::of(&cases)?;
    let asked = place.at("asked");
    let reply = format!("echo >> '{}'; {}", asked.display(), ok(&run(&json!([[human("Go")]]), &json!([]))));
    let reports =
        ["junit", "markdown", "html"].map(|form| format!("{form}={}", place.at(&format!("reports/{form}")).display()));
    let mut options = vec!["--timeout", FAR_AWAY];
    for report in &reports {
        options.extend(["--report", report]);
    }
    let command = place.command(&options, "", r#"["message","limit","telepathy"]"#, &reply);
    let (code, said, report) = place.verify(command)?;
    let counted = "judged 2 of 16 features (message, limit); left out: kill 2 cases, approval 2 cases";
    let remark = "names \"telepathy\", which is no feature that is known";
    assert!(code == 0 && said.contains("pass 2  unsupported 3") && said.contains(counted), "{code}: {said}");
    assert!(said.contains(&format!("note: the `session` of its hello {remark}")), "{said}");
    assert_eq!(fs::read_to_string(&asked)?.lines().count(), 2);
    let notes: Vec<&str> =
        report["cases"].as_array().into_iter().flatten().filter_map(|case| case["note"].as_str()).collect();
    let named = [
        "the framework has no `kill`",
        "the framework has no `approval`",
        "the framework has no `kill` and no `approval`",
    ];
    assert_eq!(notes, named);
    assert_eq!(
        report["summary"]["sessions"],
        json!({"judged": ["message", "limit"], "leftOut": {"kill": 2, "approval": 2}})
    );
    assert_eq!(report["remarks"].as_array().map(Vec::len), Some(1));
    for form in ["junit", "markdown", "html"] {
        let text = fs::read_to_string(place.at(&format!("reports/{form}")))?;
        // Markdown escapes what could be markup.
        let text = text.replace('\\', "");
        assert!(text.contains(counted), "{form}: {text}");
    }
    Ok(())
}

#[test]
fn a_failed_session_is_told_as_one_conversation() -> io::Result<()> {
    let runs = json!([
        {"message": "Go", "model": [{"content": "", "tool_calls": [{"id": "a", "name": "look", "args": {}}]}, {"content": "Well."}]},
        {"message": "Again", "model": [{"content": "Bye."}]},
    ]);
    let place = SessionPlace::of(&[("forgets-an-answer", &[], runs)])?;
    let ai = json!({"type": "ai", "content": "", "tool_calls": [{"id": "a", "name": "look", "args": {}}]});
    let answer = json!({"type": "tool", "content": "ra", "tool_call_id": "a"});
    let executed = json!([{"id": "a", "name": "look", "args": {}}]);
    let first = run(&json!([[human("Go")], [human("Go"), ai, answer]]), &executed);
    let second = run(&json!([[human("Go"), ai, {"type": "ai", "content": "Well."}, human("Again")]]), &json!([]));
    let html = format!("html={}", place.at("reports/run.html").display());
    let options = ["--timeout", FAR_AWAY, "--strict", "--report", &html];
    let (code, said, _) = place.verify(place.command(&options, "", FEATURES, &ok(&format!("{first},{second}"))))?;
    let page = fs::read_to_string(place.at("reports/run.html"))?;
    // In both, the finding is under the message that it is about, though the request before has that, too.
    let (in_terminal, in_html) = (
        "2 ai: calls `a` look\n    ✗ SESSION-VALID: run 2",
        "2 ai: calls `a` look</p>\n        <p class=\"finding\">✗ ",
    );
    for (text, line) in [(&said, in_terminal), (&page, in_html)] {
        let second = text.split_once("run 2: the user says").map_or("", |(_, rest)| rest);
        assert!(code == 1 && second.contains(line), "{code}: {text}");
    }
    Ok(())
}
