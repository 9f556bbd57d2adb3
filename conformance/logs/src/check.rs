//! Finds out what a file is, and has it checked.

use super::diagnostics::Diagnostics;
use super::list::{self, Batches, Contents, ElementKind};
use super::requests::RequestLog;
use super::source::{self, Chunks};
use super::{document, events};
use std::io::{self, Read};
use threadspec::Profile;
use threadspec::oracle::Api;
use threadspec_judge::text;

/// How to judge what is read.
#[derive(Clone, Copy, Debug, Default)]
pub struct CheckOptions {
    /// Documents are rendered, and judged, by this profile.
    pub profile: Profile,
    /// Read the input as requests to this API; without one, its form decides what it is.
    pub api: Option<Api>,
}

/// Reads a log, a document or requests to the end and reports everything that is wrong.
///
/// # Errors
///
/// When it cannot be read to its end.
pub fn check(
    input: impl Read + Send + 'static,
    options: CheckOptions,
    diagnostics: &mut Diagnostics<'_>,
) -> io::Result<()> {
    let mut chunks = Chunks::new(Box::new(input));
    let first = chunks.next()?.unwrap_or_default();
    if let Some(encoding) = text::foreign_encoding(&first.bytes) {
        diagnostics.about("a file");
        diagnostics.error(format!("it is {encoding}; convert it to UTF-8 first"));
        return Ok(());
    }
    let start = first.bytes.strip_prefix(source::BYTE_ORDER_MARK).unwrap_or(&first.bytes).trim_ascii_start();
    if options.api.is_none() && start.starts_with(b"<") {
        let Some(text) = source::whole(first, chunks, diagnostics)? else { return Ok(()) };
        document::check(&text, options.profile, diagnostics);
        return Ok(());
    }
    if list::begins_lines(&first.bytes, chunks.has_ended()) {
        let kind = list::kind_of_lines(&first.bytes);
        return match (kind, options.api) {
            (ElementKind::Requests, api) => check_requests(Batches::of_lines(first, chunks), api, diagnostics),
            (_, None) => events::check(Batches::of_lines(first, chunks), kind, options, diagnostics),
            // The messages of one request, each on a line.
            (_, Some(_)) => {
                let Some(text) = source::whole(first, chunks, diagnostics)? else { return Ok(()) };
                let lines = text.trim_start_matches('\u{feff}').lines().filter(|line| !line.trim().is_empty());
                let list = format!("[{}]", lines.collect::<Vec<_>>().join(","));
                check_requests(Batches::of_list(&list, vec![&list]), options.api, diagnostics)
            }
        };
    }
    let Some(text) = source::whole(first, chunks, diagnostics)? else { return Ok(()) };
    if options.api.is_some() {
        return check_requests(Batches::of_list(&text, list::read_requests(&text)), options.api, diagnostics);
    }
    match list::read(&text) {
        Ok(Contents { kind: ElementKind::Requests, elements }) => {
            check_requests(Batches::of_list(&text, elements), None, diagnostics)
        }
        Ok(Contents { kind, elements }) => events::check(Batches::of_list(&text, elements), kind, options, diagnostics),
        Err(reason) => {
            diagnostics.about("a file");
            diagnostics.error(reason);
            Ok(())
        }
    }
}

fn check_requests(mut batches: Batches<'_>, api: Option<Api>, diagnostics: &mut Diagnostics<'_>) -> io::Result<()> {
    diagnostics.about("requests");
    let mut requests = RequestLog::new(api);
    while let Some(batch) = batches.next()? {
        for line in &batch.not_utf8 {
            diagnostics.error(format!("line {line}: not UTF-8"));
        }
        diagnostics.find(&requests.push(&batch));
    }
    requests.conclude(diagnostics);
    Ok(())
}
