//! Finds the clause that a wrong text breaks, by its characters.

use super::texts::{Texts, is_well_formed};
use crate::json::{self, compact, tokens};
use threadspec::oracle::normalize_line_ends;
use threadspec::{Profile, escape_attribute, escape_text, is_xml_char, read_thread};
use threadspec_golden::clause;

/// The five characters that are always escaped.
pub(super) const SPECIAL: [char; 5] = ['&', '<', '>', '"', '\''];

/// The two forms of an escaped text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum EscapedAs {
    Text,
    Attribute,
}

impl EscapedAs {
    /// The white space that hardened writes as references here.
    fn white_space(self) -> &'static [char] {
        match self {
            Self::Text => &['\r'],
            Self::Attribute => &['\t', '\n', '\r'],
        }
    }

    /// The clauses of the five characters and of white space.
    fn clauses(self) -> [&'static str; 2] {
        match self {
            Self::Text => [clause::ESC_1, clause::ESC_CR],
            Self::Attribute => [clause::ATT_ESCAPED, clause::ATT_WHITESPACE],
        }
    }
}

/// The clause of a text that goes wrong at a character that is not an ordinary one.
pub(super) fn character_clause(original: &str, actual: &str, form: EscapedAs, texts: &Texts) -> Option<&'static str> {
    let literal = texts.profile == Profile::Literal;
    let forbids = |c: char| !is_xml_char(c);
    // In literal, forbidden characters may become anything, so they are left out, with what represents them.
    let left = |text: &str| text.replace(|c| literal && (!is_xml_char(c) || c == '\u{fffd}'), "");
    let is_wrong = || actual.contains(forbids) || !is_well_formed(actual) && is_well_formed(&left(actual));
    if literal && original.contains(forbids) && is_wrong() {
        return Some(clause::ESC_FORBIDDEN);
    }
    let actual = if literal { left(actual) } else { actual.to_owned() };
    let original = left(original);
    let mut rest = &*actual;
    let escaped = |text: &str| match form {
        EscapedAs::Text => escape_text(text, texts.profile).into_owned(),
        EscapedAs::Attribute => escape_attribute(text, texts.profile).into_owned(),
    };
    let differs = |&(at, character): &(usize, char)| {
        let same = rest.strip_prefix(&*escaped(&original[at..at + character.len_utf8()]));
        rest = same.unwrap_or(rest);
        same.is_none()
    };
    let differing = original.char_indices().find(differs);
    let [escaping, white_space] = form.clauses();
    if actual == escape_text(&escaped(&original), texts.profile) {
        return Some(escaping);
    }
    let (at, character) = differing?;
    let behind = &original[at + character.len_utf8()..];
    let once = escaped(&original[at..at + character.len_utf8()]);
    if once.starts_with('&') && rest.starts_with(&*escape_text(&once, texts.profile)) {
        // What is here was escaped, and then once more.
        return Some(escaping);
    }
    Some(match character {
        _ if is_in_reference(&original, at) && !rest.starts_with("&#38;") => clause::ESC_2,
        _ if SPECIAL.contains(&character) => escaping,
        _ if form.white_space().contains(&character) => white_space,
        '\u{fffd}' if texts.halves => clause::INP_SURROGATE,
        _ if !is_xml_char(character) => clause::ESC_FORBIDDEN,
        '\t' | '\n' | '\r' | '\u{7f}'.. => clause::ESC_3,
        // A letter and its mark became another character.
        _ if behind.starts_with(|c| c > '\u{7f}') && rest.starts_with(|c| c > '\u{7f}') => clause::ESC_3,
        _ => return None,
    })
}

/// Returns whether a text looks escaped at this place, as `&lt;` does at each of its characters.
fn is_in_reference(text: &str, at: usize) -> bool {
    let start = if text[at..].starts_with('&') { Some(at) } else { text[..at].rfind('&') };
    let reference = start.and_then(|start| Some((start, text[start + 1..].split_once(';')?.0)));
    reference.is_some_and(|(start, name)| {
        let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '#');
        is_name && !name.is_empty() && at <= start + 1 + name.len()
    })
}

/// The clause of a JSON text that differs from the expected one in more than the content of its strings.
pub(super) fn json_clause(expected: &str, actual: &str, texts: &Texts) -> Option<&'static str> {
    let (expected, actual) = (texts.canonical(expected), texts.canonical(actual));
    if json::read(&actual).is_err() {
        let differing = tokens(&expected).zip(tokens(&actual)).find(|(expected, actual)| expected != actual);
        if differing.is_some_and(|(expected, _)| is_number(expected)) {
            return Some(clause::JSON_3);
        }
        if tokens(&actual).any(|token| token.starts_with('&')) {
            // The text was escaped once more than it is read.
            return None;
        }
        return (actual.starts_with(['{', '[']) && expected.contains('\\')).then_some(clause::JSON_2);
    }
    if compact(&actual) != actual {
        return Some(clause::JSON_1);
    }
    let sorted = |text| {
        let mut tokens: Vec<_> = tokens(text).collect();
        tokens.sort_unstable();
        tokens
    };
    if sorted(&expected) == sorted(&actual) {
        return Some(clause::JSON_4);
    }
    if tokens(&expected).count() != tokens(&actual).count() {
        return Some(clause::JSON_4);
    }
    let (expected, actual) = tokens(&expected).zip(tokens(&actual)).find(|(expected, actual)| expected != actual)?;
    let [quoted, number] = [[expected, actual].map(|token| token.starts_with('"')), [expected, actual].map(is_number)];
    match (quoted, number) {
        ([true, true], _) if json::read(expected) == json::read(actual) => {
            let raw = actual.contains("\\/") || expected.contains(|c| c > '~');
            Some(if raw { clause::JSON_1 } else { clause::JSON_2 })
        }
        ([true, true], _) => expected.contains('\\').then_some(clause::JSON_2),
        (_, [true, _]) => Some(if texts.is_large(expected) { clause::JSON_LARGE } else { clause::JSON_3 }),
        _ => Some(clause::JSON_4),
    }
}

fn is_number(token: &str) -> bool {
    token.starts_with(|c: char| c == '-' || c.is_ascii_digit())
}

/// DOC-2 for a text that was shortened or changed at its ends, else the clause given.
pub(super) fn shortened_or(original: &str, read: &str, clause: &'static str) -> &'static str {
    let kept = read.trim_end_matches(['…', '.']);
    let shortened = !kept.is_empty() && original.starts_with(kept) || original.trim() == read.trim();
    if shortened { clause::DOC_2 } else { clause }
}

/// Returns whether a text was trimmed or laid out again, in more than its line ends.
pub(super) fn differs_in_white_space(original: &str, read: &str) -> bool {
    let is_cut = original.len() > read.len() && original.starts_with(read);
    let ink = |text: &str| text.replace([' ', '\t', '\n', '\r'], "");
    (is_cut || normalize_line_ends(original) != normalize_line_ends(read)) && ink(original) == ink(read)
}

/// Returns the text that a parser reads between tags; `None` if it refuses.
pub(super) fn read_back(escaped: &str) -> Option<String> {
    let document = read_thread(&format!("<thread><event>{escaped}</event></thread>")).ok()?;
    match document.elements.into_iter().collect::<Vec<_>>().as_mut_slice() {
        [element] => Some(std::mem::take(&mut element.text)),
        _ => None,
    }
}
