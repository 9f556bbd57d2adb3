//! Escaping of texts and attribute values.

use super::{Bug, bug, hardened};
use crate::text::{attribute, text};
use threadspec::{Profile, escape_attribute, escape_text, is_xml_char};

/// What `escapeXml` replaces, in the order in which it must do so.
const FIVE: [(&str, &str); 5] = [("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("\"", "&quot;"), ("'", "&apos;")];

pub(super) const BUGS: &[Bug] = &[
    bug("apostrophe-as-decimal-reference", &["ESC-1", "ESC-4"], |twin| {
        twin.text = |twin, raw| text(twin, raw).replace("&apos;", "&#39;");
        twin.attribute = |twin, raw| attribute(twin, raw).replace("&apos;", "&#39;");
    }),
    bug("apostrophe-as-hexadecimal-reference", &["ESC-1"], |twin| {
        twin.text = |twin, raw| text(twin, raw).replace("&apos;", "&#x27;");
    }),
    bug("quote-as-decimal-reference", &["ESC-1"], |twin| {
        twin.text = |twin, raw| text(twin, raw).replace("&quot;", "&#34;");
    }),
    bug("quotes-left-in-text", &["ESC-1", "ESC-4"], |twin| {
        twin.text = |twin, raw| text(twin, raw).replace("&quot;", "\"").replace("&apos;", "'");
    }),
    bug("apostrophe-left-alone", &["ESC-1"], |twin| {
        twin.text = |twin, raw| text(twin, raw).replace("&apos;", "'");
    }),
    bug("greater-than-left-alone", &["ESC-1"], |twin| {
        twin.text = |twin, raw| text(twin, raw).replace("&gt;", ">");
    }),
    bug("greater-than-only-after-brackets", &["ESC-1"], |twin| {
        twin.text = |twin, raw| text(twin, raw).replace("]]&gt;", "]]\0").replace("&gt;", ">").replace('\0', "&gt;");
    }),
    bug("less-than-as-hexadecimal-reference", &["ESC-1"], |twin| {
        twin.text = |twin, raw| text(twin, raw).replace("&lt;", "&#x3C;");
    }),
    bug("ampersand-as-decimal-reference", &["ESC-1", "ESC-2"], |twin| {
        twin.text = |twin, raw| text(twin, raw).replace("&amp;", "&#38;");
    }),
    bug("ampersand-escaped-last", &["ESC-1"], |twin| {
        // "<" becomes "&lt;" and that "&amp;lt;".
        twin.text = |twin, raw| text(twin, raw).replace("&amp;", "&").replace('&', "&amp;");
    }),
    bug("only-the-first-occurrence", &["ESC-1"], |twin| {
        twin.text = |_, raw| FIVE.iter().fold(raw.to_owned(), |text, (from, to)| text.replacen(from, to, 1));
    }),
    bug("entities-not-escaped-again", &["ESC-2", "DOC-5"], |twin| {
        twin.text = |twin, raw| {
            let entities = ["amp", "lt", "gt", "quot", "apos"];
            let keep = |text: String, name| text.replace(&format!("&amp;{name};"), &format!("&{name};"));
            entities.into_iter().fold(text(twin, raw), keep)
        };
    }),
    bug("references-not-escaped-again", &["ESC-2"], |twin| {
        twin.text = |twin, raw| text(twin, raw).replace("&amp;#", "&#");
    }),
    bug("text-as-cdata", &["ESC-1", "DOC-5"], |twin| {
        twin.text = |twin, raw| {
            if raw.contains(['<', '&']) { format!("<![CDATA[{raw}]]>") } else { text(twin, raw) }
        };
    }),
    bug("non-ascii-as-references", &["ESC-3"], |twin| {
        twin.text = |twin, raw| {
            let reference = |c: char| if c.is_ascii() { c.to_string() } else { format!("&#{};", u32::from(c)) };
            text(twin, raw).chars().map(reference).collect()
        };
    }),
    bug("non-breaking-space-as-entity", &["ESC-3"], |twin| {
        twin.text = |twin, raw| text(twin, raw).replace('\u{a0}', "&nbsp;");
    }),
    bug("c1-controls-removed", &["ESC-3"], |twin| {
        twin.text = |twin, raw| text(twin, raw).replace(|c| ('\u{7f}'..='\u{9f}').contains(&c), "");
    }),
    bug("invisible-characters-removed", &["ESC-3"], |twin| {
        twin.text = |twin, raw| text(twin, raw).replace(['\u{200b}', '\u{200d}', '\u{200e}', '\u{feff}', '\u{ad}'], "");
    }),
    bug("line-separators-become-line-feeds", &["ESC-3"], |twin| {
        twin.text = |twin, raw| text(twin, raw).replace(['\u{2028}', '\u{2029}', '\u{85}'], "\n");
    }),
    bug("beyond-the-first-plane-replaced", &["ESC-3"], |twin| {
        twin.text = |twin, raw| text(twin, raw).replace(|c: char| u32::from(c) > 0xffff, "\u{fffd}");
    }),
    bug("composed-characters", &["ESC-3"], |twin| {
        twin.text = |twin, raw| text(twin, raw).replace("e\u{301}", "\u{e9}").replace("A\u{30a}", "\u{c5}");
    }),
    bug("noncharacters-replaced-on-every-plane", &["ESC-3"], |twin| {
        twin.text = |twin, raw| text(twin, raw).replace(|c: char| u32::from(c) & 0xfffe == 0xfffe, "\u{fffd}");
    }),
    bug("tab-as-reference-in-text", &["ESC-3"], |twin| {
        twin.text = |twin, raw| text(twin, raw).replace('\t', "&#9;");
    }),
    bug("line-feed-as-reference-in-text", &["ESC-3"], |twin| {
        twin.text = |twin, raw| text(twin, raw).replace('\n', "&#10;");
    }),
    bug("line-ends-normalized", &["ESC-CR"], |twin| {
        twin.text = |twin, raw| text(twin, &raw.replace("\r\n", "\n").replace('\r', "\n"));
    }),
    bug("carriage-returns-removed", &["ESC-CR"], |twin| {
        twin.text = |twin, raw| text(twin, &raw.replace('\r', ""));
    }),
    hardened("carriage-return-raw-in-text", &["ESC-CR"], |twin| {
        twin.text = |_, raw| escape_text(raw, Profile::Literal).into_owned();
    }),
    hardened("carriage-return-in-hexadecimal", &["ESC-CR"], |twin| {
        twin.text = |twin, raw| text(twin, raw).replace("&#13;", "&#xD;");
    }),
    bug("forbidden-characters-left-alone", &["ESC-FORBIDDEN", "DOC-4"], |twin| {
        twin.text = |_, raw| FIVE.iter().fold(raw.to_owned(), |text, (from, to)| text.replace(from, to));
    }),
    bug("forbidden-characters-as-references", &["ESC-FORBIDDEN", "DOC-4"], |twin| {
        twin.text = |twin, raw| {
            let reference = |c: char| {
                if is_xml_char(c) { text(twin, &c.to_string()) } else { format!("&#{};", u32::from(c)) }
            };
            raw.chars().map(reference).collect()
        };
    }),
    hardened("forbidden-characters-removed", &["ESC-FORBIDDEN"], |twin| {
        twin.text = |twin, raw| text(twin, &raw.replace(|c| !is_xml_char(c), ""));
    }),
    hardened("forbidden-characters-as-question-marks", &["ESC-FORBIDDEN"], |twin| {
        twin.text = |twin, raw| text(twin, &raw.replace(|c| !is_xml_char(c), "?"));
    }),
    bug("text-ends-at-nul", &["ESC-FORBIDDEN"], |twin| {
        twin.text = |twin, raw| text(twin, raw.split('\0').next().unwrap_or_default());
    }),
    bug("last-two-code-points-forgotten", &["ESC-FORBIDDEN", "DOC-4"], |twin| {
        twin.text = |twin, raw| {
            let piece = |c: char| match c {
                '\u{fffe}' | '\u{ffff}' => c.to_string(),
                c => text(twin, &c.to_string()),
            };
            raw.chars().map(piece).collect()
        };
    }),
    bug("colour-codes-stripped", &["ESC-FORBIDDEN"], |twin| {
        twin.text = |twin, raw| {
            let strip = |part: &str| part.trim_start_matches(|c: char| "[;0123456789".contains(c)).replacen('m', "", 1);
            let mut parts = raw.split('\u{1b}');
            let first = parts.next().unwrap_or_default().to_owned();
            text(twin, &parts.map(strip).fold(first, |text, part| text + &part))
        };
    }),
    bug("attributes-not-escaped", &["ATT-ESCAPED", "DOC-5", "DOC-4"], |twin| {
        twin.attribute = |_, raw| raw.replace(|c| !is_xml_char(c), "\u{fffd}");
    }),
    bug("quotes-left-in-attributes", &["ATT-ESCAPED", "DOC-5"], |twin| {
        twin.attribute = |twin, raw| attribute(twin, raw).replace("&quot;", "\"");
    }),
    bug("apostrophe-left-in-attributes", &["ATT-ESCAPED", "ESC-4"], |twin| {
        twin.attribute = |twin, raw| attribute(twin, raw).replace("&apos;", "'");
    }),
    bug("greater-than-left-in-attributes", &["ATT-ESCAPED", "ESC-4"], |twin| {
        twin.attribute = |twin, raw| attribute(twin, raw).replace("&gt;", ">");
    }),
    bug("attributes-escaped-twice", &["ATT-ESCAPED"], |twin| {
        twin.attribute = |twin, raw| attribute(twin, raw).replace('&', "&amp;");
    }),
    hardened("white-space-raw-in-attributes", &["ATT-WHITESPACE"], |twin| {
        twin.attribute = |_, raw| escape_attribute(raw, Profile::Literal).into_owned();
    }),
    hardened("line-feed-raw-in-attributes", &["ATT-WHITESPACE"], |twin| {
        twin.attribute = |twin, raw| attribute(twin, raw).replace("&#10;", "\n");
    }),
    bug("white-space-in-attributes-collapsed", &["ATT-WHITESPACE"], |twin| {
        twin.attribute = |twin, raw| attribute(twin, &raw.replace(['\t', '\n', '\r'], " "));
    }),
    bug("attributes-trimmed", &["ATT-NAME"], |twin| {
        twin.attribute = |twin, raw| attribute(twin, raw.trim());
    }),
    bug("attributes-cut-after-64-characters", &["ATT-NAME"], |twin| {
        twin.attribute = |twin, raw| attribute(twin, &raw.chars().take(64).collect::<String>());
    }),
];
