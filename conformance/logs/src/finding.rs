//! Defines findings: the fault, the place, the advice, and how they are handed on.

use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt;
use threadspec_judge::text::{count, cut};

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Something that the owner may want to know, and that nobody needs to fix.
    Note,
    /// Some servers or versions refuse it, or it costs money.
    Warning,
    /// A fault.
    Error,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

/// A part of a request or of a log, counted as its owner counts: events from 0, the others from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Element {
    /// `event`, `message` or `item`.
    pub kind: &'static str,
    /// Its number.
    pub number: usize,
}

/// Where something is. Whatever is not known, or does not exist in this form of log, is absent; the file is known to whoever passed it in.
///
/// Its `Display` form is one phrase: `request 2 (line 7), message 5`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Place {
    /// The entry of a container: a file in a zip, a row of a database.
    pub entry: Option<String>,
    /// The line, counted from 1: of the message or item, where a record is over several lines, otherwise of the record.
    pub line: Option<usize>,
    /// The request, counted from 1 through the whole file.
    pub request: Option<usize>,
    /// The request that it goes on from, where that matters: the text names no request, so that it is the same in a part of the log.
    pub after: Option<usize>,
    /// The event, message or item.
    pub element: Option<Element>,
    /// The conversation: its key in the log, if the log has one.
    pub conversation: Option<String>,
    /// The path inside the request or the record: `messages[3].tool_calls[0].id`; empty for all of it.
    pub path: String,
}

impl Place {
    /// A line.
    pub(super) fn line(line: usize) -> Self {
        Self { line: Some(line), ..Self::default() }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let element = self.element.map(|Element { kind, number }| format!("{kind} {number}"));
        let mut names = [self.request.map(|number| format!("request {number}")), element].into_iter().flatten();
        let mut parts: Vec<String> = self.entry.iter().cloned().collect();
        parts.extend(self.conversation.as_ref().map(|key| format!("conversation {key}")));
        let line = self.line.map(|line| format!("line {line}"));
        let notes = [line, self.after.map(|number| format!("after request {number}"))];
        let notes = notes.into_iter().flatten().collect::<Vec<_>>().join(", ");
        parts.push(match names.next() {
            Some(name) if notes.is_empty() => name,
            Some(name) => format!("{name} ({notes})"),
            None => notes,
        });
        parts.extend(names);
        parts.retain(|part| !part.is_empty());
        f.write_str(&parts.join(", "))
    }
}

/// One thing that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule that is broken: its id never changes, and `threadspec explain` knows it.
    pub rule: &'static str,
    /// How bad it is.
    pub level: Level,
    /// Where it is.
    pub place: Place,
    /// The fault, in one sentence. It may hold any character of the input, control characters included.
    pub text: String,
    /// The advice, in one sentence; empty if there is nothing to do.
    pub advice: &'static str,
}

impl fmt::Display for Finding {
    /// `request 2 (line 7), message 5: the call "c2" has a result already (OAI-CHAT-ONE-ANSWER at messages[4].tool_call_id)`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.place.to_string();
        let (colon, at) = (if place.is_empty() { "" } else { ": " }, &self.place.path);
        let at = if at.is_empty() { String::new() } else { format!(" at {at}") };
        write!(f, "{place}{colon}{} ({}{at})", self.text, self.rule)
    }
}

impl Finding {
    /// The finding as a JSON object with the members `rule`, `level`, `text`, `advice`, and those of its place that are known.
    pub fn to_json(&self) -> Value {
        let mut object =
            json!({"rule": self.rule, "level": self.level.to_string(), "text": self.text, "advice": self.advice});
        let Place { entry, line, request, after, element, conversation, path } = &self.place;
        let members = [
            ("entry", entry.as_ref().map(|entry| json!(entry))),
            ("line", line.map(|line| json!(line))),
            ("request", request.map(|request| json!(request))),
            ("after", after.map(|request| json!(request))),
            ("element", element.map(|Element { kind, number }| json!(format!("{kind} {number}")))),
            ("conversation", conversation.as_ref().map(|key| json!(key))),
            ("path", (!path.is_empty()).then(|| json!(path))),
        ];
        for (name, value) in members {
            if let Some(value) = value {
                object[name] = value;
            }
        }
        object
    }
}

/// Takes what is found, as soon as it is found.
pub trait Sink {
    /// A form of log was met for the first time in the file: `a HAR recording`. No finding about it came before.
    fn recognized(&mut self, what: &str);

    /// Something was found.
    fn found(&mut self, finding: Finding);
}

/// A form that was met, and in how many records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormCount {
    /// The name of the form: `a HAR recording`.
    pub form: String,
    /// How many records had it.
    pub records: usize,
    /// The row that describes it, in TOML: one of ours, or of the user's. None if it is read by code.
    pub row: Option<String>,
}

/// Why a record with messages is judged in part only.
pub(super) const UNKNOWN_PARTS: &str = "parts of unknown types in its messages, which may be calls or results";

/// Why a record beside messages is not judged, which may be a call or a result.
pub(super) const UNKNOWN_CALLS: &str = "records of unknown types, which may be calls or results";

/// Records that were not judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// Why, as a phrase: `no request, answer or message in it`.
    pub why: &'static str,
    /// How many.
    pub records: usize,
    /// The line of the first.
    pub line: usize,
    /// True if nobody knows what they are; others are known to be something that is not judged.
    pub is_unknown: bool,
}

/// The form of a file, and the number of its findings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// The recognized forms, in the order in which they appeared. If it is empty, nothing was judged, whatever else is said.
    pub forms: Vec<FormCount>,
    /// A row for a file that was read by its structure, for the user to go on from.
    pub proposed_row: Option<String>,
    /// The parts that were not judged, with reasons.
    pub skipped: Vec<Skipped>,
    /// How much there was of what can be judged, as noun and number: `request` 3, `event` 7.
    pub judged: Vec<(&'static str, usize)>,
    /// How many of the elements of an event log could not be read.
    pub unreadable: usize,
    /// How many answers were compared with what a later request has of them.
    pub compared: usize,
    /// How many bytes of earlier requests servers read again, since they were changed.
    pub reread: usize,
    /// The APIs of the requests.
    pub apis: BTreeSet<String>,
    /// How many errors were found.
    pub errors: usize,
    /// How many warnings.
    pub warnings: usize,
    /// How many notes.
    pub notes: usize,
    /// The properties that hold; none if nothing was judged.
    pub holds: Vec<&'static str>,
}

impl Summary {
    /// Counts the judged parts, in words: `3 requests (anthropic, openai-chat), 2 answers`; empty if there was nothing.
    pub fn total(&self) -> String {
        let apis = self.apis.iter().cloned().collect::<Vec<_>>().join(", ");
        let part = |&(noun, number): &(&'static str, usize)| {
            let mut text = count(number, noun);
            if noun == "request" && !apis.is_empty() {
                text.push_str(&format!(" ({apis})"));
            }
            text
        };
        let mut parts: Vec<String> = self.judged.iter().map(part).collect();
        if self.unreadable > 0 {
            parts.push(format!("of which {} cannot be read", self.unreadable));
        }
        if self.compared > 0 {
            parts.push(format!("{} compared with the next request", count(self.compared, "answer")));
        }
        if self.reread > 0 {
            parts.push(format!("{} read again without the prompt cache", count(self.reread, "byte")));
        }
        parts.join(", ")
    }

    /// Returns whether there was anything to judge.
    pub fn has_recognized(&self) -> bool {
        !self.forms.is_empty()
    }

    /// Why the file does not count as judged: nothing in it was, or less than half of its records were of a known form.
    pub fn unjudged(&self) -> Option<&'static str> {
        let recognized: usize = self.forms.iter().map(|form| form.records).sum();
        let unknown = self.skipped.iter().filter(|skipped| skipped.is_unknown).map(|skipped| skipped.records).sum();
        match () {
            () if !self.has_recognized() => Some("nothing in it was recognized"),
            () if self.judged.iter().all(|(_, number)| *number == 0)
                && self.errors == 0
                && !self.is_beside_messages() =>
            {
                Some("there is nothing to judge in it")
            }
            () if recognized < unknown
                || self.skipped.iter().any(|skipped| [UNKNOWN_PARTS, UNKNOWN_CALLS].contains(&skipped.why)) =>
            {
                Some("it was only partly recognized")
            }
            () => None,
        }
    }

    /// Returns whether it is of a form that keeps each message in a file of its own, and is a file beside these.
    fn is_beside_messages(&self) -> bool {
        self.forms.iter().all(|form| form.form == "a Strands session")
    }

    /// Counts something that was judged.
    pub(super) fn judge(&mut self, noun: &'static str, number: usize) {
        match self.judged.iter_mut().find(|(known, _)| *known == noun) {
            Some((_, known)) => *known += number,
            None => self.judged.push((noun, number)),
        }
    }
}

/// The report on a file that was judged as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The form of the file.
    pub summary: Summary,
    /// The findings, in the order of the file.
    pub findings: Vec<Finding>,
}

impl Report {
    /// Says that nothing was found because there was nothing to judge, and why; otherwise `None`. For bindings, which have no exit code.
    ///
    /// ```
    /// let report = threadspec_logs::check_bytes(br#"{"a": 1}"#, &threadspec_logs::CheckOptions::default());
    /// assert_eq!(report.unjudged().as_deref(), Some("nothing in it was recognized: nothing of a known form in it"));
    /// ```
    pub fn unjudged(&self) -> Option<String> {
        let judged: usize = self.summary.judged.iter().map(|(_, number)| number).sum();
        if !self.findings.is_empty() || judged > 0 {
            return None;
        }
        let whys: Vec<&str> = self.summary.skipped.iter().map(|skipped| skipped.why).collect();
        let colon = if whys.is_empty() { "" } else { ": " };
        let nothing =
            if self.summary.has_recognized() { "there is nothing in it" } else { "nothing in it was recognized" };
        Some(format!("{nothing}{colon}{}", whys.join("; ")))
    }
}

impl Sink for Report {
    fn recognized(&mut self, _: &str) {}

    fn found(&mut self, finding: Finding) {
        self.findings.push(finding);
    }
}

/// Hands findings on, and counts them.
pub(super) struct FindingOutput<'a> {
    sink: &'a mut dyn Sink,
    pub(super) summary: Summary,
    /// The line of the last record, and those of its elements, if it is over several lines.
    pub(super) lines: (usize, Vec<usize>),
}

impl<'a> FindingOutput<'a> {
    pub(super) fn new(sink: &'a mut dyn Sink) -> Self {
        Self { sink, summary: Summary::default(), lines: Default::default() }
    }

    /// A form was met in so many records.
    pub(super) fn recognized(&mut self, form: &str, records: usize) {
        if let Some(known) = self.summary.forms.iter_mut().find(|known| known.form == form) {
            known.records += records;
        } else {
            self.sink.recognized(form);
            self.summary.forms.push(FormCount { form: form.to_owned(), records, row: None });
        }
    }

    pub(super) fn found(&mut self, mut finding: Finding) {
        let Place { line, element, .. } = &mut finding.place;
        if let (Some(line), Some(Element { kind: "message" | "item", number })) = (line, element)
            && *line == self.lines.0
            && let Some(of_element) = self.lines.1.get(*number - 1)
        {
            *line = *of_element;
        }
        *match finding.level {
            Level::Error => &mut self.summary.errors,
            Level::Warning => &mut self.summary.warnings,
            Level::Note => &mut self.summary.notes,
        } += 1;
        self.sink.found(finding);
    }
}

/// The beginning of a text, in quotes.
pub(super) fn excerpt(text: &str) -> String {
    const LONGEST: usize = 60;
    let (short, rest) = cut(text, LONGEST);
    format!("{short:?}{}", if rest.is_empty() { "" } else { "…" })
}
