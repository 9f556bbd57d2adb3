//! Cutting, escaping and replacing in texts, and writing them.

use super::super::{Planted, bug, crash, hardened};
use super::each_text;
use crate::twin::text::{attribute, quoted, text};
use threadspec::is_xml_char;
use threadspec_golden::clause;

/// `"\n".join(text.splitlines())` in Python.
fn split_lines(text: &str) -> String {
    let ends = ['\n', '\u{b}', '\u{c}', '\u{1c}', '\u{1d}', '\u{1e}', '\u{85}', '\u{2028}', '\u{2029}'];
    let text = text.replace("\r\n", "\n").replace('\r', "\n").replace(ends, "\n");
    text.strip_suffix('\n').unwrap_or(&text).to_owned()
}

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

/// What a writer does that knows only the Western European character set.
fn in_latin_1(text: &str) -> String {
    text.chars().map(|c| if c > '\u{ff}' { '?' } else { c }).collect()
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

/// The escape of a character, for each of its UTF-16 units.
fn escape_of(c: char, hex: fn(u16) -> String) -> String {
    c.encode_utf16(&mut [0; 2]).iter().map(|&unit| hex(unit)).collect()
}

const EVERYWHERE: &[&str] = &[clause::ESC_3, clause::MSG_RESULT, clause::TOOLS_RESULT];

/// A bug that changes each text of an input.
macro_rules! on_texts {
    ($name:literal, $change:path) => {
        bug($name, EVERYWHERE, |twin| twin.before = |_, _, input| each_text(input, $change))
    };
}

pub(in super::super) const BUGS: &[Planted] = &[
    on_texts!("texts-split-into-lines-and-joined", split_lines),
    on_texts!("texts-split-at-line-feeds-and-joined", split_and_joined),
    on_texts!("texts-as-replacements-in-javascript", as_javascripts_replacement),
    on_texts!("texts-as-replacements-in-java", as_javas_replacement),
    on_texts!("texts-as-formats-in-go", as_gos_format),
    on_texts!("texts-as-formats-in-python", as_pythons_format),
    on_texts!("texts-decoded-as-urls", url_decoded),
    on_texts!("texts-with-entities-read", unescaped),
    on_texts!("texts-without-tags", without_tags),
    on_texts!("white-space-joined-by-a-pattern", white_space_joined),
    on_texts!("texts-in-latin-1", in_latin_1),
    bug("character-with-its-mark-not-escaped", &[clause::ESC_1, clause::ATT_ESCAPED], |twin| {
        twin.text = |twin, raw| by_characters(raw, |c| text(twin, c));
        twin.attribute = |twin, raw| by_characters(raw, |c| attribute(twin, c));
    }),
    bug("forbidden-characters-end-the-program", &[clause::ESC_FORBIDDEN], |twin| {
        twin.text = |twin, raw| {
            if !raw.chars().all(is_xml_char) {
                crash("hexadecimal value 0x1B, is an invalid character");
            }
            text(twin, raw)
        };
    }),
    bug("pairs-as-two-references", &[clause::ESC_3], |twin| {
        twin.text = |twin, raw| {
            let reference = |c: char| {
                if c > '\u{ffff}' { escape_of(c, |unit| format!("&#{unit};")) } else { c.to_string() }
            };
            text(twin, raw).chars().map(reference).collect()
        };
    }),
    bug("line-feeds-as-two-characters", &[clause::ESC_3], |twin| {
        twin.text = |twin, raw| text(twin, raw).replace('\n', "\r\n");
    }),
    bug("line-feeds-in-hexadecimal", &[clause::ESC_3], |twin| {
        twin.text = |twin, raw| text(twin, raw).replace('\n', "&#xA;").replace('\t', "&#x9;");
    }),
    hardened("white-space-in-attributes-in-hexadecimal", &[clause::ATT_WHITESPACE], |twin| {
        twin.attribute = |twin, raw| {
            attribute(twin, raw).replace("&#9;", "&#x9;").replace("&#10;", "&#xA;").replace("&#13;", "&#xD;")
        };
    }),
    hardened("tab-in-attributes-with-two-digits", &[clause::ATT_WHITESPACE], |twin| {
        twin.attribute = |twin, raw| attribute(twin, raw).replace("&#9;", "&#09;");
    }),
    bug("equals-signs-and-backquotes-as-references", &[clause::ESC_3], |twin| {
        twin.text = |twin, raw| text(twin, raw).replace('=', "&#x3D;").replace('`', "&#x60;");
    }),
    bug("json-safe-for-every-page", &[clause::JSON_1, clause::JSON_2], |twin| {
        twin.quoted = |raw| {
            let escape = |c: char| match c {
                '<' | '>' | '&' | '\'' | '+' | '`' | '\u{7f}'.. => escape_of(c, |unit| format!("\\u{unit:04X}")),
                c => c.to_string(),
            };
            quoted(raw).replace("\\\"", "\\u0022").replace("\\u000b", "\\u000B").chars().map(escape).collect()
        };
    }),
    bug("json-safe-for-html-and-its-attributes", &[clause::JSON_1], |twin| {
        twin.quoted = |raw| {
            let escape = |c: char| match c {
                '<' | '>' | '&' | '\'' | '=' | '\u{2028}' | '\u{2029}' => escape_of(c, |unit| format!("\\u{unit:04x}")),
                c => c.to_string(),
            };
            quoted(raw).chars().map(escape).collect()
        };
    }),
];
