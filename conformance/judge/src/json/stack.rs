//! A stack for values of the deepest nesting that is read.

use std::{io, panic, thread};

/// The size of such a stack, in bytes.
pub const DEEP_STACK: usize = 256 << 20;

/// Does work on a thread with a stack for values of the deepest nesting that is read.
///
/// # Errors
///
/// When the system cannot start such a thread.
pub fn on_deep_stack<T: Send>(work: impl FnOnce() -> T + Send) -> io::Result<T> {
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(DEEP_STACK).spawn_scoped(scope, work)?;
        Ok(thread.join().unwrap_or_else(|panic| panic::resume_unwind(panic)))
    })
}
