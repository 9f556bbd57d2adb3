//! Keys, taken out of whatever is shown.

use std::fmt;

/// The text that replaces a secret.
const INSTEAD: &str = "[key]";
/// A shorter text is no secret: it occurs in many words.
const SHORTEST: usize = 4;

/// Texts that must not be shown or written, whoever says them: a server may repeat the key that it got.
///
/// ```
/// use threadspec_probe::Secrets;
/// let secrets = Secrets::new(["sk-123456".to_owned()]);
/// assert_eq!(secrets.clean("Incorrect API key: sk-123456."), "Incorrect API key: [key].");
/// assert!(!format!("{secrets:?}").contains("123456"));
/// ```
#[derive(Clone, Default)]
pub struct Secrets(Vec<String>);

impl Secrets {
    /// These, as they are, and as a URL or a JSON text spells them.
    pub fn new(secrets: impl IntoIterator<Item = String>) -> Self {
        let mut all: Vec<String> = secrets
            .into_iter()
            .flat_map(|secret| {
                let in_url = secret.bytes().map(percent).collect();
                let in_json = serde_json::Value::from(&*secret).to_string();
                [secret, in_url, in_json.trim_matches('"').to_owned()]
            })
            .filter(|secret| secret.len() >= SHORTEST)
            .collect();
        // A secret may be part of another one.
        all.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        all.dedup();
        Self(all)
    }

    /// A text without them.
    pub fn clean(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| text.replace(&**secret, INSTEAD))
    }

    /// Returns whether a text contains one.
    pub fn are_in(&self, text: &str) -> bool {
        self.0.iter().any(|secret| text.contains(&**secret))
    }
}

fn percent(byte: u8) -> String {
    if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
        char::from(byte).to_string()
    } else {
        format!("%{byte:02X}")
    }
}

/// They are nowhere.
impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secrets({})", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_is_taken_out() {
        let secrets = Secrets::new(["a+b/c\"=".to_owned(), "abc".to_owned(), "a+b/c\"=longer".to_owned()]);
        for (text, clean) in [
            ("x a+b/c\"= x", "x [key] x"),
            ("a+b/c\"=longer", "[key]"),
            ("?key=a%2Bb%2Fc%22%3D", "?key=[key]"),
            (r#"{"key": "a+b/c\"="}"#, r#"{"key": "[key]"}"#),
            ("abc", "abc"),
        ] {
            assert_eq!(secrets.clean(text), clean, "{text}");
            assert!(!secrets.are_in(clean), "{text}");
        }
    }
}
