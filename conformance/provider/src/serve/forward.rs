//! The way to an upstream: a request goes on as it came, and the answer passes through as it arrives.

use super::socket::{Link, PlannedBreak};
use crate::error::Error;
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use hyper::client::conn::http1;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Request, Response, Uri, header};
use hyper_util::rt::TokioIo;
use std::net::IpAddr;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::{fmt, io};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::task::spawn_local;

/// Fields that are about one connection, and those that the proxy makes itself.
const OWN_FIELDS: &[HeaderName] = &[
    header::CONNECTION,
    header::HOST,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    header::CONTENT_LENGTH,
    header::ACCEPT_ENCODING,
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
];
/// The fields in which the APIs take a key.
const KEY_FIELDS: &[&str] = &["authorization", "x-api-key", "api-key"];

/// The server that a proxy forwards to.
#[derive(Clone)]
pub struct Upstream {
    is_tls: bool,
    host: String,
    port: u16,
    /// The text before the path of each request.
    path: String,
    /// The key that replaces the client's.
    key: Option<String>,
    /// The further fields of each request.
    further: Vec<(String, String)>,
}

impl Upstream {
    /// Reads a base URL: `https://api.openai.com`, `http://127.0.0.1:8080`. A path in it is before those of the requests, but for a `/v1` that they
    /// bring themselves. With a key, the client's is replaced.
    ///
    /// # Errors
    ///
    /// Says what is wrong with the URL, or that this program was built without TLS.
    pub fn read(url: &str, key: Option<String>) -> Result<Self, Error> {
        let wrong = |why: &str| Error::new("", format_args!("the URL of the upstream: {why}"));
        let uri: Uri = url.parse().map_err(|error| wrong(&format!("{error}")))?;
        let is_tls = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            _ => return Err(wrong("it does not begin with http:// or https://")),
        };
        if is_tls && !tls::IS_THERE {
            return Err(wrong("this program was built without TLS (feature `tls`), so that it takes http:// only"));
        }
        if uri.query().is_some() || uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
            return Err(wrong("it has a query or a user, which would go to the upstream with each request"));
        }
        let host = uri.host().filter(|host| !host.is_empty()).ok_or_else(|| wrong("it has no host"))?;
        let path = uri.path().trim_end_matches('/');
        Ok(Self {
            is_tls,
            host: host.trim_matches(['[', ']']).to_owned(),
            port: uri.port_u16().unwrap_or(if is_tls { 443 } else { 80 }),
            path: path.strip_suffix("/v1").unwrap_or(path).to_owned(),
            key,
            further: Vec::new(),
        })
    }

    /// Adds these fields to each request.
    #[must_use]
    pub fn adding(self, further: Vec<(String, String)>) -> Self {
        Self { further, ..self }
    }

    /// The host and the port, as the field `host` has them.
    pub fn authority(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        let is_usual = self.port == if self.is_tls { 443 } else { 80 };
        if is_usual { host } else { format!("{host}:{}", self.port) }
    }

    /// Returns whether what is sent there stays on this machine.
    ///
    /// ```
    /// use threadspec_provider::Upstream;
    /// let is_loopback = |url| Upstream::read(url, None).map(|upstream| upstream.is_loopback());
    /// assert!(is_loopback("http://localhost:8080")?);
    /// assert!(!is_loopback("http://localhost.example.com")?);
    /// # Ok::<(), threadspec_provider::Error>(())
    /// ```
    pub fn is_loopback(&self) -> bool {
        self.host.eq_ignore_ascii_case("localhost")
            || self.host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    }

    /// Returns whether nobody on the way can read what is sent.
    pub fn is_secure(&self) -> bool {
        self.is_tls
    }

    /// Where a request for this path goes, without a key.
    pub fn url(&self, path: &str) -> String {
        format!("{}://{}{}{path}", if self.is_tls { "https" } else { "http" }, self.authority(), self.path)
    }

    /// Sends a request on, and waits for the head of the answer.
    pub(super) async fn send(&self, head: &Parts, body: Vec<u8>) -> Result<Response<Incoming>, String> {
        let request = self.request(head, body).map_err(|error| error.to_string())?;
        let stream = TcpStream::connect((self.host.as_str(), self.port)).await.map_err(|error| self.cannot(&error))?;
        let _ = stream.set_nodelay(true);
        if self.is_tls {
            let stream = tls::secured(&self.host, stream).await.map_err(|error| self.cannot(&error))?;
            ask(stream, request).await
        } else {
            ask(stream, request).await
        }
    }

    fn cannot(&self, error: &io::Error) -> String {
        format!("{}: {error}", self.authority())
    }

    fn request(&self, head: &Parts, body: Vec<u8>) -> Result<Request<OnePiece>, hyper::http::Error> {
        let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
        let mut request = Request::builder()
            .method(&head.method)
            .uri(format!("{}{path}", self.path))
            .body(OnePiece(Some(body.into())))?;
        let headers = request.headers_mut();
        let named: Vec<&str> =
            head.headers.get_all(header::CONNECTION).iter().filter_map(|value| value.to_str().ok()).collect();
        let is_own = |name: &HeaderName| {
            let is_named = named
                .iter()
                .flat_map(|names| names.split(','))
                .any(|own| own.trim().eq_ignore_ascii_case(name.as_str()));
            OWN_FIELDS.contains(name) || name.as_str() == "keep-alive" || name.as_str() == "expect" || is_named
        };
        for (name, value) in head.headers.iter().filter(|(name, _)| !is_own(name)) {
            let is_key = KEY_FIELDS.contains(&name.as_str());
            let value = self.key.as_deref().filter(|_| is_key).map_or_else(
                || Ok(value.clone()),
                |key| {
                    HeaderValue::from_str(&if *name == header::AUTHORIZATION {
                        format!("Bearer {key}")
                    } else {
                        key.to_owned()
                    })
                },
            )?;
            headers.append(name, value);
        }
        for (name, value) in &self.further {
            headers.insert(HeaderName::try_from(name)?, HeaderValue::from_str(value)?);
        }
        headers.insert(header::HOST, HeaderValue::from_str(&self.authority())?);
        headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        Ok(request)
    }
}

/// Its key is nowhere.
impl fmt::Debug for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Upstream")
            .field("authority", &self.authority())
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

async fn ask<S>(stream: S, request: Request<OnePiece>) -> Result<Response<Incoming>, String>
where
    S: AsyncRead + AsyncWrite + Unpin + 'static,
{
    let failed = |error: hyper::Error| error.to_string();
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(failed)?;
    // It ends with the answer, or with whoever takes it.
    spawn_local(async move {
        let _ = connection.await;
    });
    sender.send_request(request).await.map_err(failed)
}

/// The fields of an answer that go on to the client.
pub(super) fn passed_on(headers: &HeaderMap) -> HeaderMap {
    let is_own = |name: &HeaderName| {
        [header::CONNECTION, header::TRANSFER_ENCODING, header::TRAILER, header::UPGRADE].contains(name)
            || name.as_str() == "keep-alive"
    };
    headers.iter().filter(|(name, _)| !is_own(name)).map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// A body in one piece.
pub(super) struct OnePiece(Option<Bytes>);

impl Body for OnePiece {
    type Data = Bytes;
    type Error = PlannedBreak;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, PlannedBreak>>> {
        Poll::Ready(self.0.take().filter(|bytes| !bytes.is_empty()).map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.as_ref().is_none_or(Bytes::is_empty)
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.as_ref().map_or(0, |bytes| bytes.len() as u64))
    }
}

/// Receives the traffic.
type Listener = Box<dyn FnMut(&[u8])>;

/// The body of an upstream's answer, which passes through as it arrives.
pub(super) struct PassingBody {
    incoming: Incoming,
    link: Rc<Link>,
    hear: Listener,
}

impl PassingBody {
    pub(super) fn new(incoming: Incoming, link: Rc<Link>, hear: impl FnMut(&[u8]) + 'static) -> Self {
        let body = Self { incoming, link, hear: Box::new(hear) };
        if body.is_end_stream() {
            body.link.complete();
        }
        body
    }
}

impl Body for PassingBody {
    type Data = Bytes;
    type Error = PlannedBreak;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, PlannedBreak>>> {
        let this = &mut *self;
        // So that each part leaves in a write of its own, and an end that is none loses nothing.
        ready!(this.link.poll_left(context));
        match ready!(Pin::new(&mut this.incoming).poll_frame(context)) {
            None => {
                this.link.complete();
                Poll::Ready(None)
            }
            Some(Ok(frame)) => {
                if let Some(data) = frame.data_ref() {
                    (this.hear)(data);
                }
                this.link.give();
                if this.incoming.is_end_stream() {
                    this.link.complete();
                }
                Poll::Ready(Some(Ok(frame)))
            }
            // What breaks off there breaks off here.
            Some(Err(_)) => {
                this.link.break_off(false);
                Poll::Ready(Some(Err(PlannedBreak)))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.incoming.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.incoming.size_hint()
    }
}

#[cfg(feature = "tls")]
mod tls {
    use std::io;
    use std::sync::{Arc, OnceLock};
    use tokio::net::TcpStream;
    use tokio_rustls::TlsConnector;
    use tokio_rustls::client::TlsStream;
    use tokio_rustls::rustls::pki_types::ServerName;
    use tokio_rustls::rustls::{ClientConfig, RootCertStore};

    pub(super) const IS_THERE: bool = true;

    static CONFIGURATION: OnceLock<Arc<ClientConfig>> = OnceLock::new();

    pub(super) async fn secured(host: &str, stream: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        let configuration = CONFIGURATION.get_or_init(|| {
            let roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
            Arc::new(ClientConfig::builder().with_root_certificates(roots).with_no_client_auth())
        });
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        TlsConnector::from(Arc::clone(configuration)).connect(name, stream).await
    }
}

#[cfg(not(feature = "tls"))]
mod tls {
    use std::io;
    use tokio::net::TcpStream;

    pub(super) const IS_THERE: bool = false;

    /// Nobody comes here: a URL that needs it is refused.
    #[expect(clippy::unused_async, reason = "the other one waits")]
    pub(super) async fn secured(_: &str, _: TcpStream) -> io::Result<TcpStream> {
        Err(io::Error::from(io::ErrorKind::Unsupported))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_url_is_read() {
        let read = |url: &str| {
            Upstream::read(url, None)
                .map(|upstream| (upstream.authority(), upstream.path))
                .map_err(|error| error.to_string())
        };
        for (url, authority, path) in [
            ("http://127.0.0.1:8080", "127.0.0.1:8080", ""),
            ("http://127.0.0.1:8080/v1/", "127.0.0.1:8080", ""),
            ("http://localhost/proxy/openai/v1", "localhost", "/proxy/openai"),
            ("http://[::1]:80", "[::1]", ""),
        ] {
            assert_eq!(read(url), Ok((authority.to_owned(), path.to_owned())), "{url}");
        }
        for (url, why) in [
            ("127.0.0.1:8080", "http://"),
            ("ftp://a", "http://"),
            ("http://", "the URL"),
            ("http://me:secret@host", "user"),
            ("http://host/?key=secret", "query"),
        ] {
            assert!(read(url).is_err_and(|error| error.contains(why)), "{url}: {:?}", read(url));
        }
    }
}
