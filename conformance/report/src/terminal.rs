//! Writes to a terminal, with colours where they are wanted.

use anstyle::{AnsiColor, Style};
use std::io::{self, ErrorKind, Write};
use std::sync::OnceLock;

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
