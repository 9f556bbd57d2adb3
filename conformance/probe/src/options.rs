//! Defines the options of a run.

use threadspec::oracle::Api;

/// The options of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "switches of a command line")]
pub struct ProbeOptions {
    /// Whose rules.
    pub api: Api,
    /// The model that the requests name.
    pub model: String,
    /// True if the answers should be streams.
    pub stream: bool,
    /// The header `anthropic-version`, if it is not the usual one.
    pub version: Option<String>,
    /// How much an answer may have.
    pub max_tokens: u64,
    /// Globs of ids; all rules without one.
    pub rules: Vec<String>,
    /// True if rules for other models, versions or servers are asked, too.
    pub all: bool,
    /// True if bodies of more than a megabyte are sent.
    pub large: bool,
}

impl ProbeOptions {
    /// The usual way to ask about a model.
    pub fn new(api: Api, model: &str) -> Self {
        let model = model.to_owned();
        Self { api, model, stream: false, version: None, max_tokens: 16, rules: Vec::new(), all: false, large: false }
    }
}
