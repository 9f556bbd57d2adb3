//! What may become of opaque parts and images.

use super::{SessionAgent, never_compacts, reading};
use crate::agent::calls;
use crate::planted::Planted;
use crate::threads::images;
use crate::threads::run::SessionRun;
use crate::threads::sound;
use serde_json::{Value, json};

pub(super) fn all() -> Vec<Planted> {
    opaque().into_iter().chain(with_images()).collect()
}

/// Changes the responses of closed turns as they are sent.
fn on_closed_turns(agent: &mut SessionAgent, change: fn(&mut Value, usize)) {
    agent.request = Box::new(move |run| {
        let mut request = sound::request(run);
        let last = request.iter().rposition(|message| message["type"] == "human").unwrap_or_default();
        for (index, message) in request[..last].iter_mut().enumerate() {
            change(message, index);
        }
        request
    });
}

fn drop_opaque(message: &mut Value) {
    message.as_object_mut().map(|members| members.remove("opaque"));
}

fn opaque() -> Vec<Planted> {
    vec![
        reading("opaque-parts-of-closed-turns-dropped", |agent| {
            on_closed_turns(agent, |message, _| drop_opaque(message))
        }),
        reading("opaque-parts-of-every-second-message-of-closed-turns-dropped", |agent| {
            on_closed_turns(agent, |message, index| {
                if index % 2 == 0 {
                    drop_opaque(message);
                }
            });
        }),
        reading("only-the-first-opaque-part-of-closed-turns-kept", |agent| {
            on_closed_turns(agent, |message, _| {
                if let Some(parts) = message["opaque"].as_array_mut() {
                    parts.truncate(1);
                }
                if message["opaque"].is_null() {
                    drop_opaque(message);
                }
            });
        }),
        reading("opaque-parts-with-members-of-their-own", |agent| {
            agent.response = Box::new(|run, message| {
                let turn = run.turn;
                for part in message.get_mut("opaque").and_then(Value::as_array_mut).into_iter().flatten() {
                    part["index"] = json!(turn);
                }
            });
        }),
    ]
}

fn with_images() -> Vec<Planted> {
    vec![
        reading("images-in-a-user-message-behind-the-answers", |agent| {
            agent.after_round = Box::new(show_images);
            never_compacts(agent);
        }),
        reading("images-left-out-as-the-answer-says", |agent| {
            agent.execute = Box::new(|run, call| {
                let result = sound::scripted(run, call);
                let mut answer = sound::answer_of(call, result.clone());
                if images::of_result(&result).is_some() {
                    let text = format!("{} [An image was left out.]", images::text_beside(&result));
                    answer["content"] = text.trim().into();
                    answer.as_object_mut().map(|members| members.remove("images"));
                }
                answer
            });
        }),
        reading("answers-name-their-images", |agent| {
            agent.execute = Box::new(|run, call| {
                let result = sound::scripted(run, call);
                let mut answer = sound::answer_of(call, result.clone());
                if images::of_result(&result).is_some() {
                    answer["content"] = format!("{}\nSee the image.", images::text_beside(&result)).trim().into();
                }
                answer
            });
        }),
    ]
}

/// Moves the images of the last round into a user message behind it.
fn show_images(run: &mut SessionRun) {
    if !run.thread.pending.is_empty() {
        return;
    }
    let Some(response) = run.last_round() else { return };
    let mut images = Vec::new();
    for message in &mut run.thread.list[response..] {
        if let Some(Value::Array(own)) = message.as_object_mut().and_then(|members| members.remove("images")) {
            images.extend(own);
            message["content"] =
                format!("{}\nThe image is below.", message["content"].as_str().unwrap_or_default()).trim().into();
        }
    }
    if !images.is_empty() && !calls(&run.thread.list[response]).is_empty() {
        run.thread.list.push(json!({"type": "human", "content": "", "images": images}));
    }
}
