//! Lets an agent ask a provider: requests and answers of HTTP/1.1, without a socket and with one.
//!
//! [`Exchange`] is all that an agent sees of the wire: it sends a request, and hears what came back and how it ended. [`Connection`] does that over
//! a socket. Time belongs to it, so that where there is no socket, nobody waits. [`HttpModel`] is a whole model: the library's tool rounds run
//! with it as with any other. [`HttpThreadModel`] is one for the library's sessions.

mod body;
mod connection;
mod model;
mod request;
mod response;
mod session;

pub use body::{ClientAsk, ClientCall, ClientContent, ClientMessage, ClientOptions, ClientPart, ClientTool};
pub use connection::Connection;
pub use model::HttpModel;
pub use response::ResponseReader;
pub use session::HttpThreadModel;

use std::time::Duration;
use threadspec::oracle::Api;
use threadspec_apis::sse::SseParser;
use threadspec_apis::{AnswerReader, ReadAnswer, read_answer};
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
