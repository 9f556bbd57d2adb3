//! How common maps, collations and comparisons compare, keep and order ids and names.

use super::{Planted, bug, events, hardened};
use crate::twin::context::answers;
use crate::twin::document::calls;
use serde_json::Value;
use threadspec::{Event, EventKind};
use threadspec_golden::clause;
use threadspec_judge::protocol::Op;

/// The name of the nearest preceding call whose id matches.
fn named(events: &[Event], position: usize, is_it: impl Fn(&str) -> bool) -> Option<String> {
    calls(&events[..position]).rev().find(|(call, _)| is_it(call)).map(|(_, name)| name.to_owned())
}

/// Whether both are the same after folding.
fn same(one: &str, other: &str, fold: impl Fn(&str) -> String) -> bool {
    one == other || fold(one) == fold(other)
}

fn composed(text: &str) -> String {
    text.replace("e\u{301}", "é").replace("a\u{308}", "ä").replace("A\u{30a}", "Å").replace('\u{212b}', "Å")
}

fn without_invisible(text: &str) -> String {
    text.replace(['\u{ad}', '\u{200b}', '\u{200c}', '\u{200d}', '\u{2060}', '\u{feff}', '\0'], "")
}

/// As a map that numbers its keys sees it.
fn is_index(id: &str) -> bool {
    id.parse::<i64>().is_ok_and(|number| number.to_string() == id)
}

fn id(event: &Event) -> &str {
    match &event.kind {
        EventKind::ToolCall { tool_call_id, .. } | EventKind::ToolResult { tool_call_id, .. } => tool_call_id,
        _ => "",
    }
}

pub(in super::super) const BUGS: &[Planted] = &[
    // Swift's `==`, and SQL with an accent-aware collation.
    bug("ids-equal-once-composed", &[clause::ATT_NAME], |twin| {
        twin.name = |events, position, id| named(events, position, |call| same(call, id, composed));
    }),
    // .NET's comparison by culture ignores them.
    bug("ids-equal-but-for-invisible-characters", &[clause::ATT_NAME], |twin| {
        twin.name = |events, position, id| named(events, position, |call| same(call, id, without_invisible));
    }),
    // Strings that end at NUL.
    bug("ids-equal-up-to-nul", &[clause::ATT_NAME], |twin| {
        twin.name = |events, position, id| {
            named(events, position, |call| same(call, id, |id| id.split('\0').next().unwrap_or_default().to_owned()))
        };
    }),
    // SQL's PAD SPACE.
    bug("ids-equal-but-for-blanks-behind", &[clause::ATT_NAME], |twin| {
        twin.name =
            |events, position, id| named(events, position, |call| same(call, id, |id| id.trim_end().to_owned()));
    }),
    // PHP's `==` on numeric strings.
    bug("ids-equal-as-numbers", &[clause::ATT_NAME], |twin| {
        twin.name = |events, position, id| {
            named(events, position, |call| {
                call == id || call.trim().parse::<f64>().is_ok_and(|one| id.trim().parse::<f64>() == Ok(one))
            })
        };
    }),
    // Python's `casefold`, and caseless comparison of other libraries.
    bug("ids-equal-once-folded-beyond-ascii", &[clause::ATT_NAME], |twin| {
        twin.name = |events, position, id| {
            let fold = |id: &str| -> String {
                let folded = id.replace(['ß', 'ẞ'], "ss").replace('ſ', "s").replace('\u{212a}', "k");
                folded.chars().map(|c| if c.is_ascii() { c.to_string() } else { c.to_lowercase().collect() }).collect()
            };
            named(events, position, |call| same(call, id, fold))
        };
    }),
    // PHP's `array_merge` numbers integer keys anew.
    bug("ids-of-digits-numbered-anew", &[clause::ATT_NAME], |twin| {
        twin.name = |events, position, id| if is_index(id) { None } else { named(events, position, |call| call == id) };
    }),
    bug("long-ids-equal-by-length-and-both-ends", &[clause::ATT_NAME], |twin| {
        twin.name = |events, position, id| {
            let ends = |id: &str| {
                let bytes = id.as_bytes();
                (id.len(), bytes[..8].to_vec(), bytes[id.len() - 8..].to_vec())
            };
            named(events, position, |call| call == id || call.len() > 32 && id.len() > 32 && ends(call) == ends(id))
        };
    }),
    bug("ids-equal-by-their-first-64-bytes", &[clause::ATT_NAME], |twin| {
        twin.name = |events, position, id| {
            named(events, position, |call| {
                call == id || call.len() > 64 && id.len() > 64 && call.as_bytes()[..64] == id.as_bytes()[..64]
            })
        };
    }),
    // Java's string hash, without comparing the strings themselves: `Aa` and `BB` collide.
    bug("ids-equal-by-their-hash", &[clause::ATT_NAME], |twin| {
        twin.name = |events, position, id| {
            let hash =
                |id: &str| id.encode_utf16().fold(0_u32, |hash, unit| hash.wrapping_mul(31).wrapping_add(unit.into()));
            named(events, position, |call| hash(call) == hash(id))
        };
    }),
    // PHP's `empty("0")`.
    bug("tool-called-zero-is-unknown", &[clause::ATT_NAME], |twin| {
        twin.name = |events, position, id| named(events, position, |call| call == id).filter(|name| name != "0");
    }),
    bug("id-of-zero-finds-nothing", &[clause::ATT_NAME], |twin| {
        twin.name =
            |events, position, id| named(events, position, |call| call == id).filter(|_| id != "0" && id != "false");
    }),
    // A sentinel for "not found" that is also an ordinary name.
    bug("tool-called-unknown-is-looked-up-further", &[clause::ATT_NAME_NEAREST], |twin| {
        twin.name = |events, position, id| {
            let mut found = calls(&events[..position]).rev().filter(|&(call, _)| call == id).map(|(_, name)| name);
            found.find(|&name| name != "unknown").map(str::to_owned)
        };
    }),
    // JavaScript's objects list integer keys first.
    bug("tool-messages-in-the-order-of-object-keys", &[clause::TOOLS_ACCUMULATE], |twin| {
        twin.calls = |_, calls| {
            let mut calls = calls.to_vec();
            calls.sort_by_key(|call| call.id.parse::<u32>().map_or((true, 0), |index| (false, index)));
            calls
        };
    }),
    // Positions sorted as `Array.prototype.sort` does by default.
    hardened("results-in-the-order-of-their-positions-as-text", &[clause::MSG_PAIRED], |twin| {
        twin.order_of_results = |results| results.sort_by_key(ToString::to_string);
    }),
    hardened("results-find-their-call-by-number", &[clause::MSG_PAIRED], |twin| {
        twin.answers = |events, position| {
            let wanted = id(&events[position]).parse::<f64>();
            let is_call = |event: &Event| matches!(event.kind, EventKind::ToolCall { .. });
            answers(events, position).or_else(|| match (&events[position].kind, wanted) {
                (EventKind::ToolResult { .. }, Ok(number)) => events[..position]
                    .iter()
                    .rposition(|event| is_call(event) && id(event).parse::<f64>() == Ok(number)),
                _ => None,
            })
        };
    }),
    // A regular expression whose `$` also matches before a final line feed.
    hardened("results-find-their-call-but-for-a-line-feed", &[clause::MSG_PAIRED], |twin| {
        twin.answers = |events, position| {
            let EventKind::ToolResult { tool_call_id, .. } = &events[position].kind else { return None };
            let wanted = tool_call_id.strip_suffix('\n').unwrap_or(tool_call_id);
            let is_it = |event: &Event| {
                matches!(event.kind, EventKind::ToolCall { .. })
                    && id(event).strip_suffix('\n').unwrap_or(id(event)) == wanted
            };
            events[..position].iter().rposition(is_it)
        };
    }),
    bug("ids-trimmed-in-messages", &[clause::MSG_CALL], |twin| {
        twin.before = |_, op, input| {
            for event in events(input).filter(|_| op == Op::Messages) {
                if let Some(Value::String(id)) = event.get_mut("toolCallId") {
                    *id = id.trim().to_owned();
                }
            }
        };
    }),
    bug("ids-fitted-to-a-pattern-in-messages", &[clause::MSG_CALL], |twin| {
        twin.before = |_, op, input| {
            for event in events(input).filter(|_| op == Op::Messages) {
                if let Some(Value::String(id)) = event.get_mut("toolCallId") {
                    *id = id.replace(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-', "_");
                }
            }
        };
    }),
    bug("names-fitted-to-a-pattern-in-messages", &[clause::MSG_CALL], |twin| {
        twin.before = |_, op, input| {
            for event in events(input).filter(|_| op == Op::Messages) {
                if let Some(Value::String(name)) = event.get_mut("toolName") {
                    *name = name.replace(['.', '/', ':', ' '], "_");
                }
            }
        };
    }),
    bug("empty-ids-numbered-in-messages", &[clause::MSG_CALL], |twin| {
        twin.before = |_, op, input| {
            for event in events(input).filter(|_| op == Op::Messages) {
                if event["toolCallId"] == "" {
                    event["toolCallId"] = "call_0".into();
                }
            }
        };
    }),
    // Go's `encoding/json` takes members in any case, and the last one counts.
    bug("members-in-any-case", &[clause::INP_2], |twin| {
        twin.event = |event| {
            let Some(members) = event.as_object().cloned() else { return };
            for (name, value) in members {
                let known =
                    ["content", "toolName", "toolCallId", "result", "error", "iteration", "response", "question"];
                if let Some(known) = known.iter().find(|known| known.eq_ignore_ascii_case(&name) && **known != name) {
                    event[*known] = value;
                }
            }
        };
    }),
    // Snake case and camel case at once, as many decoders offer.
    bug("members-in-snake-case", &[clause::INP_2], |twin| {
        twin.event = |event| {
            for (alias, name) in [("tool_name", "toolName"), ("tool_call_id", "toolCallId")] {
                if let Some(value) = event.get(alias).cloned().filter(Value::is_string) {
                    event[name] = value;
                }
            }
        };
    }),
];
