//! The error type of the crate.

use std::{error, fmt};

/// A fault of an input, with its place, or a failure of a model or a store.
///
/// One type for the whole crate: ask it with [`is_invalid_event`](Error::is_invalid_event) and its siblings instead of
/// matching on text. Its `Display` form is one line that names the position, the field and the reason.
///
/// ```
/// let error = threadspec::read_events(r#"[{"type":"error","error":"boom","iteration":1}]"#).unwrap_err();
/// assert!(error.is_invalid_event());
/// assert_eq!(error.index(), Some(0));
/// assert_eq!(error.field(), Some("recoverable"));
/// assert_eq!(error.to_string(), "event 0 (line 1): recoverable: missing, expected a boolean");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Error(Box<Inner>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Inner {
    kind: ErrorKind,
    message: String,
    index: Option<usize>,
    field: Option<String>,
    line: Option<usize>,
    column: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ErrorKind {
    Event,
    Input,
    NotWellFormed,
    NotAThread,
    UnsupportedXml,
    Model,
    Store,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner { kind, message: message.into(), index: None, field: None, line: None, column: None }))
    }

    /// The failure of a model (`agent::Model`), with its message.
    ///
    /// ```
    /// let error = threadspec::Error::model_failure("rate limit");
    /// assert!(error.is_model_failure());
    /// assert_eq!(error.to_string(), "rate limit");
    /// ```
    pub fn model_failure(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Model, message)
    }

    /// The failure of a store (`session::Store`).
    ///
    /// ```
    /// let error = threadspec::Error::store_failure("no space left on device");
    /// assert!(error.is_store_failure());
    /// ```
    pub fn store_failure(reason: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Store, reason.to_string())
    }

    pub(crate) fn input(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Input, message)
    }

    /// A fault of one field of an input.
    pub(crate) fn of_field(field: impl Into<String>, reason: impl Into<String>) -> Self {
        let mut error = Self::input(reason);
        error.0.field = Some(field.into());
        error
    }

    /// Makes it an error of an event; the reader of the log adds index and line.
    pub(crate) fn of_event(mut self) -> Self {
        self.0.kind = ErrorKind::Event;
        self
    }

    pub(crate) fn at_event(mut self, index: usize) -> Self {
        self.0.index = Some(index);
        self.of_event()
    }

    pub(crate) fn at_line(mut self, line: usize) -> Self {
        self.0.line = Some(line);
        self
    }

    pub(crate) fn at_column(mut self, column: usize) -> Self {
        self.0.column = Some(column);
        self
    }

    /// Returns whether an element of the list of events is at fault (reject kind `invalid-event`).
    pub fn is_invalid_event(&self) -> bool {
        self.0.kind == ErrorKind::Event
    }

    /// Returns whether the input as a whole is at fault: not JSON, or not a list of events (reject kind `invalid-input`).
    pub fn is_invalid_input(&self) -> bool {
        self.0.kind == ErrorKind::Input
    }

    /// Returns whether a document is not well-formed XML 1.0.
    pub fn is_not_well_formed(&self) -> bool {
        self.0.kind == ErrorKind::NotWellFormed
    }

    /// Returns whether a document is well-formed XML, but not a `<thread>` of `<event>`s.
    pub fn is_not_a_thread(&self) -> bool {
        self.0.kind == ErrorKind::NotAThread
    }

    /// Returns whether a document uses a part of XML that no thread document has and the reader does not judge: a document type, an XML
    /// declaration or namespaces.
    pub fn is_unsupported_xml(&self) -> bool {
        self.0.kind == ErrorKind::UnsupportedXml
    }

    /// Returns whether a model failed.
    pub fn is_model_failure(&self) -> bool {
        self.0.kind == ErrorKind::Model
    }

    /// Returns whether a store failed, or holds what no session wrote.
    pub fn is_store_failure(&self) -> bool {
        self.0.kind == ErrorKind::Store
    }

    /// The 0-based position of the event at fault.
    pub fn index(&self) -> Option<usize> {
        self.0.index
    }

    /// The field at fault, as a path from the event or the input (`args`, `summarizedIterations[2]`).
    pub fn field(&self) -> Option<&str> {
        self.0.field.as_deref()
    }

    /// The 1-based line of the input: where the event begins, or where parsing stopped.
    pub fn line(&self) -> Option<usize> {
        self.0.line
    }

    /// The 1-based column in characters, where parsing stopped.
    pub fn column(&self) -> Option<usize> {
        self.0.column
    }

    /// The reason alone, without the position.
    pub fn reason(&self) -> &str {
        &self.0.message
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { message, index, field, line, column, .. } = &*self.0;
        match (index, line, column) {
            (Some(index), Some(line), _) => write!(f, "event {index} (line {line}): ")?,
            (Some(index), None, _) => write!(f, "event {index}: ")?,
            (None, Some(line), Some(column)) => write!(f, "line {line}, column {column}: ")?,
            (None, Some(line), None) => write!(f, "line {line}: ")?,
            (None, None, _) => {}
        }
        if let Some(field) = field {
            write!(f, "{field}: ")?;
        }
        f.write_str(message)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

impl error::Error for Error {}
