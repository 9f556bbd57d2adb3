//! What the corpus and the judge are known not to do yet. The matrix fails for any other bug, and if one of these is caught or named, so that
//! the lists only shrink.

/// Bugs that no case catches: holes of the corpus.
pub(crate) const OPEN: &[&str] = &[
    // AGENT-START forbids these by the letter, but there are providers that take no empty text: disputed, so that no case shows them.
    "blank-questions-dropped",
    "empty-answers-of-the-history-dropped",
    "empty-system-message-dropped",
];

/// Bugs that a case of their clauses catches, while the judge calls them a breach of other clauses alone.
pub(crate) const UNNAMED: &[&str] = &[
    "a-long-text-in-a-limited-run-lost",
    "a-long-text-in-round-three-lost",
    "a-long-text-last-of-several-lost",
    "a-long-text-under-instructions-lost",
    "a-long-text-without-arguments-lost",
    "addresses-decoded-in-arguments",
    "addresses-decoded-in-results",
    "answers-in-front-of-the-response",
    "arguments-of-an-earlier-run-by-id",
    "broken-history-refused-without-a-word",
    "calls-without-an-id",
    "cut-calls-answered-in-the-next-run",
    "cut-response-begins-the-next-run",
    "failing-tools-remembered-over-runs",
    "failure-after-100-rounds",
    "failure-cancels-later-siblings",
    "ids-of-earlier-runs-taken",
    "limit-counts-calls",
    "limit-counts-messages",
    "limit-of-an-earlier-run-kept",
    "lines-beyond-64-kilobytes-refused",
    "lines-of-responses-that-begin-with-data-unpacked",
    "members-of-a-map-found-as-tools",
    "no-run-after-a-failing-model",
    "note-after-a-run-with-a-failing-tool",
    "numbers-as-json-strings",
    "repeated-ids-renamed-in-the-call-alone",
    "results-cut-at-human",
    "results-of-a-multiple-of-100-characters-cut",
    "results-of-a-multiple-of-255-characters-cut",
    "rounds-counted-over-runs",
    "run-after-an-empty-response-ends-at-once",
    "same-failure-again-ends-the-run",
    "same-script-answered-from-memory",
    "separators-converted-in-arguments",
    "separators-converted-in-results",
    "system-message-forgotten-from-run-10-on",
    "system-message-forgotten-from-run-50-on",
    "system-message-forgotten-from-run-500-on",
    "system-message-grows-with-each-run",
    "tools-unknown-once-stay-unknown-over-runs",
    "unknown-tool-after-a-failure-ends-the-run",
    "unknown-tool-cancels-the-round",
    "unknown-tool-in-front-fails-its-siblings",
];
