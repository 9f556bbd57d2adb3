//! Links the socket, the exchange and the answer of one connection.
//!
//! hyper drives all three, and does not say when bytes have left: the socket notes here that its buffer is empty, and the answer goes on.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use tokio::time::Instant;

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
