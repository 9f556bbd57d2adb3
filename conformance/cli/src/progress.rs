//! Bars that show on a terminal how far a command is.

use console::Term;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle, TermLike};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often a line says how far a command is, where no bar is seen.
pub const SAID_EVERY: Duration = Duration::from_secs(30);
/// How often a bar is drawn in a second.
const RATE: u8 = 20;
/// The columns at the right end that stay free. Terminals write `^C` there; on the next line it would leave the bar behind.
const FREE: u16 = 4;

/// A bar in a style; without a length it shows no end. It is hidden where nobody would see it.
pub fn bar(length: Option<u64>, style: &str) -> ProgressBar {
    let bar = match target() {
        Some(target) => ProgressBar::with_draw_target(length, target),
        None => ProgressBar::hidden(),
    };
    match ProgressStyle::with_template(style) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// Where bars are drawn; `None` where nobody would see them.
pub fn target() -> Option<ProgressDrawTarget> {
    let term = Term::buffered_stderr();
    let is_seen = term.features().is_attended();
    is_seen.then(|| {
        ProgressDrawTarget::term_like_with_hz(Box::new(Narrow { term, is_filled: AtomicBool::new(false) }), RATE)
    })
}

/// A terminal without its last columns. A line that is filled with blanks to its end is broken there before the next one, as a terminal of
/// this width would do by itself.
#[derive(Debug)]
struct Narrow {
    term: Term,
    is_filled: AtomicBool,
}

impl Narrow {
    /// The terminal, of which another place is written next.
    fn elsewhere(&self) -> &Term {
        self.is_filled.store(false, Ordering::Relaxed);
        &self.term
    }
}

impl TermLike for Narrow {
    fn width(&self) -> u16 {
        TermLike::width(&self.term).saturating_sub(FREE)
    }

    fn height(&self) -> u16 {
        TermLike::height(&self.term)
    }

    fn move_cursor_up(&self, n: usize) -> io::Result<()> {
        self.elsewhere().move_cursor_up(n)
    }

    fn move_cursor_down(&self, n: usize) -> io::Result<()> {
        self.elsewhere().move_cursor_down(n)
    }

    fn move_cursor_right(&self, n: usize) -> io::Result<()> {
        self.elsewhere().move_cursor_right(n)
    }

    fn move_cursor_left(&self, n: usize) -> io::Result<()> {
        self.elsewhere().move_cursor_left(n)
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        self.elsewhere().write_line(text)
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        let is_filler = text.bytes().all(|byte| byte == b' ');
        if self.is_filled.swap(is_filler, Ordering::Relaxed) {
            self.term.write_line("")?;
        }
        self.term.write_str(text)
    }

    fn clear_line(&self) -> io::Result<()> {
        self.elsewhere().clear_line()
    }

    fn flush(&self) -> io::Result<()> {
        self.term.flush()
    }
}
