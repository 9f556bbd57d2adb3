//! Defines the facts of a thread, as they are kept.

use super::said::{ModelReply, ToolOutput};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Something that happened to a thread, and when.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FactRecord {
    /// When it happened, by the session's clock, in milliseconds.
    pub at: u64,
    /// The fact.
    pub fact: ThreadFact,
}

/// Something that happened to a thread. The thread is what its facts make of it, and nothing else.
///
/// The call of a fact is one of the newest response.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ThreadFact {
    /// A message of the user.
    User {
        /// The text.
        text: String,
    },
    /// The model answered.
    Replied(ModelReply),
    /// A call is about to be executed. From here on it may have had an effect.
    Began {
        /// Its id.
        call: String,
    },
    /// A call waits for a decision from here on.
    Asked {
        /// Its id.
        call: String,
    },
    /// Somebody decided on a call.
    Decided {
        /// Its id.
        call: String,
        /// The decision.
        approval: Approval,
    },
    /// A call was answered, by its tool or by the session in its place.
    Answered {
        /// Its id.
        call: String,
        /// The output that the model sees.
        output: ToolOutput,
    },
    /// A message of the user came while calls were under way.
    Steered {
        /// The text.
        text: String,
    },
    /// A call was answered by a hand-over.
    HandedOver {
        /// Its id.
        call: String,
        /// The agent that goes on.
        agent: String,
    },
    /// The thread went back to where it was after so many of the facts before this one.
    Rewound {
        /// How many of all that were kept.
        to: usize,
    },
    /// All but some items of the thread were taken away.
    Compacted {
        /// The positions of those that stay.
        kept: Vec<usize>,
        /// The text that replaces them.
        summary: Option<String>,
    },
}

/// A decision on a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Approval {
    /// It may run.
    Approved {
        /// With these arguments instead of its own.
        args: Option<Map<String, Value>>,
    },
    /// It may not.
    Denied {
        /// Why.
        reason: Option<String>,
    },
}
