//! SESSION-OPAQUE: opaque parts that do not come back as they were.
//! SESSION-IMAGE: images in results.

use crate::session::prelude::*;

/// Changes the opaque parts of responses, in the open turn alone or in the closed ones alone.
fn on_parts(agent: &mut SessionAgent, shows: Shows, is_open: bool, change: fn(&mut Vec<Value>)) {
    agent.request = Box::new(move |run| {
        let mut request = sound::request(run);
        let last = request.iter().rposition(|message| is(message, "human")).unwrap_or_default();
        if !shows.holds(run) {
            return request;
        }
        for (index, message) in request.iter_mut().enumerate() {
            if (index > last) == is_open
                && let Some(parts) = message["opaque"].as_array_mut()
            {
                change(parts);
            }
            if message["opaque"].as_array().is_none_or(Vec::is_empty)
                && let Some(members) = message.as_object_mut()
            {
                members.remove("opaque");
            }
        }
        request
    });
}

impl SessionGroup {
    /// Changes the opaque parts of the responses behind the last user message.
    fn open_turn(self, name: &'static str, change: fn(&mut Vec<Value>)) -> Vec<Planted> {
        self.parts(name, true, change)
    }

    /// Changes the opaque parts of responses, in the open turn alone or in the closed ones alone.
    fn parts(self, name: &'static str, is_open: bool, change: fn(&mut Vec<Value>)) -> Vec<Planted> {
        self.plant(name, move |agent, shows| on_parts(agent, shows, is_open, change))
    }
}

pub(super) fn all() -> Vec<Planted> {
    const SOMEWHERE: &[Shows] = &[Always, ThirdRun, ThirdCall, TwoCuts, SecondSession, NewStart, LongThread, BY_KILL];
    [
        OPAQUE.when(SOMEWHERE).open_turn("opaque-parts-lost-in-the-open-turn", Vec::clear),
        OPAQUE.when(&[Always, ThirdRun, NewStart]).as_loaded("opaque-parts-not-read-from-the-store", |run| {
            for message in &mut run.thread.list {
                message.as_object_mut().map(|members| members.remove("opaque"));
            }
        }),
        OPAQUE.when(&[Always, ThirdCall, ThirdRun]).open_turn("signature-of-the-last-call-lost", |parts| {
            let last = parts.iter().rposition(|part| part["kind"] == "signature");
            last.map(|last| parts.remove(last));
        }),
        OPAQUE.when(&[Always, ThirdCall]).open_turn("signatures-on-the-first-call", |parts| {
            let first = parts.iter().find(|part| part["kind"] == "signature").map(|part| part["call"].clone());
            let own = parts.iter_mut().filter(|part| part["kind"] == "signature");
            own.for_each(|part| part["call"] = first.clone().unwrap_or_default());
        }),
        OPAQUE.when(&[Always, ThirdRun, NewStart]).open_turn("thinking-merged", |parts| {
            let is_thinking = |part: &Value| part["kind"] == "thinking";
            let mut own: Vec<Value> = parts.extract_if(.., |part| is_thinking(part)).collect();
            if own.len() > 1 {
                let joined: Vec<&str> = own.iter().map(|part| text(&part["text"])).collect();
                let joined = joined.join("");
                own.truncate(1);
                own[0]["text"] = joined.into();
            }
            parts.splice(0..0, own);
        }),
        OPAQUE.when(&[Always, LongThread]).open_turn("only-the-first-opaque-part-kept", |parts| parts.truncate(1)),
        OPAQUE
            .when(&[Always, ThirdRun, NewStart])
            .open_turn("opaque-parts-doubled", |parts| parts.extend(parts.first().cloned())),
        OPAQUE.open_turn("opaque-parts-turned-round", |parts| parts.reverse()),
        OPAQUE.when(&[Always, ThirdRun]).open_turn("stored-thinking-trimmed", |parts| {
            for part in parts.iter_mut().filter(|part| part["kind"] == "thinking") {
                part["text"] = text(&part["text"]).trim().replace('\n', " ").into();
            }
        }),
        OPAQUE.when(&[Always, SecondSession]).open_turn("thinking-without-its-signature", |parts| {
            for part in parts.iter_mut().filter(|part| part["kind"] == "thinking") {
                part["signature"] = "".into();
            }
        }),
        OPAQUE.open_turn("redacted-parts-lost", |parts| parts.retain(|part| part["kind"] != "redacted")),
        OPAQUE.when(&[Always, NewStart]).open_turn("encrypted-reasoning-shortened", |parts| {
            for part in parts.iter_mut().filter(|part| part["kind"] == "reasoning") {
                let half: String = text(&part["encrypted"]).chars().skip(1).collect();
                part["encrypted"] = half.into();
            }
        }),
        OPAQUE.when(&[Always, ThirdRun, LongThread]).parts("opaque-parts-of-closed-turns-changed", false, |parts| {
            for part in parts {
                for name in ["text", "data", "encrypted"] {
                    if part[name].is_string() {
                        part[name] = format!("{}…", text(&part[name])).into();
                    }
                }
            }
        }),
        OPAQUE.when(&[Always, ThirdRun]).requests("opaque-parts-moved-to-the-next-response", |_, request| {
            let responses: Vec<usize> =
                request.iter().enumerate().filter(|(_, message)| is(message, "ai")).map(|(index, _)| index).collect();
            if let [.., one, other] = responses[..] {
                let mut parts = list(&request[one]["opaque"].take()).to_vec();
                parts.extend_from_slice(list(&request[other]["opaque"]));
                request[one].as_object_mut().map(|members| members.remove("opaque"));
                request[other]["opaque"] = json!(parts);
            }
        }),
        OPAQUE.decisions("opaque-parts-lost-with-a-decision", |run, decisions, _| {
            let approved = sound::decisions(run, decisions)?;
            let response = run.last_round().unwrap_or_default();
            run.thread.list[response].as_object_mut().map(|members| members.remove("opaque"));
            Ok(approved)
        }),
        OPAQUE.when(&[Always, ThirdCall]).cut_responses("opaque-parts-lost-with-a-cut", |run, response| {
            run.thread.list[response].as_object_mut().map(|members| members.remove("opaque"));
            true
        }),
    ]
    .concat()
}

impl SessionGroup {
    /// Answers a call whose result is an image, given the result.
    fn image(self, name: &'static str, change: fn(&Value, &Value) -> Value) -> Vec<Planted> {
        self.execute(name, move |run, call, shows| {
            let result = sound::scripted(run, call);
            if images::of_result(&result).is_some() && shows.holds_for(run, call) {
                change(call, &result)
            } else {
                sound::answer_of(call, result)
            }
        })
    }
}

pub(super) fn images() -> Vec<Planted> {
    const SOMEWHERE: &[Shows] = &[Always, ThirdRun, ThirdCall, SecondSession, NewStart, LongThread];
    [
        IMAGE.when(SOMEWHERE).image("images-dropped", |call, result| answer(call, images::text_beside(result))),
        IMAGE
            .when(&[Always, ThirdRun, ThirdCall])
            .image("images-sent-as-text", |call, result| answer(call, result.to_string())),
        IMAGE.image("images-sent-as-text-too", |call, result| {
            let mut answer = sound::answer_of(call, result.clone());
            let text = format!("{} {}", images::text_beside(result), images::of_result(result).unwrap_or_default());
            answer["content"] = text.into();
            answer
        }),
        IMAGE.when(&[Always, ThirdRun, ThirdCall]).image("text-beside-images-lost", |call, result| {
            let mut answer = sound::answer_of(call, result.clone());
            answer["content"] = "".into();
            answer
        }),
        IMAGE.when(&[Always, ThirdRun, NewStart, LongThread]).later_runs("images-lost-in-later-runs", |_, request| {
            let end = request.iter().rposition(|message| is(message, "human")).unwrap_or_default();
            for message in &mut request[..end] {
                message.as_object_mut().map(|members| members.remove("images"));
            }
        }),
        IMAGE.when(&[Always, ThirdRun]).request("images-change-places", |run, shows| {
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
        }),
        IMAGE.image("images-doubled", |call, result| {
            let mut answer = sound::answer_of(call, result.clone());
            let image = answer["images"][0].clone();
            answer["images"] = json!([image, image]);
            answer
        }),
        IMAGE.when(&[Always, NewStart]).image("bytes-of-images-changed", |call, result| {
            let mut answer = sound::answer_of(call, result.clone());
            answer["images"] = json!([images::hash("AAAA")]);
            answer
        }),
    ]
    .concat()
}
