//! Findings, and how they are handed on.

use threadspec_judge::text::cut;

/// How bad something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// A fault.
    Error,
    /// Something that its owner may want to know.
    Warning,
}

/// One thing that was found, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// Where and what. It may hold any character of the input, control characters included.
    pub text: String,
}

impl Finding {
    pub(super) fn error(text: impl Into<String>) -> Self {
        Self { severity: Severity::Error, text: text.into() }
    }

    pub(super) fn warning(text: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, text: text.into() }
    }
}

/// Hands on what is found in one file, and counts it.
pub struct Report<'a> {
    begin: &'a mut dyn FnMut(&str),
    find: &'a mut dyn FnMut(&[Finding]),
    about: bool,
    /// How many errors there were.
    pub errors: usize,
    /// How many warnings there were.
    pub warnings: usize,
    /// What there was to judge: `3 events`.
    pub total: String,
    /// The oracles that hold.
    pub holds: Vec<&'static str>,
}

impl<'a> Report<'a> {
    /// A report that calls `begin` once with what the file is, then `find` with findings, as often as there are any.
    pub fn new(begin: &'a mut dyn FnMut(&str), find: &'a mut dyn FnMut(&[Finding])) -> Self {
        Self { begin, find, about: false, errors: 0, warnings: 0, total: String::new(), holds: Vec::new() }
    }

    pub(super) fn about(&mut self, what: &str) {
        if !self.about {
            (self.begin)(what);
        }
        self.about = true;
    }

    pub(super) fn find(&mut self, findings: &[Finding]) {
        let errors = findings.iter().filter(|finding| finding.severity == Severity::Error).count();
        self.errors += errors;
        self.warnings += findings.len() - errors;
        if !findings.is_empty() {
            (self.find)(findings);
        }
    }

    pub(super) fn error(&mut self, text: impl Into<String>) {
        self.find(&[Finding::error(text)]);
    }

    pub(super) fn warning(&mut self, text: impl Into<String>) {
        self.find(&[Finding::warning(text)]);
    }
}

/// The beginning of a text, in quotes.
pub(super) fn excerpt(text: &str) -> String {
    const LONGEST: usize = 60;
    let (short, rest) = cut(text, LONGEST);
    format!("{short:?}{}", if rest.is_empty() { "" } else { "…" })
}
