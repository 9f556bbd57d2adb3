//! Flows as mitmproxy writes them (`-w`): values with their length before and their type behind them.

use crate::input;
use serde_json::{Map, Value, json};
use std::io::{self, Read};

/// A flow that is longer is not read.
const LONGEST: usize = 256 << 20;
const DEEPEST: usize = 20;

/// Returns whether a file is a recording of mitmproxy.
pub(in super::super) fn is_so(head: &[u8]) -> bool {
    let digits = head.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let start = &head[..head.len().min(4000)];
    digits > 0
        && head.get(digits) == Some(&b':')
        && memchr::memmem::find(start, b":7:").is_some() | memchr::memmem::find(start, b"websocket").is_some()
}

/// The next flow as its request and its answer; `None` at the end.
pub(in super::super) fn next(input: &mut dyn Read) -> io::Result<Option<Value>> {
    let broken = |what: &str| io::Error::new(io::ErrorKind::InvalidData, format!("the recording of mitmproxy {what}"));
    let mut length = String::new();
    loop {
        let mut byte = [0];
        if input.read(&mut byte)? == 0 {
            return if length.is_empty() { Ok(None) } else { Err(broken("is cut off")) };
        }
        match byte[0] {
            b':' => break,
            digit @ b'0'..=b'9' if length.len() < 12 => length.push(char::from(digit)),
            _ => return Err(broken("has something else than a flow")),
        }
    }
    let length: usize = length
        .parse()
        .ok()
        .filter(|length| *length <= LONGEST)
        .ok_or_else(|| broken("has a flow of more than 256 MB"))?;
    let mut bytes = Vec::new();
    input.take(length as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() != length + 1 {
        return Err(broken("is cut off"));
    }
    let flow =
        value(bytes[length], &bytes[..length], DEEPEST).ok_or_else(|| broken("has a flow that cannot be read"))?;
    let (request, response) = (&flow["request"], &flow["response"]);
    let host = request["host"].as_str().unwrap_or_default();
    let url = format!("{host}{}", request["path"].as_str().unwrap_or_default());
    let headers = &request["headers"];
    Ok(Some(
        json!({"mitmproxy": {"url": url, "headers": headers, "request": request["content"], "response": response["content"], "status": response["status_code"]}}),
    ))
}

fn value(kind: u8, bytes: &[u8], depth: usize) -> Option<Value> {
    let depth = depth.checked_sub(1)?;
    let text = || String::from_utf8_lossy(bytes).into_owned();
    Some(match kind {
        b',' => json!(input::text_of(bytes)),
        b';' => json!(text()),
        b'#' => json!(text().parse::<i64>().ok()?),
        b'^' => json!(text().parse::<f64>().ok()?),
        b'!' => json!(bytes == b"true"),
        b'~' => Value::Null,
        b']' => Value::Array(elements(bytes, depth)?),
        b'}' => {
            let mut members = Map::new();
            for pair in elements(bytes, depth)?.chunks_exact(2) {
                members.insert(pair[0].as_str()?.to_owned(), pair[1].clone());
            }
            members.into()
        }
        _ => return None,
    })
}

fn elements(mut bytes: &[u8], depth: usize) -> Option<Vec<Value>> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let colon = memchr::memchr(b':', bytes)?;
        let length: usize = std::str::from_utf8(&bytes[..colon]).ok()?.parse().ok()?;
        let end = (colon + 1).checked_add(length)?;
        let kind = *bytes.get(end)?;
        found.push(value(kind, &bytes[colon + 1..end], depth)?);
        bytes = &bytes[end + 1..];
    }
    Some(found)
}
