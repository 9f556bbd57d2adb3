//! Writes documents.

use super::escape::{in_attribute, in_text};
use crate::buffer::Buffer;
use crate::ecma::{ecma_string, write_json, write_object};
use crate::{Event, EventKind, Profile, Role};
use serde_json::Value;
use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;
use std::{io, mem};

/// How to write a thread document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SerializeOptions<'a> {
    /// What decides where the sources are silent.
    pub profile: Profile,
    /// Follows `</thread>` after one LF, verbatim; nothing follows when it is empty (DOC-6).
    pub response_prefix: &'a str,
}

/// Renders a thread as one `<thread>` document (clauses DOC-*, EVT-*, ATT-*).
///
/// Well-formed XML 1.0 for every input; without a trailing newline.
///
/// ```
/// use threadspec::{SerializeOptions, read_events, serialize_thread};
/// let events = read_events(r#"[
///     {"type": "message", "role": "user", "content": "What is 2+2?", "iteration": 0},
///     {"type": "tool_call", "toolName": "calculator", "toolCallId": "a", "args": {"sum": [2, 2]}, "iteration": 1},
///     {"type": "tool_result", "toolCallId": "a", "result": 4, "iteration": 1}
/// ]"#)?;
/// assert_eq!(serialize_thread(&events, &SerializeOptions::default()), r#"<thread>
///   <event type="human" id="0" iteration="0">What is 2+2?</event>
///   <event type="tool_input" id="1" name="calculator" iteration="1">{&quot;sum&quot;:[2,2]}</event>
///   <event type="tool_output" id="2" name="calculator" status="success" iteration="1">4</event>
/// </thread>"#);
/// # Ok::<(), threadspec::Error>(())
/// ```
pub fn serialize_thread(events: &[Event], options: &SerializeOptions<'_>) -> String {
    let length: usize = events.iter().map(likely_length).sum();
    let mut out = Buffer::with_capacity(length + options.response_prefix.len() + SLACK);
    let mut lines = Lines::<&str>::new(options.profile);
    out.push_str(START);
    for event in events {
        lines.push(&mut out, event);
    }
    push_end(&mut out, options.response_prefix);
    out.into_string()
}

/// Writes what [`serialize_thread`] returns, without holding it.
///
/// # Errors
/// Those of the writer.
///
/// ```
/// let mut out = Vec::new();
/// threadspec::write_thread(&mut out, &[], &Default::default())?;
/// assert_eq!(out, b"<thread>\n</thread>");
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn write_thread(out: &mut impl io::Write, events: &[Event], options: &SerializeOptions<'_>) -> io::Result<()> {
    let mut stream = ThreadStream::new(out, options.profile);
    events.iter().try_for_each(|event| stream.push(event))?;
    stream.finish(options.response_prefix).map(drop)
}

/// A thread document that grows with its thread: each event costs what its own line costs, however long the thread is.
///
/// At every moment the document is what [`serialize_thread`] makes of the events so far.
///
/// ```
/// use threadspec::{Event, Profile, SerializeOptions, ThreadWriter, serialize_thread};
/// let thread = [Event::user(0, "Is 1 < 2?"), Event::assistant(1, "Yes.")];
/// let mut writer = ThreadWriter::new(Profile::Literal);
/// for (count, event) in thread.iter().enumerate() {
///     writer.push(event);
///     assert_eq!(writer.document(), serialize_thread(&thread[..=count], &SerializeOptions::default()));
/// }
/// assert!(writer.finish().ends_with("Yes.</event>\n</thread>"));
/// ```
#[derive(Clone, Debug)]
pub struct ThreadWriter {
    lines: ThreadLines,
    /// Always a whole document.
    document: Buffer,
}

impl ThreadWriter {
    /// The document of a thread without events.
    pub fn new(profile: Profile) -> Self {
        let mut document = Buffer::default();
        document.push_str(START);
        document.push_str(END);
        Self { lines: ThreadLines::new(profile), document }
    }

    /// Adds the next event.
    pub fn push(&mut self, event: &Event) {
        self.lines.insert(&mut self.document, event);
    }

    /// The document so far.
    pub fn document(&self) -> &str {
        self.document.as_str()
    }

    /// The document, to keep.
    pub fn finish(self) -> String {
        self.document.into_string()
    }
}

/// A thread document that goes to a writer while its thread arrives. Of what has been written, only the ids and names of tool
/// calls are remembered.
///
/// ```
/// use threadspec::{Event, Profile, ThreadStream};
/// let mut stream = ThreadStream::new(Vec::new(), Profile::Literal);
/// stream.push(&Event::user(0, "Hi"))?;
/// let written = stream.finish("")?;
/// assert_eq!(written, b"<thread>\n  <event type=\"human\" id=\"0\" iteration=\"0\">Hi</event>\n</thread>");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct ThreadStream<W> {
    lines: ThreadLines,
    unwritten: Buffer,
    out: W,
}

impl<W: io::Write> ThreadStream<W> {
    /// How many bytes are collected for one write.
    const CHUNK: usize = 1 << 16;

    /// Begins a document. Writes are large already: the writer needs no buffer.
    pub fn new(out: W, profile: Profile) -> Self {
        let mut unwritten = Buffer::with_capacity(2 * Self::CHUNK);
        unwritten.push_str(START);
        Self { lines: ThreadLines::new(profile), unwritten, out }
    }

    /// Adds the next event.
    ///
    /// # Errors
    /// Those of the writer; the document is incomplete then.
    pub fn push(&mut self, event: &Event) -> io::Result<()> {
        self.lines.push(&mut self.unwritten, event);
        if self.unwritten.len() < Self::CHUNK {
            return Ok(());
        }
        self.write()
    }

    /// Ends the document, with a response prefix unless it is empty, and gives the writer back.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn finish(mut self, response_prefix: &str) -> io::Result<W> {
        push_end(&mut self.unwritten, response_prefix);
        self.write()?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn write(&mut self) -> io::Result<()> {
        self.out.write_all(self.unwritten.as_str().as_bytes())?;
        self.unwritten.truncate(0);
        Ok(())
    }
}

const START: &str = "<thread>\n";
const END: &str = "</thread>";
/// What a buffer needs beyond its text so as not to grow once more at its end.
const SLACK: usize = 1024;

fn push_end(out: &mut Buffer, response_prefix: &str) {
    out.push_str(END);
    if !response_prefix.is_empty() {
        out.push_str("\n");
        out.push_str(response_prefix);
    }
}

/// About how long an event's line is. A document that turns out longer costs a copy, nothing else.
fn likely_length(event: &Event) -> usize {
    let text = match &event.kind {
        EventKind::Message { content: text, .. }
        | EventKind::Error { error: text, .. }
        | EventKind::HumanInputRequested { question: text }
        | EventKind::HumanInputReceived { response: text }
        | EventKind::Completion { result: text, .. }
        | EventKind::Summary { summary: text, .. }
        | EventKind::ToolResult { result: Some(Value::String(text)), .. } => text.len(),
        EventKind::ToolCall { args, .. } => {
            args.iter().map(|(key, value)| key.len() + value.as_str().map_or(40, str::len) + 32).sum()
        }
        EventKind::ToolResult { .. } => 40,
    };
    text + text / 16 + 96
}

/// Writes the lines of a document, and remembers what later lines need to know of earlier ones.
#[derive(Clone, Debug)]
pub(crate) struct Lines<S> {
    profile: Profile,
    next_id: u64,
    /// Filled as the events go by, so that a result finds the nearest preceding call (ATT-NAME-NEAREST) and the lines
    /// already written never change when events are added.
    tool_names: HashMap<S, S>,
}

/// Lines that keep copies of the names, so that the events need not stay.
pub(crate) type ThreadLines = Lines<String>;

impl ThreadLines {
    /// Adds the line of the next event to a whole document.
    fn insert(&mut self, document: &mut Buffer, event: &Event) {
        document.truncate(document.len() - END.len());
        self.push(document, event);
        document.push_str(END);
    }

    /// Adds the line of the next event to a whole document that is kept elsewhere.
    pub(crate) fn push_to(&mut self, document: &mut String, event: &Event) {
        let mut buffer = Buffer::from(mem::take(document));
        self.insert(&mut buffer, event);
        *document = buffer.into_string();
    }
}

impl<S: Borrow<str> + Eq + Hash> Lines<S> {
    pub(crate) fn new(profile: Profile) -> Self {
        Self { profile, next_id: 0, tool_names: HashMap::new() }
    }

    fn push<'a>(&mut self, out: &mut Buffer, event: &'a Event)
    where
        S: From<&'a str>,
    {
        let profile = self.profile;
        let mut digits = itoa::Buffer::new();
        out.push_str("  <event type=\"");
        out.push_str(type_attribute(&event.kind));
        out.push_str("\" id=\"");
        out.push_str(digits.format(self.next_id));
        self.next_id += 1;
        match &event.kind {
            EventKind::ToolCall { tool_name, tool_call_id, .. } => {
                self.tool_names.insert(S::from(tool_call_id), S::from(tool_name));
                out.push_str("\" name=\"");
                out.push_escaped(tool_name, in_attribute(profile));
            }
            EventKind::ToolResult { tool_call_id, .. } => {
                out.push_str("\" name=\"");
                let name = self.tool_names.get(&**tool_call_id).map_or("unknown", Borrow::borrow);
                out.push_escaped(name, in_attribute(profile));
                out.push_str("\" status=\"success");
            }
            _ => {}
        }
        out.push_str("\" iteration=\"");
        out.push_str(digits.format(event.iteration));
        match &event.kind {
            EventKind::Error { recoverable: true, .. } => out.push_str("\" recoverable=\"true"),
            EventKind::Error { recoverable: false, .. } => out.push_str("\" recoverable=\"false"),
            EventKind::Summary { summarized_iterations, .. } => {
                out.push_str("\" summarizedIterations=\"");
                out.push_str(&join(summarized_iterations, ","));
            }
            _ => {}
        }
        out.push_str("\">");
        match &event.kind {
            EventKind::Message { content: text, .. }
            | EventKind::Error { error: text, .. }
            | EventKind::HumanInputRequested { question: text }
            | EventKind::HumanInputReceived { response: text }
            | EventKind::Completion { result: text, .. }
            | EventKind::Summary { summary: text, .. }
            | EventKind::ToolResult { result: Some(Value::String(text)), .. } => {
                out.push_escaped(text, in_text(profile));
            }
            EventKind::ToolCall { args, .. } => write_object(out, args),
            // EVT-RESULT-VALUE, EVT-RESULT-ABSENT
            EventKind::ToolResult { result: Some(value), .. } => match profile {
                Profile::Literal => out.push_escaped(&ecma_string(value), in_text(profile)),
                Profile::Hardened => write_json(out, value),
            },
            EventKind::ToolResult { result: None, .. } => out.push_str("undefined"),
        }
        out.push_str("</event>\n");
    }
}

/// The iteration numbers of a summary as one text.
pub(crate) fn join(iterations: &[u64], separator: &str) -> String {
    iterations.iter().map(u64::to_string).collect::<Vec<_>>().join(separator)
}

fn type_attribute(kind: &EventKind) -> &'static str {
    match kind {
        EventKind::Message { role: Role::User, .. } => "human",
        EventKind::Message { role: Role::Assistant, .. } => "ai",
        EventKind::Message { role: Role::System, .. } => "system",
        EventKind::ToolCall { .. } => "tool_input",
        EventKind::ToolResult { .. } => "tool_output",
        EventKind::Error { .. } => "error",
        EventKind::HumanInputRequested { .. } => "human_input_requested",
        EventKind::HumanInputReceived { .. } => "human_input_received",
        EventKind::Completion { .. } => "completion",
        EventKind::Summary { .. } => "summary",
    }
}
