//! YAML as its documents, or as the exchanges of a cassette one after the other: what recorders of HTTP write.

use crate::input;
use saphyr_parser::{Event, Parser, ScalarStyle, Tag};
use serde_json::{Map, Number, Value};
use std::collections::HashMap;
use threadspec_judge::text::of_base64;

/// Lists whose elements are records of their own: of vcrpy and go-vcr, and of Ruby's vcr.
const LISTS: [&str; 2] = ["interactions", "http_interactions"];
/// Values that are deeper are not read.
const DEEPEST: usize = 128;
/// So many values may be repeated by aliases.
const MOST_REPEATED: usize = 1 << 20;

/// Returns whether the first line may be one of YAML.
pub(in super::super) fn may_be(head: &[u8]) -> bool {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    [&b"#"[..], b"---", b"%YAML", b"- "].iter().any(|start| head.starts_with(start)) || name_length(head).is_some()
}

/// Returns whether it is a cassette, whatever its recorder wrote into it: one that cannot be read is reported in one sentence.
pub(in super::super) fn is_cassette(head: &[u8]) -> bool {
    let mut lines = head.split(|&byte| byte == b'\n').take(20);
    lines.any(|line| {
        LISTS.iter().any(|list| line.strip_prefix(list.as_bytes()).is_some_and(|rest| rest.starts_with(b":")))
    })
}

/// Returns whether a file is YAML, by its beginning: every line that is not indented is a member, an element or a comment.
pub(in super::super) fn is_so(head: &[u8], is_whole: bool) -> bool {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let Some(end) = (if is_whole { Some(head.len()) } else { memchr::memrchr(b'\n', head) }) else { return false };
    let (mut members, mut nested) = (0, false);
    for line in head[..end].split(|&byte| byte == b'\n') {
        let text = line.trim_ascii();
        if text.is_empty() || text.starts_with(b"#") || matches!(text, b"---" | b"...") || text.starts_with(b"%YAML") {
            continue;
        }
        if line.starts_with(b" ") {
            nested |= members > 0;
            continue;
        }
        let element = text.strip_prefix(b"- ").map(<[u8]>::trim_ascii_start);
        nested |= element.is_some();
        let Some(length) = name_length(element.unwrap_or(text)) else {
            // A list may have texts as elements.
            if element.is_some() {
                continue;
            }
            return false;
        };
        // These are the fields of a recorded stream, too.
        let is_field = element.is_none() && matches!(&text[..length], b"data" | b"event" | b"id" | b"retry");
        if is_field && members == 0 {
            return false;
        }
        members += 1;
    }
    members > 0 && nested
}

/// How long the name of a member is with which a line begins.
fn name_length(text: &[u8]) -> Option<usize> {
    let is_of_name =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'/' | b'"' | b'\'');
    let length = text.iter().take_while(|byte| is_of_name(byte)).count();
    let is_member = text.get(length) == Some(&b':') && text.get(length + 1).is_none_or(u8::is_ascii_whitespace);
    (length > 0 && is_member).then_some(length)
}

/// The node that is being read: a list, or an object with the name of its next member.
enum OpenNode {
    List(Vec<Value>),
    Object(Map<String, Value>, Option<String>),
}

/// Gives each document to `each` with its line, of a cassette each exchange.
///
/// # Errors
///
/// Why it is no YAML, and in which line.
pub(in super::super) fn values(text: &str, each: &mut dyn FnMut(Value, usize)) -> Result<(), (String, usize)> {
    let mut given = 0;
    let read = strict_values(text, &mut |value, line| {
        given += 1;
        each(value, line);
    });
    match read {
        Err((why, _)) if why.contains("in quoted scalar") => {
            let (indented, mut again) = (indented(text), 0);
            strict_values(&indented, &mut |value, line| {
                again += 1;
                if again > given {
                    each(value, line);
                }
            })
        }
        read => read,
    }
}

/// Indents the further lines of quoted texts, which vcrpy's parser takes wherever they begin: white space there is one space.
fn indented(text: &str) -> String {
    /// More than what is quoted is indented.
    const INDENT: &str = "                                ";
    let mut indented = String::with_capacity(text.len() + text.len() / 8);
    let mut quote = None;
    for line in text.split_inclusive('\n') {
        let mut rest = line;
        if quote.is_some() {
            indented.push_str(INDENT);
        } else {
            // A text is quoted if the value of a member or an element begins with the quote.
            let value = line.trim_start().trim_start_matches("- ");
            let value = value.split_once(": ").map_or(value, |(_, value)| value).trim_start();
            quote = value.bytes().next().filter(|first| matches!(first, b'"' | b'\''));
            rest = if quote.is_some() { &value[1..] } else { "" };
        }
        quote = quote.filter(|quote| !is_closed(rest, *quote));
        indented.push_str(line);
    }
    indented
}

/// Returns whether a quoted text ends in this line.
fn is_closed(line: &str, quote: u8) -> bool {
    let mut bytes = line.bytes().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' if quote == b'"' => _ = bytes.next(),
            _ if byte == quote && quote == b'\'' && bytes.peek() == Some(&quote) => _ = bytes.next(),
            _ if byte == quote => return true,
            _ => {}
        }
    }
    false
}

fn strict_values(text: &str, each: &mut dyn FnMut(Value, usize)) -> Result<(), (String, usize)> {
    let mut parser = Parser::new_from_str(text);
    // What is open, each with its anchor and its line.
    let mut open: Vec<(OpenNode, usize, usize)> = Vec::new();
    let (mut anchors, mut repeated) = (HashMap::<usize, Value>::new(), 0);
    while let Some(event) = parser.next_event() {
        let (event, span) = event.map_err(|error| (error.info().to_owned(), error.marker().line()))?;
        let line = span.start.line();
        let (value, anchor, line) = match event {
            Event::Scalar(text, style, anchor, tag) => (scalar(text.into_owned(), style, tag.as_deref()), anchor, line),
            Event::Alias(anchor) => {
                let value = anchors.get(&anchor).cloned().unwrap_or_default();
                repeated += crate::order::weight(&value);
                if repeated > MOST_REPEATED {
                    return Err(("it repeats itself too often".to_owned(), line));
                }
                (value, 0, line)
            }
            Event::SequenceStart(anchor, _) => {
                open.push((OpenNode::List(Vec::new()), anchor, line));
                continue;
            }
            Event::MappingStart(anchor, _) => {
                open.push((OpenNode::Object(Map::new(), None), anchor, line));
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                Some((OpenNode::List(elements), anchor, line)) => (Value::Array(elements), anchor, line),
                Some((OpenNode::Object(members, _), anchor, line)) => (Value::Object(members), anchor, line),
                None => continue,
            },
            _ => continue,
        };
        if open.len() > DEEPEST {
            return Err(("it is nested too deeply".to_owned(), line));
        }
        if anchor > 0 {
            anchors.insert(anchor, value.clone());
        }
        match open.as_mut_slice() {
            [] if value.is_object() && LISTS.iter().any(|name| value[*name].is_array()) => {}
            [] => each(value, line),
            [(OpenNode::Object(_, Some(name)), ..), (OpenNode::List(_), ..)] if LISTS.contains(&&**name) => {
                each(value, line);
            }
            [.., (OpenNode::List(elements), ..)] => elements.push(value),
            [.., (OpenNode::Object(members, name), ..)] => match name.take() {
                Some(name) => _ = members.insert(name, value),
                None => *name = Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned)),
            },
        }
    }
    Ok(())
}

/// A value that is neither a list nor an object.
fn scalar(text: String, style: ScalarStyle, tag: Option<&Tag>) -> Value {
    if tag.is_some_and(|tag| tag.suffix == "binary") {
        return of_base64(&text).map_or(Value::String(text), |bytes| input::text_of(&bytes).into());
    }
    if style != ScalarStyle::Plain || tag.is_some_and(|tag| tag.suffix == "str") {
        return Value::String(text);
    }
    match &*text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => true.into(),
        "false" | "False" | "FALSE" => false.into(),
        _ => {
            let is_number = text.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '-' | '+' | '.'));
            let number = if is_number { text.trim_start_matches('+').parse::<Number>().ok() } else { None };
            number.map_or(Value::String(text), Value::Number)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(text: &str) -> Result<Vec<(Value, usize)>, (String, usize)> {
        let mut found = Vec::new();
        values(text, &mut |value, line| found.push((value, line)))?;
        Ok(found)
    }

    #[test]
    fn only_yaml_is_taken_for_it() {
        for text in [
            "interactions:\n- request:\n    body: '{}'\n",
            "---\nversion: 1\ninteractions:\n  - id: 0\n",
            "---\nhttp_interactions:\n- request:\n",
            "# a comment\n- name: x\n  run: y\n",
        ] {
            assert!(is_so(text.as_bytes(), true), "{text}");
        }
        for text in [
            "data: {\"a\": 1}\n\n",
            "event: a\ndata: {}\n",
            "id: 1\ndata:\n  x\n",
            "{\"a\": 1}\n",
            "[INFO] x: y\n  z\n",
            "INFO: started\n{\"a\": 1}\n",
            "a: b\n",
            "Some text.\n  More of it: here.\n",
        ] {
            assert!(!is_so(text.as_bytes(), true), "{text}");
        }
    }

    #[test]
    fn a_cassette_is_its_exchanges_and_other_yaml_its_documents() {
        let cassette = "version: 1\ninteractions:\n- request:\n    body: null\n- a: &x [1, '1', 1.5, yes]\n  b: *x\n";
        let list = json!([1, "1", 1.5, "yes"]);
        assert_eq!(
            read(cassette),
            Ok(vec![(json!({"request": {"body": null}}), 3), (json!({"a": list, "b": list}), 5)])
        );
        assert_eq!(read("a: 1\n---\n- b\n"), Ok(vec![(json!({"a": 1}), 1), (json!(["b"]), 3)]));
        assert_eq!(read("a: !!binary |\n  eyJi\n  IjogMX0=\n"), Ok(vec![(json!({"a": "{\"b\": 1}"}), 1)]));
        assert_eq!(read("a: b\n\u{20}c: [\n").map_err(|(_, line)| line), Err(2));
    }

    #[test]
    fn quoted_texts_go_on_wherever_their_lines_begin() {
        let text =
            "interactions:\n- a: 1\n- body: '{\"a\":\n  ''x'',\n  \"b\": 2}'\n  other: \"x\\\"\n  y\"\n- c: it's\n";
        let expected =
            [json!({"a": 1}), json!({"body": "{\"a\": 'x', \"b\": 2}", "other": "x\" y"}), json!({"c": "it's"})];
        let found: Vec<Value> = read(text).unwrap_or_default().into_iter().map(|(value, _)| value).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn aliases_of_aliases_take_no_memory() {
        let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..12 {
            let before = format!("*a{}, ", level - 1).repeat(10);
            text += &format!("a{level}: &a{level} [{before}]\n");
        }
        assert!(read(&text).is_err_and(|(why, _)| why.contains("too often")));
    }
}
