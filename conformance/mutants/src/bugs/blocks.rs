//! Work in blocks, and checks of only a sample: what goes wrong at a border, at the last position, or after the sample. These were written before
//! there was a case for any of them.

use crate::plants::TwinSite::{Given, Prefix, Raw};
use crate::plants::prelude::*;
use crate::twin::context::{answers, joins, system};
use crate::twin::document::{calls, join};
use crate::twin::text::{attribute, members, quoted, string, text};
use crate::universal::operators::{bytes_in_pieces, units_in_pieces};

/// Does not escape some characters, given the text, a position in bytes, and the character there.
fn missed(name: FaultName, terms: impl IntoTerms, misses: impl Fn(&str, usize, char) -> bool + Lasting) -> Planted {
    on::text(name, terms, move |twin, raw| {
        let escape = |c: char| text(twin, c.encode_utf8(&mut [0; 4]));
        raw.char_indices().map(|(at, c)| if misses(raw, at, c) { c.to_string() } else { escape(c) }).collect()
    })
}

/// Does not escape the last byte of each full block.
fn last_of(size: usize, name: FaultName) -> Planted {
    missed(name, ESC_1, move |_, at, c| at % size == size - 1 && c.is_ascii_punctuation())
}

/// Escapes nothing in texts that are longer than a sample in which there is no markup.
fn sampled(name: FaultName, longest: usize, sample: fn(&str) -> Vec<u8>) -> Planted {
    on::text(name, ESC_1, move |twin, raw| {
        let is_found = sample(raw).into_iter().any(|c| b"&<>\"'".contains(&c));
        if is_found || raw.len() <= longest { text(twin, raw) } else { raw.to_owned() }
    })
}

/// Without the last character of a text of exactly so many bytes.
fn exactly(text: &str, size: usize) -> String {
    let last = text.chars().next_back().map_or(0, char::len_utf8);
    if text.len() == size { text[..size - last].to_owned() } else { text.to_owned() }
}

/// Writes the members of objects that have more than so many in another order.
fn sorted_from(size: usize, name: FaultName) -> Planted {
    inside(name, JSON_4, move |value| {
        value.as_object_mut().filter(|members| members.len() > size).into_iter().for_each(Map::sort_keys);
    })
}

/// Changes the lists whose first element is such.
fn lists(name: FaultName, change: fn(&Value, &mut Value)) -> Planted {
    inside(name, EVT_CALL, move |value| {
        if let Some(elements) = value.as_array_mut()
            && let Some(first) = elements.first().cloned()
        {
            elements.iter_mut().for_each(|element| change(&first, element));
        }
    })
}

pub(super) fn bugs() -> Vec<Planted> {
    let by_size = [
        at(ESC_3, Raw).sized("pairs-split-at-{n}-units", units_in_pieces, &[8, 256, 8_192, 65_536]),
        at(ESC_3, Raw).sized("characters-split-at-{n}-bytes", bytes_in_pieces, &[16, 1_024, 4_096, 65_536]),
        at(ESC_3, Raw).sized("texts-of-exactly-{n}-bytes-lose-their-last", exactly, &[128, 1_024, 65_536]),
    ];
    let others = vec![
        last_of(32, "last-byte-of-32-not-escaped"),
        last_of(512, "last-byte-of-512-not-escaped"),
        last_of(16_384, "last-byte-of-16384-not-escaped"),
        missed("apostrophes-raw-behind-the-last-full-block-of-16", ESC_1, |raw, at, c| {
            c == '\'' && raw.len() > 16 && at >= raw.len() / 16 * 16
        }),
        missed("apostrophes-raw-in-full-blocks-of-16", ESC_1, |raw, at, c| c == '\'' && at < raw.len() / 16 * 16),
        missed("second-markup-in-a-block-of-8-missed", ESC_1, |raw, at, c| {
            let before = &raw.as_bytes()[at / 8 * 8..at];
            c == '>' && at + 1 < raw.len() && before.iter().any(|c| b"&>\"'".contains(c))
        }),
        missed("last-character-of-a-long-text-not-escaped", ESC_1, |raw, at, c| {
            raw.len() > 64 && at + 1 == raw.len() && c.is_ascii_punctuation()
        }),
        sampled("markup-looked-for-in-the-first-1024-bytes", 1_024, |raw| raw.bytes().take(1_024).collect()),
        sampled("markup-looked-for-in-every-fourth-place-of-long-texts", 128, |raw| raw.bytes().step_by(4).collect()),
        missed("forbidden-character-in-the-last-place-kept", ESC_FORBIDDEN, |raw, at, c| {
            at > 0 && at + c.len_utf8() == raw.len() && c < ' ' && !matches!(c, '\t' | '\n' | '\r')
        }),
        missed("carriage-return-at-the-end-of-a-block-of-64-raw", hardened(ESC_CR), |_, at, c| {
            c == '\r' && at % 64 == 63
        }),
        missed("carriage-return-at-the-end-of-a-block-of-4096-raw", hardened(ESC_CR), |_, at, c| {
            c == '\r' && at % 4_096 == 4_095
        }),
        on::attribute("last-character-of-attributes-not-escaped", ATT_ESCAPED, |twin, raw| {
            let mut chars = raw.chars();
            match chars.next_back() {
                Some(last @ ('&' | '\'' | '>')) if raw.len() > 1 => attribute(twin, chars.as_str()) + &last.to_string(),
                _ => attribute(twin, raw),
            }
        }),
        on::attribute("last-byte-of-64-of-attributes-not-escaped", ATT_ESCAPED, |twin, raw| {
            let escape = |c: char| attribute(twin, c.encode_utf8(&mut [0; 4]));
            let one = |(at, c): (usize, char)| if at % 64 == 63 && c.is_ascii() { c.to_string() } else { escape(c) };
            raw.char_indices().map(one).collect()
        }),
        on::quoted("json-quotes-at-the-end-of-a-block-of-16-raw", JSON_2, |raw| {
            let inner = |c: char| {
                let quoted = quoted(c.encode_utf8(&mut [0; 4]));
                quoted[1..quoted.len() - 1].to_owned()
            };
            let one = |(at, c): (usize, char)| if at % 16 == 15 && c == '"' { "\"".to_owned() } else { inner(c) };
            format!("\"{}\"", raw.char_indices().map(one).collect::<String>())
        }),
        on::quoted("json-control-characters-raw-behind-32-bytes", JSON_2, |raw| {
            let found = raw.char_indices().find(|&(at, c)| at >= 32 && c == '\n');
            found.map_or_else(
                || quoted(raw),
                |(at, _)| {
                    let [before, behind] = [&raw[..at], &raw[at + 1..]].map(quoted);
                    format!("{}\n{}", before.trim_end_matches('"'), behind.trim_start_matches('"'))
                },
            )
        }),
        // Names are looked up among the calls of the same block.
        on::name("names-looked-up-in-blocks-of-256-events", ATT_NAME, |events, position, id| {
            let start = position / 256 * 256;
            calls(&events[start..position]).rev().find(|&(call, _)| call == id).map(|(_, name)| name.to_owned())
        }),
        sorted_from(4, "objects-of-more-than-4-members-sorted"),
        sorted_from(8, "objects-of-more-than-8-members-sorted"),
        sorted_from(32, "objects-of-more-than-32-members-sorted"),
        on::members("index-keys-in-order-only-among-the-first-16-members", JSON_4, |object| {
            if object.len() > 16 { object.iter().collect() } else { members(object) }
        }),
        on::summarized("comma-lost-behind-16-summarized-numbers", ATT_SUMMARIZED, |iterations| {
            iterations.chunks(16).map(|chunk| join(chunk, ",")).collect()
        }),
        on::summarized("last-summarized-number-of-many-lost", ATT_SUMMARIZED, |iterations| {
            join(&iterations[..iterations.len() - usize::from(iterations.len() > 8)], ",")
        }),
        lists("lists-typed-by-their-first-number", |first, element| {
            if (first.is_u64() || first.is_i64()) && element.is_f64() {
                #[allow(clippy::cast_possible_truncation, reason = "that is the bug")]
                let whole = element.as_f64().unwrap_or_default() as i64;
                *element = whole.into();
            }
        }),
        lists("lists-typed-by-their-first-text", |first, element| {
            if first.is_string() && (element.is_number() || element.is_boolean()) {
                *element = element.to_string().into();
            }
        }),
        lists("records-with-the-members-of-the-first", |first, element| {
            if let (Some(first), Some(members)) = (first.as_object(), element.as_object_mut()) {
                members.retain(|key, _| first.contains_key(key));
            }
        }),
        on::string("nulls-behind-the-eighth-element-in-words", literal(STR_2), |twin, value| match value {
            Value::Array(elements) if elements.len() > 8 => {
                let (first, rest) = elements.split_at(8);
                let rest: Vec<String> = rest.iter().map(|element| (twin.string)(twin, element)).collect();
                format!("{},{}", string(twin, &first.to_vec().into()), rest.join(","))
            }
            _ => string(twin, value),
        }),
        on::answers("results-found-within-128-events", hardened(MSG_PAIRED), |events, position| {
            answers(events, position).filter(|call| position - call < 128)
        }),
        on::joins("groups-of-eight-calls-at-most", hardened(MSG_GROUP), |group, next| {
            group.len() < 8 && joins(group, next)
        }),
        on::system("instructions-split-at-1024-bytes", CTX_SYSTEM, |summaries, instructions, mode| {
            system(summaries, &bytes_in_pieces(instructions, 1_024), mode)
        }),
        edit("user-texts-split-at-64-units-in-messages", MSG_USER, Given(Op::Messages, "user"), |text| {
            units_in_pieces(text, 64)
        }),
        edit("results-split-at-8192-bytes-in-messages", MSG_RESULT, Given(Op::Messages, "tool_result"), |text| {
            bytes_in_pieces(text, 8_192)
        }),
        on::tool_message("results-of-tools-split-at-2048-bytes", TOOLS_RESULT, |call, content| {
            Message::tool(&call.id, bytes_in_pieces(&content, 2_048))
        }),
        edit("prefix-split-at-16-units", DOC_6, Prefix, |prefix| units_in_pieces(prefix, 16)),
        given("every-third-event-of-many-keeps-its-blanks-alone", DOC_2, Op::Serialize, |events| {
            for text in events.iter_mut().skip(2).step_by(3).filter_map(text_of) {
                *text = text.trim_end_matches(' ').to_owned();
            }
        }),
        on::before_serialize("event-at-place-128-in-the-iteration-of-the-one-before", ATT_ITERATION, |_, input| {
            let before = listed(input, "events").get(127).map(|event| event["iteration"].clone());
            if let (Some(before), Some(event)) = (before.filter(Value::is_number), input.pointer_mut("/events/128")) {
                event["iteration"] = before;
            }
        }),
    ];
    by_size.into_iter().chain([others]).flatten().collect()
}
