//! AGENT-TEXT and AGENT-ENCODABLE: what happens to texts, in results, questions, answers and arguments.

use super::{Edit, bug, change_text, cut, each, family, is, on_arguments, on_given, on_response, on_text_result};
use crate::agent::{Agent, ToolOutcome, content};
use crate::planted::Planted;
use serde_json::Value;
use threadspec_golden::clause;

const TEXT: &[&str] = &[clause::AGENT_TEXT];
const ENCODABLE: &[&str] = &[clause::AGENT_ENCODABLE];

fn on_questions(agent: &mut Agent, edit: impl Fn(&str) -> String + Send + Sync + 'static) {
    on_given(agent, move |list| list.iter_mut().for_each(|message| change_text(message, &edit)));
}

fn on_said(agent: &mut Agent, edit: impl Fn(&str) -> String + Send + Sync + 'static) {
    on_response(agent, move |_, message| change_text(message, &edit));
}

fn on_argument_texts(agent: &mut Agent, edit: impl Fn(&str) -> String + Send + Sync + 'static) {
    on_arguments(agent, move |args| {
        each(args, &|value| {
            if let Value::String(text) = value {
                *text = edit(text);
            }
        });
    });
}

fn template(text: &str) -> String {
    text.replace("{{", "{").replace("}}", "}").replace("{name}", "").replace("${y}", "")
}

fn without_tags(text: &str) -> String {
    text.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text)).collect()
}

fn without_tokens(text: &str) -> String {
    ["<|im_end|>", "<|im_start|>", "<|endoftext|>", "[INST]", "[/INST]", "</s>", "</tool_call>"]
        .iter()
        .fold(text.to_owned(), |text, token| text.replace(token, ""))
}

fn unescaped(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

fn printable(text: &str) -> String {
    text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t' | '\r')).collect()
}

fn without_colours(text: &str) -> String {
    text.split("\u{1b}[")
        .enumerate()
        .map(|(index, part)| if index == 0 { part } else { part.split_once('m').map_or(part, |(_, text)| text) })
        .collect()
}

fn visible(text: &str) -> String {
    text.replace(['\u{200b}', '\u{200d}', '\u{202e}', '\u{feff}', '\u{2028}', '\u{2060}'], "")
}

fn unix_lines(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

fn up_to_nul(text: &str) -> String {
    text.split('\0').next().unwrap_or_default().to_owned()
}

fn ascii(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii() { c } else { '?' }).collect()
}

fn basic_plane(text: &str) -> String {
    text.chars().map(|c| if u32::from(c) > 0xffff { '\u{fffd}' } else { c }).collect()
}

fn backslashes_read(text: &str) -> String {
    text.replace("\\n", "\n").replace("\\t", "\t").replace("\\\\", "\\")
}

fn trimmed(text: &str) -> String {
    text.trim().to_owned()
}

fn trimmed_behind(text: &str) -> String {
    text.trim_end().to_owned()
}

fn spaces_joined(text: &str) -> String {
    let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if joined.is_empty() { text.to_owned() } else { joined }
}

fn composed(text: &str) -> String {
    text.replace("e\u{301}", "é").replace("\u{1112}\u{1161}\u{11ab}", "한")
}

fn without_fences(text: &str) -> String {
    text.replace("```json\n", "").replace("```", "")
}

fn home_expanded(text: &str) -> String {
    text.replace("$HOME", "/root").replace('~', "/root")
}

/// Lets lone surrogates of results pass as they are.
fn halves_pass(agent: &mut Agent, passes: fn(&ToolOutcome) -> Option<Value>) {
    agent.content = Box::new(move |_, outcome| passes(outcome).unwrap_or_else(|| content(outcome)));
}

pub(super) fn bugs() -> Vec<Planted> {
    let edits: [(&str, Edit); 19] = [
        ("results-as-templates", template),
        ("results-without-tags", without_tags),
        ("results-without-tokens", without_tokens),
        ("results-with-entities-read", unescaped),
        ("results-without-control-characters", printable),
        ("results-without-colours", without_colours),
        ("results-without-invisible-characters", visible),
        ("results-with-unix-line-ends", unix_lines),
        ("results-up-to-nul", up_to_nul),
        ("results-in-ascii-alone", ascii),
        ("results-in-the-basic-plane", basic_plane),
        ("results-with-escapes-read", backslashes_read),
        ("results-trimmed", trimmed),
        ("results-trimmed-behind", trimmed_behind),
        ("results-with-spaces-joined", spaces_joined),
        ("results-composed", composed),
        ("results-without-fences", without_fences),
        ("results-with-the-home-expanded", home_expanded),
        ("results-with-tabs-as-spaces", |text| text.replace('\t', "    ")),
    ];
    let mut bugs: Vec<Planted> =
        edits.into_iter().map(|(name, edit)| bug(name, TEXT, move |agent| on_text_result(agent, edit))).collect();
    let others: [(&str, Edit); 5] = [
        ("as-templates", template),
        ("without-tokens", without_tokens),
        ("trimmed", trimmed),
        ("without-tags", without_tags),
        ("without-control-characters", printable),
    ];
    for (how, edit) in others {
        bugs.push(bug(&format!("questions-{how}"), TEXT, move |agent| on_questions(agent, edit)));
    }
    bugs.extend([
        bug("system-message-as-a-template", TEXT, |agent| {
            on_given(agent, |list| list.iter_mut().filter(|message| is(message, &["system"])).for_each(|message| change_text(message, template)));
        }),
        bug("answers-of-the-history-as-templates", TEXT, |agent| {
            on_given(agent, |list| list.iter_mut().filter(|message| is(message, &["ai"])).for_each(|message| change_text(message, template)));
        }),
        bug("responses-as-templates", TEXT, |agent| on_said(agent, template)),
        bug("responses-trimmed", TEXT, |agent| on_said(agent, trimmed)),
        bug("arguments-as-templates", TEXT, |agent| on_argument_texts(agent, template)),
        bug("arguments-trimmed", TEXT, |agent| on_argument_texts(agent, trimmed)),
        bug("results-that-are-white-space-emptied", TEXT, |agent| {
            on_text_result(agent, |text| if text.trim().is_empty() && text.contains('\t') { " ".to_owned() } else { text.to_owned() });
        }),
        bug("texts-in-structured-results-as-templates", TEXT, |agent| {
            super::on_structured(agent, |value| {
                let mut value = value.clone();
                each(&mut value, &|value| {
                    if let Value::String(text) = value {
                        *text = template(text);
                    }
                });
                threadspec_judge::universal::halves::escaped(&value.to_string()).into()
            });
        }),
        bug("texts-written-again-in-each-round", &[clause::AGENT_PREFIX], |agent| {
            super::on_later_requests(agent, |run, request| {
                let end = run.requests.last().map_or(0, Vec::len);
                request.iter_mut().take(end).for_each(|message| change_text(message, |text| text.replace("{{", "{").replace("}}", "}")));
            });
        }),
        bug("halves-of-results-pass", ENCODABLE, |agent| {
            halves_pass(agent, |outcome| match outcome {
                ToolOutcome::Result(Value::String(text)) => Some(text.clone().into()),
                _ => None,
            });
        }),
        bug("halves-in-structured-results-pass", ENCODABLE, |agent| {
            halves_pass(agent, |outcome| match outcome {
                ToolOutcome::Result(value) if !value.is_string() => Some(value.to_string().into()),
                _ => None,
            });
        }),
        bug("halves-of-errors-pass", ENCODABLE, |agent| {
            agent.outcome = Box::new(|run, call| {
                let error = run.input["tools"][crate::agent::text(&call["name"])]["byId"][crate::agent::text(&call["id"])]["error"].clone();
                match (crate::agent::outcome(run, call), error) {
                    (ToolOutcome::Failure(_), Value::String(error)) => ToolOutcome::Failure(error),
                    (outcome, _) => outcome,
                }
            });
        }),
        bug("halves-of-responses-pass", ENCODABLE, |agent| {
            on_response(agent, |run, message| message["content"] = run.scripted(0)["content"].as_str().unwrap_or_default().into());
        }),
        bug("halves-of-questions-pass", ENCODABLE, |agent| {
            agent.begin = Box::new(|run| {
                super::mend(&mut run.list);
                let given = run.input["messages"].as_array().cloned().unwrap_or_default();
                if given.len() == run.list.len() {
                    run.list.iter_mut().zip(given).for_each(|(message, given)| message["content"] = given["content"].clone());
                }
                Ok(())
            });
        }),
        bug("halves-end-the-run", ENCODABLE, |agent| {
            agent.content = Box::new(|run, outcome| {
                if matches!(outcome, ToolOutcome::Result(Value::String(text)) if threadspec_judge::universal::halves::escaped(text) != *text) {
                    run.stop = Some("surrogates not allowed".to_owned());
                }
                content(outcome)
            });
        }),
        bug("replacement-characters-left-out-with-halves", TEXT, |agent| {
            halves_pass(agent, |outcome| match outcome {
                ToolOutcome::Result(Value::String(text)) if threadspec_judge::universal::halves::escaped(text) != *text => {
                    Some(threadspec_judge::universal::halves::repaired(text).replace('\u{fffd}', "").into())
                }
                _ => None,
            });
        }),
        bug("text-around-a-half-lost", TEXT, |agent| {
            halves_pass(agent, |outcome| match outcome {
                ToolOutcome::Result(Value::String(text)) if threadspec_judge::universal::halves::escaped(text) != *text => Some("?".into()),
                _ => None,
            });
        }),
    ]);
    bugs.extend(family("results-cut-at-{n}-characters", TEXT, &[1_000, 10_000, 65_536, 262_144], |agent, size| {
        on_text_result(agent, move |text| cut(text, size));
    }));
    bugs.extend(family("results-cut-in-the-middle-beyond-{n}-characters", TEXT, &[2_000, 200_000], |agent, size| {
        on_text_result(agent, move |text| {
            let length = text.chars().count();
            if length <= size {
                return text.to_owned();
            }
            let behind: String = text.chars().skip(length - size / 2).collect();
            format!("{}\n[…]\n{behind}", cut(text, size / 2))
        });
    }));
    bugs.extend(family("lines-wrapped-at-{n}", TEXT, &[1_000, 20_000], |agent, size| {
        on_text_result(agent, move |text| {
            let lines = text
                .split('\n')
                .map(|line| line.as_bytes().chunks(size).map(String::from_utf8_lossy).collect::<Vec<_>>().join("\n"));
            if text.is_ascii() { lines.collect::<Vec<_>>().join("\n") } else { text.to_owned() }
        });
    }));
    bugs.extend(family("at-most-{n}-lines-of-a-result", TEXT, &[200, 10_000], |agent, size| {
        on_text_result(agent, move |text| text.split_inclusive('\n').take(size).collect());
    }));
    bugs.extend(family("questions-cut-at-{n}-characters", TEXT, &[1_000, 20_000], |agent, size| {
        on_questions(agent, move |text| cut(text, size));
    }));
    bugs.extend(family("arguments-cut-at-{n}-characters", TEXT, &[1_000, 16_000], |agent, size| {
        on_argument_texts(agent, move |text| cut(text, size));
    }));
    bugs
}
