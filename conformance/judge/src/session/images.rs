//! SESSION-OPAQUE and SESSION-IMAGE, in every request.

use super::judging::{Judging, RequestPlace};
use super::layout::{RequestLayout, sent_calls};
use super::naming::image;
use super::opaque;
use crate::text;
use std::fmt::Write;
use threadspec::surrogates::without_marks;
use threadspec_golden::clause;

impl Judging<'_> {
    /// Judges the opaque parts of the message that repeats a response.
    pub(super) fn judge_opaque(&mut self, place: RequestPlace, index: usize, at: usize, layout: &RequestLayout<'_>) {
        let Some(response) = self.thread.items[index].response() else { return };
        let block = &layout.blocks[at];
        if response.said.opaque.is_empty() && block.extras.opaque.is_empty() || self.opaque_faults.contains(&index) {
            return;
        }
        let sent = sent_calls(&response.calls, block.message);
        let may_be_left_out = self.thinks_freely && block.extras.opaque.is_empty();
        let is_open = layout.open_turn().contains(&at) && !may_be_left_out;
        if let Some(what) = opaque::fault(response, block, block.extras, &sent, is_open) {
            self.opaque_faults.insert(index);
            self.add(clause::SESSION_OPAQUE, format!("{}: {what}", place.at(Some(block.index))));
        }
    }

    /// Judges the images in the answers to the calls of a response.
    pub(super) fn judge_images(&mut self, place: RequestPlace, index: usize, at: usize, layout: &RequestLayout<'_>) {
        let Some(response) = self.thread.items[index].response() else { return };
        let has_image = (0..response.calls.len()).any(|number| image(&self.thread, (index, number)).is_some());
        if !has_image || index < self.thread.compacted.max(self.thread.filtered) {
            return;
        }
        let block = &layout.blocks[at];
        let sent = sent_calls(&response.calls, block.message);
        let carried: Vec<&String> =
            block.carriers.iter().flat_map(|carrier| &layout.request.extras[*carrier].images).collect();
        let mut found = Vec::new();
        for (number, there) in sent.iter().enumerate() {
            let Some(call) = self.thread.call((index, number)).filter(|call| call.has_returned(place.run)) else {
                continue;
            };
            let Some(sent_id) = there.map(|there| block.message.calls[there].id()) else { continue };
            let is_answer = |answer: &&usize| layout.request.messages[**answer].call_id.as_deref() == Some(sent_id);
            let Some(&answer) = block.answers.iter().find(is_answer) else { continue };
            let is_lost_by_cut = response.is_open_cut() && response.had_returned(call);
            let (message, extras) = (&layout.request.messages[answer], &layout.request.extras[answer]);
            let id = without_marks(&call.said.id);
            let own = image(&self.thread, (index, number));
            let digest = own.map(|(image, _)| image_digest(image));
            let place_of = place.at(Some(answer));
            if extras.images.iter().any(|image| Some(image) != digest.as_ref()) {
                let what = format!("{place_of}: the answer to `{id}` has an image that its result has not");
                found.push((number, clause::SESSION_IMAGE, what));
                continue;
            }
            let Some((base64, text)) = own else { continue };
            let is_there =
                digest.as_ref().is_some_and(|digest| extras.images.contains(digest) || carried.contains(&digest));
            let said = message.text().trim();
            let rest = text.map_or_else(|| said.to_owned(), |text| said.replacen(text.trim(), "", 1));
            let lacks_text = text.is_some_and(|text| !message.text().contains(text));
            let is_sent_as_text =
                base64.len() > SHORTEST && layout.request.messages.iter().any(|sent| sent.text().contains(base64));
            let (clause, what) = if is_sent_as_text {
                (clause::SESSION_IMAGE, format!("the bytes of the image of `{id}` are sent as text"))
            } else if extras.images.len() > 1 {
                (clause::SESSION_IMAGE, format!("the image of `{id}` is there more than once"))
            } else if lacks_text && is_lost_by_cut {
                // The result is lost, and not its image alone.
                let what = format!("`{id}`, which had returned: the text beside its image is missing");
                (clause::SESSION_KEPT, what)
            } else if !is_there && rest.trim().is_empty() {
                (clause::SESSION_IMAGE, format!("the image of `{id}` is missing, and its answer does not say so"))
            } else if lacks_text {
                (clause::SESSION_IMAGE, format!("the text beside the image of `{id}` is missing in its answer"))
            } else {
                continue;
            };
            found.push((number, clause, format!("{place_of}: {what}")));
        }
        for (number, clause, what) in found {
            if self.image_faults.insert((index, number)) {
                self.add(clause, what);
            }
        }
    }
}

/// Shorter base64 may be a word.
const SHORTEST: usize = 8;

/// Returns the text that represents an image in base64 in a reply of op `session`: the SHA-256 of its bytes, in hexadecimal.
///
/// ```
/// let digest = threadspec_judge::session::image_digest("aGVsbG8=");
/// assert_eq!(digest, "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824");
/// ```
#[must_use]
pub fn image_digest(base64: &str) -> String {
    // What is no character of base64 is left out.
    let is_of_base64 = |one: &char| one.is_ascii_alphanumeric() || matches!(one, '+' | '/' | '-' | '_');
    let bytes = text::of_base64(&base64.chars().filter(is_of_base64).collect::<String>()).unwrap_or_default();
    let digest = hmac_sha256::Hash::hash(&bytes);
    digest.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_becomes_the_digest_of_its_bytes() {
        for text in ["aGVsbG8=", "aGVs\nbG8", "aGVs~bG8="] {
            assert_eq!(image_digest(text), "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824");
        }
    }
}
