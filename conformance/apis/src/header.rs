//! Makes what an answer carries besides its content: headers, times and ids.

use threadspec::oracle::Api;

/// The headers of an answer, but for `date` and its length. `at` is the time in seconds since 1970, and `milliseconds` how long the
/// answer took.
///
/// ```
/// use threadspec::oracle::Api;
/// use threadspec_apis::response_headers;
/// let headers = response_headers(Api::Anthropic, "req_1", false, 1_790_000_000, 12);
/// assert_eq!(headers[..2], [("content-type", "application/json".to_owned()), ("request-id", "req_1".to_owned())]);
/// assert!(headers.contains(&("anthropic-ratelimit-requests-reset", "2026-09-21T14:13:21Z".to_owned())));
/// ```
pub fn response_headers(
    api: Api,
    request_id: &str,
    is_stream: bool,
    at: u64,
    milliseconds: u64,
) -> Vec<(&'static str, String)> {
    // Both JavaScript clients need the type of plain answers.
    let content_type = if is_stream { "text/event-stream; charset=utf-8" } else { "application/json" };
    let mut headers = vec![("content-type", content_type.to_owned())];
    let reset = rfc3339(at + 1);
    match api {
        Api::Gemini => headers.push(("vary", "Origin, X-Origin, Referer".to_owned())),
        Api::OpenAiChat | Api::OpenAiResponses => headers.extend([
            ("x-request-id", request_id.to_owned()),
            ("openai-version", "2020-10-01".to_owned()),
            ("openai-processing-ms", milliseconds.to_string()),
            ("openai-organization", "org-threadspec".to_owned()),
            ("x-ratelimit-limit-requests", "500".to_owned()),
            ("x-ratelimit-limit-tokens", "200000".to_owned()),
            ("x-ratelimit-remaining-requests", "499".to_owned()),
            ("x-ratelimit-remaining-tokens", "199000".to_owned()),
            ("x-ratelimit-reset-requests", "120ms".to_owned()),
            ("x-ratelimit-reset-tokens", "6m0s".to_owned()),
        ]),
        Api::Anthropic => headers.extend([
            ("request-id", request_id.to_owned()),
            ("anthropic-organization-id", "org-threadspec".to_owned()),
            ("anthropic-ratelimit-requests-limit", "500".to_owned()),
            ("anthropic-ratelimit-requests-remaining", "499".to_owned()),
            ("anthropic-ratelimit-requests-reset", reset.clone()),
            ("anthropic-ratelimit-input-tokens-limit", "200000".to_owned()),
            ("anthropic-ratelimit-input-tokens-remaining", "199000".to_owned()),
            ("anthropic-ratelimit-input-tokens-reset", reset.clone()),
            ("anthropic-ratelimit-output-tokens-limit", "40000".to_owned()),
            ("anthropic-ratelimit-output-tokens-remaining", "39000".to_owned()),
            ("anthropic-ratelimit-output-tokens-reset", reset),
        ]),
    }
    headers
}

/// A time in seconds since 1970 as RFC 3339 writes it.
///
/// ```
/// assert_eq!(threadspec_apis::rfc3339(951_827_696), "2000-02-29T12:34:56Z");
/// ```
pub fn rfc3339(at: u64) -> String {
    const DAY: u64 = 86_400;
    // Days of eras of 400 years that begin on 1 March, so that the leap day is the last one.
    const ERA: u64 = 146_097;
    let days = at / DAY + 719_468;
    let (era, day) = (days / ERA, days % ERA);
    let year = (day - day / 1_460 + day / 36_524 - day / (ERA - 1)) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year + u64::from(month <= 2);
    let second = at % DAY;
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", second / 3_600, second / 60 % 60, second % 60)
}

// New ids in the providers' form, the same ones for the same seed.

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
            Api::Gemini => "",
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
    fn days_are_counted_as_calendars_do() {
        for (at, expected) in [
            (0, "1970-01-01T00:00:00Z"),
            (68_169_599, "1972-02-28T23:59:59Z"),
            (68_169_600, "1972-02-29T00:00:00Z"),
            (946_684_799, "1999-12-31T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(rfc3339(at), expected);
        }
    }

    #[test]
    fn each_api_has_its_headers() {
        let names = |api, is_stream| -> Vec<&str> {
            response_headers(api, "req_1", is_stream, 0, 0).into_iter().map(|(name, _)| name).collect()
        };
        assert!(names(Api::OpenAiChat, true).contains(&"x-ratelimit-reset-tokens"));
        assert_eq!(names(Api::OpenAiChat, false), names(Api::OpenAiResponses, true));
        assert!(!names(Api::Anthropic, false).contains(&"x-request-id"));
        assert_eq!(response_headers(Api::Anthropic, "", true, 0, 0)[0].1, "text/event-stream; charset=utf-8");
    }

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
