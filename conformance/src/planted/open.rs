//! Bugs that the corpus is known not to catch: holes in it that are open. The matrix fails if another bug survives, and if one of these is
//! caught, so that the list only shrinks.

/// Their names.
pub(super) const OPEN: &[&str] = &[
    // AGENT-START forbids it by the letter, but no provider takes an empty answer: disputed, so that no case shows it.
    "empty-answers-of-the-history-dropped",
];
