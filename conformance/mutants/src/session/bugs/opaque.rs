//! SESSION-OPAQUE: opaque parts that do not come back as they were.

use super::{
    Always, BY_KILL, LongThread, NewStart, SecondSession, Shows, ThirdCall, ThirdRun, TwoCuts, bugs, is, on_loaded,
    on_request,
};
use crate::planted::Planted;
use crate::threads::SessionAgent;
use crate::threads::sound;
use serde_json::{Value, json};
use threadspec_golden::clause;
use threadspec_judge::json::{list, text};

const OPAQUE: &[&str] = &[clause::SESSION_OPAQUE];

/// Changes the opaque parts of the responses behind the last user message.
fn on_open_turn(agent: &mut SessionAgent, shows: Shows, change: fn(&mut Vec<Value>)) {
    on_parts(agent, shows, true, change);
}

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

pub(super) fn all() -> Vec<Planted> {
    const SOMEWHERE: &[Shows] = &[Always, ThirdRun, ThirdCall, TwoCuts, SecondSession, NewStart, LongThread, BY_KILL];
    let mut all = Vec::new();
    all.extend(bugs("opaque-parts-lost-in-the-open-turn", OPAQUE, SOMEWHERE, |agent, shows| {
        on_open_turn(agent, shows, Vec::clear);
    }));
    all.extend(bugs("opaque-parts-not-read-from-the-store", OPAQUE, &[Always, ThirdRun, NewStart], |agent, shows| {
        on_loaded(agent, shows, |run| {
            for message in &mut run.thread.list {
                message.as_object_mut().map(|members| members.remove("opaque"));
            }
        });
    }));
    all.extend(bugs("signature-of-the-last-call-lost", OPAQUE, &[Always, ThirdCall, ThirdRun], |agent, shows| {
        on_open_turn(agent, shows, |parts| {
            let last = parts.iter().rposition(|part| part["kind"] == "signature");
            last.map(|last| parts.remove(last));
        });
    }));
    all.extend(bugs("signatures-on-the-first-call", OPAQUE, &[Always, ThirdCall], |agent, shows| {
        on_open_turn(agent, shows, |parts| {
            let first = parts.iter().find(|part| part["kind"] == "signature").map(|part| part["call"].clone());
            let own = parts.iter_mut().filter(|part| part["kind"] == "signature");
            own.for_each(|part| part["call"] = first.clone().unwrap_or_default());
        });
    }));
    all.extend(bugs("thinking-merged", OPAQUE, &[Always, ThirdRun, NewStart], |agent, shows| {
        on_open_turn(agent, shows, |parts| {
            let is_thinking = |part: &Value| part["kind"] == "thinking";
            let mut own: Vec<Value> = parts.extract_if(.., |part| is_thinking(part)).collect();
            if own.len() > 1 {
                let joined: Vec<&str> = own.iter().map(|part| text(&part["text"])).collect();
                let joined = joined.join("");
                own.truncate(1);
                own[0]["text"] = joined.into();
            }
            parts.splice(0..0, own);
        });
    }));
    all.extend(bugs("only-the-first-opaque-part-kept", OPAQUE, &[Always, LongThread], |agent, shows| {
        on_open_turn(agent, shows, |parts| parts.truncate(1));
    }));
    all.extend(bugs("opaque-parts-doubled", OPAQUE, &[Always, ThirdRun, NewStart], |agent, shows| {
        on_open_turn(agent, shows, |parts| parts.extend(parts.first().cloned()));
    }));
    all.extend(bugs("opaque-parts-turned-round", OPAQUE, &[Always], |agent, shows| {
        on_open_turn(agent, shows, |parts| parts.reverse());
    }));
    all.extend(bugs("stored-thinking-trimmed", OPAQUE, &[Always, ThirdRun], |agent, shows| {
        on_open_turn(agent, shows, |parts| {
            for part in parts.iter_mut().filter(|part| part["kind"] == "thinking") {
                part["text"] = text(&part["text"]).trim().replace('\n', " ").into();
            }
        });
    }));
    all.extend(bugs("thinking-without-its-signature", OPAQUE, &[Always, SecondSession], |agent, shows| {
        on_open_turn(agent, shows, |parts| {
            for part in parts.iter_mut().filter(|part| part["kind"] == "thinking") {
                part["signature"] = "".into();
            }
        });
    }));
    all.extend(bugs("redacted-parts-lost", OPAQUE, &[Always], |agent, shows| {
        on_open_turn(agent, shows, |parts| parts.retain(|part| part["kind"] != "redacted"));
    }));
    all.extend(bugs("encrypted-reasoning-shortened", OPAQUE, &[Always, NewStart], |agent, shows| {
        on_open_turn(agent, shows, |parts| {
            for part in parts.iter_mut().filter(|part| part["kind"] == "reasoning") {
                let half: String = text(&part["encrypted"]).chars().skip(1).collect();
                part["encrypted"] = half.into();
            }
        });
    }));
    all.extend(bugs(
        "opaque-parts-of-closed-turns-changed",
        OPAQUE,
        &[Always, ThirdRun, LongThread],
        |agent, shows| {
            on_parts(agent, shows, false, |parts| {
                for part in parts {
                    for name in ["text", "data", "encrypted"] {
                        if part[name].is_string() {
                            part[name] = format!("{}…", text(&part[name])).into();
                        }
                    }
                }
            });
        },
    ));
    all.extend(bugs("opaque-parts-moved-to-the-next-response", OPAQUE, &[Always, ThirdRun], |agent, shows| {
        on_request(agent, shows, |_, request| {
            let responses: Vec<usize> =
                request.iter().enumerate().filter(|(_, message)| is(message, "ai")).map(|(index, _)| index).collect();
            if let [.., one, other] = responses[..] {
                let mut parts = list(&request[one]["opaque"].take()).to_vec();
                parts.extend_from_slice(list(&request[other]["opaque"]));
                request[one].as_object_mut().map(|members| members.remove("opaque"));
                request[other]["opaque"] = json!(parts);
            }
        });
    }));
    all.extend(bugs("opaque-parts-lost-with-a-decision", OPAQUE, &[Always], |agent, _| {
        agent.decisions = Box::new(|run, decisions| {
            let approved = sound::decisions(run, decisions)?;
            let response = run.last_round().unwrap_or_default();
            run.thread.list[response].as_object_mut().map(|members| members.remove("opaque"));
            Ok(approved)
        });
    }));
    all.extend(bugs("opaque-parts-lost-with-a-cut", OPAQUE, &[Always, ThirdCall], |agent, shows| {
        super::on_cut_responses(agent, shows, |run, response| {
            run.thread.list[response].as_object_mut().map(|members| members.remove("opaque"));
            true
        });
    }));
    all
}
