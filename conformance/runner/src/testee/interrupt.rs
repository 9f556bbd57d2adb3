//! Ctrl-C ends a run in good order: the testee is killed, and the summary is still printed.

use super::{children, session};
use crate::error::Exit;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use std::{io, thread};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Handles Ctrl-C (SIGINT, and also SIGTERM and SIGHUP) from now on. The second one ends the program at once, its children with it, and removes
/// the storage folders.
///
/// # Errors
///
/// When the system refuses the handler.
pub fn listen() -> io::Result<()> {
    ctrlc::set_handler(|| {
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            children::kill_all();
            session::remove_all();
            std::process::exit(Exit::Interrupted.code().into());
        }
    })
    .map_err(io::Error::other)
}

/// How soon a wait notices that the run should end.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Waits so long, or until the run should end. Returns whether it should go on.
pub fn wait(time: Duration) -> bool {
    let begun = Instant::now();
    while !requested() && begun.elapsed() < time {
        thread::sleep(POLL_INTERVAL.min(time.saturating_sub(begun.elapsed())));
    }
    !requested()
}

/// Returns whether the run should end.
pub fn requested() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}
