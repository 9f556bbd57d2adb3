//! What the corpus and the judge are known not to do yet. The matrix fails for any other bug, and if one of these is caught or named, so that
//! the lists only shrink.

/// Bugs that no case catches: holes of the corpus.
pub(crate) const OPEN: &[&str] = &[
    // AGENT-START forbids these by the letter, but there are providers that take no empty text: disputed, so that no case shows them.
    "blank-questions-dropped",
    "empty-answers-of-the-history-dropped",
    "empty-system-message-dropped",
];

/// Bugs of `should` clauses that the judge calls a breach of a `must` beside cases. The names of others begin with these.
pub(crate) const HARSH: &[&str] = &[
    // The earlier round had been shown to the run that was cut again: SESSION-SAID-ONCE, beside SESSION-KEPT.
    "earlier-rounds-of-cut-runs-gone",
    // After compaction without a message, the bug takes that of the next run, which nothing compacts: SESSION-SAID-ONCE.
    "message-of-this-run-compacted-away",
];

/// Bugs that a case of their clauses catches, while the judge calls them a breach of other clauses alone.
pub(crate) const UNNAMED: &[&str] = &[
    // The result of a sibling that is lost beside a failure is called AGENT-RESULT, which it is as well.
    "failure-cancels-later-siblings",
    "unknown-tool-cancels-the-round",
    "unknown-tool-in-front-fails-its-siblings",
    // A run that ends before its limit is called AGENT-GOES-ON: what the agent counted cannot be seen.
    "limit-counts-calls",
    "limit-counts-messages",
    // A refusal without a word is called a failure that nothing caused: AGENT-GOES-ON.
    "broken-history-refused-without-a-word",
    // An answer under the id of before is no answer to the renamed call: AGENT-ANSWERED.
    "repeated-ids-renamed-in-the-call-alone",
    // The turns of a talk in a result are words like others to the judge: AGENT-RESULT.
    "results-cut-at-human",
];
