//! Describes the faults of a gateway.

use serde_json::{Value, json};
use std::fmt;
use threadspec_provider::WireLevel;

/// A difference that a gateway made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateFinding {
    /// The clause that is broken.
    pub clause: &'static str,
    /// How much it counts.
    pub level: WireLevel,
    /// The input, the output and the place, in one sentence.
    pub what: String,
    /// The exchange in which the difference was made, by its position.
    pub exchange: usize,
    /// The attempt in which it shows, by its position in the record.
    pub attempt: Option<usize>,
    /// Both bodies at the first difference.
    pub sides: Option<BothSides>,
}

/// The input and the output of a gateway, cut to the first difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BothSides {
    /// The direction.
    pub way: Way,
    /// The input.
    pub before: String,
    /// The output.
    pub behind: String,
    /// A command that sends the request of the client again, without its key.
    pub curl: String,
}

/// The direction through a gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// From the client to the provider.
    Request,
    /// From the provider to the client.
    Answer,
}

impl Way {
    /// Returns the names of the two sides.
    pub fn names(self) -> [&'static str; 2] {
        match self {
            Self::Request => ["sent", "arrived"],
            Self::Answer => ["answered", "read"],
        }
    }
}

impl GateFinding {
    /// The finding as `wire.findings` has it: with `clause`, `level`, and in `what` the sentence and, in lines below it that are indented, both
    /// sides and the command.
    ///
    /// ```
    /// use threadspec_gateway::{GateFinding, BothSides, Way};
    /// use threadspec_provider::WireLevel;
    /// let sides = BothSides { way: Way::Answer, before: "Hi".into(), behind: "H".into(), curl: "curl -sS \"$GATEWAY/v1/messages\"".into() };
    /// let finding = GateFinding {
    ///     clause: threadspec_golden::clause::GATE_SAID, level: WireLevel::Must, what: "request 1: it is cut".into(), exchange: 0, attempt: None, sides: Some(sides),
    /// };
    /// let lines = "request 1: it is cut\n    answered Hi\n    read     H\n    curl -sS \"$GATEWAY/v1/messages\"";
    /// assert_eq!(finding.to_json()["what"], lines);
    /// ```
    pub fn to_json(&self) -> Value {
        json!({"clause": self.clause, "level": self.level.to_string(), "what": self.what.clone() + &self.below()})
    }

    /// Returns the finding without both sides.
    #[must_use]
    pub fn in_short(&self) -> Self {
        Self { sides: None, ..self.clone() }
    }

    fn below(&self) -> String {
        let Some(BothSides { way, before, behind, curl }) = &self.sides else { return String::new() };
        let [before_name, behind_name] = way.names();
        format!("\n    {before_name:8} {before}\n    {behind_name:8} {behind}\n    {curl}")
    }
}

/// The clause and what is wrong; below it, if they are known, both sides and the command.
impl fmt::Display for GateFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}{}", self.clause, self.what, self.below())
    }
}
