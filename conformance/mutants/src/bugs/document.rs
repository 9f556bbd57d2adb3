//! The frame of the document and the attributes of its elements.

use crate::plants::TwinSite::{Body, Prefix, Thread, Value};
use crate::plants::prelude::*;
use crate::twin::document::{calls, element, join, name, prefix, thread};
use crate::universal::operators::first;

type NamedValue = (&'static str, String);

/// Swaps two attributes of the events of a type.
fn swapped(name: FaultName, of: &'static str, at: usize) -> Planted {
    on::attributes(name, ATT_ORDER, move |list, _| {
        if of.is_empty() || list[0].1 == of {
            list.swap(at, at + 1);
        }
    })
}

/// Leaves an attribute out where its value is such.
fn left_out(
    name: FaultName,
    clauses: [&'static str; 2],
    attribute: &'static str,
    is_such: fn(&str) -> bool,
) -> Planted {
    on::attributes(name, clauses, move |list, _| list.retain(|(name, value)| *name != attribute || !is_such(value)))
}

/// Gives an attribute that there is another value, from the attributes and the event.
fn valued(
    name: FaultName,
    clause: &'static str,
    attribute: &'static str,
    value: fn(&[NamedValue], &Event) -> Option<String>,
) -> Planted {
    on::attributes(name, clause, move |list, event| {
        if let (Some(at), Some(value)) = (list.iter().position(|(name, _)| *name == attribute), value(list, event)) {
            list[at].1 = value;
        }
    })
}

/// An empty thread is written in another way.
fn empty(name: FaultName, document: &'static str) -> Planted {
    on::thread(name, DOC_3, move |lines| if lines.is_empty() { document.to_owned() } else { thread(lines) })
}

/// The result of the tool.
fn result(event: &Event) -> Option<&serde_json::Value> {
    if let EventKind::ToolResult { result, .. } = &event.kind { result.as_ref() } else { None }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "that is the bug")]
pub(super) fn bugs() -> Vec<Planted> {
    let mut bugs = vec![
        edit("trailing-newline", [DOC_1, DOC_3], Thread, |document| format!("{document}\n")),
        on::thread("carriage-returns-between-lines", DOC_1, |lines| {
            format!("<thread>\r\n{}</thread>", lines.iter().map(|l| format!("{l}\r\n")).collect::<String>())
        }),
        on::thread("all-on-one-line", [DOC_1, DOC_2], |lines| {
            format!("<thread>{}</thread>", lines.iter().map(|line| line.trim_start()).collect::<String>())
        }),
        on::element("indented-by-four", DOC_2, |list, body| format!("  {}", element(list, body))),
        on::element("indented-by-a-tab", DOC_2, |list, body| element(list, body).replacen("  ", "\t", 1)),
        on::element("not-indented", DOC_2, |list, body| element(list, body).replacen("  ", "", 1)),
        on::element("empty-text-closes-itself", DOC_2, |list, body| {
            if body.is_empty() { format!("  <event{list} />") } else { element(list, body) }
        }),
        on::element("text-on-its-own-lines", DOC_2, |list, body| element(list, &format!("\n    {body}\n  "))),
        swap("blank-line-between-events", DOC_2, Thread, &[("</event>\n  <", "</event>\n\n  <")]),
        on::thread("events-without-text-left-out", DOC_2, |lines| without(lines, |l| l.ends_with("></event>"))),
        on::thread("newest-first", DOC_2, |lines| thread(&lines.iter().rev().cloned().collect::<Vec<_>>())),
        on::thread("sorted-by-text-of-line", DOC_2, |lines| {
            let mut lines = lines.to_vec();
            lines.sort();
            thread(&lines)
        }),
        on::thread("only-the-last-100-events", [DOC_2, ATT_ID], |lines| {
            thread(&lines[lines.len().saturating_sub(100)..])
        }),
        empty("empty-thread-on-one-line", "<thread></thread>"),
        empty("empty-thread-closes-itself", "<thread/>"),
        Planted { breaks: &[DOC_3, DOC_1], ..empty("empty-thread-has-a-blank-line", "<thread>\n\n</thread>") },
        empty("no-events-no-document", ""),
        on::prefix("prefix-on-the-same-line", DOC_6, |raw| raw.unwrap_or_default().to_owned()),
        on::prefix("prefix-after-a-blank-line", DOC_6, |raw| prefix(raw).replacen('\n', "\n\n", 1)),
        on::prefix("prefix-ignored", DOC_6, |_| String::new()),
        on::prefix("prefix-absent-leaves-a-newline", [DOC_6, DOC_PREFIX_EMPTY], |raw| {
            format!("\n{}", raw.unwrap_or_default())
        }),
        on::prefix("prefix-null-in-words", DOC_PREFIX_EMPTY, |raw| format!("\n{}", raw.unwrap_or("undefined"))),
        on::after_serialize("prefix-not-after-an-empty-thread", DOC_6, |_, _, output| {
            if let Some(text) = output.as_str().filter(|text| text.starts_with("<thread>\n</thread>\n")) {
                *output = text[..18].into();
            }
        }),
        on::attributes("attributes-in-alphabetical-order", ATT_ORDER, |list, _| list.sort()),
        swapped("id-before-type", "", 0),
        on::attributes("iteration-before-name", ATT_ORDER, |list, _| {
            if let Some(name) = list.iter().position(|(name, _)| *name == "name") {
                let iteration = list.pop().unwrap_or_default();
                list.insert(name, iteration);
            }
        }),
        swapped("status-before-name", "tool_output", 2),
        swapped("recoverable-before-iteration", "error", 2),
        swapped("summarized-before-iteration", "summary", 2),
        on::id("ids-from-one", ATT_ID, |_, _, position| (position + 1).to_string()),
        on::id("ids-from-the-iteration-start", ATT_ID, |_, events, position| {
            let start = events.iter().position(|event| event.iteration == events[position].iteration);
            position.saturating_sub(start.unwrap_or(0)).to_string()
        }),
        on::id("ids-per-type", ATT_ID, |twin, events, position| {
            let kind = |event: &Event| (twin.kind)(&event.kind);
            events[..position].iter().filter(|event| kind(event) == kind(&events[position])).count().to_string()
        }),
        on::id("ids-from-call-ids", ATT_ID, |_, events, position| match &events[position].kind {
            EventKind::ToolCall { tool_call_id: id, .. } | EventKind::ToolResult { tool_call_id: id, .. } => id.clone(),
            _ => position.to_string(),
        }),
        on::id("ids-skip-system-messages", ATT_ID, |_, events, position| {
            events[..position].iter().filter(|event| word(event) != "system").count().to_string()
        }),
        on::id("ids-in-hexadecimal", ATT_ID, |_, _, position| format!("{position:x}")),
        on::id("ids-padded", ATT_ID, |_, _, position| format!("{position:03}")),
        left_out("iteration-zero-left-out", [ATT_ITERATION, EVT_USER], "iteration", |it| it == "0"),
        on::iteration("iteration-from-one", ATT_ITERATION, |event| (event.iteration + 1).to_string()),
        on::iteration("iteration-in-32-bits", ATT_ITERATION, |event| (event.iteration as i32).to_string()),
        on::iteration("iteration-with-thousands-separators", ATT_ITERATION, |event| {
            let digits = event.iteration.to_string();
            let groups = digits.as_bytes().rchunks(3).rev().filter_map(|group| str::from_utf8(group).ok());
            groups.collect::<Vec<_>>().join(",")
        }),
        on::iteration("iteration-as-float", ATT_ITERATION, |event| format!("{}.0", event.iteration)),
        on::iteration("iteration-in-exponential-form", ATT_ITERATION, |event| match event.iteration {
            large @ 1_000_000.. => format!("{:e}", large as f64),
            small => small.to_string(),
        }),
        on::name("name-of-result-always-unknown", ATT_NAME, |_, _, _| None),
        on::name("name-of-orphan-empty", ATT_NAME, |events, position, id| {
            Some(name(events, position, id).unwrap_or_default())
        }),
        on::name("name-of-orphan-is-its-id", ATT_NAME, |events, position, id| {
            name(events, position, id).or_else(|| Some(id.to_owned()))
        }),
        same_id("name-of-the-call-directly-before", ATT_NAME, |_, _| true),
        on::name("name-looked-up-in-the-same-iteration-only", ATT_NAME, |events, position, id| {
            let now = events[position].iteration;
            let then: Vec<_> = events[..position].iter().filter(|event| event.iteration == now).cloned().collect();
            name(&then, then.len(), id)
        }),
        same_id("name-looked-up-ignoring-case", ATT_NAME, str::eq_ignore_ascii_case),
        same_id("name-looked-up-by-prefix-of-id", ATT_NAME, |call, id| id.starts_with(call)),
        on::name("name-forgotten-after-its-result", ATT_NAME, |events, position, id| {
            let answers =
                |event: &Event| matches!(&event.kind, EventKind::ToolResult { tool_call_id, .. } if tool_call_id == id);
            let start = events[..position].iter().rposition(answers).map_or(0, |answer| answer + 1);
            name(&events[start..], position - start, id)
        }),
        on::name("name-of-the-first-call", ATT_NAME_NEAREST, |events, position, id| {
            calls(&events[..position]).find(|&(call, _)| call == id).map(|(_, name)| name.to_owned())
        }),
        on::name("name-of-the-last-call", hardened(ATT_NAME_NEAREST), |events, _, id| name(events, events.len(), id)),
        on::name("name-of-a-later-call", hardened(ATT_NAME_NEAREST), |events, position, id| {
            name(events, position, id).or_else(|| name(events, events.len(), id))
        }),
        lost_name("empty-name-is-unknown", [NAME_ORDINARY, ATT_NAME], |name, _| name.is_empty()),
        lost_name("empty-id-finds-nothing", [NAME_ORDINARY, ATT_NAME], |_, id| id.is_empty()),
        on::name("inherited-members-are-names", NAME_ORDINARY, |events, position, id| {
            let inherited = ["constructor", "toString", "valueOf", "hasOwnProperty"].contains(&id);
            name(events, position, id).or(inherited.then(|| "function () { [native code] }".to_owned()))
        }),
        edit("names-in-lower-case", ATT_NAME, Value("name"), str::to_lowercase),
        lost_name("proto-id-is-lost", NAME_ORDINARY, |_, id| id == "__proto__"),
        lost_name("proto-tool-is-lost", NAME_ORDINARY, |name, _| name == "__proto__"),
        valued("status-from-the-text", ATT_STATUS, "status", |_, event| {
            let failed = |text: &str| text.starts_with("Error") || text.starts_with("Tool error");
            result(event)?.as_str().filter(|text| failed(text)).map(|_| "error".to_owned())
        }),
        valued("status-from-an-error-member", ATT_STATUS, "status", |_, event| {
            result(event)?.get("error").map(|_| "error".to_owned())
        }),
        left_out("status-left-out", [ATT_STATUS, EVT_RESULT], "status", |_| true),
        valued("status-unknown-for-orphans", ATT_STATUS, "status", |list, _| {
            (list[2].1 == "unknown").then(|| "unknown".to_owned())
        }),
        valued("recoverable-in-python", ATT_RECOVERABLE, "recoverable", |list, _| {
            Some(if list[3].1 == "true" { "True" } else { "False" }.to_owned())
        }),
        valued("recoverable-as-a-number", ATT_RECOVERABLE, "recoverable", |list, _| {
            Some(u8::from(list[3].1 == "true").to_string())
        }),
        left_out("recoverable-false-left-out", [ATT_RECOVERABLE, EVT_ERROR], "recoverable", |value| value != "true"),
        valued("recoverable-always-true", ATT_RECOVERABLE, "recoverable", |_, _| Some("true".to_owned())),
        on::summarized("summarized-with-spaces", ATT_SUMMARIZED, |iterations| join(iterations, ", ")),
        on::summarized("summarized-in-brackets", ATT_SUMMARIZED, |iterations| format!("[{}]", join(iterations, ","))),
        on::summarized("summarized-as-a-range", ATT_SUMMARIZED, |iterations| match iterations {
            [first, .., last] if *last == first + iterations.len() as u64 - 1 => format!("{first}-{last}"),
            _ => join(iterations, ","),
        }),
        on::summarized("summarized-sorted", ATT_SUMMARIZED, |iterations| {
            let mut sorted = iterations.to_vec();
            sorted.sort_unstable();
            join(&sorted, ",")
        }),
        on::summarized("summarized-without-duplicates", ATT_SUMMARIZED, |iterations| {
            let mut unique = iterations.to_vec();
            unique.dedup();
            join(&unique, ",")
        }),
        left_out("summarized-empty-left-out", [ATT_SUMMARIZED, EVT_SUMMARY], "summarizedIterations", str::is_empty),
    ];
    bugs.extend(at(DOC_1, Thread).edits(&[
        ("xml-declaration", |document| format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{document}")),
        ("namespace", |document| document.replacen("<thread>", "<thread xmlns=\"urn:thread\">", 1)),
    ]));
    bugs.extend(at(DOC_2, Body("")).edits(&[
        ("text-trimmed", |text| text.trim().to_owned()),
        ("text-trimmed-at-the-end", |text| text.trim_end().to_owned()),
        ("text-loses-final-newline", |text| text.trim_end_matches('\n').to_owned()),
        ("text-lines-indented", |text| text.replace('\n', "\n    ")),
        ("text-dedented", |text| text.split('\n').map(str::trim_start).collect::<Vec<_>>().join("\n")),
        ("white-space-collapsed", |text| {
            let words = || text.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
            if text.contains("  ") { words() } else { text.to_owned() }
        }),
        ("blank-text-is-empty", |text| emptied(text, text.trim().is_empty())),
        ("text-cut-after-64-kilobytes", |text| {
            let end = (0..=text.len().min(1 << 16)).rev().find(|&end| text.is_char_boundary(end));
            text[..end.unwrap_or(0)].to_owned()
        }),
        ("long-text-with-ellipsis", |text| match text.char_indices().nth(2000) {
            Some((end, _)) => format!("{}…", &text[..end]),
            None => text.to_owned(),
        }),
    ]));
    bugs.extend(at(DOC_2, Body("")).sized("text-cut-after-{n}-characters", first, &[500, 10_000]));
    bugs.extend(at(DOC_6, Prefix).edits(&[
        ("prefix-escaped", |prefix| threadspec::escape_xml(prefix).into_owned()),
        ("prefix-line-ends-normalized", |prefix| prefix.replace("\r\n", "\n")),
        ("prefix-trimmed", |prefix| prefix.trim().to_owned()),
        ("prefix-of-white-space-ignored", |prefix| emptied(prefix, prefix.trim().is_empty())),
        (
            "prefix-followed-by-a-newline",
            |prefix| {
                if prefix.is_empty() { String::new() } else { format!("{prefix}\n") }
            },
        ),
    ]));
    bugs
}

/// The document without such lines.
pub(super) fn without(lines: &[String], is_gone: fn(&str) -> bool) -> String {
    thread(&lines.iter().filter(|line| !is_gone(line)).cloned().collect::<Vec<_>>())
}
