//! How an engine answers.

use threadspec_apis::Pieces;

/// How an engine answers.
#[derive(Clone, Debug)]
pub struct EngineOptions {
    /// Ids are made from it.
    pub seed: u64,
    /// The time at which the engine's clock shows 0, in seconds since 1970.
    pub epoch: u64,
    /// How streams are divided where the script does not say it.
    pub pieces: Pieces,
}

impl Default for EngineOptions {
    fn default() -> Self {
        Self { seed: 0, epoch: 1_790_000_000, pieces: Pieces::Usual }
    }
}
