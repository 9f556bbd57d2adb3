//! Text that is written piece by piece, escaped 64 bytes at a time.
//!
//! A block without a special character is copied whole, a block with a few by runs of fixed length of which only a part
//! counts, a block with many byte by byte from a table: nothing depends on branches that a processor cannot predict.
//!
//! This is the library's one module with `unsafe`, for two things, each with its proof: a function that is compiled
//! for processors with AVX2 is called where there is AVX2, and bytes that are UTF-8 are not checked for being UTF-8 once
//! more. All positions are checked. Tests compare every escape with the plain version; they are small
//! enough for Miri, which finds nothing wrong (in the form for any processor; the one with AVX2 was not finished in half an hour).
#![allow(unsafe_code)]
#![expect(clippy::inline_always, reason = "what is inlined is compiled for the processor features of its caller")]
#![expect(clippy::needless_bitwise_bool, reason = "compilers vectorize what does not branch")]

use std::fmt;

const BLOCK: usize = 64;
/// The longest form of a byte is `\&quot;`.
const LONGEST: usize = 7;
const REPLACEMENT: Form = Form::new("\u{fffd}".as_bytes());

/// What a character is written as: at most seven bytes, padded, and how many they are.
#[derive(Clone, Copy)]
struct Form([u8; 8]);

impl Form {
    const fn new(bytes: &[u8]) -> Self {
        assert!(bytes.len() <= LONGEST);
        let mut form = padded(bytes);
        form[LONGEST] = bytes.len().to_le_bytes()[0];
        Self(form)
    }

    #[inline(always)]
    const fn len(self) -> usize {
        self.0[LONGEST] as usize
    }
}

/// Which characters are written as something else, and as what.
pub(crate) struct Escapes {
    /// What a byte is written as. Characters of several bytes stay as they are, except U+FFFE and U+FFFF.
    written: [Form; 256],
    /// The control characters that are written as they are, padded with spaces.
    kept: [u8; 3],
    /// What is special besides the five characters of XML and control characters.
    also: u8,
    /// For each half of a byte, the classes that it belongs to. A byte is special if its halves have a class in common.
    low: [u8; 16],
    high: [u8; 16],
}

/// The five replacements, and U+FFFD for all that XML forbids (ESC-1 to ESC-4, ESC-FORBIDDEN).
pub(crate) static TEXT: Escapes = Escapes::xml().keeping(*b"\t\n\r").sealed();
/// CR by reference (ESC-CR).
pub(crate) static TEXT_HARDENED: Escapes = Escapes::xml().keeping(*b"\t\n ").writing(b'\r', "&#13;").sealed();
/// White space by reference (ATT-WHITESPACE).
pub(crate) static ATTRIBUTE_HARDENED: Escapes =
    Escapes::xml().writing(b'\t', "&#9;").writing(b'\n', "&#10;").writing(b'\r', "&#13;").sealed();
/// The inside of a JSON string (JSON-2), escaped like text: what is special to both is written in both ways at once.
pub(crate) static JSON_TEXT: Escapes = Escapes::xml().json().sealed();

impl Escapes {
    const fn xml() -> Self {
        let mut escapes =
            Self { written: [REPLACEMENT; 256], kept: [b' '; 3], also: b'"', low: [0; 16], high: [0; 16] };
        let mut byte = 0;
        while byte < 256 {
            escapes.written[byte] = Form::new(&[byte.to_le_bytes()[0]]);
            byte += 1;
        }
        let mut control = 0;
        while control < 0x20 {
            escapes = escapes.writing(control, "\u{fffd}");
            control += 1;
        }
        escapes
            .writing(b'&', "&amp;")
            .writing(b'<', "&lt;")
            .writing(b'>', "&gt;")
            .writing(b'"', "&quot;")
            .writing(b'\'', "&apos;")
    }

    const fn writing(mut self, byte: u8, form: &str) -> Self {
        self.written[byte as usize] = Form::new(form.as_bytes());
        self
    }

    const fn keeping(mut self, kept: [u8; 3]) -> Self {
        self.kept = kept;
        let mut position = 0;
        while position < kept.len() {
            self.written[kept[position] as usize] = Form::new(&[kept[position]]);
            position += 1;
        }
        self
    }

    const fn json(mut self) -> Self {
        let digits = b"0123456789abcdef";
        let mut control = 0;
        while control < 0x20 {
            self.written[control] = Form::new(&[b'\\', b'u', b'0', b'0', digits[control >> 4], digits[control & 15]]);
            control += 1;
        }
        self.also = b'\\';
        self.writing(8, "\\b")
            .writing(b'\t', "\\t")
            .writing(b'\n', "\\n")
            .writing(12, "\\f")
            .writing(b'\r', "\\r")
            .writing(b'"', "\\&quot;")
            .writing(b'\\', "\\\\")
    }

    /// Fills in the classes: one for each upper half that has special bytes.
    const fn sealed(mut self) -> Self {
        let mut class = 1;
        let mut high = 0;
        while high < 16 {
            let mut any = false;
            let mut low = 0;
            while low < 16 {
                let byte = high * 16 + low;
                // The first byte of U+FFFE and U+FFFF needs a closer look.
                if self.written[byte].len() != 1 || byte == 0xef {
                    self.low[low] |= class;
                    any = true;
                }
                low += 1;
            }
            if any {
                self.high[high] = class;
                class <<= 1;
            }
            high += 1;
        }
        self
    }

    /// The escaped text; `None` if nothing in it is escaped.
    pub(crate) fn escape(&self, text: &str) -> Option<String> {
        let first = self.find(text)?;
        let mut out = Buffer::with_capacity(text.len() + text.len() / 8 + 4 * BLOCK);
        out.push_str(&text[..first]);
        out.push_escaped(&text[first..], self);
        Some(out.into_string())
    }

    /// The position of the first character that is written as something else.
    fn find(&self, text: &str) -> Option<usize> {
        #[cfg(target_arch = "x86_64")]
        if avx2::is_available() {
            // SAFETY: the features that the function needs are available.
            return unsafe { avx2::find(text.as_bytes(), self) };
        }
        find(text.as_bytes(), self, specials)
    }
}

/// A growing text.
#[derive(Clone, Default)]
pub(crate) struct Buffer {
    bytes: Vec<u8>,
    /// How many of the bytes are whole characters. Behind them is nothing, or what a panic left unfinished.
    whole: usize,
}

impl Buffer {
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        Self { bytes: Vec::with_capacity(capacity), whole: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.whole
    }

    pub(crate) fn as_str(&self) -> &str {
        // SAFETY: the first `whole` bytes are UTF-8. `from` sets `whole` to the length of a `String`; only `commit` makes it larger, after a whole
        // `&str` or a whole escaped one was appended, and only `truncate` makes it smaller, to a boundary between characters. An escaped text is
        // UTF-8, since whole characters of a text (single bytes below 0x80, and U+FFFE and U+FFFF) are replaced by texts.
        unsafe { str::from_utf8_unchecked(&self.bytes[..self.whole]) }
    }

    pub(crate) fn into_string(mut self) -> String {
        self.bytes.truncate(self.whole);
        // SAFETY: as in `as_str`.
        unsafe { String::from_utf8_unchecked(self.bytes) }
    }

    /// Shortens the text.
    ///
    /// # Panics
    /// When the new end is not between two characters of the text.
    pub(crate) fn truncate(&mut self, len: usize) {
        assert!(self.as_str().is_char_boundary(len), "cut inside a character");
        self.whole = len;
        self.bytes.truncate(len);
    }

    #[inline]
    pub(crate) fn push_str(&mut self, text: &str) {
        self.bytes.truncate(self.whole);
        self.bytes.extend_from_slice(text.as_bytes());
        self.commit();
    }

    /// Appends a text in its escaped form.
    pub(crate) fn push_escaped(&mut self, text: &str, escapes: &Escapes) {
        self.bytes.truncate(self.whole);
        #[cfg(target_arch = "x86_64")]
        if avx2::is_available() {
            // SAFETY: the features that the function needs are available.
            unsafe { avx2::append(&mut self.bytes, text, escapes) };
            self.commit();
            return;
        }
        append(&mut self.bytes, text, escapes, specials);
        self.commit();
    }

    #[inline]
    fn commit(&mut self) {
        self.whole = self.bytes.len();
    }
}

impl From<String> for Buffer {
    fn from(text: String) -> Self {
        let bytes = text.into_bytes();
        Self { whole: bytes.len(), bytes }
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

#[inline(always)]
fn find(bytes: &[u8], escapes: &Escapes, specials: impl Fn(&[u8; BLOCK], &Escapes) -> u64) -> Option<usize> {
    let mut start = 0;
    for block in bytes.chunks(BLOCK) {
        let mut specials = match block.try_into() {
            Ok(block) => specials(block, escapes),
            Err(_) => specials(&padded(block), escapes),
        };
        while specials != 0 {
            let at = start + specials.trailing_zeros() as usize;
            if bytes[at] != 0xef || is_noncharacter(bytes, at) {
                return Some(at);
            }
            specials &= specials - 1;
        }
        start += BLOCK;
    }
    None
}

#[inline(always)]
fn append(out: &mut Vec<u8>, text: &str, escapes: &Escapes, specials: impl Fn(&[u8; BLOCK], &Escapes) -> u64) {
    let bytes = text.as_bytes();
    out.reserve(bytes.len() + bytes.len() / 8 + 2 * LONGEST * BLOCK);
    // As long as a whole block follows, so that runs can be copied in one length.
    let mut at = 0;
    while at + 2 * BLOCK <= bytes.len() {
        at = append_block(out, bytes, at, escapes, &specials);
    }
    let rest = bytes.len() - at;
    if rest > 0 {
        let mut last = [b' '; 3 * BLOCK];
        last[..rest].copy_from_slice(&bytes[at..]);
        let mut at = 0;
        while at < rest {
            at = append_block(out, &last, at, escapes, &specials);
        }
        out.truncate(out.len() - (at - rest));
    }
}

/// Appends the block at a position, behind which at least another block follows; returns where the next one begins.
#[inline(always)]
fn append_block(
    out: &mut Vec<u8>,
    bytes: &[u8],
    start: usize,
    escapes: &Escapes,
    specials: &impl Fn(&[u8; BLOCK], &Escapes) -> u64,
) -> usize {
    let block: &[u8; BLOCK] = piece(bytes, start);
    let mut specials = specials(block, escapes);
    let end = start + BLOCK;
    if specials == 0 {
        out.extend_from_slice(block);
        return end;
    }
    if specials.count_ones() > 8 {
        return append_byte_by_byte(out, bytes, start, escapes);
    }
    let mut from = start;
    while specials != 0 {
        let at = start + specials.trailing_zeros() as usize;
        specials &= specials - 1;
        let byte = usize::from(bytes[at]);
        let (form, replaced) = match byte {
            0xef if is_noncharacter(bytes, at) => (REPLACEMENT, 3),
            0xef => continue,
            _ => (escapes.written[byte], 1),
        };
        put(out, piece::<BLOCK>(bytes, from), at - from);
        put(out, &form.0, form.len());
        from = at + replaced;
    }
    if from < end {
        put(out, piece::<BLOCK>(bytes, from), end - from);
        from = end;
    }
    from
}

#[inline(always)]
fn append_byte_by_byte(out: &mut Vec<u8>, bytes: &[u8], start: usize, escapes: &Escapes) -> usize {
    let mut written = [0; LONGEST * BLOCK + 8];
    let mut length = 0;
    let mut write = |form: Form| {
        written[length..length + 8].copy_from_slice(&form.0);
        length += form.len();
    };
    let source: &[u8; BLOCK + 2] = piece(bytes, start);
    let block: &[u8; BLOCK] = piece(source, 0);
    let mut at = 0;
    if block.contains(&0xef) {
        while at < BLOCK {
            let is_noncharacter = source[at] == 0xef && is_noncharacter(source, at);
            write(if is_noncharacter { REPLACEMENT } else { escapes.written[usize::from(source[at])] });
            at += if is_noncharacter { 3 } else { 1 };
        }
    } else {
        for &byte in block {
            write(escapes.written[usize::from(byte)]);
        }
        at = BLOCK;
    }
    out.extend_from_slice(&written[..length]);
    start + at
}

/// Appends the first `used` bytes of a piece. The whole piece is copied and the rest taken back, since copying a length that
/// the compiler knows takes a few instructions.
#[inline(always)]
fn put<const N: usize>(out: &mut Vec<u8>, piece: &[u8; N], used: usize) {
    out.extend_from_slice(piece);
    out.truncate(out.len() - N + used);
}

#[inline(always)]
fn piece<const N: usize>(bytes: &[u8], at: usize) -> &[u8; N] {
    bytes[at..].first_chunk().expect("a whole block follows")
}

const fn padded<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut padded = [b' '; N];
    padded.split_at_mut(bytes.len()).0.copy_from_slice(bytes);
    padded
}

/// Whether the character at a position, which begins with 0xEF, is U+FFFE or U+FFFF.
#[inline(always)]
fn is_noncharacter(bytes: &[u8], at: usize) -> bool {
    bytes[at + 1] == 0xbf && bytes[at + 2] >= 0xbe
}

/// The positions of the bytes to look at, as bits: in a form that compilers vectorize.
#[inline(always)]
fn specials(block: &[u8; BLOCK], escapes: &Escapes) -> u64 {
    let Escapes { kept, also, .. } = escapes;
    let mut flags = [0_u8; BLOCK];
    for (flag, &byte) in flags.iter_mut().zip(block) {
        let control = (byte < 0x20) & (byte != kept[0]) & (byte != kept[1]) & (byte != kept[2]);
        let quote_or_ampersand = (byte & !4 == b'"') | (byte == b'\'');
        let angle = byte & !2 == b'<';
        *flag = u8::from(control | quote_or_ampersand | angle | (byte == *also) | (byte == 0xef));
    }
    let words: [u64; BLOCK / 8] = std::array::from_fn(|word| u64::from_le_bytes(*piece(&flags, 8 * word)));
    if words.iter().fold(0, |any, word| any | word) == 0 {
        return 0;
    }
    // The lowest bits of the eight bytes of a word meet in its highest byte.
    let bits = words.iter().map(|word| word.wrapping_mul(0x0102_0408_1020_4080) >> 56);
    bits.zip(0..).fold(0, |all, (bits, word)| all | bits << (8 * word))
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::{
        __m128i, __m256i, _mm_set_epi64x, _mm256_and_si256, _mm256_broadcastsi128_si256, _mm256_cmpeq_epi8,
        _mm256_movemask_epi8, _mm256_set_epi64x, _mm256_set1_epi8, _mm256_setzero_si256, _mm256_shuffle_epi8,
        _mm256_srli_epi16,
    };

    use super::{BLOCK, Escapes, piece};

    pub(super) fn is_available() -> bool {
        is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi1") && is_x86_feature_detected!("popcnt")
    }

    #[target_feature(enable = "avx2,bmi1,popcnt")]
    pub(super) fn append(out: &mut Vec<u8>, text: &str, escapes: &Escapes) {
        super::append(out, text, escapes, |block, escapes| specials(block, escapes));
    }

    #[target_feature(enable = "avx2,bmi1,popcnt")]
    pub(super) fn find(bytes: &[u8], escapes: &Escapes) -> Option<usize> {
        super::find(bytes, escapes, |block, escapes| specials(block, escapes))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn specials(block: &[u8; BLOCK], escapes: &Escapes) -> u64 {
        let low = _mm256_broadcastsi128_si256(load16(&escapes.low));
        let high = _mm256_broadcastsi128_si256(load16(&escapes.high));
        let half = _mm256_set1_epi8(15);
        let ordinary = |at| {
            let bytes = load32(piece(block, at));
            let low = _mm256_shuffle_epi8(low, _mm256_and_si256(bytes, half));
            let high = _mm256_shuffle_epi8(high, _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), half));
            let ordinary = _mm256_cmpeq_epi8(_mm256_and_si256(low, high), _mm256_setzero_si256());
            u64::from(_mm256_movemask_epi8(ordinary).cast_unsigned())
        };
        !(ordinary(0) | ordinary(32) << 32)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn load16(bytes: &[u8; 16]) -> __m128i {
        _mm_set_epi64x(word(bytes, 8), word(bytes, 0))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn load32(bytes: &[u8; 32]) -> __m256i {
        _mm256_set_epi64x(word(bytes, 24), word(bytes, 16), word(bytes, 8), word(bytes, 0))
    }

    #[inline(always)]
    fn word(bytes: &[u8], at: usize) -> i64 {
        i64::from_le_bytes(*piece(bytes, at))
    }
}
