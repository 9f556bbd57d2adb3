//! The properties that a case can demand of a run.

use std::fmt;

/// A property of a run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Property {
    /// As cases name it: its clause in lower case, or a part of one.
    pub name: &'static str,
    /// The clause that it belongs to.
    pub clause: &'static str,
    /// What it says.
    pub about: &'static str,
}

const fn property(name: &'static str, clause: &'static str, about: &'static str) -> Property {
    Property { name, clause, about }
}

/// Every property.
pub const PROPERTIES: &[Property] = &[
    property("agent-start", "AGENT-START", "request 1 is the given list"),
    property("agent-prefix", "AGENT-PREFIX", "request n+1 begins with request n"),
    property(
        "agent-snapshots",
        "AGENT-PREFIX",
        "a request never changes once it was sent; unsupported where the adapter copies requests itself",
    ),
    property("agent-response", "AGENT-RESPONSE", "behind it stands the response, its text and each call"),
    property("agent-ids", "AGENT-IDS", "ids are kept, or renamed where the model repeats one"),
    property("agent-answered", "AGENT-ANSWERED", "each call is answered exactly once, before anything else is said"),
    property("agent-order", "AGENT-ORDER", "answers stand in call order"),
    property(
        "agent-result",
        "AGENT-RESULT",
        "a text arrives verbatim, any other result as JSON text with an equal value",
    ),
    property(
        "agent-result-compact",
        "AGENT-RESULT-COMPACT",
        "characters from U+0080 up inside a structured result are not escaped",
    ),
    property(
        "agent-failure",
        "AGENT-FAILURE",
        "failing and unknown tools are answered, their siblings keep their results, the run goes on",
    ),
    property("agent-failure-told", "AGENT-FAILURE-TOLD", "the answer names the error or the unknown tool"),
    property("agent-goes-on", "AGENT-GOES-ON", "after the answers the model is asked again"),
    property("agent-stops", "AGENT-STOPS", "after a response without calls it is not asked again"),
    property("agent-limit", "AGENT-LIMIT", "with the limit d reached there are max(1, d) to d+1 requests"),
    property("agent-valid", "AGENT-VALID", "every request is a list that providers accept"),
    property(
        "agent-encodable",
        "AGENT-ENCODABLE",
        "no lone surrogate reaches a request, but as an escape inside JSON text",
    ),
    property("agent-text", "AGENT-TEXT", "odd and long texts arrive unchanged"),
    property("agent-numbers", "AGENT-NUMBERS", "numbers keep their values"),
    property("agent-ordinary", "AGENT-ORDINARY", "tools, ids and members with odd names are ordinary"),
    property("agent-history", "AGENT-HISTORY", "a broken history is mended or refused, never sent as it is"),
    property("agent-caller", "AGENT-CALLER", "the caller's list is not changed; unsupported without `given`"),
    property("agent-independent", "AGENT-INDEPENDENT", "runs do not influence each other"),
    property("agent-end", "AGENT-END", "the list at the end holds all that was shown and said, and is valid"),
    property(
        "agent-model-failure",
        "AGENT-MODEL-FAILURE",
        "a failing model call ends the run, and nothing is said in the model's name",
    ),
    property(
        "agent-model-failure-reported",
        "AGENT-MODEL-FAILURE",
        "the run says that the model failed; unsupported without `failure`",
    ),
];

impl Property {
    /// The property of a name.
    pub fn of(name: &str) -> Option<Self> {
        PROPERTIES.iter().copied().find(|property| property.name == name)
    }
}

impl fmt::Display for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name)
    }
}

impl fmt::Debug for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
