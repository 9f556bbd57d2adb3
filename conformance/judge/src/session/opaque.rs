//! SESSION-OPAQUE: what only the provider can read comes back as it was, at its place.

use super::layout::MessageBlock;
use super::report::Extras;
use super::thread::ResponseFate;
use crate::shape::{OpaqueItem, Part};
use crate::universal::value::quote_text;

/// A part that only the provider can read. Members that are missing are empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Opaque {
    Thinking { text: String, signature: String },
    Redacted { data: String },
    Reasoning { id: String, encrypted: String },
    Signature { call: String, data: String },
}

impl Opaque {
    /// Reads a part.
    ///
    /// # Errors
    ///
    /// Says what is wrong with it.
    pub(super) fn read(part: Part<OpaqueItem>) -> Result<Self, String> {
        let Part::Proper(OpaqueItem { kind, text, signature, data, id, encrypted, call }) = part else {
            return Err("an opaque part is not an object".into());
        };
        let member = |member: Part<String>, name| {
            let text = member.optional(|| format!("the `{name}` of an opaque part is not a string"));
            text.map(Option::unwrap_or_default)
        };
        Ok(match kind.text() {
            Some("thinking") => {
                Self::Thinking { text: member(text, "text")?, signature: member(signature, "signature")? }
            }
            Some("redacted") => Self::Redacted { data: member(data, "data")? },
            Some("reasoning") => Self::Reasoning { id: member(id, "id")?, encrypted: member(encrypted, "encrypted")? },
            Some("signature") => Self::Signature { call: member(call, "call")?, data: member(data, "data")? },
            _ => {
                return Err("the `kind` of an opaque part is none of thinking, redacted, reasoning, signature".into());
            }
        })
    }

    fn is_signature(&self) -> bool {
        matches!(self, Self::Signature { .. })
    }

    /// For people.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Thinking { text, signature } => {
                format!("the thinking {} with the signature {}", quote_text(text), quote_text(signature))
            }
            Self::Redacted { data } => format!("the redacted thinking {}", quote_text(data)),
            Self::Reasoning { id, encrypted } => format!("the reasoning {} {}", quote_text(id), quote_text(encrypted)),
            Self::Signature { call, data } => format!("the signature {} of `{call}`", quote_text(data)),
        }
    }
}

/// The parts that a request should have of a response, as it names the calls; those of calls that are gone are left out.
fn own(response: &ResponseFate<'_>, block: &MessageBlock<'_>, sent: &[Option<usize>]) -> Vec<Opaque> {
    let renamed = |part: &Opaque| match part {
        Opaque::Signature { call, data } => {
            let at = response.said.calls.iter().position(|said| said.id == *call)?;
            let id = block.message.calls[sent[at]?].id().to_owned();
            Some(Opaque::Signature { call: id, data: data.clone() })
        }
        other => Some(other.clone()),
    };
    response.said.opaque.iter().filter_map(renamed).collect()
}

/// What is wrong with the opaque parts of a message that repeats a response. `sent` has the place of each call in the message.
pub(super) fn fault(
    response: &ResponseFate<'_>,
    block: &MessageBlock<'_>,
    extras: &Extras,
    sent: &[Option<usize>],
    is_open: bool,
) -> Option<String> {
    let own = own(response, block, sent);
    let (signed, parts): (Vec<&Opaque>, Vec<&Opaque>) = own.iter().partition(|part| part.is_signature());
    let (signed_now, now): (Vec<&Opaque>, Vec<&Opaque>) = extras.opaque.iter().partition(|part| part.is_signature());
    if let Some(strange) = extras.opaque.iter().find(|part| !own.contains(part)) {
        return Some(format!("{} is not what the model said here", strange.shown()));
    }
    for part in &extras.opaque {
        let count = |list: &[Opaque]| list.iter().filter(|other| *other == part).count();
        if count(&extras.opaque) > count(&own) {
            return Some(format!("{} stands there twice", part.shown()));
        }
    }
    if is_open && let Some(lost) = own.iter().find(|part| !extras.opaque.contains(part)) {
        return Some(format!("{} is missing", lost.shown()));
    }
    let is_in_order = |whole: &[&Opaque], some: &[&Opaque]| {
        let mut rest = whole.iter();
        some.iter().all(|part| rest.any(|other| other == part))
    };
    if !is_in_order(&parts, &now) {
        return Some("its opaque parts stand in another order".into());
    }
    let count = |list: &[&Opaque]| list.len();
    if is_open && (count(&signed) != count(&signed_now) || count(&parts) != count(&now)) {
        return Some(format!("it has {} opaque parts, and not {}", extras.opaque.len(), own.len()));
    }
    None
}
