//! Bugs of sizes beyond the corpus, and of readers of streams that lose something at the border of two pieces, written before there
//! was a case for any of them.

use super::{
    bug, calls_mut, change_text, cut, family, is, on_arguments, on_given, on_later_requests, on_response,
    on_structured, on_text_result,
};
use crate::agent::{Agent, ToolOutcome, calls, mend, outcome, text};
use crate::planted::Planted;
use serde_json::{Value, json};
use threadspec_golden::clause;
use threadspec_judge::universal::halves;

const TEXT: &[&str] = &[clause::AGENT_TEXT];
const RESPONSE: &[&str] = &[clause::AGENT_RESPONSE];
const RESULT: &[&str] = &[clause::AGENT_RESULT];

/// Loses the characters that are split by a border between pieces of so many UTF-16 units.
fn split_in_utf16(text: &str, size: usize) -> String {
    let mut at = 0;
    let other = |c: char| {
        at += c.len_utf16();
        if c.len_utf16() == 2 && (at - 1).is_multiple_of(size) { '\u{fffd}' } else { c }
    };
    text.chars().map(other).collect()
}

/// Loses the characters that are split by a border between pieces of so many bytes.
fn split_in_utf8(text: &str, size: usize) -> String {
    let other = |(at, c): (usize, char)| if at / size == (at + c.len_utf8() - 1) / size { c } else { '\u{fffd}' };
    text.char_indices().map(other).collect()
}

/// Loses the pieces that are nothing but white space.
fn without_blank_pieces(text: &str, size: usize) -> String {
    let all: Vec<char> = text.chars().collect();
    let pieces = all.chunks(size).filter(|piece| piece.len() < size || piece.iter().any(|c| !c.is_whitespace()));
    pieces.flatten().collect()
}

fn json_text(value: &Value) -> Value {
    halves::escaped(&value.to_string()).into()
}

fn on_said(agent: &mut Agent, size: usize, edit: fn(&str, usize) -> String) {
    on_response(agent, move |_, message| change_text(message, |text| edit(text, size)));
}

fn on_asked(agent: &mut Agent, size: usize, of: &'static str, edit: fn(&str, usize) -> String) {
    on_given(agent, move |list| {
        list.iter_mut()
            .filter(|message| is(message, &[of]))
            .for_each(|message| change_text(message, |text| edit(text, size)));
    });
}

/// Arguments that arrive as pieces of JSON text: a backslash at the end of a piece is lost, with what it escapes.
fn escapes_split(args: &mut Value, size: usize) {
    let json = args.to_string();
    let mut out = String::new();
    let mut chars = json.chars().enumerate();
    while let Some((at, c)) = chars.next() {
        if c == '\\' && at % size == size - 1 {
            chars.next();
        } else if c == '\\' {
            out.push(c);
            out.extend(chars.next().map(|(_, c)| c));
        } else {
            out.push(c);
        }
    }
    if let Ok(read) = serde_json::from_str(&out) {
        *args = read;
    }
}

fn sizes() -> impl Iterator<Item = Planted> {
    let texts = family("results-cut-at-{n}-characters", TEXT, &[500_000, 1_000_000, 2_000_000], |agent, size| {
        on_text_result(agent, move |text| cut(text, size));
    });
    let asked = family("questions-cut-at-{n}-characters", TEXT, &[100_000, 500_000], |agent, size| {
        on_asked(agent, size, "human", cut);
    });
    let system = family("system-message-cut-at-{n}-characters", TEXT, &[4_096, 100_000], |agent, size| {
        on_asked(agent, size, "system", cut);
    });
    let said = family("responses-cut-at-{n}-characters", TEXT, &[5_000, 60_000, 250_000], |agent, size| {
        on_said(agent, size, cut);
    });
    let arguments = family("arguments-cut-at-{n}-characters", TEXT, &[65_536, 262_144], |agent, size| {
        on_arguments(agent, move |args| {
            args.as_object_mut().into_iter().flat_map(|args| args.values_mut()).for_each(|value| {
                if let Value::String(text) = value {
                    *text = cut(text, size);
                }
            });
        });
    });
    let structured =
        family("structured-results-cut-at-{n}-characters", RESULT, &[100_000, 1_000_000], |agent, size| {
            on_structured(agent, move |value| cut(text(&json_text(value)), size).into());
        });
    let elements = family("results-with-at-most-{n}-elements", RESULT, &[100, 1_000, 10_000], |agent, size| {
        on_structured(agent, move |value| match value {
            Value::Array(elements) => json_text(&elements.iter().take(size).cloned().collect()),
            other => json_text(other),
        });
    });
    let members = family("results-with-at-most-{n}-members", RESULT, &[5_000], |agent, size| {
        on_structured(agent, move |value| match value {
            Value::Object(members) => {
                json_text(&members.iter().take(size).map(|(name, member)| (name.clone(), member.clone())).collect())
            }
            other => json_text(other),
        });
    });
    let first_arguments = family("only-the-first-{n}-arguments", RESPONSE, &[500, 2_000], |agent, size| {
        on_arguments(agent, move |args| {
            if let Value::Object(members) = args {
                *members = members.iter().take(size).map(|(name, value)| (name.clone(), value.clone())).collect();
            }
        });
    });
    let first_calls = family("only-the-first-{n}-calls", RESPONSE, &[512, 1_000, 2_000], |agent, size| {
        on_response(agent, move |_, message| {
            message["tool_calls"].as_array_mut().into_iter().for_each(|calls| calls.truncate(size));
        });
    });
    let rounds = family("run-ends-after-{n}-rounds", &[clause::AGENT_GOES_ON], &[150], |agent, size| {
        agent.after_round = Box::new(move |run| {
            if run.turn >= size {
                run.stop = Some(String::new());
            }
        });
    });
    let history =
        family("history-cut-to-the-last-{n}-messages", &[clause::AGENT_START], &[2_000, 5_000], |agent, size| {
            on_given(agent, move |list| drop(list.drain(..list.len().saturating_sub(size))));
        });
    let tools = family("tools-beyond-number-{n}-not-found", RESULT, &[64, 128, 500], |agent, size| {
        agent.outcome = Box::new(move |run, call| {
            let name = text(&call["name"]).to_owned();
            let tools = run.input["tools"].as_object();
            match tools.and_then(|tools| tools.keys().position(|known| *known == name)) {
                Some(place) if place >= size => ToolOutcome::Unknown(name),
                _ => outcome(run, call),
            }
        });
    });
    let runs = family(
        "system-message-forgotten-from-run-{n}-on",
        &[clause::AGENT_INDEPENDENT],
        &[10, 50, 500],
        |agent, size| {
            agent.begin = Box::new(move |run| {
                mend(&mut run.list);
                let runs = run.memory.as_u64().unwrap_or(0) + 1;
                run.memory = runs.into();
                if runs > size as u64 {
                    run.list.retain(|message| !is(message, &["system"]));
                }
                Ok(())
            });
        },
    );
    let later =
        family("results-cut-to-{n}-characters-later", &[clause::AGENT_PREFIX], &[20_000, 200_000], |agent, size| {
            on_later_requests(agent, move |run, request| {
                let before = run.requests.last().map_or(0, Vec::len);
                let sent = request.iter_mut().take(before).filter(|message| is(message, &["tool"]));
                sent.for_each(|message| change_text(message, |text| cut(text, size)));
            });
        });
    let answered = family("only-{n}-calls-answered", &[clause::AGENT_ANSWERED], &[512, 1_000], |agent, size| {
        agent.answers = Box::new(move |_, answers| answers.truncate(size));
    });
    texts
        .chain(asked)
        .chain(system)
        .chain(said)
        .chain(arguments)
        .chain(structured)
        .chain(elements)
        .chain(members)
        .chain(first_arguments)
        .chain(first_calls)
        .chain(rounds)
        .chain(history)
        .chain(tools)
        .chain(runs)
        .chain(later)
        .chain(answered)
}

fn pieces() -> impl Iterator<Item = Planted> {
    let pairs = family("responses-split-at-{n}-units", TEXT, &[2, 16, 64, 1_000], |agent, size| {
        on_said(agent, size, split_in_utf16);
    });
    let bytes = family("responses-split-at-{n}-bytes", TEXT, &[7, 256, 4_096], |agent, size| {
        on_said(agent, size, split_in_utf8);
    });
    let blank = family("blank-pieces-of-{n}-of-responses-lost", TEXT, &[1, 4, 8], |agent, size| {
        on_said(agent, size, without_blank_pieces);
    });
    let results = family("results-split-at-{n}-bytes", TEXT, &[1_024, 8_192, 65_536], |agent, size| {
        on_text_result(agent, move |text| split_in_utf8(text, size));
    });
    let questions = family("questions-split-at-{n}-bytes", TEXT, &[16, 4_096], |agent, size| {
        on_asked(agent, size, "human", split_in_utf8);
    });
    let escapes = family("escapes-of-arguments-split-at-{n}-characters", TEXT, &[8, 32, 128], |agent, size| {
        on_arguments(agent, move |args| escapes_split(args, size));
    });
    pairs.chain(bytes).chain(blank).chain(results).chain(questions).chain(escapes)
}

pub(super) fn bugs() -> Vec<Planted> {
    let others = [
        bug("carriage-returns-of-responses-lost", TEXT, |agent| on_said(agent, 0, |text, _| text.replace('\r', ""))),
        bug("lines-of-responses-that-begin-with-data-unpacked", TEXT, |agent| {
            on_said(agent, 0, |text, _| text.strip_prefix("data: ").unwrap_or(text).to_owned());
        }),
        bug("second-call-in-a-stream-joins-the-first", RESPONSE, |agent| {
            on_response(agent, |_, message| {
                let own = calls(message);
                if own.len() > 1 && own[0]["name"] == own[1]["name"] && own[0]["args"] == json!({}) {
                    calls_mut(message)
                        .take(1)
                        .for_each(|call| drop(call.insert("args".into(), own[1]["args"].clone())));
                }
            });
        }),
        bug("response-without-arguments-takes-those-before", RESPONSE, |agent| {
            on_response(agent, |run, message| {
                for call in calls_mut(message).filter(|call| call["args"] == json!({})) {
                    let earlier = run.list.iter().rev().flat_map(calls).find(|other| other["name"] == call["name"]);
                    call.insert("args".into(), earlier.map_or(json!({}), |earlier| earlier["args"].clone()));
                }
            });
        }),
    ];
    sizes().chain(pieces()).chain(others).collect()
}
