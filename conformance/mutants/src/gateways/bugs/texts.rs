//! Messages, texts, results and images on their way to the provider.

use crate::gateways::prelude::*;
use crate::wire::cut;

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

pub(super) fn bugs() -> Vec<Planted> {
    [messages(), words(), of_results(), of_others(), images()].into_iter().flatten().flatten().collect()
}

fn messages() -> Vec<Vec<Planted>> {
    vec![
        MESSAGES.when(SOMETIMES).history("first-user-text-lost", |history| {
            if let [first, _, ..] = users(history)[..] {
                history.remove(first);
            }
        }),
        MESSAGES.when(SOMETIMES).history("last-user-text-doubled", |history| {
            if let Some(&last) = users(history).last() {
                history.insert(last, history[last].clone());
            }
        }),
        MESSAGES.when(LONG).history("user-texts-sorted-to-the-front", |history| {
            if let [_, second, ..] = users(history)[..] {
                let moved = history.remove(second);
                history.insert(0, moved);
            }
        }),
        MESSAGES.history("history-cut-to-its-last-forty-messages", |history| {
            let surplus = history.len().saturating_sub(40);
            history.drain(..surplus);
        }),
        MESSAGES.history("equal-texts-of-the-user-told-once", |history| {
            let places = users(history);
            let is_known = |at: &usize| places.iter().any(|before| before < at && history[*before] == history[*at]);
            let doubled: Vec<usize> = places.iter().copied().filter(is_known).collect();
            doubled.into_iter().rev().for_each(|at| drop(history.remove(at)));
        }),
        MESSAGES.when(SOMETIMES).bodies("system-text-lost-beside-tools", |body| {
            if !body["tools"].is_null() {
                for name in ["system", "instructions"] {
                    drop_member(body, name);
                }
                history(body).retain(|message| !matches!(text(&message["role"]), "system" | "developer"));
            }
        }),
        MESSAGES.at(ALL.to(OPENAI)).bodies("system-text-as-the-users", |body| {
            if let Some(instructions) = body["instructions"].as_str().map(str::to_owned) {
                drop_member(body, "instructions");
                history(body).insert(0, user(&instructions));
            }
            for message in history(body).iter_mut().filter(|message| message["role"] == "system") {
                message["role"] = "user".into();
            }
        }),
        MESSAGES.at(TRANSLATING.to(OPENAI)).history("second-result-of-a-group-lost", |history| {
            let is_result = |message: &Value| message["role"] == "tool" || message["type"] == "function_call_output";
            let second = (1..history.len()).find(|&at| is_result(&history[at]) && is_result(&history[at - 1]));
            second.into_iter().for_each(|at| drop(history.remove(at)));
        }),
    ]
}

fn words() -> Vec<Vec<Planted>> {
    vec![
        TEXT.when(SOMETIMES)
            .texts("texts-escaped-as-html", EVERYBODY, |text| text.replace('&', "&amp;").replace('<', "&lt;")),
        TEXT.when(SOMETIMES).texts("line-ends-of-texts-made-spaces", EVERYBODY, |text| text.replace('\n', " ")),
        TEXT.texts("white-space-inside-texts-squeezed", &[Who::User], |text| {
            text.split_whitespace().collect::<Vec<_>>().join(" ")
        }),
        TEXT.texts("texts-of-the-model-made-one-line", &[Who::Model], |text| text.replace('\n', " ")),
        TEXT.texts("texts-cut-to-64-kilobytes", EVERYBODY, |text| cut(text, 1 << 16)),
        TEXT.texts("control-characters-in-texts-dropped", EVERYBODY, |text| {
            text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t' | '\r')).collect()
        }),
        TEXT.texts("letters-beyond-ascii-made-question-marks", EVERYBODY, |text| {
            text.chars().map(|c| if c.is_ascii() { c } else { '?' }).collect()
        }),
        TEXT.when(SOMETIMES).texts("system-text-made-lower-case", &[Who::System], str::to_lowercase),
        // Of Anthropic's texts each part is a message here.
        MESSAGES.at(TRANSLATING.from(OPENAI)).request("second-part-of-a-text-lost", |_, request| {
            for message in request.messages.iter_mut().filter(|message| message.speaker == Speaker::Human) {
                if let Some(&seam) = message.seams.first().filter(|_| message.images.is_empty()) {
                    message.content.truncate(seam);
                    message.seams.clear();
                }
            }
        }),
    ]
}

/// A text read as JSON and written again.
fn rewritten(text: &str) -> String {
    value::read(text).map_or_else(|_| text.to_owned(), |value| value.to_string())
}

fn of_results() -> Vec<Vec<Planted>> {
    vec![
        RESULT
            .when(&[ShowsWhen::Always, ShowsWhen::SecondRequest, ShowsWhen::ThreeCalls, ShowsWhen::ParallelInStreams])
            .results("results-trimmed-on-the-way", |text| text.trim().to_owned()),
        RESULT.when(SOMETIMES).results("results-read-as-json-and-written-again", rewritten),
        RESULT.results("numbers-in-results-shortened", |text| {
            text.parse::<f64>().map_or_else(|_| text.to_owned(), |number| number.to_string())
        }),
        RESULT.results("results-cut-to-100-kilobytes", |text| cut(text, 100_000)),
        RESULT.results("line-ends-of-results-made-one-kind", |text| text.replace("\r\n", "\n").replace('\r', "\n")),
        RESULT.results("markup-in-results-dropped", |text| text.replace(['<', '>'], "")),
        RESULT
            .when(&[ShowsWhen::SecondRequest, ShowsWhen::ThreeCalls])
            .results("results-quoted", |text| json!(text).to_string()),
        RESULT.at(ALL.to(OPENAI)).bodies("empty-results-made-null", |body| {
            for ResultOf { content, .. } in results(body) {
                if *content == "" {
                    *content = Value::Null;
                }
            }
        }),
        RESULT.results("empty-results-filled", |text| {
            if text.is_empty() { "(no output)".to_owned() } else { text.to_owned() }
        }),
        RESULT.at(TRANSLATING).request("parts-of-results-written-as-json", |_, request| {
            let results = request.messages.iter_mut().filter(|message| message.speaker == Speaker::Tool);
            for message in results.filter(|message| !message.seams.is_empty() && message.images.is_empty()) {
                let parts: Vec<Value> = message.parts().map(|text| json!({"type": "text", "text": text})).collect();
                message.content = Value::from(parts).to_string();
                message.seams.clear();
            }
        }),
        IDS.when(&[ShowsWhen::ThreeCalls]).bodies("third-result-with-the-text-of-the-first", |body| {
            let mut results = results(body);
            if let [first, _, third, ..] = &mut results[..] {
                std::mem::swap(first.content, third.content);
            }
        }),
    ]
}

fn of_others() -> Vec<Vec<Planted>> {
    vec![
        INVENTED.when(SOMETIMES).bodies("sentence-before-the-system-text", |body| {
            if let Some((_, first)) = texts(body).into_iter().find(|(who, _)| *who == Who::System) {
                *first = format!("You are served by a gateway.\n\n{}", text(first)).into();
            }
        }),
        INVENTED.when(SOMETIMES).bodies("user-told-to-go-on-behind-results", |body| {
            let is_result = |message: &Value| {
                message["role"] == "tool"
                    || message["type"] == "function_call_output"
                    || list(&message["content"]).iter().any(|block| block["type"] == "tool_result")
            };
            if history(body).last().is_some_and(is_result) {
                history(body).push(user("Please continue."));
            }
        }),
        // Nobody sends an empty text to Anthropic.
        INVENTED.at(TRANSLATING.from(OPENAI)).request("empty-texts-filled", |_, request| {
            let empty = request.messages.iter_mut().filter(|message| {
                matches!(message.speaker, Speaker::Human | Speaker::Ai)
                    && message.content.trim().is_empty()
                    && message.calls.is_empty()
            });
            empty.for_each(|message| message.content = "[empty message]".to_owned());
        }),
        INVENTED.at(TRANSLATING).when(&[ShowsWhen::Always, ShowsWhen::ThreeCalls]).request(
            "texts-beside-calls-filled",
            |_, request| {
                let calling = request
                    .messages
                    .iter_mut()
                    .filter(|message| !message.calls.is_empty() && message.content.is_empty());
                calling.for_each(|message| message.content = "I call a tool.".to_owned());
            },
        ),
        INVENTED.history("conversation-of-the-model-begun-by-a-user", |history| {
            let first = history.iter().position(|message| !matches!(text(&message["role"]), "system" | "developer"));
            if let Some(at) = first.filter(|&at| history[at]["role"] == "assistant") {
                history.insert(at, user("Hello"));
            }
        }),
    ]
}

fn images() -> Vec<Vec<Planted>> {
    vec![
        MEDIA.when(SOMETIMES).images("images-dropped-on-the-way", |parts| {
            let kind = if parts.iter().any(|part| part["type"] == "input_image") { "input_text" } else { "text" };
            parts.retain(|part| !is_image(part));
            if parts.is_empty() {
                parts.push(json!({"type": kind, "text": "[image not available]"}));
            }
        }),
        MEDIA.bodies("second-image-with-the-bytes-of-the-first", |body| {
            let first = std::cell::RefCell::new(None::<Value>);
            on_images(body, |parts| {
                for part in parts.iter_mut().filter(|part| is_image(part)) {
                    let known = first.borrow_mut().get_or_insert_with(|| part.clone()).clone();
                    *part = known;
                }
            });
        }),
        MEDIA.inside("images-cut-to-64-kilobytes", |value| {
            if let Some(url) = value.as_str().filter(|text| text.starts_with("data:image") && text.len() > 1 << 16) {
                *value = cut(url, 1 << 16).into();
            } else if value["type"] == "base64" && text(&value["data"]).len() > 1 << 16 {
                value["data"] = cut(text(&value["data"]), 1 << 16).into();
            }
        }),
        MEDIA.at(TRANSLATING.from(ANTHROPIC)).request("images-of-results-as-text", |_, request| {
            for message in request.messages.iter_mut().filter(|message| message.speaker == Speaker::Tool) {
                for image in std::mem::take(&mut message.images) {
                    message.content = message.content.replacen('\u{fffc}', &image, 1);
                    message.seams.clear();
                }
            }
        }),
        MEDIA.history("images-of-an-early-user-behind-everything", |history| {
            let found = users(history).into_iter().find(|&at| list(&history[at]["content"]).iter().any(is_image));
            if let Some(at) = found.filter(|at| at + 1 < history.len())
                && let Some(parts) = history[at]["content"].as_array_mut()
            {
                let (images, rest): (Vec<Value>, Vec<Value>) = std::mem::take(parts).into_iter().partition(is_image);
                if rest.is_empty() {
                    history.remove(at);
                } else {
                    *parts = rest;
                }
                history.push(json!({"role": "user", "content": images}));
            }
        }),
        MEDIA.at(TRANSLATING.to(CHAT)).history("images-of-results-with-the-last-user", |history| {
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
    ]
}
