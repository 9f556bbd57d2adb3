//! How to judge what is read.

use super::forms::FormRow;
use threadspec::Profile;
use threadspec::oracle::Api;

/// How to judge what is read.
#[derive(Clone, Copy, Debug, Default)]
pub struct CheckOptions {
    /// Documents are rendered, and judged, by this profile.
    pub profile: Profile,
    /// Read the input as requests to this API; without one, its form decides what it is.
    pub api: Option<Api>,
    /// Forms of the user's own, which are tried before ours.
    pub forms: &'static [FormRow],
}
