//! Writes events and comments.

/// An event: its name, if it has one, and its data, each line of which becomes a line. `crlf` ends lines with CR LF instead of LF.
pub fn event(name: Option<&str>, data: &str, crlf: bool) -> Vec<u8> {
    let end = end_of_line(crlf);
    let mut bytes = Vec::with_capacity(data.len() + 64);
    if let Some(name) = name {
        line(&mut bytes, "event: ", name, end);
    }
    // What ends a line inside the data must not end the field.
    for part in data.split('\n') {
        line(&mut bytes, "data: ", part.strip_suffix('\r').unwrap_or(part), end);
    }
    bytes.extend(end.as_bytes());
    bytes
}

/// A comment, which no reader shows.
pub fn comment(text: &str, crlf: bool) -> Vec<u8> {
    let end = end_of_line(crlf);
    let mut bytes = Vec::new();
    text.lines().for_each(|text| line(&mut bytes, ": ", text, end));
    bytes.extend(end.as_bytes());
    bytes
}

fn line(bytes: &mut Vec<u8>, field: &str, value: &str, end: &str) {
    bytes.extend(field.as_bytes());
    bytes.extend(value.as_bytes());
    bytes.extend(end.as_bytes());
}

fn end_of_line(crlf: bool) -> &'static str {
    if crlf { "\r\n" } else { "\n" }
}
