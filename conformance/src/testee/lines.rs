//! The lines of a testee on their way from the thread that reads them.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How many bytes may wait to be read: a testee that prints without end must not fill our memory.
const MOST_WAITING: usize = 1 << 20;

/// A line of stdout, without its end.
#[derive(Debug)]
pub(super) enum Line {
    Whole(Vec<u8>),
    TooLong,
}

/// What waiting for a line brings.
pub(super) enum Next {
    Line(Line),
    /// Nothing in time.
    Nothing,
    /// No line will come any more.
    End,
}

/// A queue that is bounded by its bytes: one line of any length, or many short ones.
#[derive(Debug, Default)]
pub(super) struct Lines {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Line>,
    bytes: usize,
    /// Somebody waits for the next one.
    is_awaited: bool,
    /// Nobody writes any more.
    ended: bool,
    /// Nobody reads any more.
    abandoned: bool,
}

impl Lines {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a line, and waits until there is room for the next one; only then is that read, so that no second large line is held.
    /// Returns whether anybody still reads.
    pub(super) fn push(&self, line: Line) -> bool {
        let mut state = self.state();
        state.bytes += line.len();
        state.waiting.push_back(line);
        if state.is_awaited {
            self.changed.notify_all();
        }
        let full = |state: &mut State| state.bytes > MOST_WAITING && !state.abandoned;
        let state = self.changed.wait_while(state, full).unwrap_or_else(PoisonError::into_inner);
        !state.abandoned
    }

    /// Says that no line will come any more.
    pub(super) fn end(&self) {
        self.state().ended = true;
        self.changed.notify_all();
    }

    /// Says that nobody reads any more.
    pub(super) fn abandon(&self) {
        let mut state = self.state();
        state.abandoned = true;
        state.waiting.clear();
        self.changed.notify_all();
    }

    /// Takes the next line.
    pub(super) fn next(&self, patience: Duration) -> Next {
        let empty = |state: &mut State| state.waiting.is_empty() && !state.ended;
        let mut state = self.state();
        if empty(&mut state) && !patience.is_zero() {
            state.is_awaited = true;
            let waited = self.changed.wait_timeout_while(state, patience, empty);
            (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
            state.is_awaited = false;
        }
        match state.waiting.pop_front() {
            Some(line) => {
                if state.bytes > MOST_WAITING {
                    self.changed.notify_all();
                }
                state.bytes -= line.len();
                Next::Line(line)
            }
            None if state.ended => Next::End,
            None => Next::Nothing,
        }
    }
}

impl Line {
    fn len(&self) -> usize {
        match self {
            Self::Whole(bytes) => bytes.len(),
            Self::TooLong => 0,
        }
    }
}
