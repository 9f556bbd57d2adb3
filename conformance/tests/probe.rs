//! `threadspec probe` as a process: servers over sockets that refuse, redirect, hang and repeat what they heard.

use serde_json::{Value, json};
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::{fs, thread};

const KEY: &str = "sk-probe-secret-0123456789";
const ANSWER: &str = r#"{"id": "1", "model": "m", "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Four."}}]}"#;

/// A server that does the same to each request: it is told its number, and writes what it likes.
struct Endpoint {
    url: String,
    heard: Arc<Mutex<Vec<String>>>,
    count: Arc<AtomicUsize>,
}

impl Endpoint {
    fn start(act: impl Fn(usize, &str, &mut TcpStream) -> io::Result<()> + Send + Sync + 'static) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let url = format!("http://{}/v1", listener.local_addr()?);
        let (heard, count) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicUsize::new(0)));
        let (own_heard, own_count, act) = (Arc::clone(&heard), Arc::clone(&count), Arc::new(act));
        // It ends with the tests.
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (heard, count, act) = (Arc::clone(&own_heard), Arc::clone(&own_count), Arc::clone(&act));
                thread::spawn(move || {
                    let mut stream = stream;
                    if let Some(request) = whole_request(&mut stream) {
                        heard.lock().expect("no panic").push(request.clone());
                        let number = count.fetch_add(1, Ordering::SeqCst);
                        let _ = act(number, &request, &mut stream);
                    }
                });
            }
        });
        Ok(Self { url, heard, count })
    }

    fn count(&self) -> usize {
        self.count.load(Ordering::SeqCst)
    }
}

fn whole_request(stream: &mut TcpStream) -> Option<String> {
    let (mut bytes, mut buffer) = (Vec::new(), [0; 1 << 12]);
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok())?;
            if body.len() >= length {
                return Some(text);
            }
        }
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => return None,
            Ok(count) => bytes.extend_from_slice(&buffer[..count]),
        }
    }
}

fn say(stream: &mut TcpStream, status: &str, headers: &str, body: &str) -> io::Result<()> {
    write!(
        stream,
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\nconnection: close\r\n{headers}content-length: {}\r\n\r\n{body}",
        body.len()
    )
}

fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_threadspec"));
    command.args(["probe", "--api", "openai-chat", "--model", "m", "--pause", "0"]).args(arguments);
    command.env("NO_COLOR", "1").env_remove("CI").env("PROBE_KEY", KEY).stdin(Stdio::null());
    command
}

fn run(arguments: &[&str]) -> io::Result<(i32, String)> {
    let Output { status, stdout, stderr } = program(arguments).output()?;
    let said = [stdout, stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    assert!(!said.contains(KEY), "{said}");
    Ok((status.code().unwrap_or(-1), said))
}

#[test]
fn a_dry_run_sends_nothing() -> io::Result<()> {
    let server = Endpoint::start(|_, _, stream| say(stream, "200 OK", "", ANSWER))?;
    let (code, said) = run(&[&server.url, "--key-env", "PROBE_KEY", "--dry-run", "--price", "2,8", "--show"])?;
    assert_eq!((code, server.count()), (0, 0), "{said}");
    for part in [
        "requests for",
        "tokens in and",
        "for a million tokens",
        "\"store\": false",
        "OAI-CHAT-ORPHAN, breaks it",
        "nothing was sent",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    // Nor is a key needed for it.
    let (code, said) = run(&["https://api.example.invalid", "--key-env", "NO_SUCH_VARIABLE", "--dry-run"])?;
    assert!(code == 0 && said.contains("requests for") && said.contains("nothing was sent"), "{said}");
    // Another address than a loopback one: the same figures, and no request without --yes.
    let (code, said) = run(&["https://api.example.invalid", "--key-env", "PROBE_KEY"])?;
    assert!(code == 2 && said.contains("requests for") && said.contains("--yes"), "{said}");
    Ok(())
}

/// Against the addresses of the real APIs: the kernel is asked what it opens.
#[cfg(target_os = "linux")]
#[test]
fn a_dry_run_against_a_real_api_opens_no_connection() -> io::Result<()> {
    let traces =
        Command::new("strace").args(["-o", "/dev/null", "true"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !traces.is_ok_and(|status| status.success()) {
        eprintln!("skipped: there is no strace that may look at processes");
        return Ok(());
    }
    for (api, url) in [("openai-chat", "https://api.openai.com"), ("anthropic", "https://api.anthropic.com")] {
        let folder = tempfile::tempdir()?;
        let trace = folder.path().join("trace");
        let mut command = Command::new("strace");
        command.args(["-f", "-qq", "-e", "trace=execve,connect,sendto,sendmsg,sendmmsg", "-o"]).arg(&trace);
        command.arg(env!("CARGO_BIN_EXE_threadspec")).args(["probe", "--api", api, "--model", "m", url]);
        command.args(["--key-env", "PROBE_KEY", "--dry-run", "--price", "2,8"]).env("PROBE_KEY", KEY);
        let output = command.stdin(Stdio::null()).output()?;
        let (said, trace) = (String::from_utf8_lossy(&output.stdout).into_owned(), fs::read_to_string(trace)?);
        assert!(output.status.success() && said.contains("nothing was sent"), "{said}");
        let calls: Vec<&str> = trace.lines().filter(|line| !line.contains("execve(")).collect();
        assert!(trace.contains("execve(") && calls.is_empty(), "{calls:#?}");
    }
    Ok(())
}

#[test]
fn wrong_usage_is_told_and_sends_nothing() -> io::Result<()> {
    let server = Endpoint::start(|_, _, stream| say(stream, "200 OK", "", ANSWER))?;
    for (arguments, part) in [
        (vec!["http://api.example.invalid", "--key-env", "PROBE_KEY", "--yes"], "plain http would show the key"),
        (vec![&*server.url, "--key-env", "NO_SUCH_VARIABLE"], "the environment has no NO_SUCH_VARIABLE"),
        (vec![&server.url, "--rule", "OAI-NOTHING"], "no rule of openai-chat"),
        (vec![&server.url, "--allow", "OAI-CHAT-ORPHAN=shy"], "there is no verdict `shy`"),
        (vec![&server.url, "--header", "nothing"], "--header"),
        (vec![&server.url, "--report", "html=x.html"], "probe writes json, markdown and junit"),
        (vec!["ftp://127.0.0.1"], "http://"),
    ] {
        let (code, said) = run(&arguments)?;
        assert!(code == 2 && said.contains(part), "{arguments:?}: {code}: {said}");
    }
    assert_eq!(server.count(), 0);
    Ok(())
}

#[test]
fn a_key_goes_to_its_host_alone_and_appears_nowhere() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let server = Endpoint::start(|number, _, stream| {
        // It repeats the key in a header, in words, and in JSON's other spelling.
        let spelled = KEY.replace('s', "\\u0073");
        let id = format!("x-request-id: {KEY}\r\n");
        if number % 2 == 1 {
            let body = format!(r#"{{"error": {{"message": "Bad key {KEY}, {spelled}", "code": "{KEY}"}}}}"#);
            say(stream, "400 Bad Request", &id, &body)
        } else {
            say(stream, "200 OK", &id, &ANSWER.replace("Four.", KEY))
        }
    })?;
    let path = |name: &str| folder.path().join(name).display().to_string();
    let reports = ["json", "markdown", "junit"].map(|format| format!("{format}={}", path(format)));
    let mut arguments =
        vec![&*server.url, "--key-env", "PROBE_KEY", "--rule", "OAI-CHAT-OR*", "--rule", "OAI-CHAT-ONE*", "--propose"];
    for report in &reports {
        arguments.extend(["--report", report]);
    }
    let (code, said) = run(&arguments)?;
    assert!(code == 0 && said.contains("[key]") && said.contains("+++ b/golden/provider-rules.json"), "{code}: {said}");
    let heard = server.heard.lock().expect("no panic").join("\n");
    assert_eq!(heard.matches(&format!("authorization: Bearer {KEY}\r\n")).count(), 4, "{heard}");
    for format in ["json", "markdown", "junit"] {
        let text = fs::read_to_string(path(format))?;
        assert!(!text.contains(KEY) && text.contains("OAI-CHAT-ORPHAN"), "{text}");
    }
    let report: Value = serde_json::from_str(&fs::read_to_string(path("json"))?)?;
    assert_eq!((&report["host"], &report["requests"]), (&json!(server.url[7..].trim_end_matches("/v1")), &json!(4)));
    // The same server again: nothing has changed, and what is known of it is excused.
    let (code, said) = run(&[
        &server.url,
        "--key-env",
        "PROBE_KEY",
        "--rule",
        "OAI-CHAT-OR*",
        "--rule",
        "OAI-CHAT-ONE*",
        "--against",
        &path("json"),
    ])?;
    assert!(code == 0 && said.contains("nothing has changed"), "{said}");
    Ok(())
}

#[test]
fn redirects_are_not_followed() -> io::Result<()> {
    let other = Endpoint::start(|_, _, stream| say(stream, "200 OK", "", ANSWER))?;
    let place = format!("location: {}/chat/completions?key={KEY}\r\n", other.url);
    let server = Endpoint::start(move |_, _, stream| say(stream, "307 Temporary Redirect", &place, ""))?;
    let (code, said) = run(&[&server.url, "--key-env", "PROBE_KEY"])?;
    assert_eq!((code, server.count(), other.count()), (3, 2, 0), "{said}");
    assert!(said.contains("it redirects to") && said.contains("nothing was learnt"), "{said}");
    Ok(())
}

#[test]
fn a_server_that_hangs_or_closes_does_not_hold_it() -> io::Result<()> {
    let hangs = Endpoint::start(|_, _, stream| stream.read(&mut [0; 1]).map(drop))?;
    let (code, said) = run(&[&hangs.url, "--timeout", "0.2"])?;
    assert!(code == 3 && hangs.count() == 2 && said.contains("no whole answer within 0.2 s"), "{said}");
    let closes =
        Endpoint::start(|number, _, stream| if number % 2 == 0 { say(stream, "200 OK", "", ANSWER) } else { Ok(()) })?;
    let (code, said) = run(&[&closes.url, "--rule", "OAI-CHAT-ORPHAN"])?;
    assert!(code == 1 && said.contains("crashes    OAI-CHAT-ORPHAN"), "{said}");
    let fails = Endpoint::start(|_, _, stream| say(stream, "500 Oh", "", "{}"))?;
    let (code, said) = run(&[&fails.url])?;
    assert!(code == 3 && fails.count() == 2, "{said}");
    Ok(())
}

#[test]
fn after_429_the_same_request_comes_again() -> io::Result<()> {
    let server = Endpoint::start(|number, _, stream| match number {
        0 => say(stream, "429 Slow", "retry-after-ms: 1\r\n", "{}"),
        _ => say(stream, "200 OK", "", ANSWER),
    })?;
    let (code, said) = run(&[&server.url, "--rule", "OAI-CHAT-ORPHAN", "--allow", "OAI-CHAT-ORPHAN=silent"])?;
    assert_eq!((code, server.count()), (0, 3), "{said}");
    let heard = server.heard.lock().expect("no panic");
    assert_eq!(heard[0], heard[1]);
    assert_ne!(heard[1], heard[2]);
    Ok(())
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_it_with_the_table_so_far() -> io::Result<()> {
    let server = Endpoint::start(|number, _, stream| {
        if number < 2 { say(stream, "200 OK", "", ANSWER) } else { stream.read(&mut [0; 1]).map(drop) }
    })?;
    let mut child: Child = program(&[&server.url]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    while server.count() < 3 {
        assert_eq!(child.try_wait()?, None);
        thread::yield_now();
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status()?.success());
    let mut said = String::new();
    child.stdout.take().expect("a pipe").read_to_string(&mut said)?;
    assert_eq!(child.wait()?.code(), Some(130), "{said}");
    assert!(said.contains("silent     OAI-CHAT-ANSWERED") && said.contains("ended early: interrupted"), "{said}");
    Ok(())
}

/// The project's own provider keeps its own rules, over a socket, too.
#[test]
fn our_own_provider_agrees_in_our_words() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let script = folder.path().join("script.json");
    fs::write(&script, r#"{"rules": [], "otherwise": {"content": "Done"}}"#)?;
    let report = folder.path().join("report.json");
    let mut command = Command::new(env!("CARGO_BIN_EXE_threadspec"));
    command.args(["provider", "--quiet", "--script"]).arg(&script).args([
        "--",
        env!("CARGO_BIN_EXE_threadspec"),
        "probe",
    ]);
    command.args([
        "--api",
        "anthropic",
        "--model",
        "claude-opus-5",
        "--key-env",
        "ANTHROPIC_API_KEY",
        "--pause",
        "0",
        "{url}",
        "--report",
    ]);
    let output =
        command.arg(format!("json={}", report.display())).env("NO_COLOR", "1").stdin(Stdio::null()).output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("every rule that was asked agrees"), "{said}");
    assert!(said.contains("ANT-ORPHAN") && !said.contains("other words"), "{said}");
    let report: Value = serde_json::from_str(&fs::read_to_string(report)?)?;
    assert!(report["rules"].as_array().is_some_and(|rules| rules.len() > 18), "{said}");
    Ok(())
}
