//! Everything that is wrong with the logs, documents and requests that people have: the work of `threadspec check`.
//!
//! A log is judged in stretches of about a megabyte, while it is read: JSON Lines of any size take the memory of a few stretches. What
//! was found is handed on at once, with the line and the event where it stands.

mod document;
mod events;
mod list;
mod pairing;
mod report;
mod source;

pub use report::{Finding, Report, Severity, count};
pub use source::open;

use list::Form;
use source::Chunks;
use std::io::{self, Read};
use threadspec::Profile;

/// How to judge what is read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Documents are rendered, and judged, by this profile.
    pub profile: Profile,
}

/// Reads a log, a document or requests to the end and reports everything that is wrong.
///
/// # Errors
/// When it cannot be read on.
pub fn check(input: impl Read + Send + 'static, options: Options, report: &mut Report<'_>) -> io::Result<()> {
    let mut chunks = Chunks::new(Box::new(input));
    let first = chunks.next()?.unwrap_or_default();
    if let Some(encoding) = source::foreign_encoding(&first.bytes) {
        report.about("a file");
        report.error(format!("it is {encoding}; convert it to UTF-8 first"));
        return Ok(());
    }
    let start = first.bytes.strip_prefix(source::BYTE_ORDER_MARK).unwrap_or(&first.bytes).trim_ascii_start();
    if start.starts_with(b"<") {
        let Some(text) = source::whole(first, chunks, report)? else { return Ok(()) };
        document::check(&text, options.profile, report);
        return Ok(());
    }
    if list::begins_lines(&first.bytes, chunks.has_ended()) {
        let kind = list::kind_of_lines(&first.bytes);
        return events::check(list::Batches::of_lines(first, chunks), kind, options, report);
    }
    let Some(text) = source::whole(first, chunks, report)? else { return Ok(()) };
    match list::read(&text) {
        Ok(Form { kind, elements }) => events::check(list::Batches::of_list(&text, elements), kind, options, report),
        Err(reason) => {
            report.about("a file");
            report.error(reason);
            Ok(())
        }
    }
}
