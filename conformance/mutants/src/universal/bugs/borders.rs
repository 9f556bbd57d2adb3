//! Readers that work piece by piece, and lose what lies on a border.

use super::{
    change_text, each, family, is, on_arguments, on_failure, on_given, on_response, on_structured, on_text_result,
};
use crate::agent::{Agent, calls};
use crate::planted::Planted;
use serde_json::Value;
use threadspec_golden::clause;
use threadspec_judge::universal::halves;

const RESPONSE: &[&str] = &[clause::AGENT_RESPONSE];
const RESULT: &[&str] = &[clause::AGENT_RESULT];
const TEXT: &[&str] = &[clause::AGENT_TEXT];

/// The text, with U+FFFD for each character that lies on a border between pieces of so many bytes.
fn decoded_in_pieces(text: &str, size: usize) -> String {
    text.char_indices()
        .map(|(at, c)| if at / size == (at + c.len_utf8() - 1) / size { c } else { char::REPLACEMENT_CHARACTER })
        .collect()
}

/// The same for pieces of UTF-16.
fn units_in_pieces(text: &str, size: usize) -> String {
    let mut at = 0;
    let lies = |c: char| {
        let begin = at;
        at += c.len_utf16();
        if begin / size == (at - 1) / size { c } else { '?' }
    };
    text.chars().map(lies).collect()
}

/// The text without the character before each border, if it is one of these.
fn lost_at_borders(text: &str, size: usize, is_lost: fn(char) -> bool) -> String {
    text.char_indices().filter(|(at, c)| (at + c.len_utf8()) % size != 0 || !is_lost(*c)).map(|(_, c)| c).collect()
}

/// JSON text without the characters whose escapes a border cuts.
fn escapes_in_pieces(text: &str, size: usize) -> String {
    let mut at = 0;
    let whole = |c: &char| {
        let begin = at;
        at += match c {
            '"' | '\\' | '\n' | '\r' | '\t' => 2,
            '\0'..='\x1f' => 6,
            c => c.len_utf8(),
        };
        c.len_utf8() > 1 || begin / size == (at - 1) / size
    };
    text.chars().filter(whole).collect()
}

/// The text without its last character, if its length is a multiple of this.
fn full_block_cut(text: &str, size: usize) -> String {
    let mut out = text.to_owned();
    if !text.is_empty() && text.chars().count().is_multiple_of(size) {
        out.pop();
    }
    out
}

fn in_texts_of(
    agent: &mut Agent,
    types: &'static [&'static str],
    edit: impl Fn(&str) -> String + Send + Sync + 'static,
) {
    on_given(agent, move |list| {
        list.iter_mut().filter(|message| is(message, types)).for_each(|message| change_text(message, &edit))
    });
}

fn in_argument_texts(agent: &mut Agent, edit: impl Fn(&str) -> String + Send + Sync + 'static) {
    on_arguments(agent, move |args| {
        each(args, &|value| {
            if let Value::String(text) = value {
                *text = edit(text);
            }
        });
    });
}

pub(super) fn bugs() -> Vec<Planted> {
    let mut bugs: Vec<Planted> =
        family("results-decoded-in-pieces-of-{n}-bytes", TEXT, &[1_024, 4_096, 8_192, 16_384], |agent, size| {
            on_text_result(agent, move |text| decoded_in_pieces(text, size));
        })
        .collect();
    bugs.extend(family("results-in-pieces-of-{n}-units", TEXT, &[1_024, 4_096, 16_384], |agent, size| {
        on_text_result(agent, move |text| units_in_pieces(text, size))
    }));
    bugs.extend(family("escapes-of-results-in-pieces-of-{n}-bytes", TEXT, &[1_024, 4_096, 16_384], |agent, size| {
        on_text_result(agent, move |text| escapes_in_pieces(text, size))
    }));
    bugs.extend(family("line-ends-at-borders-of-{n}-bytes-lost", TEXT, &[4_096, 16_384], |agent, size| {
        on_text_result(agent, move |text| lost_at_borders(text, size, |c| c == '\r'))
    }));
    bugs.extend(family("results-of-a-multiple-of-{n}-characters-cut", RESULT, &[7, 100, 255], |agent, size| {
        on_text_result(agent, move |text| full_block_cut(text, size))
    }));
    bugs.extend(family("texts-of-exactly-{n}-characters-cut", TEXT, &[1_000, 1_024], |agent, size| {
        on_text_result(agent, move |text| full_block_cut(text, if text.is_ascii() { usize::MAX } else { size }));
    }));
    bugs.extend(family("emoji-behind-{n}-characters-lost", TEXT, &[63, 1_023, 8_191], |agent, size| {
        on_text_result(agent, move |text| {
            text.chars().enumerate().filter(|(at, c)| *at != size || u32::from(*c) < 0x1_0000).map(|(_, c)| c).collect()
        });
    }));
    bugs.extend(family("arguments-decoded-in-pieces-of-{n}-bytes", TEXT, &[256, 1_024], |agent, size| {
        in_argument_texts(agent, move |text| decoded_in_pieces(text, size))
    }));
    bugs.extend(family("escapes-of-arguments-in-pieces-of-{n}-bytes", TEXT, &[256, 1_024], |agent, size| {
        in_argument_texts(agent, move |text| escapes_in_pieces(text, size))
    }));
    bugs.extend(family("arguments-of-exactly-{n}-characters-cut", TEXT, &[64, 512], |agent, size| {
        in_argument_texts(agent, move |text| {
            if text.chars().count() == size { full_block_cut(text, size) } else { text.to_owned() }
        });
    }));
    bugs.extend(family("names-of-arguments-decoded-in-pieces-of-{n}-bytes", RESPONSE, &[8, 16], |agent, size| {
        on_arguments(agent, move |args| {
            if let Some(members) = args.as_object_mut() {
                *members = std::mem::take(members)
                    .into_iter()
                    .map(|(name, value)| (decoded_in_pieces(&name, size), value))
                    .collect();
            }
        });
    }));
    bugs.extend(family("texts-beside-calls-decoded-in-pieces-of-{n}-bytes", TEXT, &[1_024, 4_096], |agent, size| {
        on_response(agent, move |_, message| {
            if !calls(message).is_empty() {
                change_text(message, |text| decoded_in_pieces(text, size));
            }
        });
    }));
    bugs.extend(family("questions-decoded-in-pieces-of-{n}-bytes", TEXT, &[1_024, 4_096], |agent, size| {
        in_texts_of(agent, &["human"], move |text| decoded_in_pieces(text, size))
    }));
    bugs.extend(family("instructions-decoded-in-pieces-of-{n}-bytes", TEXT, &[256, 1_024], |agent, size| {
        in_texts_of(agent, &["system"], move |text| decoded_in_pieces(text, size))
    }));
    bugs.extend(family("structured-results-in-pieces-of-{n}-bytes", TEXT, &[1_024, 4_096], |agent, size| {
        on_structured(agent, move |value| decoded_in_pieces(&halves::escaped(&value.to_string()), size).into());
    }));
    bugs.extend(family(
        "errors-decoded-in-pieces-of-{n}-bytes",
        &[clause::AGENT_FAILURE_TOLD],
        &[256, 1_024],
        |agent, size| {
            on_failure(agent, move |error| format!("The tool failed: {}", decoded_in_pieces(error, size)));
        },
    ));
    bugs
}
