//! Writes to a terminal, with colours where they are wanted, and measures the screen that lines must fit on.

use anstream::adapter::strip_str;
use anstyle::{AnsiColor, Style};
use std::io;
use std::io::{ErrorKind, Write};
use std::sync::OnceLock;
use threadspec_judge::text::{cut, visible};
use unicode_width::UnicodeWidthStr;

/// The first error in writing to stdout.
static LOST: OnceLock<io::Error> = OnceLock::new();

/// The style of success.
pub const GOOD: Style = AnsiColor::Green.on_default();
/// The style of failure.
pub const BAD: Style = AnsiColor::Red.on_default();
/// The style of what is neither.
pub const WARNING: Style = AnsiColor::Yellow.on_default();
/// The style of what matters most.
pub const STRONG: Style = Style::new().bold();
/// The style of what matters least.
pub const FAINT: Style = Style::new().dimmed();

/// Text in a style.
pub fn styled(style: Style, text: impl std::fmt::Display) -> String {
    format!("{style}{text}{style:#}")
}

/// Writes text to stdout, with colours only where they are wanted (a terminal, no `NO_COLOR`).
pub fn print(text: &str) {
    let mut stdout = anstream::stdout().lock();
    // A reader that has gone away (`| head`) has what it wanted.
    if let Err(error) = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush())
        && error.kind() != ErrorKind::BrokenPipe
    {
        LOST.get_or_init(|| error);
    }
}

/// The first error in writing to stdout, if there was one.
pub fn lost() -> Option<&'static io::Error> {
    LOST.get()
}

/// Writes a line to stderr.
pub fn complain(text: &str) {
    let _ = writeln!(anstream::stderr().lock(), "{text}");
}

// A screen that lines must fit on.

/// How wide a screen is; nothing wraps where it has no width, as in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Screen {
    /// Its columns.
    pub columns: Option<usize>,
}

/// A text is shown up to this length where nothing wraps.
const LONGEST: usize = 600;
/// No screen is taken for narrower.
const NARROWEST: usize = 20;
/// The width of the label before a text, such as `    expected  `.
const INDENT: usize = 14;

impl Screen {
    fn width(self) -> Option<usize> {
        self.columns.map(|columns| columns.max(NARROWEST))
    }

    /// How many rows a text takes.
    pub fn rows(self, text: &str) -> usize {
        let of_line = |line: &str| {
            let width = strip_str(line).to_string().width();
            self.width().map_or(1, |columns| width.div_ceil(columns).max(1))
        };
        text.lines().map(of_line).sum()
    }

    /// How many characters of a text, indented, so many rows hold.
    pub(super) fn room(self, rows: usize) -> usize {
        self.width().map_or(LONGEST, |columns| (columns * rows).saturating_sub(INDENT).clamp(NARROWEST, LONGEST - 1))
    }

    /// A line with at most so many rows, without its style if it is cut.
    pub(super) fn cut(self, line: &str, rows: usize) -> String {
        let Some(columns) = self.width().filter(|_| self.rows(line) > rows) else { return line.to_owned() };
        let text = strip_str(line.trim_end_matches('\n')).to_string();
        let mut longest = columns * rows;
        while cut(&text, longest).0.width() >= columns * rows {
            longest -= 1;
        }
        format!("{}…\n", visible(cut(&text, longest).0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_as_a_terminal_breaks_them() {
        let screen = |columns| Screen { columns };
        let text = format!("{}\n\nshort\n", "x".repeat(81));
        assert_eq!(screen(None).rows(&text), 3);
        assert_eq!(screen(Some(80)).rows(&text), 4);
        assert_eq!(screen(Some(60)).rows(&"界".repeat(31)), 2);
        assert_eq!(screen(Some(60)).rows("\u{1b}[31mred\u{1b}[0m"), 1);
    }

    #[test]
    fn a_cut_line_fits() {
        let screen = Screen { columns: Some(60) };
        for line in ["x".repeat(1000), "界".repeat(1000)] {
            let cut = screen.cut(&line, 2);
            assert!(screen.rows(&cut) == 2 && cut.ends_with("…\n"), "{cut}");
        }
        assert_eq!(screen.cut("short\n", 1), "short\n");
    }
}
