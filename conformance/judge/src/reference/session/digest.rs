//! Images as replies name them.

/// The SHA-256 of an image in base64, in hexadecimal. What is no character of base64 is passed over.
pub(super) fn image_digest(base64: &str) -> String {
    let digest = hmac_sha256::Hash::hash(&decoded(base64));
    digest
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|digit| char::from_digit(digit.into(), 16))
        .collect()
}

/// The bytes that base64 represents.
fn decoded(base64: &str) -> Vec<u8> {
    let sextet = |character: u8| match character {
        b'A'..=b'Z' => Some(character - b'A'),
        b'a'..=b'z' => Some(character - b'a' + 26),
        b'0'..=b'9' => Some(character - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    };
    let (mut bytes, mut held, mut count) = (Vec::with_capacity(base64.len() / 4 * 3), 0_u32, 0);
    for six in base64.bytes().filter_map(sextet) {
        held = held << 6 | u32::from(six);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.extend((held >> count).to_le_bytes().first());
            held &= (1 << count) - 1;
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_of_every_length_is_decoded() {
        for (base64, bytes) in
            [("", &b""[..]), ("Zg==", b"f"), ("Zm8=", b"fo"), ("Zm9v", b"foo"), ("-_8\n=", b"\xfb\xff")]
        {
            assert_eq!(decoded(base64), bytes, "{base64}");
        }
        let digest = "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae";
        assert_eq!(image_digest("Zm9v"), digest);
    }
}
