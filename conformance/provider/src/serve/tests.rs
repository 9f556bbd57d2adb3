//! The server as clients see it: over real sockets, in bytes.

use super::{Answers, Server, ServerLimits};
use crate::exchange::{PlannedAnswer, PlannedEnd, Reaction, WireStep};
use crate::http::{Received, Unreadable};
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

/// So far away that only a hang reaches it.
const NEVER: Duration = Duration::from_secs(300);
/// Soon enough to wait for.
const SOON: Duration = Duration::from_millis(50);

type Plan = Box<dyn FnMut(&Received) -> Reaction + Send>;

/// Answers as the test defines, and remembers.
struct ToldTimes {
    plan: Plan,
    received: Vec<Received>,
    /// For each request, whether its answer was delivered, once that is known.
    delivered: Vec<Option<bool>>,
    /// When the last answer was over.
    ended: Duration,
}

impl ToldTimes {
    fn by(plan: impl FnMut(&Received) -> Reaction + Send + 'static) -> Self {
        Self { plan: Box::new(plan), received: Vec::new(), delivered: Vec::new(), ended: Duration::ZERO }
    }
}

impl Answers for ToldTimes {
    type Attempt = usize;

    fn receive(&mut self, _: Duration, request: Received) -> (usize, Reaction) {
        let reaction = (self.plan)(&request);
        self.received.push(request);
        self.delivered.push(None);
        (self.received.len() - 1, reaction)
    }

    fn delivered(&mut self, now: Duration, attempt: usize, is_whole: bool) {
        self.ended = now;
        assert_eq!(self.delivered[attempt].replace(is_whole), None, "an attempt ends once");
    }
}

/// Limits that no test reaches, unless it sets them.
fn patient() -> ServerLimits {
    ServerLimits { header_time: NEVER, body_pause: NEVER, stalled: NEVER, idle: NEVER, ..ServerLimits::default() }
}

fn server(limits: ServerLimits, plan: impl FnMut(&Received) -> Reaction + Send + 'static) -> Server<ToldTimes> {
    Server::start(([127, 0, 0, 1], 0).into(), limits, ToldTimes::by(plan)).expect("a free port")
}

fn plain(text: &str) -> Reaction {
    Reaction::Answer(PlannedAnswer {
        delay: Duration::ZERO,
        status: 200,
        headers: vec![("content-type".into(), "text/plain".into())],
        length: Some(text.len() as u64),
        steps: vec![WireStep::Write(text.into())],
        ending: PlannedEnd::Whole,
    })
}

fn streamed(parts: &[&str], ending: PlannedEnd) -> Reaction {
    Reaction::Answer(PlannedAnswer {
        delay: Duration::ZERO,
        status: 200,
        headers: Vec::new(),
        length: None,
        steps: parts.iter().map(|&part| WireStep::Write(part.into())).collect(),
        ending,
    })
}

/// Echoes bodies, and says of those that could not be read why.
fn echo(request: &Received) -> Reaction {
    match &request.body {
        Ok(body) => plain(&format!("{} {} {}", request.method, request.target, String::from_utf8_lossy(body))),
        Err(why) => match plain(&why.to_string()) {
            Reaction::Answer(answer) => Reaction::Answer(PlannedAnswer { status: why.status(), ..answer }),
            other => other,
        },
    }
}

fn connected(server: &Server<ToldTimes>) -> TcpStream {
    let stream = TcpStream::connect(server.address()).expect("it listens");
    stream.set_read_timeout(Some(NEVER)).expect("a time");
    stream
}

/// Sends bytes on a connection of their own, and reads to its end.
fn said(server: &Server<ToldTimes>, request: &[u8]) -> String {
    let mut stream = connected(server);
    // It may be refused before all of it is sent.
    let _ = stream.write_all(request);
    rest(&mut stream)
}

/// Reads to the end of a connection, whatever the end is.
fn rest(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    String::from_utf8(bytes).expect("text in UTF-8")
}

/// Reads up to a text.
fn until(stream: &mut TcpStream, end: &str) -> String {
    let (mut bytes, mut byte) = (Vec::new(), [0]);
    while !bytes.ends_with(end.as_bytes()) {
        stream.read_exact(&mut byte).expect("more comes");
        bytes.push(byte[0]);
    }
    String::from_utf8(bytes).expect("text in UTF-8")
}

fn post(body: &str) -> String {
    format!("POST /v1 HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

/// The last request of a connection.
fn last(body: &str) -> Vec<u8> {
    post(body).replace("host:", "connection: close\r\nhost:").into_bytes()
}

/// Waits until something is known about what was received.
fn wait_for(server: &Server<ToldTimes>, what: impl Fn(&ToldTimes) -> bool) {
    let begun = Instant::now();
    while !server.with(|told, _| what(told)) {
        assert!(begun.elapsed() < NEVER, "it never happens");
        thread::sleep(Duration::from_millis(1));
    }
}

fn delivered(server: &Server<ToldTimes>) -> Vec<Option<bool>> {
    server.with_settled(|told, _| told.delivered.clone())
}

#[test]
fn requests_are_answered_on_one_connection() {
    let server = server(patient(), echo);
    let mut stream = connected(&server);
    for body in ["", "one", "two"] {
        stream.write_all(post(body).as_bytes()).expect("it reads");
        let answer = until(&mut stream, &format!("POST /v1 {body}"));
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: "), "{answer}");
        assert!(answer.contains("\r\ndate: "), "{answer}");
    }
    assert_eq!(delivered(&server), [Some(true); 3]);
    server.shut_down();
    assert_eq!(rest(&mut stream), "");
}

#[test]
fn requests_may_come_all_at_once_and_in_chunks() {
    let server = server(patient(), echo);
    let chunked = "POST /a?b=c HTTP/1.1\r\nhost: localhost:1\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
    let answers = said(&server, &[chunked.as_bytes(), post("x").as_bytes(), &last("y")].concat());
    let bodies: Vec<&str> =
        answers.split("HTTP/1.1 200 OK").skip(1).map(|one| one.split("\r\n\r\n").nth(1).expect("a body")).collect();
    assert_eq!(bodies, ["POST /a?b=c abcde", "POST /v1 x", "POST /v1 y"]);
    assert_eq!(delivered(&server), [Some(true); 3]);
}

#[test]
fn who_waits_for_a_word_before_the_body_gets_it() {
    let server = server(patient(), echo);
    let mut stream = connected(&server);
    stream
        .write_all(b"POST / HTTP/1.1\r\nhost: 127.0.0.1\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n")
        .expect("it reads");
    assert_eq!(until(&mut stream, "\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
    stream.write_all(b"ok").expect("it reads");
    until(&mut stream, "POST / ok");
    assert_eq!(delivered(&server), [Some(true)]);
}

#[test]
fn each_part_of_a_stream_is_written_alone() {
    let parts = ["a", "", "bc", "d"];
    let server = server(patient(), move |_| streamed(&parts, PlannedEnd::Whole));
    let answer = said(&server, &last(""));
    assert!(answer.contains("transfer-encoding: chunked\r\n"), "{answer}");
    assert!(answer.ends_with("\r\n\r\n1\r\na\r\n2\r\nbc\r\n1\r\nd\r\n0\r\n\r\n"), "{answer}");
    assert_eq!(delivered(&server), [Some(true)]);
}

#[test]
fn an_answer_without_a_body_is_delivered() {
    let server = server(patient(), |request| if request.method == "HEAD" { plain("unsent") } else { plain("") });
    let head = "HEAD / HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n";
    let answers = said(&server, &[head.as_bytes(), &last("")].concat());
    assert!(!answers.contains("unsent") && answers.matches("200 OK").count() == 2, "{answers}");
    assert_eq!(delivered(&server), [Some(true); 2]);
}

#[test]
fn a_stream_may_break_off_or_be_reset() {
    for ending in [PlannedEnd::Close, PlannedEnd::Reset] {
        let server = server(patient(), move |_| streamed(&["first", "second"], ending));
        let mut stream = connected(&server);
        stream.write_all(post("").as_bytes()).expect("it reads");
        let answer = until(&mut stream, "6\r\nsecond\r\n");
        assert!(answer.contains("chunked\r\n") && answer.contains("\r\n\r\n5\r\nfirst\r\n"), "{answer}");
        let end = stream.read(&mut [0; 9]);
        match ending {
            PlannedEnd::Reset => assert_eq!(end.expect_err("a reset").kind(), ErrorKind::ConnectionReset),
            _ => assert_eq!(end.expect("the end"), 0),
        }
        assert_eq!(delivered(&server), [Some(false)], "{ending:?}");
    }
}

#[test]
fn a_plain_answer_may_lack_its_end() {
    for ending in [PlannedEnd::Close, PlannedEnd::Reset] {
        let server = server(patient(), move |_| match plain("half") {
            Reaction::Answer(answer) => Reaction::Answer(PlannedAnswer { length: Some(8), ending, ..answer }),
            other => other,
        });
        let mut stream = connected(&server);
        stream.write_all(post("").as_bytes()).expect("it reads");
        let answer = until(&mut stream, "half");
        assert!(answer.contains("content-length: 8\r\n"), "{answer}");
        assert_eq!(rest(&mut stream), "");
        assert_eq!(delivered(&server), [Some(false)]);
    }
}

#[test]
fn silence_is_the_end_without_a_byte() {
    for ending in [PlannedEnd::Close, PlannedEnd::Reset] {
        let server = server(patient(), move |_| Reaction::Silence { after: Duration::from_millis(1), ending });
        let mut stream = connected(&server);
        stream.write_all(post("").as_bytes()).expect("it reads");
        match (ending, stream.read(&mut [0; 9])) {
            (PlannedEnd::Reset, end) => assert_eq!(end.expect_err("a reset").kind(), ErrorKind::ConnectionReset),
            (_, end) => assert_eq!(end.expect("the end"), 0),
        }
        assert_eq!(delivered(&server), [Some(false)]);
    }
}

#[test]
fn an_answer_is_over_before_its_client_can_know_however_busy_the_server_is() {
    for (ending, length) in [(PlannedEnd::Whole, 4), (PlannedEnd::Close, 8), (PlannedEnd::Reset, 8)] {
        let server = server(patient(), move |_| match plain("half") {
            Reaction::Answer(answer) => {
                Reaction::Answer(PlannedAnswer { delay: SOON, length: Some(length), ending, ..answer })
            }
            other => other,
        });
        let mut stream = connected(&server);
        stream.write_all(post("").as_bytes()).expect("it reads");
        wait_for(&server, |told| !told.received.is_empty());
        // Whoever answers is kept from noting the end until its client has long read it.
        // Told too late rather than too early, whenever this thread is kept waiting; then it is waited for a moment, so that a late note is later still.
        let begun = Instant::now();
        let read = server.with(|_, began| {
            until(&mut stream, "half");
            if ending != PlannedEnd::Whole {
                assert_eq!(rest(&mut stream), "");
            }
            let read = began + begun.elapsed();
            thread::sleep(Duration::from_millis(5));
            read
        });
        wait_for(&server, |told| told.delivered == [Some(ending == PlannedEnd::Whole)]);
        let ended = server.with(|told, _| told.ended);
        assert!(ended <= read, "{ending:?}: over at {ended:?}, read at {read:?}");
    }
}

#[test]
fn who_leaves_before_the_end_got_no_answer() {
    let server = server(patient(), |_| match streamed(&["a", "b"], PlannedEnd::Whole) {
        Reaction::Answer(mut answer) => {
            answer.steps.insert(1, WireStep::Wait(NEVER));
            Reaction::Answer(answer)
        }
        other => other,
    });
    let mut stream = connected(&server);
    stream.write_all(post("").as_bytes()).expect("it reads");
    until(&mut stream, "1\r\na\r\n");
    assert_eq!(delivered(&server), [None]);
    drop(stream);
    wait_for(&server, |told| told.delivered == [Some(false)]);
}

#[test]
fn who_leaves_in_the_middle_of_a_body_has_sent_none() {
    let server = server(patient(), echo);
    let mut stream = connected(&server);
    stream.write_all(post("body").trim_end_matches("dy").as_bytes()).expect("it reads");
    drop(stream);
    let mut stream = connected(&server);
    stream
        .write_all(b"POST / HTTP/1.1\r\nhost: 127.0.0.1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n")
        .expect("it reads");
    assert!(rest(&mut stream).contains("400 Bad Request"));
    wait_for(&server, |told| told.received.len() == 2);
    server.with(|told, _| {
        for received in &told.received {
            assert!(matches!(received.body, Err(Unreadable::Broken(_))), "{received:?}");
        }
    });
}

#[test]
fn only_local_names_are_served() {
    let server = server(patient(), echo);
    for (host, status) in [
        ("host: localhost\r\n", 200),
        ("host: [::1]:8080\r\n", 200),
        ("host: example.com\r\n", 403),
        ("host: 127.0.0.1\r\nhost: example.com\r\n", 403),
        ("", 403),
    ] {
        let answer = said(&server, format!("GET / HTTP/1.1\r\n{host}connection: close\r\n\r\n").as_bytes());
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{host}: {answer}");
    }
    let absolute = said(&server, b"GET http://example.com/ HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n");
    assert!(absolute.starts_with("HTTP/1.1 403 "), "{absolute}");
}

#[test]
fn what_is_too_large_is_refused_and_costs_only_its_connection() {
    let limits =
        ServerLimits { header_bytes: 8192, header_fields: 20, body_bytes: 100, depth: 9, values: 40, ..patient() };
    let server = server(limits, echo);
    let with = |more: &str, body: &str| {
        format!("POST / HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n{more}\r\n{body}").into_bytes()
    };
    for (request, status, says) in [
        (with(&"a: b\r\n".repeat(18), ""), 200, "POST / "),
        (with(&"a: b\r\n".repeat(19), ""), 431, ""),
        (with(&format!("a: {}\r\n", "b".repeat(9000)), ""), 431, ""),
        (with("content-length: 100\r\n", &" ".repeat(100)), 200, "POST / "),
        (with("content-length: 101\r\nexpect: 100-continue\r\n", ""), 413, "more than 100 bytes"),
        (with("content-length: 99999999999999999\r\n", ""), 413, "more than 100 bytes"),
        (
            with("transfer-encoding: chunked\r\n", &format!("65\r\n{}\r\n0\r\n\r\n", " ".repeat(101))),
            413,
            "more than 100 bytes",
        ),
        (with("content-length: 10\r\n", "[[[[[[[[[["), 413, "more than 9 levels"),
        (with("content-length: 45\r\n", &"1,".repeat(45)), 200, "1,1,"),
        (with("content-length: 90\r\n", &"1,".repeat(45)), 413, "more than 40 values"),
        (with("content-length: 2\r\ncontent-encoding: br\r\n", "{}"), 415, "\"br\""),
        (with("content-length: 2\r\ncontent-encoding: gzip\r\n", "{}"), 400, "not gzip"),
    ] {
        let answer = said(&server, &request);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")) && answer.contains(says), "{says}: {answer}");
    }
}

#[test]
fn large_bodies_at_once_are_bounded_and_small_ones_go_on() {
    let server = server(ServerLimits { all_bodies: 3 << 20, ..patient() }, echo);
    let head =
        format!("POST / HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", 2 << 20);
    let begun = [head.as_bytes(), &*vec![b' '; (2 << 20) - 1]].concat();
    let mut large = [connected(&server), connected(&server)];
    for stream in &mut large {
        // One of them is refused in the middle.
        let _ = stream.write_all(&begun);
    }
    wait_for(&server, |told| told.received.len() == 1);
    assert!(server.with(|told, _| told.received[0].body == Err(Unreadable::Crowded)));
    assert!(said(&server, &last("small")).ends_with("small"));
    let mut answers = large.each_mut().map(|stream| {
        let _ = stream.write_all(b" ");
        rest(stream)
    });
    answers.sort();
    assert!(answers[0].starts_with("HTTP/1.1 200 ") && !answers[1].starts_with("HTTP/1.1 200 "), "{answers:?}");
}

#[test]
fn what_is_no_http_is_refused_and_costs_only_its_connection() {
    let server = server(patient(), echo);
    for request in [
        "\0\0\0\0\r\n\r\n",
        "GET / HTTP/3.0\r\n\r\n",
        "GET /\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "POST / HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab",
        "POST / HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: -1\r\n\r\n",
        "POST / HTTP/1.1\r\nhost: 127.0.0.1\r\ntransfer-encoding: gzip\r\n\r\n",
        "POST / HTTP/1.1\r\nhost : 127.0.0.1\r\n\r\n",
        "POST / HTTP/1.1\r\nhost: 127.0.0.1\r\n a: folded\r\n\r\n",
    ] {
        let answer = said(&server, request.as_bytes());
        assert!(!answer.contains(" 200 ") && answer.matches("HTTP/1.1").count() <= 1, "{request:?}: {answer}");
    }
    assert!(said(&server, &last("still here")).contains("still here"));
}

#[test]
fn who_is_too_slow_loses_the_connection() {
    let server = server(ServerLimits { header_time: SOON, ..patient() }, echo);
    for begun in ["", "POST / HT", "POST / HTTP/1.1\r\nhost: 127.0.0.1\r\n"] {
        assert_eq!(said(&server, begun.as_bytes()), "", "{begun}");
    }
}

#[test]
fn who_stops_in_a_body_is_told() {
    let server = server(ServerLimits { body_pause: SOON, ..patient() }, echo);
    let answer = said(&server, b"POST / HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 9\r\n\r\nhalf");
    assert!(answer.starts_with("HTTP/1.1 408 ") && answer.contains("did not come"), "{answer}");
}

#[test]
fn who_asks_nothing_more_loses_the_connection() {
    let server = server(ServerLimits { idle: SOON, ..patient() }, echo);
    assert!(said(&server, post("once").as_bytes()).ends_with("POST /v1 once"));
}

#[test]
fn who_does_not_read_loses_the_answer() {
    let much = "x".repeat(16 << 20);
    let server = server(ServerLimits { stalled: SOON, ..patient() }, move |_| plain(&much));
    let mut stream = connected(&server);
    stream.write_all(post("").as_bytes()).expect("it reads");
    wait_for(&server, |told| told.delivered == [Some(false)]);
}

#[test]
fn who_only_holds_connections_open_makes_room_for_others() {
    let server = server(ServerLimits { connections: 4, ..patient() }, echo);
    let idle: Vec<TcpStream> = (0..20).map(|_| connected(&server)).collect();
    for _ in 0..3 {
        assert!(said(&server, &last("through")).ends_with("through"));
    }
    drop(idle);
}

#[test]
fn who_is_being_answered_keeps_the_connection() {
    let server =
        server(ServerLimits { connections: 1, ..patient() }, |_| match streamed(&["a", "b"], PlannedEnd::Whole) {
            Reaction::Answer(mut answer) => {
                answer.steps.insert(1, WireStep::Wait(SOON));
                Reaction::Answer(answer)
            }
            other => other,
        });
    let mut first = connected(&server);
    first.write_all(&last("")).expect("it reads");
    until(&mut first, "1\r\na\r\n");
    let second = said(&server, &last(""));
    assert!(rest(&mut first).ends_with("0\r\n\r\n") && second.ends_with("0\r\n\r\n"));
    assert_eq!(delivered(&server), [Some(true); 2]);
}

#[test]
fn the_end_waits_for_answers_but_not_for_ever() {
    for (pause, farewell, is_whole) in [(SOON, NEVER, true), (NEVER, SOON, false)] {
        let server =
            server(ServerLimits { farewell, ..patient() }, move |_| match streamed(&["a", "b"], PlannedEnd::Whole) {
                Reaction::Answer(mut answer) => {
                    answer.steps.insert(1, WireStep::Wait(pause));
                    Reaction::Answer(answer)
                }
                other => other,
            });
        let mut stream = connected(&server);
        stream.write_all(post("").as_bytes()).expect("it reads");
        until(&mut stream, "1\r\na\r\n");
        let address = server.address();
        server.shut_down();
        assert_eq!(rest(&mut stream).ends_with("0\r\n\r\n"), is_whole);
        assert!(TcpStream::connect(address).is_err());
    }
}

#[test]
fn a_port_in_use_is_named() {
    let server = server(patient(), echo);
    let error = Server::start(server.address(), ServerLimits::default(), ToldTimes::by(echo))
        .expect_err("it is in use")
        .to_string();
    assert!(error.starts_with(&format!("cannot listen on {}: ", server.address())), "{error}");
}
