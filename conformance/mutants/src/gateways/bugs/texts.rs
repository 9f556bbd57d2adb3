//! Messages, texts, results and images on their way to the provider.

use super::super::bodies::{ResultOf, Who, history, is_image, on_images, on_results, on_texts, results, texts};
use super::super::plant::{body, bugs as each, request};
use super::{ALWAYS, OPENAI, SOMETIMES};
use crate::gateway::places::{ALL, ShowsWhen, TRANSLATING};
use crate::planted::Planted;
use serde_json::{Value, json};
use threadspec_golden::clause;
use threadspec_judge::json::{list, text};
use threadspec_judge::protocol::Speaker;
use threadspec_judge::universal::value;

const MESSAGES: &[&str] = &[clause::GATE_MESSAGES];
const TEXT: &[&str] = &[clause::GATE_TEXT];
const RESULT: &[&str] = &[clause::GATE_RESULT];
const INVENTED: &[&str] = &[clause::GATE_INVENTED];
const MEDIA: &[&str] = &[clause::GATE_MEDIA];
/// It shows always, or only in long histories.
const LONG: &[ShowsWhen] = &[ShowsWhen::Always, ShowsWhen::LongHistory];
const EVERYBODY: &[Who] = &[Who::System, Who::User, Who::Model];

/// The positions of the user's texts in a history.
fn users(history: &[Value]) -> Vec<usize> {
    let is_one = |message: &Value| {
        message["role"] == "user" && !list(&message["content"]).iter().any(|block| block["type"] == "tool_result")
    };
    (0..history.len()).filter(|&at| is_one(&history[at])).collect()
}

/// A text of the user's.
fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

/// The first characters of a text.
fn start(text: &str, length: usize) -> String {
    text.chars().take(length).collect()
}

pub(super) fn bugs() -> Vec<Planted> {
    [messages(), words(), of_results(), of_others(), images()].into_iter().flatten().flatten().collect()
}

fn messages() -> Vec<Vec<Planted>> {
    vec![
        each(
            "first-user-text-lost",
            MESSAGES,
            ALL,
            SOMETIMES,
            body(|_, body| {
                let history = history(body);
                if let [first, _, ..] = users(history)[..] {
                    history.remove(first);
                }
            }),
        ),
        each(
            "last-user-text-doubled",
            MESSAGES,
            ALL,
            SOMETIMES,
            body(|_, body| {
                let history = history(body);
                if let Some(&last) = users(history).last() {
                    history.insert(last, history[last].clone());
                }
            }),
        ),
        each(
            "user-texts-sorted-to-the-front",
            MESSAGES,
            ALL,
            LONG,
            body(|_, body| {
                let history = history(body);
                if let [_, second, ..] = users(history)[..] {
                    let moved = history.remove(second);
                    history.insert(0, moved);
                }
            }),
        ),
        each(
            "history-cut-to-its-last-forty-messages",
            MESSAGES,
            ALL,
            ALWAYS,
            body(|_, body| {
                let history = history(body);
                let surplus = history.len().saturating_sub(40);
                history.drain(..surplus);
            }),
        ),
        each(
            "equal-texts-of-the-user-told-once",
            MESSAGES,
            ALL,
            ALWAYS,
            body(|_, body| {
                let history = history(body);
                let places = users(history);
                let is_known = |at: &usize| places.iter().any(|before| before < at && history[*before] == history[*at]);
                let doubled: Vec<usize> = places.iter().copied().filter(is_known).collect();
                doubled.into_iter().rev().for_each(|at| drop(history.remove(at)));
            }),
        ),
        each(
            "system-text-lost-beside-tools",
            MESSAGES,
            ALL,
            SOMETIMES,
            body(|_, body| {
                if !body["tools"].is_null() {
                    for name in ["system", "instructions"] {
                        super::super::bodies::drop_member(body, name);
                    }
                    history(body).retain(|message| !matches!(text(&message["role"]), "system" | "developer"));
                }
            }),
        ),
        each(
            "system-text-as-the-users",
            MESSAGES,
            ALL.to(OPENAI),
            ALWAYS,
            body(|_, body| {
                if let Some(instructions) = body["instructions"].as_str().map(str::to_owned) {
                    super::super::bodies::drop_member(body, "instructions");
                    history(body).insert(0, user(&instructions));
                }
                for message in history(body).iter_mut().filter(|message| message["role"] == "system") {
                    message["role"] = "user".into();
                }
            }),
        ),
        each(
            "second-result-of-a-group-lost",
            MESSAGES,
            TRANSLATING.to(OPENAI),
            ALWAYS,
            body(|_, body| {
                let history = history(body);
                let is_result =
                    |message: &Value| message["role"] == "tool" || message["type"] == "function_call_output";
                let second = (1..history.len()).find(|&at| is_result(&history[at]) && is_result(&history[at - 1]));
                second.into_iter().for_each(|at| drop(history.remove(at)));
            }),
        ),
    ]
}

fn words() -> Vec<Vec<Planted>> {
    let on = |who: &'static [Who], change: fn(&str) -> String| body(move |_, body| on_texts(body, who, change));
    vec![
        each(
            "texts-escaped-as-html",
            TEXT,
            ALL,
            SOMETIMES,
            on(EVERYBODY, |text| text.replace('&', "&amp;").replace('<', "&lt;")),
        ),
        each("line-ends-of-texts-made-spaces", TEXT, ALL, SOMETIMES, on(EVERYBODY, |text| text.replace('\n', " "))),
        each(
            "white-space-inside-texts-squeezed",
            TEXT,
            ALL,
            ALWAYS,
            on(&[Who::User], |text| text.split_whitespace().collect::<Vec<_>>().join(" ")),
        ),
        each("texts-of-the-model-made-one-line", TEXT, ALL, ALWAYS, on(&[Who::Model], |text| text.replace('\n', " "))),
        each("texts-cut-to-64-kilobytes", TEXT, ALL, ALWAYS, on(EVERYBODY, |text| start(text, 1 << 16))),
        each(
            "control-characters-in-texts-dropped",
            TEXT,
            ALL,
            ALWAYS,
            on(EVERYBODY, |text| text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t' | '\r')).collect()),
        ),
        each(
            "letters-beyond-ascii-made-question-marks",
            TEXT,
            ALL,
            ALWAYS,
            on(EVERYBODY, |text| text.chars().map(|c| if c.is_ascii() { c } else { '?' }).collect()),
        ),
        each("system-text-made-lower-case", TEXT, ALL, SOMETIMES, on(&[Who::System], str::to_lowercase)),
        each(
            "second-part-of-a-text-lost",
            MESSAGES,
            // Of Anthropic's texts each part is a message here.
            TRANSLATING.from(OPENAI),
            ALWAYS,
            request(|_, request| {
                for message in request.messages.iter_mut().filter(|message| message.speaker == Speaker::Human) {
                    if let Some(&seam) = message.seams.first().filter(|_| message.images.is_empty()) {
                        message.content.truncate(seam);
                        message.seams.clear();
                    }
                }
            }),
        ),
    ]
}

/// A text read as JSON and written again.
fn rewritten(text: &str) -> String {
    value::read(text).map_or_else(|_| text.to_owned(), |value| value.to_string())
}

fn of_results() -> Vec<Vec<Planted>> {
    let on = |change: fn(&str) -> String| body(move |_, body| on_results(body, change));
    vec![
        each(
            "results-trimmed-on-the-way",
            RESULT,
            ALL,
            &[ShowsWhen::Always, ShowsWhen::SecondRequest, ShowsWhen::ThreeCalls, ShowsWhen::ParallelInStreams],
            on(|text| text.trim().to_owned()),
        ),
        each("results-read-as-json-and-written-again", RESULT, ALL, SOMETIMES, on(rewritten)),
        each(
            "numbers-in-results-shortened",
            RESULT,
            ALL,
            ALWAYS,
            on(|text| text.parse::<f64>().map_or_else(|_| text.to_owned(), |number| number.to_string())),
        ),
        each("results-cut-to-100-kilobytes", RESULT, ALL, ALWAYS, on(|text| start(text, 100_000))),
        each(
            "line-ends-of-results-made-one-kind",
            RESULT,
            ALL,
            ALWAYS,
            on(|text| text.replace("\r\n", "\n").replace('\r', "\n")),
        ),
        each("markup-in-results-dropped", RESULT, ALL, ALWAYS, on(|text| text.replace(['<', '>'], ""))),
        each(
            "results-quoted",
            RESULT,
            ALL,
            &[ShowsWhen::SecondRequest, ShowsWhen::ThreeCalls],
            on(|text| json!(text).to_string()),
        ),
        each(
            "empty-results-made-null",
            RESULT,
            ALL.to(OPENAI),
            ALWAYS,
            body(|_, body| {
                for ResultOf { content, .. } in results(body) {
                    if *content == "" {
                        *content = Value::Null;
                    }
                }
            }),
        ),
        each(
            "empty-results-filled",
            RESULT,
            ALL,
            ALWAYS,
            on(|text| if text.is_empty() { "(no output)".to_owned() } else { text.to_owned() }),
        ),
        each(
            "parts-of-results-written-as-json",
            RESULT,
            TRANSLATING,
            ALWAYS,
            request(|_, request| {
                let results = request.messages.iter_mut().filter(|message| message.speaker == Speaker::Tool);
                for message in results.filter(|message| !message.seams.is_empty() && message.images.is_empty()) {
                    let parts: Vec<Value> = message.parts().map(|text| json!({"type": "text", "text": text})).collect();
                    message.content = Value::from(parts).to_string();
                    message.seams.clear();
                }
            }),
        ),
        each(
            "third-result-with-the-text-of-the-first",
            &[clause::GATE_IDS],
            ALL,
            &[ShowsWhen::ThreeCalls],
            body(|_, body| {
                let mut results = results(body);
                if let [first, _, third, ..] = &mut results[..] {
                    std::mem::swap(first.content, third.content);
                }
            }),
        ),
    ]
}

fn of_others() -> Vec<Vec<Planted>> {
    vec![
        each(
            "sentence-before-the-system-text",
            INVENTED,
            ALL,
            SOMETIMES,
            body(|_, body| {
                if let Some((_, first)) = texts(body).into_iter().find(|(who, _)| *who == Who::System) {
                    *first = format!("You are served by a gateway.\n\n{}", text(first)).into();
                }
            }),
        ),
        each(
            "user-told-to-go-on-behind-results",
            INVENTED,
            ALL,
            SOMETIMES,
            body(|_, body| {
                let is_result = |message: &Value| {
                    message["role"] == "tool"
                        || message["type"] == "function_call_output"
                        || list(&message["content"]).iter().any(|block| block["type"] == "tool_result")
                };
                if history(body).last().is_some_and(is_result) {
                    history(body).push(user("Please continue."));
                }
            }),
        ),
        each(
            "empty-texts-filled",
            INVENTED,
            // Nobody sends an empty text to Anthropic.
            TRANSLATING.from(OPENAI),
            ALWAYS,
            request(|_, request| {
                let empty = request.messages.iter_mut().filter(|message| {
                    matches!(message.speaker, Speaker::Human | Speaker::Ai)
                        && message.content.trim().is_empty()
                        && message.calls.is_empty()
                });
                empty.for_each(|message| message.content = "[empty message]".to_owned());
            }),
        ),
        each(
            "texts-beside-calls-filled",
            INVENTED,
            TRANSLATING,
            &[ShowsWhen::Always, ShowsWhen::ThreeCalls],
            request(|_, request| {
                let calling = request
                    .messages
                    .iter_mut()
                    .filter(|message| !message.calls.is_empty() && message.content.is_empty());
                calling.for_each(|message| message.content = "I call a tool.".to_owned());
            }),
        ),
        each(
            "conversation-of-the-model-begun-by-a-user",
            INVENTED,
            ALL,
            ALWAYS,
            body(|_, body| {
                let history = history(body);
                let first =
                    history.iter().position(|message| !matches!(text(&message["role"]), "system" | "developer"));
                if let Some(at) = first.filter(|&at| history[at]["role"] == "assistant") {
                    history.insert(at, user("Hello"));
                }
            }),
        ),
    ]
}

fn images() -> Vec<Vec<Planted>> {
    vec![
        each(
            "images-dropped-on-the-way",
            MEDIA,
            ALL,
            SOMETIMES,
            body(|_, body| {
                on_images(body, |parts| {
                    let kind =
                        if parts.iter().any(|part| part["type"] == "input_image") { "input_text" } else { "text" };
                    parts.retain(|part| !is_image(part));
                    if parts.is_empty() {
                        parts.push(json!({"type": kind, "text": "[image not available]"}));
                    }
                });
            }),
        ),
        each(
            "second-image-with-the-bytes-of-the-first",
            MEDIA,
            ALL,
            ALWAYS,
            body(|_, body| {
                let first = std::cell::RefCell::new(None::<Value>);
                on_images(body, |parts| {
                    for part in parts.iter_mut().filter(|part| is_image(part)) {
                        let known = first.borrow_mut().get_or_insert_with(|| part.clone()).clone();
                        *part = known;
                    }
                });
            }),
        ),
        each(
            "images-cut-to-64-kilobytes",
            MEDIA,
            ALL,
            ALWAYS,
            body(|_, body| {
                super::super::bodies::deep(body, &|value| {
                    if let Some(url) =
                        value.as_str().filter(|text| text.starts_with("data:image") && text.len() > 1 << 16)
                    {
                        *value = start(url, 1 << 16).into();
                    } else if value["type"] == "base64" && text(&value["data"]).len() > 1 << 16 {
                        value["data"] = start(text(&value["data"]), 1 << 16).into();
                    }
                });
            }),
        ),
        each(
            "images-of-results-as-text",
            MEDIA,
            TRANSLATING.from(&[threadspec::oracle::Api::Anthropic]),
            ALWAYS,
            request(|_, request| {
                for message in request.messages.iter_mut().filter(|message| message.speaker == Speaker::Tool) {
                    for image in std::mem::take(&mut message.images) {
                        message.content = message.content.replacen('\u{fffc}', &image, 1);
                        message.seams.clear();
                    }
                }
            }),
        ),
        each(
            "images-of-an-early-user-behind-everything",
            MEDIA,
            ALL,
            ALWAYS,
            body(|_, body| {
                let history = history(body);
                let found = users(history).into_iter().find(|&at| list(&history[at]["content"]).iter().any(is_image));
                if let Some(at) = found.filter(|at| at + 1 < history.len())
                    && let Some(parts) = history[at]["content"].as_array_mut()
                {
                    let (images, rest): (Vec<Value>, Vec<Value>) =
                        std::mem::take(parts).into_iter().partition(is_image);
                    if rest.is_empty() {
                        history.remove(at);
                    } else {
                        *parts = rest;
                    }
                    history.push(json!({"role": "user", "content": images}));
                }
            }),
        ),
        each(
            "images-of-results-with-the-last-user",
            MEDIA,
            TRANSLATING.to(super::CHAT),
            ALWAYS,
            body(|_, body| {
                let history = history(body);
                let found = history.iter().position(|message| {
                    message["role"] == "user"
                        && list(&message["content"]).iter().all(is_image)
                        && message["content"].is_array()
                });
                if let Some(at) = found.filter(|&at| at > 0 && at + 1 < history.len()) {
                    let images = history.remove(at);
                    history.push(images);
                }
            }),
        ),
    ]
}
