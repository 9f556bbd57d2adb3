//! Shows how far a command is, and records the run that it follows.

use crate::{Stop, not_writable};
use console::Term;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle, TermLike};
use std::collections::HashSet;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use threadspec_judge::corpus::Case;
use threadspec_judge::protocol::Request;
use threadspec_judge::verdict::{Judgement, Outcome};
use threadspec_report::terminal::complain;
use threadspec_runner::{Recorder, Watch};

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

// A run that is followed: how far it is, and what is recorded of it.

/// Shows how far a run is, as a bar on a terminal, elsewhere as a line now and then, and records it.
pub(crate) struct Followed {
    bar: ProgressBar,
    is_silent: bool,
    began: Instant,
    /// When the last line was written.
    said: Duration,
    /// How many cases there are.
    of: usize,
    ended: HashSet<String>,
    failed: HashSet<String>,
    strict: bool,
    recorder: Option<(PathBuf, Recorder)>,
}

impl Followed {
    /// Follows a run of so many cases.
    pub(crate) fn new(is_silent: bool, strict: bool, of: usize, recorder: Option<(PathBuf, Recorder)>) -> Self {
        let bar =
            if is_silent { ProgressBar::hidden() } else { bar(Some(of as u64), "{bar:20} {pos}/{len} {wide_msg}") };
        let (ended, failed) = (HashSet::new(), HashSet::new());
        Self { bar, is_silent, began: Instant::now(), said: Duration::ZERO, of, ended, failed, strict, recorder }
    }

    /// Ends the view and the recording.
    pub(crate) fn close(self, shutdown: &[String]) -> Result<(), Stop> {
        self.bar.finish_and_clear();
        self.recorder
            .map_or(Ok(()), |(path, recorder)| recorder.close(shutdown).map_err(|error| not_writable(&path, &error)))
    }
}

impl Watch for Followed {
    fn result(&mut self, case: &Case, judgement: &Judgement) {
        if self.is_silent {
            return;
        }
        if judgement.counts_against(case, self.strict) {
            self.failed.insert(case.id.clone());
        }
        if self.ended.insert(case.id.clone()) {
            self.bar.inc(1);
        }
        let failed = self.failed.len();
        self.bar.set_message(format!("{failed} failed  {}", case.id));
        let elapsed = self.began.elapsed();
        if self.bar.is_hidden() && elapsed >= self.said + SAID_EVERY {
            self.said = elapsed;
            complain(&format!("{} s: {}/{} cases  {failed} failed", elapsed.as_secs(), self.ended.len(), self.of));
        }
    }

    fn hears_outcomes(&self) -> bool {
        self.recorder.is_some()
    }

    fn outcome(&mut self, case: &Case, step: usize, request: &Request, outcome: &Outcome) {
        if let Some((_, recorder)) = &mut self.recorder {
            recorder.record(case, step, request, outcome);
        }
    }
}
