//! What is wrong with a run over the wire: a pure function on its record.

use crate::plan::RunPlan;
use crate::record::WireRecord;
use serde_json::{Value, json};

/// Something that an agent did wrong on the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WireFinding {
    /// The clause, or the provider's rule, that is broken.
    pub clause: &'static str,
    /// `must`, `should` or `note`.
    pub level: &'static str,
    /// What is wrong.
    pub what: String,
}

impl WireFinding {
    /// The finding as `wire.findings` has it.
    pub fn to_json(&self) -> Value {
        json!({"clause": self.clause, "level": self.level, "what": self.what})
    }
}

/// Everything that is wrong with a run.
pub fn judge(_: &RunPlan, _: &WireRecord) -> Vec<WireFinding> {
    Vec::new()
}
