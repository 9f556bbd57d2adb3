//! SESSION-OPAQUE: what only the provider can read comes back as it was, at its place.

use super::layout::MessageBlock;
use super::report::Extras;
use super::thread::ResponseFate;
use crate::shape::{OpaqueItem, Part};
use crate::universal::value::quote_text;
use threadspec::session::OpaqueBlock;

/// Reads a part of a message. Members that are missing are empty, and others are not looked at.
///
/// # Errors
///
/// Says what is wrong with it.
pub(super) fn read(part: Part<OpaqueItem>) -> Result<OpaqueBlock, String> {
    let Part::Proper(OpaqueItem { kind, text, signature, data, id, encrypted, call }) = part else {
        return Err("an opaque part is not an object".into());
    };
    let member = |member: Part<String>, name| {
        let text = member.optional(|| format!("the `{name}` of an opaque part is not a string"));
        text.map(Option::unwrap_or_default)
    };
    Ok(match kind.text() {
        Some("thinking") => {
            OpaqueBlock::Thinking { text: member(text, "text")?, signature: member(signature, "signature")? }
        }
        Some("redacted") => OpaqueBlock::Redacted { data: member(data, "data")? },
        Some("reasoning") => OpaqueBlock::Reasoning {
            id: member(id, "id")?,
            encrypted: member(encrypted, "encrypted")?,
            summary: String::new(),
        },
        Some("signature") => OpaqueBlock::Signature { call: member(call, "call")?, data: member(data, "data")? },
        _ => {
            return Err("the `kind` of an opaque part is none of thinking, redacted, reasoning, signature".into());
        }
    })
}

fn is_signature(part: &OpaqueBlock) -> bool {
    matches!(part, OpaqueBlock::Signature { .. })
}

/// A part, for people.
pub(super) fn shown(part: &OpaqueBlock) -> String {
    match part {
        OpaqueBlock::Thinking { text, signature } => {
            format!("the thinking {} with the signature {}", quote_text(text), quote_text(signature))
        }
        OpaqueBlock::Redacted { data } => format!("the redacted thinking {}", quote_text(data)),
        OpaqueBlock::Reasoning { id, encrypted, .. } => {
            format!("the reasoning {} {}", quote_text(id), quote_text(encrypted))
        }
        OpaqueBlock::Signature { call, data } => format!("the signature {} of `{call}`", quote_text(data)),
    }
}

/// The parts that a request should have of a response, as it names the calls; those of calls that are gone are left out.
fn own(response: &ResponseFate<'_>, block: &MessageBlock<'_>, sent: &[Option<usize>]) -> Vec<OpaqueBlock> {
    let renamed = |part: &OpaqueBlock| match part {
        OpaqueBlock::Signature { call, data } => {
            let at = response.said.calls.iter().position(|said| said.id == *call)?;
            let id = block.message.calls[sent[at]?].id().to_owned();
            Some(OpaqueBlock::Signature { call: id, data: data.clone() })
        }
        other => Some(other.clone()),
    };
    response.said.opaque.iter().filter_map(renamed).collect()
}

/// Finds a fault in the opaque parts of a message that repeats a response. `sent` has the place of each call in the message.
pub(super) fn fault(
    response: &ResponseFate<'_>,
    block: &MessageBlock<'_>,
    extras: &Extras,
    sent: &[Option<usize>],
    is_open: bool,
) -> Option<String> {
    let own = own(response, block, sent);
    let (signed, parts): (Vec<&OpaqueBlock>, Vec<&OpaqueBlock>) = own.iter().partition(|part| is_signature(part));
    let (signed_now, now): (Vec<&OpaqueBlock>, Vec<&OpaqueBlock>) =
        extras.opaque.iter().partition(|part| is_signature(part));
    if let Some(strange) = extras.opaque.iter().find(|part| !own.contains(part)) {
        return Some(format!("{} is not what the model sent here", shown(strange)));
    }
    for part in &extras.opaque {
        let count = |list: &[OpaqueBlock]| list.iter().filter(|other| *other == part).count();
        if count(&extras.opaque) > count(&own) {
            return Some(format!("{} is there twice", shown(part)));
        }
    }
    if is_open && let Some(lost) = own.iter().find(|part| !extras.opaque.contains(part)) {
        return Some(format!("{} is missing", shown(lost)));
    }
    let is_in_order = |whole: &[&OpaqueBlock], some: &[&OpaqueBlock]| {
        let mut rest = whole.iter();
        some.iter().all(|part| rest.any(|other| other == part))
    };
    if !is_in_order(&parts, &now) {
        return Some("its opaque parts are in another order".into());
    }
    let count = |list: &[&OpaqueBlock]| list.len();
    if is_open && (count(&signed) != count(&signed_now) || count(&parts) != count(&now)) {
        return Some(format!("it has {} opaque parts, and not {}", extras.opaque.len(), own.len()));
    }
    None
}
