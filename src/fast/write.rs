//! Documents that are written into one string, numbers and JSON text included.

use super::escape::{self, in_attribute, in_text, push_escaped};
use crate::ecma::{JsonSink, ecma_string, write_json, write_object};
use crate::xml::{join, text_of, type_attribute};
use crate::{Event, EventKind, Profile, SerializeOptions};
use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;
use std::io;

/// Renders a thread as one `<thread>` document (clauses DOC-*, EVT-*, ATT-*).
///
/// Well-formed XML 1.0 for every input; without a trailing newline. [`plain::serialize_thread`](crate::plain::serialize_thread)
/// shows how.
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
    let mut out = String::with_capacity(START.len() + length + END.len() + 1 + options.response_prefix.len());
    let mut lines = LineWriter::<&str>::new(options.profile);
    out.push_str(START);
    for event in events {
        lines.push(&mut out, event);
    }
    push_end(&mut out, options.response_prefix);
    out
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
    document: String,
}

impl ThreadWriter {
    /// The document of a thread without events.
    pub fn new(profile: Profile) -> Self {
        Self { lines: ThreadLines::new(profile), document: format!("{START}{END}") }
    }

    /// Adds the next event.
    pub fn push(&mut self, event: &Event) {
        self.lines.push_to(&mut self.document, event);
    }

    /// The document so far.
    pub fn document(&self) -> &str {
        &self.document
    }

    /// The document, to keep.
    pub fn finish(self) -> String {
        self.document
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
    unwritten: String,
    out: W,
}

impl<W: io::Write> ThreadStream<W> {
    /// How many bytes are collected for one write.
    const CHUNK: usize = 1 << 16;

    /// Begins a document. Writes are large already: the writer needs no buffer.
    pub fn new(out: W, profile: Profile) -> Self {
        let mut unwritten = String::with_capacity(2 * Self::CHUNK);
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
        self.out.write_all(self.unwritten.as_bytes())?;
        self.unwritten.clear();
        Ok(())
    }
}

const START: &str = "<thread>\n";
const END: &str = "</thread>";

fn push_end(out: &mut String, response_prefix: &str) {
    out.push_str(END);
    if !response_prefix.is_empty() {
        out.push('\n');
        out.push_str(response_prefix);
    }
}

/// About how long an event's line is. A document that turns out longer costs a copy, nothing else.
fn likely_length(event: &Event) -> usize {
    let text = match &event.kind {
        EventKind::ToolCall { args, .. } => {
            args.iter().map(|(key, value)| key.len() + value.as_str().map_or(40, str::len) + 32).sum()
        }
        kind => text_of(kind).map_or(40, str::len),
    };
    text + text / 16 + 96
}

/// Writes the lines of a document, and remembers what later lines need to know of earlier ones.
#[derive(Clone, Debug)]
pub(super) struct LineWriter<S> {
    profile: Profile,
    next_id: u64,
    /// Filled as the events go by, so that a result finds the nearest preceding call (ATT-NAME-NEAREST) and the lines
    /// already written never change when events are added.
    tool_names: HashMap<S, S>,
}

/// LineWriter that keep copies of the names, so that the events need not stay.
pub(super) type ThreadLines = LineWriter<String>;

impl ThreadLines {
    /// Adds the line of the next event to a whole document.
    pub(super) fn push_to(&mut self, document: &mut String, event: &Event) {
        document.truncate(document.len() - END.len());
        self.push(document, event);
        document.push_str(END);
    }
}

impl<S: Borrow<str> + Eq + Hash> LineWriter<S> {
    pub(super) fn new(profile: Profile) -> Self {
        Self { profile, next_id: 0, tool_names: HashMap::new() }
    }

    fn push<'a>(&mut self, out: &mut String, event: &'a Event)
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
                push_escaped(out, tool_name, in_attribute(profile));
            }
            EventKind::ToolResult { tool_call_id, .. } => {
                out.push_str("\" name=\"");
                let name = self.tool_names.get(&**tool_call_id).map_or("unknown", Borrow::borrow);
                push_escaped(out, name, in_attribute(profile));
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
            EventKind::ToolCall { args, .. } => write_object(&mut Escaped(out), args),
            // EVT-RESULT-VALUE, EVT-RESULT-ABSENT
            EventKind::ToolResult { result: Some(value), .. } if !value.is_string() => match profile {
                Profile::Literal => push_escaped(out, &ecma_string(value), in_text(profile)),
                Profile::Hardened => write_json(&mut Escaped(out), value),
            },
            EventKind::ToolResult { result: None, .. } => out.push_str("undefined"),
            kind => push_escaped(out, text_of(kind).unwrap_or_default(), in_text(profile)),
        }
        out.push_str("</event>\n");
    }
}

/// JSON text as the content of an element, written and escaped in one go.
struct Escaped<'a>(&'a mut String);

impl JsonSink for Escaped<'_> {
    fn push_plain(&mut self, text: &str) {
        self.0.push_str(text);
    }

    fn push_quoted(&mut self, text: &str) {
        self.0.push_str("&quot;");
        push_escaped(self.0, text, &escape::JSON_TEXT);
        self.0.push_str("&quot;");
    }

    fn push_json(&mut self, json: &str) {
        push_escaped(self.0, json, &escape::TEXT);
    }
}
