//! The System message and the two context modes.

use super::{Planted, bug};
use crate::twin::context::{summaries, system, xml};
use crate::twin::document::join;
use serde_json::Value;
use threadspec::{ContextMode, Event, EventKind, Message, escape_xml};
use threadspec_golden::clause;
use threadspec_judge::protocol::Op;

/// The text of the System message that an output begins with, if there is one.
fn system_text(output: &mut Value) -> Option<&mut Value> {
    let first = output.as_array_mut()?.first_mut()?;
    (first["type"] == "system").then(|| &mut first["content"])
}

pub(super) const BUGS: &[Planted] = &[
    bug("xml-by-default", &[clause::CTX_DEFAULT], |twin| twin.mode = |mode| mode.unwrap_or(ContextMode::Xml)),
    bug("null-mode-is-refused", &[clause::CTX_DEFAULT], |twin| {
        twin.before = |_, _, input| {
            if input.get("contextMode").is_some_and(Value::is_null) {
                input["contextMode"] = "null".into();
            }
        };
    }),
    bug("mode-ignored", &[clause::CTX_DEFAULT, clause::CTX_XML], |twin| twin.mode = |_| ContextMode::Standard),
    bug("unknown-modes-mean-standard", &[clause::CTX_UNKNOWN], |twin| {
        twin.before = |_, _, input| {
            if input.get("contextMode").is_some_and(|mode| mode.is_string() && mode != "xml") {
                input["contextMode"] = "standard".into();
            }
        };
    }),
    bug("modes-in-any-case", &[clause::CTX_UNKNOWN], |twin| {
        twin.before = |_, _, input| {
            if let Some(mode) = input["contextMode"].as_str().map(str::to_lowercase) {
                input["contextMode"] = mode.into();
            }
        };
    }),
    bug("instructions-first", &[clause::CTX_SYSTEM], |twin| {
        twin.system = |summaries, instructions, mode| system(instructions, summaries, mode);
    }),
    bug("one-line-feed-before-instructions", &[clause::CTX_SUMMARIES], |twin| {
        twin.system = |summaries, instructions, mode| {
            if summaries.is_empty() || instructions.is_empty() {
                system(summaries, instructions, mode)
            } else {
                format!("{summaries}\n{instructions}")
            }
        };
    }),
    bug("summaries-trimmed-before-instructions", &[clause::CTX_SUMMARIES], |twin| {
        twin.system = |summaries, instructions, mode| system(summaries.trim_end(), instructions, mode);
    }),
    bug("instructions-trimmed", &[clause::CTX_SYSTEM], |twin| {
        twin.system = |summaries, instructions, mode| system(summaries, instructions.trim(), mode);
    }),
    bug("blank-instructions-ignored", &[clause::CTX_SYSTEM], |twin| {
        twin.system = |summaries, instructions, mode| {
            system(summaries, if instructions.trim().is_empty() { "" } else { instructions }, mode)
        };
    }),
    bug("system-message-always", &[clause::CTX_SYSTEM], |twin| {
        twin.after = |_, op, _, output| {
            if let (Op::Messages, None, Some(messages)) = (op, system_text(&mut output.clone()), output.as_array_mut())
            {
                messages.insert(0, serde_json::json!({"type": "system", "content": ""}));
            }
        };
    }),
    bug("system-message-escaped", &[clause::CTX_SYSTEM], |twin| {
        twin.system = |summaries, instructions, mode| escape_xml(&system(summaries, instructions, mode)).into_owned();
    }),
    bug("system-message-escaped-in-xml-mode", &[clause::CTX_SYSTEM], |twin| {
        twin.system = |summaries, instructions, mode| match mode {
            ContextMode::Xml => escape_xml(&system(summaries, instructions, mode)).into_owned(),
            ContextMode::Standard => system(summaries, instructions, mode),
        };
    }),
    bug("no-summaries-in-the-system-message-of-xml-mode", &[clause::CTX_SYSTEM, clause::CTX_XML], |twin| {
        twin.system = |summaries, instructions, mode| match mode {
            ContextMode::Xml => instructions.to_owned(),
            ContextMode::Standard => system(summaries, instructions, mode),
        };
    }),
    bug("two-system-messages", &[clause::CTX_SYSTEM], |twin| {
        twin.after = |_, op, input, output| {
            let (Op::Messages, Some(instructions)) = (op, input["instructions"].as_str()) else { return };
            let Some(text) = system_text(output) else { return };
            let summaries =
                text.as_str().and_then(|text| text.strip_suffix(&format!("\n\n{instructions}"))).map(str::to_owned);
            if let (Some(summaries), false, Some(messages)) =
                (summaries, instructions.is_empty(), output.as_array_mut())
            {
                messages[0]["content"] = instructions.into();
                messages.insert(0, serde_json::json!({"type": "system", "content": summaries}));
            }
        };
    }),
    bug("system-message-as-human", &[clause::CTX_SYSTEM], |twin| {
        twin.after = |_, op, _, output| {
            if op == Op::Messages && system_text(output).is_some() {
                output[0]["type"] = "human".into();
            }
        };
    }),
    bug("system-message-last", &[clause::CTX_SYSTEM], |twin| {
        twin.after = |_, op, _, output| {
            if op == Op::Messages && system_text(output).is_some() {
                output.as_array_mut().into_iter().for_each(|messages| messages.rotate_left(1));
            }
        };
    }),
    bug("summaries-without-heading", &[clause::CTX_SUMMARIES], |twin| {
        twin.summaries = |list| summaries(list).replacen("## Previous Iteration Summaries\n\n", "", 1);
    }),
    bug("summaries-with-a-heading-each", &[clause::CTX_SUMMARIES], |twin| {
        twin.summaries = |list| list.iter().map(|summary| summaries(&[*summary])).collect();
    }),
    bug("only-the-last-summary", &[clause::CTX_SUMMARIES, clause::MSG_SUMMARY, clause::EQ_1], |twin| {
        twin.summaries = |list| summaries(&list[list.len().saturating_sub(1)..]);
    }),
    bug("summaries-newest-first", &[clause::CTX_SUMMARIES], |twin| {
        twin.summaries = |list| summaries(&list.iter().rev().copied().collect::<Vec<_>>());
    }),
    bug("summary-numbers-without-spaces", &[clause::CTX_SUMMARIES], |twin| {
        twin.summaries = |list| {
            list.iter().fold(summaries(list), |text, (iterations, _)| {
                text.replace(&format!("(s) {}\n", join(iterations, ", ")), &format!("(s) {}\n", join(iterations, ",")))
            })
        };
    }),
    bug("summaries-separated-by-one-line", &[clause::CTX_SUMMARIES], |twin| {
        twin.summaries = |list| {
            let heading = "## Previous Iteration Summaries\n\n";
            let shown = list.iter().map(|&summary| summaries(&[summary]));
            let section = |shown: String| Some(shown.strip_prefix(heading)?.strip_suffix('\n')?.to_owned());
            let sections: String = shown.filter_map(section).collect();
            if sections.is_empty() { sections } else { format!("{heading}{sections}\n") }
        };
    }),
    bug("summary-plural-only-when-needed", &[clause::CTX_SUMMARIES], |twin| {
        twin.summaries = |list| {
            let text = summaries(list);
            if list.iter().all(|(iterations, _)| iterations.len() == 1) {
                text.replace("Iteration(s)", "Iteration")
            } else {
                text
            }
        };
    }),
    bug("empty-summaries-left-out", &[clause::CTX_SUMMARIES], |twin| {
        twin.summaries =
            |list| summaries(&list.iter().filter(|(_, text)| !text.is_empty()).copied().collect::<Vec<_>>());
    }),
    bug("xml-without-summaries", &[clause::CTX_XML, clause::EQ_1], |twin| {
        twin.xml = |twin, events| {
            let kept = |event: &&Event| !matches!(event.kind, EventKind::Summary { .. });
            xml(twin, &events.iter().filter(kept).cloned().collect::<Vec<_>>())
        };
    }),
    bug("xml-without-completions", &[clause::CTX_XML], |twin| {
        twin.xml = |twin, events| {
            let kept = |event: &&Event| !matches!(event.kind, EventKind::Completion { .. });
            xml(twin, &events.iter().filter(kept).cloned().collect::<Vec<_>>())
        };
    }),
    bug("xml-with-the-last-user-message", &[clause::CTX_XML], |twin| {
        twin.xml = |twin, events| {
            let last = events.iter().rev().find_map(|event| match &event.kind {
                EventKind::Message { role: threadspec::Role::User, content } => Some(Message::human(content)),
                _ => None,
            });
            xml(twin, events).into_iter().chain(last).collect()
        };
    }),
    bug("xml-followed-by-messages", &[clause::CTX_XML], |twin| {
        twin.xml = |twin, events| {
            let messages = events.iter().filter_map(|event| (twin.message)(twin, event));
            xml(twin, events).into_iter().chain(messages).collect()
        };
    }),
    bug("xml-in-the-system-message", &[clause::CTX_XML, clause::CTX_SYSTEM], |twin| {
        twin.xml = |twin, events| vec![Message::system(twin.document(events))];
    }),
    bug("xml-from-the-assistant", &[clause::CTX_XML], |twin| {
        twin.xml = |twin, events| vec![Message::ai(twin.document(events))];
    }),
    bug("xml-introduced-by-a-sentence", &[clause::CTX_XML], |twin| {
        twin.xml = |twin, events| vec![Message::human(format!("The conversation so far:\n{}", twin.document(events)))];
    }),
    bug("xml-with-the-prefix", &[clause::CTX_XML], |twin| {
        twin.after = |_, op, input, output| {
            let (Op::Messages, "xml", Some(prefix)) =
                (op, input["contextMode"].as_str().unwrap_or_default(), input["responsePrefix"].as_str())
            else {
                return;
            };
            if let Some(last) = output.as_array_mut().and_then(|messages| messages.last_mut()) {
                last["content"] = format!("{}\n{prefix}", last["content"].as_str().unwrap_or_default()).into();
            }
        };
    }),
    bug("xml-nothing-for-an-empty-thread", &[clause::CTX_XML], |twin| {
        twin.xml = |twin, events| if events.is_empty() { Vec::new() } else { xml(twin, events) };
    }),
    bug("xml-escaped-twice", &[clause::CTX_XML, clause::EQ_1], |twin| {
        twin.xml = |twin, events| {
            vec![Message::human(twin.document(events).replace("&amp;", "&amp;amp;").replace("&lt;", "&amp;lt;"))]
        };
    }),
];
