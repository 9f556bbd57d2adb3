//! Lists what differs between the APIs beside the form of their bodies, so that nobody else has to tell them apart for it.

use threadspec::oracle::Api;

/// The particulars of an API.
#[derive(Clone, Copy, Debug)]
pub struct ApiFacts {
    /// The base URL that its official SDK takes ends with this.
    pub base: &'static str,
    /// The SDK adds this to the base URL. `{model}` is in it where the body does not name the model.
    pub path: &'static str,
    /// For a stream it adds this.
    pub stream_path: &'static str,
    /// The header of the key, and what is before the key.
    pub key: (&'static str, &'static str),
    /// The member with the history.
    pub list: &'static str,
    /// The member with the system text, if that is no message.
    pub system: Option<&'static str>,
    /// The model that is asked if nobody names another.
    pub model: &'static str,
    /// The longest name of a tool that can be declared.
    pub longest_name: usize,
    /// The longest id of a call. Older versions of OpenAI's APIs take no more.
    pub longest_id: usize,
    /// True if neighbouring messages of one role are one to it, so that clients join them. It refuses empty texts.
    pub joins: bool,
    /// The kinds of opaque parts that a session's script may have.
    pub opaque: &'static [&'static str],
    /// True if each call needs an id.
    pub needs_ids: bool,
}

const CHAT: ApiFacts = ApiFacts {
    base: "/v1",
    path: "/chat/completions",
    stream_path: "/chat/completions",
    key: ("authorization", "Bearer "),
    list: "messages",
    system: None,
    model: "gpt-4.1",
    longest_name: 64,
    longest_id: 40,
    joins: false,
    opaque: &[],
    needs_ids: false,
};

const RESPONSES: ApiFacts = ApiFacts {
    path: "/responses",
    stream_path: "/responses",
    list: "input",
    system: Some("instructions"),
    longest_id: 64,
    opaque: &["reasoning"],
    needs_ids: true,
    ..CHAT
};

const ANTHROPIC: ApiFacts = ApiFacts {
    base: "",
    path: "/v1/messages",
    stream_path: "/v1/messages",
    key: ("x-api-key", ""),
    list: "messages",
    system: Some("system"),
    model: "claude-sonnet-5",
    longest_name: 128,
    longest_id: usize::MAX,
    joins: true,
    opaque: &["thinking", "redacted"],
    needs_ids: true,
};

const GEMINI: ApiFacts = ApiFacts {
    base: "",
    path: "/v1beta/models/{model}:generateContent",
    stream_path: "/v1beta/models/{model}:streamGenerateContent?alt=sse",
    key: ("x-goog-api-key", ""),
    list: "contents",
    system: Some("systemInstruction"),
    model: "gemini-2.5-pro",
    longest_name: 64,
    longest_id: usize::MAX,
    joins: true,
    opaque: &[],
    needs_ids: false,
};

/// Returns the particulars of an API.
///
/// ```
/// use threadspec::oracle::Api;
/// use threadspec_judge::protocol::facts;
/// assert_eq!((facts(Api::Gemini).list, facts(Api::Anthropic).key.0), ("contents", "x-api-key"));
/// ```
pub fn facts(api: Api) -> &'static ApiFacts {
    match api {
        Api::OpenAiChat => &CHAT,
        Api::OpenAiResponses => &RESPONSES,
        Api::Anthropic => &ANTHROPIC,
        Api::Gemini => &GEMINI,
    }
}
