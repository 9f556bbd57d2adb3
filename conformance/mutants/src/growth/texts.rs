//! Families about texts: their length, blocks of characters, white space.

use super::data::change_texts;
use super::{family, hardened, in_places};
use crate::planted::{Family, Kind, Planted};
use crate::twin::text;
use threadspec_judge::corpus::growth::Quantity;

/// Texts that are changed.
const fn changing(name: &'static str, quantity: Quantity, change: fn(&str, usize) -> String) -> Planted {
    let planted = family(name, quantity, |twin| {
        twin.before = |twin, _, input| change_texts(input, twin.member, &|text| (twin.change)(text, twin.n));
    });
    match planted.kind {
        Kind::Family(family) => Planted { kind: Kind::Family(Family { change: Some(change), ..family }), ..planted },
        _ => planted,
    }
}

/// Texts that go wrong from n characters on.
const fn texts(name: &'static str, change: fn(&str, usize) -> String) -> Planted {
    changing(name, Quantity::Text, change)
}

/// Texts that go wrong at a border between blocks of n.
const fn blocks(name: &'static str, change: fn(&str, usize) -> String) -> Planted {
    changing(name, Quantity::Blocks, change)
}

/// Texts whose white space is changed.
const fn white_space(name: &'static str, change: fn(&str, usize) -> String) -> Planted {
    changing(name, Quantity::WhiteSpace, change)
}

/// The text without one character, if its length matches.
fn without(text: &str, position: usize, is_such: impl Fn(usize) -> bool) -> String {
    let loses = is_such(text.chars().count());
    text.chars().enumerate().filter(|&(at, _)| !loses || at != position).map(|(_, c)| c).collect()
}

/// Whether one of the first `n` characters needs escaping.
fn has_special(text: &str, n: usize) -> bool {
    text.chars().take(n).any(|c| "<>&\"'".contains(c))
}

fn is_white(c: char) -> bool {
    c.is_whitespace() || c == '\u{feff}'
}

pub(super) const FAMILIES: &[Planted] = &[
    changing("id-cut", Quantity::Id, |text, n| text.chars().take(n).collect()),
    texts("text-cut", |text, n| text.chars().take(n).collect()),
    texts("text-cut-in-bytes", |text, n| {
        text.char_indices().take_while(|(at, c)| at + c.len_utf8() <= n).map(|(_, c)| c).collect()
    }),
    texts("only-the-end-of-a-text", |text, n| text.chars().skip(text.chars().count().saturating_sub(n)).collect()),
    texts("text-elided", |text, n| {
        let length = text.chars().count();
        if length <= n {
            return text.to_owned();
        }
        let (start, end) = (text.chars().take(n / 2), text.chars().skip(length - n / 2));
        start.chain("…".chars()).chain(end).collect()
    }),
    changing("last-character-of-n-lost", Quantity::Lengths, |text, n| {
        text.chars().take(if text.chars().count() == n { n.saturating_sub(1) } else { usize::MAX }).collect()
    }),
    texts("character-lost", |text, n| text.chars().enumerate().filter(|&(at, _)| at != n).map(|(_, c)| c).collect()),
    texts("text-wrapped", |text, n| {
        let wrapped = |(at, c)| if at > 0 && at % n == 0 { vec!['\n', c] } else { vec![c] };
        text.chars().enumerate().flat_map(wrapped).collect()
    }),
    blocks("last-of-a-whole-block-lost", |text, n| without(text, n - 1, |count| count == n)),
    blocks("one-behind-a-block-lost", |text, n| without(text, n, |count| count == n + 1)),
    blocks("one-short-of-a-block-padded", |text, n| {
        if text.chars().count() == n - 1 { format!("{text} ") } else { text.to_owned() }
    }),
    blocks("last-of-a-block-twice", |text, n| {
        let is_last = |at| at + 1 == n && text.chars().count() == n;
        text.chars().enumerate().flat_map(|(at, c)| std::iter::repeat_n(c, if is_last(at) { 2 } else { 1 })).collect()
    }),
    blocks("pair-across-a-border-lost", |text, n| {
        let mut units = 0;
        let mut is_whole = |c: &char| {
            units += c.len_utf16();
            units != n + 1 || c.len_utf16() == 1
        };
        text.chars().filter(|c| is_whole(c)).collect()
    }),
    blocks("bytes-across-a-border-replaced", |text, n| {
        let change = |(at, c): (usize, char)| if at < n && at + c.len_utf8() > n { '\u{fffd}' } else { c };
        text.char_indices().map(change).collect()
    }),
    in_places(
        &["serialize", "messages-xml"],
        family("only-the-first-block-looked-at", Quantity::Blocks, |twin| {
            twin.text = |twin, text| if has_special(text, twin.n) { text::text(twin, text) } else { text.to_owned() };
        }),
    ),
    white_space("trimmed", |text, _| text.trim_matches(is_white).to_owned()),
    white_space("start-trimmed", |text, _| text.trim_start_matches(is_white).to_owned()),
    white_space("end-trimmed", |text, _| text.trim_end_matches(is_white).to_owned()),
    white_space("spaces-trimmed", |text, _| text.trim_matches(' ').to_owned()),
    white_space("line-feeds-trimmed", |text, _| text.trim_matches('\n').to_owned()),
    white_space("byte-order-mark-removed", |text, _| text.replace('\u{feff}', "")),
    white_space("ideographic-spaces-trimmed", |text, _| text.trim_matches('\u{3000}').to_owned()),
    white_space("runs-of-white-space-joined", |text, _| {
        let mut joined = String::new();
        for c in text.chars() {
            if !is_white(c) || !joined.ends_with(' ') {
                joined.push(if is_white(c) { ' ' } else { c });
            }
        }
        joined
    }),
    white_space("double-spaces-joined", |text, _| text.replace("  ", " ")),
    white_space("blank-lines-dropped", |text, _| text.replace("\n\n", "\n")),
    white_space("tabs-as-spaces", |text, _| text.replace('\t', "    ")),
    white_space("no-break-spaces-as-spaces", |text, _| text.replace('\u{a0}', " ")),
    white_space("cut-at-nul", |text, _| text.split('\0').next().unwrap_or_default().to_owned()),
    in_places(&["messages-standard", "tools", "loop"], white_space("nul-removed", |text, _| text.replace('\0', ""))),
    hardened(in_places(
        &["serialize", "messages-xml"],
        white_space("nul-removed-in-documents", |text, _| text.replace('\0', "")),
    )),
    hardened(white_space("carriage-returns-as-line-feeds", |text, _| text.replace('\r', "\n"))),
];
