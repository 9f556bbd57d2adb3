//! SESSION-IMAGE: images in results.

use super::{Always, LongThread, NewStart, SecondSession, Shows, ThirdCall, ThirdRun, bugs, is, on_later_runs};
use crate::agent::answer;
use crate::planted::Planted;
use crate::threads::SessionAgent;
use crate::threads::images;
use crate::threads::sound;
use serde_json::{Value, json};
use threadspec_golden::clause;

const IMAGE: &[&str] = &[clause::SESSION_IMAGE];

/// Answers a call whose result is an image, given the result.
fn on_image(agent: &mut SessionAgent, shows: Shows, change: fn(&Value, &Value) -> Value) {
    agent.execute = Box::new(move |run, call| {
        let result = sound::scripted(run, call);
        if images::of_result(&result).is_some() && shows.holds_for(run, call) {
            change(call, &result)
        } else {
            sound::answer_of(call, result)
        }
    });
}

pub(super) fn all() -> Vec<Planted> {
    const SOMEWHERE: &[Shows] = &[Always, ThirdRun, ThirdCall, SecondSession, NewStart, LongThread];
    let mut all = Vec::new();
    all.extend(bugs("images-dropped", IMAGE, SOMEWHERE, |agent, shows| {
        on_image(agent, shows, |call, result| answer(call, images::text_beside(result)));
    }));
    all.extend(bugs("images-sent-as-text", IMAGE, &[Always, ThirdRun, ThirdCall], |agent, shows| {
        on_image(agent, shows, |call, result| answer(call, result.to_string()));
    }));
    all.extend(bugs("images-sent-as-text-too", IMAGE, &[Always], |agent, shows| {
        on_image(agent, shows, |call, result| {
            let mut answer = sound::answer_of(call, result.clone());
            let text = format!("{} {}", images::text_beside(result), images::of_result(result).unwrap_or_default());
            answer["content"] = text.into();
            answer
        });
    }));
    all.extend(bugs("text-beside-images-lost", IMAGE, &[Always, ThirdRun, ThirdCall], |agent, shows| {
        on_image(agent, shows, |call, result| {
            let mut answer = sound::answer_of(call, result.clone());
            answer["content"] = "".into();
            answer
        });
    }));
    all.extend(bugs("images-lost-in-later-runs", IMAGE, &[Always, ThirdRun, NewStart, LongThread], |agent, shows| {
        on_later_runs(agent, shows, |_, request| {
            let end = request.iter().rposition(|message| is(message, "human")).unwrap_or_default();
            for message in &mut request[..end] {
                message.as_object_mut().map(|members| members.remove("images"));
            }
        });
    }));
    all.extend(bugs("images-change-places", IMAGE, &[Always, ThirdRun], |agent, shows| {
        agent.request = Box::new(move |run| {
            let mut request = sound::request(run);
            let with: Vec<usize> = (0..request.len()).filter(|&index| request[index]["images"].is_array()).collect();
            if let [.., one, other] = with[..]
                && shows.holds(run)
            {
                let images = request[one]["images"].take();
                request[one]["images"] = request[other]["images"].take();
                request[other]["images"] = images;
            }
            request
        });
    }));
    all.extend(bugs("images-doubled", IMAGE, &[Always], |agent, shows| {
        on_image(agent, shows, |call, result| {
            let mut answer = sound::answer_of(call, result.clone());
            let image = answer["images"][0].clone();
            answer["images"] = json!([image, image]);
            answer
        });
    }));
    all.extend(bugs("bytes-of-images-changed", IMAGE, &[Always, NewStart], |agent, shows| {
        on_image(agent, shows, |call, result| {
            let mut answer = sound::answer_of(call, result.clone());
            answer["images"] = json!([images::hash("AAAA")]);
            answer
        });
    }));
    all
}
