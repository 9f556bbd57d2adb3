//! What an agent needs to ask a provider: requests and answers of HTTP/1.1, without a socket and with one.
//!
//! [`Exchange`] is all that an agent sees of the wire: it sends a request, and hears what came back and how it ended. [`Connection`] does that over
//! a socket. Time belongs to it, so that where there is no socket, nobody waits. [`HttpModel`] is a whole model: the library's tool rounds run
//! with it as with any other. [`HttpThreadModel`] is one for the library's sessions.

mod body;
mod connection;
mod model;
mod response;
mod session;

pub use connection::Connection;
pub use model::HttpModel;
pub use response::ResponseReader;
pub use session::HttpThreadModel;

use std::time::Duration;

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

/// What came back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientResponse {
    /// The status.
    pub status: u16,
    /// Names, in lower case, and values.
    pub headers: Vec<(String, String)>,
    /// The body, in the pieces in which it arrived.
    pub pieces: Vec<Vec<u8>>,
    /// Whether the body ended as its head says that it ends.
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
