//! How common maps, collations, comparisons and sorts compare, keep and order ids and names. Those without a word on hazards were written before
//! there was a case for any of them.

use crate::plants::prelude::*;
use crate::twin::context::{answers, message, system};
use crate::twin::document::{body, calls, name, prefix};
use crate::twin::parts::calls as called;
use crate::twin::text::by_index;
use crate::universal::operators::{bucket, canonical, numeric, up_to_nul, weighty};

/// What two names have in common that a comparison takes for equal.
type NameKey = fn(&str) -> String;

/// Ids are equal if they have this in common.
fn equal(name: FaultName, key: NameKey) -> Planted {
    same_id(name, ATT_NAME, move |call, id| call == id || key(call) == key(id))
}

fn composed(text: &str) -> String {
    text.replace("e\u{301}", "é").replace("a\u{308}", "ä").replace("A\u{30a}", "Å").replace('\u{212b}', "Å")
}

/// The last call before a result whose id is the same by a comparison.
fn answered(events: &[Event], position: usize, is_same: impl Fn(&str, &str) -> bool) -> Option<usize> {
    let id = answered_id(&events[position])?;
    let is_it = |event: &Event| is_call(event) && id_of(event).is_some_and(|call| is_same(call, id));
    events[..position].iter().rposition(is_it)
}

/// Names and ids are compared by a key: those of calls, of results and of tools.
fn compared_by(name: FaultName, key: NameKey) -> Planted {
    let same = move |one: &str, other: &str| key(one) == key(other);
    let named = &*Box::leak(Box::new(move |events: &[Event], position: usize, id: &str| {
        let mut calls = calls(&events[..position]).rev();
        calls.find(|(call, _)| same(call, id)).map(|(_, name)| name.to_owned())
    }));
    let answers = &*Box::leak(Box::new(move |events: &[Event], position: usize| answered(events, position, same)));
    // Each called name gets the first tool that is found by its key.
    let before = &*Box::leak(Box::new(move |_: &mut Twin, _: Op, input: &mut Value| {
        let called: Vec<String> = called(input).filter_map(|call| Some(call["name"].as_str()?.to_owned())).collect();
        let Some(tools) = tools(input) else { return };
        let own = std::mem::take(tools);
        for name in called {
            if let Some((_, results)) = own.iter().find(|(tool, _)| same(tool, &name)) {
                tools.insert(name, results.clone());
            }
        }
    }));
    on::several(name, [ATT_NAME, LOOP_TOOL_ERROR], move |twin| {
        twin.name = named;
        twin.answers = answers;
        twin.before = before;
    })
}

/// Ids or names are other ones in messages.
fn fitted(name: FaultName, member: &'static str, other: fn(&str) -> String) -> Planted {
    each_given(name, MSG_CALL, Op::Messages, move |event| {
        if let Some(Value::String(text)) = event.get_mut(member) {
            *text = other(text);
        }
    })
}

/// The value of a key that `^(0|[1-9]\d*)$` matches, where `\d` is a digit of any script and `$` stands before a last line feed, too.
fn index_by_pattern(key: &str) -> Option<u64> {
    let digit = |c: char| match c {
        '0'..='9' => c.to_digit(10),
        '\u{660}'..='\u{669}' => Some(u32::from(c) - 0x660),
        '\u{ff10}'..='\u{ff19}' => Some(u32::from(c) - 0xff10),
        _ => None,
    };
    let key = key.strip_suffix('\n').unwrap_or(key);
    if key != "0" && !key.starts_with(|c| ('1'..='9').contains(&c)) {
        return None;
    }
    key.chars().try_fold(0_u64, |value, c| value.checked_mul(10)?.checked_add(digit(c)?.into()))
}

/// Sorts by iteration, but not stably.
fn heap_sort(events: &mut [Event]) {
    fn sift(events: &mut [Event], mut parent: usize) {
        while let Some(mut child) = Some(2 * parent + 1).filter(|&child| child < events.len()) {
            if child + 1 < events.len() && events[child + 1].iteration > events[child].iteration {
                child += 1;
            }
            if events[parent].iteration >= events[child].iteration {
                break;
            }
            events.swap(parent, child);
            parent = child;
        }
    }
    (0..events.len() / 2).rev().for_each(|parent| sift(events, parent));
    for end in (1..events.len()).rev() {
        events.swap(0, end);
        sift(&mut events[..end], 0);
    }
}

fn is_zero(text: &str) -> bool {
    text == "0"
}

/// Returns whether a map would number a key: it is an integer as one is written.
fn is_integer(key: &str) -> bool {
    key.parse::<i64>().is_ok_and(|number| number.to_string() == key)
}

pub(super) fn bugs() -> Vec<Planted> {
    vec![
        // Swift's `==`, and SQL with an accent-aware collation.
        equal("ids-equal-once-composed", composed),
        // .NET's comparison by culture ignores them.
        equal("ids-equal-but-for-invisible-characters", |id| {
            id.replace(['\u{ad}', '\u{200b}', '\u{200c}', '\u{200d}', '\u{2060}', '\u{feff}', '\0'], "")
        }),
        // Strings that end at NUL.
        equal("ids-equal-up-to-nul", up_to_nul),
        // SQL's PAD SPACE.
        equal("ids-equal-but-for-blanks-behind", |id| id.trim_end().to_owned()),
        // PHP's `==` on numeric strings.
        same_id("ids-equal-as-numbers", ATT_NAME, |call, id| {
            call == id || call.trim().parse::<f64>().is_ok_and(|one| id.trim().parse::<f64>() == Ok(one))
        }),
        // Python's `casefold`, and caseless comparison of other libraries.
        equal("ids-equal-once-folded-beyond-ascii", |id| {
            let folded = id.replace(['ß', 'ẞ'], "ss").replace('ſ', "s").replace('\u{212a}', "k");
            folded.chars().map(|c| if c.is_ascii() { c.to_string() } else { c.to_lowercase().collect() }).collect()
        }),
        // PHP's `array_merge` numbers integer keys anew.
        lost_name("ids-of-digits-numbered-anew", ATT_NAME, |_, id| is_integer(id)),
        same_id("long-ids-equal-by-length-and-both-ends", ATT_NAME, |call, id| {
            let ends = |id: &str| (id.len(), id.as_bytes()[..8].to_vec(), id.as_bytes()[id.len() - 8..].to_vec());
            call == id || call.len() > 32 && id.len() > 32 && ends(call) == ends(id)
        }),
        same_id("ids-equal-by-their-first-64-bytes", ATT_NAME, |call, id| {
            call == id || call.len() > 64 && id.len() > 64 && call.as_bytes()[..64] == id.as_bytes()[..64]
        }),
        // Java's string hash, without comparing the strings themselves: `Aa` and `BB` collide.
        same_id("ids-equal-by-their-hash", ATT_NAME, |call, id| {
            let hash =
                |id: &str| id.encode_utf16().fold(0_u32, |hash, unit| hash.wrapping_mul(31).wrapping_add(unit.into()));
            hash(call) == hash(id)
        }),
        // PHP's `empty("0")`.
        lost_name("tool-called-zero-is-unknown", ATT_NAME, |name, _| is_zero(name)),
        lost_name("id-of-zero-finds-nothing", ATT_NAME, |_, id| is_zero(id) || id == "false"),
        // A sentinel for "not found" that is also an ordinary name.
        on::name("tool-called-unknown-is-looked-up-further", ATT_NAME_NEAREST, |events, position, id| {
            let mut found = calls(&events[..position]).rev().filter(|&(call, _)| call == id).map(|(_, name)| name);
            found.find(|&name| name != "unknown").map(str::to_owned)
        }),
        // Positions sorted as `Array.prototype.sort` does by default.
        on::order_of_results("results-in-the-order-of-their-positions-as-text", hardened(MSG_PAIRED), |results| {
            results.sort_by_key(ToString::to_string)
        }),
        on::answers("results-find-their-call-by-number", hardened(MSG_PAIRED), |events, position| {
            let by_number = |call: &str, id: &str| id.parse::<f64>().is_ok_and(|number| call.parse() == Ok(number));
            answers(events, position).or_else(|| answered(events, position, by_number))
        }),
        // A regular expression whose `$` also matches before a final line feed.
        on::answers("results-find-their-call-but-for-a-line-feed", hardened(MSG_PAIRED), |events, position| {
            let bare = |id: &str| id.strip_suffix('\n').unwrap_or(id).to_owned();
            answered(events, position, |call, id| bare(call) == bare(id))
        }),
        fitted("ids-trimmed-in-messages", "toolCallId", |id| id.trim().to_owned()),
        fitted("ids-fitted-to-a-pattern-in-messages", "toolCallId", |id| {
            id.replace(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-', "_")
        }),
        fitted("names-fitted-to-a-pattern-in-messages", "toolName", |name| name.replace(['.', '/', ':', ' '], "_")),
        fitted("empty-ids-numbered-in-messages", "toolCallId", |id| {
            if id.is_empty() { "call_0".to_owned() } else { id.to_owned() }
        }),
        // Go's `encoding/json` takes members in any case, and the last one counts.
        on::event("members-in-any-case", INP_2, |event| {
            let Some(members) = event.as_object().cloned() else { return };
            let known = ["content", "toolName", "toolCallId", "result", "error", "iteration", "response", "question"];
            for (name, value) in members {
                if let Some(known) = known.iter().find(|known| known.eq_ignore_ascii_case(&name) && **known != name) {
                    event[*known] = value;
                }
            }
        }),
        // Snake case and camel case at once, as many decoders offer.
        on::event("members-in-snake-case", INP_2, |event| {
            for (alias, name) in [("tool_name", "toolName"), ("tool_call_id", "toolCallId")] {
                if let Some(value) = event.get(alias).cloned().filter(Value::is_string) {
                    event[name] = value;
                }
            }
        }),
        // Of `hazards.json`.
        compared_by("names-compared-up-to-normalization", canonical),
        compared_by("names-compared-without-weightless-characters", weighty),
        compared_by("names-compared-as-numbers", numeric),
        compared_by("names-compared-in-any-case", str::to_lowercase),
        // A key like "7" was stored as the integer 7, which is not identical to the text.
        lost_name("numeric-ids-never-found", ATT_NAME, |_, id| is_integer(id)),
        // As a pattern, an id with such characters does not match itself.
        lost_name("ids-searched-as-patterns", ATT_NAME, |_, id| id.contains(['(', '+', '*', '[', '?'])),
        on::body("placeholders-in-texts-filled-in", ESC_1, |twin, event| {
            body(twin, event).replace("{body}", "").replace("{iteration}", "0")
        }),
        event_member("iterations-compared-as-they-are-spelt", MSG_GROUP, "iteration", |number| {
            number.is_f64().then(|| 1_000.into())
        }),
        on::several("texts-of-a-zero-are-empty", [ATT_NAME, DOC_6, CTX_SYSTEM, LOOP_EVENTS], |twin| {
            twin.name =
                &|events, position, id| name(events, position, id).filter(|name| !is_zero(name) && !is_zero(id));
            twin.prefix = &|raw| prefix(raw.filter(|raw| !is_zero(raw)));
            twin.system = &|summaries, instructions, mode| {
                system(summaries, if is_zero(instructions) { "" } else { instructions }, mode)
            };
            twin.is_said = &|text| !text.is_empty() && !is_zero(text);
            twin.body = &|twin, event| Some(body(twin, event)).filter(|text| !is_zero(text)).unwrap_or_default();
            twin.message = &|twin, event| match &event.kind {
                EventKind::Message { content, .. } if is_zero(content) => None,
                _ => message(twin, event),
            };
        }),
        on::members("members-in-the-order-of-hashes", JSON_4, |object| {
            by_index(object, |key| Some(bucket(key, object.len()).into()))
        }),
        on::index("indices-by-a-pattern-of-any-script", JSON_4, index_by_pattern),
        // Short lists are sorted by insertion, which is stable.
        on::read("sorted-by-iteration-without-keeping-order", [DOC_2, EQ_2], |events| {
            if events.len() > 16 {
                heap_sort(events);
            }
        }),
        on::summarized("summarized-iterations-sorted-as-text", ATT_SUMMARIZED, |iterations| {
            let mut texts: Vec<String> = iterations.iter().map(u64::to_string).collect();
            texts.sort();
            texts.join(",")
        }),
    ]
}
