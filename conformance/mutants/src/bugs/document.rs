//! The frame of the document and the attributes of its elements.

use super::{Planted, bug, hardened};
use crate::twin::document::{body, calls, element, join, name, prefix, thread};
use threadspec::EventKind;
use threadspec_golden::clause;

pub(super) const BUGS: &[Planted] = &[
    bug("trailing-newline", &[clause::DOC_1, clause::DOC_3], |twin| twin.thread = |lines| thread(lines) + "\n"),
    bug("xml-declaration", &[clause::DOC_1], |twin| {
        twin.thread = |lines| format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{}", thread(lines));
    }),
    bug("namespace", &[clause::DOC_1], |twin| {
        twin.thread = |lines| thread(lines).replacen("<thread>", "<thread xmlns=\"urn:thread\">", 1);
    }),
    bug("carriage-returns-between-lines", &[clause::DOC_1], |twin| {
        twin.thread =
            |lines| format!("<thread>\r\n{}</thread>", lines.iter().map(|l| format!("{l}\r\n")).collect::<String>());
    }),
    bug("all-on-one-line", &[clause::DOC_1, clause::DOC_2], |twin| {
        twin.thread =
            |lines| format!("<thread>{}</thread>", lines.iter().map(|line| line.trim_start()).collect::<String>());
    }),
    bug("indented-by-four", &[clause::DOC_2], |twin| {
        twin.element = |attributes, body| format!("  {}", element(attributes, body));
    }),
    bug("indented-by-a-tab", &[clause::DOC_2], |twin| {
        twin.element = |attributes, body| element(attributes, body).replacen("  ", "\t", 1);
    }),
    bug("not-indented", &[clause::DOC_2], |twin| {
        twin.element = |attributes, body| element(attributes, body).replacen("  ", "", 1);
    }),
    bug("blank-line-between-events", &[clause::DOC_2], |twin| {
        twin.thread = |lines| thread(lines).replace("</event>\n  <", "</event>\n\n  <");
    }),
    bug("empty-text-closes-itself", &[clause::DOC_2], |twin| {
        twin.element = |attributes, body| {
            if body.is_empty() { format!("  <event{attributes} />") } else { element(attributes, body) }
        };
    }),
    bug("events-without-text-left-out", &[clause::DOC_2], |twin| {
        twin.thread =
            |lines| thread(&lines.iter().filter(|line| !line.ends_with("></event>")).cloned().collect::<Vec<_>>());
    }),
    bug("newest-first", &[clause::DOC_2], |twin| {
        twin.thread = |lines| thread(&lines.iter().rev().cloned().collect::<Vec<_>>());
    }),
    bug("sorted-by-text-of-line", &[clause::DOC_2], |twin| {
        twin.thread = |lines| {
            let mut lines = lines.to_vec();
            lines.sort();
            thread(&lines)
        };
    }),
    bug("text-trimmed", &[clause::DOC_2], |twin| twin.body = |twin, event| body(twin, event).trim().to_owned()),
    bug("text-trimmed-at-the-end", &[clause::DOC_2], |twin| {
        twin.body = |twin, event| body(twin, event).trim_end().to_owned();
    }),
    bug("text-loses-final-newline", &[clause::DOC_2], |twin| {
        twin.body = |twin, event| body(twin, event).trim_end_matches('\n').to_owned();
    }),
    bug("text-lines-indented", &[clause::DOC_2], |twin| {
        twin.body = |twin, event| body(twin, event).replace('\n', "\n    ")
    }),
    bug("text-dedented", &[clause::DOC_2], |twin| {
        twin.body = |twin, event| body(twin, event).split('\n').map(str::trim_start).collect::<Vec<_>>().join("\n");
    }),
    bug("white-space-collapsed", &[clause::DOC_2], |twin| {
        twin.body = |twin, event| {
            let text = body(twin, event);
            if text.contains("  ") {
                text.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
            } else {
                text
            }
        };
    }),
    bug("blank-text-is-empty", &[clause::DOC_2], |twin| {
        twin.body = |twin, event| Some(body(twin, event)).filter(|text| !text.trim().is_empty()).unwrap_or_default();
    }),
    bug("text-cut-after-500-characters", &[clause::DOC_2], |twin| {
        twin.body = |twin, event| body(twin, event).chars().take(500).collect();
    }),
    bug("text-cut-after-10000-characters", &[clause::DOC_2], |twin| {
        twin.body = |twin, event| body(twin, event).chars().take(10_000).collect();
    }),
    bug("text-cut-after-64-kilobytes", &[clause::DOC_2], |twin| {
        twin.body = |twin, event| {
            let text = body(twin, event);
            let end = (0..=text.len().min(1 << 16)).rev().find(|&end| text.is_char_boundary(end));
            text[..end.unwrap_or(0)].to_owned()
        };
    }),
    bug("long-text-with-ellipsis", &[clause::DOC_2], |twin| {
        twin.body = |twin, event| {
            let text = body(twin, event);
            if text.chars().count() > 2000 { text.chars().take(2000).chain("…".chars()).collect() } else { text }
        };
    }),
    bug("only-the-last-100-events", &[clause::DOC_2, clause::ATT_ID], |twin| {
        twin.thread = |lines| thread(&lines[lines.len().saturating_sub(100)..]);
    }),
    bug("text-on-its-own-lines", &[clause::DOC_2], |twin| {
        twin.element = |attributes, body| element(attributes, &format!("\n    {body}\n  "));
    }),
    bug("empty-thread-on-one-line", &[clause::DOC_3], |twin| {
        twin.thread = |lines| if lines.is_empty() { "<thread></thread>".to_owned() } else { thread(lines) };
    }),
    bug("empty-thread-closes-itself", &[clause::DOC_3], |twin| {
        twin.thread = |lines| if lines.is_empty() { "<thread/>".to_owned() } else { thread(lines) };
    }),
    bug("empty-thread-has-a-blank-line", &[clause::DOC_3, clause::DOC_1], |twin| {
        twin.thread = |lines| if lines.is_empty() { "<thread>\n\n</thread>".to_owned() } else { thread(lines) };
    }),
    bug("no-events-no-document", &[clause::DOC_3], |twin| {
        twin.thread = |lines| if lines.is_empty() { String::new() } else { thread(lines) };
    }),
    bug("prefix-escaped", &[clause::DOC_6], |twin| {
        twin.prefix = |raw| prefix(raw.map(|raw| threadspec::escape_xml(raw).into_owned()).as_deref());
    }),
    bug("prefix-on-the-same-line", &[clause::DOC_6], |twin| twin.prefix = |raw| raw.unwrap_or_default().to_owned()),
    bug("prefix-after-a-blank-line", &[clause::DOC_6], |twin| {
        twin.prefix = |raw| prefix(raw).replacen('\n', "\n\n", 1)
    }),
    bug("prefix-trimmed", &[clause::DOC_6], |twin| twin.prefix = |raw| prefix(raw.map(str::trim))),
    bug("prefix-followed-by-a-newline", &[clause::DOC_6], |twin| {
        twin.prefix = |raw| prefix(raw) + raw.filter(|raw| !raw.is_empty()).map_or("", |_| "\n");
    }),
    bug("prefix-ignored", &[clause::DOC_6], |twin| twin.prefix = |_| String::new()),
    bug("prefix-of-white-space-ignored", &[clause::DOC_6], |twin| {
        twin.prefix = |raw| prefix(raw.filter(|raw| !raw.trim().is_empty()));
    }),
    bug("prefix-absent-leaves-a-newline", &[clause::DOC_6, clause::DOC_PREFIX_EMPTY], |twin| {
        twin.prefix = |raw| format!("\n{}", raw.unwrap_or_default());
    }),
    bug("prefix-null-in-words", &[clause::DOC_PREFIX_EMPTY], |twin| {
        twin.prefix = |raw| format!("\n{}", raw.unwrap_or("undefined"));
    }),
    bug("prefix-not-after-an-empty-thread", &[clause::DOC_6], |twin| {
        twin.after = |_, _, _, output| {
            if let Some(text) = output.as_str().filter(|text| text.starts_with("<thread>\n</thread>\n")) {
                *output = text[..18].into();
            }
        };
    }),
    bug("attributes-in-alphabetical-order", &[clause::ATT_ORDER], |twin| twin.attributes = |list, _| list.sort()),
    bug("id-before-type", &[clause::ATT_ORDER], |twin| twin.attributes = |list, _| list.swap(0, 1)),
    bug("iteration-before-name", &[clause::ATT_ORDER], |twin| {
        twin.attributes = |list, _| {
            if let Some(name) = list.iter().position(|(name, _)| *name == "name") {
                let iteration = list.pop().unwrap_or_default();
                list.insert(name, iteration);
            }
        };
    }),
    bug("status-before-name", &[clause::ATT_ORDER], |twin| {
        twin.attributes = |list, event| {
            if matches!(event.kind, EventKind::ToolResult { .. }) {
                list.swap(2, 3);
            }
        };
    }),
    bug("recoverable-before-iteration", &[clause::ATT_ORDER], |twin| {
        twin.attributes = |list, event| {
            if matches!(event.kind, EventKind::Error { .. }) {
                list.swap(2, 3);
            }
        };
    }),
    bug("summarized-before-iteration", &[clause::ATT_ORDER], |twin| {
        twin.attributes = |list, event| {
            if matches!(event.kind, EventKind::Summary { .. }) {
                list.swap(2, 3);
            }
        };
    }),
    bug("ids-from-one", &[clause::ATT_ID], |twin| twin.id = |_, _, position| (position + 1).to_string()),
    bug("ids-from-the-iteration-start", &[clause::ATT_ID], |twin| {
        twin.id = |_, events, position| {
            let start = events.iter().position(|event| event.iteration == events[position].iteration);
            position.saturating_sub(start.unwrap_or(0)).to_string()
        };
    }),
    bug("ids-per-type", &[clause::ATT_ID], |twin| {
        twin.id = |twin, events, position| {
            let same = |event: &&threadspec::Event| (twin.kind)(&event.kind) == (twin.kind)(&events[position].kind);
            events[..position].iter().filter(same).count().to_string()
        };
    }),
    bug("ids-from-call-ids", &[clause::ATT_ID], |twin| {
        twin.id = |_, events, position| match &events[position].kind {
            EventKind::ToolCall { tool_call_id: id, .. } | EventKind::ToolResult { tool_call_id: id, .. } => id.clone(),
            _ => position.to_string(),
        };
    }),
    bug("ids-in-hexadecimal", &[clause::ATT_ID], |twin| twin.id = |_, _, position| format!("{position:x}")),
    bug("ids-padded", &[clause::ATT_ID], |twin| twin.id = |_, _, position| format!("{position:03}")),
    bug("iteration-zero-left-out", &[clause::ATT_ITERATION, clause::EVT_USER], |twin| {
        twin.attributes = |list, _| list.retain(|(name, value)| *name != "iteration" || value != "0");
    }),
    bug("iteration-from-one", &[clause::ATT_ITERATION], |twin| {
        twin.iteration = |event| (event.iteration + 1).to_string()
    }),
    bug("iteration-in-32-bits", &[clause::ATT_ITERATION], |twin| {
        #[expect(clippy::cast_possible_truncation, reason = "that is the bug")]
        let narrow = |event: &threadspec::Event| (event.iteration as i32).to_string();
        twin.iteration = narrow;
    }),
    bug("iteration-as-float", &[clause::ATT_ITERATION], |twin| {
        twin.iteration = |event| format!("{}.0", event.iteration)
    }),
    bug("iteration-in-exponential-form", &[clause::ATT_ITERATION], |twin| {
        #[expect(clippy::cast_precision_loss, reason = "that is the bug")]
        let exponential = |event: &threadspec::Event| match event.iteration {
            large @ 1_000_000.. => format!("{:e}", large as f64),
            small => small.to_string(),
        };
        twin.iteration = exponential;
    }),
    bug("name-of-result-always-unknown", &[clause::ATT_NAME], |twin| twin.name = |_, _, _| None),
    bug("name-of-orphan-empty", &[clause::ATT_NAME], |twin| {
        twin.name = |events, position, id| name(events, position, id).or_else(|| Some(String::new()));
    }),
    bug("name-of-orphan-is-its-id", &[clause::ATT_NAME], |twin| {
        twin.name = |events, position, id| name(events, position, id).or_else(|| Some(id.to_owned()));
    }),
    bug("name-of-the-call-directly-before", &[clause::ATT_NAME], |twin| {
        twin.name = |events, position, _| calls(&events[..position]).next_back().map(|(_, name)| name.to_owned());
    }),
    bug("name-looked-up-in-the-same-iteration-only", &[clause::ATT_NAME], |twin| {
        twin.name = |events, position, id| {
            let now = events[position].iteration;
            let then: Vec<_> = events[..position].iter().filter(|event| event.iteration == now).cloned().collect();
            name(&then, then.len(), id)
        };
    }),
    bug("name-looked-up-ignoring-case", &[clause::ATT_NAME], |twin| {
        twin.name = |events, position, id| {
            let same = |&(call, _): &(&str, &str)| call.eq_ignore_ascii_case(id);
            calls(&events[..position]).rev().find(same).map(|(_, name)| name.to_owned())
        };
    }),
    bug("name-looked-up-by-prefix-of-id", &[clause::ATT_NAME], |twin| {
        twin.name = |events, position, id| {
            calls(&events[..position]).rev().find(|(call, _)| id.starts_with(call)).map(|(_, name)| name.to_owned())
        };
    }),
    bug("name-forgotten-after-its-result", &[clause::ATT_NAME], |twin| {
        twin.name = |events, position, id| {
            let answers = |event: &threadspec::Event| matches!(&event.kind, EventKind::ToolResult { tool_call_id, .. } if tool_call_id == id);
            let start = events[..position].iter().rposition(answers).map_or(0, |answer| answer + 1);
            name(&events[start..], position - start, id)
        };
    }),
    bug("name-of-the-first-call", &[clause::ATT_NAME_NEAREST], |twin| {
        twin.name = |events, position, id| {
            calls(&events[..position]).find(|&(call, _)| call == id).map(|(_, name)| name.to_owned())
        };
    }),
    hardened("name-of-the-last-call", &[clause::ATT_NAME_NEAREST], |twin| {
        twin.name = |events, _, id| name(events, events.len(), id);
    }),
    hardened("name-of-a-later-call", &[clause::ATT_NAME_NEAREST], |twin| {
        twin.name = |events, position, id| name(events, position, id).or_else(|| name(events, events.len(), id));
    }),
    bug("empty-name-is-unknown", &[clause::NAME_ORDINARY, clause::ATT_NAME], |twin| {
        twin.name = |events, position, id| name(events, position, id).filter(|name| !name.is_empty());
    }),
    bug("empty-id-finds-nothing", &[clause::NAME_ORDINARY, clause::ATT_NAME], |twin| {
        twin.name = |events, position, id| name(events, position, id).filter(|_| !id.is_empty());
    }),
    bug("inherited-members-are-names", &[clause::NAME_ORDINARY], |twin| {
        twin.name = |events, position, id| {
            let inherited = ["constructor", "toString", "valueOf", "hasOwnProperty"].contains(&id);
            name(events, position, id).or(inherited.then(|| "function () { [native code] }".to_owned()))
        };
    }),
    bug("proto-id-is-lost", &[clause::NAME_ORDINARY], |twin| {
        twin.name = |events, position, id| name(events, position, id).filter(|_| id != "__proto__");
    }),
    bug("proto-tool-is-lost", &[clause::NAME_ORDINARY], |twin| {
        twin.name = |events, position, id| name(events, position, id).filter(|name| name != "__proto__");
    }),
    bug("status-from-the-text", &[clause::ATT_STATUS], |twin| {
        twin.attributes = |list, event| {
            let failed = |text: &str| text.starts_with("Error") || text.starts_with("Tool error");
            if let EventKind::ToolResult { result: Some(result), .. } = &event.kind
                && result.as_str().is_some_and(failed)
            {
                list[3].1 = "error".to_owned();
            }
        };
    }),
    bug("status-from-an-error-member", &[clause::ATT_STATUS], |twin| {
        twin.attributes = |list, event| {
            if let EventKind::ToolResult { result: Some(result), .. } = &event.kind
                && result.get("error").is_some()
            {
                list[3].1 = "error".to_owned();
            }
        };
    }),
    bug("status-left-out", &[clause::ATT_STATUS, clause::EVT_RESULT], |twin| {
        twin.attributes = |list, _| list.retain(|(name, _)| *name != "status");
    }),
    bug("status-unknown-for-orphans", &[clause::ATT_STATUS], |twin| {
        twin.attributes = |list, event| {
            if matches!(event.kind, EventKind::ToolResult { .. }) && list[2].1 == "unknown" {
                list[3].1 = "unknown".to_owned();
            }
        };
    }),
    bug("recoverable-in-python", &[clause::ATT_RECOVERABLE], |twin| {
        twin.attributes = |list, event| {
            if let EventKind::Error { recoverable, .. } = event.kind {
                list[3].1 = if recoverable { "True" } else { "False" }.to_owned();
            }
        };
    }),
    bug("recoverable-as-a-number", &[clause::ATT_RECOVERABLE], |twin| {
        twin.attributes = |list, event| {
            if let EventKind::Error { recoverable, .. } = event.kind {
                list[3].1 = u8::from(recoverable).to_string();
            }
        };
    }),
    bug("recoverable-false-left-out", &[clause::ATT_RECOVERABLE, clause::EVT_ERROR], |twin| {
        twin.attributes = |list, _| list.retain(|(name, value)| *name != "recoverable" || value == "true");
    }),
    bug("recoverable-always-true", &[clause::ATT_RECOVERABLE], |twin| {
        twin.attributes = |list, event| {
            if matches!(event.kind, EventKind::Error { .. }) {
                list[3].1 = "true".to_owned();
            }
        };
    }),
    bug("summarized-with-spaces", &[clause::ATT_SUMMARIZED], |twin| {
        twin.summarized = |iterations| join(iterations, ", ")
    }),
    bug("summarized-in-brackets", &[clause::ATT_SUMMARIZED], |twin| {
        twin.summarized = |iterations| format!("[{}]", join(iterations, ","));
    }),
    bug("summarized-as-a-range", &[clause::ATT_SUMMARIZED], |twin| {
        twin.summarized = |iterations| match iterations {
            [first, .., last] if *last == first + iterations.len() as u64 - 1 => format!("{first}-{last}"),
            _ => join(iterations, ","),
        };
    }),
    bug("summarized-sorted", &[clause::ATT_SUMMARIZED], |twin| {
        twin.summarized = |iterations| {
            let mut sorted = iterations.to_vec();
            sorted.sort_unstable();
            join(&sorted, ",")
        };
    }),
    bug("summarized-without-duplicates", &[clause::ATT_SUMMARIZED], |twin| {
        twin.summarized = |iterations| {
            let mut unique = iterations.to_vec();
            unique.dedup();
            join(&unique, ",")
        };
    }),
    bug("summarized-empty-left-out", &[clause::ATT_SUMMARIZED, clause::EVT_SUMMARY], |twin| {
        twin.attributes = |list, _| list.retain(|(name, value)| *name != "summarizedIterations" || !value.is_empty());
    }),
];
