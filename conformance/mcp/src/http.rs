//! Serves over streamable HTTP, on a thread of its own.

use crate::check::MessageCheck;
use crate::server::ScriptedServer;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use std::convert::Infallible;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::{io, thread};
use tokio::runtime::Builder;
use tokio::sync::oneshot;

/// A server that listens until it is dropped.
#[derive(Debug)]
pub struct McpHttp {
    address: SocketAddr,
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

type McpService = StreamableHttpService<ScriptedServer, LocalSessionManager>;
type McpBody = BoxBody<Bytes, Infallible>;

impl McpHttp {
    /// Starts to listen.
    ///
    /// # Errors
    ///
    /// When it cannot.
    pub fn start(address: SocketAddr, server: ScriptedServer) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let (end, is_over) = oneshot::channel();
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let run = move || {
            runtime.block_on(async {
                tokio::spawn(listen(listener, server));
                let _ = is_over.await;
            });
            runtime.shutdown_background();
        };
        let thread = thread::Builder::new().name("mcp".into()).spawn(run)?;
        Ok(Self { address, end: Some(end), thread: Some(thread) })
    }

    /// Where it listens.
    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }
}

impl Drop for McpHttp {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

async fn listen(listener: TcpListener, server: ScriptedServer) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    let own = server.clone();
    let service: McpService = StreamableHttpService::new(
        move || Ok(own.clone()),
        Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default(),
    );
    while let Ok((stream, _)) = listener.accept().await {
        let (service, server) = (service.clone(), server.clone());
        tokio::spawn(async move {
            let answer = service_fn(|request| answer(&service, &server, request));
            // A client that leaves in the middle costs itself alone.
            let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), answer).await;
        });
    }
}

/// Answers a request. One whose message is none is named, and does not reach the SDK.
async fn answer(
    service: &McpService,
    server: &ScriptedServer,
    request: Request<Incoming>,
) -> Result<Response<McpBody>, hyper::Error> {
    let (head, body) = request.into_parts();
    let body = body.collect().await?.to_bytes();
    if head.method == Method::POST
        && let Err(broken) = MessageCheck::default().came(&String::from_utf8_lossy(&body))
    {
        server.record().broken(&broken.what);
        let mut response = Response::new(Full::new(Bytes::from(broken.answer)).boxed());
        *response.status_mut() = StatusCode::BAD_REQUEST;
        return Ok(response);
    }
    Ok(service.handle(Request::from_parts(head, Full::new(body))).await)
}
