//! Writes answers to a socket as they were planned: each part alone and when it is due, and an end that may be a reset.

use super::ServerLimits;
use super::forward::PassingBody;
use crate::exchange::{PlannedEnd, WireStep};
use hyper::body::{Body, Bytes, Frame, SizeHint};
use hyper::rt::{Read, ReadBufCursor, Write};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::error::Error;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;
use std::{fmt, io};
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

// Links the socket, the exchange and the answer of one connection.
//
// hyper drives all three, and does not say when bytes have left: the socket notes here that its buffer is empty, and the answer goes on.

/// The expected action of the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// It may begin its first request.
    New,
    /// It may begin another one.
    Idle,
    /// It has begun a header.
    Header,
    /// It sends a body.
    Body,
    /// It waits for its answer.
    Answer,
}

/// The callback for when it is known whether an answer has left as a whole.
pub(super) struct Receipt(Option<Box<dyn FnOnce(bool)>>);

impl Receipt {
    pub(super) fn new(note: impl FnOnce(bool) + 'static) -> Self {
        Self(Some(Box::new(note)))
    }

    fn sign(mut self) {
        if let Some(note) = self.0.take() {
            note(true);
        }
    }
}

/// An answer that is dropped has not left.
impl Drop for Receipt {
    fn drop(&mut self) {
        if let Some(note) = self.0.take() {
            note(false);
        }
    }
}

/// The state of one connection.
pub(super) struct Link {
    phase: Cell<(Phase, Instant)>,
    /// True if everything that the answer has given so far has left.
    flushed: Cell<bool>,
    /// The answer that waits for that.
    waiting: RefCell<Option<Waker>>,
    /// True if the answer has given its last byte, and nothing but that is missing.
    complete: Cell<bool>,
    /// When the answer gave its last byte, or broke off as planned. Its client cannot have known of the end before, whatever the server is kept from
    /// afterwards.
    ended: Rc<Cell<Option<Instant>>>,
    receipt: RefCell<Option<Receipt>>,
    /// True if the connection ends with a reset.
    reset: Cell<bool>,
    /// The server's order to the connection, and its listener.
    order: Cell<Option<Order>>,
    listener: RefCell<Option<Waker>>,
}

/// An order of a server to a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// To end when its answer has left.
    Leave,
    /// To end at once.
    Vanish,
}

impl Link {
    pub(super) fn new() -> Self {
        Self {
            phase: Cell::new((Phase::New, Instant::now())),
            flushed: Cell::new(true),
            waiting: RefCell::default(),
            complete: Cell::new(false),
            ended: Rc::default(),
            receipt: RefCell::default(),
            reset: Cell::new(false),
            order: Cell::default(),
            listener: RefCell::default(),
        }
    }

    pub(super) fn phase(&self) -> (Phase, Instant) {
        self.phase.get()
    }

    pub(super) fn enter(&self, phase: Phase) {
        self.phase.set((phase, Instant::now()));
    }

    /// Notes an answer that is about to be given.
    pub(super) fn promise(&self, receipt: Receipt) {
        self.complete.set(false);
        self.ended.set(None);
        *self.receipt.borrow_mut() = Some(receipt);
    }

    /// Notes that the answer has nothing more to give.
    pub(super) fn complete(&self) {
        self.complete.set(true);
        self.ended.set(Some(Instant::now()));
    }

    /// Notes that the answer breaks off, with a reset or without.
    pub(super) fn break_off(&self, is_reset: bool) {
        self.reset.set(is_reset);
        self.ended.set(Some(Instant::now()));
    }

    /// Where it is noted when the answer ended.
    pub(super) fn ended(&self) -> Rc<Cell<Option<Instant>>> {
        Rc::clone(&self.ended)
    }

    /// Notes that the answer has given something.
    pub(super) fn give(&self) {
        self.flushed.set(false);
    }

    /// Waits until all that the answer gave has left.
    pub(super) fn poll_left(&self, context: &Context<'_>) -> Poll<()> {
        if self.flushed.get() {
            return Poll::Ready(());
        }
        *self.waiting.borrow_mut() = Some(context.waker().clone());
        Poll::Pending
    }

    /// Notes that everything has left.
    pub(super) fn flushed(&self) {
        self.flushed.set(true);
        if let Some(waiting) = self.waiting.borrow_mut().take() {
            waiting.wake();
        }
        if self.complete.replace(false) {
            self.enter(Phase::Idle);
            let receipt = self.receipt.borrow_mut().take();
            if let Some(receipt) = receipt {
                receipt.sign();
            }
        }
    }

    pub(super) fn is_reset(&self) -> bool {
        self.reset.get()
    }

    pub(super) fn tell(&self, order: Order) {
        self.order.set(Some(order));
        if let Some(listener) = self.listener.borrow().as_ref() {
            listener.wake_by_ref();
        }
    }

    /// Returns whether the connection received an order since it last asked.
    pub(super) fn is_told(&self) -> bool {
        self.order.get().is_some()
    }

    pub(super) fn order(&self, context: &Context<'_>) -> Option<Order> {
        let mut listener = self.listener.borrow_mut();
        if !listener.as_ref().is_some_and(|listener| listener.will_wake(context.waker())) {
            *listener = Some(context.waker().clone());
        }
        self.order.take()
    }
}

// The body of an answer: its parts when they are due, each written alone, and an end that may be none.

/// The connection ends here, because that was planned.
#[derive(Debug)]
pub(super) struct PlannedBreak;

impl fmt::Display for PlannedBreak {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the answer ends here, as planned")
    }
}

impl Error for PlannedBreak {}

/// The body of an answer.
pub(super) enum SentBody {
    /// Its parts are planned.
    Planned(AnswerBody),
    /// It passes through from an upstream.
    Passing(PassingBody),
}

impl Body for SentBody {
    type Data = Bytes;
    type Error = PlannedBreak;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, PlannedBreak>>> {
        match self.get_mut() {
            Self::Planned(body) => Pin::new(body).poll_frame(context),
            Self::Passing(body) => Pin::new(body).poll_frame(context),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Planned(body) => body.is_end_stream(),
            Self::Passing(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Planned(body) => body.size_hint(),
            Self::Passing(body) => body.size_hint(),
        }
    }
}

/// A body whose parts are planned.
pub(super) struct AnswerBody {
    link: Rc<Link>,
    steps: VecDeque<WireStep>,
    ending: PlannedEnd,
    /// How many bytes it has, if it is whole.
    length: Option<u64>,
    pause: Option<Pin<Box<Sleep>>>,
}

impl AnswerBody {
    /// `length` is `None` where it is sent in chunks.
    pub(super) fn new(link: Rc<Link>, steps: Vec<WireStep>, ending: PlannedEnd, length: Option<u64>) -> Self {
        // What is empty would be taken for the last chunk.
        let is_something = |step: &WireStep| !matches!(step, WireStep::Write(bytes) if bytes.is_empty());
        let body = Self { link, steps: steps.into_iter().filter(is_something).collect(), ending, length, pause: None };
        if body.is_end_stream() {
            body.link.complete();
        }
        body
    }
}

impl Body for AnswerBody {
    type Data = Bytes;
    type Error = PlannedBreak;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, PlannedBreak>>> {
        let this = &mut *self;
        // hyper would put the next part into the same write, and would drop what is not written when the end is none.
        ready!(this.link.poll_left(context));
        loop {
            if let Some(pause) = &mut this.pause {
                ready!(pause.as_mut().poll(context));
                this.pause = None;
            }
            match this.steps.pop_front() {
                Some(WireStep::Wait(time)) => this.pause = Some(Box::pin(sleep_until(Instant::now() + time))),
                Some(WireStep::Write(bytes)) => {
                    this.link.give();
                    if this.is_end_stream() {
                        this.link.complete();
                    }
                    return Poll::Ready(Some(Ok(Frame::data(bytes.into()))));
                }
                None => {
                    return Poll::Ready(match this.ending {
                        PlannedEnd::Whole => {
                            this.link.complete();
                            None
                        }
                        ending @ (PlannedEnd::Close | PlannedEnd::Reset) => {
                            this.link.break_off(ending == PlannedEnd::Reset);
                            Some(Err(PlannedBreak))
                        }
                    });
                }
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.steps.is_empty() && self.pause.is_none() && self.ending == PlannedEnd::Whole
    }

    fn size_hint(&self) -> SizeHint {
        self.length.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}
