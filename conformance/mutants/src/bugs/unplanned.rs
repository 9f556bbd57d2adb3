//! Bugs that were written when the corpus was finished, to see what it catches without having been tuned to it.

use super::{Planted, bug, hardened, literal};
use crate::twin::context::{answers, message, result_content, summaries, system};
use crate::twin::document::{body, prefix};
use crate::twin::rounds::feedback;
use crate::twin::text::{attribute, quoted, string, text};
use serde_json::{Value, json};
use threadspec::{ContextMode, Event, EventKind, Role};
use threadspec_golden::clause;
use threadspec_judge::protocol::Op;

pub(super) const BUGS: &[Planted] = &[
    bug("iteration-with-thousands-separators", &[clause::ATT_ITERATION], |twin| {
        twin.iteration = |event| {
            let digits = event.iteration.to_string();
            let groups: Vec<&str> =
                digits.as_bytes().rchunks(3).rev().filter_map(|group| str::from_utf8(group).ok()).collect();
            groups.join(",")
        };
    }),
    bug("symbols-as-html-entities", &[clause::ESC_3], |twin| {
        twin.text = |twin, raw| text(twin, raw).replace('©', "&copy;").replace('€', "&euro;").replace('—', "&mdash;");
    }),
    bug("tabs-expanded", &[clause::ESC_3], |twin| twin.text = |twin, raw| text(twin, &raw.replace('\t', "    "))),
    bug("names-in-lower-case", &[clause::ATT_NAME], |twin| {
        twin.attributes = |list, _| {
            for (_, value) in list.iter_mut().filter(|(name, _)| *name == "name") {
                *value = value.to_lowercase();
            }
        };
    }),
    bug("ids-skip-system-messages", &[clause::ATT_ID], |twin| {
        twin.id = |_, events, position| {
            let counts = |event: &&Event| !matches!(event.kind, EventKind::Message { role: Role::System, .. });
            events[..position].iter().filter(counts).count().to_string()
        };
    }),
    bug("prefix-line-ends-normalized", &[clause::DOC_6], |twin| {
        twin.prefix = |raw| prefix(raw.map(|raw| raw.replace("\r\n", "\n")).as_deref());
    }),
    hardened("tab-raw-in-attributes", &[clause::ATT_WHITESPACE], |twin| {
        twin.attribute = |twin, raw| attribute(twin, raw).replace("&#9;", "\t");
    }),
    bug("json-pairs-as-escapes", &[clause::JSON_1], |twin| {
        twin.quoted = |raw| {
            let escape = |c: char| match c.encode_utf16(&mut [0; 2]) {
                [high, low] => format!("\\u{high:04x}\\u{low:04x}"),
                _ => c.to_string(),
            };
            quoted(raw).chars().map(escape).collect()
        };
    }),
    literal("objects-in-arrays-stringified", &[clause::STR_2], |twin| {
        twin.string = |twin, value| match value {
            Value::Array(elements) => {
                let text = |element: &Value| match element {
                    Value::Null => String::new(),
                    Value::Object(_) => twin.stringify(element),
                    _ => (twin.string)(twin, element),
                };
                elements.iter().map(text).collect::<Vec<_>>().join(",")
            }
            _ => string(twin, value),
        };
    }),
    bug("blank-assistant-messages-dropped", &[clause::MSG_ASSISTANT], |twin| {
        twin.message = |twin, event| match &event.kind {
            EventKind::Message { role: Role::Assistant, content } if content.trim().is_empty() => None,
            _ => message(twin, event),
        };
    }),
    bug("empty-results-in-words", &[clause::MSG_RESULT], |twin| {
        twin.result_content = |twin, result| match result_content(twin, result) {
            text if text.is_empty() => "(no output)".to_owned(),
            text => text,
        };
        twin.result_text = |twin, result| match result {
            Some(Value::String(text)) => text.clone(),
            _ => crate::twin::document::result_text(twin, result),
        };
    }),
    hardened("results-behind-other-calls-are-orphans", &[clause::MSG_PAIRED], |twin| {
        twin.answers = |events, position| {
            let is_call = |event: &Event| matches!(event.kind, EventKind::ToolCall { .. });
            let call = answers(events, position)?;
            let group = events[call..position].iter().take_while(|event| is_call(event)).count();
            (!events[call + group..position].iter().any(is_call)).then_some(call)
        };
    }),
    bug("only-leading-summaries", &[clause::MSG_SUMMARY, clause::CTX_SYSTEM], |twin| {
        twin.before = |twin, _, input| {
            let leads = input["events"][0]["type"] == "summary";
            twin.summaries = if leads { summaries } else { |_| String::new() };
        };
    }),
    bug("no-instructions-in-xml-mode", &[clause::CTX_SYSTEM], |twin| {
        twin.system = |summaries, instructions, mode| match mode {
            ContextMode::Xml => summaries.to_owned(),
            ContextMode::Standard => system(summaries, instructions, mode),
        };
    }),
    bug("failure-beside-other-members", &[clause::LOOP_TOOL_ERROR], |twin| {
        twin.outcome = |twin, call, result| match result {
            Ok(Value::Object(object)) if object.get("error").is_some_and(Value::is_string) => {
                format!("Tool error: {}", object["error"].as_str().unwrap_or_default())
            }
            result => crate::twin::rounds::outcome(twin, call, result),
        };
    }),
    bug("feedback-from-the-system", &[clause::LOOP_VERIFY], |twin| {
        twin.feedback = |iteration, reason| {
            feedback(iteration, reason).map(|event| match event.kind {
                EventKind::Message { content, .. } => {
                    Event { kind: EventKind::Message { role: Role::System, content }, ..event }
                }
                kind => Event { kind, ..event },
            })
        };
    }),
    bug("maximum-zero-means-no-maximum", &[clause::LOOP_MAX], |twin| {
        twin.is_over = |iteration, maximum| maximum.is_some_and(|maximum| maximum > 0 && iteration >= maximum);
    }),
    bug("null-iteration-is-zero", &[clause::INP_1], |twin| {
        twin.event = |event| {
            if event.get("iteration").is_some_and(Value::is_null) {
                event["iteration"] = json!(0);
            }
        };
    }),
    bug("questions-say-that-they-wait", &[clause::EVT_ASK], |twin| {
        twin.body = |twin, event| match &event.kind {
            EventKind::HumanInputRequested { question } => format!("{question} (waiting)"),
            _ => body(twin, event),
        };
    }),
    bug("last-message-of-tools-twice", &[clause::TOOLS_ACCUMULATE], |twin| {
        twin.after = |_, op, _, output| {
            if let Some(messages) = output.get_mut("messages").and_then(Value::as_array_mut).filter(|_| op == Op::Tools)
                && let Some(last) = messages.last().cloned()
            {
                messages.push(last);
            }
        };
    }),
];
