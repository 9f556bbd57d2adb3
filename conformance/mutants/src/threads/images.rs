//! Images in results: what a reply says of them.

use serde_json::{Value, json};
use threadspec_judge::json::text;

/// The image of a result, if it is one.
pub(crate) fn of_result(result: &Value) -> Option<&str> {
    result["image"].as_str()
}

/// The SHA-256 of an image's bytes, in hexadecimal.
pub(crate) fn hash(base64: &str) -> Value {
    let digest = hmac_sha256::Hash::hash(&bytes(base64));
    json!(digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
}

/// The text beside the image.
pub(crate) fn text_beside(result: &Value) -> &str {
    text(&result["text"])
}

/// The bytes that a base64 text stands for; what is no digit is passed over.
fn bytes(base64: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digit = |character: u8| DIGITS.iter().position(|&digit| digit == character);
    let (mut bytes, mut buffer, mut bits) = (Vec::new(), 0_usize, 0);
    for value in base64.bytes().filter_map(digit) {
        buffer = (buffer << 6 | value) & 0xffff;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.extend(u8::try_from(buffer >> bits & 0xff));
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_known_by_its_bytes() {
        assert_eq!(bytes("aGVsbG8="), b"hello");
        assert_eq!(bytes("////"), [255, 255, 255]);
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(hash(""), empty);
    }
}
