//! Escaping of texts and attribute values.

use super::{Planted, bug, hardened};
use crate::twin::text::{attribute, text};
use threadspec::{Profile, escape_attribute, escape_text, is_xml_char};
use threadspec_golden::clause;

/// What `escapeXml` replaces, in the order in which it must do so.
const FIVE: [(&str, &str); 5] = [("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("\"", "&quot;"), ("'", "&apos;")];

pub(super) const BUGS: &[Planted] = &[
    bug("apostrophe-as-decimal-reference", &[clause::ESC_1, clause::ESC_4], |twin| {
        twin.text = |twin, raw| text(twin, raw).replace("&apos;", "&#39;");
        twin.attribute = |twin, raw| attribute(twin, raw).replace("&apos;", "&#39;");
    }),
    bug("apostrophe-as-hexadecimal-reference", &[clause::ESC_1], |twin| {
        twin.text = |twin, raw| text(twin, raw).replace("&apos;", "&#x27;");
    }),
    bug("quote-as-decimal-reference", &[clause::ESC_1], |twin| {
        twin.text = |twin, raw| text(twin, raw).replace("&quot;", "&#34;");
    }),
    bug("quotes-left-in-text", &[clause::ESC_1, clause::ESC_4], |twin| {
        twin.text = |twin, raw| text(twin, raw).replace("&quot;", "\"").replace("&apos;", "'");
    }),
    bug("apostrophe-left-alone", &[clause::ESC_1], |twin| {
        twin.text = |twin, raw| text(twin, raw).replace("&apos;", "'");
    }),
    bug("greater-than-left-alone", &[clause::ESC_1], |twin| {
        twin.text = |twin, raw| text(twin, raw).replace("&gt;", ">");
    }),
    bug("greater-than-only-after-brackets", &[clause::ESC_1], |twin| {
        twin.text = |twin, raw| text(twin, raw).replace("]]&gt;", "]]\0").replace("&gt;", ">").replace('\0', "&gt;");
    }),
    bug("less-than-as-hexadecimal-reference", &[clause::ESC_1], |twin| {
        twin.text = |twin, raw| text(twin, raw).replace("&lt;", "&#x3C;");
    }),
    bug("ampersand-as-decimal-reference", &[clause::ESC_1, clause::ESC_2], |twin| {
        twin.text = |twin, raw| text(twin, raw).replace("&amp;", "&#38;");
    }),
    bug("ampersand-escaped-last", &[clause::ESC_1], |twin| {
        // "<" becomes "&lt;" and that "&amp;lt;".
        twin.text = |twin, raw| text(twin, raw).replace("&amp;", "&").replace('&', "&amp;");
    }),
    bug("only-the-first-occurrence", &[clause::ESC_1], |twin| {
        twin.text = |_, raw| FIVE.iter().fold(raw.to_owned(), |text, (from, to)| text.replacen(from, to, 1));
    }),
    bug("entities-not-escaped-again", &[clause::ESC_2, clause::DOC_5], |twin| {
        twin.text = |twin, raw| {
            let entities = ["amp", "lt", "gt", "quot", "apos"];
            let keep = |text: String, name| text.replace(&format!("&amp;{name};"), &format!("&{name};"));
            entities.into_iter().fold(text(twin, raw), keep)
        };
    }),
    bug("references-not-escaped-again", &[clause::ESC_2], |twin| {
        twin.text = |twin, raw| text(twin, raw).replace("&amp;#", "&#");
    }),
    bug("text-as-cdata", &[clause::ESC_1, clause::DOC_5], |twin| {
        twin.text = |twin, raw| {
            if raw.contains(['<', '&']) { format!("<![CDATA[{raw}]]>") } else { text(twin, raw) }
        };
    }),
    bug("non-ascii-as-references", &[clause::ESC_3], |twin| {
        twin.text = |twin, raw| {
            let reference = |c: char| if c.is_ascii() { c.to_string() } else { format!("&#{};", u32::from(c)) };
            text(twin, raw).chars().map(reference).collect()
        };
    }),
    bug("non-breaking-space-as-entity", &[clause::ESC_3], |twin| {
        twin.text = |twin, raw| text(twin, raw).replace('\u{a0}', "&nbsp;");
    }),
    bug("c1-controls-removed", &[clause::ESC_3], |twin| {
        twin.text = |twin, raw| text(twin, raw).replace(|c| ('\u{7f}'..='\u{9f}').contains(&c), "");
    }),
    bug("invisible-characters-removed", &[clause::ESC_3], |twin| {
        twin.text = |twin, raw| text(twin, raw).replace(['\u{200b}', '\u{200d}', '\u{200e}', '\u{feff}', '\u{ad}'], "");
    }),
    bug("line-separators-become-line-feeds", &[clause::ESC_3], |twin| {
        twin.text = |twin, raw| text(twin, raw).replace(['\u{2028}', '\u{2029}', '\u{85}'], "\n");
    }),
    bug("beyond-the-first-plane-replaced", &[clause::ESC_3], |twin| {
        twin.text = |twin, raw| text(twin, raw).replace(|c: char| u32::from(c) > 0xffff, "\u{fffd}");
    }),
    bug("composed-characters", &[clause::ESC_3], |twin| {
        twin.text = |twin, raw| text(twin, raw).replace("e\u{301}", "\u{e9}").replace("A\u{30a}", "\u{c5}");
    }),
    bug("noncharacters-replaced-on-every-plane", &[clause::ESC_3], |twin| {
        twin.text = |twin, raw| text(twin, raw).replace(|c: char| u32::from(c) & 0xfffe == 0xfffe, "\u{fffd}");
    }),
    bug("tab-as-reference-in-text", &[clause::ESC_3], |twin| {
        twin.text = |twin, raw| text(twin, raw).replace('\t', "&#9;");
    }),
    bug("line-feed-as-reference-in-text", &[clause::ESC_3], |twin| {
        twin.text = |twin, raw| text(twin, raw).replace('\n', "&#10;");
    }),
    bug("line-ends-normalized", &[clause::ESC_CR], |twin| {
        twin.text = |twin, raw| text(twin, &raw.replace("\r\n", "\n").replace('\r', "\n"));
    }),
    bug("carriage-returns-removed", &[clause::ESC_CR], |twin| {
        twin.text = |twin, raw| text(twin, &raw.replace('\r', ""));
    }),
    hardened("carriage-return-raw-in-text", &[clause::ESC_CR], |twin| {
        twin.text = |_, raw| escape_text(raw, Profile::Literal).into_owned();
    }),
    hardened("carriage-return-in-hexadecimal", &[clause::ESC_CR], |twin| {
        twin.text = |twin, raw| text(twin, raw).replace("&#13;", "&#xD;");
    }),
    bug("forbidden-characters-left-alone", &[clause::ESC_FORBIDDEN, clause::DOC_4], |twin| {
        twin.text = |_, raw| FIVE.iter().fold(raw.to_owned(), |text, (from, to)| text.replace(from, to));
    }),
    bug("forbidden-characters-as-references", &[clause::ESC_FORBIDDEN, clause::DOC_4], |twin| {
        twin.text = |twin, raw| {
            let reference = |c: char| {
                if is_xml_char(c) { text(twin, &c.to_string()) } else { format!("&#{};", u32::from(c)) }
            };
            raw.chars().map(reference).collect()
        };
    }),
    hardened("forbidden-characters-removed", &[clause::ESC_FORBIDDEN], |twin| {
        twin.text = |twin, raw| text(twin, &raw.replace(|c| !is_xml_char(c), ""));
    }),
    hardened("forbidden-characters-as-question-marks", &[clause::ESC_FORBIDDEN], |twin| {
        twin.text = |twin, raw| text(twin, &raw.replace(|c| !is_xml_char(c), "?"));
    }),
    bug("text-ends-at-nul", &[clause::ESC_FORBIDDEN], |twin| {
        twin.text = |twin, raw| text(twin, raw.split('\0').next().unwrap_or_default());
    }),
    bug("last-two-code-points-forgotten", &[clause::ESC_FORBIDDEN, clause::DOC_4], |twin| {
        twin.text = |twin, raw| {
            let piece = |c: char| match c {
                '\u{fffe}' | '\u{ffff}' => c.to_string(),
                c => text(twin, &c.to_string()),
            };
            raw.chars().map(piece).collect()
        };
    }),
    bug("colour-codes-stripped", &[clause::ESC_FORBIDDEN], |twin| {
        twin.text = |twin, raw| {
            let strip = |part: &str| part.trim_start_matches(|c: char| "[;0123456789".contains(c)).replacen('m', "", 1);
            let mut parts = raw.split('\u{1b}');
            let first = parts.next().unwrap_or_default().to_owned();
            text(twin, &parts.map(strip).fold(first, |text, part| text + &part))
        };
    }),
    bug("attributes-not-escaped", &[clause::ATT_ESCAPED, clause::DOC_5, clause::DOC_4], |twin| {
        twin.attribute = |_, raw| raw.replace(|c| !is_xml_char(c), "\u{fffd}");
    }),
    bug("quotes-left-in-attributes", &[clause::ATT_ESCAPED, clause::DOC_5], |twin| {
        twin.attribute = |twin, raw| attribute(twin, raw).replace("&quot;", "\"");
    }),
    bug("apostrophe-left-in-attributes", &[clause::ATT_ESCAPED, clause::ESC_4], |twin| {
        twin.attribute = |twin, raw| attribute(twin, raw).replace("&apos;", "'");
    }),
    bug("greater-than-left-in-attributes", &[clause::ATT_ESCAPED, clause::ESC_4], |twin| {
        twin.attribute = |twin, raw| attribute(twin, raw).replace("&gt;", ">");
    }),
    bug("attributes-escaped-twice", &[clause::ATT_ESCAPED], |twin| {
        twin.attribute = |twin, raw| attribute(twin, raw).replace('&', "&amp;");
    }),
    hardened("white-space-raw-in-attributes", &[clause::ATT_WHITESPACE], |twin| {
        twin.attribute = |_, raw| escape_attribute(raw, Profile::Literal).into_owned();
    }),
    hardened("line-feed-raw-in-attributes", &[clause::ATT_WHITESPACE], |twin| {
        twin.attribute = |twin, raw| attribute(twin, raw).replace("&#10;", "\n");
    }),
    bug("white-space-in-attributes-collapsed", &[clause::ATT_WHITESPACE], |twin| {
        twin.attribute = |twin, raw| attribute(twin, &raw.replace(['\t', '\n', '\r'], " "));
    }),
    bug("attributes-trimmed", &[clause::ATT_NAME], |twin| {
        twin.attribute = |twin, raw| attribute(twin, raw.trim());
    }),
    bug("attributes-cut-after-64-characters", &[clause::ATT_NAME], |twin| {
        twin.attribute = |twin, raw| attribute(twin, &raw.chars().take(64).collect::<String>());
    }),
];
