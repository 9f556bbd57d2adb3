//! Reads an answer that came in pieces: a recorded stream of events, a list of chunks, an event stream of AWS.

use super::message::{list, word};
use super::said::{LoggedAnswer, answer, places_in, thinking_of};
use crate::input;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;
use threadspec::oracle::Api;
use threadspec_apis::AnswerReader;
use threadspec_apis::sse::{SseEvent, SseParser};
use threadspec_judge::text::of_base64;

/// How the first header of an event of AWS is written: its length, its name, and the type of its value.
const AWS_EVENT: &str = "\u{b}:event-type\u{7}";
/// How its last one is written.
const AWS_MESSAGE: &str = ":message-type";

/// Reads the answer in a text, if that is a recorded stream. Bytes are written as hex digits, if they are no text.
pub(super) fn in_text(text: &str) -> Option<LoggedAnswer> {
    if text.starts_with("000000")
        && let Some(bytes) = hex(text)
    {
        return in_text(&input::text_of(&bytes));
    }
    if text.contains(AWS_EVENT) {
        return of_aws(text);
    }
    if is_stream(text) { of_events(text) } else { None }
}

/// Returns whether a text is a recorded stream of events.
fn is_stream(text: &str) -> bool {
    let start = text.trim_start_matches('\u{feff}').trim_start();
    ["data:", "event:", ": ", "id:"].iter().any(|field| start.starts_with(field))
}

/// Returns whether a value is a piece of an answer, and no answer.
pub(super) fn is_chunk(value: &Value) -> bool {
    value["object"] == "chat.completion.chunk"
        || value["choices"][0]["delta"].is_object()
        || word(value, "type").starts_with("response.")
        || value["type"] == "message_start"
        || value["candidates"].is_array()
        || value["messageStart"].is_object()
}

/// Reads the answer of which these are the chunks.
pub(super) fn in_chunks(chunks: &[Value]) -> Option<LoggedAnswer> {
    let first = chunks.first()?;
    if first["candidates"].is_array() {
        return of_gemini(chunks);
    }
    if first["messageStart"].is_object() {
        return of_converse(chunks.iter().filter_map(|chunk| chunk.as_object()?.iter().next()));
    }
    let mut text = String::new();
    for chunk in chunks {
        if let Some(kind) = chunk["type"].as_str() {
            _ = writeln!(text, "event: {kind}");
        }
        _ = writeln!(text, "data: {chunk}\n");
    }
    of_events(&text)
}

/// Reads a recorded stream of events.
fn of_events(text: &str) -> Option<LoggedAnswer> {
    let mut parser = SseParser::default();
    let mut events = parser.push(text.as_bytes());
    events.extend(parser.push(b"\n\n"));
    let value = |event: &SseEvent| threadspec::read_json(&event.data).ok();
    let first = events.iter().find_map(value)?;
    let api = match () {
        () if first["candidates"].is_array() => {
            return of_gemini(&events.iter().filter_map(value).collect::<Vec<_>>());
        }
        () if first["choices"].is_array() => Api::OpenAiChat,
        () if word(&first, "type").starts_with("response.") => Api::OpenAiResponses,
        () => Api::Anthropic,
    };
    let blocks = if api == Api::Anthropic { blocks_of(events.iter().filter_map(value)) } else { Value::Null };
    let places = places_in(&blocks).0.into_iter().map(|(_, place)| place).collect();
    let last = events.last().filter(|_| api == Api::OpenAiResponses).and_then(value).unwrap_or_default();
    let mut reader = AnswerReader::new(api);
    for event in events {
        // A stream that cannot be read to its end has said what it said.
        if reader.push(&event).is_err() {
            break;
        }
    }
    let said = reader.said();
    let tells_cache = text.contains("_tokens_details") || text.contains("cache_read_input_tokens");
    let usage = said.answer.usage;
    let tokens = (usage.input > 0 && tells_cache).then_some((usage.input, usage.cached));
    let is_over = api == Api::Anthropic && said.has_ended();
    let thinking = if is_over { thinking_of(&said.answer) } else { Vec::new() };
    let calls = said.came_whole().calls.into_iter().map(|call| (call.id, call.name, call.arguments)).collect();
    let text = if said.has_ended() { said.answer.text } else { String::new() };
    Some(LoggedAnswer { api: Some(api), calls, text, places, tokens, thinking, response: last["response"].clone() })
}

/// Returns the calls of a stream of Anthropic's as blocks, and each piece of its text as one.
fn blocks_of(events: impl Iterator<Item = Value>) -> Value {
    let block = |event: Value| match word(&event, "type") {
        "content_block_start" => Some(event["content_block"].clone()),
        "content_block_delta" => Some(json!({"type": "text", "text": event["delta"]["text"]})),
        _ => None,
    };
    events.filter_map(block).collect()
}

/// Reads the chunks of Gemini: the parts of all of them are those of the answer.
fn of_gemini(chunks: &[Value]) -> Option<LoggedAnswer> {
    let parts = chunks.iter().flat_map(|chunk| list(&chunk["candidates"][0]["content"]["parts"]));
    let content = json!({"role": "model", "parts": parts.collect::<Vec<_>>()});
    answer(&json!({"candidates": [{"content": content}]}))
}

/// Reads an event stream of AWS as text: its lengths and checksums are passed over, its headers and JSON are read.
fn of_aws(text: &str) -> Option<LoggedAnswer> {
    let events: Vec<(String, Value)> = text.split(AWS_EVENT).skip(1).filter_map(aws_event).collect();
    // A model in its own words is wrapped in bytes.
    let inner = events.iter().filter_map(|(_, event)| {
        let bytes = of_base64(event["bytes"].as_str()?)?;
        threadspec::read_json(&String::from_utf8(bytes).ok()?).ok()
    });
    let inner: Vec<Value> = inner.collect();
    if inner.is_empty() {
        return of_converse(events.iter().map(|(name, event)| (name, event)));
    }
    in_chunks(&inner)
}

/// Reads the name and the JSON of an event of AWS.
fn aws_event(text: &str) -> Option<(String, Value)> {
    // Two bytes are the length of the name.
    let name = text.get(2..)?;
    let name = &name[..name.find(|one: char| !one.is_ascii_alphabetic())?];
    let payload = text.split_once(AWS_MESSAGE)?.1;
    let payload = &payload[payload.find('{')?..];
    let value = serde_json::Deserializer::from_str(payload).into_iter().next()?.ok()?;
    Some((name.to_owned(), value))
}

/// Puts the events of Converse together.
fn of_converse<'e>(events: impl Iterator<Item = (&'e String, &'e Value)>) -> Option<LoggedAnswer> {
    let mut blocks: BTreeMap<u64, Value> = BTreeMap::new();
    let (mut has_begun, mut input) = (false, BTreeMap::<u64, String>::new());
    for (name, event) in events {
        let number = event["contentBlockIndex"].as_u64().unwrap_or_default();
        let block = match &**name {
            "messageStart" => {
                has_begun = true;
                continue;
            }
            "contentBlockStart" => &event["start"],
            "contentBlockDelta" => &event["delta"],
            _ => continue,
        };
        let call = &block["toolUse"];
        if let Some(piece) = call["input"].as_str() {
            input.entry(number).or_default().push_str(piece);
        } else if call.is_object() {
            blocks.insert(number, json!({"toolUse": call}));
        } else if let Some(piece) = block["text"].as_str() {
            let known = blocks.entry(number).or_insert_with(|| json!({"text": ""}));
            known["text"] = format!("{}{piece}", word(known, "text")).into();
        }
    }
    for (number, text) in input {
        let input = threadspec::read_json(&text).unwrap_or_else(|_| json!({}));
        if let Some(block) = blocks.get_mut(&number).filter(|block| block["toolUse"].is_object()) {
            block["toolUse"]["input"] = input;
        }
    }
    let content: Vec<Value> = blocks.into_values().collect();
    has_begun.then(|| answer(&json!({"output": {"message": {"role": "assistant", "content": content}}})))?
}

/// Reads bytes that are written as hex digits.
fn hex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let pairs = text.trim_ascii_end().as_bytes().chunks(2);
    pairs.map(|pair| Some(digit(*pair.first()?)? << 4 | digit(*pair.get(1)?)?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An event as AWS frames it: two lengths, a checksum, three headers, the payload, a checksum.
    fn frame(name: &str, payload: &Value) -> Vec<u8> {
        let mut headers = Vec::new();
        for (header, value) in
            [(":event-type", name), (":content-type", "application/json"), (":message-type", "event")]
        {
            headers.push(u8::try_from(header.len()).unwrap_or_default());
            headers.extend(header.bytes());
            headers.extend([7, 0, u8::try_from(value.len()).unwrap_or_default()]);
            headers.extend(value.bytes());
        }
        let payload = payload.to_string();
        let length = u32::try_from(16 + headers.len() + payload.len()).unwrap_or_default();
        let mut bytes = length.to_be_bytes().to_vec();
        bytes.extend(u32::try_from(headers.len()).unwrap_or_default().to_be_bytes());
        bytes.extend([0xff, 0xfe, 0x7b, 0x80]);
        bytes.extend(headers);
        bytes.extend(payload.bytes());
        bytes.extend([0x7b, 0xff, 0x7d, 0x90]);
        bytes
    }

    fn calls(answer: Option<LoggedAnswer>) -> Vec<(String, String, String)> {
        answer.map(|answer| answer.calls).unwrap_or_default()
    }

    fn of(id: &str, name: &str, arguments: &str) -> (String, String, String) {
        (id.to_owned(), name.to_owned(), arguments.to_owned())
    }

    #[test]
    fn the_events_of_converse_are_one_answer() {
        let events = [
            ("messageStart", json!({"role": "assistant"})),
            ("contentBlockDelta", json!({"contentBlockIndex": 0, "delta": {"text": "I \u{e9}"}})),
            (
                "contentBlockStart",
                json!({"contentBlockIndex": 1, "start": {"toolUse": {"toolUseId": "t1", "name": "f"}}}),
            ),
            ("contentBlockDelta", json!({"contentBlockIndex": 1, "delta": {"toolUse": {"input": "{\"a\":"}}})),
            ("contentBlockDelta", json!({"contentBlockIndex": 1, "delta": {"toolUse": {"input": "1}"}}})),
            ("messageStop", json!({"stopReason": "tool_use"})),
        ];
        let bytes: Vec<u8> = events.iter().flat_map(|(name, event)| frame(name, event)).collect();
        let expected = [of("t1", "f", "{\"a\":1}")];
        assert_eq!(calls(in_text(&input::text_of(&bytes))), expected);
        let digits = bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat();
        assert_eq!(calls(in_text(&digits)), expected);
        // What was cut off has said what it said.
        assert_eq!(calls(in_text(&input::text_of(&bytes[..bytes.len() - 90]))), expected);
        let chunks: Vec<Value> = events.iter().map(|(name, event)| json!({*name: event})).collect();
        assert_eq!(calls(in_chunks(&chunks)), expected);
    }

    #[test]
    fn chunks_in_bytes_are_those_of_the_model() {
        let chunk = |json: &Value| {
            let text = json.to_string();
            let mut written = String::new();
            for bytes in text.as_bytes().chunks(3) {
                let bits =
                    bytes.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - bytes.len()));
                for place in 0..=bytes.len() {
                    let six = bits >> (18 - 6 * place) & 63;
                    let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
                    written.push(char::from(letters[six as usize]));
                }
            }
            frame("chunk", &json!({"bytes": written}))
        };
        let bytes: Vec<u8> = [
            json!({"type": "message_start", "message": {"id": "m", "type": "message", "role": "assistant", "content": [], "model": "c", "usage": {"input_tokens": 1, "output_tokens": 1}}}),
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "t1", "name": "f", "input": {}}}),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": "{}"}}),
            json!({"type": "content_block_stop", "index": 0}),
            json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 2}}),
            json!({"type": "message_stop"}),
        ]
        .iter()
        .flat_map(chunk)
        .collect();
        assert_eq!(calls(in_text(&input::text_of(&bytes))), [of("t1", "f", "{}")]);
    }

    #[test]
    fn chunks_of_gemini_are_joined() {
        let chunk = |part: Value| json!({"candidates": [{"content": {"role": "model", "parts": [part]}}]});
        let chunks = [
            chunk(json!({"text": "I "})),
            chunk(json!({"functionCall": {"name": "f", "args": {"a": 1}}})),
            chunk(json!({"functionCall": {"name": "f", "args": {}}})),
        ];
        let expected = [of("f#1", "f", "{\"a\":1}"), of("f#2", "f", "{}")];
        assert_eq!(calls(in_chunks(&chunks)), expected);
        let stream = chunks.iter().map(|chunk| format!("data: {chunk}\r\n\r\n")).collect::<Vec<_>>().concat();
        assert_eq!(calls(in_text(&stream)), expected);
    }
}
