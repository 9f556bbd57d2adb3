//! Families about texts: their length, blocks of characters, white space.

use crate::planted::{Family, Kind};
use crate::plants::prelude::*;
use crate::twin::text;
use crate::universal::operators::{first, up_to_nul};
use threadspec_judge::corpus::growth::Quantity::{Blocks, Id, Lengths, Text, WhiteSpace};

/// Changes every text in the members of a name and below them; in arguments, also the names of members.
pub(super) fn change_texts(value: &mut Value, member: &str, change: &dyn Fn(&str) -> String) {
    change_below(value, member, false, change);
}

fn change_below(value: &mut Value, member: &str, inside: bool, change: &dyn Fn(&str) -> String) {
    match value {
        Value::String(text) if inside => *text = change(text),
        Value::Array(elements) => elements.iter_mut().for_each(|element| change_below(element, member, inside, change)),
        Value::Object(members) => {
            for (name, value) in members.iter_mut() {
                change_below(value, member, inside || name == member, change);
            }
            if inside && member == "args" {
                rename(value, change);
            }
        }
        _ => {}
    }
}

/// Texts of the members that the name of the bug says are changed.
fn changing(name: FaultName, terms: impl IntoTerms, change: fn(&str, usize) -> String) -> Planted {
    let planted = on::before(name, terms, |twin, _, input| {
        change_texts(input, twin.member, &|text| (twin.change)(text, twin.n));
    });
    match planted.kind {
        Kind::Family(family) => Planted { kind: Kind::Family(Family { change: Some(change), ..family }), ..planted },
        _ => planted,
    }
}

/// The text without one character, if its length matches.
fn without(text: &str, position: usize, is_such: impl Fn(usize) -> bool) -> String {
    let loses = is_such(text.chars().count());
    text.chars().enumerate().filter(|&(at, _)| !loses || at != position).map(|(_, c)| c).collect()
}

/// Returns whether one of the first `n` characters needs escaping.
fn has_special(text: &str, n: usize) -> bool {
    text.chars().take(n).any(|c| "<>&\"'".contains(c))
}

fn is_white(c: char) -> bool {
    c.is_whitespace() || c == '\u{feff}'
}

pub(super) fn families() -> Vec<Planted> {
    vec![
        changing("id-cut", Id, first),
        changing("text-cut", Text, first),
        changing("text-cut-in-bytes", Text, |text, n| {
            text.char_indices().take_while(|(at, c)| at + c.len_utf8() <= n).map(|(_, c)| c).collect()
        }),
        changing("only-the-end-of-a-text", Text, |text, n| {
            text.chars().skip(text.chars().count().saturating_sub(n)).collect()
        }),
        changing("text-elided", Text, |text, n| {
            let length = text.chars().count();
            if length <= n {
                return text.to_owned();
            }
            let (start, end) = (text.chars().take(n / 2), text.chars().skip(length - n / 2));
            start.chain("…".chars()).chain(end).collect()
        }),
        changing("last-character-of-n-lost", Lengths, |text, n| {
            text.chars().take(if text.chars().count() == n { n.saturating_sub(1) } else { usize::MAX }).collect()
        }),
        changing("character-lost", Text, |text, n| {
            text.chars().enumerate().filter(|&(at, _)| at != n).map(|(_, c)| c).collect()
        }),
        changing("text-wrapped", Text, |text, n| {
            let wrapped = |(at, c)| if at > 0 && at % n == 0 { vec!['\n', c] } else { vec![c] };
            text.chars().enumerate().flat_map(wrapped).collect()
        }),
        changing("last-of-a-whole-block-lost", Blocks, |text, n| without(text, n - 1, |count| count == n)),
        changing("one-behind-a-block-lost", Blocks, |text, n| without(text, n, |count| count == n + 1)),
        changing("one-short-of-a-block-padded", Blocks, |text, n| {
            if text.chars().count() == n - 1 { format!("{text} ") } else { text.to_owned() }
        }),
        changing("last-of-a-block-twice", Blocks, |text, n| {
            let is_last = |at| at + 1 == n && text.chars().count() == n;
            text.chars()
                .enumerate()
                .flat_map(|(at, c)| std::iter::repeat_n(c, if is_last(at) { 2 } else { 1 }))
                .collect()
        }),
        changing("pair-across-a-border-lost", Blocks, |text, n| {
            let mut units = 0;
            let mut is_whole = |c: &char| {
                units += c.len_utf16();
                units != n + 1 || c.len_utf16() == 1
            };
            text.chars().filter(|c| is_whole(c)).collect()
        }),
        changing("bytes-across-a-border-replaced", Blocks, |text, n| {
            let change = |(at, c): (usize, char)| if at < n && at + c.len_utf8() > n { '\u{fffd}' } else { c };
            text.char_indices().map(change).collect()
        }),
        on::text("only-the-first-block-looked-at", in_places(Blocks, &["serialize", "messages-xml"]), |twin, text| {
            if has_special(text, twin.n) { text::text(twin, text) } else { text.to_owned() }
        }),
        changing("trimmed", WhiteSpace, |text, _| text.trim_matches(is_white).to_owned()),
        changing("start-trimmed", WhiteSpace, |text, _| text.trim_start_matches(is_white).to_owned()),
        changing("end-trimmed", WhiteSpace, |text, _| text.trim_end_matches(is_white).to_owned()),
        changing("spaces-trimmed", WhiteSpace, |text, _| text.trim_matches(' ').to_owned()),
        changing("line-feeds-trimmed", WhiteSpace, |text, _| text.trim_matches('\n').to_owned()),
        changing("byte-order-mark-removed", WhiteSpace, |text, _| text.replace('\u{feff}', "")),
        changing("ideographic-spaces-trimmed", WhiteSpace, |text, _| text.trim_matches('\u{3000}').to_owned()),
        changing("runs-of-white-space-joined", WhiteSpace, |text, _| {
            let mut joined = String::new();
            for c in text.chars() {
                if !is_white(c) || !joined.ends_with(' ') {
                    joined.push(if is_white(c) { ' ' } else { c });
                }
            }
            joined
        }),
        changing("double-spaces-joined", WhiteSpace, |text, _| text.replace("  ", " ")),
        changing("blank-lines-dropped", WhiteSpace, |text, _| text.replace("\n\n", "\n")),
        changing("tabs-as-spaces", WhiteSpace, |text, _| text.replace('\t', "    ")),
        changing("no-break-spaces-as-spaces", WhiteSpace, |text, _| text.replace('\u{a0}', " ")),
        changing("cut-at-nul", WhiteSpace, |text, _| up_to_nul(text)),
        changing("nul-removed", in_places(WhiteSpace, &["messages-standard", "tools", "loop"]), |text, _| {
            text.replace('\0', "")
        }),
        changing(
            "nul-removed-in-documents",
            hardened(in_places(WhiteSpace, &["serialize", "messages-xml"])),
            |text, _| text.replace('\0', ""),
        ),
        changing("carriage-returns-as-line-feeds", hardened(WhiteSpace), |text, _| text.replace('\r', "\n")),
    ]
}
