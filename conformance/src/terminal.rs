//! Writes to a terminal: colours, and text in which every character is visible.

use anstyle::{AnsiColor, Style};
use similar::TextDiff;
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

/// A number and its noun.
pub fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// The name that is most like an unknown one; `None` if no name is like it.
pub fn closest<N: AsRef<str>>(unknown: &str, names: impl IntoIterator<Item = N>) -> Option<N> {
    const ALIKE: f32 = 0.6;
    // Comparing long ones takes long, and no name is as long.
    const LONGEST: usize = 1000;
    if unknown.len() > LONGEST {
        return None;
    }
    let unknown = unknown.to_lowercase();
    let likeness = |name: &str| TextDiff::from_chars(unknown.as_str(), name.to_lowercase().as_str()).ratio();
    let alike = names.into_iter().map(|name| (likeness(name.as_ref()), name));
    let closest = alike.max_by(|(one, _), (other, _)| one.total_cmp(other))?;
    (closest.0 > ALIKE).then_some(closest.1)
}

/// Text on one line in which every character can be seen: control characters as their pictures, line ends as `⏎`, and
/// whatever else has no shape of its own (bidirectional marks, zero-width and combining characters, odd spaces) as its
/// code point.
///
/// ```
/// use threadspec_conformance::terminal::visible;
/// assert_eq!(visible("a\u{1b}[1m\r\n\u{202e}b\u{a0}e\u{301}"), "a␛[1m␍⏎⟨U+202E⟩b⟨U+00A0⟩e⟨U+0301⟩");
/// ```
pub fn visible(text: &str) -> String {
    text.chars().map(visible_char).collect()
}

/// So many characters of a text, and a sign if there are more.
pub fn beginning(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

fn visible_char(c: char) -> String {
    match c {
        '\n' => "⏎".to_owned(),
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)).unwrap_or(c).to_string(),
        '\u{7f}' => "␡".to_owned(),
        // `Debug` writes as an escape what has no shape of its own.
        _ if c.escape_debug().to_string().starts_with("\\u") => format!("⟨U+{:04X}⟩", u32::from(c)),
        _ => c.to_string(),
    }
}
