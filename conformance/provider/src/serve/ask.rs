//! A client's way to an upstream: one request, one answer, over the same connections as a proxy's, `https` included.

use super::forward::Upstream;
use crate::client::{ClientRequest, ClientResponse};
use crate::error::Error;
use hyper::Request;
use hyper::body::{Body, Incoming};
use hyper::http::request::Parts;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::time::Duration;
use tokio::runtime::Builder;
use tokio::task::LocalSet;
use tokio::time::timeout;

/// How often it looks whether it should go on.
const TICK: Duration = Duration::from_millis(50);

/// How much an answer may have, and how long all of it may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AskLimits {
    /// From the connection to the last byte.
    pub time: Duration,
    /// The bytes of its body; what is longer broke off there.
    pub body_bytes: usize,
}

impl Default for AskLimits {
    fn default() -> Self {
        Self { time: Duration::from_secs(30), body_bytes: 16 << 20 }
    }
}

impl Upstream {
    /// Sends a request, and waits for the whole answer. A redirect is an answer like any other: nothing is sent to another place. While it waits
    /// it asks `goes_on` whether it should.
    ///
    /// # Errors
    ///
    /// Why no answer came.
    pub fn ask(
        &self,
        request: &ClientRequest,
        limits: AskLimits,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<ClientResponse, Error> {
        let wrong = |why: &str| Error::new("", why);
        let runtime = Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .build()
            .map_err(|error| Error::new("", format_args!("no runtime: {error}")))?;
        let head = head(request).ok_or_else(|| wrong("a header or the path cannot be sent"))?;
        // Connections of the proxy live on the thread that asks.
        let local = LocalSet::new();
        let asked = local.run_until(async {
            let mut answer = pin!(timeout(limits.time, self.answer(&head, request.body.clone(), limits)));
            loop {
                match timeout(TICK, &mut answer).await {
                    Ok(answer) => return answer.unwrap_or_else(|_| Err(too_late(limits))),
                    Err(_) if !goes_on() => return Err("interrupted".to_owned()),
                    Err(_) => {}
                }
            }
        });
        runtime.block_on(asked).map_err(|why| wrong(&why))
    }

    async fn answer(&self, head: &Parts, body: Vec<u8>, limits: AskLimits) -> Result<ClientResponse, String> {
        let (head, body) = self.send(head, body).await?.into_parts();
        let header = |(name, value): (&hyper::header::HeaderName, &hyper::header::HeaderValue)| {
            (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
        };
        let headers = head.headers.iter().map(header).collect();
        let (pieces, is_whole) = pieces(body, limits.body_bytes).await;
        Ok(ClientResponse { status: head.status.as_u16(), headers, pieces, is_whole })
    }
}

fn too_late(limits: AskLimits) -> String {
    format!("no whole answer within {} s", limits.time.as_secs_f64())
}

fn head(request: &ClientRequest) -> Option<Parts> {
    let mut head = Request::builder().method(&*request.method).uri(&*request.target);
    for (name, value) in &request.headers {
        head = head.header(name, value);
    }
    head.body(()).ok().map(|request| request.into_parts().0)
}

/// The body as it came, and whether it came to its end.
async fn pieces(mut body: Incoming, most: usize) -> (Vec<Vec<u8>>, bool) {
    let (mut pieces, mut length) = (Vec::new(), 0);
    loop {
        match poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
            None => return (pieces, true),
            Some(Err(_)) => return (pieces, false),
            Some(Ok(frame)) => {
                if let Some(data) = frame.data_ref() {
                    length += data.len();
                    pieces.push(data.to_vec());
                }
                if length > most {
                    return (pieces, false);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::thread;

    /// Returns the result of a request to a server that sends this and closes, and the request that it received.
    fn asked(said: &'static str, limits: AskLimits, goes_on: bool) -> (Result<ClientResponse, String>, String) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("an address");
        let url = format!("http://{}/base/v1", listener.local_addr().expect("an address"));
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a client");
            let (mut heard, mut buffer) = (Vec::new(), [0; 4096]);
            while !heard.ends_with(b"{}") {
                let count = stream.read(&mut buffer).expect("a request");
                heard.extend_from_slice(&buffer[..count]);
            }
            stream.write_all(said.as_bytes()).expect("an answer");
            if said.is_empty() {
                // Until the client has gone.
                let _ = stream.read(&mut buffer);
            }
            String::from_utf8(heard).expect("text")
        });
        let request = ClientRequest {
            method: "POST".into(),
            target: "/v1/x".into(),
            headers: vec![("authorization".into(), "Bearer k".into())],
            body: b"{}".to_vec(),
        };
        let upstream = Upstream::read(&url, None).expect("a URL");
        let answer = upstream.ask(&request, limits, &|| goes_on).map_err(|error| error.to_string());
        (answer, server.join().expect("no panic"))
    }

    #[test]
    fn a_request_gets_its_whole_answer_and_a_redirect_is_one() {
        let limits = AskLimits::default();
        let (answer, heard) =
            asked("HTTP/1.1 307 Else\r\nlocation: http://else\r\ncontent-length: 2\r\n\r\nHi", limits, true);
        let answer = answer.expect("an answer");
        assert_eq!((answer.status, answer.body(), answer.is_whole), (307, b"Hi".to_vec(), true));
        assert_eq!(answer.header("location"), Some("http://else"));
        assert!(heard.starts_with("POST /base/v1/x HTTP/1.1\r\n"), "{heard}");
        assert!(heard.contains("authorization: Bearer k\r\n") && heard.contains("content-length: 2\r\n"), "{heard}");
    }

    #[test]
    fn what_breaks_off_is_not_whole_and_what_is_no_http_is_an_error() {
        let limits = AskLimits::default();
        let (answer, _) = asked("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nHi", limits, true);
        assert!(answer.is_ok_and(|answer| !answer.is_whole && answer.body() == b"Hi"));
        let (answer, _) = asked("HTTP/1.1 200 OK\r\n\r\nHello", AskLimits { body_bytes: 3, ..limits }, true);
        assert!(answer.is_ok_and(|answer| !answer.is_whole));
        assert!(asked("SSH-2.0-x\r\n", limits, true).0.is_err());
    }

    #[test]
    fn a_server_that_says_nothing_is_left() {
        let limits = AskLimits { time: Duration::from_millis(60), ..AskLimits::default() };
        assert_eq!(asked("", limits, true).0, Err("no whole answer within 0.06 s".to_owned()));
        assert_eq!(asked("", AskLimits::default(), false).0, Err("interrupted".to_owned()));
    }
}
