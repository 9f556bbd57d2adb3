//! A stack for values of the deepest nesting that is read.

use std::{io, panic, thread};

/// Does work on a thread with a stack for values of the deepest nesting that is read.
///
/// # Errors
///
/// When the system has no such thread.
pub fn on_deep_stack<T: Send>(work: impl FnOnce() -> T + Send) -> io::Result<T> {
    const STACK: usize = 256 << 20;
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work)?;
        Ok(thread.join().unwrap_or_else(|panic| panic::resume_unwind(panic)))
    })
}
