//! GATE-OPAQUE on the way to the provider: what only the provider reads arrives unchanged, and thinking never without its signature.

use super::thread::ComparedThread;
use super::{RequestPair, Spot};
use crate::shown::quoted;
use threadspec::oracle::Api;
use threadspec_apis::{OpaqueContent, OpaquePart};
use threadspec_golden::clause;

const CLAUSE: &str = clause::GATE_OPAQUE;

pub(super) fn judge(pair: &mut RequestPair<'_, '_>, ours: &ComparedThread<'_>, theirs: &ComparedThread<'_>) {
    if pair.sent.request.api == pair.api {
        same_api(pair, ours, theirs);
        return;
    }
    for part in &theirs.opaque {
        let OpaqueContent::Thinking { text, signature } = &part.content else { continue };
        if pair.api == Api::Anthropic && signature.as_deref().unwrap_or_default().is_empty() {
            let what = format!("the thought {} arrives ({}) without a signature", quoted(text), part.place);
            pair.must(CLAUSE, what, Spot::none(), Spot::new(&part.place, ""));
        }
    }
}

fn same_api(pair: &mut RequestPair<'_, '_>, ours: &ComparedThread<'_>, theirs: &ComparedThread<'_>) {
    let mut next = 0;
    for part in &ours.opaque {
        let found = theirs.opaque[next..].iter().position(|other| is_kept(&part.content, &other.content));
        if let Some(found) = found {
            for other in &theirs.opaque[next..next + found] {
                made_up(pair, other);
            }
            next += found + 1;
            continue;
        }
        let changed =
            theirs.opaque.get(next).filter(|other| is_of_kind(&part.content, &other.content) && !is_later(ours, other));
        let (what, there) = match changed {
            Some(other) => {
                next += 1;
                (
                    format!("{} ({}) arrives changed ({})", named(&part.content), part.place, other.place),
                    Spot::new(&other.place, ""),
                )
            }
            None => (format!("{} ({}) does not arrive", named(&part.content), part.place), Spot::none()),
        };
        pair.must(CLAUSE, what, Spot::new(&part.place, ""), there);
    }
    for other in &theirs.opaque[next.min(theirs.opaque.len())..] {
        made_up(pair, other);
    }
}

fn made_up(pair: &mut RequestPair<'_, '_>, other: &OpaquePart) {
    let what = format!("{} arrives ({}) that was not sent there", named(&other.content), other.place);
    pair.must(CLAUSE, what, Spot::none(), Spot::new(&other.place, ""));
}

/// Returns whether a part is one of those that were sent.
fn is_later(ours: &ComparedThread<'_>, other: &OpaquePart) -> bool {
    ours.opaque.iter().any(|part| is_kept(&part.content, &other.content))
}

fn is_kept(one: &OpaqueContent, other: &OpaqueContent) -> bool {
    match (one, other) {
        // An item may come without its id.
        (
            OpaqueContent::Reasoning { id, summary, encrypted },
            OpaqueContent::Reasoning { id: other_id, summary: other_summary, encrypted: other_encrypted },
        ) => encrypted == other_encrypted && summary == other_summary && (other_id.is_none() || id == other_id),
        (one, other) => one == other,
    }
}

fn is_of_kind(one: &OpaqueContent, other: &OpaqueContent) -> bool {
    std::mem::discriminant(one) == std::mem::discriminant(other)
}

fn named(content: &OpaqueContent) -> String {
    match content {
        OpaqueContent::Thinking { text, .. } => format!("the thought {} with its signature", quoted(text)),
        OpaqueContent::Redacted { data } => format!("the redacted thought {}", quoted(data)),
        OpaqueContent::Reasoning { encrypted, summary, .. } => {
            format!("the reasoning {}", quoted(encrypted.as_deref().unwrap_or(summary)))
        }
        OpaqueContent::Text(text) => format!("the thought {}", quoted(text)),
    }
}
