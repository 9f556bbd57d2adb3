//! Checks whether a parser returned a text.

use crate::fast::first_forbidden;
use crate::{Profile, is_xml_char};
use memchr::{memchr, memmem};
use std::borrow::Cow;
use std::iter;

/// Returns whether a text is what was read, as far as the profile demands (ESC-CR, ESC-FORBIDDEN).
pub(super) fn same_text(original: &str, read: &str, profile: Profile) -> bool {
    // The quick way for nearly all texts.
    if original == read && first_forbidden(original).is_none() {
        return true;
    }
    match profile {
        Profile::Hardened => replace_forbidden(original) == read,
        Profile::Literal => permitted_kept_in(original, read, with_normal_ends),
    }
}

/// Compares an attribute's value likewise (ATT-WHITESPACE).
pub(super) fn same_attribute(original: &str, read: &str, profile: Profile) -> bool {
    if original == read && first_forbidden(original).is_none() {
        return true;
    }
    match profile {
        Profile::Hardened => replace_forbidden(original) == read,
        Profile::Literal => {
            permitted_kept_in(original, read, |text| normalize_line_ends(text).replace(['\t', '\n'], " ").into())
        }
    }
}

/// Returns whether the permitted characters of a text were read in order, as a parser normalizes them: with the forbidden ones replaced, or
/// dropped.
fn permitted_kept_in(original: &str, read: &str, normalized: impl Fn(&str) -> Cow<'_, str>) -> bool {
    let read = normalized(read);
    let is_kept = |original: &str| permitted_in_order(&normalized(original), &read);
    is_kept(original) || joined_line_ends(original).is_some_and(|joined| is_kept(&joined))
}

/// A text without the forbidden characters between a CR and a LF, if there are any: whoever drops them leaves CR LF, which a parser reads as LF.
fn joined_line_ends(text: &str) -> Option<String> {
    let (mut joined, mut rest) = (String::new(), text);
    while let Some(at) = memchr(b'\r', rest.as_bytes()) {
        let (before, behind) = rest.split_at(at + 1);
        let permitted = behind.trim_start_matches(|character| !is_xml_char(character));
        joined += before;
        rest = if permitted.starts_with('\n') { permitted } else { behind };
    }
    joined += rest;
    (joined.len() < text.len()).then_some(joined)
}

fn replace_forbidden(text: &str) -> String {
    text.chars().map(|character| if is_xml_char(character) { character } else { '\u{fffd}' }).collect()
}

/// A text as a parser reads it: CR LF and CR become LF (XML 1.0, 2.11).
///
/// ```
/// assert_eq!(threadspec::oracle::normalize_line_ends("a\r\nb\rc"), "a\nb\nc");
/// ```
pub fn normalize_line_ends(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

fn with_normal_ends(text: &str) -> Cow<'_, str> {
    if memchr(b'\r', text.as_bytes()).is_some() { normalize_line_ends(text).into() } else { text.into() }
}

/// Returns whether `read` consists of the stretches of permitted characters, in order, with anything else only between them.
fn permitted_in_order(original: &str, read: &str) -> bool {
    let mut rest = Some(original);
    let stretches = iter::from_fn(|| {
        let text = rest?;
        let stretch = first_forbidden(text).map(|(at, character)| (&text[..at], &text[at + character.len_utf8()..]));
        rest = stretch.map(|(_, behind)| behind);
        Some(stretch.map_or(text, |(stretch, _)| stretch))
    });
    in_order(stretches, read)
}

/// Returns whether the first stretch begins a text, the last one ends it, and the others are between them in order.
///
/// ```
/// use threadspec::oracle::in_order;
/// assert!(in_order(["a", "b", "c"].into_iter(), "a-b?c"));
/// assert!(!in_order(["a", "b", "c"].into_iter(), "abc!"));
/// ```
pub fn in_order<'a>(mut stretches: impl Iterator<Item = &'a str>, text: &str) -> bool {
    let Some(mut rest) = stretches.next().and_then(|first| text.strip_prefix(first)) else {
        return false;
    };
    let mut stretches = stretches.peekable();
    while let Some(stretch) = stretches.next() {
        if stretches.peek().is_none() {
            return rest.ends_with(stretch);
        }
        match memmem::find(rest.as_bytes(), stretch.as_bytes()) {
            Some(at) => rest = &rest[at + stretch.len()..],
            None => return false,
        }
    }
    rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permitted_characters_stand_in_order() {
        for (original, read, kept) in [
            ("plain", "plain", true),
            ("plain", "plain ", false),
            ("a\0b", "ab", true),
            ("a\0b", "a\u{fffd}b", true),
            ("a\0b", "a[NUL]b", true),
            ("a\0b", "ba", false),
            ("a\0b\0c", "a?c", false),
            ("\0", "", true),
            ("a\0", "a?", true),
            ("\0a", "?b", false),
        ] {
            assert_eq!(permitted_in_order(original, read), kept, "{original:?} {read:?}");
        }
    }

    #[test]
    fn what_is_dropped_between_cr_and_lf_joins_them() {
        for (original, read, kept) in [
            ("a\r\0\nb", "a\nb", true),
            ("a\r\0\u{1b}\nb\r\0\nc\0", "a\nb\nc", true),
            ("a\r\0\nb", "a\n\nb", true),
            ("a\r\0\nb", "a\n?\nb", true),
            ("a\r\0\nb", "ab", false),
            ("a\r\nb\n", "a\nb", false),
            ("a\r\0\rb", "a\nb", false),
        ] {
            assert_eq!(same_text(original, read, Profile::Literal), kept, "{original:?} {read:?}");
        }
        assert!(same_attribute("a\r\0\nb", "a b", Profile::Literal));
    }
}
