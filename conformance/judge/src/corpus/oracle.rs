//! The properties that `holds` can demand.

use strum::{Display, EnumMessage, EnumString, VariantArray};

/// A property of an output, given the input; its name in cases is in kebab-case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, EnumMessage, EnumString, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum Oracle {
    /// DOC-4.
    #[strum(message = "the output parses as strict XML 1.0")]
    WellFormed,
    /// DOC-5.
    #[strum(message = "a parser sees exactly one event element per input event, with exactly the right attributes")]
    NoForgery,
    /// DOC-2, ESC-*, EVT-*.
    #[strum(
        message = "each text comes back from a parser: exactly in hardened, forbidden characters as U+FFFD; in literal \
                       up to XML line-end normalization and with forbidden characters dropped or replaced"
    )]
    RoundTrip,
    /// ESC-FORBIDDEN.
    #[strum(message = "every permitted character of each text is there, in order; others may be between")]
    PermittedKept,
    /// EQ-1, EQ-2.
    #[strum(message = "the facts of the events can be recovered from the messages (EQ-1, EQ-2)")]
    Equivalent,
    /// PROVIDER-1.
    #[strum(message = "every message list in the output is one that model providers accept (PROVIDER-1)")]
    ProviderValid,
    /// TOOLS-ACCUMULATE, TOOLS-SNAPSHOT.
    #[strum(
        message = "each request inside an iteration is the one before it, its assistant message and its tool messages"
    )]
    Snapshots,
    /// INP-3.
    #[strum(message = "the testee answers or refuses; anything but a crash, a timeout or garbage")]
    AcceptedOrRefused,
}
