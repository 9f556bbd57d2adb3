//! The pieces of what a model is shown, and the texts of the last ones.

use super::cache::hash;
use super::json::WriteJson;
use super::segments::{Location, Owner};
use foldhash::HashMap;
use twox_hash::XxHash3_64;

/// A piece of a request. Its text is kept once for all requests.
#[derive(Clone, Copy, Debug)]
pub struct StoredPiece {
    pub(super) hash: u64,
    /// A hash of it and of all pieces before it.
    pub(super) chain: u64,
    pub(super) length: usize,
    pub(super) place: Location,
    pub(super) role: Owner,
}

impl StoredPiece {
    /// Where it is.
    pub fn place(&self) -> Location {
        self.place
    }

    /// Whose it is.
    pub fn role(&self) -> Owner {
        self.role
    }

    /// How many bytes its text has.
    pub fn length(&self) -> usize {
        self.length
    }

    /// A hash of its text.
    pub fn hash(&self) -> u64 {
        self.hash
    }
}

/// The pieces of a request, or those that are new in it, with their texts.
#[derive(Debug, Default)]
pub struct Segments {
    pieces: Vec<StoredPiece>,
    /// One behind the other: what the model is shown, as JSON, the same for what is the same to a model.
    texts: Vec<u8>,
    chain: u64,
}

impl Segments {
    /// None yet, behind these pieces.
    pub(super) fn behind(known: &[StoredPiece]) -> Self {
        /// Few requests have more that is new.
        const USUAL: usize = 1 << 12;
        let chain = known.last().map_or(0, |last| last.chain);
        Self { pieces: Vec::new(), texts: Vec::with_capacity(USUAL), chain }
    }

    pub(super) fn push(&mut self, place: Location, role: Owner, shown: &impl WriteJson) {
        let before = self.texts.len();
        shown.write_json(&mut self.texts);
        let text = &self.texts[before..];
        let (hash, length) = (XxHash3_64::oneshot(text), text.len());
        self.chain = self::hash(&(self.chain, hash));
        self.pieces.push(StoredPiece { hash, chain: self.chain, length, place, role });
    }

    /// Returns the pieces that are kept.
    pub fn pieces(&self) -> &[StoredPiece] {
        &self.pieces
    }

    /// The hash and the text of each.
    pub(super) fn texts(&self) -> impl Iterator<Item = (u64, &[u8])> {
        let mut end = 0;
        self.pieces.iter().map(move |piece| {
            let start = end;
            end += piece.length;
            (piece.hash, &self.texts[start..end])
        })
    }
}

/// How many bytes of texts are kept at most, to show what has changed.
pub(super) const MOST_TEXT: usize = 64 << 20;
/// So many may always be kept.
const LEAST_TEXT: usize = 4 << 20;

/// The texts of the pieces of the last requests.
#[derive(Debug, Default)]
pub(super) struct KeptTexts {
    texts: HashMap<u64, Box<[u8]>>,
    pub(super) bytes: usize,
    /// How many bytes there were when those were dropped that no request had.
    needed: usize,
}

impl KeptTexts {
    pub(super) fn insert(&mut self, segments: &Segments) {
        for (hash, text) in segments.texts() {
            self.texts.entry(hash).or_insert_with(|| {
                self.bytes += text.len();
                text.into()
            });
        }
    }

    pub(super) fn get(&self, piece: &StoredPiece) -> Option<&[u8]> {
        self.texts.get(&piece.hash).map(|text| &**text)
    }

    /// Returns whether it is time to drop those that are no longer needed.
    pub(super) fn are_many(&self) -> bool {
        self.bytes > (2 * self.needed).clamp(LEAST_TEXT, MOST_TEXT)
    }

    /// Keeps those of these pieces, of which the first ones are needed most.
    pub(super) fn keep<'p>(&mut self, pieces: impl Iterator<Item = &'p StoredPiece>) {
        let mut known = std::mem::take(&mut self.texts);
        self.bytes = 0;
        for piece in pieces.filter(|piece| piece.length < MOST_TEXT / 2) {
            if self.bytes + piece.length > MOST_TEXT / 2 {
                break;
            }
            if let Some(text) = known.remove(&piece.hash) {
                self.bytes += text.len();
                self.texts.insert(piece.hash, text);
            }
        }
        self.needed = self.bytes;
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.texts.len()
    }
}
