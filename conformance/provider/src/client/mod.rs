//! Lets an agent ask a provider: requests and answers of HTTP/1.1, without a socket and with one.
//!
//! A [`ClientRequest`] is the request as the official SDK of its API sends it. A [`ResponseReader`] reads an answer from its bytes, however they
//! are divided.

mod body;
mod connection;
mod model;

pub use body::{ClientAsk, ClientCall, ClientContent, ClientMessage, ClientOptions, ClientPart, ClientTool};
pub use connection::Connection;
pub use model::{HttpModel, HttpThreadModel};

use body::body;
use std::time::Duration;
use threadspec::oracle::Api;
use threadspec_apis::sse::SseParser;
use threadspec_apis::{AnswerReader, ReadAnswer, json_text, read_answer};
use threadspec_judge::protocol::{ApiFacts, Endpoint, facts};
use threadspec_judge::universal::value;

/// A request as it is sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientRequest {
    /// Such as `POST`.
    pub method: String,
    /// The path, with the query if there is one.
    pub target: String,
    /// Names and values, without `host` and `content-length`, which are added.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

/// An answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientResponse {
    /// The status.
    pub status: u16,
    /// Names, in lower case, and values.
    pub headers: Vec<(String, String)>,
    /// The body, in the pieces in which it arrived.
    pub pieces: Vec<Vec<u8>>,
    /// True if the body ended as its head says that it ends.
    pub is_whole: bool,
}

impl ClientResponse {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own == name).map(|(_, value)| &**value)
    }

    /// The body in one piece.
    pub fn body(&self) -> Vec<u8> {
        self.pieces.concat()
    }

    /// Reads an answer of an API, whole or as events.
    ///
    /// # Errors
    ///
    /// Says why it is none: it broke off, or is not in the form of the API.
    pub fn read(&self, api: Api) -> Result<ReadAnswer, String> {
        if self.header("content-type").is_some_and(|kind| kind.starts_with("text/event-stream")) {
            let (mut parser, mut reader) = (SseParser::default(), AnswerReader::new(api));
            for event in self.pieces.iter().flat_map(|piece| parser.push(piece)) {
                reader.push(&event).map_err(|error| error.to_string())?;
            }
            return Ok(reader.said());
        }
        if !self.is_whole {
            return Err("the answer broke off".to_owned());
        }
        let body = String::from_utf8(self.body()).map_err(|error| error.to_string())?;
        let body = value::read(&body).map_err(|error| error.to_string())?;
        read_answer(api, &body).map_err(|error| error.to_string())
    }
}

/// Carries requests to a provider and its answers back.
pub trait Exchange {
    /// Sends a request, and waits for the whole answer; `None` if nothing came of it, or nothing that is HTTP.
    fn exchange(&mut self, request: &ClientRequest) -> Option<ClientResponse>;

    /// Lets time pass.
    fn wait(&mut self, time: Duration);
}

impl<E: Exchange + ?Sized> Exchange for &mut E {
    fn exchange(&mut self, request: &ClientRequest) -> Option<ClientResponse> {
        (**self).exchange(request)
    }

    fn wait(&mut self, time: Duration) {
        (**self).wait(time);
    }
}

// A request as the official SDK of its API sends it.

impl ClientRequest {
    /// The request for an answer.
    pub fn of(endpoint: &Endpoint, ask: &ClientAsk) -> Self {
        Self {
            method: "POST".into(),
            target: target(endpoint),
            headers: headers(endpoint),
            body: json_text(&body(endpoint, ask), false).into_bytes(),
        }
    }
}

/// The path to which the API's SDK posts its requests.
fn target(endpoint: &Endpoint) -> String {
    let ApiFacts { path, stream_path, .. } = facts(endpoint.transport.api);
    let end = if endpoint.transport.stream { stream_path } else { path };
    format!("{}{}", Connection::path_of(&endpoint.base_url), end.replace("{model}", &endpoint.model))
}

/// The headers that the API's SDK for Python sends, but for what it says of the machine, and for encodings that are not undone here.
fn headers(endpoint: &Endpoint) -> Vec<(String, String)> {
    let is_anthropic = endpoint.transport.api == Api::Anthropic;
    if endpoint.transport.api == Api::Gemini {
        let agent = "google-genai-sdk/2.25.0 gl-python/3.13";
        let own = [("x-goog-api-key", &*endpoint.api_key), ("content-type", "application/json"), ("user-agent", agent)];
        return own.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    }
    let (agent, version) = if is_anthropic { ("Anthropic/Python", "2.14.0") } else { ("OpenAI/Python", "3.57.0") };
    let mut headers = vec![
        ("authorization", format!("Bearer {}", endpoint.api_key)),
        ("accept", "application/json".to_owned()),
        ("content-type", "application/json".to_owned()),
        ("user-agent", format!("{agent} {version}")),
        ("x-stainless-lang", "python".to_owned()),
        ("x-stainless-package-version", version.to_owned()),
        ("x-stainless-retry-count", "0".to_owned()),
    ];
    if is_anthropic {
        headers.push(("anthropic-version", "2026-10-21".to_owned()));
    }
    headers.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

// Reads an answer of HTTP/1.1 from its bytes, however they are divided.

/// The longest head, or line in a body, in bytes.
const LONGEST_LINE: usize = 1 << 20;

/// An answer of which a part has come.
///
/// ```
/// use threadspec_provider::client::ResponseReader;
/// let mut reader = ResponseReader::default();
/// for piece in [&b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chu"[..], b"nked\r\n\r\n2\r\nHi\r", b"\n0\r\n\r\n"] {
///     reader.push(piece).expect("HTTP");
/// }
/// assert!(reader.is_done());
/// let response = reader.finish().expect("an answer");
/// assert_eq!((response.status, response.body(), response.is_whole), (200, b"Hi".to_vec(), true));
/// ```
#[derive(Debug, Default)]
pub struct ResponseReader {
    response: ClientResponse,
    /// The bytes that came and are not understood yet.
    rest: Vec<u8>,
    state: State,
    /// True if the head lets the connection be kept.
    keeps: bool,
}

/// The part that comes next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Head,
    Counted(usize),
    ChunkSize,
    Chunk(usize),
    /// The line end behind a chunk.
    ChunkEnd,
    Trailer,
    /// All that comes until the connection is closed.
    Rest,
    Done,
}

/// The bytes are no answer of HTTP/1.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

impl ResponseReader {
    /// Takes bytes as they arrived.
    ///
    /// # Errors
    ///
    /// When they are no answer of HTTP/1.1.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        self.rest.extend_from_slice(bytes);
        // Chunks that came together are read together, as a socket gives them.
        let mut piece = Vec::new();
        while self.step(&mut piece)? {}
        if !piece.is_empty() {
            self.response.pieces.push(piece);
        }
        Ok(())
    }

    /// Returns whether all of it has come.
    pub fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// Returns whether all of it has come, and the connection may be used again: one of HTTP/1.0 only if the server says so.
    pub fn keeps_connection(&self) -> bool {
        self.is_done() && self.keeps
    }

    /// Returns the response when the connection ends: `None` if not even a head came.
    pub fn finish(mut self) -> Option<ClientResponse> {
        self.response.is_whole = matches!(self.state, State::Done | State::Rest);
        (self.state != State::Head).then_some(self.response)
    }

    /// Understands a part of what is there; returns whether there may be more.
    fn step(&mut self, piece: &mut Vec<u8>) -> Result<bool, Malformed> {
        match self.state {
            State::Head => {
                let Some(end) = self.rest.windows(4).position(|four| four == b"\r\n\r\n") else {
                    return if self.rest.len() > LONGEST_LINE { Err(Malformed) } else { Ok(false) };
                };
                let head: Vec<u8> = self.rest.drain(..end + 4).collect();
                self.read_head(&head)?;
            }
            State::Counted(left) | State::Chunk(left) => {
                let taken = left.min(self.rest.len());
                piece.extend(self.rest.drain(..taken));
                let is_chunk = matches!(self.state, State::Chunk(_));
                self.state = match (left - taken, is_chunk) {
                    (0, true) => State::ChunkEnd,
                    (0, false) => State::Done,
                    (left, true) => State::Chunk(left),
                    (left, false) => State::Counted(left),
                };
                return Ok(left == taken);
            }
            State::ChunkSize => {
                let Some(line) = self.line()? else { return Ok(false) };
                let size = line.split(';').next().unwrap_or_default().trim();
                self.state = match usize::from_str_radix(size, 16).map_err(|_| Malformed)? {
                    0 => State::Trailer,
                    size => State::Chunk(size),
                };
            }
            State::ChunkEnd => match self.line()? {
                None => return Ok(false),
                Some(line) if line.is_empty() => self.state = State::ChunkSize,
                Some(_) => return Err(Malformed),
            },
            State::Trailer => {
                let Some(line) = self.line()? else { return Ok(false) };
                if line.is_empty() {
                    self.state = State::Done;
                }
            }
            State::Rest => {
                piece.append(&mut self.rest);
                return Ok(false);
            }
            State::Done => return Ok(false),
        }
        Ok(true)
    }

    fn read_head(&mut self, head: &[u8]) -> Result<(), Malformed> {
        let head = str::from_utf8(head).map_err(|_| Malformed)?;
        let mut lines = head.split("\r\n");
        let mut words = lines.next().unwrap_or_default().splitn(3, ' ');
        let (version, status) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let status: u16 = status.parse().map_err(|_| Malformed)?;
        if !version.starts_with("HTTP/1.") {
            return Err(Malformed);
        }
        if (100..200).contains(&status) {
            return Ok(());
        }
        let headers = lines.filter_map(|line| line.split_once(':'));
        self.response.headers =
            headers.map(|(name, value)| (name.trim().to_ascii_lowercase(), value.trim().to_owned())).collect();
        self.response.status = status;
        let connection = self.response.header("connection").unwrap_or_default();
        self.keeps = if version == "HTTP/1.0" {
            connection.eq_ignore_ascii_case("keep-alive")
        } else {
            !connection.eq_ignore_ascii_case("close")
        };
        let is_chunked =
            self.response.header("transfer-encoding").is_some_and(|coding| coding.eq_ignore_ascii_case("chunked"));
        let length = self.response.header("content-length").map(|length| length.parse().map_err(|_| Malformed));
        self.state = match (is_chunked, length.transpose()?) {
            _ if status == 204 || status == 304 => State::Done,
            (true, _) => State::ChunkSize,
            (false, Some(0)) => State::Done,
            (false, Some(length)) => State::Counted(length),
            (false, None) => State::Rest,
        };
        Ok(())
    }

    /// The next line, without its end.
    fn line(&mut self) -> Result<Option<String>, Malformed> {
        match self.rest.iter().position(|&byte| byte == b'\n') {
            Some(end) => {
                let line: Vec<u8> = self.rest.drain(..=end).collect();
                Ok(Some(String::from_utf8_lossy(&line).trim_end().to_owned()))
            }
            None if self.rest.len() > LONGEST_LINE => Err(Malformed),
            None => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8], step: usize) -> (ResponseReader, Result<(), Malformed>) {
        let mut reader = ResponseReader::default();
        let result = bytes.chunks(step).try_for_each(|piece| reader.push(piece));
        (reader, result)
    }

    #[test]
    fn any_division_of_the_bytes_gives_the_same_answer() {
        for (bytes, body, is_whole) in [
            (&b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nHello"[..], "Hello", true),
            (b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nHello", "Hello", false),
            (
                b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3;x=y\r\nHel\r\n2\r\nlo\r\n0\r\nt: 1\r\n\r\n",
                "Hello",
                true,
            ),
            (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nHel\r\n2\r\nlo\r\n", "Hello", false),
            (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\nHello", "Hello", true),
            (b"HTTP/1.1 204 No Content\r\n\r\n", "", true),
        ] {
            for step in [1, 2, 3, 7, 1000] {
                let (reader, result) = read(bytes, step);
                let response = reader.finish().expect("a head");
                assert_eq!((result, response.status / 100, &*response.body()), (Ok(()), 2, body.as_bytes()));
                assert_eq!(response.is_whole, is_whole, "{}", String::from_utf8_lossy(bytes));
            }
        }
    }

    #[test]
    fn what_is_no_answer_is_said_to_be_none() {
        for bytes in
            [&b"SSH-2.0-x\r\n\r\n"[..], b"HTTP/1.1 OK\r\n\r\n", b"HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n"]
        {
            assert_eq!(read(bytes, 4).1, Err(Malformed));
        }
        let bad = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n";
        assert_eq!(read(bad, 100).1, Err(Malformed));
        assert_eq!(read(b"HTTP/1.1 200 OK\r\n", 5).0.finish(), None);
    }
}
