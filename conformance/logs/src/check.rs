//! Finds out what a file is, and has it checked.

use super::finding::{Output, Place, Report, Sink, Summary};
use super::list::{self, Batches, Contents, ElementKind};
use super::requests::RequestLog;
use super::rules::finding;
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

/// Reads a log, a document or requests to the end, and hands on everything that is wrong, as soon as it is found.
///
/// # Errors
///
/// When it cannot be read to its end. What was found until then has been handed on.
pub fn check(input: impl Read + Send, options: &CheckOptions, sink: &mut dyn Sink) -> io::Result<Summary> {
    let mut output = Output::new(sink);
    check_all(input, *options, &mut output)?;
    Ok(output.summary)
}

/// The same for bytes that are there already: for bindings, which have no files.
///
/// ```
/// use threadspec_logs::{CheckOptions, Level, check_bytes};
///
/// let request = br#"{"model": "gpt-4.1", "messages": [{"role": "tool", "tool_call_id": "a", "content": "4"}]}"#;
/// let report = check_bytes(request, &CheckOptions::default());
/// assert_eq!(report.summary.total(), "1 request (openai-chat)");
/// let finding = &report.findings[0];
/// assert_eq!((finding.rule, finding.level, finding.place.request), ("OAI-CHAT-ORPHAN", Level::Error, Some(1)));
/// ```
pub fn check_bytes(bytes: &[u8], options: &CheckOptions) -> Report {
    let mut report = Report::default();
    // Reading from memory never fails.
    report.summary = check(bytes, options, &mut report).unwrap_or_default();
    report
}

fn check_all(input: impl Read + Send, options: CheckOptions, output: &mut Output<'_>) -> io::Result<()> {
    let mut chunks = Chunks::new(Box::new(input));
    let first = chunks.next()?.unwrap_or_default();
    if let Some(encoding) = text::foreign_encoding(&first.bytes) {
        output.found(finding("LOG-UTF8", Place::default(), format!("it is {encoding}; convert it to UTF-8 first")));
        return Ok(());
    }
    let start = first.bytes.strip_prefix(source::BYTE_ORDER_MARK).unwrap_or(&first.bytes).trim_ascii_start();
    if options.api.is_none() && start.starts_with(b"<") {
        let Some(text) = source::whole(first, chunks, output)? else { return Ok(()) };
        document::check(&text, options.profile, output);
        return Ok(());
    }
    if list::begins_lines(&first.bytes, chunks.has_ended()) {
        let kind = list::kind_of_lines(&first.bytes);
        return match (kind, options.api) {
            (ElementKind::Requests, api) => check_requests(Batches::of_lines(first, chunks), api, output),
            (_, None) => events::check(Batches::of_lines(first, chunks), kind, options, output),
            // The messages of one request, each on a line.
            (_, Some(_)) => {
                let Some(text) = source::whole(first, chunks, output)? else { return Ok(()) };
                let lines = text.trim_start_matches('\u{feff}').lines().filter(|line| !line.trim().is_empty());
                let list = format!("[{}]", lines.collect::<Vec<_>>().join(","));
                check_requests(Batches::of_list(&list, vec![&list]), options.api, output)
            }
        };
    }
    let Some(text) = source::whole(first, chunks, output)? else { return Ok(()) };
    if options.api.is_some() {
        return check_requests(Batches::of_list(&text, list::read_requests(&text)), options.api, output);
    }
    match list::read(&text) {
        Ok(Contents { kind: ElementKind::Requests, elements }) => {
            check_requests(Batches::of_list(&text, elements), None, output)
        }
        Ok(Contents { kind, elements }) => events::check(Batches::of_list(&text, elements), kind, options, output),
        Err(reason) => {
            output.found(finding("LOG-FORM", Place::default(), reason));
            Ok(())
        }
    }
}

fn check_requests(mut batches: Batches<'_>, api: Option<Api>, output: &mut Output<'_>) -> io::Result<()> {
    let mut requests = RequestLog::new(api);
    while let Some(batch) = batches.next()? {
        for line in &batch.not_utf8 {
            output.found(finding("LOG-UTF8", Place::line(*line), "not UTF-8"));
        }
        let known = requests.count();
        let found = requests.push(&batch);
        if requests.count() > known {
            output.recognized("requests", requests.count() - known);
        }
        found.into_iter().for_each(|found| output.found(found));
    }
    requests.conclude(output);
    Ok(())
}
