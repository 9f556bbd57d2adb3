//! Bytes that are written as base64, as recorders do with what is no text.

/// The bytes; `None` if it is no base64. White space is passed over.
pub(in super::super) fn decode(text: &str) -> Option<Vec<u8>> {
    let (mut bytes, mut bits, mut count) = (Vec::with_capacity(text.len() / 4 * 3), 0_u32, 0);
    for byte in text.bytes().filter(|byte| !byte.is_ascii_whitespace()) {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'=' => continue,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from(bits >> count & 0xff).ok()?);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::decode;

    /// The examples of RFC 4648, section 10.
    #[test]
    fn the_examples_of_the_standard_are_read() {
        for (text, expected) in
            [("", ""), ("Zg==", "f"), ("Zm8=", "fo"), ("Zm9v", "foo"), ("Zm9v\nYg==", "foob"), ("Zm9vYmFy", "foobar")]
        {
            assert_eq!(decode(text).as_deref(), Some(expected.as_bytes()), "{text}");
        }
        assert_eq!(decode("{}"), None);
    }
}
