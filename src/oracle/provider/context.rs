//! Holds everything that comes with the body of a request, as far as it is known.

use serde_json::Value;

/// The context of a request: what came beside its body, and before it. Whatever is not known is not judged.
///
/// ```
/// use threadspec::oracle::{Api, RequestContext, RequestHeaders, provider_breaches_with};
/// use threadspec::read_json;
/// let body = read_json(r#"{"temperature": 1, "messages": [{"role": "user", "content": "Hi"}]}"#)?;
/// let headers = RequestHeaders { anthropic_version: Some("2026-10-21"), anthropic_beta: "" };
/// let context = RequestContext { headers: Some(headers), ..RequestContext::default() };
/// assert_eq!(provider_breaches_with(Api::Anthropic, &context, &body)[0].rule, "ANT-SAMPLING");
/// assert_eq!(provider_breaches_with(Api::Anthropic, &RequestContext::default(), &body), []);
/// # Ok::<(), threadspec::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct RequestContext<'a> {
    /// The headers that the rules speak of.
    pub headers: Option<RequestHeaders<'a>>,
    /// The items that the server stored and the request names (`previous_response_id`, `conversation`).
    pub stored: StoredItems<'a>,
    /// The thinking blocks of each answer that the server gave before, oldest first; an answer without any has an empty list.
    pub thinking: Option<&'a [Vec<Value>]>,
}

/// The headers of a request that rules speak of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestHeaders<'a> {
    /// `anthropic-version`.
    pub anthropic_version: Option<&'a str>,
    /// `anthropic-beta`: names with commas between them, empty without the header.
    pub anthropic_beta: &'a str,
}

impl RequestHeaders<'_> {
    /// Returns whether the request asks for a beta.
    ///
    /// ```
    /// use threadspec::oracle::RequestHeaders;
    /// let headers = RequestHeaders { anthropic_beta: "a-2025-01-01, b-2026-01-01", ..RequestHeaders::default() };
    /// assert!(headers.has_beta("b-2026-01-01") && !headers.has_beta("b"));
    /// ```
    pub fn has_beta(&self, name: &str) -> bool {
        self.anthropic_beta.split(',').any(|beta| beta.trim() == name)
    }

    /// Returns whether the version is this one or a later one. Versions are dates, which have the order of their texts.
    pub(super) fn is_since(&self, version: &str) -> bool {
        self.anthropic_version.is_some_and(|sent| sent >= version)
    }
}

/// The items that a server stored and a request goes on from.
#[derive(Clone, Copy, Debug, Default)]
pub enum StoredItems<'a> {
    /// It is not known what is stored.
    #[default]
    Unknown,
    /// Nothing is stored under the name that the request has, if it has one.
    Missing,
    /// These items, which are before the input.
    Items(&'a [Value]),
}

impl<'a> StoredItems<'a> {
    /// The items that are known to be before the input.
    pub(super) fn items(self) -> &'a [Value] {
        match self {
            Self::Items(items) => items,
            Self::Unknown | Self::Missing => &[],
        }
    }
}
