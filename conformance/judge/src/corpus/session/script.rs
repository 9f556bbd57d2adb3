//! The script of a session, read strictly: what no script has is refused.

use crate::error::Error;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The input of op `session` as a case has it: without `storage`, which whoever plays it fills in.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Script {
    #[serde(rename = "system")]
    _system: Option<String>,
    #[serde(default)]
    pub(super) tools: BTreeMap<String, Tool>,
    #[serde(default)]
    pub(super) agents: BTreeMap<String, Agent>,
    pub(super) runs: Vec<Run>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Agent {
    #[serde(rename = "system")]
    _system: Option<String>,
    #[serde(default)]
    pub(super) tools: BTreeMap<String, Tool>,
}

/// What a tool gives.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Tool {
    InOrder(Vec<Value>),
    Keyed(KeyedTool),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct KeyedTool {
    #[serde(default)]
    approval: bool,
    #[serde(default)]
    by_id: BTreeMap<String, Value>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Run {
    pub(super) message: Option<String>,
    pub(super) decisions: Option<BTreeMap<String, Decision>>,
    pub(super) resume: Option<bool>,
    pub(super) compact: Option<Compact>,
    pub(super) model: Vec<Turn>,
    pub(super) max_recursion_depth: Option<usize>,
    pub(super) cut: Option<Cut>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Decision {
    pub(super) approve: bool,
    pub(super) args: Option<Map<String, Value>>,
    pub(super) reason: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Compact {
    pub(super) keep_messages: Option<u64>,
    pub(super) tokens: Option<u64>,
    #[serde(rename = "summary")]
    _summary: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Cut {
    pub(super) during: String,
    pub(super) how: How,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum How {
    Cancel,
    Throw,
    Kill,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Turn {
    pub(super) error: Option<String>,
    pub(super) content: Option<String>,
    #[serde(default)]
    pub(super) tool_calls: Vec<Call>,
    #[serde(default)]
    pub(super) opaque: Vec<Opaque>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Call {
    pub(super) id: String,
    pub(super) name: Option<String>,
    pub(super) args: Option<Value>,
    pub(super) arguments: Option<String>,
    pub(super) handoff: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "lowercase", tag = "kind")]
pub(super) enum Opaque {
    Thinking {
        #[serde(rename = "text")]
        _text: String,
        #[serde(rename = "signature")]
        _signature: String,
    },
    Redacted {
        #[serde(rename = "data")]
        _data: String,
    },
    Reasoning {
        #[serde(rename = "id")]
        _id: String,
        #[serde(rename = "encrypted")]
        _encrypted: String,
    },
    Signature {
        call: String,
        #[serde(rename = "data")]
        _data: String,
    },
}

impl Script {
    pub(super) fn read(input: &str) -> Result<Self, Error> {
        serde_json::from_str(input).map_err(Error::new)
    }

    /// The tools of all agents.
    pub(super) fn all_tools(&self) -> impl Iterator<Item = (&String, &Tool)> {
        self.tools.iter().chain(self.agents.values().flat_map(|agent| &agent.tools))
    }
}

impl Tool {
    /// Whether its calls wait for a decision.
    pub(super) fn needs_approval(&self) -> bool {
        matches!(self, Self::Keyed(KeyedTool { approval: true, .. }))
    }

    pub(super) fn results(&self) -> Vec<&Value> {
        match self {
            Self::InOrder(results) => results.iter().collect(),
            Self::Keyed(tool) => tool.by_id.values().collect(),
        }
    }
}

impl Run {
    /// The calls of its turns.
    pub(super) fn calls(&self) -> impl Iterator<Item = &Call> {
        self.model.iter().flat_map(|turn| &turn.tool_calls)
    }
}
