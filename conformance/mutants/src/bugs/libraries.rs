//! What functions of common libraries do with input that they were not made for: the bugs of `golden/hazards.json` that no other table has.

use super::json::escape_of;
use crate::plants::TwinSite::{Escaped, Quoted};
use crate::plants::prelude::*;
use crate::twin::input::raw_input;
use crate::twin::parts::{each_payload, each_text};
use crate::twin::text::{attribute, text};
use crate::universal::operators::{as_list, latin_1, split_lines, without_dollar_members};
use threadspec_judge::json::{Node, tokens};

/// `String.join("\n", text.split("\n"))` in Java.
fn split_and_joined(text: &str) -> String {
    text.trim_end_matches('\n').to_owned()
}

/// A text as the second argument of JavaScript's `replace`, where it takes the place of `{text}`.
fn as_javascripts_replacement(text: &str) -> String {
    text.replace("$$", "\0").replace("$&", "{text}").replace("$`", "").replace("$'", "").replace('\0', "$")
}

/// A text as the second argument of Java's `replaceAll`.
fn as_javas_replacement(text: &str) -> String {
    let (mut replaced, mut rest) = (String::new(), text.chars());
    while let Some(c) = rest.next() {
        match c {
            '\\' => match rest.next() {
                Some(next) => replaced.push(next),
                None => crash("character to be escaped is missing"),
            },
            '$' => crash("Illegal group reference"),
            c => replaced.push(c),
        }
    }
    replaced
}

/// A text as the format of Go's `Sprintf`, without operands.
fn as_gos_format(text: &str) -> String {
    let mut parts = text.split('%');
    let mut written = parts.next().unwrap_or_default().to_owned();
    let mut parts = parts.peekable();
    while let Some(part) = parts.next() {
        let verb = part.trim_start_matches(|c: char| "+-# .".contains(c) || c.is_ascii_digit());
        match verb.chars().next() {
            None if parts.peek().is_none() => written += "%!(NOVERB)",
            None => {
                written.push('%');
                written += parts.next().unwrap_or_default();
            }
            Some(c) => {
                written += &format!("%!{c}(MISSING){}", &verb[c.len_utf8()..]);
            }
        }
    }
    written
}

/// A text as a format of Python, which knows none of the names in it.
fn as_pythons_format(text: &str) -> String {
    let text = text.replace("{{", "\u{1}").replace("}}", "\u{2}");
    if text.contains(['{', '}']) {
        crash("KeyError");
    }
    text.replace('\u{1}', "{").replace('\u{2}', "}")
}

/// `urldecode` in PHP.
fn url_decoded(text: &str) -> String {
    let (bytes, mut decoded, mut at) = (text.as_bytes(), Vec::new(), 0);
    while let Some(&byte) = bytes.get(at) {
        let hex = bytes.get(at + 1..at + 3).and_then(|hex| u8::from_str_radix(str::from_utf8(hex).ok()?, 16).ok());
        match (byte, hex) {
            (b'%', Some(code)) => {
                decoded.push(code);
                at += 2;
            }
            (b'+', _) => decoded.push(b' '),
            _ => decoded.push(byte),
        }
        at += 1;
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

/// `html.unescape` in Python, with the entities that matter here.
fn unescaped(text: &str) -> String {
    [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&copy;", "\u{a9}"), ("&amp;", "&")]
        .iter()
        .fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

/// `strip_tags` in PHP.
fn without_tags(text: &str) -> String {
    let mut parts = text.split('<');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        if part.starts_with(char::is_whitespace) {
            text + "<" + part
        } else {
            text + part.split_once('>').map_or("", |(_, behind)| behind)
        }
    })
}

/// `re.sub(r"\s+", " ", text)`, where white space is Unicode's.
fn white_space_joined(text: &str) -> String {
    let mut joined = String::new();
    for c in text.chars() {
        match (c.is_whitespace(), joined.ends_with(' ')) {
            (true, true) => {}
            (true, false) => joined.push(' '),
            (false, _) => joined.push(c),
        }
    }
    joined
}

fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{200d}' | '\u{fe0f}' | '\u{20e3}')
}

/// Escapes only characters that stand alone as a reader sees them: neither one with a combining mark, nor the two of a line end.
fn by_characters(raw: &str, escape: impl Fn(&str) -> String) -> String {
    let mut escaped = String::new();
    let mut rest = raw.chars().peekable();
    while let Some(c) = rest.next() {
        match rest.peek() {
            Some(&next) if is_mark(next) => escaped.push(c),
            Some('\n') if c == '\r' => escaped.push(c),
            _ => escaped += &escape(&c.to_string()),
        }
    }
    escaped
}

/// The members of requests that a program declares as fields, beside those of events.
const FIELDS: &str = "type iteration text events responsePrefix contextMode instructions messages model maxRecursionDepth prompt \
    verify maxIterations maxToolCallsPerIteration tool_calls id name tool_call_id complete reason";

/// As Go's `encoding/json` folds names: small letters, with the long s and the Kelvin sign among them.
fn folded(name: &str) -> String {
    name.to_lowercase().replace('\u{17f}', "s")
}

/// Sets each field from the last member whose name matches in any case.
fn fields_in_any_case(value: &mut Value) {
    match value {
        Value::Array(elements) => elements.iter_mut().for_each(fields_in_any_case),
        Value::Object(members) => {
            let mut read = Map::new();
            for (name, mut value) in std::mem::take(members) {
                let mut fields = Event::FIELDS.iter().flat_map(|(_, fields)| *fields).copied().chain(FIELDS.split(' '));
                let field = fields.find(|field| folded(field) == folded(&name));
                if !matches!(field, Some("args" | "result")) && name != "tools" {
                    fields_in_any_case(&mut value);
                }
                read.insert(field.map_or(name, str::to_owned), value);
            }
            *members = read;
        }
        _ => {}
    }
}

/// Returns whether an object in a text has the same member twice.
fn repeats(node: &Node<'_>) -> bool {
    match node {
        Node::Scalar(_) => false,
        Node::Array(elements) => elements.iter().any(repeats),
        Node::Object(members) => {
            let is_second = |(index, (name, _)): (usize, &(&str, Node<'_>))| {
                members[..index].iter().any(|(earlier, _)| earlier == name)
            };
            members.iter().enumerate().any(is_second) || members.iter().any(|(_, value)| repeats(value))
        }
    }
}

/// The text with its members renamed.
fn renamed(text: &str, name: fn(&str) -> &str) -> String {
    let all: Vec<&str> = tokens(text).collect();
    let is_name = |index: usize| all.get(index + 1) == Some(&":");
    all.iter().enumerate().map(|(index, token)| if is_name(index) { name(token) } else { token }).collect()
}

/// A date with a time, as Json.NET recognizes it: the text before its fraction of a second, and that fraction.
fn date(text: &str) -> Option<(&str, &str)> {
    let (time, is_utc) = text.strip_suffix('Z').map_or((text, false), |time| (time, true));
    let (seconds, fraction) = time.split_once('.').unwrap_or((time, ""));
    let shape: String = seconds.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    let is_date = shape == "0000-00-00T00:00:00" && fraction.chars().all(|c| c.is_ascii_digit()) && fraction.len() < 8;
    (is_date && is_utc).then_some((seconds, fraction))
}

/// A date inside a structure is written again without the zeros at its end; one that becomes a text is written as the culture does.
fn dates_anew(payload: &mut Value) {
    if let Value::String(text) = payload {
        if let Some((seconds, _)) = date(text) {
            let (day, time) = (&seconds[..10], &seconds[11..]);
            *text = format!("{}/{}/{} {time}", &day[5..7], &day[8..], &day[..4]);
        }
        return;
    }
    each(payload, &|value| {
        if let Some((seconds, fraction)) = value.as_str().and_then(date) {
            let fraction = fraction.trim_end_matches('0');
            let point = if fraction.is_empty() { "" } else { "." };
            *value = format!("{seconds}{point}{fraction}Z").into();
        }
    });
}

/// What YAML 1.1 reads without quotes.
fn as_yaml(text: &str) -> Option<Value> {
    let digits = |text: &str, radix| i64::from_str_radix(&text.replace('_', ""), radix).ok();
    match &*text.to_ascii_lowercase() {
        "y" | "yes" | "on" | "true" => Some(true.into()),
        "n" | "no" | "off" | "false" => Some(false.into()),
        "~" | "null" => Some(Value::Null),
        number => {
            let sexagesimal = number.split_once(':').and_then(|(hours, minutes)| {
                (minutes.len() == 2).then_some(digits(hours, 10)? * 60 + digits(minutes, 10)?)
            });
            let integer = number.strip_prefix("0x").map_or_else(|| digits(number, 10), |hex| digits(hex, 16));
            sexagesimal.or(integer).map(Value::from)
        }
    }
}

/// A mark before the spelling of a number that a later step writes unchanged.
const SPELLED: char = '\u{10fffd}';

/// The text, with each number inside arguments turned into a marked text.
fn numbers_marked(node: Node<'_>, is_inside: bool) -> String {
    let list = |parts: Vec<String>| parts.join(",");
    match node {
        Node::Scalar(token) if is_inside && token.starts_with(|c: char| c == '-' || c.is_ascii_digit()) => {
            format!("\"{SPELLED}{token}\"")
        }
        Node::Scalar(token) => token.to_owned(),
        Node::Array(elements) => {
            format!("[{}]", list(elements.into_iter().map(|node| numbers_marked(node, is_inside)).collect()))
        }
        Node::Object(members) => {
            let member =
                |(name, node): (&str, _)| format!("{name}:{}", numbers_marked(node, is_inside || name == "\"args\""));
            format!("{{{}}}", list(members.into_iter().map(member).collect()))
        }
    }
}

fn numbers_unmarked(value: &mut Value) {
    each(value, &|value| {
        if let Some(token) = value.as_str().and_then(|text| text.strip_prefix(SPELLED)) {
            *value = token
                .parse::<i64>()
                .map(Value::from)
                .or_else(|_| token.parse::<f64>().map(Value::from))
                .unwrap_or_default();
        }
    });
}

/// The neighbour of a number of seventeen digits, as found by a parser that does not round exactly.
fn nearly(value: &mut Value) {
    if let Some(double) = value.as_f64().filter(|_| value.is_f64()) {
        let digits = format!("{double:e}").split('e').next().unwrap_or_default().trim_start_matches('-').len();
        if digits >= 18 {
            *value = json!(f64::from_bits(double.to_bits() - 1));
        }
    }
}

/// Changes each text of an input.
fn texts(name: FaultName, change: fn(&str) -> String) -> Planted {
    on::before(name, [ESC_3, MSG_RESULT, TOOLS_RESULT], move |_, _, input| {
        each_text(input, &change);
    })
}

/// Changes arguments and results, wherever they are in an input.
fn payloads(name: FaultName, terms: impl IntoTerms, change: fn(&mut Value)) -> Planted {
    on::before(name, terms, move |_, _, input| each_payload(input, &change))
}

pub(super) fn bugs() -> Vec<Planted> {
    let mut bugs = vec![
        texts("texts-split-into-lines-and-joined", split_lines),
        texts("texts-split-at-line-feeds-and-joined", split_and_joined),
        texts("texts-as-replacements-in-javascript", as_javascripts_replacement),
        texts("texts-as-replacements-in-java", as_javas_replacement),
        texts("texts-as-formats-in-go", as_gos_format),
        texts("texts-as-formats-in-python", as_pythons_format),
        texts("texts-decoded-as-urls", url_decoded),
        texts("texts-with-entities-read", unescaped),
        texts("texts-without-tags", without_tags),
        texts("white-space-joined-by-a-pattern", white_space_joined),
        texts("texts-in-latin-1", latin_1),
        on::several("character-with-its-mark-not-escaped", [ESC_1, ATT_ESCAPED], |twin| {
            twin.text = &|twin, raw| by_characters(raw, |c| text(twin, c));
            twin.attribute = &|twin, raw| by_characters(raw, |c| attribute(twin, c));
        }),
        on::text("forbidden-characters-end-the-program", ESC_FORBIDDEN, |twin, raw| {
            if raw.chars().all(is_xml_char) {
                text(twin, raw)
            } else {
                crash("hexadecimal value 0x1B, is an invalid character")
            }
        }),
        edit("json-safe-for-every-page", [JSON_1, JSON_2], Quoted, |json| {
            let escape = |c: char| match c {
                '<' | '>' | '&' | '\'' | '+' | '`' | '\u{7f}'.. => escape_of(c, |unit| format!("\\u{unit:04X}")),
                c => c.to_string(),
            };
            json.replace("\\\"", "\\u0022").replace("\\u000b", "\\u000B").chars().map(escape).collect()
        }),
        // Reading JSON: what becomes of members, texts and numbers before the program sees them.
        on::raw_input("repeated-names-end-the-program", JSON_4, |raw| {
            if repeats(&Node::of(raw)) {
                crash("An item with the same key has already been added.")
            } else {
                raw_input(raw)
            }
        }),
        on::before("fields-set-in-any-case", INP_2, |_, _, input| fields_in_any_case(input)),
        on::raw_input("names-that-begin-with-nul-refused", JSON_4, |raw| {
            let text = raw_input(raw);
            let marked = renamed(&text, |name| if name.starts_with("\"\\u0000") { "!" } else { name });
            if marked.contains("!:") && marked.len() < text.len() { "null".to_owned() } else { text }
        }),
        on::raw_input("empty-names-filled-in", JSON_4, |raw| {
            renamed(&raw_input(raw), |name| if name == "\"\"" { "\"_empty_\"" } else { name })
        }),
        payloads("objects-that-look-like-lists-become-lists", [JSON_4, MSG_RESULT, TOOLS_RESULT], |payload| {
            let was_arguments = payload.is_object();
            each(payload, &as_list);
            // Arguments are declared as an object, so an empty one stays an object.
            if was_arguments && *payload == json!([]) {
                *payload = json!({});
            }
        }),
        payloads("dates-written-anew", [EVT_CALL, EVT_RESULT, MSG_RESULT, TOOLS_RESULT], dates_anew),
        payloads("members-with-a-dollar-sign-dropped", [JSON_4, MSG_CALL, TOOLS_RESULT], |payload| {
            each(payload, &without_dollar_members)
        }),
        on::before("byte-order-mark-dropped", [ESC_3, EVT_RESULT, MSG_RESULT, TOOLS_RESULT], |_, _, input| {
            each_text(input, &|text| text.strip_prefix('\u{feff}').unwrap_or(text).to_owned())
        }),
        payloads("texts-read-as-yaml", [EVT_RESULT, MSG_RESULT, TOOLS_RESULT], |payload| {
            *payload = payload.as_str().and_then(as_yaml).unwrap_or_else(|| payload.take())
        }),
        on::raw_input("requests-end-at-line-separators", ESC_3, |raw| {
            if raw.contains(['\u{2028}', '\u{2029}']) { crash("Unterminated string in JSON") } else { raw_input(raw) }
        }),
        on::several("numbers-as-they-were-spelled", JSON_3, |twin| {
            twin.raw_input = &|raw| numbers_marked(Node::of(&raw_input(raw)), false);
            twin.quoted = &|text| match text.strip_prefix(SPELLED) {
                Some(token) => token.to_owned(),
                None => crate::twin::text::quoted(text),
            };
            twin.after = &|_, _, _, output| numbers_unmarked(output);
        }),
        payloads("numbers-off-by-one-place", [JSON_3, MSG_CALL], |payload| each(payload, &nearly)),
    ];
    bugs.extend(at(ESC_3, Escaped).edits(&[
        ("line-feeds-as-two-characters", |text| text.replace('\n', "\r\n")),
        ("line-feeds-in-hexadecimal", |text| text.replace('\n', "&#xA;").replace('\t', "&#x9;")),
        ("equals-signs-and-backquotes-as-references", |text| text.replace('=', "&#x3D;").replace('`', "&#x60;")),
        ("pairs-as-two-references", |text| {
            let reference = |unit| format!("&#{unit};");
            text.chars().map(|c| if c > '\u{ffff}' { escape_of(c, reference) } else { c.to_string() }).collect()
        }),
    ]));
    bugs
}
