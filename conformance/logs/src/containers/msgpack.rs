//! Values in msgpack, in which LangGraph keeps its checkpoints, as JSON.

use serde_json::{Map, Value, json};

const DEEPEST: usize = 100;

/// The value that all of these bytes are.
pub(super) fn read(bytes: &[u8]) -> Option<Value> {
    let mut rest = bytes;
    let value = value(&mut rest, DEEPEST)?;
    rest.is_empty().then_some(value)
}

fn take<'a>(rest: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, behind) = rest.split_at_checked(length)?;
    *rest = behind;
    Some(taken)
}

fn number(rest: &mut &[u8], length: usize) -> Option<u64> {
    Some(take(rest, length)?.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

fn length(rest: &mut &[u8], bytes: usize) -> Option<usize> {
    usize::try_from(number(rest, bytes)?).ok()
}

fn value(rest: &mut &[u8], depth: usize) -> Option<Value> {
    let depth = depth.checked_sub(1)?;
    let kind = *take(rest, 1)?.first()?;
    let signed = |number: u64, bytes: u32| (number << (64 - 8 * bytes)).cast_signed() >> (64 - 8 * bytes);
    Some(match kind {
        0..=0x7f => json!(kind),
        0xe0.. => json!(kind.cast_signed()),
        0x80..=0x8f => map(rest, usize::from(kind & 15), depth)?,
        0x90..=0x9f => list(rest, usize::from(kind & 15), depth)?,
        0xa0..=0xbf => text(rest, usize::from(kind & 31))?,
        0xc0 => Value::Null,
        0xc2 | 0xc3 => json!(kind == 0xc3),
        0xc4..=0xc6 => {
            let length = length(rest, 1 << (kind - 0xc4))?;
            std::str::from_utf8(take(rest, length)?).map_or(Value::Null, |text| json!(text))
        }
        0xc7..=0xc9 => {
            let length = length(rest, 1 << (kind - 0xc7))?;
            extension(rest, length, depth)?
        }
        0xca => json!(f32::from_bits(u32::try_from(number(rest, 4)?).ok()?)),
        0xcb => json!(f64::from_bits(number(rest, 8)?)),
        0xcc..=0xcf => json!(number(rest, 1 << (kind - 0xcc))?),
        0xd0..=0xd3 => {
            let bytes = 1 << (kind - 0xd0);
            json!(signed(number(rest, bytes)?, u32::try_from(bytes).ok()?))
        }
        0xd4..=0xd8 => extension(rest, 1 << (kind - 0xd4), depth)?,
        0xd9..=0xdb => {
            let length = length(rest, 1 << (kind - 0xd9))?;
            text(rest, length)?
        }
        0xdc | 0xdd => {
            let length = length(rest, 2 << (kind - 0xdc))?;
            list(rest, length, depth)?
        }
        0xde | 0xdf => {
            let length = length(rest, 2 << (kind - 0xde))?;
            map(rest, length, depth)?
        }
        0xc1 => return None,
    })
}

fn text(rest: &mut &[u8], length: usize) -> Option<Value> {
    std::str::from_utf8(take(rest, length)?).ok().map(|text| json!(text))
}

fn list(rest: &mut &[u8], length: usize, depth: usize) -> Option<Value> {
    // An element has a byte at least, so that no length makes anything large.
    (length <= rest.len())
        .then(|| (0..length).map(|_| value(rest, depth)).collect::<Option<Vec<_>>>())?
        .map(Value::Array)
}

fn map(rest: &mut &[u8], length: usize, depth: usize) -> Option<Value> {
    let mut members = Map::new();
    for _ in 0..length {
        let name = match value(rest, depth)? {
            Value::String(name) => name,
            other => other.to_string(),
        };
        members.insert(name, value(rest, depth)?);
    }
    Some(members.into())
}

/// LangGraph's extensions: an object of Python as its module, its name and its members, which here has the form of LangChain's `dumpd`.
fn extension(rest: &mut &[u8], length: usize, depth: usize) -> Option<Value> {
    take(rest, 1)?;
    let inner = read_at(take(rest, length)?, depth);
    Some(match inner {
        Some(Value::Array(parts))
            if parts.len() >= 3 && parts[0].is_string() && parts[1].is_string() && parts[2].is_object() =>
        {
            json!({"lc": 1, "type": "constructor", "id": [parts[0], parts[1]], "kwargs": parts[2]})
        }
        Some(Value::Array(mut parts)) if parts.len() >= 3 => parts.swap_remove(2),
        _ => Value::Null,
    })
}

fn read_at(mut bytes: &[u8], depth: usize) -> Option<Value> {
    value(&mut bytes, depth)
}
