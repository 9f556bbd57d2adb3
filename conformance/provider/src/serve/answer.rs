//! The body of an answer: its parts when they are due, each written alone, and an end that may be none.

use super::forward::PassingBody;
use super::link::Link;
use crate::exchange::{PlannedEnd, WireStep};
use hyper::body::{Body, Bytes, Frame, SizeHint};
use std::collections::VecDeque;
use std::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use tokio::time::{Instant, Sleep, sleep_until};

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
