//! The socket around the gateway: hyper on one thread, for the client and for the upstream.

use super::{AnswerHead, GatewayAsk, Outgoing, Passage, TestGateway};
use hyper::body::{Body, Bytes, Frame, Incoming};
use hyper::client::conn::http1 as client;
use hyper::server::conn::http1 as server;
use hyper::service::service_fn;
use hyper::{Request, Response, Uri};
use hyper_util::rt::TokioIo;
use std::cell::RefCell;
use std::convert::Infallible;
use std::future::poll_fn;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use threadspec::oracle::Api;
use threadspec_provider::client::ClientRequest;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Builder;
use tokio::task::{LocalSet, spawn_local};

/// How a gateway is to be served.
#[derive(Clone, Debug)]
pub struct GatewaySettings {
    /// What its clients speak.
    pub client: Api,
    /// What its upstream speaks.
    pub upstream: Api,
    /// The base URL of the upstream, with or without `/v1`.
    pub url: String,
    /// The key for the upstream; without it the client's.
    pub key: Option<String>,
    /// The model that the upstream is asked for; without it the client's.
    pub model: Option<String>,
}

/// A gateway that listens.
pub struct GatewayServer {
    gateway: TestGateway,
    listener: std::net::TcpListener,
    /// Host, port and path of the upstream.
    authority: String,
    path: String,
}

impl GatewayServer {
    /// Listens at a port of this machine; 0 is a free one.
    ///
    /// # Errors
    ///
    /// When the port is taken, or the URL is none of plain HTTP.
    pub fn listen(settings: &GatewaySettings, port: u16) -> io::Result<Self> {
        let invalid = |why: &str| io::Error::new(io::ErrorKind::InvalidInput, format!("{}: {why}", settings.url));
        let uri: Uri = settings.url.parse().map_err(|error| invalid(&format!("{error}")))?;
        let authority = uri.authority().filter(|_| uri.scheme_str() == Some("http"));
        let authority = authority.ok_or_else(|| invalid("it is no http:// URL"))?.as_str();
        let authority = if authority.contains(':') { authority.to_owned() } else { format!("{authority}:80") };
        let path = uri.path().trim_end_matches('/');
        let mut gateway = TestGateway::new(settings.client, settings.upstream);
        (gateway.key, gateway.model) = (settings.key.clone(), settings.model.clone());
        let listener = std::net::TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?;
        listener.set_nonblocking(true)?;
        Ok(Self { gateway, listener, authority, path: path.strip_suffix("/v1").unwrap_or(path).to_owned() })
    }

    /// The gateway that is served.
    pub(crate) fn gateway(&mut self) -> &mut TestGateway {
        &mut self.gateway
    }

    /// Where it listens.
    ///
    /// # Errors
    ///
    /// When the socket does not say.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until the process ends.
    ///
    /// # Errors
    ///
    /// When the socket fails.
    pub fn run(self) -> io::Result<()> {
        let runtime = Builder::new_current_thread().enable_io().enable_time().build()?;
        let Self { gateway, listener, authority, path } = self;
        let shared = Rc::new(ServedGateway { gateway: RefCell::new(gateway), authority, path });
        let accept = async move {
            let listener = TcpListener::from_std(listener)?;
            loop {
                let (stream, _) = listener.accept().await?;
                let _ = stream.set_nodelay(true);
                let shared = Rc::clone(&shared);
                spawn_local(async move {
                    let service = service_fn(move |request| answer(Rc::clone(&shared), request));
                    // A client that leaves is no trouble of the gateway's.
                    let _ = server::Builder::new().serve_connection(TokioIo::new(stream), service).await;
                });
            }
        };
        LocalSet::new().block_on(&runtime, accept)
    }
}

/// The gateway, and where its upstream is.
struct ServedGateway {
    gateway: RefCell<TestGateway>,
    authority: String,
    path: String,
}

async fn answer(shared: Rc<ServedGateway>, request: Request<Incoming>) -> Result<Response<PassedBody>, Infallible> {
    let (head, body) = request.into_parts();
    let field = |(name, value): (&hyper::header::HeaderName, &hyper::header::HeaderValue)| {
        (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
    };
    let request = ClientRequest {
        method: head.method.to_string(),
        target: head.uri.path_and_query().map_or("/", |target| target.as_str()).to_owned(),
        headers: head.headers.iter().map(field).collect(),
        body: collected(body).await.unwrap_or_default(),
    };
    let asked = shared.gateway.borrow_mut().ask(request);
    let (mut sent, mut passage, beside) = match asked {
        GatewayAsk::Answered(answer) => return Ok(response(answer, None)),
        GatewayAsk::Sent(sent, passage, beside) => (sent, passage, beside),
    };
    for request in beside {
        let shared = Rc::clone(&shared);
        spawn_local(async move { drop(upstream(&shared, request).await) });
    }
    let (head, incoming) = loop {
        let Some(upstream) = upstream(&shared, sent.clone()).await else {
            let answer = passage.unreachable();
            shared.gateway.borrow_mut().settle(&mut passage);
            return Ok(response(answer, None));
        };
        let (head, incoming) = upstream.into_parts();
        let head = AnswerHead { status: head.status.as_u16(), headers: head.headers.iter().map(field).collect() };
        match passage.again(&head, false, &mut sent) {
            Some(pause) => tokio::time::sleep(pause).await,
            None => break (head, incoming),
        }
    };
    let first = passage.head(head.clone());
    let rest = Rest { incoming, passage, shared, ending: None, head, sent, further: None };
    let mut body = PassedBody { first: Bytes::new(), rest: Some(rest) };
    let mut answer = first;
    // The head for the client may be known only when something has come.
    while answer.head.is_none() && answer.is_whole.is_none() {
        let Some(rest) = &mut body.rest else { break };
        answer = poll_fn(|context| rest.poll(context)).await;
    }
    Ok(response(answer, body.rest))
}

fn response(answer: Outgoing, rest: Option<Rest>) -> Response<PassedBody> {
    let Outgoing { head, data, is_whole } = answer;
    let head = head.unwrap_or_else(|| AnswerHead::new(502, "text/plain"));
    let rest = rest.filter(|_| is_whole.is_none());
    let mut response = Response::new(PassedBody { first: data.into(), rest });
    *response.status_mut() = hyper::StatusCode::from_u16(head.status).unwrap_or(hyper::StatusCode::BAD_GATEWAY);
    for (name, value) in head.headers {
        let name = hyper::header::HeaderName::from_bytes(name.as_bytes());
        if let (Ok(name), Ok(value)) = (name, hyper::header::HeaderValue::from_str(&value)) {
            response.headers_mut().append(name, value);
        }
    }
    response
}

async fn collected(mut body: Incoming) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        bytes.extend(frame.ok()?.into_data().ok().unwrap_or_default());
    }
    Some(bytes)
}

async fn upstream(shared: &ServedGateway, sent: ClientRequest) -> Option<Response<Incoming>> {
    let stream = TcpStream::connect(&*shared.authority).await.ok()?;
    let _ = stream.set_nodelay(true);
    let (mut sender, connection) = client::handshake(TokioIo::new(stream)).await.ok()?;
    spawn_local(async move {
        let _ = connection.await;
    });
    let mut request = Request::builder().method(&*sent.method).uri(format!("{}{}", shared.path, sent.target));
    request = request.header("host", &*shared.authority);
    for (name, value) in &sent.headers {
        request = request.header(name, value);
    }
    let body = PassedBody { first: sent.body.into(), rest: None };
    sender.send_request(request.body(body).ok()?).await.ok()
}

/// What comes behind the bytes that are known.
struct Rest {
    incoming: Incoming,
    passage: Box<Passage>,
    shared: Rc<ServedGateway>,
    /// Whether the client's answer has ended, and then whether as HTTP wants it.
    ending: Option<bool>,
    /// The head of the upstream's answer, and the request that it answers.
    head: AnswerHead,
    sent: ClientRequest,
    /// The answer to a request that is sent again.
    further: Option<Pin<Box<dyn Future<Output = Option<Response<Incoming>>>>>>,
}

impl Rest {
    /// The next part for the client. What ends says so once.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Outgoing> {
        if let Some(further) = &mut self.further {
            let further = ready!(further.as_mut().poll(context));
            self.further = None;
            if let Some(response) = further {
                self.incoming = response.into_body();
            }
        }
        let outgoing = match ready!(Pin::new(&mut self.incoming).poll_frame(context)) {
            Some(Ok(frame)) => self.passage.data(frame.data_ref().map_or(&[][..], |data| data)),
            Some(Err(_)) => match self.passage.again(&self.head, true, &mut self.sent) {
                Some(pause) => {
                    let (shared, sent) = (Rc::clone(&self.shared), self.sent.clone());
                    self.further = Some(Box::pin(async move {
                        tokio::time::sleep(pause).await;
                        upstream(&shared, sent).await
                    }));
                    // It is asked for at once.
                    Outgoing::default()
                }
                None => self.passage.end(false),
            },
            None => self.passage.end(true),
        };
        if outgoing.is_whole.is_some() {
            self.shared.gateway.borrow_mut().settle(&mut self.passage);
        }
        Poll::Ready(outgoing)
    }
}

/// A body that passes as it comes.
struct PassedBody {
    first: Bytes,
    rest: Option<Rest>,
}

/// The connection ends here, as that of the upstream did.
#[derive(Debug)]
struct BrokenOff;

impl std::fmt::Display for BrokenOff {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the answer of the upstream broke off")
    }
}

impl std::error::Error for BrokenOff {}

impl Body for PassedBody {
    type Data = Bytes;
    type Error = BrokenOff;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BrokenOff>>> {
        if !self.first.is_empty() {
            return Poll::Ready(Some(Ok(Frame::data(std::mem::take(&mut self.first)))));
        }
        let Some(rest) = &mut self.rest else { return Poll::Ready(None) };
        loop {
            if let Some(is_whole) = rest.ending {
                return Poll::Ready(if is_whole { None } else { Some(Err(BrokenOff)) });
            }
            let Outgoing { data, is_whole, .. } = ready!(rest.poll(context));
            rest.ending = is_whole;
            if !data.is_empty() {
                return Poll::Ready(Some(Ok(Frame::data(data.into()))));
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.first.is_empty() && self.rest.is_none()
    }
}
