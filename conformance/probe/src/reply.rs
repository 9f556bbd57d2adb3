//! Reads a reply: an answer, a refusal in certain words, or neither. Takes keys out of whatever is shown.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;
use threadspec::oracle::Api;
use threadspec::read_json;
use threadspec::surrogates::without_marks;
use threadspec_apis::sse::SseParser;
use threadspec_apis::{AnswerEnd, AnswerReader, ApiError, ModelAnswer, read_answer};

/// So much of an answer is shown.
const OF_ANSWER: usize = 40;
/// So much of a refusal.
const OF_REFUSAL: usize = 1000;
/// Where APIs and their gateways write the name of a request.
const REQUEST_IDS: &[&str] = &["request-id", "x-request-id"];

/// A reply of HTTP as it came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProbeReply {
    /// The status.
    pub status: u16,
    /// Names, in lower case, and values.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// True if it ended as its head announces.
    pub is_whole: bool,
}

impl ProbeReply {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own == name).map(|(_, value)| &**value)
    }

    /// How long it asks the client to wait.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        let number = |name: &str| self.header(name)?.trim().parse::<f64>().ok().filter(|number| number.is_finite());
        let seconds =
            number("retry-after-ms").map(|milliseconds| milliseconds / 1000.0).or_else(|| number("retry-after"))?;
        Duration::try_from_secs_f64(seconds.max(0.0)).ok()
    }
}

/// How a server took a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Taken {
    /// It answered.
    Accepted,
    /// It refused.
    Refused,
    /// It failed, or nothing came.
    Failed,
    /// Something else came.
    Unclear,
}

/// A server's reaction to a request. No secret is in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProbeAnswer {
    pub(crate) taken: Taken,
    /// The status of HTTP; `None` if nothing came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// True if the refusal came inside a stream, behind a status that says that all is well.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_stream: bool,
    /// `code` of OpenAI, or the type of Anthropic's error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// `param` of OpenAI.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub param: Option<String>,
    /// The message of the refusal, the beginning of the answer, or why there is none.
    pub words: String,
    /// The name that the server gave the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

impl ProbeAnswer {
    /// Nothing came.
    pub(crate) fn nothing(why: &str, secrets: &Secrets) -> Self {
        let words = beginning(&secrets.clean(why), OF_REFUSAL);
        Self { taken: Taken::Failed, status: None, in_stream: false, code: None, param: None, words, request_id: None }
    }

    pub(crate) fn read(api: Api, reply: &ProbeReply, secrets: &Secrets) -> Self {
        let read = ReadReply::of(api, reply);
        // A server that knows the key may write it in ways of its own, in JSON for example: what is shown is searched after it was read.
        let shown = |text: &str, most: usize| beginning(&secrets.clean(text), most);
        let request_id = REQUEST_IDS.iter().find_map(|name| reply.header(name)).map(|id| shown(id, 80));
        let most = if read.taken == Taken::Accepted { OF_ANSWER } else { OF_REFUSAL };
        Self {
            taken: read.taken,
            status: Some(reply.status),
            in_stream: read.in_stream,
            code: read.code.map(|code| shown(&code, 80)),
            param: read.param.map(|param| shown(&param, 200)),
            words: shown(&read.words, most),
            request_id,
        }
    }

    /// Returns whether the server refused the request.
    pub fn is_refusal(&self) -> bool {
        self.taken == Taken::Refused
    }

    /// Returns whether the server answered.
    pub fn is_accepted(&self) -> bool {
        self.taken == Taken::Accepted
    }

    /// Returns whether nothing can be learnt of it, whatever the next answer is: no access, no such thing, too much, or a failure.
    pub(crate) fn is_no_verdict(&self) -> bool {
        match (self.taken, self.status) {
            (Taken::Failed | Taken::Unclear, _) => true,
            (Taken::Refused, Some(status)) => matches!(status, 401 | 402 | 403 | 404 | 408 | 413 | 429),
            (Taken::Refused, None) | (Taken::Accepted, _) => false,
        }
    }
}

/// A reply, before secrets are taken out of it.
struct ReadReply {
    taken: Taken,
    in_stream: bool,
    code: Option<String>,
    param: Option<String>,
    words: String,
}

impl ReadReply {
    fn plain(taken: Taken, words: impl Into<String>) -> Self {
        Self { taken, in_stream: false, code: None, param: None, words: words.into() }
    }

    fn of(api: Api, reply: &ProbeReply) -> Self {
        let text = String::from_utf8_lossy(&reply.body);
        match reply.status {
            200..=299 => Self::accepted(api, reply, &text),
            300..=399 => {
                let place = reply.header("location").unwrap_or("nowhere");
                Self::plain(Taken::Unclear, format!("it redirects to {place}, which is not followed"))
            }
            400..=499 => Self::refused(api, reply, &text, Taken::Refused),
            status => {
                let mut read = Self::refused(api, reply, &text, Taken::Failed);
                if read.words.is_empty() {
                    read.words = format!("a status of {status}");
                }
                read
            }
        }
    }

    fn accepted(api: Api, reply: &ProbeReply, text: &str) -> Self {
        let is_stream = reply.header("content-type").is_some_and(|kind| kind.starts_with("text/event-stream"));
        if !reply.is_whole {
            return Self::plain(Taken::Failed, "the answer broke off");
        }
        let said = if is_stream { streamed(api, text.as_bytes()) } else { plain(api, text) };
        match said {
            Ok((answer, AnswerEnd::Whole | AnswerEnd::Broken)) => Self::plain(Taken::Accepted, shown_answer(&answer)),
            Ok((_, AnswerEnd::Failed(error))) => {
                // Behind the head of a stream there is no status any more.
                let taken = if !is_stream || error.status >= 500 { Taken::Unclear } else { Taken::Refused };
                Self { in_stream: is_stream, ..Self::error(api, taken, error) }
            }
            Err(why) => Self::plain(Taken::Unclear, format!("no answer of {api} ({why}): {text}")),
        }
    }

    fn refused(api: Api, reply: &ProbeReply, text: &str, taken: Taken) -> Self {
        let Ok(body) = read_json(text) else { return Self::plain(taken, text) };
        let error = ApiError::read(reply.status, &body);
        // Others have forms of their own.
        if error.message.is_empty() { Self::plain(taken, text) } else { Self::error(api, taken, error) }
    }

    fn error(api: Api, taken: Taken, error: ApiError) -> Self {
        let code = error.code.or_else(|| (api == Api::Anthropic).then_some(error.kind));
        Self { taken, in_stream: false, code, param: error.param, words: error.message }
    }
}

type SaidAndEnd = (ModelAnswer, AnswerEnd);

fn plain(api: Api, text: &str) -> Result<SaidAndEnd, String> {
    let body = read_json(text).map_err(|_| "no JSON".to_owned())?;
    let said = read_answer(api, &body).map_err(|error| error.to_string())?;
    Ok((said.answer, said.end))
}

fn streamed(api: Api, bytes: &[u8]) -> Result<SaidAndEnd, String> {
    let (mut reader, mut has_begun) = (AnswerReader::new(api), false);
    for event in SseParser::default().push(bytes) {
        // A server that sends no answer's events sends something all the same, which is what is asked here.
        has_begun |= reader.push(&event).is_ok();
    }
    let said = reader.said();
    if has_begun { Ok((said.answer, said.end)) } else { Err("no event".to_owned()) }
}

/// The text of an answer, or the call that is in its place.
fn shown_answer(answer: &ModelAnswer) -> String {
    let calls = answer.calls.iter().map(|call| format!("{}({})", call.name, call.arguments));
    let thinking = answer.thinking.iter().map(|_| "(thinking)".to_owned());
    let text = Some(answer.text.trim()).filter(|text| !text.is_empty()).map(str::to_owned);
    text.into_iter().chain(calls).chain(thinking).next().unwrap_or_default()
}

/// The first characters, in one line, without what a terminal would obey.
fn beginning(text: &str, most: usize) -> String {
    let text = without_marks(text);
    let mut line = String::new();
    for (number, character) in text.chars().enumerate() {
        if number == most {
            line.push('…');
            break;
        }
        line.push(if character.is_control() { ' ' } else { character });
    }
    line.trim().to_owned()
}

// Keys, taken out of whatever is shown.

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
