//! Diagnostics, and how they are handed on.

use threadspec_judge::text::cut;

/// One thing that was found, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Whether it is a fault, and not only something that the owner may want to know.
    pub is_error: bool,
    /// Where and what. It may hold any character of the input, control characters included.
    pub text: String,
}

impl Diagnostic {
    pub(super) fn error(text: impl Into<String>) -> Self {
        Self { is_error: true, text: text.into() }
    }

    pub(super) fn warning(text: impl Into<String>) -> Self {
        Self { is_error: false, text: text.into() }
    }
}

/// What is found in one file: handed on at once, and counted.
pub struct Diagnostics<'a> {
    begin: &'a mut dyn FnMut(&str),
    find: &'a mut dyn FnMut(&[Diagnostic]),
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

impl<'a> Diagnostics<'a> {
    /// They call `begin` once with what the file is, then `find` with what was found, as often as there is anything.
    pub fn new(begin: &'a mut dyn FnMut(&str), find: &'a mut dyn FnMut(&[Diagnostic])) -> Self {
        Self { begin, find, about: false, errors: 0, warnings: 0, total: String::new(), holds: Vec::new() }
    }

    pub(super) fn about(&mut self, what: &str) {
        if !self.about {
            (self.begin)(what);
        }
        self.about = true;
    }

    pub(super) fn find(&mut self, diagnostics: &[Diagnostic]) {
        let errors = diagnostics.iter().filter(|diagnostic| diagnostic.is_error).count();
        self.errors += errors;
        self.warnings += diagnostics.len() - errors;
        if !diagnostics.is_empty() {
            (self.find)(diagnostics);
        }
    }

    pub(super) fn error(&mut self, text: impl Into<String>) {
        self.find(&[Diagnostic::error(text)]);
    }

    pub(super) fn warning(&mut self, text: impl Into<String>) {
        self.find(&[Diagnostic::warning(text)]);
    }
}

/// The beginning of a text, in quotes.
pub(super) fn excerpt(text: &str) -> String {
    const LONGEST: usize = 60;
    let (short, rest) = cut(text, LONGEST);
    format!("{short:?}{}", if rest.is_empty() { "" } else { "…" })
}
