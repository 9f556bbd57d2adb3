//! Bars that show on a terminal how far a command is.

use console::Term;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle, TermLike};
use std::io;

/// How often a bar is drawn in a second.
const RATE: u8 = 20;
/// The columns at the right end that stay free. Terminals write `^C` there; on the next line it would leave the bar behind.
const FREE: u16 = 4;

/// A bar in a style; without a length it shows no end. It is hidden where nobody would see it.
pub(super) fn bar(length: Option<u64>, style: &str) -> ProgressBar {
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
pub(super) fn target() -> Option<ProgressDrawTarget> {
    let term = Term::buffered_stderr();
    let is_seen = term.features().is_attended();
    is_seen.then(|| ProgressDrawTarget::term_like_with_hz(Box::new(Narrow(term)), RATE))
}

/// A terminal without its last columns.
#[derive(Debug)]
struct Narrow(Term);

impl TermLike for Narrow {
    fn width(&self) -> u16 {
        TermLike::width(&self.0).saturating_sub(FREE)
    }

    fn height(&self) -> u16 {
        TermLike::height(&self.0)
    }

    fn move_cursor_up(&self, n: usize) -> io::Result<()> {
        self.0.move_cursor_up(n)
    }

    fn move_cursor_down(&self, n: usize) -> io::Result<()> {
        self.0.move_cursor_down(n)
    }

    fn move_cursor_right(&self, n: usize) -> io::Result<()> {
        self.0.move_cursor_right(n)
    }

    fn move_cursor_left(&self, n: usize) -> io::Result<()> {
        self.0.move_cursor_left(n)
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        self.0.write_line(text)
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        self.0.write_str(text)
    }

    fn clear_line(&self) -> io::Result<()> {
        self.0.clear_line()
    }

    fn flush(&self) -> io::Result<()> {
        self.0.flush()
    }
}
