//! The socket of a connection as hyper drives it: with limits on time, word of what has left, and a reset where one is planned.

use super::ServerLimits;
use super::link::{Link, Phase};
use hyper::rt::{Read, ReadBufCursor, Write};
use std::cell::RefCell;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep_until};

/// How much is read at once.
const CHUNK: usize = 64 << 10;

/// The memory that all connections of a thread read into.
pub(super) type Space = Rc<RefCell<Box<[u8]>>>;

pub(super) fn space() -> Space {
    Rc::new(RefCell::new(vec![0; CHUNK].into_boxed_slice()))
}

/// A connection.
pub(super) struct Socket {
    stream: TcpStream,
    link: Rc<Link>,
    limits: Rc<ServerLimits>,
    space: Space,
    /// Wakes the connection; it may fire before a limit is reached, which is then looked at again.
    alarm: Pin<Box<Sleep>>,
    /// Since when the client has taken no byte.
    stalled: Option<Instant>,
}

impl Socket {
    pub(super) fn new(stream: TcpStream, link: Rc<Link>, limits: Rc<ServerLimits>, space: Space) -> Self {
        let alarm = Box::pin(sleep_until(Instant::now() + limits.header_time));
        Self { stream, link, limits, space, alarm, stalled: None }
    }

    /// When the client must have read or sent something.
    fn deadline(&self) -> Option<Instant> {
        if let Some(since) = self.stalled {
            return Some(since + self.limits.stalled);
        }
        let (phase, since) = self.link.phase();
        let time: Option<Duration> = match phase {
            Phase::New | Phase::Header => Some(self.limits.header_time),
            Phase::Idle => Some(self.limits.idle),
            // Who reads the body has a limit of its own.
            Phase::Body | Phase::Answer => None,
        };
        time.map(|time| since + time)
    }

    /// Waits for the client, which has time until the deadline.
    fn poll_late(&mut self, context: &mut Context<'_>) -> Poll<io::Error> {
        let Some(deadline) = self.deadline() else { return Poll::Pending };
        loop {
            if deadline <= Instant::now() {
                return Poll::Ready(io::ErrorKind::TimedOut.into());
            }
            // One that fires too early costs less than setting it again for each request.
            if self.alarm.deadline() > deadline || self.alarm.is_elapsed() {
                self.alarm.as_mut().reset(deadline);
            }
            ready!(self.alarm.as_mut().poll(context));
        }
    }

    /// The result of writing, with the time that the client takes.
    fn written(&mut self, context: &mut Context<'_>, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if written.is_pending() {
            self.stalled.get_or_insert_with(Instant::now);
            return self.poll_late(context).map(Err);
        }
        self.stalled = None;
        written
    }
}

impl Read for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        mut target: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let space = Rc::clone(&this.space);
        let mut space = space.borrow_mut();
        let most = target.remaining().min(CHUNK);
        let mut read = ReadBuf::new(&mut space[..most]);
        match Pin::new(&mut this.stream).poll_read(context, &mut read) {
            Poll::Ready(Ok(())) => {
                if !read.filled().is_empty() && matches!(this.link.phase().0, Phase::New | Phase::Idle) {
                    this.link.enter(Phase::Header);
                }
                target.put_slice(read.filled());
                Poll::Ready(Ok(()))
            }
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Pending => this.poll_late(context).map(Err),
        }
    }
}

impl Write for Socket {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.written(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, pieces);
        self.written(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    /// hyper asks for this when all that it had to write is written.
    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.stream).poll_flush(context))?;
        self.link.flushed();
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        if self.link.is_reset() {
            // A socket that cannot be reset is closed, which is the other way of breaking off.
            let _ = self.stream.set_zero_linger();
        }
    }
}
