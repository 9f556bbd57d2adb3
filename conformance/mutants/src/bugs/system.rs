//! The System message and the two context modes.

use crate::plants::TwinSite::{Instructions, Summaries, System};
use crate::plants::prelude::*;
use crate::twin::context::{summaries, system, xml};
use crate::twin::document::join;
use threadspec::escape_xml;

const MODE: &[&str] = &["contextMode"];

/// The text of the System message that messages begin with, if there is one.
fn system_text(messages: &mut [Value]) -> Option<&mut Value> {
    let first = messages.first_mut()?;
    (first["type"] == "system").then(|| &mut first["content"])
}

/// Makes another System message in XML mode, or in cases of it, from summaries and instructions.
pub(super) fn in_xml_mode(
    name: FaultName,
    terms: impl IntoTerms,
    written: fn(&str, &str) -> Option<String>,
) -> Planted {
    on::system(name, terms, move |summaries, instructions, mode| {
        let other = if mode == ContextMode::Xml { written(summaries, instructions) } else { None };
        other.unwrap_or_else(|| system(summaries, instructions, mode))
    })
}

/// Shows the document of a thread in another message.
fn shown(name: FaultName, terms: impl IntoTerms, message: fn(String) -> Message) -> Planted {
    on::xml(name, terms, move |twin: &Twin, events: &[Event]| vec![message(twin.document(events))])
}

/// Leaves a type of events out of the document of a request.
fn xml_without(name: FaultName, terms: impl IntoTerms, kind: &'static str) -> Planted {
    on::xml(name, terms, move |twin, events| {
        xml(twin, &events.iter().filter(|event| word(event) != kind).cloned().collect::<Vec<_>>())
    })
}

pub(super) fn bugs() -> Vec<Planted> {
    let mut bugs = vec![
        on::mode("xml-by-default", CTX_DEFAULT, |mode| mode.unwrap_or(ContextMode::Xml)),
        member("null-mode-is-refused", CTX_DEFAULT, MODE, |mode| mode.is_null().then(|| "null".into())),
        on::mode("mode-ignored", [CTX_DEFAULT, CTX_XML], |_| ContextMode::Standard),
        member("unknown-modes-mean-standard", CTX_UNKNOWN, MODE, |mode| {
            (mode.is_string() && mode != "xml").then(|| "standard".into())
        }),
        member("modes-in-any-case", CTX_UNKNOWN, MODE, |mode| Some(mode.as_str()?.to_lowercase().into())),
        on::system("instructions-first", CTX_SYSTEM, |summaries, instructions, mode| {
            system(instructions, summaries, mode)
        }),
        on::system("one-line-feed-before-instructions", CTX_SUMMARIES, |summaries, instructions, _| {
            let separator = if summaries.is_empty() || instructions.is_empty() { "" } else { "\n" };
            format!("{summaries}{separator}{instructions}")
        }),
        on::system("summaries-trimmed-before-instructions", CTX_SUMMARIES, |summaries, instructions, mode| {
            system(summaries.trim_end(), instructions, mode)
        }),
        on::messages("system-message-always", CTX_SYSTEM, |_, messages| {
            if system_text(messages).is_none() {
                messages.insert(0, json!({"type": "system", "content": ""}));
            }
        }),
        edit("system-message-escaped", CTX_SYSTEM, System, |text| escape_xml(text).into_owned()),
        in_xml_mode("system-message-escaped-in-xml-mode", CTX_SYSTEM, |summaries, instructions| {
            Some(escape_xml(&system(summaries, instructions, ContextMode::Xml)).into_owned())
        }),
        in_xml_mode("no-summaries-in-the-system-message-of-xml-mode", [CTX_SYSTEM, CTX_XML], |_, instructions| {
            Some(instructions.to_owned())
        }),
        in_xml_mode("no-instructions-in-xml-mode", CTX_SYSTEM, |summaries, _| Some(summaries.to_owned())),
        on::messages("two-system-messages", CTX_SYSTEM, |input, messages| {
            let instructions = input["instructions"].as_str().unwrap_or_default();
            let Some(text) = system_text(messages).filter(|_| !instructions.is_empty()) else { return };
            let before = text.as_str().and_then(|text| text.strip_suffix(&format!("\n\n{instructions}")));
            if let Some(summaries) = before.map(str::to_owned) {
                *text = instructions.into();
                messages.insert(0, json!({"type": "system", "content": summaries}));
            }
        }),
        on::messages("system-message-as-human", CTX_SYSTEM, |_, messages| {
            if system_text(messages).is_some() {
                messages[0]["type"] = "human".into();
            }
        }),
        on::messages("system-message-last", CTX_SYSTEM, |_, messages| {
            if system_text(messages).is_some() {
                messages.rotate_left(1);
            }
        }),
        on::several("only-leading-summaries", [MSG_SUMMARY, CTX_SYSTEM], |twin| {
            twin.before = &|twin, _, input| {
                let leads = input["events"][0]["type"] == "summary";
                twin.summaries = if leads { &summaries } else { &|_| String::new() };
            };
        }),
        on::summaries("summaries-with-a-heading-each", CTX_SUMMARIES, |list| {
            list.iter().map(|summary| summaries(&[*summary])).collect()
        }),
        on::summaries("only-the-last-summary", [CTX_SUMMARIES, MSG_SUMMARY, EQ_1], |list| {
            summaries(&list[list.len().saturating_sub(1)..])
        }),
        on::summaries("summaries-newest-first", CTX_SUMMARIES, |list| {
            summaries(&list.iter().rev().copied().collect::<Vec<_>>())
        }),
        on::summaries("summary-numbers-without-spaces", CTX_SUMMARIES, |list| {
            list.iter().fold(summaries(list), |text, (iterations, _)| {
                let [spaced, close] = [", ", ","].map(|comma| format!("(s) {}\n", join(iterations, comma)));
                text.replace(&spaced, &close)
            })
        }),
        on::summaries("summaries-separated-by-one-line", CTX_SUMMARIES, |list| {
            let heading = "## Previous Iteration Summaries\n\n";
            let shown = list.iter().map(|&summary| summaries(&[summary]));
            let section = |shown: String| Some(shown.strip_prefix(heading)?.strip_suffix('\n')?.to_owned());
            let sections: String = shown.filter_map(section).collect();
            if sections.is_empty() { sections } else { format!("{heading}{sections}\n") }
        }),
        on::summaries("summary-plural-only-when-needed", CTX_SUMMARIES, |list| {
            let is_one = list.iter().all(|(iterations, _)| iterations.len() == 1);
            summaries(list).replace("Iteration(s)", if is_one { "Iteration" } else { "Iteration(s)" })
        }),
        on::summaries("empty-summaries-left-out", CTX_SUMMARIES, |list| {
            summaries(&list.iter().filter(|(_, text)| !text.is_empty()).copied().collect::<Vec<_>>())
        }),
        xml_without("xml-without-summaries", [CTX_XML, EQ_1], "summary"),
        xml_without("xml-without-completions", CTX_XML, "completion"),
        on::xml("xml-with-the-last-user-message", CTX_XML, |twin, events| {
            let last = events.iter().rev().find_map(|event| match &event.kind {
                EventKind::Message { content, .. } if word(event) == "user" => Some(Message::human(content)),
                _ => None,
            });
            xml(twin, events).into_iter().chain(last).collect()
        }),
        on::xml("xml-followed-by-messages", CTX_XML, |twin, events| {
            let messages = events.iter().filter_map(|event| (twin.message)(twin, event));
            xml(twin, events).into_iter().chain(messages).collect()
        }),
        shown("xml-in-the-system-message", [CTX_XML, CTX_SYSTEM], Message::system),
        shown("xml-from-the-assistant", CTX_XML, Message::ai),
        shown("xml-introduced-by-a-sentence", CTX_XML, |document| {
            Message::human(format!("The conversation so far:\n{document}"))
        }),
        on::messages("xml-with-the-prefix", CTX_XML, |input, messages| {
            let prefix = input["responsePrefix"].as_str().filter(|_| input["contextMode"] == "xml");
            if let (Some(prefix), Some(last)) = (prefix, messages.last_mut()) {
                last["content"] = format!("{}\n{prefix}", last["content"].as_str().unwrap_or_default()).into();
            }
        }),
        on::xml("xml-nothing-for-an-empty-thread", CTX_XML, |twin, events| {
            if events.is_empty() { Vec::new() } else { xml(twin, events) }
        }),
        shown("xml-escaped-twice", [CTX_XML, EQ_1], |document| {
            Message::human(document.replace("&amp;", "&amp;amp;").replace("&lt;", "&amp;lt;"))
        }),
    ];
    bugs.extend(at(CTX_SYSTEM, Instructions).edits(&[
        ("instructions-trimmed", |text| text.trim().to_owned()),
        ("blank-instructions-ignored", |text| emptied(text, text.trim().is_empty())),
    ]));
    bugs.extend(
        at(CTX_SUMMARIES, Summaries).edits(&[("summaries-without-heading", |text| {
            text.replacen("## Previous Iteration Summaries\n\n", "", 1)
        })]),
    );
    bugs
}
