//! Requests and answers over a socket, one after the other, on a connection that is kept.

use super::{ClientRequest, ClientResponse, Exchange, ResponseReader};
use std::fmt;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

/// How long nothing may come before the provider counts as gone.
const PATIENCE: Duration = Duration::from_secs(120);

/// How often it is asked whether to give up, while nothing comes.
const TICK: Duration = Duration::from_millis(50);

/// A connection to the provider at one address.
pub struct Connection {
    authority: String,
    stream: Option<TcpStream>,
    /// Says that an answer is not to be waited for any longer.
    gives_up: Option<Box<dyn FnMut() -> bool + Send + Sync>>,
}

impl Connection {
    /// A connection to the host and port of a base URL, opened when it is first used. Plain `http` alone is spoken.
    ///
    /// ```
    /// use threadspec_provider::client::Connection;
    /// assert!(Connection::to("http://127.0.0.1:43127/v1").is_some());
    /// assert!(Connection::to("https://api.example.com/v1").is_none());
    /// ```
    pub fn to(base_url: &str) -> Option<Self> {
        let (authority, _) = parts(base_url)?;
        let authority = if authority.contains(':') { authority.to_owned() } else { format!("{authority}:80") };
        Some(Self { authority, stream: None, gives_up: None })
    }

    /// Another one to the same place.
    #[must_use]
    pub fn another(&self) -> Self {
        Self { authority: self.authority.clone(), stream: None, gives_up: None }
    }

    /// Its host and port.
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// Makes a connection that gives up an answer as soon as this returns true. It is asked again and again while nothing comes.
    #[must_use]
    pub fn giving_up(self, gives_up: impl FnMut() -> bool + Send + Sync + 'static) -> Self {
        Self { gives_up: Some(Box::new(gives_up)), ..self }
    }

    /// The path of a base URL, without a slash at its end.
    pub fn path_of(base_url: &str) -> &str {
        parts(base_url).map_or("", |(_, path)| path.trim_end_matches('/'))
    }

    fn try_exchange(&mut self, request: &ClientRequest) -> io::Result<Option<ClientResponse>> {
        // A server may close what nobody uses; what is sent there would look like a request that it does not answer.
        let _ = self.stream.take_if(|stream| is_closed(stream));
        let stream = match &mut self.stream {
            Some(stream) => stream,
            none => {
                let stream = TcpStream::connect(&*self.authority)?;
                stream.set_nodelay(true)?;
                stream.set_read_timeout(Some(if self.gives_up.is_some() { TICK } else { PATIENCE }))?;
                stream.set_write_timeout(Some(PATIENCE))?;
                none.insert(stream)
            }
        };
        let ClientRequest { method, target, headers, body } = request;
        let mut bytes = format!("{method} {target} HTTP/1.1\r\nhost: {}\r\n", self.authority);
        for (name, value) in headers {
            bytes += &format!("{name}: {value}\r\n");
        }
        bytes += &format!("content-length: {}\r\n\r\n", body.len());
        stream.write_all(&[bytes.as_bytes(), body].concat())?;
        let (mut reader, mut buffer) = (ResponseReader::default(), vec![0; 1 << 16]);
        let is_pause = |error: &io::Error| matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut);
        let mut last = Instant::now();
        while !reader.is_done() && !self.gives_up.as_mut().is_some_and(|gives_up| gives_up()) {
            match stream.read(&mut buffer) {
                Err(error) if is_pause(&error) && last.elapsed() < PATIENCE => {}
                Ok(0) | Err(_) => break,
                Ok(count) if reader.push(&buffer[..count]).is_err() => return Ok(None),
                Ok(_) => last = Instant::now(),
            }
        }
        if !reader.keeps_connection() {
            self.stream = None;
        }
        Ok(reader.finish())
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("authority", &self.authority).finish_non_exhaustive()
    }
}

/// Returns whether a connection that is not used has been closed, or something came on it that nobody asked for.
fn is_closed(stream: &TcpStream) -> bool {
    let is_quiet = stream.set_nonblocking(true).is_ok()
        && stream.peek(&mut [0]).is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock);
    stream.set_nonblocking(false).is_err() || !is_quiet
}

/// The authority and the path of an `http` URL.
fn parts(url: &str) -> Option<(&str, &str)> {
    let rest = url.strip_prefix("http://")?;
    let at = rest.find('/').unwrap_or(rest.len());
    Some(rest.split_at(at)).filter(|(authority, _)| !authority.is_empty())
}

impl Exchange for Connection {
    fn exchange(&mut self, request: &ClientRequest) -> Option<ClientResponse> {
        let response = self.try_exchange(request).ok().flatten();
        if response.is_none() {
            self.stream = None;
        }
        response
    }

    fn wait(&mut self, time: Duration) {
        thread::sleep(time);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn a_connection_is_kept_and_a_lost_one_is_opened_again() -> io::Result<()> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let url = format!("http://{}/v1/", listener.local_addr()?);
        let server = thread::spawn(move || -> io::Result<Vec<String>> {
            let (mut heard, mut buffer) = (Vec::new(), [0; 4096]);
            let mut answer = |stream: &mut TcpStream, answer: &str| {
                let count = stream.read(&mut buffer)?;
                heard.push(String::from_utf8_lossy(&buffer[..count]).into_owned());
                stream.write_all(answer.as_bytes())
            };
            let mut first = listener.accept()?.0;
            answer(&mut first, "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nHi")?;
            answer(&mut first, "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nHi")?;
            drop(first);
            answer(&mut listener.accept()?.0, "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n")?;
            Ok(heard)
        });
        let mut connection = Connection::to(&url).expect("an http URL");
        let request = ClientRequest {
            method: "POST".into(),
            target: format!("{}/x", Connection::path_of(&url)),
            headers: vec![("a".into(), "b".into())],
            body: b"{}".to_vec(),
        };
        let mut ask = || connection.exchange(&request).map(|response| (response.status, response.is_whole));
        assert_eq!([ask(), ask(), ask()], [Some((200, true)), Some((200, false)), Some((404, true))]);
        let heard = server.join().expect("no panic")?;
        assert!(
            heard.iter().all(|request| request.starts_with("POST /v1/x HTTP/1.1\r\nhost: 127.0.0.1:")),
            "{heard:?}"
        );
        assert!(heard[0].contains("\r\na: b\r\ncontent-length: 2\r\n\r\n{}"), "{heard:?}");
        Ok(())
    }

    #[test]
    fn a_connection_that_the_server_will_close_is_not_used_again() -> io::Result<()> {
        let heads = [
            "HTTP/1.0 200 OK\r\n",
            "HTTP/1.1 200 OK\r\nConnection: Close\r\n",
            "HTTP/1.0 200 OK\r\nconnection: keep-alive\r\n",
        ];
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let url = format!("http://{}", listener.local_addr()?);
        // Each is kept open, as by a server that is slow to close it, and answers twice if it is asked twice.
        let server = thread::spawn(move || -> io::Result<Vec<usize>> {
            let (mut asked, mut open) = (Vec::new(), Vec::new());
            for head in heads {
                let mut stream = listener.accept()?.0;
                stream.set_read_timeout(Some(Duration::from_millis(300)))?;
                let (mut times, mut buffer) = (0, [0; 4096]);
                while times < 2 && stream.read(&mut buffer).is_ok_and(|count| count > 0) {
                    stream.write_all(format!("{head}content-length: 2\r\n\r\nHi").as_bytes())?;
                    times += 1;
                }
                asked.push(times);
                open.push(stream);
            }
            Ok(asked)
        });
        let mut connection = Connection::to(&url).expect("an http URL");
        let request = ClientRequest { method: "GET".into(), target: "/".into(), headers: Vec::new(), body: Vec::new() };
        for number in 0..4 {
            assert!(connection.exchange(&request).is_some_and(|response| response.is_whole), "request {number}");
        }
        assert_eq!(server.join().expect("no panic")?, [1, 1, 2]);
        Ok(())
    }
}
