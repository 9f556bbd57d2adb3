//! New ids in the providers' form, the same ones for the same seed.

use threadspec::oracle::Api;

/// How many letters and digits an id has behind its prefix.
const LENGTH: usize = 24;
const LETTERS: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// A source of ids that look random, and are repeatable.
///
/// ```
/// use threadspec_apis::IdSource;
/// let (mut one, mut other) = (IdSource::new(7), IdSource::new(7));
/// let id = one.next("toolu_01");
/// assert_eq!((id.len(), id.starts_with("toolu_01")), (32, true));
/// assert_eq!(id, other.next("toolu_01"));
/// assert_ne!(id, one.next("toolu_01"));
/// ```
#[derive(Clone, Debug)]
pub struct IdSource {
    state: u64,
}

impl IdSource {
    /// A source for a seed.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next number (`SplitMix64`).
    pub fn number(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A prefix with 24 letters and digits.
    pub fn next(&mut self, prefix: &str) -> String {
        prefix.to_owned() + &self.letters(LENGTH)
    }

    /// So many letters and digits.
    pub fn letters(&mut self, length: usize) -> String {
        (0..length).map(|_| char::from(LETTERS[usize::from(self.number().to_le_bytes()[0]) % LETTERS.len()])).collect()
    }

    /// An answer: `chatcmpl-…`, `resp_…`, `msg_01…`.
    pub fn answer(&mut self, api: Api) -> String {
        self.next(match api {
            Api::OpenAiChat => "chatcmpl-",
            Api::OpenAiResponses => "resp_",
            Api::Anthropic => "msg_01",
        })
    }

    /// A call: `call_…`, `toolu_01…`.
    pub fn call(&mut self, api: Api) -> String {
        self.next(if api == Api::Anthropic { "toolu_01" } else { "call_" })
    }

    /// A request, as answers name it in a header.
    pub fn request(&mut self) -> String {
        self.next("req_")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_the_form_of_their_api() {
        let mut ids = IdSource::new(1);
        for (id, prefix) in [
            (ids.answer(Api::OpenAiChat), "chatcmpl-"),
            (ids.answer(Api::OpenAiResponses), "resp_"),
            (ids.answer(Api::Anthropic), "msg_01"),
            (ids.call(Api::OpenAiChat), "call_"),
            (ids.call(Api::OpenAiResponses), "call_"),
            (ids.call(Api::Anthropic), "toolu_01"),
            (ids.request(), "req_"),
        ] {
            let rest = id.strip_prefix(prefix).expect(prefix);
            assert!(rest.len() == 24 && rest.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{id}");
        }
    }

    #[test]
    fn ten_thousand_ids_are_different() {
        let mut ids = IdSource::new(0);
        let all: std::collections::HashSet<String> = (0..10_000).map(|_| ids.next("")).collect();
        assert_eq!(all.len(), 10_000);
    }
}
