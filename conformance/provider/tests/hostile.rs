//! Clients that mean harm cost themselves only: runs go on beside them, and end as they should.

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::iter;
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;
use threadspec::oracle::Api;
use threadspec_judge::protocol::Reply;
use threadspec_provider::{Engine, EngineOptions, RunPlan, Server, ServerLimits, StrayReason, compose};

/// So far away that only a hang reaches it.
const NEVER: Duration = Duration::from_secs(300);
/// The rounds of a run.
const ROUNDS: usize = 3;

fn server(limits: ServerLimits) -> Server<Engine> {
    Server::start(([127, 0, 0, 1], 0).into(), limits, Engine::new(EngineOptions::default())).expect("a free port")
}

/// Limits on size as they are, and none on time that a slow machine could reach.
fn patient() -> ServerLimits {
    ServerLimits { header_time: NEVER, body_pause: NEVER, stalled: NEVER, idle: NEVER, ..ServerLimits::default() }
}

fn connected(server: &Server<Engine>) -> TcpStream {
    let stream = TcpStream::connect(server.address()).expect("it listens");
    stream.set_read_timeout(Some(NEVER)).expect("a time");
    stream
}

/// Sends bytes on a connection of their own, and reads to its end, whatever the end is.
fn said(server: &Server<Engine>, request: &[u8]) -> String {
    let mut stream = connected(server);
    let mut answer = Vec::new();
    // Who is refused before the last byte learns it when sending, or when reading.
    let _ = stream.write_all(request);
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

fn head(key: &str, more: &str) -> String {
    format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {key}\r\n\
         content-type: application/json\r\n{more}\r\n"
    )
}

fn post(key: &str, body: &[u8]) -> Vec<u8> {
    [head(key, &format!("connection: close\r\ncontent-length: {}\r\n", body.len())).as_bytes(), body].concat()
}

/// The same as an agent does it: a connection that was closed before it could ask, because others had come, is made anew.
fn answered(server: &Server<Engine>, request: &[u8]) -> String {
    iter::repeat_with(|| said(server, request)).take(1000).find(|answer| !answer.is_empty()).unwrap_or_default()
}

/// Makes a whole run with a key of its own, as an agent would, and says what is wrong with it.
fn run(server: &Server<Engine>, key: &str) -> Result<(), String> {
    let turn = |number: usize| json!({"content": "", "tool_calls": [{"id": format!("c{number}"), "name": "look", "args": {}}]});
    let turns: Vec<Value> = (1..ROUNDS).map(turn).chain([json!({"content": "Done"})]).collect();
    let input = json!({"messages": [{"type": "human", "content": "Go"}], "model": turns, "tools": {"look": ["ok"]}});
    let plan = RunPlan::of_case_input(Api::OpenAiChat, &input.to_string()).map_err(|error| error.to_string())?;
    server.with(|engine, now| engine.begin(now, key, plan));
    let mut messages = vec![json!({"role": "user", "content": "Go"})];
    for round in 1..=ROUNDS {
        let tools = json!([{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]);
        let body = json!({"model": "gpt-4.1", "messages": messages, "tools": tools}).to_string();
        let answer = answered(server, &post(key, body.as_bytes()));
        let content = answer.split_once("\r\n\r\n").ok_or_else(|| format!("no answer: {answer:?}"))?.1;
        let answer: Value = serde_json::from_str(content).map_err(|error| format!("{error}: {content}"))?;
        let message = answer["choices"][0]["message"].clone();
        let call = message["tool_calls"][0]["id"].as_str().map(str::to_owned);
        if call.is_none() != (round == ROUNDS) {
            return Err(format!("round {round}: {answer}"));
        }
        messages.push(json!({"role": "assistant", "content": message["content"], "tool_calls": message["tool_calls"]}));
        messages.extend(call.map(|id| json!({"role": "tool", "tool_call_id": id, "content": "ok"})));
    }
    let ended = server.with_settled(|engine, now| engine.end(now, key)).ok_or("no such run")?;
    let delivered = ended.record.attempts.iter().filter(|attempt| attempt.delivered == Some(true)).count();
    if delivered != ROUNDS || ended.record.attempts.len() != ROUNDS {
        return Err(format!("{delivered} delivered of {}", ended.record.attempts.len()));
    }
    let Reply::Ok(output) = compose(&ended.plan, &ended.record, Reply::Ok(json!({}))) else {
        return Err("no output".into());
    };
    let findings = &output["wire"]["findings"];
    if findings.as_array().is_some_and(Vec::is_empty) { Ok(()) } else { Err(findings.to_string()) }
}

/// Runs go on and end well while somebody does what they want, again and again.
fn harmless(limits: ServerLimits, harm: impl Fn(&Server<Engine>) + Sync) {
    let server = server(limits);
    // With a single run under way, requests of nobody would count against its agent.
    let plan = RunPlan::of_case_input(Api::OpenAiChat, r#"{"messages":[],"model":[],"tools":{}}"#).expect("a plan");
    server.with(|engine, now| engine.begin(now, "sk-bystander", plan));
    let (is_over, times) = (AtomicBool::new(false), AtomicUsize::new(0));
    thread::scope(|scope| {
        let harming = scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                harm(&server);
                times.fetch_add(1, Ordering::Relaxed);
            }
        });
        let mut number = 0;
        // Some of them while the harm is done, and some after it.
        let result = loop {
            if let Err(why) = run(&server, &format!("sk-threadspec-{number}")) {
                break Err(why);
            }
            number += 1;
            if number >= 3 && (times.load(Ordering::Relaxed) >= 1 || harming.is_finished()) {
                break Ok(());
            }
        };
        is_over.store(true, Ordering::Relaxed);
        assert_eq!(result, Ok(()));
    });
}

#[test]
fn header_fields_without_end() {
    harmless(patient(), |server| {
        let lines = "x: y\r\n".repeat(200);
        assert!(said(server, head("sk-x", &lines).as_bytes()).starts_with("HTTP/1.1 431 "));
        let long = format!("GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nx: {}", "y".repeat(1 << 20));
        let answer = said(server, long.as_bytes());
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 431 "), "{answer}");
    });
}

#[test]
fn bodies_without_end() {
    let limits = ServerLimits { body_bytes: 1 << 20, ..patient() };
    harmless(limits, |server| {
        let mut stream = connected(server);
        let head = head("sk-x", "transfer-encoding: chunked\r\n");
        let chunk = [b"10000\r\n".as_slice(), &*vec![b' '; 0x1_0000], b"\r\n"].concat();
        let mut sent = stream.write_all(head.as_bytes());
        while sent.is_ok() {
            sent = stream.write_all(&chunk);
        }
    });
}

#[test]
fn bombs_of_json_and_of_gzip() {
    let packed = |text: &[u8]| {
        let mut packer = GzEncoder::new(Vec::new(), Compression::best());
        packer.write_all(text).and_then(|()| packer.finish()).expect("memory does not fail")
    };
    let spaces = packed(&vec![b' '; 65 << 20]);
    let length = format!("connection: close\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\n", spaces.len());
    let zip = head("sk-bomb", &length);
    harmless(patient(), |server| {
        let plan = RunPlan::of_case_input(Api::OpenAiChat, r#"{"messages":[],"model":[],"tools":{}}"#).expect("a plan");
        server.with(|engine, now| engine.begin(now, "sk-bomb", plan));
        let deep = [b"[".repeat(100_000), b"]".repeat(100_000)].concat();
        let wide = [b"[".to_vec(), b"1,".repeat(2 << 20), b"1]".to_vec()].concat();
        // As deep as it may be, which a parser must survive.
        let deepest = [b"[".repeat(10_000), b"]".repeat(10_000)].concat();
        for (body, status) in [(deep, 413), (wide, 413), (deepest, 400)] {
            let answer = said(server, &post("sk-bomb", &body));
            assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{status}: {answer}");
        }
        let answer = said(server, &[zip.as_bytes(), &spaces].concat());
        assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    });
}

#[test]
fn a_deep_history_of_a_run() {
    let server = server(patient());
    let plan = RunPlan::of_case_input(Api::OpenAiChat, r#"{"messages":[],"model":[{"content":"Done"}],"tools":{}}"#);
    server.with(|engine, now| engine.begin(now, "sk-deep", plan.expect("a plan")));
    let deep = format!("{}{}", "[".repeat(9_990), "]".repeat(9_990));
    let body = format!(r#"{{"model":"gpt-4.1","messages":[{{"role":"user","content":"Go"}}],"metadata":{deep}}}"#);
    let answer = said(&server, &post("sk-deep", body.as_bytes()));
    assert!(answer.starts_with("HTTP/1.1 "), "{answer}");
    let ended = server.with_settled(|engine, now| engine.end(now, "sk-deep")).expect("the run is known");
    assert_eq!(ended.record.attempts.len(), 1);
    assert_eq!(run(&server, "sk-threadspec-after"), Ok(()));
}

#[test]
fn connections_by_the_hundred() {
    let limits = ServerLimits { connections: 64, ..patient() };
    harmless(limits, |server| {
        let mut idle: Vec<TcpStream> = (0..300).map(|_| connected(server)).collect();
        for stream in &mut idle {
            // Some begin a request, and never go on.
            let _ = stream.write_all(b"POST / HTTP/1.1\r\n");
        }
    });
}

#[test]
fn chunks_that_are_none() {
    let begun = head("sk-x", "transfer-encoding: chunked\r\n");
    harmless(patient(), |server| {
        for rest in [
            "zz\r\n",
            "-1\r\n",
            "fffffffffffffffffff\r\n",
            "5\r\nab\r\n",
            "2\r\nabc\r\n",
            "1;a=b\nx\r\n",
            "0\r\nx: y\r\nz\r\n\r\n",
        ] {
            let mut stream = connected(server);
            let _ = stream.write_all([begun.as_bytes(), rest.as_bytes()].concat().as_slice());
            let _ = stream.shutdown(Shutdown::Write);
            let mut answer = String::new();
            let _ = stream.read_to_string(&mut answer);
            assert!(!answer.contains(" 200 "), "{rest:?}: {answer}");
        }
    });
}

/// What one reader takes for a body, another would take for a request.
#[test]
fn requests_inside_of_requests() {
    harmless(patient(), |server| {
        let inner = head("sk-smuggled", "content-length: 0\r\n");
        for (lengths, body) in [
            (
                format!("content-length: {}\r\ntransfer-encoding: chunked\r\n", inner.len() + 5),
                format!("0\r\n\r\n{inner}"),
            ),
            ("content-length: 4\r\ncontent-length: 400\r\n".into(), inner.clone()),
            ("transfer-encoding: chunked, identity\r\n".into(), inner.clone()),
            ("transfer-encoding: xchunked\r\n".into(), inner.clone()),
            ("content-length: +4\r\n".into(), inner.clone()),
        ] {
            let mut stream = connected(server);
            let _ = stream.write_all([head("sk-outer", &lengths).as_bytes(), body.as_bytes()].concat().as_slice());
            let _ = stream.shutdown(Shutdown::Write);
            let _ = stream.read_to_end(&mut Vec::new());
        }
        // Whatever was read is judged as what it is: requests with keys that nobody gave out.
        let strays = server.with_settled(|engine, _| engine.take_strays());
        assert!(strays.iter().all(|stray| stray.why == StrayReason::UnknownKey), "{strays:?}");
    });
}

#[test]
fn requests_all_at_once() {
    harmless(patient(), |server| {
        let one = [head("sk-x", "content-length: 2\r\n").as_bytes(), b"{}"].concat();
        let all = [one.repeat(500), post("sk-x", b"{}")].concat();
        let answers = thread::scope(|scope| {
            let mut stream = connected(server);
            let mut writing = stream.try_clone().expect("a second handle");
            scope.spawn(move || writing.write_all(&all));
            let mut answers = String::new();
            stream.read_to_string(&mut answers).expect("they are answered");
            answers
        });
        assert_eq!(answers.matches("HTTP/1.1 401 ").count(), 501);
    });
}

#[test]
fn who_leaves_in_the_middle() {
    harmless(patient(), |server| {
        let request = post("sk-x", &[b' '; 1000]);
        for sent in [1, 10, 100, request.len() - 1, request.len()] {
            let mut stream = connected(server);
            stream.write_all(&request[..sent]).expect("it reads");
            // The system resets the connection if there is something that was not read.
            drop(stream);
        }
    });
}

#[test]
fn who_closes_one_half() {
    harmless(patient(), |server| {
        let mut stream = connected(server);
        stream.write_all(&head("sk-x", "content-length: 2\r\n").into_bytes()).expect("it reads");
        stream.shutdown(Shutdown::Write).expect("a connection");
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        assert!(!answer.contains(" 200 "), "{answer}");
    });
}

#[test]
fn a_byte_now_and_then() {
    harmless(patient(), |server| {
        let mut stream = connected(server);
        for byte in &post("sk-x", b"{}")[..40] {
            let _ = stream.write_all(&[*byte]);
            thread::sleep(Duration::from_micros(200));
        }
    });
}

#[test]
fn answers_that_nobody_reads() {
    harmless(patient(), |server| {
        let begun = head("sk-x", "content-length: 2\r\n").into_bytes();
        let mut stream = connected(server);
        stream.set_write_timeout(Some(Duration::from_millis(20))).expect("a time");
        let many = [begun, b"{}".to_vec()].concat().repeat(1000);
        for _ in 0..20 {
            if stream.write_all(&many).is_err() {
                break;
            }
        }
    });
}

#[test]
fn names_of_other_places() {
    harmless(patient(), |server| {
        let request = String::from_utf8(post("sk-x", b"{}")).expect("UTF-8");
        for host in ["evil.example", "127.0.0.1.evil.example", "evil.example:80", "[::1].evil.example", ""] {
            let answer = said(server, request.replace("host: 127.0.0.1", &format!("host: {host}")).as_bytes());
            assert!(answer.starts_with("HTTP/1.1 403 "), "{host}: {answer}");
        }
        assert!(server.with_settled(|engine, _| engine.take_strays()).is_empty());
    });
}
