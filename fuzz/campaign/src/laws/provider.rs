//! States the laws of a provider, whatever a client sends, and of the answers that it streams.

use crate::generate::StreamPlan;
use serde_json::json;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;
use threadspec::oracle::Api;
use threadspec_apis::sse::SseParser;
use threadspec_apis::{AnswerEnd, AnswerReader, ApiRequest, EventPart, ModelAnswer, StreamEvent, read_answer, sse};
use threadspec_provider::{Engine, EngineOptions, RunPlan, Server, ServerLimits};

/// So far away that only a hang reaches it.
const NEVER: Duration = Duration::from_secs(60);
/// The key of the run that a client may know.
const KEY: &str = "sk-threadspec-0123456789abcdefghijklmn";
/// How many connections share one run: its record has all that came.
const PER_RUN: usize = 64;
/// A client comes next where the length of an input is a multiple of this.
const NEXT_CLIENT: usize = 8;

struct TestedServer {
    server: Server<Engine>,
    connections: usize,
}

static PROVIDER: LazyLock<Mutex<TestedServer>> = LazyLock::new(|| {
    let limits = ServerLimits { body_bytes: 1 << 20, ..ServerLimits::default() };
    let engine = Engine::new(EngineOptions::default());
    let server = Server::start(([127, 0, 0, 1], 0).into(), limits, engine).expect("a free port");
    Mutex::new(TestedServer { server, connections: 0 })
});

impl TestedServer {
    /// Begins a run from time to time.
    fn prepare(&mut self) {
        if self.connections.is_multiple_of(PER_RUN) {
            let turns =
                vec![json!({"content": "a", "tool_calls": [{"id": "c1", "name": "look", "args": {}}]}); PER_RUN];
            let input =
                json!({"messages": [{"type": "human", "content": "Go"}], "model": turns, "tools": {"look": ["ok"]}});
            let api = Api::ALL[self.connections / PER_RUN % Api::ALL.len()];
            let plan = RunPlan::of_case_input(api, &input.to_string()).expect("a plan");
            self.server.with_settled(|engine, now| {
                engine.end(now, KEY);
                engine.take_strays();
                engine.begin(now, KEY, plan);
            });
        }
        self.connections += 1;
    }

    /// Sends bytes on a connection, says that no more will come if it `leaves`, and gives all that comes back.
    fn said(&self, bytes: &[u8], leaves: bool) -> Vec<u8> {
        let mut stream = TcpStream::connect(self.server.address()).expect("it listens");
        stream.set_read_timeout(Some(NEVER)).expect("a time");
        // Who is refused before the last byte learns it when sending, or when reading.
        let _ = stream.write_all(bytes);
        if leaves {
            let _ = stream.shutdown(Shutdown::Write);
        }
        let mut answer = Vec::new();
        if let Err(error) = stream.read_to_end(&mut answer) {
            let hangs = matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut);
            assert!(!hangs, "it hangs: {}", String::from_utf8_lossy(bytes));
        }
        answer
    }
}

/// Whatever bytes come on a connection, they are answered in HTTP or the connection is closed, and the next client is served.
///
/// # Panics
/// When that does not hold.
pub fn provider_http(bytes: &[u8]) {
    let mut provider = PROVIDER.lock().unwrap_or_else(PoisonError::into_inner);
    provider.prepare();
    let answer = provider.said(bytes, true);
    let is_http = answer.is_empty() || answer.starts_with(b"HTTP/1.1 ") || answer.starts_with(b"HTTP/1.0 ");
    assert!(is_http, "{}: {}", String::from_utf8_lossy(bytes), String::from_utf8_lossy(&answer));
    // The next client takes as long as this one, so that only some inputs, always the same ones, have it.
    if !bytes.len().is_multiple_of(NEXT_CLIENT) {
        return;
    }
    // Who leaves may get no answer, so this one stays until the server closes.
    let next = provider.said(b"HEAD / HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n", false);
    assert!(
        next.starts_with(b"HTTP/1.1 200 "),
        "{}: {}",
        String::from_utf8_lossy(bytes),
        String::from_utf8_lossy(&next)
    );
}

// States the laws of the answers that a provider streams.

/// Whatever is streamed, in whatever pieces and however it arrives, says what the plain answer says.
///
/// # Panics
/// When that does not hold.
pub fn provider_sse(plan: &StreamPlan) {
    let (api, answer, crlf) = (plan.api(), plan.answer(), plan.has_crlf());
    let body = json!({"model": "m", "stream": true, "include": ["reasoning.encrypted_content"]});
    let request = ApiRequest::read(api, &body);
    let write = |event: &StreamEvent| match event.part {
        EventPart::Comment => sse::comment(&event.data, crlf),
        _ => sse::event(event.name, &event.data, crlf),
    };
    let bytes: Vec<u8> = answer.events(&request, &plan.shape()).iter().flat_map(write).collect();
    let whole = SseParser::default().push(&bytes);
    let mut parser = SseParser::default();
    let parts: Vec<_> = plan.parts(&bytes).into_iter().flat_map(|part| parser.push(part)).collect();
    assert_eq!(parts, whole, "{plan:?}");
    assert!(parser.is_between_events(), "{plan:?}");

    let mut reader = AnswerReader::new(api);
    for event in &whole {
        let read = reader.push(event);
        assert!(read.is_ok(), "{read:?}: {event:?}: {plan:?}");
    }
    let streamed = reader.said();
    let expected = read_answer(api, &answer.plain(&request)).expect("a plain answer is read");
    assert_eq!(streamed.end, AnswerEnd::Whole, "{plan:?}");
    assert_eq!(streamed.answer.text, expected.answer.text, "{plan:?}");
    // A refusal without a word has no event.
    let refusal = |answer: &ModelAnswer| answer.refusal.clone().unwrap_or_default();
    assert_eq!(refusal(&streamed.answer), refusal(&expected.answer), "{plan:?}");
    assert_eq!(streamed.answer.calls, expected.answer.calls, "{plan:?}");
    assert_eq!(streamed.answer.finish, expected.answer.finish, "{plan:?}");
    assert_eq!(streamed.whole_calls, expected.whole_calls, "{plan:?}");
}
