//! How to judge what is read.

use threadspec::Profile;
use threadspec::oracle::Api;

/// How to judge what is read.
#[derive(Clone, Copy, Debug, Default)]
pub struct CheckOptions {
    /// Documents are rendered, and judged, by this profile.
    pub profile: Profile,
    /// Read the input as requests to this API; without one, its form decides what it is.
    pub api: Option<Api>,
}
