//! Writes what a model is shown as JSON, as `serde_json` would. Of a long log most of what is judged passes here, and most of that is text: it is looked
//! at in words, where `serde_json` takes byte by byte.

use serde_json::Value;
use std::io::Write;
use twox_hash::XxHash3_64;

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
pub(super) trait WriteJson {
    /// Writes it behind what is there.
    fn write_json(&self, out: &mut Vec<u8>);
}

/// Writes an object.
pub(super) fn object<'n, V: WriteJson>(members: impl IntoIterator<Item = (&'n str, V)>, out: &mut Vec<u8>) {
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
pub(super) fn list<V: WriteJson>(elements: impl IntoIterator<Item = V>, out: &mut Vec<u8>) {
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
