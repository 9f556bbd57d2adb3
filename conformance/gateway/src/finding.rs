//! Describes the faults of a gateway, and shows each to people: its place, both bodies around it, and a command that makes it again.

use crate::run::ClientExchange;
use serde_json::{Value, json};
use std::fmt;
use threadspec::surrogates::{unmark_surrogates, without_marks};
use threadspec_judge::text::{common_beginning, cut, visible};
use threadspec_provider::WireLevel;

/// A difference that a gateway made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateFinding {
    /// The clause that is broken.
    pub clause: &'static str,
    /// How much it counts.
    pub level: WireLevel,
    /// The input, the output and the place, in one sentence.
    pub what: String,
    /// The exchange in which the difference was made, by its position.
    pub exchange: usize,
    /// The attempt in which it shows, by its position in the record.
    pub attempt: Option<usize>,
    /// Both bodies at the first difference.
    pub sides: Option<BothSides>,
}

/// The input and the output of a gateway, cut to the first difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BothSides {
    /// The direction.
    pub way: Way,
    /// The input.
    pub before: String,
    /// The output.
    pub behind: String,
    /// A command that sends the request of the client again, without its key.
    pub curl: String,
}

/// The direction through a gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// From the client to the provider.
    Request,
    /// From the provider to the client.
    Answer,
}

impl Way {
    /// Returns the names of the two sides.
    pub fn names(self) -> [&'static str; 2] {
        match self {
            Self::Request => ["sent", "arrived"],
            Self::Answer => ["answered", "read"],
        }
    }
}

impl GateFinding {
    /// The finding as `wire.findings` has it: with `clause`, `level`, and in `what` the sentence and, in lines below it that are indented, both
    /// sides and the command.
    ///
    /// ```
    /// use threadspec_gateway::{GateFinding, BothSides, Way};
    /// use threadspec_provider::WireLevel;
    /// let sides = BothSides { way: Way::Answer, before: "Hi".into(), behind: "H".into(), curl: "curl -sS \"$GATEWAY/v1/messages\"".into() };
    /// let finding = GateFinding {
    ///     clause: threadspec_golden::clause::GATE_SAID, level: WireLevel::Must, what: "request 1: it is cut".into(), exchange: 0, attempt: None, sides: Some(sides),
    /// };
    /// let lines = "request 1: it is cut\n    answered Hi\n    read     H\n    curl -sS \"$GATEWAY/v1/messages\"";
    /// assert_eq!(finding.to_json()["what"], lines);
    /// ```
    pub fn to_json(&self) -> Value {
        json!({"clause": self.clause, "level": self.level.to_string(), "what": self.what.clone() + &self.below()})
    }

    /// Returns the finding without both sides.
    #[must_use]
    pub fn in_short(&self) -> Self {
        Self { sides: None, ..self.clone() }
    }

    fn below(&self) -> String {
        let Some(BothSides { way, before, behind, curl }) = &self.sides else { return String::new() };
        let [before_name, behind_name] = way.names();
        format!("\n    {before_name:8} {before}\n    {behind_name:8} {behind}\n    {curl}")
    }
}

/// The clause and what is wrong; below it, if they are known, both sides and the command.
impl fmt::Display for GateFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}{}", self.clause, self.what, self.below())
    }
}

// Shows a difference to people: its place, both bodies around it, and a command that makes it again.

/// How many characters are shown before a difference, and from it on.
const BEFORE: usize = 16;
const FROM: usize = 44;
/// The most characters that are shown before the difference of a body.
const BODY_BEFORE: usize = 120;
const BODY_FROM: usize = 240;

/// Two texts that differ, each around the first difference, so that no two look the same.
///
/// ```
/// let long = "x".repeat(1000);
/// let [one, other] = threadspec_gateway::differing(&format!("{long}a"), &format!("{long}b"));
/// assert_eq!((&*one, &*other), ("`…xxxxxxxxxxxxxxxxa`", "`…xxxxxxxxxxxxxxxxb`"));
/// ```
pub fn differing(one: &str, other: &str) -> [String; 2] {
    let at = common_beginning(one, other);
    [one, other].map(|text| if text.is_empty() { "nothing".to_owned() } else { around(text, at, BEFORE, FROM) })
}

/// A text from its beginning.
pub(crate) fn quoted(text: &str) -> String {
    if text.is_empty() { "nothing".to_owned() } else { around(text, 0, BEFORE, FROM) }
}

/// A value from its beginning.
pub(crate) fn json(value: &Value) -> String {
    quoted(&unmark_surrogates(&value.to_string()))
}

/// Two values around their first difference.
pub(crate) fn differing_json(one: &Value, other: &Value) -> [String; 2] {
    differing(&unmark_surrogates(&one.to_string()), &unmark_surrogates(&other.to_string()))
}

fn around(text: &str, at: usize, before: usize, from: usize) -> String {
    let begin = text[..at].char_indices().rev().take(before).last().map_or(at, |(begin, _)| begin);
    let end = text[at..].char_indices().nth(from).map_or(text.len(), |(end, _)| at + end);
    let [cut, more] = [begin > 0, end < text.len()].map(|is_cut| if is_cut { "…" } else { "" });
    format!("`{cut}{}{more}`", visible(&without_marks(&text[begin..end])))
}

/// The value at a place such as `messages[3].content[0]`.
pub(crate) fn at<'a>(body: &'a Value, place: &str) -> Option<&'a Value> {
    let mut names = place.split(['.', '[']).filter(|name| !name.is_empty());
    names.try_fold(body, |value, name| match name.strip_suffix(']') {
        Some(position) => value.get(position.parse::<usize>().ok()?),
        None => value.get(name),
    })
}

/// Shows the part of a body that begins with a differing text, if the text is there, or the part at the place.
pub(crate) fn body(body: &Value, place: Option<&str>, text: &str) -> String {
    let found = place.and_then(|place| Some((place, at(body, place)?)));
    let (place, value) = found.unwrap_or(("", body));
    let json = unmark_surrogates(&value.to_string()).into_owned();
    // The text is in JSON, so that its beginning is found where no character of it is escaped.
    let written = unmark_surrogates(&Value::from(text).to_string()).into_owned();
    let written = written.trim_matches('"');
    let middle = if written.is_empty() { 0 } else { json.find(written).unwrap_or_default() };
    let shown = around(&json, middle, BODY_BEFORE, BODY_FROM);
    let shown = shown.trim_matches('`');
    if place.is_empty() { shown.to_owned() } else { format!("{place}: {shown}") }
}

/// Shows the part of a text around another one, or its beginning.
pub(crate) fn near(text: &str, other: &str) -> String {
    let middle = if other.is_empty() { 0 } else { text.find(other).unwrap_or_default() };
    if text.is_empty() {
        "nothing".to_owned()
    } else {
        around(text, middle, BODY_BEFORE, BODY_FROM).trim_matches('`').to_owned()
    }
}

/// How much of a command is shown: an image in its body takes 200 kB.
const LONGEST_COMMAND: usize = 8_000;

/// Both sides, with the command that sends the request of an exchange.
pub(crate) fn sides(
    way: Way,
    before: impl Into<String>,
    behind: impl Into<String>,
    exchange: &ClientExchange,
) -> BothSides {
    let curl = curl(exchange);
    let (shown, rest) = cut(&curl, LONGEST_COMMAND);
    let left_out = if rest.is_empty() { String::new() } else { format!("… and {} more bytes", rest.len()) };
    BothSides { way, before: before.into(), behind: behind.into(), curl: format!("{shown}{left_out}") }
}

/// A command for a shell that sends the request of a client to `$GATEWAY`, with `$KEY` instead of its key.
///
/// ```
/// use std::time::Duration;
/// use threadspec::oracle::Api;
/// use threadspec_gateway::{ClientExchange, curl};
/// use threadspec_provider::client::ClientRequest;
/// let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
/// let headers = vec![header("Host", "127.0.0.1:4000"), header("authorization", "Bearer sk-secret"), header("content-length", "2")];
/// let request = ClientRequest { method: "POST".into(), target: "/v1/messages".into(), headers, body: b"{}".to_vec() };
/// let (began, ended) = (Duration::ZERO, Duration::ZERO);
/// let exchange = ClientExchange { api: Api::Anthropic, began, ended, request, response: None };
/// assert_eq!(curl(&exchange), "curl -sS \"$GATEWAY/v1/messages\" -H \"authorization: Bearer $KEY\" --data-raw '{}'");
/// ```
pub fn curl(exchange: &ClientExchange) -> String {
    let request = &exchange.request;
    let mut command = format!("curl -sS \"$GATEWAY{}\"", request.target.replace(['"', '$', '`', '\\'], ""));
    if request.method != "POST" {
        command += &format!(" -X {}", request.method);
    }
    for (name, value) in &request.headers {
        let name = name.to_ascii_lowercase();
        command += &match name.as_str() {
            "authorization" => " -H \"authorization: Bearer $KEY\"".to_owned(),
            "x-api-key" | "api-key" => format!(" -H \"{name}: $KEY\""),
            // What curl or the connection sets itself.
            "host" | "content-length" | "transfer-encoding" | "cookie" | "accept-encoding" | "connection"
            | "expect" => String::new(),
            _ => format!(" -H {}", in_quotes(&format!("{name}: {value}"))),
        };
    }
    command + " --data-raw " + &in_quotes(&String::from_utf8_lossy(&request.body))
}

/// A word for a shell.
fn in_quotes(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_difference_in_the_middle_is_shown_where_it_is() {
        let text = |middle: &str| format!("{}{middle}{}", "a".repeat(500), "z".repeat(500));
        for (one, other) in [("b", "c"), ("", "c"), ("é", "e\u{301}"), ("\n", " ")] {
            let [one, other] = differing(&text(one), &text(other));
            assert_ne!(one, other);
            assert!(one.starts_with("`…aaaa") && one.ends_with("zz…`"), "{one}");
        }
        assert_eq!(differing("", "x"), ["nothing", "`x`"]);
        assert_eq!(differing("a\n", "a"), ["`a⏎`", "`a`"]);
    }

    #[test]
    fn a_body_is_cut_around_its_difference() {
        let value = json!({"messages": [{"content": format!("{}needle{}", "x".repeat(5000), "y".repeat(5000))}]});
        let shown = body(&value, Some("messages[0].content"), "needle");
        assert!(shown.starts_with("messages[0].content: …xxx") && shown.contains("needle") && shown.len() < 500);
        assert!(body(&value, Some("messages[7]"), "").starts_with("{\"messages\""));
    }

    #[test]
    fn a_command_quotes_what_a_shell_would_read() {
        assert_eq!(in_quotes("it's `$HOME`"), r"'it'\''s `$HOME`'");
    }
}
