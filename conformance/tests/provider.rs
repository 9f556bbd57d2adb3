//! `threadspec provider` as a process: clients over sockets, its ends, its exit codes, and what it writes.

use serde_json::{Value, json};
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

const KEY: &str = "sk-threadspec-abcdefghijklmnopqrstuvwx";
/// Only what hangs takes so long.
const NEVER: Duration = Duration::from_secs(600);
/// An agent with one tool, over Python's own HTTP client. Its first argument is what it does wrong.
const AGENT: &str = r#"
import http.client, json, os, sys, urllib.parse
url = urllib.parse.urlsplit(os.environ["OPENAI_BASE_URL"])
key = os.environ["OPENAI_API_KEY"]
assert [sys.argv[2], sys.argv[3]] == [f"http://{url.netloc}", key], sys.argv
messages = [{"role": "user", "content": "Go"}]
tools = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]
while True:
    connection = http.client.HTTPConnection(url.netloc)
    body = json.dumps({"model": "gpt-4.1", "messages": messages, "tools": tools})
    connection.request("POST", url.path + "/chat/completions", body, {"authorization": "Bearer " + key, "content-type": "application/json"})
    answer = connection.getresponse()
    said = json.load(answer)
    if answer.status != 200:
        sys.exit(7)
    message = said["choices"][0]["message"]
    messages.append(message)
    if not message.get("tool_calls"):
        break
    if sys.argv[1] != "drops":
        messages += [{"role": "tool", "tool_call_id": call["id"], "content": "3"} for call in message["tool_calls"]]
"#;

fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_threadspec"));
    command.env("NO_COLOR", "1").env_remove("CI");
    command
}

fn call_and_text() -> Value {
    json!({"model": [{"content": "I look.", "tool_calls": [{"id": "c1", "name": "look", "args": {"n": 1}}]}, {"content": "Done"}]})
}

/// A provider that runs, with a folder of its own.
struct Running {
    child: Child,
    url: String,
    folder: tempfile::TempDir,
}

impl Running {
    fn start(script: Option<&Value>, options: &[&str], variables: &[(&str, &str)]) -> io::Result<Self> {
        let folder = tempfile::tempdir()?;
        let mut command = program();
        command.arg("provider").args(["--ready-file", "ready.json", "--end-with-stdin"]).args(options);
        if let Some(script) = script {
            fs::write(folder.path().join("script.json"), script.to_string())?;
            command.args(["--script", "script.json"]);
        }
        command.envs(variables.iter().copied()).current_dir(folder.path());
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = piped.spawn()?;
        let begun = Instant::now();
        let ready = loop {
            // It is written as a whole.
            if let Ok(text) = fs::read_to_string(folder.path().join("ready.json"))
                && !text.is_empty()
            {
                break serde_json::from_str::<Value>(&text)?;
            }
            if let Some(status) = child.try_wait()? {
                let mut said = String::new();
                child.stderr.take().expect("a pipe").read_to_string(&mut said)?;
                return Err(io::Error::other(format!("{status}: {said}")));
            }
            assert!(begun.elapsed() < NEVER, "it does not start");
            thread::sleep(Duration::from_millis(5));
        };
        assert_eq!(ready["pid"], child.id());
        Ok(Self { child, url: ready["url"].as_str().expect("a URL").to_owned(), folder })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Asks for an answer of chat completions.
    fn chat(&self, key: &str, messages: &[Value]) -> io::Result<(u16, Value)> {
        let tools = json!([{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]);
        let body = json!({"model": "gpt-4.1", "messages": messages, "tools": tools}).to_string();
        let host = self.url.trim_start_matches("http://");
        let mut socket = TcpStream::connect(host)?;
        let head = format!(
            "POST /v1/chat/completions HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {key}\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        socket.write_all((head + &body).as_bytes())?;
        let mut answer = String::new();
        socket.read_to_string(&mut answer)?;
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        Ok((status, serde_json::from_str(body)?))
    }

    /// One run of an agent; `answers` is whether it sends back what its tool gave. The last status.
    fn run_agent(&self, key: &str, answers: bool) -> io::Result<u16> {
        let mut messages = vec![json!({"role": "user", "content": "Go"})];
        let (status, said) = self.chat(key, &messages)?;
        if status != 200 {
            return Ok(status);
        }
        messages.push(said["choices"][0]["message"].clone());
        if answers {
            messages.push(json!({"role": "tool", "tool_call_id": "c1", "content": "3"}));
        }
        Ok(self.chat(key, &messages)?.0)
    }

    /// Ends it as a program does that starts it.
    fn end(mut self) -> io::Result<EndedProcess> {
        drop(self.child.stdin.take());
        EndedProcess::of(self.child.wait_with_output()?, Some(self.folder))
    }

    #[cfg(unix)]
    fn end_by(self, signal: &str) -> io::Result<EndedProcess> {
        let status = Command::new("kill").arg(signal).arg(self.child.id().to_string()).status()?;
        assert!(status.success());
        EndedProcess::of(self.child.wait_with_output()?, Some(self.folder))
    }
}

struct EndedProcess {
    code: i32,
    said: String,
    /// It lives as long as somebody looks at what is in it.
    folder: Option<tempfile::TempDir>,
}

impl EndedProcess {
    #[allow(clippy::unnecessary_wraps, reason = "it stands at the end of functions that fail")]
    fn of(output: Output, folder: Option<tempfile::TempDir>) -> io::Result<Self> {
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        Ok(Self { code: output.status.code().unwrap_or(-1), said, folder })
    }

    fn read(&self, name: &str) -> io::Result<String> {
        fs::read_to_string(self.folder.as_ref().expect("a folder").path().join(name))
    }
}

/// Runs it to its end in a folder with a script.
fn run(script: &str, arguments: &[&str]) -> io::Result<EndedProcess> {
    let folder = tempfile::tempdir()?;
    fs::write(folder.path().join("script.json"), script)?;
    let output = program().arg("provider").args(arguments).current_dir(folder.path()).stdin(Stdio::null()).output()?;
    EndedProcess::of(output, Some(folder))
}

#[test]
fn a_run_is_judged_recorded_and_judged_again() -> io::Result<()> {
    for (answers, status, code) in [(true, 200, 0), (false, 400, 1)] {
        let options = [
            "--key",
            KEY,
            "--transcript",
            "said.jsonl",
            "--report",
            "json=report.json",
            "--report",
            "junit=report.xml",
        ];
        let provider = Running::start(Some(&call_and_text()), &options, &[])?;
        assert_eq!(provider.run_agent("sk-another-key-0123456789", true)?, 401);
        assert_eq!(provider.run_agent(KEY, answers)?, status);
        let ended = provider.end()?;
        assert_eq!(ended.code, code, "{}", ended.said);
        assert!(ended.said.contains("conversation 1: openai-chat, gpt-4.1, 2 requests"), "{}", ended.said);
        let counted = ended.said.lines().filter(|line| line.starts_with("  FAIL ")).collect::<Vec<_>>();
        assert_eq!(counted.len(), usize::from(!answers), "{}", ended.said);
        assert!(
            answers || counted[0].starts_with("  FAIL AGENT-ANSWERED: ") && counted[0].contains("OAI-CHAT-ANSWERED")
        );
        let report: Value = serde_json::from_str(&ended.read("report.json")?)?;
        assert!(report.to_string().contains("provider/1"));
        // No key anywhere, neither the right one nor another.
        for name in ["report.json", "report.xml", "said.jsonl"] {
            let text = ended.read(name)?;
            assert!(!text.contains(KEY) && !text.contains("sk-another"), "{name}");
        }
        assert!(!ended.said.contains(KEY) && !ended.said.contains("sk-another"), "{}", ended.said);
        // The recording says the same.
        let path = ended.folder.as_ref().expect("a folder").path().join("said.jsonl");
        let again = EndedProcess::of(program().arg("judge").arg(path).output()?, None)?;
        assert_eq!(again.code, code, "{}", again.said);
        assert_eq!(again.said.lines().filter(|line| line.starts_with("  FAIL ")).collect::<Vec<_>>(), counted);
    }
    Ok(())
}

#[test]
fn a_redacted_transcript_has_no_text_of_the_script() -> io::Result<()> {
    let options = ["--transcript", "said.jsonl", "--redact", "--quiet"];
    let provider = Running::start(Some(&call_and_text()), &options, &[])?;
    provider.run_agent(KEY, false)?;
    let ended = provider.end()?;
    let text = ended.read("said.jsonl")?;
    assert!(!text.contains("I look.") && !text.contains(KEY) && text.contains("sha256:"), "{text}");
    let path = ended.folder.as_ref().expect("a folder").path().join("said.jsonl");
    let again = EndedProcess::of(program().arg("judge").arg(path).output()?, None)?;
    assert!(again.code == 1 && again.said.contains("FAIL AGENT-ANSWERED"), "{}", again.said);
    Ok(())
}

/// Ctrl-C is no interruption here, and nothing that was judged is not conformant.
#[cfg(unix)]
#[test]
fn signals_bring_the_verdict() -> io::Result<()> {
    for signal in ["-TERM", "-INT"] {
        let provider = Running::start(Some(&call_and_text()), &[], &[])?;
        provider.run_agent("any key", true)?;
        let ended = provider.end_by(signal)?;
        assert_eq!(ended.code, 0, "{signal}: {}", ended.said);
        assert!(ended.said.contains("\nconformant: 2 requests in 1 conversation. Exit code 0.\n"), "{}", ended.said);
        let ended = Running::start(Some(&call_and_text()), &[], &[])?.end_by(signal)?;
        assert!(ended.code == 1 && ended.said.contains("no request for an answer came"), "{signal}: {}", ended.said);
    }
    Ok(())
}

#[test]
fn a_script_may_expect_more_than_came() -> io::Result<()> {
    let script = json!({"otherwise": {"content": "Hi"}, "expect": {"conversations": {"atLeast": 2}}});
    for (runs, code) in [(1, 1), (2, 0)] {
        let provider = Running::start(Some(&script), &[], &[])?;
        for run in 0..runs {
            assert_eq!(provider.chat(KEY, &[json!({"role": "user", "content": run.to_string()})])?.0, 200);
        }
        let ended = provider.end()?;
        assert_eq!(ended.code, code, "{}", ended.said);
        let says = ended.said.contains("1 conversations, and the script expects at least 2");
        assert_eq!(says, code == 1, "{}", ended.said);
    }
    Ok(())
}

#[test]
fn a_command_finds_its_model_and_is_judged() -> io::Result<()> {
    if Command::new("python3").arg("--version").output().is_err() {
        eprintln!("SKIPPED: the agent in Python is not tested, since there is no python3");
        return Ok(());
    }
    let script = call_and_text().to_string();
    for (fault, code) in [("none", 0), ("drops", 1)] {
        let ended = run(
            &script,
            &["--script", "script.json", "--key", KEY, "--", "python3", "-c", AGENT, fault, "{url}", "{key}"],
        )?;
        assert_eq!(ended.code, code, "{}", ended.said);
        assert_eq!(ended.said.contains("the command ended with exit status: 7"), code == 1, "{}", ended.said);
        assert_eq!(ended.said.contains("FAIL AGENT-ANSWERED"), code == 1, "{}", ended.said);
        assert!(!ended.said.contains(KEY), "{}", ended.said);
    }
    Ok(())
}

#[test]
fn the_script_of_the_help_is_one_to_begin_with() -> io::Result<()> {
    if Command::new("python3").arg("--version").output().is_err() {
        eprintln!("SKIPPED: the agent in Python is not tested, since there is no python3");
        return Ok(());
    }
    let help = program().args(["provider", "--help"]).output()?;
    let help = String::from_utf8_lossy(&help.stdout).into_owned();
    let script = help
        .lines()
        .map(|line| line.trim().trim_matches('`'))
        .find(|line| line.starts_with("{\"rules\""))
        .expect("a script");
    for (fault, code) in [("none", 0), ("drops", 1)] {
        let arguments =
            ["--script", "script.json", "--key", KEY, "--", "python3", "-c", AGENT, fault, "{url}", "{key}"];
        let ended = run(script, &arguments)?;
        assert_eq!(ended.code, code, "{}", ended.said);
        assert_eq!(ended.said.contains("3 requests, 3 answered"), code == 0, "{}", ended.said);
    }
    Ok(())
}

#[test]
fn exit_codes_say_whose_fault_it_is() -> io::Result<()> {
    let taken = TcpListener::bind("127.0.0.1:0")?;
    let address = taken.local_addr()?.to_string();
    let script = call_and_text().to_string();
    for (script, arguments, code, says) in [
        (&*script, &["--script", "script.json", "--listen", "0.0.0.0:0"][..], 2, "--key"),
        (&script, &[], 2, "--script"),
        (&script, &["--script", "script.json", "--proxy", "http://127.0.0.1:1"], 2, "--proxy"),
        (&script, &["--script", "script.json", "--enforce"], 2, "--enforce"),
        (&script, &["--script", "script.json", "--redact"], 2, "--transcript"),
        (&script, &["--script", "script.json", "--transcript", "script.json"], 2, "script.json"),
        (&script, &["--proxy", "ftp://127.0.0.1"], 2, "http:// or https://"),
        (&script, &["--proxy", "http://127.0.0.1:1", "--upstream-key-env", "NO_SUCH_KEY"], 2, "NO_SUCH_KEY"),
        (&script, &["--script", "script.json", "--listen", &address], 3, "cannot listen on"),
        (&script, &["--script", "script.json", "--", "./no-such-program"], 3, "no-such-program"),
        ("{", &["--script", "script.json"], 4, "not JSON"),
        (r#"{"rules": [{"turn": {}, "time": 1}]}"#, &["--script", "script.json"], 4, "rules[0]: `time` is no member"),
    ] {
        let ended = run(script, arguments)?;
        assert!(ended.code == code && ended.said.contains(says), "{arguments:?}: {}: {}", ended.code, ended.said);
    }
    Ok(())
}

/// What passes is judged on both sides, and the key of the upstream is seen nowhere.
#[test]
fn a_proxy_stands_before_another_provider() -> io::Result<()> {
    for (answers, enforce, status) in [(true, false, 200), (false, false, 400), (false, true, 400)] {
        let upstream = Running::start(Some(&call_and_text()), &["--key", KEY], &[])?;
        let mut options =
            vec!["--proxy", &*upstream.url, "--upstream-key-env", "UPSTREAM", "--transcript", "said.jsonl"];
        options.extend(enforce.then_some("--enforce"));
        let proxy = Running::start(None, &options, &[("UPSTREAM", KEY)])?;
        assert_eq!(proxy.run_agent("sk-own-0123456789", answers)?, status);
        let path: &Path = &proxy.path("said.jsonl");
        assert!(path.exists());
        let (proxied, played) = (proxy.end()?, upstream.end()?);
        let code = i32::from(!answers);
        assert_eq!(proxied.code, code, "{}", proxied.said);
        assert_eq!(proxied.said.contains("FAIL AGENT-ANSWERED"), !answers, "{}", proxied.said);
        // What is enforced never comes to the upstream.
        assert_eq!(played.code, i32::from(!answers && !enforce), "{}", played.said);
        assert!(played.said.contains(if enforce { "1 request," } else { "2 requests," }), "{}", played.said);
        let recorded = proxied.read("said.jsonl")?;
        for key in [KEY, "sk-own-0123456789"] {
            assert!(!proxied.said.contains(key) && !recorded.contains(key));
        }
    }
    Ok(())
}

/// The agent that the guide shows: it keeps the order of the runs, and repairs nothing.
#[test]
fn the_agent_of_the_guide_is_judged() -> io::Result<()> {
    if Command::new("python3").arg("--version").output().is_err() {
        eprintln!("SKIPPED: the agent in Python is not tested, since there is no python3");
        return Ok(());
    }
    let agent = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/provider/agent.py");
    for (filter, code) in [("agent/order/*", 0), ("agent/answered/*", 0), ("agent/history/last-call-unanswered", 1)] {
        let mut command = program();
        command.args(["verify", "--provider", "openai-chat", "--filter", filter, "--", "python3"]).arg(&agent);
        let ended = EndedProcess::of(command.stdin(Stdio::null()).output()?, None)?;
        assert_eq!(ended.code, code, "{filter}: {}", ended.said);
        assert!(code == 0 || ended.said.contains("AGENT-HISTORY: request 1"), "{}", ended.said);
    }
    Ok(())
}
