//! `verify --through`: a gateway between client and provider, sound and in every way unfit.

use crate::is_thorough;
use crate::over_wire::AGENT;
use serde_json::Value;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output};
use std::{fs, io, thread};

/// A gateway on Python's own HTTP server, which passes on what comes. Its arguments say where it listens, where its provider is, and what it
/// does wrong.
const GATEWAY: &str = r#"
import http.client, json, os, sys, threading, time, urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PORT, UPSTREAM, WRONG = int(sys.argv[1]), urllib.parse.urlparse(sys.argv[2]), sys.argv[3]
kept = {}
assert not any(name.startswith("SECRET_") for name in os.environ), "the environment is not clean"

def ask(path, body, headers):
    upstream = http.client.HTTPConnection(UPSTREAM.hostname, UPSTREAM.port, timeout=60)
    headers = {name: value for name, value in headers.items() if name.lower() not in ("host", "content-length", "connection", "accept-encoding")}
    upstream.request("POST", path, body, headers)
    answer = upstream.getresponse()
    return answer.status, answer.getheaders(), answer.read()

class Gateway(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        is_run = b"Are you ready?" not in body
        if is_run and WRONG == "dies" and b'"two"' in body:
            print("out of memory", flush=True)
            os._exit(7)
        # The same messages in another run have another mark in their tools.
        messages = json.dumps(json.loads(body)["messages"]) if WRONG == "caches" else ""
        if is_run and messages in kept:
            return self.answer(*kept[messages])
        if is_run and WRONG == "loses":
            request = json.loads(body)
            request["messages"] = [message for message in request["messages"] if message["role"] != "tool" or message["content"] != "two"]
            body = json.dumps(request).encode()
        while True:
            status, headers, said = ask(self.path, body, self.headers)
            if not (is_run and WRONG == "loops"):
                break
        if is_run:
            if WRONG == "unasked":
                ask(self.path, body, self.headers)
            if WRONG == "late":
                threading.Thread(target=lambda: (time.sleep(0.02), ask(self.path, body, self.headers))).start()
            if WRONG == "elsewhere":
                said = json.dumps({"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [{"type": "text", "text": "Done"}],
                    "stop_reason": "end_turn", "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}).encode()
            if WRONG == "caches":
                kept[messages] = (status, headers, said)
        self.answer(status, headers, said)

    def answer(self, status, headers, body):
        self.send_response(status)
        for name, value in headers:
            if name.lower() not in ("content-length", "transfer-encoding", "connection", "date", "server"):
                self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

if WRONG == "mute":
    time.sleep(600)
if len(sys.argv) > 4:
    open(sys.argv[4], "w").write(str(os.getpid()))
ThreadingHTTPServer(("127.0.0.1", PORT), Gateway).serve_forever()
"#;

const FEW: [&str; 2] = ["--filter", "agent/turns/asked-again-after-*"];
const BOTH_CHAT: [&str; 4] = ["--provider", "openai-chat", "--client", "openai-chat"];

fn prepared(wrong: &str, further: &str, arguments: &[&str]) -> io::Result<(tempfile::TempDir, Command)> {
    let folder = tempfile::tempdir()?;
    fs::write(folder.path().join("gateway.py"), GATEWAY)?;
    fs::write(folder.path().join("agent.py"), AGENT)?;
    let mut command = Command::new(env!("CARGO_BIN_EXE_threadspec"));
    command.args(["verify", "--timeout", "600", "--report", "json=run.json"]);
    command.args(["--through", &format!("python3 gateway.py {{port}} '{{upstream}}' {wrong}{further}")]);
    command.args(["--through-name", "thin 1.2", "--ready-timeout", "600"]).args(arguments);
    command.current_dir(folder.path()).env_remove("CI").env("SECRET_TOKEN", "hidden");
    Ok((folder, command))
}

fn verify(wrong: &str, arguments: &[&str]) -> io::Result<(tempfile::TempDir, Output)> {
    let (folder, mut command) = prepared(wrong, "", &[&FEW[..], &BOTH_CHAT, arguments].concat())?;
    let output = command.output()?;
    Ok((folder, output))
}

/// The exit code, and all that was said.
fn said(output: &Output) -> (Option<i32>, String) {
    let text = [&*output.stdout, &*output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&text).into_owned())
}

/// The cases that did not pass, each with its verdict and what is broken.
fn failed(folder: &Path) -> io::Result<Vec<(String, String, Vec<String>)>> {
    let run: Value = serde_json::from_str(&fs::read_to_string(folder.join("run.json"))?)?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let cases = run["cases"].as_array().into_iter().flatten().filter(|case| case["verdict"] != "pass");
    let is_clause =
        |word: &&str| word.contains('-') && word.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'-');
    Ok(cases
        .map(|case| {
            let note = text(&case["note"]);
            let named = note.lines().filter_map(|line| line.split_once(": ").map(|(word, _)| word)).filter(is_clause);
            let broken = named.map(str::to_owned).collect();
            (text(&case["id"]), text(&case["verdict"]), broken)
        })
        .collect())
}

/// Fails unless something is broken, and nothing that a client or a provider could have done.
fn assert_gateway_alone(folder: &Path, expected: &str, text: &str) -> io::Result<()> {
    let failed = failed(folder)?;
    assert!(failed.iter().any(|(_, _, broken)| broken.iter().any(|clause| clause == expected)), "{expected}: {text}");
    for (id, verdict, broken) in failed {
        let is_own = |clause: &String| clause.starts_with("GATE-") || clause.starts_with("WIRE-");
        assert!(
            verdict == "fail" && !broken.is_empty() && broken.iter().all(is_own),
            "{id} {verdict} {broken:?}\n{text}"
        );
    }
    Ok(())
}

#[test]
fn a_plain_proxy_passes_in_every_api_and_mode() -> io::Result<()> {
    let apis = ["openai-chat", "openai-responses", "anthropic"];
    for api in apis.into_iter().take(if is_thorough() { 3 } else { 1 }) {
        for mode in ["", ":stream"] {
            let folder = tempfile::tempdir()?;
            let threadspec = env!("CARGO_BIN_EXE_threadspec");
            let through = format!("{threadspec} provider --proxy '{{upstream}}' --listen '127.0.0.1:{{port}}' --quiet");
            let output = Command::new(threadspec)
                .args(["verify", "--provider", &format!("{api}{mode}"), "--client", api, "--through", &through])
                .args([
                    "--timeout",
                    "600",
                    "--ready-timeout",
                    "600",
                    "--filter",
                    "agent/turns/*",
                    "--filter",
                    "agent/ids/*",
                ])
                .args(["--filter", "gateway/tools/*", "--report", "junit=junit.xml", "--report", "html=run.html"])
                .args(["--report", "markdown=run.md", "--report", "json=run.json"])
                .current_dir(folder.path())
                .env_remove("CI")
                .output()?;
            let (code, text) = said(&output);
            let terms = format!("universal over {api} → {api}{mode} through threadspec");
            assert!(code == Some(0) && text.contains(&terms), "{api}{mode}: {text}");
            for report in ["junit.xml", "run.html", "run.md"] {
                assert!(fs::read_to_string(folder.path().join(report))?.contains(&terms), "{report}");
            }
            let run: Value = serde_json::from_str(&fs::read_to_string(folder.path().join("run.json"))?)?;
            assert_eq!(
                (&run["options"]["through"]["client"], &run["options"]["through"]["name"]),
                (&api.into(), &"threadspec".into())
            );
        }
    }
    Ok(())
}

#[test]
fn a_gateway_that_never_gets_ready_is_not_judged() -> io::Result<()> {
    let (_folder, output) = verify("mute", &["--ready-timeout", "2"])?;
    let (code, text) = said(&output);
    assert!(code == Some(3) && text.contains("thin 1.2 was not ready within 2s"), "{text}");
    assert!(text.contains("its last answer: nobody took a connection"), "{text}");

    // One that runs already, and has no model to ask.
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let url = format!("http://{}", listener.local_addr()?);
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 1 << 12]);
            let _ = stream.write_all(
                b"HTTP/1.1 503 Unavailable\r\ncontent-length: 14\r\nconnection: close\r\n\r\nno deployments",
            );
        }
    });
    let output = Command::new(env!("CARGO_BIN_EXE_threadspec"))
        .args(["verify", "--through-url", &url, "--ready-timeout", "3"])
        .args(BOTH_CHAT)
        .env_remove("CI")
        .output()?;
    let (code, text) = said(&output);
    assert!(code == Some(3) && text.contains("its last answer: 503 no deployments"), "{text}");
    assert!(text.contains("what arrived at the provider: nothing"), "{text}");
    let output = Command::new(env!("CARGO_BIN_EXE_threadspec"))
        .args(["verify", "--through", "sh -c 'echo no port >&2; exit 3'"])
        .args(BOTH_CHAT)
        .env_remove("CI")
        .output()?;
    let (code, text) = said(&output);
    assert!(code == Some(3) && text.contains("3 before it was ready\nits last output:\n  no port"), "{text}");
    Ok(())
}

#[test]
fn a_gateway_that_dies_is_blamed_for_that_and_started_again() -> io::Result<()> {
    let (folder, output) = verify("dies", &[])?;
    let (code, text) = said(&output);
    let failed = failed(folder.path())?;
    let [(id, verdict, _)] = &failed[..] else { panic!("{failed:?}\n{text}") };
    assert_eq!((code, &**id, &**verdict), (Some(1), "agent/turns/asked-again-after-parallel-calls", "crash"));
    assert!(text.contains("the gateway ended with exit status: 7\n") && text.contains("out of memory"), "{text}");
    assert!(text.contains("by itself: run alone, it ends in the same way"), "{text}");
    let line = text.lines().find_map(|line| line.trim_start().strip_prefix("repeat: ")).expect("how to repeat it");
    for words in [
        "--client openai-chat",
        "--through \"python3 gateway.py {port} '{upstream}' dies\"",
        "--through-name 'thin 1.2'",
    ] {
        assert!(line.contains(words), "{line}");
    }
    Ok(())
}

#[test]
fn what_a_gateway_does_wrong_is_its_own() -> io::Result<()> {
    let faults = [
        ("caches", "GATE-INDEPENDENT"),
        ("unasked", "GATE-FORWARD"),
        ("elsewhere", "GATE-SAID"),
        ("loops", "GATE-FORWARD"),
        ("loses", "GATE-MESSAGES"),
    ];
    for (wrong, clause) in faults.into_iter().take(if is_thorough() { 5 } else { 1 }) {
        let (folder, output) = verify(wrong, &[])?;
        let (code, text) = said(&output);
        assert_eq!(code, Some(1), "{wrong}: {text}");
        assert_gateway_alone(folder.path(), clause, &format!("{wrong}: {text}"))?;
    }
    Ok(())
}

#[test]
fn a_known_failure_of_a_gateway_is_excused() -> io::Result<()> {
    let (_folder, output) =
        verify("loses", &["--update-known-failures", "known.toml", "--reason", "it loses results"])?;
    let (code, text) = said(&output);
    assert_eq!(code, Some(0), "{text}");
    Ok(())
}

#[test]
fn runs_at_once_are_told_apart_by_their_marks() -> io::Result<()> {
    let (folder, output) = verify("nothing", &["--at-once", "4"])?;
    let (code, text) = said(&output);
    assert!(code == Some(0), "{text}");
    let run: Value = serde_json::from_str(&fs::read_to_string(folder.path().join("run.json"))?)?;
    assert_eq!(
        run["options"]["through"]["options"].as_array().map(|words| words.contains(&"--at-once".into())),
        Some(true)
    );
    Ok(())
}

#[test]
fn an_agent_and_its_gateway_are_blamed_for_their_own_faults() -> io::Result<()> {
    let arguments = [&FEW[..], &BOTH_CHAT].concat();
    let with_agent = |gateway: &str, agent: &str| -> io::Result<(tempfile::TempDir, Option<i32>, String)> {
        let (folder, mut command) = prepared(gateway, "", &arguments)?;
        let output = command.args(["--", "python3", "agent.py", agent]).output()?;
        let (code, text) = said(&output);
        Ok((folder, code, text))
    };
    let (_folder, code, text) = with_agent("nothing", "nothing")?;
    assert!(
        code == Some(0)
            && text.contains("thin 1 (Python), profile universal over openai-chat → openai-chat through thin 1.2"),
        "{text}"
    );

    let (folder, code, text) = with_agent("nothing", "forgets")?;
    assert_eq!(code, Some(1), "{text}");
    for (id, _, broken) in failed(folder.path())? {
        assert!(
            !broken.is_empty() && broken.iter().all(|clause| !clause.starts_with("GATE-")),
            "{id} {broken:?}\n{text}"
        );
    }

    let (folder, code, text) = with_agent("loses", "nothing")?;
    assert_eq!(code, Some(1), "{text}");
    assert_gateway_alone(folder.path(), "GATE-MESSAGES", &text)
}

#[test]
fn what_cannot_be_meant_is_refused() -> io::Result<()> {
    for (arguments, why) in [
        (&["--provider", "anthropic", "--client", "anthropic"][..], "add `--through CMD`"),
        (&["--provider", "anthropic", "--through", "x"], "--client"),
        (&["--provider", "anthropic", "--client", "anthropic", "--through", "'x"], "a quotation that does not end"),
        (&["--provider", "anthropic", "--client", "anthropic", "--through", "x", "--jobs", "2"], "--at-once N"),
        (&["--provider", "anthropic", "--client", "anthropic", "--through-url", "https://x"], "http://"),
        (&["--provider", "anthropic", "--client", "anthropic", "--through", "x", "--through-header", "x"], "a colon"),
        (
            &["--provider", "anthropic", "--client", "anthropic", "--through", "x", "--op", "session", "--", "y"],
            "threads of several runs are judged without one",
        ),
    ] {
        let output =
            Command::new(env!("CARGO_BIN_EXE_threadspec")).arg("verify").args(arguments).env_remove("CI").output()?;
        let (code, text) = said(&output);
        assert!(code == Some(2) && text.contains(why), "{arguments:?}: {text}");
    }
    Ok(())
}

#[cfg(unix)]
#[test]
fn an_interrupt_leaves_nothing_behind() -> io::Result<()> {
    use std::process::Stdio;
    use std::time::Duration;
    let (folder, mut command) = prepared("nothing", " pid", &[&BOTH_CHAT[..], &["--pause", "600"]].concat())?;
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let pid = folder.path().join("pid");
    let gateway = loop {
        match fs::read_to_string(&pid) {
            Ok(text) if !text.is_empty() => break text,
            _ => thread::sleep(Duration::from_millis(20)),
        }
    };
    Command::new("kill").args(["-INT", &child.id().to_string()]).status()?;
    assert_eq!(child.wait()?.code(), Some(130));
    let is_there = Command::new("kill").args(["-0", &gateway]).stderr(Stdio::null()).status()?;
    assert!(!is_there.success(), "process {gateway} is left");
    Ok(())
}
