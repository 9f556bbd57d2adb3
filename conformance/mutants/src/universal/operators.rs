//! What faults do with texts, values and lists: each operator once. `n` is a size.

use crate::agent::taps::each;
use crate::agent::text;
use crate::wire::cut;
use serde_json::{Value, json};

/// The first characters, and nothing behind.
pub(crate) fn first(text: &str, n: usize) -> String {
    cut(text, n)
}

/// The first and the last characters, half as many each, of a text that has more.
pub(super) fn middle_cut(text: &str, n: usize) -> String {
    let length = text.chars().count();
    if length <= n {
        return text.to_owned();
    }
    let behind: String = text.chars().skip(length - n / 2).collect();
    format!("{}\n[…]\n{behind}", cut(text, n / 2))
}

pub(super) fn first_lines(text: &str, n: usize) -> String {
    text.split_inclusive('\n').take(n).collect()
}

/// ASCII with a line feed behind so many characters of a line.
pub(super) fn wrapped(text: &str, n: usize) -> String {
    let wrap = |line: &str| line.as_bytes().chunks(n).map(String::from_utf8_lossy).collect::<Vec<_>>().join("\n");
    if text.is_ascii() { text.split('\n').map(wrap).collect::<Vec<_>>().join("\n") } else { text.to_owned() }
}

/// A single line of ASCII, with one line feed.
pub(super) fn wrapped_once(text: &str, n: usize) -> String {
    let is_long = text.is_ascii() && text.len() > n && !text.contains('\n');
    if is_long { format!("{}\n{}", &text[..n], &text[n..]) } else { text.to_owned() }
}

/// U+FFFD for each character that lies on a border between pieces of so many bytes.
pub(crate) fn bytes_in_pieces(text: &str, n: usize) -> String {
    let lies = |at: usize, c: char| at / n != (at + c.len_utf8() - 1) / n;
    text.char_indices().map(|(at, c)| if lies(at, c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// A question mark for each character that lies on a border between pieces of so many units of UTF-16.
pub(crate) fn units_in_pieces(text: &str, n: usize) -> String {
    let mut at = 0;
    let lies = |c: char| {
        let begin = at;
        at += c.len_utf16();
        if begin / n == (at - 1) / n { c } else { '?' }
    };
    text.chars().map(lies).collect()
}

/// Without the characters whose escapes in JSON lie on a border.
pub(super) fn escapes_in_pieces(text: &str, n: usize) -> String {
    let mut at = 0;
    let whole = |c: &char| {
        let begin = at;
        at += match c {
            '"' | '\\' | '\n' | '\r' | '\t' => 2,
            '\0'..='\x1f' => 6,
            c => c.len_utf8(),
        };
        c.len_utf8() > 1 || begin / n == (at - 1) / n
    };
    text.chars().filter(whole).collect()
}

/// Loses the pieces that are nothing but white space.
pub(super) fn without_blank_pieces(text: &str, size: usize) -> String {
    let all: Vec<char> = text.chars().collect();
    let pieces = all.chunks(size).filter(|piece| piece.len() < size || piece.iter().any(|c| !c.is_whitespace()));
    pieces.flatten().collect()
}

/// Arguments that arrive as pieces of JSON text: a backslash at the end of a piece is lost, with what it escapes.
pub(super) fn escapes_split(args: &mut Value, size: usize) {
    let json = args.to_string();
    let mut out = String::new();
    let mut chars = json.chars().enumerate();
    while let Some((at, c)) = chars.next() {
        if c == '\\' && at % size == size - 1 {
            chars.next();
        } else if c == '\\' {
            out.push(c);
            out.extend(chars.next().map(|(_, c)| c));
        } else {
            out.push(c);
        }
    }
    if let Ok(read) = serde_json::from_str(&out) {
        *args = read;
    }
}

/// Without the carriage return before each border.
pub(super) fn returns_lost(text: &str, n: usize) -> String {
    text.char_indices().filter(|(at, c)| (at + 1) % n != 0 || *c != '\r').map(|(_, c)| c).collect()
}

/// Without its last character, if it has a multiple of so many.
pub(super) fn multiple_cut(text: &str, n: usize) -> String {
    let is_full = !text.is_empty() && text.chars().count().is_multiple_of(n);
    if is_full { cut(text, text.chars().count() - 1) } else { text.to_owned() }
}

/// The same for a text that is not ASCII.
pub(super) fn multiple_beyond_ascii_cut(text: &str, n: usize) -> String {
    if text.is_ascii() { text.to_owned() } else { multiple_cut(text, n) }
}

/// Without its last character, if it has exactly so many.
pub(super) fn exact_cut(text: &str, n: usize) -> String {
    if text.chars().count() == n { multiple_cut(text, n) } else { text.to_owned() }
}

/// Without a character beyond the basic plane behind so many characters.
pub(super) fn emoji_lost(text: &str, n: usize) -> String {
    text.chars().enumerate().filter(|(at, c)| *at != n || u32::from(*c) < 0x1_0000).map(|(_, c)| c).collect()
}

pub(super) fn template(text: &str) -> String {
    text.replace("{{", "{").replace("}}", "}").replace("{name}", "").replace("${y}", "")
}

pub(super) fn without_tags(text: &str) -> String {
    text.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text)).collect()
}

pub(super) fn without_tokens(text: &str) -> String {
    ["<|im_end|>", "<|im_start|>", "<|endoftext|>", "[INST]", "[/INST]", "</s>", "</tool_call>"]
        .iter()
        .fold(text.to_owned(), |text, token| text.replace(token, ""))
}

pub(super) fn entities_read(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

pub(super) fn printable(text: &str) -> String {
    text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t' | '\r')).collect()
}

pub(super) fn without_colours(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once('m').map_or(part, |(_, text)| text))
}

pub(super) fn visible(text: &str) -> String {
    text.replace(['\u{200b}', '\u{200d}', '\u{202e}', '\u{feff}', '\u{2028}', '\u{2060}'], "")
}

pub(super) fn unix_lines(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

pub(crate) fn up_to_nul(text: &str) -> String {
    text.split('\0').next().unwrap_or_default().to_owned()
}

pub(crate) fn ascii(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii() { c } else { '?' }).collect()
}

pub(crate) fn latin_1(text: &str) -> String {
    text.chars().map(|c| if c > '\u{ff}' { '?' } else { c }).collect()
}

pub(super) fn basic_plane(text: &str) -> String {
    text.chars().map(|c| if u32::from(c) > 0xffff { '\u{fffd}' } else { c }).collect()
}

pub(super) fn backslashes_read(text: &str) -> String {
    text.replace("\\n", "\n").replace("\\t", "\t").replace("\\\\", "\\")
}

pub(crate) fn trimmed(text: &str) -> String {
    text.trim().to_owned()
}

pub(super) fn trimmed_behind(text: &str) -> String {
    text.trim_end().to_owned()
}

pub(super) fn spaces_joined(text: &str) -> String {
    let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if joined.is_empty() { text.to_owned() } else { joined }
}

pub(super) fn white_space_emptied(text: &str) -> String {
    if text.trim().is_empty() && text.contains('\t') { " ".to_owned() } else { text.to_owned() }
}

pub(super) fn composed(text: &str) -> String {
    text.replace("e\u{301}", "é").replace("\u{1112}\u{1161}\u{11ab}", "한")
}

pub(super) fn without_fences(text: &str) -> String {
    text.replace("```json\n", "").replace("```", "")
}

pub(super) fn home_expanded(text: &str) -> String {
    text.replace("$HOME", "/root").replace('~', "/root")
}

pub(super) fn tabs_as_spaces(text: &str) -> String {
    text.replace('\t', "    ")
}

/// `"\n".join(text.splitlines())` in Python.
pub(crate) fn split_lines(text: &str) -> String {
    let ends = ['\n', '\u{b}', '\u{c}', '\u{1c}', '\u{1d}', '\u{1e}', '\u{85}', '\u{2028}', '\u{2029}'];
    let text = text.replace("\r\n", "\n").replace('\r', "\n").replace(ends, "\n");
    text.strip_suffix('\n').unwrap_or(&text).to_owned()
}

/// A text as the second argument of JavaScript's `replace`, where it takes the place of `{result}`.
pub(super) fn javascripts_replacement(text: &str) -> String {
    text.replace("$$", "\0").replace("$&", "{result}").replace("$`", "").replace("$'", "").replace('\0', "$")
}

/// A text as the second argument of Java's `replaceAll`, which drops backslashes.
pub(super) fn javas_replacement(text: &str) -> String {
    let mut is_protected = false;
    let keeps = |c: &char| {
        is_protected = *c == '\\' && !is_protected;
        !is_protected
    };
    text.chars().filter(keeps).collect()
}

/// A text as a format of Go, without operands.
pub(super) fn gos_format(text: &str) -> String {
    text.replace("%%", "\0").replace("%s", "%!s(MISSING)").replace("%d", "%!d(MISSING)").replace('\0', "%")
}

/// `decodeURIComponent`, for characters of one byte.
pub(super) fn url_decoded(text: &str) -> String {
    let mut parts = text.split('%');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        let code = part.get(..2).and_then(|hex| u8::from_str_radix(hex, 16).ok()).filter(u8::is_ascii);
        match code {
            Some(code) => text + &char::from(code).to_string() + &part[2..],
            None => text + "%" + part,
        }
    })
}

fn without_thoughts(text: &str) -> String {
    let mut parts = text.split("<think>");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once("</think>").map_or("", |(_, behind)| behind))
}

/// Each word that looks like a secret is masked.
fn without_secrets(text: &str) -> String {
    let is_secret = |word: &&str| ["sk-", "ghp_", "AKIA", "password="].iter().any(|mark| word.contains(mark));
    text.split(' ').map(|word| if is_secret(&word) { "[REDACTED]" } else { word }).collect::<Vec<_>>().join(" ")
}

fn without_blank_lines(text: &str) -> String {
    text.split('\n').filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

/// Lists what programs do with odd texts wherever these are, each with the end of its name, and whether AGENT-TEXT lists such texts.
#[rustfmt::skip]
pub(crate) const HAZARDS: [(&str, fn(&str) -> String, bool); 15] = [
    ("as-templates", template, true),
    ("trimmed", trimmed, true),
    ("without-tags", without_tags, true),
    ("without-control-characters", printable, true),
    ("with-entities-read", entities_read, true),
    ("as-replacements-in-javascript", javascripts_replacement, true),
    ("with-escapes-read", backslashes_read, true),
    ("composed", composed, true),
    ("in-ascii-alone", ascii, true),
    ("without-secrets", without_secrets, false),
    ("without-thoughts", without_thoughts, true),
    ("without-a-mark-in-front", |text| text.replace("[x] ", ""), true),
    ("with-files-for-mentions", |text| text.replace("@README.md", "# Readme"), false),
    ("without-fences", without_fences, true),
    ("without-blank-lines", without_blank_lines, true),
];

/// As Swift compares: canonically equivalent texts are equal.
pub(crate) fn canonical(name: &str) -> String {
    [("e\u{301}", "\u{e9}"), ("A\u{30a}", "\u{c5}"), ("\u{212b}", "\u{c5}"), ("u\u{308}", "\u{fc}")]
        .iter()
        .fold(name.to_owned(), |name, (from, to)| name.replace(from, to))
}

/// As ICU compares: some characters have no weight.
pub(crate) fn weighty(name: &str) -> String {
    name.replace(['\u{ad}', '\u{200b}', '\u{200d}', '\u{2060}', '\u{feff}', '\0'], "")
}

/// As PHP's `==` compares two numeric strings.
pub(crate) fn numeric(name: &str) -> String {
    match name.trim_matches([' ', '\t', '\n', '\r']).parse::<f64>() {
        Ok(number) if number.is_finite() && name.contains(|c: char| c.is_ascii_digit()) => number.to_string(),
        _ => name.to_owned(),
    }
}

/// The first elements of each array inside.
pub(super) fn first_elements(value: &mut Value, n: usize) {
    each(value, &|value| {
        if let Value::Array(elements) = value {
            elements.truncate(n);
        }
    });
}

/// The first members of each object inside.
pub(super) fn first_members(value: &mut Value, n: usize) {
    each(value, &|value| own_members(value, n));
}

/// The first members of an object.
pub(super) fn own_members(value: &mut Value, n: usize) {
    if let Value::Object(members) = value {
        *members = std::mem::take(members).into_iter().take(n).collect();
    }
}

/// A placeholder where a value is nested more deeply.
pub(super) fn pruned(value: &mut Value, n: usize) {
    match value {
        Value::Array(_) | Value::Object(_) if n == 0 => *value = "[Object]".into(),
        Value::Array(elements) => elements.iter_mut().for_each(|element| pruned(element, n - 1)),
        Value::Object(members) => members.values_mut().for_each(|member| pruned(member, n - 1)),
        _ => {}
    }
}

/// A value with the members of its objects in the order of their names.
pub(crate) fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().map(|(name, value)| (name.clone(), sorted(value))).collect();
            members.sort_by(|one, other| one.0.cmp(&other.0));
            Value::Object(members.into_iter().collect())
        }
        Value::Array(elements) => elements.iter().map(sorted).collect(),
        other => other.clone(),
    }
}

/// The last elements.
pub(super) fn last(list: &mut Vec<Value>, n: usize) {
    list.drain(..list.len().saturating_sub(n));
}

/// The elements behind so many come first.
#[expect(clippy::ptr_arg, reason = "an operator of lists may make them shorter")]
pub(super) fn rotated(list: &mut Vec<Value>, n: usize) {
    let middle = n.min(list.len());
    list.rotate_left(middle);
}

/// Without the first one, if there are exactly so many.
pub(super) fn full_loses_its_first(list: &mut Vec<Value>, n: usize) {
    if list.len() == n {
        list.remove(0);
    }
}

/// Without every n-th.
pub(super) fn nth_lost(list: &mut Vec<Value>, n: usize) {
    let mut index = 0;
    list.retain(|_| {
        index += 1;
        index % n != 0
    });
}

/// All texts in the first message.
pub(super) fn joined(list: &mut Vec<Value>) {
    let all: Vec<&str> = list.iter().map(|message| text(&message["content"])).collect();
    let all = all.join("\n");
    list.truncate(1);
    list[0]["content"] = all.into();
}

/// Behind so many, texts begin again with the first one.
#[expect(clippy::ptr_arg, reason = "an operator of lists may make them shorter")]
pub(super) fn wrapped_around(list: &mut Vec<Value>, n: usize) {
    for index in n..list.len() {
        list[index]["content"] = list[index - n]["content"].clone();
    }
}

/// A placeholder for the texts behind so many characters.
pub(super) fn behind_a_budget(list: &mut Vec<Value>, n: usize) {
    let mut length = 0;
    for message in list {
        length += text(&message["content"]).len();
        if length > n {
            message["content"] = "[too long]".into();
        }
    }
}

/// Without calls and their answers, but for the last messages.
pub(super) fn without_old_rounds(list: &mut Vec<Value>, n: usize) {
    let end = list.len().saturating_sub(n);
    let mut index = 0;
    list.retain(|message| {
        index += 1;
        index > end || message["type"] != "tool" && message["tool_calls"].is_null()
    });
}

/// A date as Json.NET writes it again: without the zeros at the end of its seconds.
pub(super) fn date_anew(value: &mut Value) {
    let anew = value.as_str().and_then(|text| {
        let (seconds, fraction) = text.strip_suffix('Z')?.split_once('.')?;
        let shape: String = seconds.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
        let fraction = (shape == "0000-00-00T00:00:00").then(|| fraction.trim_end_matches('0'))?;
        Some(if fraction.is_empty() { format!("{seconds}Z") } else { format!("{seconds}.{fraction}Z") })
    });
    if let Some(anew) = anew {
        *value = anew.into();
    }
}

pub(crate) fn without_dollar_members(value: &mut Value) {
    if let Value::Object(members) = value {
        members.retain(|name, _| !["$id", "$ref", "$type", "$values"].contains(&&**name));
    }
}

/// What an object with the keys 0, 1, 2 … becomes in a language whose maps are lists, too.
pub(crate) fn as_list(value: &mut Value) {
    if let Value::Object(members) = value
        && members.keys().enumerate().all(|(index, key)| *key == index.to_string())
    {
        *value = members.values().cloned().collect();
    }
}

/// The neighbour of a number of seventeen digits.
pub(super) fn nearly(value: &mut Value) {
    if let Some(double) = value.as_f64().filter(|_| value.is_f64())
        && format!("{double:e}").split('e').next().unwrap_or_default().len() >= 18
    {
        *value = json!(f64::from_bits(double.to_bits() - 1));
    }
}

/// The place of a key in a `HashMap` of Java: the bucket, in a table that is never more than three quarters full.
pub(crate) fn bucket(key: &str, members: usize) -> u32 {
    let hash = key.encode_utf16().fold(0_i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)));
    let hash = hash.cast_unsigned();
    let mut size = 16_u32;
    while members > (size as usize) / 4 * 3 {
        size *= 2;
    }
    (hash ^ (hash >> 16)) & (size - 1)
}
