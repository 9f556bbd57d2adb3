//! Properties that every implementation's output must have, each as a plain function with a precise report.
//!
//! | oracle | judges | clause |
//! |---|---|---|
//! | [`well_formed`] | a document | DOC-4 |
//! | [`no_forgery`] | a document | DOC-5, ATT-* |
//! | [`round_trip`] | a document | DOC-2, ESC-*, EVT-* |
//! | [`permitted_kept`] | a document | ESC-FORBIDDEN |
//! | [`well_shaped`], [`not_carried`] | a document, a thread | DOC-1, DOC-2, ATT-*; ESC-* |
//! | [`well_escaped`] | a document | ESC-1 to ESC-4, ESC-CR, ATT-WHITESPACE |
//! | [`append_only`] | two documents | ATT-NAME-NEAREST |
//! | [`conveyed_by_document`], [`conveyed_by_messages`], [`equivalent`] | a document, messages, both | EQ-1, EQ-2 |
//! | [`provider_valid`] | messages | PROVIDER-1 |
//! | [`provider_breaches`] | the body of a request | the rules of [`provider_rules`] |
//! | [`snapshots`] | the requests of tool rounds | TOOLS-ACCUMULATE, TOOLS-SNAPSHOT |
//!
//! They share no code with the writer and the message builder that they judge, except the ECMAScript conversions. They
//! accept what a profile accepts, not just what the reference does.

mod document;
mod facts;
mod form;
mod messages;
mod provider;
mod texts;

pub use document::{
    NotCarried, accepted_names, accepted_texts, document_verdicts, document_violations, no_forgery, no_forgery_in,
    not_carried, permitted_kept, round_trip, round_trip_in, well_formed,
};
pub use facts::{Fact, conveyed_by_document, conveyed_by_document_in, conveyed_by_messages, equivalent, facts};
pub use form::{append_only, form_violations, well_escaped, well_shaped};
pub use messages::{provider_valid, snapshots};
pub use provider::{
    Api, Breach, BreachDetail, ProviderRule, RequestContext, RequestForm, RequestHeaders, SentThinking, StoredItems,
    place_and_fault, provider_breaches, provider_breaches_in, provider_breaches_with, provider_rules,
};
pub use texts::{in_order, normalize_line_ends};

use std::{error, fmt};

/// A fault that an oracle found, with its place, in one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    event: Option<usize>,
    line: Option<usize>,
    reason: String,
}

impl Violation {
    fn new(reason: impl Into<String>) -> Self {
        Self { event: None, line: None, reason: reason.into() }
    }

    fn of_event(event: usize, reason: impl Into<String>) -> Self {
        Self { event: Some(event), ..Self::new(reason) }
    }

    fn in_line(line: usize, reason: impl Into<String>) -> Self {
        Self { line: Some(line), ..Self::new(reason) }
    }

    /// The 0-based position of the event at fault, in the thread or document that was judged.
    pub fn event(&self) -> Option<usize> {
        self.event
    }

    /// The 1-based line of the document at fault.
    pub fn line(&self) -> Option<usize> {
        self.line
    }

    /// Returns the fault, without the place.
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.event, self.line) {
            (Some(event), _) => write!(f, "event {event}: {}", self.reason),
            (None, Some(line)) => write!(f, "line {line}: {}", self.reason),
            (None, None) => f.write_str(&self.reason),
        }
    }
}

impl error::Error for Violation {}

/// Text in a message, escaped and short enough to read.
fn quote(text: &str) -> String {
    const LONGEST: usize = 120;
    let mut shown: String = text.chars().take(LONGEST).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    format!("{shown:?}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ContextOptions, Event, EventKind, Profile, SerializeOptions, build_messages, serialize_thread};

    /// Work that grows with the square of a thread's length would take very long here.
    #[test]
    fn long_threads_take_no_longer_per_event() {
        let count = 20_000_usize;
        let event = |kind| Event { iteration: 1, kind };
        let call = |id: usize| EventKind::ToolCall {
            tool_name: format!("tool{}", id % 7),
            tool_call_id: id.to_string(),
            args: serde_json::Map::new(),
        };
        let result = |id: usize| EventKind::ToolResult { tool_call_id: id.to_string(), result: Some("ok".into()) };
        let events: Vec<Event> = (0..count).map(call).chain((0..count).rev().map(result)).map(event).collect();
        for profile in Profile::ALL {
            let document = serialize_thread(&events, &SerializeOptions { profile, ..Default::default() });
            let messages = build_messages(&events, &ContextOptions { profile, ..Default::default() });
            for verdict in [
                well_formed(&document),
                well_shaped(&document),
                well_escaped(&document, profile),
                no_forgery(&events, &document, profile),
                round_trip(&events, &document, profile),
                permitted_kept(&events, &document, profile),
                append_only(&document, &document),
                equivalent(&events, &document, &messages, profile),
            ] {
                assert_eq!(verdict, Ok(()));
            }
            assert_eq!(not_carried(&events, profile), []);
            assert_eq!(provider_valid(&messages).is_ok(), profile == Profile::Hardened);
        }
    }
}
