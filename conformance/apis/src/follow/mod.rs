//! Follows a conversation from request to request: what of a request is new, and where it departs from the one before.

mod cache;
mod segments;

pub use cache::{Conversations, Lineage, Loss, LossKind, REACH, hash};
pub use segments::{Divergence, Location, Owner, difference, new_segments, segments};

use foldhash::HashMap;
use serde_json::Value;
use std::io::Write;
use twox_hash::XxHash3_64;

// The pieces of what a model is shown, and the texts of the last ones.

/// A piece of a request. Its text is kept once for all requests.
#[derive(Clone, Copy, Debug)]
pub struct StoredPiece {
    hash: u64,
    /// A hash of it and of all pieces before it.
    chain: u64,
    length: usize,
    place: Location,
    role: Owner,
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
    fn behind(known: &[StoredPiece]) -> Self {
        /// Few requests have more that is new.
        const USUAL: usize = 1 << 12;
        let chain = known.last().map_or(0, |last| last.chain);
        Self { pieces: Vec::new(), texts: Vec::with_capacity(USUAL), chain }
    }

    fn push(&mut self, place: Location, role: Owner, shown: &impl WriteJson) {
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
    fn texts(&self) -> impl Iterator<Item = (u64, &[u8])> {
        let mut end = 0;
        self.pieces.iter().map(move |piece| {
            let start = end;
            end += piece.length;
            (piece.hash, &self.texts[start..end])
        })
    }
}

/// How many bytes of texts are kept at most, to show what has changed.
const MOST_TEXT: usize = 64 << 20;
/// So many may always be kept.
const LEAST_TEXT: usize = 4 << 20;

/// The texts of the pieces of the last requests.
#[derive(Debug, Default)]
struct KeptTexts {
    texts: HashMap<u64, Box<[u8]>>,
    bytes: usize,
    /// How many bytes there were when those were dropped that no request had.
    needed: usize,
}

impl KeptTexts {
    fn insert(&mut self, segments: &Segments) {
        for (hash, text) in segments.texts() {
            self.texts.entry(hash).or_insert_with(|| {
                self.bytes += text.len();
                text.into()
            });
        }
    }

    fn get(&self, piece: &StoredPiece) -> Option<&[u8]> {
        self.texts.get(&piece.hash).map(|text| &**text)
    }

    /// Returns whether it is time to drop those that are no longer needed.
    fn are_many(&self) -> bool {
        self.bytes > (2 * self.needed).clamp(LEAST_TEXT, MOST_TEXT)
    }

    /// Keeps those of these pieces, of which the first ones are needed most.
    fn keep<'p>(&mut self, pieces: impl Iterator<Item = &'p StoredPiece>) {
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
    fn len(&self) -> usize {
        self.texts.len()
    }
}

// Writes what a model is shown as JSON, as `serde_json` would. Of a long log most of what is judged passes here, and most of that is text: it is looked
// at in words, where `serde_json` takes byte by byte.

/// A hash of a value as it is written as JSON.
///
/// ```
/// use serde_json::json;
/// use threadspec_apis::follow::hash_of_json;
/// assert_eq!(hash_of_json(&json!({"a": [1]})), hash_of_json(&serde_json::from_str("{\"a\" : [1]}")?));
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn hash_of_json(value: &Value) -> u64 {
    let mut text = Vec::new();
    value.write_json(&mut text);
    XxHash3_64::oneshot(&text)
}

/// A value that can be written as JSON.
trait WriteJson {
    /// Writes it behind what is there.
    fn write_json(&self, out: &mut Vec<u8>);
}

/// Writes an object.
fn object<'n, V: WriteJson>(members: impl IntoIterator<Item = (&'n str, V)>, out: &mut Vec<u8>) {
    out.push(b'{');
    for (position, (name, value)) in members.into_iter().enumerate() {
        if position > 0 {
            out.push(b',');
        }
        name.write_json(out);
        out.push(b':');
        value.write_json(out);
    }
    out.push(b'}');
}

/// Writes a list.
fn list<V: WriteJson>(elements: impl IntoIterator<Item = V>, out: &mut Vec<u8>) {
    out.push(b'[');
    for (position, element) in elements.into_iter().enumerate() {
        if position > 0 {
            out.push(b',');
        }
        element.write_json(out);
    }
    out.push(b']');
}

impl<V: WriteJson + ?Sized> WriteJson for &V {
    fn write_json(&self, out: &mut Vec<u8>) {
        (**self).write_json(out);
    }
}

impl WriteJson for Value {
    fn write_json(&self, out: &mut Vec<u8>) {
        match self {
            Self::String(text) => text.as_str().write_json(out),
            Self::Array(elements) => list(elements, out),
            Self::Object(members) => object(members.iter().map(|(name, value)| (&**name, value)), out),
            // A vector takes everything.
            other => drop(write!(out, "{other}")),
        }
    }
}

impl WriteJson for str {
    fn write_json(&self, out: &mut Vec<u8>) {
        /// How much is looked at at once.
        const BLOCK: usize = 16;
        out.reserve(self.len() + self.len() / 8 + 2);
        out.push(b'"');
        let mut rest = self.as_bytes();
        loop {
            while let Some(block) = rest.first_chunk::<BLOCK>().filter(|block| are_plain(block)) {
                out.extend_from_slice(block);
                rest = &rest[BLOCK..];
            }
            let Some(word) = rest.first_chunk() else { break };
            let plain = plain_bytes(*word);
            // Faster than to copy as many as there are.
            out.extend_from_slice(word);
            out.truncate(out.len() - word.len() + plain);
            rest = &rest[plain..];
            if plain < word.len() {
                write_byte(word[plain], out);
                rest = &rest[1..];
            }
        }
        for byte in rest {
            write_byte(*byte, out);
        }
        out.push(b'"');
    }
}

/// Returns whether all of these bytes may be in a text as they are. No byte ends the loop, so that a processor looks at many of them at
/// once.
fn are_plain<const N: usize>(block: &[u8; N]) -> bool {
    let is_special = |byte: u8| byte < 0x20 || byte == b'"' || byte == b'\\';
    block.iter().fold(0, |special, byte| special | u8::from(is_special(*byte))) == 0
}

/// How many bytes there are before the first that may not be in a text as it is.
fn plain_bytes(word: [u8; 8]) -> usize {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGH: u64 = ONES << 7;
    let word = u64::from_le_bytes(word);
    // The high bit of each byte that is less, and perhaps of some behind the first of them.
    let less = |word: u64, than: u64| word.wrapping_sub(ONES * than) & !word & HIGH;
    let equal = |byte: u8| less(word ^ (ONES * u64::from(byte)), 1);
    let special = less(word, 0x20) | equal(b'"') | equal(b'\\');
    special.trailing_zeros() as usize / 8
}

#[inline]
fn write_byte(byte: u8, out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let escape = match byte {
        b'"' | b'\\' => byte,
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        0x08 => b'b',
        0x0c => b'f',
        0..0x20 => {
            let [high, low] = [byte / 16, byte % 16].map(|digit| DIGITS[usize::from(digit)]);
            return out.extend_from_slice(&[b'\\', b'u', b'0', b'0', high, low]);
        }
        _ => return out.push(byte),
    };
    out.extend_from_slice(&[b'\\', escape]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn everything_is_written_as_serde_json_writes_it() {
        let all: String = (0..0x500).filter_map(char::from_u32).collect();
        // An escape at each place of a word, and in what is left behind the last one.
        let places = (0..40).map(|at| format!("{}\"{}\u{0}\u{1f600}", "x".repeat(at), "ü".repeat(40 - at)));
        let texts: Vec<Value> = [all, String::new()].into_iter().chain(places).map(Value::String).collect();
        let numbers = json!([null, true, 0, -1, u64::MAX, 1.5e-7, 1e300, {}, [], {"": {"a\n": [[]]}}]);
        let value = json!({"texts": texts, "numbers": numbers});
        let mut written = b"before ".to_vec();
        value.write_json(&mut written);
        assert_eq!(String::from_utf8_lossy(&written), format!("before {value}"));
    }
}
