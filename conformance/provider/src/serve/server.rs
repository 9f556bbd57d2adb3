//! Runs the thread of a server: it accepts connections within limits, and ends on order.

use super::service::{BodyBudget, exchange};
use super::socket::{Link, Order, Phase, Socket, Space, space};
use super::{Answers, SharedState};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::{LocalSet, spawn_local};
use tokio::time::{sleep, timeout};

/// How many connections the system keeps for a server that does not accept them yet.
const BACKLOG: u32 = 1024;
/// How long a server rests that cannot accept connections, because the process has too many files open.
const REST: Duration = Duration::from_millis(20);

/// An order to a server.
pub(super) enum ServerOrder {
    /// To say when it has done all that it is about to do.
    Settle(SyncSender<()>),
    /// To end.
    End,
}

/// Listens on an address.
pub(super) fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // Else a port stays in use for a minute after a server that had it.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// The connections of a server.
#[derive(Default)]
struct OpenLinks {
    links: RefCell<BTreeMap<u64, Rc<Link>>>,
    last: Cell<u64>,
    /// Who waits until there are fewer.
    waiting: RefCell<Option<Waker>>,
}

impl OpenLinks {
    fn enter(&self, link: &Rc<Link>) -> u64 {
        self.last.set(self.last.get() + 1);
        self.links.borrow_mut().insert(self.last.get(), Rc::clone(link));
        self.last.get()
    }

    fn leave(&self, id: u64) {
        self.links.borrow_mut().remove(&id);
        if let Some(waiting) = self.waiting.borrow_mut().take() {
            waiting.wake();
        }
    }

    fn tell_all(&self, order: Order) {
        self.links.borrow().values().for_each(|link| link.tell(order));
    }

    /// Ends the connection that has asked nothing for the longest time, so that those who hold connections open cannot shut out others.
    fn make_room(&self) {
        let links = self.links.borrow();
        let idle = links.values().filter(|link| link.phase().0 != Phase::Answer && !link.is_told());
        if let Some(link) = idle.min_by_key(|link| link.phase().1) {
            link.tell(Order::Vanish);
        }
    }
}

/// An event at a server.
enum ServerEvent {
    Connection(io::Result<TcpStream>),
    ServerOrder(ServerOrder),
}

/// Serves until the end is ordered.
pub(super) async fn serve<A: Answers>(
    listener: TcpListener,
    mut commands: UnboundedReceiver<ServerOrder>,
    limits: ServerLimits,
    shared: Arc<SharedState<A>>,
) {
    let (limits, space, open) = (Rc::new(limits), space(), Rc::new(OpenLinks::default()));
    let budget = Rc::new(BodyBudget::default());
    let connections = LocalSet::new();
    let accepting = async {
        let mut knocking = None;
        loop {
            let most = limits.connections;
            let event = poll_fn(|context| next(&listener, &mut knocking, &mut commands, &open, most, context)).await;
            match event {
                ServerEvent::ServerOrder(ServerOrder::Settle(done)) => {
                    // Who does not wait any more needs no word.
                    let _ = done.send(());
                }
                ServerEvent::ServerOrder(ServerOrder::End) => return,
                ServerEvent::Connection(Ok(stream)) => {
                    // Without it an answer of several writes waits for the client's acknowledgement of the first.
                    let _ = stream.set_nodelay(true);
                    let link = Rc::new(Link::new());
                    let id = open.enter(&link);
                    let socket = Socket::new(stream, Rc::clone(&link), Rc::clone(&limits), Space::clone(&space));
                    let (open, shared) = (Rc::clone(&open), Arc::clone(&shared));
                    let bounds = (Rc::clone(&limits), Rc::clone(&budget));
                    spawn_local(async move {
                        connection(socket, link, bounds, shared).await;
                        open.leave(id);
                    });
                }
                ServerEvent::Connection(Err(_)) => sleep(REST).await,
            }
        }
    };
    connections.run_until(accepting).await;
    drop(listener);
    open.tell_all(Order::Leave);
    // Whoever is not served by then is cut off.
    let _ = timeout(limits.farewell, connections).await;
}

/// The next event. A connection that came while there were as many as there may be is kept until one of them ends.
fn next(
    listener: &TcpListener,
    knocking: &mut Option<io::Result<TcpStream>>,
    commands: &mut UnboundedReceiver<ServerOrder>,
    open: &OpenLinks,
    most: usize,
    context: &mut Context<'_>,
) -> Poll<ServerEvent> {
    if let Poll::Ready(command) = commands.poll_recv(context) {
        // A server whose handle is gone has nobody to serve for.
        return Poll::Ready(ServerEvent::ServerOrder(command.unwrap_or(ServerOrder::End)));
    }
    if knocking.is_none() {
        let accepted = ready!(listener.poll_accept(context));
        *knocking = Some(accepted.map(|(stream, _)| stream));
    }
    if open.links.borrow().len() < most
        && let Some(accepted) = knocking.take()
    {
        return Poll::Ready(ServerEvent::Connection(accepted));
    }
    *open.waiting.borrow_mut() = Some(context.waker().clone());
    open.make_room();
    Poll::Pending
}

/// Serves one connection. Its end is not reported: each of its attempts was.
async fn connection<A: Answers>(
    socket: Socket,
    link: Rc<Link>,
    (limits, budget): (Rc<ServerLimits>, Rc<BodyBudget>),
    shared: Arc<SharedState<A>>,
) {
    let (own, bounds) = (Rc::clone(&link), (Rc::clone(&limits), budget));
    let service = service_fn(move |request| exchange(request, Rc::clone(&own), bounds.clone(), Arc::clone(&shared)));
    let connection = http1::Builder::new()
        .max_buf_size(limits.header_bytes)
        .max_headers(limits.header_fields)
        // The socket has the limits on time: hyper's would count the time between two requests as well.
        .header_read_timeout(None)
        .serve_connection(socket, service);
    let mut connection = pin!(connection);
    poll_fn(|context| {
        match link.order(context) {
            Some(Order::Vanish) => return Poll::Ready(()),
            Some(Order::Leave) => connection.as_mut().graceful_shutdown(),
            None => {}
        }
        connection.as_mut().poll(context).map(|_| ())
    })
    .await;
}

// Limits the cost of one client.

/// How much a client may send, and how long it may take.
///
/// What exceeds a limit is answered with 431, 413 or 408, or its connection is closed; others do not notice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerLimits {
    /// The bytes of a request before its body.
    pub header_bytes: usize,
    /// The fields of a header.
    pub header_fields: usize,
    /// The bytes of a body, as it was sent and as it is when its encoding is undone.
    pub body_bytes: usize,
    /// The bytes of all bodies that are on their way at once; who would exceed them with more than a megabyte is refused.
    pub all_bodies: usize,
    /// How deep a body may be nested.
    pub depth: usize,
    /// How many values it may have.
    pub values: usize,
    /// How many connections are open at once; others wait until one ends.
    pub connections: usize,
    /// How long the header of a request may take, and the first one of a connection to begin.
    pub header_time: Duration,
    /// How long a client may send no byte of a body.
    pub body_pause: Duration,
    /// How long it may read nothing of an answer.
    pub stalled: Duration,
    /// How long a connection may wait for its next request.
    pub idle: Duration,
    /// How long answers may go on when the server should end.
    pub farewell: Duration,
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            header_bytes: 64 << 10,
            header_fields: 100,
            body_bytes: 64 << 20,
            all_bodies: 512 << 20,
            depth: 10_000,
            values: 1 << 20,
            connections: 1024,
            header_time: Duration::from_secs(10),
            body_pause: Duration::from_secs(10),
            stalled: Duration::from_secs(30),
            idle: Duration::from_secs(60),
            farewell: Duration::from_secs(1),
        }
    }
}

// The field `host`: a page that a browser was led to by a name of its own must not reach this server.

/// Returns whether an authority is a literal address or `localhost`, with or without a port.
pub(super) fn is_local(authority: &str) -> bool {
    let host = match authority.strip_prefix('[') {
        Some(rest) => match rest.split_once(']') {
            Some((host, port)) if is_port(port) => host,
            _ => return false,
        },
        None => match authority.split_once(':') {
            Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
            Some(_) => return false,
            None => authority,
        },
    };
    host.eq_ignore_ascii_case("localhost") || host.parse::<IpAddr>().is_ok()
}

fn is_port(text: &str) -> bool {
    text.is_empty() || text.strip_prefix(':').is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::is_local;

    #[test]
    fn only_addresses_and_localhost_are_local() {
        for host in ["127.0.0.1", "127.0.0.1:80", "localhost", "LocalHost:4", "[::1]", "[::1]:80", "10.0.0.7:1"] {
            assert!(is_local(host), "{host}");
        }
        for host in [
            "",
            "example.com",
            "example.com:80",
            "localhost.example.com",
            "127.0.0.1.nip.io",
            "[::1",
            "::1",
            "a@127.0.0.1",
            "127.0.0.1:80:80",
            "localhost:x",
        ] {
            assert!(!is_local(host), "{host}");
        }
    }
}
