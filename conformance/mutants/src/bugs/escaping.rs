//! Escaping of texts and attribute values.

use crate::plants::TwinSite::{Attribute, Escaped, Raw, RawAttribute};
use crate::plants::prelude::*;
use crate::twin::text::{attribute, text};
use crate::universal::operators::{first, up_to_nul};
use threadspec::{escape_attribute, escape_text};

/// What `escapeXml` replaces, in the order in which it must do so.
const FIVE: [(&str, &str); 5] = [("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("\"", "&quot;"), ("'", "&apos;")];

pub(super) fn bugs() -> Vec<Planted> {
    let mut bugs = vec![
        on::several("apostrophe-as-decimal-reference", [ESC_1, ESC_4], |twin| {
            twin.text = &|twin, raw| text(twin, raw).replace("&apos;", "&#39;");
            twin.attribute = &|twin, raw| attribute(twin, raw).replace("&apos;", "&#39;");
        }),
        swap("quotes-left-in-text", [ESC_1, ESC_4], Escaped, &[("&quot;", "\""), ("&apos;", "'")]),
        swap("ampersand-as-decimal-reference", [ESC_1, ESC_2], Escaped, &[("&amp;", "&#38;")]),
        on::text("only-the-first-occurrence", ESC_1, |_, raw| {
            FIVE.iter().fold(raw.to_owned(), |text, (from, to)| text.replacen(from, to, 1))
        }),
        edit("entities-not-escaped-again", [ESC_2, DOC_5], Escaped, |text| {
            let keep = |text: String, name| text.replace(&format!("&amp;{name};"), &format!("&{name};"));
            ["amp", "lt", "gt", "quot", "apos"].into_iter().fold(text.to_owned(), keep)
        }),
        swap("references-not-escaped-again", ESC_2, Escaped, &[("&amp;#", "&#")]),
        on::text("text-as-cdata", [ESC_1, DOC_5], |twin, raw| {
            if raw.contains(['<', '&']) { format!("<![CDATA[{raw}]]>") } else { text(twin, raw) }
        }),
        on::text("carriage-return-raw-in-text", hardened(ESC_CR), |_, raw| {
            escape_text(raw, Profile::Literal).into_owned()
        }),
        swap("carriage-return-in-hexadecimal", hardened(ESC_CR), Escaped, &[("&#13;", "&#xD;")]),
        on::text("forbidden-characters-left-alone", [ESC_FORBIDDEN, DOC_4], |_, raw| {
            FIVE.iter().fold(raw.to_owned(), |text, (from, to)| text.replace(from, to))
        }),
        on::text("forbidden-characters-as-references", [ESC_FORBIDDEN, DOC_4], |twin, raw| {
            piecewise(raw, |c| (!is_xml_char(c)).then(|| format!("&#{};", u32::from(c))), |c| text(twin, c))
        }),
        on::text("last-two-code-points-forgotten", [ESC_FORBIDDEN, DOC_4], |twin, raw| {
            piecewise(raw, |c| matches!(c, '\u{fffe}' | '\u{ffff}').then(|| c.to_string()), |c| text(twin, c))
        }),
        edit("text-ends-at-nul", ESC_FORBIDDEN, Raw, up_to_nul),
        edit("colour-codes-stripped", ESC_FORBIDDEN, Raw, |raw| {
            let strip = |part: &str| part.trim_start_matches(|c: char| "[;0123456789".contains(c)).replacen('m', "", 1);
            let mut parts = raw.split('\u{1b}');
            let first = parts.next().unwrap_or_default().to_owned();
            parts.map(strip).fold(first, |text, part| text + &part)
        }),
        on::attribute("attributes-not-escaped", [ATT_ESCAPED, DOC_5, DOC_4], |_, raw| {
            raw.replace(|c| !is_xml_char(c), "\u{fffd}")
        }),
        swap("quotes-left-in-attributes", [ATT_ESCAPED, DOC_5], Attribute, &[("&quot;", "\"")]),
        swap("apostrophe-left-in-attributes", [ATT_ESCAPED, ESC_4], Attribute, &[("&apos;", "'")]),
        swap("greater-than-left-in-attributes", [ATT_ESCAPED, ESC_4], Attribute, &[("&gt;", ">")]),
        swap("attributes-escaped-twice", ATT_ESCAPED, Attribute, &[("&", "&amp;")]),
        on::attribute("white-space-raw-in-attributes", hardened(ATT_WHITESPACE), |_, raw| {
            escape_attribute(raw, Profile::Literal).into_owned()
        }),
        edit("white-space-in-attributes-collapsed", ATT_WHITESPACE, RawAttribute, |value| {
            value.replace(['\t', '\n', '\r'], " ")
        }),
    ];
    bugs.extend(at(ESC_1, Escaped).edits(&[
        ("apostrophe-as-hexadecimal-reference", |text| text.replace("&apos;", "&#x27;")),
        ("quote-as-decimal-reference", |text| text.replace("&quot;", "&#34;")),
        ("apostrophe-left-alone", |text| text.replace("&apos;", "'")),
        ("greater-than-left-alone", |text| text.replace("&gt;", ">")),
        ("greater-than-only-after-brackets", |text| {
            text.replace("]]&gt;", "]]\0").replace("&gt;", ">").replace('\0', "&gt;")
        }),
        ("less-than-as-hexadecimal-reference", |text| text.replace("&lt;", "&#x3C;")),
        // "<" becomes "&lt;" and that "&amp;lt;".
        ("ampersand-escaped-last", |text| text.replace("&amp;", "&").replace('&', "&amp;")),
    ]));
    bugs.extend(at(ESC_3, Escaped).edits(&[
        ("non-ascii-as-references", |text| {
            let reference = |c: char| if c.is_ascii() { c.to_string() } else { format!("&#{};", u32::from(c)) };
            text.chars().map(reference).collect()
        }),
        ("symbols-as-html-entities", |text| text.replace('©', "&copy;").replace('€', "&euro;").replace('—', "&mdash;")),
        ("non-breaking-space-as-entity", |text| text.replace('\u{a0}', "&nbsp;")),
        ("c1-controls-removed", |text| text.replace(|c| ('\u{7f}'..='\u{9f}').contains(&c), "")),
        ("invisible-characters-removed", |text| {
            text.replace(['\u{200b}', '\u{200d}', '\u{200e}', '\u{feff}', '\u{ad}'], "")
        }),
        ("line-separators-become-line-feeds", |text| text.replace(['\u{2028}', '\u{2029}', '\u{85}'], "\n")),
        ("beyond-the-first-plane-replaced", |text| text.replace(|c: char| u32::from(c) > 0xffff, "\u{fffd}")),
        ("composed-characters", |text| text.replace("e\u{301}", "\u{e9}").replace("A\u{30a}", "\u{c5}")),
        ("noncharacters-replaced-on-every-plane", |text| {
            text.replace(|c: char| u32::from(c) & 0xfffe == 0xfffe, "\u{fffd}")
        }),
        ("tab-as-reference-in-text", |text| text.replace('\t', "&#9;")),
        ("line-feed-as-reference-in-text", |text| text.replace('\n', "&#10;")),
    ]));
    bugs.extend(at(ESC_3, Raw).edits(&[("tabs-expanded", |text| text.replace('\t', "    "))]));
    bugs.extend(at(ESC_CR, Raw).edits(&[
        ("line-ends-normalized", |text| text.replace("\r\n", "\n").replace('\r', "\n")),
        ("carriage-returns-removed", |text| text.replace('\r', "")),
    ]));
    bugs.extend(at(hardened(ESC_FORBIDDEN), Raw).edits(&[
        ("forbidden-characters-removed", |text| text.replace(|c| !is_xml_char(c), "")),
        ("forbidden-characters-as-question-marks", |text| text.replace(|c| !is_xml_char(c), "?")),
    ]));
    bugs.extend(at(hardened(ATT_WHITESPACE), Attribute).edits(&[
        ("line-feed-raw-in-attributes", |value| value.replace("&#10;", "\n")),
        ("tab-raw-in-attributes", |value| value.replace("&#9;", "\t")),
        ("white-space-in-attributes-in-hexadecimal", |value| {
            value.replace("&#9;", "&#x9;").replace("&#10;", "&#xA;").replace("&#13;", "&#xD;")
        }),
        ("tab-in-attributes-with-two-digits", |value| value.replace("&#9;", "&#09;")),
    ]));
    bugs.extend(at(ATT_NAME, RawAttribute).edits(&[
        ("attributes-trimmed", |value| value.trim().to_owned()),
        ("attributes-cut-after-64-characters", |value| first(value, 64)),
    ]));
    bugs
}

/// Escapes a text, but for the characters that become something else.
fn piecewise(raw: &str, other: impl Fn(char) -> Option<String>, escape: impl Fn(&str) -> String) -> String {
    raw.chars().map(|c| other(c).unwrap_or_else(|| escape(c.encode_utf8(&mut [0; 4])))).collect()
}
